"""Linear and kernel classifiers with a large margin, learned one example after another.

Estimators as scikit-learn has them::

    from halfspace import OBPMClassifier
    model = OBPMClassifier(members=50, tau=0.3).fit(X, y)
    model.predict(X_new)

A class for each learner, and :class:`HalfspaceClassifier`, which takes a learner by its name.
:mod:`halfspace.river` learns dicts, one by one. Models are files that the ``halfspace`` command
reads and writes: ``save`` and ``load``.
"""

from . import _learners
from ._estimator import ConvergenceWarning, HalfspaceClassifier, HalfspaceWarning, NotFittedError, load
from ._learners import *  # noqa: F401,F403
from ._library import HalfspaceError, abi

__version__ = "1.0.0"
__all__ = [
    "ConvergenceWarning",
    "HalfspaceClassifier",
    "HalfspaceError",
    "HalfspaceWarning",
    "NotFittedError",
    "abi",
    "load",
    *_learners.__all__,
]
