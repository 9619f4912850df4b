"""What a model file keeps of an estimator beside the model: its class, parameters and labels."""

import inspect
import json

import numpy as np

# A text that the library may not keep as it is; see texts_of.
_longest = 4096


def texts_of(classes):
    """The names of classes in the model: their texts, if these are as many labels there, else
    numbers from 0."""
    texts = [_text(c) for c in classes.tolist()]
    keys = {_key(t) for t in texts}
    if len(keys) < len(texts) or not all(map(_keeps, texts)):
        return [str(i) for i in range(len(texts))]
    return texts


def _text(label):
    """A label as text: numbers as the model file has them."""
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return str(int(label))
    return repr(label) if isinstance(label, float) else str(label)


def _key(text):
    """What is equal for texts that may be taken for one label: numbers by their value."""
    try:
        return float(text)
    except ValueError:
        return text


def _keeps(text):
    """Whether a text is a label as it stands: not one of the words for a label that is missing."""
    if text.strip().lower() in ("", "?", "na", "n/a", "nan", "+nan", "-nan", "null", "none"):
        return False
    try:
        return len(text.encode()) <= _longest and text.isprintable()
    except UnicodeEncodeError:  # half a character
        return False


def write(estimator, names):
    """The note on an estimator whose classes have those names in the model."""
    from . import _estimator, _learners

    ours = [getattr(_learners, n) for n in _learners.__all__] + [_estimator.HalfspaceClassifier]
    cls = next(c for c in type(estimator).__mro__ if c in ours)
    params = {}
    for name in inspect.signature(cls.__init__).parameters:
        value = estimator.__dict__.get(name)
        if isinstance(value, dict) and name == "class_weight":
            value = {"dict": [[_json(k), _json(v)] for k, v in value.items()]}
        if name != "self":
            params[name] = _json(value)
    classes = estimator.classes_
    labels = {"dtype": classes.dtype.str, "names": names, "values": classes.tolist()}
    about = {"class": cls.__name__, "params": params, "labels": labels}
    if hasattr(estimator, "feature_names_in_"):
        about["features"] = [str(n) for n in estimator.feature_names_in_]
    return json.dumps({"python": about})


def _json(value):
    """A parameter as JSON has it; generators of random numbers are None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {k: _json(v) for k, v in value.items()}
    return value if isinstance(value, (bool, int, float, str, type(None))) else None


def read(note, about, names):
    """The estimator that a note is on, and the labels that the model's names are; see load."""
    from . import _estimator, _learners

    try:
        said = json.loads(note)["python"]
        cls = getattr(_learners, said["class"], _estimator.HalfspaceClassifier)
        params = dict(said["params"])
        weights = params.get("class_weight")
        if isinstance(weights, dict):
            params["class_weight"] = {k: v for k, v in weights["dict"]}
        made = cls(**params)
        labels = said["labels"]
        value = dict(zip(labels["names"], labels["values"]))
        if set(value) == set(names):
            dtype = np.dtype(labels["dtype"])
            values = np.array([value[n] for n in names], dtype)
        else:  # learned on by the command, with labels of its own
            values = _values(names)
        if "features" in said:
            made.feature_names_in_ = np.array(said["features"], dtype=object)
        return made, values
    except (ValueError, KeyError, TypeError):  # none, or another program's
        return _of_options(about["options"]), _values(names)


def _values(names):
    """The labels of a model of the command."""
    for kind in (int, float):
        try:
            values = [kind(n) for n in names]
        except ValueError:
            continue
        if [str(v) if kind is int else repr(v) for v in values] == names:
            return np.array(values)
    return np.array(names)


def _of_options(options):
    """An estimator with the parameters of a model of the command."""
    from . import _estimator, _learners

    learner, config = options["learner"], options.get("config") or {}
    common = {
        "bias": "append" if "rho" in options else options.get("bias") or "none",
        "normalize": options.get("normalize") or "none",
        "scaling": options.get("scale") or "none",
        "precision": options["precision"],
        "random_state": options["seed"],
    }
    own, inner = learner, config
    if learner == "ovr":  # what each class is for learners of two
        own, inner = config["base"], config.get("base_config") or {}
    for name in _learners.__all__:
        cls = getattr(_learners, name)
        if cls._learner == own:
            return cls(**_parameters(cls, inner), **common)
    return _estimator.HalfspaceClassifier(learner, config, **common)


def _parameters(cls, config):
    """A learner's settings by the names of their parameters."""
    params = {}
    for name, (key, _, auto) in cls._settings.items():
        if auto and config.get(auto):
            params[name] = "auto"
        elif key in config:
            params[name] = config[key]
    return params
