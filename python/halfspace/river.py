"""Dicts learned one by one, as River has it.

::

    from halfspace.river import OnlineClassifier
    model = OnlineClassifier("pa")
    for x, y in stream:                 # x is a dict of numbers by name
        model.predict_one(x)            # None before there is anything to predict
        model.learn_one(x, y)

What River itself does with classifiers (metrics, pipelines) it does with these. scikit-learn and
River need not be there.
"""

import inspect

import numpy as np

from ._estimator import _of_many
from ._library import Model


class _Row:
    """A CSR matrix of one row."""

    def __init__(self, indices, values, dim):
        self.indptr = np.array([0, len(indices)], np.int64)
        self.indices, self.data, self.shape = indices, values, (1, dim)


class OnlineClassifier:
    """A learner of dicts. Any labels may come, at any time, and any features.

    Values are numbers, or texts: each text of a name is a feature of its own, as the ``halfspace``
    command has it. A value or label that is missing, None or NaN, is a ValueError: leave the name,
    or the row, out. Parameters are those of :class:`halfspace.HalfspaceClassifier`; ``scaling``
    goes by the rows so far.
    """

    _multiclass = True

    def __init__(
        self,
        learner="obpm",
        config=None,
        *,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        seed=1,
    ):
        self.learner = learner
        self.config = config
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.seed = seed
        self._features = {}
        self._labels = {}  # each label, and its number, which is its name in the model
        self._model = None

    def __repr__(self):
        first = inspect.signature(type(self).__init__).parameters
        said = ", ".join(
            f"{n}={getattr(self, n)!r}"
            for n, p in first.items()
            if n != "self" and getattr(self, n) != p.default
        )
        return f"{type(self).__name__}({said})"

    def _new(self):
        if self.learner in _of_many:
            learner, config = self.learner, dict(self.config or {})
        else:
            learner, config = "ovr", {"base": self.learner}
            if self.config:
                config["base_config"] = dict(self.config)
        o = {"learner": learner, "bias": self.bias, "normalize": self.normalize}
        if config:
            o["config"] = config
        return Model.new(
            {**o, "scale": self.scaling, "precision": self.precision, "seed": self.seed}
        )

    def _row(self, x, grow):
        """The row, and the features that it has and the model has not."""
        at, new, indices, values = self._features, {}, [], []
        for name, value in x.items():
            if isinstance(value, str):
                name, value = (name, value), 1.0
            elif value is None or value != value:
                raise ValueError(f"{name!r} is {value}: leave out values that are missing")
            elif value - value != 0:
                raise ValueError(f"{name!r} is {value}, want a finite number")
            j = at.get(name)
            if j is None:
                if not grow:
                    continue
                j = new[name] = len(at) + len(new)
            indices.append(j)
            values.append(value)
        indices = np.array(indices, np.int32)
        values = np.array(values, np.float64)
        order = np.argsort(indices)
        return _Row(indices[order], values[order], max(len(at) + len(new), 1)), new

    def learn_one(self, x, y, w=1.0):
        """Learns one example, of weight w where the learner takes weights."""
        if self._model is None:
            self._model = self._new()
        if y is None or y != y:
            raise ValueError(f"y is {y}: a row without a label can't be learned")
        row, new = self._row(x, True)
        number = self._labels.get(y, len(self._labels))
        weights = None if w == 1 else np.array([w], np.float64)
        self._model.learn(row, np.zeros(1, np.int32), [str(number)], weights)
        self._features.update(new)
        self._labels.setdefault(y, number)
        return self

    def _scores(self, x, proba=False):
        row, _ = self._row(x, False)
        if self._model is None or not self._labels:
            return {}
        scores, labels = self._model.score(row, proba)[0], list(self._labels)
        return {labels[int(n)]: float(s) for n, s in zip(self._model.classes(), scores)}

    def predict_one(self, x):
        """The class of the largest score; None before one has come."""
        scores = self._scores(x)
        return max(scores, key=scores.get) if scores else None

    def decision_function_one(self, x):
        """The score of each class."""
        return self._scores(x)

    def predict_proba_one(self, x):
        """The probability of each class, of learners that have it; else NotImplementedError."""
        if self._model is None:
            self._model = self._new()
        if not self._model.describe()["proba"]:
            raise NotImplementedError(f"{self.learner} has no probabilities: its scores are margins")
        p = self._scores(x, True)
        total = sum(p.values())
        return {label: v / total if total > 0 else 1 / len(p) for label, v in p.items()}

    def learn_many(self, X, y, w=None):
        """Learns the rows of a data frame, or of a sequence of dicts, in their order."""
        weights = [1.0] * len(y) if w is None else list(w)
        for x, label, weight in zip(_dicts(X), list(y), weights):
            self.learn_one(x, label, weight)
        return self

    def predict_many(self, X):
        """The classes of the rows."""
        return [self.predict_one(x) for x in _dicts(X)]

    def __getstate__(self):
        state = dict(self.__dict__)
        if self._model is not None:
            state["_model"] = self._model.encode()
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if isinstance(self._model, bytes):
            self._model = Model.decode(self._model)


def _dicts(X):
    if hasattr(X, "to_dict"):
        return X.to_dict(orient="records")
    return X
