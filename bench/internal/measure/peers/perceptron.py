"""The peer of "bench peers": epochs of scikit-learn's Perceptron over a file in memory.

Arguments: svmlight text, of labels -1 and 1; sparse or dense, as which rows are kept. Each number k
on standard input is answered with the nanoseconds of CPU time that k epochs took, each from scratch.
Rows stay in order and have no intercept: of what scikit-learn offers that is the fastest. Dense ones
are float64, which takes it half as long as float32.
"""
import sys
import time

from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron

X, y = load_svmlight_file(sys.argv[1])
if sys.argv[2] == "dense":
    X = X.toarray()
for line in sys.stdin:
    begin = time.process_time_ns()
    for _ in range(int(line)):
        Perceptron(max_iter=1, tol=None, shuffle=False, fit_intercept=False).fit(X, y)
    print(time.process_time_ns() - begin, flush=True)
