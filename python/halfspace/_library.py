"""The C library: what halfspace.h declares, and models as objects."""

import ctypes
import json
import os
import pathlib
import sys
import threading

import numpy as np

_ABI = 1


class HalfspaceError(ValueError):
    """What the library refuses."""


class Rows(ctypes.Structure):
    """halfspace_rows."""

    _fields_ = [
        ("n", ctypes.c_int64),
        ("dim", ctypes.c_int64),
        ("ptr", ctypes.c_void_p),
        ("idx", ctypes.c_void_p),
        ("stride", ctypes.c_int64),
        ("f32", ctypes.c_void_p),
        ("f64", ctypes.c_void_p),
        ("labels", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
    ]


_names = ctypes.POINTER(ctypes.c_char_p)
_rows = ctypes.POINTER(Rows)
_functions = {
    "abi": (ctypes.c_int32,),
    "error": (ctypes.c_char_p,),
    "new": (ctypes.c_uint64, ctypes.c_char_p),
    "train_until": (
        ctypes.c_uint64,
        ctypes.c_char_p,
        _rows,
        _names,
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_int32),
    ),
    "learn": (ctypes.c_int64, ctypes.c_uint64, _rows, _names, ctypes.c_int32),
    "outputs": (ctypes.c_int32, ctypes.c_uint64),
    "classes": (ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int64),
    "describe": (ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int64),
    "score": (ctypes.c_int32, ctypes.c_uint64, _rows, ctypes.c_void_p, ctypes.c_int64),
    "proba": (ctypes.c_int32, ctypes.c_uint64, _rows, ctypes.c_void_p, ctypes.c_int64),
    "predict": (ctypes.c_int32, ctypes.c_uint64, _rows, ctypes.c_void_p, ctypes.c_int64),
    "ask_json": (
        ctypes.c_int64,
        ctypes.c_uint64,
        ctypes.c_char_p,
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_int64,
    ),
    "scales": (
        ctypes.c_int32,
        ctypes.c_uint64,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
    ),
    "set_note": (ctypes.c_int32, ctypes.c_uint64, ctypes.c_char_p),
    "note": (ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int64),
    "weights": (
        ctypes.c_int32,
        ctypes.c_uint64,
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.POINTER(ctypes.c_double),
    ),
    "snapshot": (ctypes.c_uint64, ctypes.c_uint64),
    "encode": (ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int64),
    "decode": (ctypes.c_uint64, ctypes.c_char_p, ctypes.c_int64),
    "save": (ctypes.c_int32, ctypes.c_uint64, ctypes.c_char_p),
    "load": (ctypes.c_uint64, ctypes.c_char_p),
    "free": (ctypes.c_int32, ctypes.c_uint64),
}


class _Library:
    """The functions, found when the first is called: a process may fork before that."""

    def __init__(self):
        self._dll = None
        self._pid = 0

    def _load(self):
        suffix = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
        path = os.environ.get("HALFSPACE_LIBRARY") or str(
            pathlib.Path(__file__).with_name("libhalfspace." + suffix)
        )
        dll = ctypes.CDLL(path)  # calls leave the interpreter's lock to others
        for name, (result, *arguments) in _functions.items():
            function = getattr(dll, "halfspace_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        if self.abi() != _ABI:
            raise ImportError(f"{path}: interface {self.abi()}, want {_ABI}")
        self._dll, self._pid = dll, os.getpid()

    def ready(self):
        """Loads the library, or refuses one whose threads a fork has left behind."""
        if self._dll is None:
            self._load()
        elif self._pid != os.getpid():
            raise RuntimeError(
                "halfspace was used before this process forked, and its threads are in the other "
                "one: start processes by 'spawn' or 'forkserver' (joblib's loky does), or use "
                "halfspace in the children only"
            )
        return self


_library = _Library()


def abi():
    """The number of the C library's interface."""
    return _library.ready().abi()


def _failed():
    return HalfspaceError(_library.error().decode("utf-8", "replace"))


def _texts(names):
    return (ctypes.c_char_p * len(names))(*[n.encode() for n in names]), len(names)


def _at(array):
    """Where an array lies."""
    return None if array is None else array.__array_interface__["data"][0]


def rows(X, labels=None, weights=None):
    """The rows of an array or a CSR matrix, and what must live as long as they do."""
    n, dim = X.shape
    data, ptr, idx = X, None, None
    if hasattr(X, "indptr"):
        ptr = np.ascontiguousarray(X.indptr, np.int64)
        idx = np.ascontiguousarray(X.indices, np.int32)
        data = np.ascontiguousarray(X.data)
        # the library can't know how long the arrays are; the offsets between it checks itself
        if ptr.shape != (n + 1,) or not 0 <= ptr[n] <= min(idx.size, data.size):
            raise ValueError("X is a broken CSR matrix: indptr does not fit to its indices and data")
    f32, f64 = (_at(data), None) if data.dtype == np.float32 else (None, _at(data))
    r = Rows(n, dim, _at(ptr), _at(idx), 0, f32, f64, _at(labels), _at(weights))
    return r, (X, ptr, idx, data, labels, weights)


class Named:
    """Rows by the names of their columns, as the library reads JSON: numbers and texts, and what is
    missing left out."""

    def __init__(self, frame):
        records = frame.to_dict("records") if hasattr(frame, "to_dict") else frame.to_dicts()
        self.shape = (len(records), len(frame.columns))
        text = (json.dumps({k: _field(v) for k, v in r.items()}) for r in records)
        self.text = "\n".join(text).encode()


def _field(v):
    if v is None or v != v:
        return None
    number = isinstance(v, (int, float, np.number)) and not isinstance(v, bool)
    return float(v) if number else str(v)


class Model:
    """A model of the library, which is freed with the object."""

    def __init__(self, handle):
        self._handle, self._outputs = handle, None

    @classmethod
    def _of(cls, handle):
        if not handle:
            raise _failed()
        return cls(handle)

    @classmethod
    def new(cls, options):
        return cls._of(_library.ready().new(json.dumps(options).encode()))

    @classmethod
    def train(cls, options, X, labels, names, weights):
        """Trains. Ctrl-C ends it: the interpreter sees signals while another thread trains."""
        lib = _library.ready()
        r, _keep = rows(X, labels, weights)
        text, texts = json.dumps(options).encode(), _texts(names)
        stop, made, ended = ctypes.c_int32(0), [], threading.Event()

        def train():
            try:
                handle = lib.train_until(text, r, *texts, ctypes.byref(stop))
                made.append(cls(handle) if handle else _failed())  # errors are the thread's
            finally:
                ended.set()

        if threading.current_thread() is not threading.main_thread():
            train()
        else:
            threading.Thread(target=train, daemon=True).start()
            try:
                ended.wait()
            except BaseException:
                stop.value = 1
                while not ended.is_set():  # the arrays are in use until then
                    try:
                        ended.wait()
                    except KeyboardInterrupt:
                        pass
                raise
        if not isinstance(made[0], Model):
            raise made[0]
        return made[0]

    @classmethod
    def load(cls, path):
        return cls._of(_library.ready().load(os.fsencode(path)))

    @classmethod
    def decode(cls, data):
        return cls._of(_library.ready().decode(data, len(data)))

    def __del__(self):
        if self._handle and _library._pid == os.getpid():
            _library.free(self._handle)

    def _check(self, result):
        if result < 0:
            raise _failed()
        return result

    def _ready(self):
        return _library.ready()

    def learn(self, X, labels, names=None, weights=None):
        r, _keep = rows(X, labels, weights)
        self._outputs = None  # there may be new classes
        if names is None:
            return self._check(self._ready().learn(self._handle, r, None, 0))
        return self._check(self._ready().learn(self._handle, r, *_texts(names)))

    def outputs(self):
        if self._outputs is None:
            self._outputs = self._check(self._ready().outputs(self._handle))
        return self._outputs

    def _bytes(self, function, guess=0):
        buffer = ctypes.create_string_buffer(guess) if guess else None
        size = self._check(function(self._handle, buffer, guess))
        if size > guess:
            buffer = ctypes.create_string_buffer(size)
            self._check(function(self._handle, buffer, size))
        return buffer.raw[:size]

    def classes(self):
        return self._bytes(self._ready().classes, 1024).decode().split("\0")[:-1]

    def describe(self):
        return json.loads(self._bytes(self._ready().describe, 4096)[:-1])

    def encode(self):
        return self._bytes(self._ready().encode)

    def save(self, path):
        self._check(self._ready().save(self._handle, os.fsencode(path)))

    def score(self, X, proba=False):
        """Scores, or probabilities: a row of outputs for each row of X."""
        lib, k = self._ready(), self.outputs()
        out = np.empty((X.shape[0], k))
        if isinstance(X, Named):
            return self._named(X, 1 if proba else 0, out)
        r, _keep = rows(X)
        ask = lib.proba if proba else lib.score
        self._check(ask(self._handle, r, _at(out), out.size))
        return out

    def predict(self, X):
        """The number of each row's label in classes; -1 of a score that is not a number."""
        if isinstance(X, Named):
            return self._named(X, 2, np.empty(X.shape[0])).astype(np.int32)
        out = np.empty(X.shape[0], np.int32)
        r, _keep = rows(X)
        self._check(self._ready().predict(self._handle, r, _at(out), out.size))
        return out

    def _named(self, X, what, out):
        ask = self._ready().ask_json
        self._check(ask(self._handle, X.text, what, _at(out), out.size))
        return out

    def scales(self, dim):
        """What brings features to the learner's scale: (x - shift) factor."""
        shift, factor = np.empty(dim), np.empty(dim)
        self._check(self._ready().scales(self._handle, _at(shift), _at(factor), dim))
        return shift, factor

    def note(self):
        return self._bytes(self._ready().note, 4096)[:-1].decode()

    def set_note(self, text):
        self._check(self._ready().set_note(self._handle, text.encode()))

    def weights(self, dim):
        """The weights, a row for each output, and their biases."""
        lib, k, bias = self._ready(), self.outputs(), ctypes.c_double()
        w, b = np.empty((k, dim)), np.empty(k)
        for i in range(k):
            self._check(lib.weights(self._handle, i, w[i].ctypes.data, dim, bias))
            b[i] = bias.value
        return w, b
