"""CPU time of an epoch and of single rows, beside scikit-learn's Perceptron in the same process.

    python3 python/bench.py FILE [ROUNDS]

FILE is in svmlight's format, such as a9a. What is compared runs in turn, and the ratio is that of
medians, over the rounds, of this process's CPU time: on a busy machine it is the same.
"""

import statistics
import sys
import time

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron

import halfspace

X, y = load_svmlight_file(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
classes = np.unique(y)


def cpu(work):
    began = time.process_time()
    work()
    return time.process_time() - began


def obpm(**options):
    return halfspace.OBPMClassifier(members=100, tau=0.05, **options)


epochs = {
    "Perceptron.fit": lambda: Perceptron(max_iter=1, tol=None).fit(X, y),
    "OBPM.partial_fit": lambda: obpm().partial_fit(X, y, classes=classes),
    "OBPM.fit, in order": lambda: obpm(max_iter=1, shuffle=False).fit(X, y),
    "OBPM.fit, shuffled": lambda: obpm(max_iter=1).fit(X, y),
}
times = {name: [] for name in epochs}
for _ in range(rounds):
    for name, epoch in epochs.items():
        times[name].append(cpu(epoch))
first = statistics.median(times["Perceptron.fit"])
print(f"an epoch of {X.shape[0]} rows, OBPM of 100 members, tau 0.05:")
for name, took in times.items():
    median = statistics.median(took)
    print(f"  {name:20s}{median / X.shape[0] * 1e9:7.0f} ns a row {median / first:6.2f}")

print("a call of one row:")
for kind, rows in ("sparse", X), ("dense", X[:1000].toarray()):
    model = obpm().partial_fit(rows, y[: rows.shape[0]], classes=classes)
    x, label = rows[:1], y[:1]
    for name, call in {
        "decision_function": lambda: model.decision_function(x),
        "partial_fit": lambda: model.partial_fit(x, label),
    }.items():
        took = min(cpu(lambda: [call() for _ in range(500)]) for _ in range(5)) / 500
        print(f"  {kind + ' ' + name:25s}{took * 1e6:5.1f} us")
