"""The estimator that all classes are."""

import functools
import inspect
import warnings

import numpy as np

from . import _notes as notes
from ._library import HalfspaceError, Model, Named
from ._notes import texts_of

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
except ImportError:  # numpy is all that is needed
    from ._plain import BaseEstimator, ClassifierMixin, ConvergenceWarning, NotFittedError

from ._checks import (
    check_rows,
    check_targets,
    check_weights,
    is_numeral,
    ready_labels,
    ready_rows,
)

_common = {
    "max_iter": ("epochs", "int"),
    "shuffle": ("shuffle", "bool"),
    "until_converged": ("until_converged", "bool"),
    "bias": ("bias", "str"),
    "normalize": ("normalize", "str"),
    "scaling": ("scale", "str"),
    "precision": ("precision", "str"),
    "calibrate": ("calibrate", "str"),
    "n_jobs": ("threads", "int"),
}


_of_many = {"mpa", "ovr", "ovo"}  # learners of any number of classes, of two, too


class HalfspaceWarning(UserWarning):
    """A result may not be what it seems: CODE: TEXT, as ``halfspace help numerics`` lists them."""


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
            o = {"learner": self.learner, "config": _finite("config", dict(self.config or {}))}
        else:
            defaults = _defaults(type(self))
            config = {}
            for parameter, (key, kind, auto) in self._settings.items():
                value = _plain(getattr(self, parameter))
                if value is None or value == defaults[parameter]:
                    continue
                if auto and value == "auto":
                    config[auto] = True
                else:
                    config[key] = _finite(parameter, _of_kind(parameter, value, kind))
            if "base_config" in self._settings:  # its defaults, as the command has them
                config.setdefault("base_config", {})
            o = {"learner": self._learner, "config": config}
        if not o["config"]:
            del o["config"]
        for parameter, (key, kind) in _common.items():
            value = _plain(getattr(self, parameter, None))
            if value is None:
                continue
            _of_kind(parameter, value, kind)
            if parameter == "max_iter" and value < 1:
                raise ValueError(f"max_iter is {value}, want 1 or more")
            if parameter == "n_jobs" and value == 0:
                raise ValueError("n_jobs is 0, want a number of threads, or -1")
            if value in (False, "none") or not fitting and parameter in _of_fit:
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
        if isinstance(r, (bool, np.bool_)) or not isinstance(r, (int, np.integer)):
            raise ValueError(f"random_state is {r!r}, want a number, a RandomState or None")
        if not 0 <= r < 2**64:
            raise ValueError(f"random_state is {r}, want 0 to 2^64-1")
        return int(r)

    # Learning.

    def fit(self, X, y, sample_weight=None):
        """Fits from scratch. The model is, to the byte, the one of ``halfspace train`` with the same
        options on a file of the same numbers. If it fails, or Ctrl-C ends it, the estimator is what
        it was before."""
        return self._whole(self._fit, X, y, sample_weight)

    def _whole(self, do, *arguments):
        """Does something that leaves the estimator as it was where it fails."""
        before = dict(self.__dict__)
        try:
            return do(*arguments)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X, y, sample_weight):
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None"
            )
        X, y = check_rows(self, X, y=y, reset=True)
        self.classes_, labels = check_targets(y)
        weights = check_weights(sample_weight, X)
        balanced = isinstance(getattr(self, "class_weight", None), str)
        if not balanced:
            weights = self._weighted(labels, weights)
        if weights is not None:
            taken = weights > 0  # others teach nothing
            if not taken.all():
                X, labels, weights = X[taken], labels[taken], weights[taken]
        if len(self.classes_) < 2 or weights is not None and len(np.unique(labels)) < 2:
            raise ValueError("y has only one class: at least 2 are needed")
        if weights is not None and (weights == 1).all():
            weights = None
        options = self._options(fitting=True)
        if balanced:
            options["class_weight"] = self.class_weight
        names = texts_of(self.classes_)
        model = Model.train(options, X, labels, names, weights)
        self._take(model, names)
        about = model.describe()
        self.n_iter_ = max(1, about["presented"] // len(labels))
        self.progressive_error_ = None
        if about["examples"]:
            self.progressive_error_ = about["errors"] / about["examples"]
        for text in about["warnings"] or []:
            warnings.warn(text, HalfspaceWarning, stacklevel=4)
        if not about["converged"]:
            warnings.warn(
                f"{type(self).__name__} has not converged in {self.n_iter_} passes",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self

    @_that(
        lambda self: self._stream and not getattr(self, "until_converged", False),
        "learns whole data sets only",
    )
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learns the rows once, in their order. ``classes`` are needed in the first call. All rows
        are checked before the first is learned."""
        return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit(self, X, y, classes, sample_weight):
        if getattr(self, "_model", None) is None:
            return self._whole(self._learn_checked, X, y, classes, sample_weight)
        if classes is None and sample_weight is None and self._learn_few(X, y):
            return self
        return self._learn_checked(X, y, classes, sample_weight)

    def _learn_checked(self, X, y, classes, sample_weight):
        first = getattr(self, "_model", None) is None
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        X, y = check_rows(self, X, y=y, reset=first)
        if classes is not None:
            classes = np.unique(np.asarray(classes))
            if not first and not np.array_equal(classes, self.classes_):
                raise ValueError(f"classes are {classes}, and {self.classes_} in the first call")
        if first:
            if len(classes) < 2:
                raise ValueError("classes has only one class: at least 2 are needed")
            self.classes_ = classes
            options = self._options(fitting=False)
            names = options["classes"] = texts_of(classes)
            if len(classes) == 2 and not self._of_classes():
                options["positive"] = names[1]
            self._take(Model.new(options), names)
        labels = ready_labels(y, X.shape[0], self.classes_)
        if labels is None:
            labels = np.searchsorted(self.classes_, y)
            known = labels < len(self.classes_)
            known[known] = self.classes_[labels[known]] == np.asarray(y)[known]
            if not known.all():
                raise ValueError(f"y has {np.asarray(y)[~known][0]!r}, which is none of the classes")
        weights = self._weighted(labels, check_weights(sample_weight, X))
        self._learn(X, labels.astype(np.int32, copy=False), weights)
        return self

    def _of_classes(self):
        """Whether the learner has an output for each of two classes, too."""
        name = self.learner if self._learner is None else self._learner
        return name in _of_many

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
        self._model.learn(X, self._order[labels], None, weights)

    def _weighted(self, labels, weights):
        """The weights of rows, by class_weight, too; None: all are 1."""
        given = getattr(self, "class_weight", None)
        if given is None:
            return weights
        if isinstance(given, str):
            raise ValueError("class_weight 'balanced' needs all the data: give partial_fit a dict")
        of = np.array([float(given.get(c, 1)) for c in self.classes_.tolist()])
        if not ((of >= 0) & np.isfinite(of)).all():
            raise ValueError(f"class_weight is {given}, want finite numbers of 0 or more")
        return of[labels] if weights is None else weights * of[labels]

    def _take(self, model, names):
        """Keeps a model, whose labels are the classes by these names."""
        at = {name: i for i, name in enumerate(model.classes())}
        if len(at) != len(names) or any(name not in at for name in names):
            raise HalfspaceError(f"the model tells {list(at)} apart, and the classes are {names}")
        self._model, self._names = model, names
        self._order = np.array([at[name] for name in names], np.int32)  # numbers of classes_ there
        self._back = np.argsort(self._order)

    def _more_tags(self):  # as scikit-learn's own Perceptron has it: the order of rows counts
        return {"_xfail_checks": _expected_to_fail | (_of_posterior if self._has_posterior() else {})}

    # Asking.

    def _fitted(self):
        if getattr(self, "_model", None) is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: call fit first"
            )
        return self._model

    def decision_function(self, X):
        """Scores: of two classes above 0 for the second, else one for each class. Of two classes
        and a learner with a posterior they are the log-odds of its probabilities."""
        proba = len(self._fitted_classes()) == 2 and self._has_posterior()
        out = self._scores(X, proba)
        if proba:
            least = np.finfo(np.float64).eps / 2
            out = np.clip(out, least, 1 - least)
            out = np.log(out / (1 - out))
        if out.shape[1] > 1:
            out = out[:, self._order]
            return out if len(self.classes_) > 2 else out[:, 1] - out[:, 0]
        return out[:, 0] if self._order[1] else -out[:, 0]

    def _fitted_classes(self):
        self._fitted()
        return self.classes_

    def _ask(self, X, ask):
        if self._has_texts(X):
            return ask(Named(X))
        few = ready_rows(self, X)
        if few is not None:
            try:
                return ask(few)
            except HalfspaceError:  # what is wrong is found by the other way
                pass
        return ask(check_rows(self, X, reset=False))

    def _has_texts(self, X):
        """Whether X is a frame with columns of texts that a model of the command knows."""
        types = zip(getattr(X, "columns", ()), getattr(X, "dtypes", ()))
        other = [c for c, type in types if getattr(type, "kind", "O") not in "iuf"]
        if not other:
            return False
        texts = tuple(f"{c}=" for c in other)
        names = self._model.describe()["names"] or ()
        return any(n.startswith(texts) for n in names if n) or any(
            isinstance(v, str) and not is_numeral(v) for c in other for v in X[c]
        )

    def _scores(self, X, proba):
        return self._ask(X, lambda X: self._model.score(X, proba))

    def predict(self, X):
        """The class of each row, as ``halfspace predict`` has it."""
        self._fitted()
        numbers = self._ask(X, self._model.predict)
        if (numbers < 0).any():
            raise ValueError(f"the score of row {int((numbers < 0).argmax())} is not a number")
        return self.classes_[self._back[numbers]]

    @_that(lambda self: self._has_proba(), "has no probabilities: its scores are margins")
    def predict_proba(self, X):
        """The probability of each class, of learners that have it."""
        self._fitted()
        p = self._scores(X, True)
        if p.shape[1] == 1:
            p = np.column_stack([1 - p[:, 0], p[:, 0]])
        p = p[:, self._order]
        p = np.where(np.isfinite(p), p, 0)
        total = p.sum(axis=1, keepdims=True)
        return np.divide(p, total, out=np.full_like(p, 1 / p.shape[1]), where=total > 0)

    def _has_proba(self):
        if getattr(self, "_model", None) is not None:
            return self._has_posterior() or self._model.describe()["calibrated"]
        return getattr(self, "calibrate", "none") not in (None, "none") or self._has_posterior()

    def _has_posterior(self):
        if self._proba is None:  # a learner by its name
            base = self.learner
            while base in ("ovr", "ovo"):
                base = (self.config or {}).get("base", "obpm") if base == self.learner else ""
            return _has_posterior(base)
        return self._proba

    @property
    def coef_(self):
        """The weights of linear models, a row for each output, in units of X: with normalize="unit"
        the score is divided by the length of the scaled row, too."""
        return self._weights()[0]

    @property
    def intercept_(self):
        """What is added to the weights' sums."""
        return self._weights()[1]

    @property
    def mean_(self):
        """What is subtracted from each feature first: 0 without scaling, and for CSR matrices."""
        return self._fitted().scales(self.n_features_in_)[0]

    @property
    def scale_(self):
        """What each feature is divided by then; inf for one that never changes."""
        with np.errstate(divide="ignore"):
            return 1 / self._fitted().scales(self.n_features_in_)[1]

    def _weights(self):
        try:
            w, b = self._fitted().weights(self.n_features_in_)
        except ValueError as e:
            raise AttributeError(str(e)) from None
        mean, factor = self._model.scales(self.n_features_in_)
        w = w * factor
        b = b - w @ mean
        if len(w) == 1:
            return (w, b) if self._order[1] else (-w, -b)
        return w[self._order], b[self._order]

    # Keeping.

    def save(self, path):
        """Writes the model file, which the ``halfspace`` command and :func:`load` read. A note in
        it says what the estimator was."""
        self._fitted().set_note(notes.write(self, self._names))
        try:
            self._model.save(path)
        finally:
            self._model.set_note("")

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
        """Fits from scratch; see :meth:`HalfspaceClassifier.fit`."""
        return self._whole(self._fit, X, y, None)

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
_of_posterior = {
    "check_classifiers_train": "labels go by scores, as the command has them: the most probable "
    "one of more than two classes may be another",
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


def _of_kind(parameter, value, kind):
    """The value, if it is of that kind."""
    if not isinstance(value, _kinds[kind]) or kind in ("int", "float") and isinstance(value, bool):
        if kind == "int" and isinstance(value, float) and value.is_integer():
            return int(value)
        raise ValueError(f"{parameter} is {value!r}, want {_wanted[kind]}")
    return value


_kinds = {"bool": bool, "int": int, "float": (int, float), "str": str, "dict": dict}
_wanted = {
    "bool": "True or False",
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "dict": "a dict",
}


def _finite(parameter, value):
    """The value, if all numbers in it are finite."""
    if isinstance(value, dict):
        return {k: _finite(f"{parameter}[{k!r}]", _plain(v)) for k, v in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"{parameter} is {value}, want a finite number")
    return value


def load(path):
    """The estimator that was saved, or one of a model of the ``halfspace`` command: labels that are
    all written as Python writes whole numbers are int, else, if as it writes numbers, float; all
    others are texts, as "+1" and "007" are."""
    model = Model.load(path)
    about = model.describe()
    names = model.classes()
    c, labels = notes.read(model.note(), about, names)
    c.classes_, order = np.unique(labels, return_index=True)
    c._take(model, [names[i] for i in order])
    c.n_features_in_ = about["features"]
    known = about["names"]
    if known and len(known) == c.n_features_in_ and all(known):
        c.feature_names_in_ = np.array(known, dtype=object)
    return c
