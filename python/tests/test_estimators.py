"""Every learner, with labels of every kind, in every form of rows: fit, partial_fit, save and load,
pickle, clone and the command agree."""

import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import halfspace
from halfspace.river import OnlineClassifier

root = pathlib.Path(__file__).resolve().parents[2]
every = [getattr(halfspace, n) for n in halfspace._learners.__all__]
ways = [
    *[pytest.param(cls, {}, id=cls._learner) for cls in every],
    *[
        pytest.param(halfspace.HalfspaceClassifier, {"learner": n}, id="by-name-" + n)
        for n in ("pa", "ovr", "ovo", "mpa", "adf")
    ],
]
kinds = {
    "int": np.array([3, -1, 20]),
    "str": np.array(["ham", "spam", "eggs"]),
    "digits": np.array(["10", "9", "007"]),
    "bool": np.array([True, False]),
    "object": np.array(["b", "a", "c"], dtype=object),
    "float": np.array([5.0, 2.0, -1.0]),
    "words": np.array(["nan", "inf", "None"]),
    "equal": np.array(["1.10", "1.1", "+1"]),
}


def rows_of(classes, n=60):
    """Rows of so many classes that can be told apart."""
    r = np.random.RandomState(classes)
    number = np.arange(n) % classes
    X = 2 * np.eye(classes, 4)[number] + 0.3 * r.randn(n, 4)
    return X.astype(np.float32), number


def forms_of(X):
    frozen = X.copy()
    frozen.flags.writeable = False
    return {
        "f32": X,
        "f64": X.astype(np.float64),
        "F": np.asfortranarray(X),
        "read-only": frozen,
        "frame": pd.DataFrame(X, columns=["a", "b", "c", "d"]),
        "csr": sp.csr_matrix(X),
    }


@pytest.fixture(scope="session")
def command(tmp_path_factory):
    """The command: that of HS, or one made now."""
    if os.environ.get("HS"):
        return os.environ["HS"]
    made = tmp_path_factory.mktemp("command") / "halfspace"
    subprocess.run(["go", "build", "-o", made, "./cmd/halfspace"], cwd=root, check=True)
    return str(made)


def quiet(do, *args, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", halfspace.HalfspaceWarning)
        warnings.simplefilter("ignore", halfspace.ConvergenceWarning)
        return do(*args, **how)


def equal(a, b, X):
    """Whether two estimators are the same, and say the same."""
    assert type(a) is type(b) and a.get_params() == b.get_params()
    assert a.classes_.dtype == b.classes_.dtype and a.classes_.tolist() == b.classes_.tolist()
    assert a.n_features_in_ == b.n_features_in_
    assert list(getattr(a, "feature_names_in_", [])) == list(getattr(b, "feature_names_in_", []))
    assert np.array_equal(a.predict(X), b.predict(X))
    assert np.array_equal(a.decision_function(X), b.decision_function(X))
    assert hasattr(a, "predict_proba") == hasattr(b, "predict_proba")
    if hasattr(a, "predict_proba"):
        assert np.array_equal(a.predict_proba(X), b.predict_proba(X))


@pytest.mark.parametrize("cls,parameters", ways)
def test_all_ways_agree(cls, parameters, tmp_path):
    """A kind of labels goes with each form of rows, in turn, so that all pairs of a learner and a
    kind, and of a learner and a form, come."""
    base = cls(normalize="unit", **parameters)
    for classes in (2, 3):
        X, number = rows_of(classes)
        forms = list(forms_of(X).items())
        for i, (kind, labels) in enumerate(kinds.items()):
            if len(labels) < classes:
                continue
            form, rows = forms[(i + classes) % len(forms)]
            y = labels[number]
            said = f"{classes} classes, {kind}, {form}"
            fitted = quiet(clone(base).fit, rows, y)
            assert fitted.classes_.tolist() == np.unique(y).tolist(), said
            assert set(fitted.predict(rows)) <= set(fitted.classes_), said
            learned = [fitted]
            if hasattr(base, "partial_fit"):
                model = clone(base).partial_fit(rows, y, classes=labels[:classes])
                assert np.isfinite(model.decision_function(rows)).all(), said
                for _ in range(3):
                    model.partial_fit(rows, y)
                assert (model.predict(rows) == y).mean() > 1 / classes, said
                learned.append(model)
            for model in learned:
                path = str(tmp_path / "m.model")
                model.save(path)
                equal(model, halfspace.load(path), rows)
                equal(model, pickle.loads(pickle.dumps(model)), rows)
            again = quiet(clone(fitted).fit, rows, y)
            equal(fitted, again, rows)


@pytest.mark.parametrize("cls,parameters", ways)
def test_labels_are_the_commands(cls, parameters, tmp_path, command):
    base = cls(normalize="unit", **parameters)
    for classes in (2, 3):
        X, number = rows_of(classes)
        y = kinds["str"][number]
        model = quiet(clone(base).fit, X, y)
        model.save(tmp_path / "m.model")
        np.save(tmp_path / "X.npy", X)
        ask = [command, "predict", "-q", "--any-format", "-i", "m.model", "X.npy"]
        said = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        labels = [line.split("\t")[0] for line in said.stdout.splitlines()]
        assert labels == model.predict(X).tolist()


@pytest.mark.parametrize("scaling", ["none", "std", "maxabs"])
@pytest.mark.parametrize("normalize", ["none", "max"])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_in_units_of_rows(scaling, normalize, classes):
    X, y = rows_of(classes)
    X = X.astype(np.float64) * [1, 100, 0.01, 1] + [5, 0, 0, 1]
    model = halfspace.PAClassifier(scaling=scaling, normalize=normalize, precision="f64")
    quiet(model.fit, X, y)
    f = X @ model.coef_.T + model.intercept_
    assert np.allclose(np.squeeze(f), model.decision_function(X), rtol=1e-9, atol=1e-9)
    if scaling == "std":
        assert np.allclose(model.mean_, X.mean(axis=0))
        if normalize == "none":
            assert np.allclose(model.scale_, X.std(axis=0))


def refused(do, *args, match, **how):
    with pytest.raises(ValueError, match=match):
        do(*args, **how)


def test_refused_is_not_learned():
    """What refuses a row has learned none, however many there are; fit leaves the estimator."""
    X, y = rows_of(2, 4000)
    model = halfspace.PAClassifier().fit(X[:200], y[:200])
    before, was = model.decision_function(X), dict(model.__dict__)
    bad = X.astype(np.float64)
    bad[-1, 2] = 1e300
    weights = np.ones(len(y))
    weights[-1] = -0.001
    labels = y.copy()
    labels[-1] = 2
    for rows in (bad, sp.csr_matrix(bad)):
        refused(model.partial_fit, rows, y, match="finite")
        refused(model.fit, rows, y, match="float32|finite|1e[+]?300")
    for do in (model.fit, model.partial_fit):
        refused(do, X, y, sample_weight=weights, match=r"sample_weight\[3999\] is -0.001")
    refused(model.partial_fit, X, labels, match="none of the classes")
    assert np.array_equal(before, model.decision_function(X))
    assert model.__dict__ == was


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
def test_broken_sparse(form):
    X, y = rows_of(2)
    good = sp.csr_matrix(X)
    model = halfspace.PAClassifier().fit(good, y)
    names = ["row", "col"] if form == "coo" else ["indptr", "indices"]
    for n in (60, 2000):
        whole = sp.csr_matrix(np.resize(X, (n, 4))).asformat(form)
        for name in names:
            for at, value in ((0, -1), (3, 10**6), (-1, 10**6), (1, -(10**6))):
                broken = whole.copy()
                array = getattr(broken, name).copy()
                array[at] = value
                setattr(broken, name, array)
                refused(model.decision_function, broken, match="broken|CSR|row|index")
                refused(model.fit, broken, np.resize(y, n), match="broken|CSR|row|index")
        short = whole.copy()
        short.data = short.data[:-5].copy()
        refused(model.decision_function, short, match="broken|CSR|differ")
    wide = good.copy()
    wide.indices = wide.indices.astype(np.int64) + 2**32
    refused(model.decision_function, wide, match="broken")


@pytest.mark.parametrize(
    "parameters,named",
    [
        ({"C": float("nan")}, "C"),
        ({"C": "1"}, "C"),
        ({"variant": 1.5}, "variant"),
        ({"kernel": 3}, "kernel"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "x"}, "random_state"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": -3}, "max_iter"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"shuffle": "no"}, "shuffle"),
        ({"scaling": "yes"}, "scaling"),
        ({"C": -1.0}, "C"),
    ],
)
def test_bad_parameters(parameters, named):
    X, y = rows_of(2)
    refused(halfspace.PAClassifier(**parameters).fit, X, y, match=named)


def test_settings_of_kernels_and_noise():
    X, y = rows_of(2)
    kernel = quiet(halfspace.PAClassifier(kernel="rbf", sigma=1.0).fit, X, y)
    assert kernel.score(X, y) > 0.9 and not hasattr(kernel, "coef_")
    auto = quiet(halfspace.ADFClassifier(noise="auto").fit, X, y)
    assert auto._model.describe()["config"]["noise_auto"]
    assert quiet(halfspace.VVMClassifier(largest_margin=True).fit, X, y).score(X, y) > 0.9


def test_warnings():
    X, y = rows_of(2, 2000)
    far = X * np.float32([1, 1, 1, 1e5])
    with pytest.warns(halfspace.HalfspaceWarning, match="unscaled"):
        halfspace.PAClassifier().fit(far, y)
    with pytest.warns(halfspace.ConvergenceWarning, match="not converged"):
        halfspace.PerceptronClassifier(until_converged=True).fit(
            np.repeat(np.eye(2, dtype=np.float32), 2, axis=0), [0, 1, 1, 0]
        )


def test_calibration():
    X, y = rows_of(2, 400)
    model = halfspace.PAClassifier(calibrate="platt")
    model.partial_fit(X, y, classes=[0, 1])
    assert model.score(X, y) > 0.9 and not hasattr(model, "predict_proba")
    assert 0 <= quiet(model.fit, X, y).progressive_error_ < 0.5
    assert model.predict_proba(X).shape == (400, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt():
    """Ctrl-C ends fit at once, and leaves the estimator as it was."""
    r = np.random.RandomState(0)
    X, y = r.randn(20000, 50).astype(np.float32), r.randint(0, 2, 20000)
    model = halfspace.OBPMClassifier(max_iter=100000)
    sent = []

    def send():
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of a shell ignore it
    threading.Thread(target=send).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    signal.signal(signal.SIGINT, before)
    assert not hasattr(model, "classes_") and not hasattr(model, "n_features_in_")
    model.set_params(max_iter=1).fit(X[:100], y[:100])


def test_models_of_the_command(tmp_path, command):
    """Labels are ints, floats or texts as they are written; columns have their names."""

    def load(labels, *flags):
        with open(tmp_path / "t.csv", "w") as f:
            print("age,size,label", file=f)
            for i in range(60):
                print(20 + i % 40, (i * 7 % 13) / 3, labels[i % 40 > 20], sep=",", file=f)
        train = [command, "train", "-q", "-a", "pa", "-m", "m.model", *flags, "t.csv"]
        subprocess.run(train, cwd=tmp_path, check=True)
        return halfspace.load(tmp_path / "m.model")

    for labels, kind in ((["1", "12"], "i"), (["0.5", "1.5"], "f"), (["no", "yes"], "U")):
        model = load(labels)
        assert model.classes_.dtype.kind == kind, labels
        assert [str(c) for c in model.classes_] == labels
    frame = pd.DataFrame({"age": [25.0, 55], "size": [1.0, 2]})
    assert type(model) is halfspace.PAClassifier and model.scaling == "std"
    assert model.predict(frame).tolist() == ["no", "yes"]
    refused(model.predict, frame[["size", "age"]], match="feature names")
    refused(model.predict, frame[["age"]], match="feature")


def test_texts_of_the_command(tmp_path, command):
    """A model of columns of texts says of a frame what the command says of the file."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "age": rng.integers(20, 60, 80) / 3,
        "job": rng.choice(["clerk", "smith", "pilot"], 80),
        "new": rng.choice([True, False], 80),
    })
    frame["pay"] = np.where((frame.age > 13) ^ (frame.job == "pilot"), "high", "low")
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = frame.drop(columns="pay").iloc[:20].copy()
    asked.loc[1, "age"], asked.loc[2, "job"], asked.loc[3, "job"] = np.nan, None, "astronaut"
    asked.to_csv(tmp_path / "a.csv", index=False)
    for flags in ([], ["--hash-bits", "12"], ["--threshold", "cost=1:3", "-a", "adf"]):
        train = [command, "train", "-q", "--missing", "mean", "-m", "m.model", *flags, "t.csv"]
        subprocess.run(train + ["--label-col", "pay"], cwd=tmp_path, check=True)
        model = halfspace.load(tmp_path / "m.model")
        predict = [command, "predict", "-q", "-i", "m.model", "a.csv"]
        lines = subprocess.run(predict, cwd=tmp_path, check=True, capture_output=True, text=True)
        want = [line.split("\t") for line in lines.stdout.splitlines()]
        assert model.predict(asked).tolist() == [w[0] for w in want]
        for data in (model, pickle.loads(pickle.dumps(model))):
            scores = data._scores(asked, False)[:, 0]
            assert scores.tolist() == [float(w[1]) for w in want]
        assert "astronaut" in asked.job.values
    refused(model.predict, asked.assign(age="old"), match="age")
    refused(model.predict, asked.assign(other="x"), match="other")


def test_dicts():
    model = OnlineClassifier("adf", {"noise": 0.1}, scaling="std")
    assert repr(model) == "OnlineClassifier(learner='adf', config={'noise': 0.1}, scaling='std')"
    for _ in range(5):
        for x, y in (({"a": 1, "job": "pilot"}, "1.10"), ({"b": 2.0}, "1.1"), ({"job": "cook"}, 2)):
            model.learn_one(x, y)
    assert [model.predict_one(x) for x in ({"a": 1}, {"b": 2}, {"job": "cook"})] == ["1.10", "1.1", 2]
    p = model.predict_proba_one({"b": 1.0, "job": "never seen"})
    assert set(p) == {"1.10", "1.1", 2} and abs(sum(p.values()) - 1) < 1e-12
    for x, y in (({"new": 1}, None), ({"new": 1}, float("nan")), ({"new": None}, 2), ({"new": 1e999}, 2)):
        refused(model.learn_one, x, y, match="None|nan|inf")
    assert "new" not in model._features and len(model._labels) == 3
    with pytest.raises(NotImplementedError):
        OnlineClassifier("pa").predict_proba_one({"a": 1})
