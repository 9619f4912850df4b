import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import halfspace
from halfspace.river import OnlineClassifier

root = pathlib.Path(__file__).resolve().parents[2]
every = [getattr(halfspace, n) for n in halfspace._learners.__all__]
hard = [halfspace.PairsClassifier, halfspace.ROMMAClassifier]  # of margins, which noisy data have not


@parametrize_with_checks(
    [
        halfspace.OBPMClassifier(),
        halfspace.PAClassifier(),
        halfspace.ADFClassifier(),
        halfspace.VVMClassifier(),
        halfspace.HalfspaceClassifier(),
        halfspace.PerceptronClassifier(),
        halfspace.SVMClassifier(),
        halfspace.AROWClassifier(),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(600, 20, n_informative=8, class_sep=2, random_state=3)
    return X, y


@pytest.mark.parametrize("cls", every, ids=lambda c: c._learner)
def test_learns(cls, data):
    """Every learner learns two classes and three, dense and sparse, and is pickled."""
    X, y = data
    X = StandardScaler().fit_transform(X)
    for labels in (y, np.array(["a", "b", "c"])[y + (X[:, 0] > 1)]):
        model = cls(normalize="unit")
        model.fit(X, labels)
        guess = max(np.unique(labels, return_counts=True)[1]) / len(labels)
        if cls in hard:
            continue
        assert (model.predict(X) == labels).mean() > guess
        sparse = clone(model).fit(sp.csr_matrix(X), labels)
        f = sparse.decision_function(X)
        other = sparse.decision_function(sp.csr_matrix(X))
        # float32, another order of sums
        assert np.abs(f - other).max() <= 1e-4 * np.abs(f).max() + 1e-5
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.decision_function(X), model.decision_function(X))


def test_weights_are_the_scores(data):
    X, y = data
    for labels in (y, y + (X[:, 0] > 2)):
        model = halfspace.PAClassifier(precision="f64").fit(X, labels)
        f = X @ model.coef_.T + model.intercept_
        assert np.allclose(np.squeeze(f), model.decision_function(X))
    with pytest.raises(AttributeError):
        halfspace.TBPClassifier().fit(X, y).coef_


def test_probabilities(data):
    X, y = data
    assert not hasattr(halfspace.PAClassifier(), "predict_proba")
    adf = halfspace.ADFClassifier().fit(X, y)
    platt = halfspace.PAClassifier(calibrate="platt").fit(X, y)
    iris = load_iris(return_X_y=True)
    three = halfspace.PAClassifier(calibrate="temperature", scaling="std").fit(*iris)
    assert log_loss(iris[1], three.predict_proba(iris[0])) < 0.6
    for model in (adf, platt):
        p = model.predict_proba(X)
        assert np.allclose(p.sum(axis=1), 1) and log_loss(y, p) < 0.5
    best = adf.classes_[adf.predict_proba(X).argmax(axis=1)]
    assert np.array_equal(best, adf.predict(X))
    p, f = platt.predict_proba(X)[:, 1], platt.decision_function(X)
    assert np.array_equal(np.argsort(p, kind="stable"), np.argsort(f, kind="stable"))


def test_partial_fit_is_one_pass(data):
    X, y = data
    whole = halfspace.OBPMClassifier(max_iter=1, shuffle=False).fit(X, y)
    parts = halfspace.OBPMClassifier()
    for lo in range(0, len(X), 77):
        parts.partial_fit(X[lo : lo + 77], y[lo : lo + 77], classes=[0, 1])
    assert np.array_equal(whole.decision_function(X), parts.decision_function(X))
    for scaling in ("std", "maxabs"):
        for rows in (X, sp.csr_matrix(X)):
            options = {"scaling": scaling, "normalize": "unit"}
            whole = halfspace.PAClassifier(max_iter=1, shuffle=False, **options).fit(rows, y)
            some = halfspace.PAClassifier(**options)
            for lo in range(0, len(X), 77):
                some.partial_fit(rows[lo : lo + 77], y[lo : lo + 77], classes=[0, 1])
            assert np.array_equal(whole.decision_function(rows), some.decision_function(rows))
    with pytest.raises(ValueError, match="none of the classes"):
        parts.partial_fit(X[:1], [2])
    with pytest.raises(AttributeError):
        halfspace.SVMClassifier().partial_fit


def test_weights_of_rows(data):
    X, y = data
    y = np.where(np.random.RandomState(0).rand(len(y)) < 0.3, 1 - y, y)
    w = np.where(y == 1, 5.0, 1.0)
    by_row = halfspace.PAClassifier(C=0.001, shuffle=False).fit(X, y, sample_weight=w)
    by_class = halfspace.PAClassifier(C=0.001, shuffle=False, class_weight={1: 5}).fit(X, y)
    assert np.array_equal(by_row.coef_, by_class.coef_)
    plain = halfspace.PAClassifier(C=0.001, shuffle=False).fit(X, y)
    assert (by_row.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_tools_of_scikit_learn(data):
    X, y = data
    grid = GridSearchCV(halfspace.OBPMClassifier(), {"tau": [0.05, 0.3]}, n_jobs=2, cv=3)
    assert grid.fit(X, y).best_score_ > 0.8
    pipeline = make_pipeline(StandardScaler(), halfspace.PAClassifier())
    assert cross_val_score(pipeline, X, y).mean() > 0.8


def test_bytes_are_the_commands(tmp_path):
    """The model is that of the command, of the same numbers, options and seed; the file has a note
    besides."""
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    order = np.random.RandomState(0).permutation(len(X))
    X, y = np.ascontiguousarray(X[order]), y[order]
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    two = y < 2
    with open(tmp_path / "two.svm", "w") as f:
        for row, label in zip(X[two], y[two]):
            print(label, *(f"{j + 1}:{v!r}" for j, v in enumerate(row.tolist()) if v), file=f)
    command = tmp_path / "halfspace"
    subprocess.run(["go", "build", "-o", command, "./cmd/halfspace"], cwd=root, check=True)

    def train(*args):
        made = tmp_path / "command.model"
        subprocess.run([command, "train", "-q", "-m", made, *args], cwd=tmp_path, check=True)
        return made.read_bytes()

    def fit(model, X, y):
        model.fit(X, y).save(tmp_path / "python.model")
        return model._model.encode()

    flags = ["--epochs", "3", "--shuffle", "--seed", "7", "--bias", "append"]
    model = halfspace.OBPMClassifier(members=50, tau=0.3, max_iter=3, random_state=7)
    assert fit(model, X, y) == train("-a", "obpm", "--members", "50", "--tau", "0.3", *flags, "X.npy")
    csr = sp.csr_matrix(X[two])
    assert fit(model, csr, y[two]) == train(
        "-a", "obpm", "--members", "50", "--tau", "0.3", *flags, "--index-base", "1", "two.svm"
    )
    loaded = halfspace.load(tmp_path / "python.model")
    assert np.array_equal(loaded.decision_function(csr), model.decision_function(csr))
    assert np.array_equal(loaded.predict(csr), model.predict(csr))

    # from the threshold on that the command had found, whichever label is its positive one
    for positive in "12":
        made = train("-a", "pa", "--threshold", "cost=1:1000", "--positive", positive, "X.npy")
        (tmp_path / "threshold.model").write_bytes(made)
        ask = [command, "predict", "-i", "threshold.model", "X.npy"]
        said = subprocess.run(ask, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        loaded = pickle.loads(pickle.dumps(halfspace.load(tmp_path / "threshold.model")))
        want = [line.split("\t")[0] for line in said.splitlines()]
        f = loaded.decision_function(X)
        assert [str(c) for c in loaded.predict(X)] == want
        assert want != [str(c) for c in loaded.classes_[(f >= 0).astype(int)]]


def test_bad_rows(data):
    X, y = data
    with pytest.raises(halfspace.HalfspaceError, match="tau"):
        halfspace.OBPMClassifier(tau=2).fit(X, y)
    with pytest.raises(halfspace.HalfspaceError, match="nowhere"):
        halfspace.load("nowhere")
    with pytest.raises(halfspace.NotFittedError):
        halfspace.PAClassifier().predict(X)
    broken = sp.csr_matrix(X)
    broken.indices[:2] = broken.indices[1::-1]  # not ascending
    broken.has_sorted_indices = False
    model = halfspace.PAClassifier().fit(sp.csr_matrix(X), y)
    assert model.decision_function(broken).shape == (len(X),)


def test_threads_learn_at_once(data):
    """Calls leave the interpreter's lock, and models of several threads are apart."""
    X, y = data
    want = halfspace.OBPMClassifier().fit(X, y).decision_function(X)
    got = [None] * 4

    def work(i):
        got[i] = halfspace.OBPMClassifier().fit(X, y).decision_function(X)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(g, want) for g in got)


def _in_child(queue):
    try:
        halfspace.PAClassifier().fit([[0.0], [1.0]], [0, 1])
    except RuntimeError as e:
        queue.put(str(e))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_fork_is_refused(data):
    halfspace.abi()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert "forked" in queue.get(timeout=30)
    child.join()
    assert child.exitcode == 0


def test_dicts():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    rows = [({f"f{j}": v for j, v in enumerate(row)}, names[k]) for row, k in zip(X, y)]
    np.random.RandomState(1).shuffle(rows)
    model = OnlineClassifier("arow")
    assert model.predict_one(rows[0][0]) is None
    right = 0
    for x, label in rows * 2:
        right += model.predict_one(x) == label
        model.learn_one(x, label)
    assert right > 200
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_many([x for x, _ in rows]) == model.predict_many([x for x, _ in rows])
    assert model.predict_one({"unknown": 1.0}) in names
    grown = OnlineClassifier("perceptron")
    for i in range(50):  # each row has a feature that none before had
        y = i % 2 == 0
        grown.learn_many([{"sign": 1.0 if y else -1.0, f"new{i}": 1.0}], [y])
    assert grown.predict_many([{"sign": 1.0}, {"other": 3.0, "sign": -1.0}]) == [True, False]
    assert len(pickle.loads(pickle.dumps(grown))._features) == 51


def test_readme(data, tmp_path, monkeypatch):
    """What python/README.md shows runs."""
    monkeypatch.chdir(tmp_path)
    X, y = data
    names = {"X": X[:500], "y": y[:500], "X_new": X[500:], "X_more": X[500:], "y_more": y[500:]}
    text = (root / "python" / "README.md").read_text()
    exec(text.split("```python\n")[1].split("```")[0], names)
    assert (tmp_path / "my.model").exists()


def test_without_scikit_learn():
    """numpy is enough."""
    program = """
import sys
sys.modules["sklearn"] = None
import numpy as np, halfspace
X = np.random.RandomState(0).randn(200, 3)
y = X[:, 0] > 0
m = halfspace.OBPMClassifier(tau=0.5).fit(X, y)
assert m.score(X, y) > 0.9 and m.get_params()["tau"] == 0.5
assert repr(m) == "OBPMClassifier(tau=0.5)", repr(m)
try:
    halfspace.PAClassifier().predict(X)
except halfspace.NotFittedError:
    print("good")
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert out.stdout == "good\n", out.stderr
