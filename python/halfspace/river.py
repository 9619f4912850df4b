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

import numpy as np

from ._estimator import _name
from ._library import Model


class _Row:
    """A CSR matrix of one row."""

    def __init__(self, indices, values, dim):
        self.indptr = np.array([0, len(indices)], np.int64)
        self.indices, self.data, self.shape = indices, values, (1, dim)


class OnlineClassifier:
    """A learner of dicts. Any labels may come, at any time, and any features.

    Parameters are those of :class:`halfspace.HalfspaceClassifier`.
    """

    _multiclass = True

    def __init__(self, learner="obpm", config=None, *, bias="append", precision="f32", seed=1):
        self.learner = learner
        self.config = config
        self.bias = bias
        self.precision = precision
        self.seed = seed
        self._features = {}
        self._labels = {}
        self._model = None

    def _new(self):
        config = {"base": self.learner, "base_config": dict(self.config or {})}
        if not self.config:
            del config["base_config"]
        return Model.new(
            {
                "learner": "ovr",
                "config": config,
                "bias": self.bias,
                "precision": self.precision,
                "seed": self.seed,
            }
        )

    def _row(self, x, grow):
        at, indices, values = self._features, [], []
        for name, value in x.items():
            j = at.get(name)
            if j is None:
                if not grow:
                    continue
                j = at[name] = len(at)
            indices.append(j)
            values.append(value)
        indices = np.array(indices, np.int32)
        values = np.array(values, np.float64)
        order = np.argsort(indices)
        return _Row(indices[order], values[order], max(len(at), 1))

    def learn_one(self, x, y, w=1.0):
        """Learns one example, of weight w where the learner takes weights."""
        if self._model is None:
            self._model = self._new()
        self._labels.setdefault(_name(y), y)
        weights = None if w == 1 else np.array([w], np.float64)
        self._model.learn(self._row(x, True), np.zeros(1, np.int32), [_name(y)], weights)
        return self

    def _scores(self, x):
        if self._model is None or not self._labels:
            return {}
        scores = self._model.score(self._row(x, False))[0]
        return {self._labels[n]: float(s) for n, s in zip(self._model.classes(), scores)}

    def predict_one(self, x):
        """The class of the largest score; None before one has come."""
        scores = self._scores(x)
        return max(scores, key=scores.get) if scores else None

    def decision_function_one(self, x):
        """The score of each class."""
        return self._scores(x)

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
