"""What is looked at before rows go to the library."""

import numpy as np

try:
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, column_or_1d

    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # before 1.6 it was the estimator's

        def validate_data(estimator, X, y="no_validation", **how):
            return estimator._validate_data(X, y, **how)

except ImportError:
    validate_data = None

_types = [np.float64, np.float32]


def check_rows(estimator, X, y=None, *, reset):
    """X as the library takes it: float32 or float64, finite, in rows or CSR with ascending
    indices; with y both."""
    check_sparse(X)
    if validate_data is not None:
        how = {"accept_sparse": "csr", "dtype": _types, "order": "C", "reset": reset}
        if y is None:
            return _csr(validate_data(estimator, X, **how))
        X, y = validate_data(estimator, X, y, multi_output=True, **how)
        return _csr(X), column_or_1d(y, warn=True)
    named = getattr(X, "columns", None)
    if reset:
        estimator.__dict__.pop("feature_names_in_", None)
        if named is not None and all(isinstance(name, str) for name in named):
            estimator.feature_names_in_ = np.array(named, dtype=object)
    elif named is not None and hasattr(estimator, "feature_names_in_"):
        if list(named) != list(estimator.feature_names_in_):
            raise ValueError(
                f"X has the columns {list(named)}, want {list(estimator.feature_names_in_)}"
            )
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        if X.dtype not in _types:
            X = X.astype(np.float64)
        values = X.data
    else:
        X = np.asarray(X)
        X = np.ascontiguousarray(X, X.dtype if X.dtype in _types else np.float64)
        values = X
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X has the shape {X.shape}, want rows of features")
    if not np.isfinite(values).all():
        raise ValueError("X has values that are not finite")
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} features, want {estimator.n_features_in_}")
    if y is None:
        return _csr(X)
    y = np.asarray(y)
    if y.shape != (X.shape[0],):
        raise ValueError(f"y has the shape {y.shape}, and X {X.shape[0]} rows")
    return _csr(X), y


def is_numeral(text):
    """Whether a text is one that NumPy takes for a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


# As many rows cost as much as scikit-learn's checks of them.
_few = 1024


def check_sparse(X):
    """Refuses a sparse matrix whose arrays don't fit together: SciPy reads and writes by them."""
    kind = getattr(X, "format", "")

    def sound(ok, what):
        if not ok:
            raise ValueError(f"X is a broken {kind.upper()} matrix: {what}")

    if kind in ("csr", "csc", "bsr"):
        major, minor = X.shape if kind != "csc" else X.shape[::-1]
        if kind == "bsr":
            major, minor = (n // b for n, b in zip(X.shape, X.blocksize))
        ptr, idx = np.asarray(X.indptr), np.asarray(X.indices)
        sound(ptr.shape == (major + 1,) and ptr[0] == 0, f"indptr is not {major + 1} from 0 on")
        sound((ptr[1:] >= ptr[:-1]).all(), "indptr does not ascend")
        sound(ptr[-1] <= min(len(idx), len(X.data)), "indptr ends behind the indices or the data")
        idx = idx[: ptr[-1]]
        if idx.size:
            low, high = idx.min(), idx.max()
            sound(0 <= low and high < minor, f"indices from {low} to {high}, want 0 to {minor - 1}")
    elif kind == "coo":
        sound(len(X.row) == len(X.col) == len(X.data), "rows, columns and data differ in length")
        for at, n in ((X.row, X.shape[0]), (X.col, X.shape[1])):
            sound(not len(at) or 0 <= at.min() and at.max() < n, f"indices beyond {n}")


def ready_rows(estimator, X):
    """X, if it is a few rows that the library can take and judge as they are; None: see check_rows."""
    shape = getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] != estimator.n_features_in_ or not 0 < shape[0] <= _few:
        return None
    if type(X) is np.ndarray:
        if X.dtype not in _types or not X.flags.c_contiguous:
            return None
    elif getattr(X, "format", "") != "csr" or X.data.dtype not in _types:
        return None
    elif X.indices.dtype != np.int32:  # which others may not fit in
        return None
    return None if hasattr(estimator, "feature_names_in_") else X


def ready_labels(y, n, classes):
    """The numbers of n labels of two classes, if they are in an array as classes are; else None."""
    if type(y) is not np.ndarray or y.shape != (n,) or len(classes) != 2:
        return None
    if y.dtype.kind != classes.dtype.kind and not {y.dtype.kind, classes.dtype.kind} <= set("iuf"):
        return None
    second = y == classes[1]
    return second.astype(np.int32) if (second | (y == classes[0])).all() else None


def _csr(X):
    if hasattr(X, "indptr"):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if X.indices.dtype != np.int32 and X.shape[1] > 2**31 - 2:
            raise ValueError(f"X has {X.shape[1]} features, want at most 2^31-2")
    return X


def check_targets(y):
    """The classes, sorted, and the number of each row's."""
    counted = _counted(y)
    if counted is not None:
        return counted
    if validate_data is not None:
        check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    return classes, np.ascontiguousarray(labels.reshape(-1), np.int32)


def _counted(y):
    """check_targets of whole numbers that lie close together: counted, not sorted."""
    if y.dtype.kind not in "iufb" or y.dtype.itemsize > 8 or y.dtype == np.uint64 or len(y) == 0:
        return None
    low, high = int(y.min()), int(y.max())
    if high - low > 4096 or max(-low, high) > 2**53:
        return None
    numbers = y.astype(np.int64)
    if y.dtype.kind == "f" and not (numbers == y).all():
        return None
    numbers -= low
    there = np.bincount(numbers) > 0
    number = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return (np.flatnonzero(there) + low).astype(y.dtype), number[numbers]


def check_weights(weights, X):
    """The weights as float64; None: all are 1."""
    if weights is None:
        return None
    if validate_data is not None:
        weights = np.ascontiguousarray(_check_sample_weight(weights, X, dtype=np.float64))
    else:
        weights = np.ascontiguousarray(weights, np.float64)
    if weights.shape != (X.shape[0],):
        raise ValueError(f"sample_weight has the shape {weights.shape}, and X {X.shape[0]} rows")
    bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if bad.size:
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weights[bad[0]]}, want finite numbers of 0 or more"
        )
    return weights
