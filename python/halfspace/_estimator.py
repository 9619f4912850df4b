"""The estimator that all classes are."""

import functools
import inspect

import numpy as np

from ._library import HalfspaceError, Model

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import NotFittedError
except ImportError:  # numpy is all that is needed
    from ._plain import BaseEstimator, ClassifierMixin, NotFittedError

from ._checks import check_rows, check_targets, check_weights, ready_labels, ready_rows

_common = {
    "max_iter": "epochs",
    "shuffle": "shuffle",
    "until_converged": "until_converged",
    "bias": "bias",
    "normalize": "normalize",
    "scaling": "scale",
    "precision": "precision",
    "calibrate": "calibrate",
    "n_jobs": "threads",
}


class _OfLearnersThat:
    """A method that only some learners have: others are without the attribute."""

    def __init__(self, method, has, why):
        self.method, self.has, self.why = method, has, why
        self.__doc__ = method.__doc__

    def __get__(self, estimator, owner):
        if estimator is None:
            return self.method
        if not self.has(estimator):
            raise AttributeError(f"{type(estimator).__name__} {self.why}")
        return self.method.__get__(estimator, owner)


def _that(has, why):
    return lambda method: _OfLearnersThat(method, has, why)


class HalfspaceClassifier(ClassifierMixin, BaseEstimator):
    """A learner by its name. Any number of classes, dense arrays and CSR matrices.

    Parameters
    ----------
    learner : str, default "obpm"
        its name, as ``halfspace train --help`` lists them
    config : dict or None
        the learner's settings; those that are not there have their defaults
    max_iter : int, default 10
        passes of ``fit`` over the data, all of which are made
    shuffle : bool, default True
        a fresh order for each pass
    until_converged : bool, default False
        pass until a whole pass makes no update, instead of max_iter times; the only way of learners of
        whole data sets
    bias : "append" or "none"
        append a feature of 1 to each example
    normalize : "none", "unit" or "max"
        divide each example by its length, or all by the longest's
    scaling : "none", "std" or "maxabs"
        bring the features to one scale, which ``partial_fit`` finds in the rows so far
    precision : "f32" or "f64"
    class_weight : dict, "balanced" or None
    calibrate : "none", "platt" or "temperature"
        have ``fit`` find the probabilities that scores stand for, of any number of classes: then
        there is ``predict_proba`` of all learners
    n_jobs : int, default 1
        threads of ``fit``, of learners that share their work; -1: one for each core. The model is
        the same with any number
    random_state : int, RandomState or None, default 1
        the seed of all draws

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : array, where X has names
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        of linear models
    """

    _learner = None
    _settings = None
    _stream = True
    _proba = None

    def __init__(
        self,
        learner="obpm",
        config=None,
        *,
        max_iter=10,
        shuffle=True,
        until_converged=False,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.learner = learner
        self.config = config
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.until_converged = until_converged
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    # What the library is asked for.

    def _options(self, fitting):
        """The JSON options of the parameters."""
        if self._learner is None:
            o = {"learner": self.learner, "config": dict(self.config or {})}
        else:
            defaults = _defaults(type(self))
            config = {}
            for parameter, key in self._settings.items():
                value = _plain(getattr(self, parameter))
                if value != defaults[parameter] and value is not None:
                    config[key] = value
            if "base_config" in self._settings:  # its defaults, as the command has them
                config.setdefault("base_config", {})
            o = {"learner": self._learner, "config": config}
        if not o["config"]:
            del o["config"]
        for parameter, key in _common.items():
            value = _plain(getattr(self, parameter, None))
            if value in (None, False, "none") or not fitting and parameter in _of_fit:
                continue
            o[key] = value
        if o.get("until_converged"):
            o.pop("epochs", None)
            o.pop("shuffle", None)
        if o.get("threads", 1) < 0:
            del o["threads"]
        o["seed"] = self._seed()
        return o

    def _seed(self):
        r = self.random_state
        if r is None:
            return int(np.random.randint(2**31 - 1))
        if isinstance(r, np.random.RandomState):
            return int(r.randint(2**31 - 1))
        return int(r)

    # Learning.

    def fit(self, X, y, sample_weight=None):
        """Learns anew. The model is, to the byte, the one of ``halfspace train`` with the same
        options on a file of the same numbers."""
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight):
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None"
            )
        X, y = check_rows(self, X, y=y, reset=True)
        self.classes_, labels = check_targets(y)
        names = _names(self.classes_)
        weights = check_weights(sample_weight, X)
        if weights is not None:
            taken = weights > 0  # others teach nothing
            if not taken.all():
                X, labels, weights = X[taken], labels[taken], weights[taken]
        if len(self.classes_) < 2 or weights is not None and len(np.unique(labels)) < 2:
            raise ValueError("y has 1 class, of which nothing can be told: at least 2 are needed")
        if weights is not None and (weights == 1).all():
            weights = None
        options = self._options(fitting=True)
        if getattr(self, "class_weight", None) is not None:
            options["class_weight"] = self._class_weights(names)
        self._take(Model.train(options, X, labels, names, weights))
        self.n_iter_ = max(1, self._model.describe()["presented"] // len(labels))
        return self

    def _class_weights(self, names):
        if isinstance(self.class_weight, str):
            return self.class_weight
        known = dict(zip(self.classes_, names))
        return ",".join(
            f"{known.get(c, _name(c))}={float(w)!r}" for c, w in dict(self.class_weight).items()
        )

    @_that(
        lambda self: self._stream and not getattr(self, "until_converged", False),
        "learns whole data sets only",
    )
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learns the rows once, in their order. ``classes`` are needed in the first call."""
        return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit(self, X, y, classes, sample_weight):
        first = getattr(self, "_model", None) is None
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        if not first and classes is None and sample_weight is None and self._learn_few(X, y):
            return self
        X, y = check_rows(self, X, y=y, reset=first)
        if classes is not None:
            classes = np.unique(np.asarray(classes))
            if not first and not np.array_equal(classes, self.classes_):
                raise ValueError(f"classes are {classes}, and {self.classes_} in the first call")
        if first:
            if len(classes) < 2:
                raise ValueError("classes has 1 class: at least 2 are needed")
            self.classes_ = classes
            options = self._options(fitting=False)
            names = _names(classes)
            if len(classes) == 2:
                options["positive"] = names[1]
            else:
                options["classes"] = names
            self._take(Model.new(options))
        labels = ready_labels(y, X.shape[0], self.classes_)
        if labels is None:
            labels = np.searchsorted(self.classes_, y)
            known = labels < len(self.classes_)
            known[known] = self.classes_[labels[known]] == np.asarray(y)[known]
            if not known.all():
                raise ValueError(f"y has {np.asarray(y)[~known][0]!r}, which is none of the classes")
        weights = check_weights(sample_weight, X)
        factors = self._factors(labels)
        if factors is not None:
            weights = factors if weights is None else weights * factors
        self._learn(X, labels.astype(np.int32, copy=False), weights)
        return self

    def _learn_few(self, X, y):
        """Learns rows that the library can take as they are, and reports whether it did."""
        few = ready_rows(self, X)
        if few is None or getattr(self, "class_weight", None) is not None:
            return False
        labels = ready_labels(y, few.shape[0], self.classes_)
        if labels is None:
            return False
        try:
            self._learn(few, labels, None)
        except HalfspaceError:  # nothing was learned; what is wrong is found by the other way
            return False
        return True

    def _learn(self, X, labels, weights):
        if self._numbers is None:  # the model's classes are not these: it goes by names
            self._model.learn(X, labels, _names(self.classes_), weights)
        else:
            self._model.learn(X, self._numbers[labels], None, weights)

    def _factors(self, labels):
        given = getattr(self, "class_weight", None)
        if given is None:
            return None
        if isinstance(given, str):
            raise ValueError("class_weight 'balanced' needs all the data: give partial_fit a dict")
        of = np.array([float(given.get(c, 1)) for c in self.classes_.tolist()])
        return of[labels]

    def _take(self, model):
        """Keeps a model, and how its outputs lie to classes_."""
        self._model = model
        names = model.classes()
        mine = _names(self.classes_)
        self._order = self._numbers = None
        if len(names) == 2 and model.outputs() == 1:
            self._flipped = names[1] != mine[1] and names[0] == mine[1]
            self._numbers = np.array([1, 0] if self._flipped else [0, 1], np.int32)
        elif names != mine:
            at = {name: i for i, name in enumerate(names)}
            self._order = np.array([at.get(name, -1) for name in mine])
            if self._order.min() >= 0:
                self._numbers = self._order.astype(np.int32)
        else:
            self._numbers = np.arange(len(mine), dtype=np.int32)

    def _more_tags(self):  # as scikit-learn's own Perceptron has it: the order of rows counts
        return {"_xfail_checks": _expected_to_fail}

    # Asking.

    def _fitted(self):
        if getattr(self, "_model", None) is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: call fit first"
            )
        return self._model

    def _ordered(self, out):
        """Outputs in the order of classes_."""
        if out.shape[1] == 1:
            return out
        if self._order is None:
            return out
        padded = np.column_stack([out, np.full(len(out), -np.inf)])
        return padded[:, self._order]

    def decision_function(self, X):
        """Scores: of two classes above 0 for the second, else one for each class. Of learners with
        a posterior they are the log-odds of its probabilities."""
        self._fitted()
        out = self._ordered(self._scores(X, self._has_proba()))
        if self._has_proba():
            least = np.finfo(np.float64).eps / 2
            out = np.clip(out, least, 1 - least)
            out = np.log(out / (1 - out))
        if out.shape[1] > 1:
            return out if len(self.classes_) > 2 else out[:, 1] - out[:, 0]
        return -out[:, 0] if self._flipped else out[:, 0]

    def _scores(self, X, proba):
        few = ready_rows(self, X)
        if few is not None:
            try:
                return self._model.score(few, proba)
            except HalfspaceError:  # what is wrong is found by the other way
                pass
        return self._model.score(check_rows(self, X, reset=False), proba)

    def predict(self, X):
        """The class of each row: from the model's threshold on the positive one of two."""
        self._fitted()
        least = getattr(self, "_from", 0)  # found by the command
        if least:
            positive = self._scores(X, False)[:, 0] >= least
            return self.classes_[(positive != self._is_flipped()).astype(int)]
        f = self.decision_function(X)
        if f.ndim == 1:
            return self.classes_[(f > 0 if self._is_flipped() else f >= 0).astype(int)]
        return self.classes_[f.argmax(axis=1)]

    def _is_flipped(self):
        return getattr(self, "_flipped", False)

    @_that(lambda self: self._has_proba(), "has no probabilities: its scores are margins")
    def predict_proba(self, X):
        """The probability of each class, of learners that have it."""
        self._fitted()
        p = self._ordered(self._scores(X, True))
        if p.shape[1] == 1:
            p = np.column_stack([1 - p[:, 0], p[:, 0]])
            return p[:, ::-1] if self._flipped else p
        p = np.where(np.isfinite(p), p, 0)
        total = p.sum(axis=1, keepdims=True)
        return np.divide(p, total, out=np.full_like(p, 1 / p.shape[1]), where=total > 0)

    def _has_proba(self):
        if getattr(self, "calibrate", "none") not in (None, "none"):
            return True
        if self._proba is None:  # a learner by its name
            return _has_posterior(self.learner)
        return self._proba

    @property
    def coef_(self):
        """The weights, a row for each output."""
        return self._weights()[0]

    @property
    def intercept_(self):
        """What is added to the weights' sums."""
        return self._weights()[1]

    def _weights(self):
        try:
            w, b = self._fitted().weights(self.n_features_in_)
        except ValueError as e:
            raise AttributeError(str(e)) from None
        if len(w) == 1:
            return (-w, -b) if self._flipped else (w, b)
        if self._order is not None:
            w, b = w[self._order], b[self._order]
        return w, b

    # Keeping.

    def save(self, path):
        """Writes the model file, which the ``halfspace`` command and :func:`load` read."""
        self._fitted().save(path)

    def __getstate__(self):
        state = dict(self.__dict__)
        if state.get("_model") is not None:
            state["_model"] = state["_model"].encode()
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if isinstance(state.get("_model"), bytes):
            self._model = Model.decode(state["_model"])

    def __sklearn_is_fitted__(self):
        return getattr(self, "_model", None) is not None


class UnweightedClassifier(HalfspaceClassifier):
    """A learner whose rule has no place for weights of examples."""

    def fit(self, X, y):
        """Learns anew; see :meth:`HalfspaceClassifier.fit`."""
        return self._fit(X, y, None)

    @_that(
        lambda self: self._stream and not getattr(self, "until_converged", False),
        "learns whole data sets only",
    )
    def partial_fit(self, X, y, classes=None):
        """Learns the rows once, in their order. ``classes`` are needed in the first call."""
        return self._partial_fit(X, y, classes, None)


_expected_to_fail = {
    "check_sample_weights_invariance": "the order of rows counts, and this check changes it",
}
_of_fit = {"max_iter", "shuffle", "until_converged", "n_jobs", "calibrate"}


@functools.lru_cache(maxsize=None)
def _defaults(cls):
    """The parameters' defaults."""
    return {n: p.default for n, p in inspect.signature(cls.__init__).parameters.items()}


@functools.lru_cache(maxsize=None)
def _has_posterior(learner):
    """Whether the learner of that name has probabilities."""
    from . import _learners

    classes = [getattr(_learners, n) for n in _learners.__all__]
    return any(c._proba for c in classes if c._learner == learner)


def _plain(value):
    """A number or text that JSON takes."""
    return value.item() if isinstance(value, np.generic) else value


def _name(label):
    """A label as text: numbers as the model file has them."""
    if isinstance(label, (bool, np.bool_)):
        return str(bool(label))
    if isinstance(label, (int, np.integer)):
        return str(int(label))
    if isinstance(label, (float, np.floating)):
        return str(int(label)) if float(label).is_integer() else repr(float(label))
    return str(label)


def _names(classes):
    return [_name(c) for c in classes]


def load(path):
    """A classifier of a model file. Labels that are whole numbers are int, other numbers float."""
    model = Model.load(path)
    about = model.describe()
    c = HalfspaceClassifier(about["learner"], about["config"])
    names = model.classes()
    for kind in (int, float, str):
        try:
            classes = np.array([kind(n) for n in names])
            break
        except ValueError:
            continue
    c.classes_ = np.unique(classes)
    c.n_features_in_ = about["features"]
    c._model, c._order, c._numbers = model, None, None
    c._from = about["threshold"]
    c._flipped = len(names) == 2 and model.outputs() == 1 and classes[0] > classes[1]
    if model.outputs() > 1:
        c._order = np.argsort(classes)
    return c
