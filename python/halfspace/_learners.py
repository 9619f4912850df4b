# Made of the learners' settings by TestPythonLearners of cmd/libhalfspace.
"""A class for each learner."""

from ._estimator import HalfspaceClassifier, UnweightedClassifier

__all__ = [
    "ADFClassifier",
    "ALMAClassifier",
    "AROWClassifier",
    "BudgetClassifier",
    "CRAMMAClassifier",
    "EPClassifier",
    "KMPClassifier",
    "LMSClassifier",
    "MICRAClassifier",
    "MPAClassifier",
    "NGClassifier",
    "OBPMClassifier",
    "PAClassifier",
    "PUMMAClassifier",
    "PairsClassifier",
    "PerceptronClassifier",
    "RFFClassifier",
    "ROMMAClassifier",
    "SCWClassifier",
    "SOGPClassifier",
    "SVMClassifier",
    "TBPClassifier",
    "VVMClassifier",
    "WEPClassifier",
]


class ADFClassifier(UnweightedClassifier):
    """Assumed density filtering: a Gaussian posterior, with a full or a diagonal covariance.

    Parameters
    ----------
    covariance : str, default "full"
        full: d^2 numbers for d features; or diagonal: d of them
    noise : float or "auto", default 0.05
        rate eps of label noise, 0 for separable data; 0 to below 0.5
    probit : float, default 0
        standard deviation of the probit noise of scores, 0 for a step; 0 to
        1e100

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "adf"
    _stream = True
    _proba = True
    _settings = {
        "covariance": ("covariance", "str", ""),
        "noise": ("noise", "float", "noise_auto"),
        "probit": ("probit", "float", ""),
    }

    def __init__(
        self,
        covariance="full",
        noise=0.05,
        probit=0,
        *,
        max_iter=1,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.covariance = covariance
        self.noise = noise
        self.probit = probit
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class ALMAClassifier(HalfspaceClassifier):
    """ALMA, approximate maximal margin in any p-norm, p >= 2.

    Parameters
    ----------
    p : float, default 2
        p of |x|_p, the norm of the examples; 2 or more
    alpha : float, default 0
        fraction of the maximal margin given up: B = sqrt(8)/alpha, C =
        sqrt(2); 0 is 0.9, unless B is given; 0 to 1
    B : float, default 0
        B of the margin B sqrt((p-1)/k) at update k, 0 to derive it from
        alpha; 0 or more
    C : float, default 0
        C of the step C/sqrt((p-1) k) at update k, with B, 0 for sqrt(2); 0 or
        more
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more
    budget : int, default 0
        limit on support vectors of a stream, 0 for none; 0 to 2^31-1

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "alma"
    _stream = True
    _proba = False
    _settings = {
        "p": ("p", "float", ""),
        "alpha": ("alpha", "float", ""),
        "B": ("B", "float", ""),
        "C": ("C", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
        "budget": ("budget", "int", ""),
    }

    def __init__(
        self,
        p=2,
        alpha=0,
        B=0,
        C=0,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        budget=0,
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
        self.p = p
        self.alpha = alpha
        self.B = B
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.budget = budget
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


class AROWClassifier(HalfspaceClassifier):
    """AROW, adaptive regularization of weights: frequent features change less.

    Parameters
    ----------
    covariance : str, default "diagonal"
        diagonal: d numbers for d features; or full: d^2 of them
    r : float, default 1
        regularization, in units of |x|^2: larger values change less per
        example; use smaller ones for examples of norm 1; above 0

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "arow"
    _stream = True
    _proba = False
    _settings = {
        "covariance": ("covariance", "str", ""),
        "r": ("r", "float", ""),
    }

    def __init__(
        self,
        covariance="diagonal",
        r=1,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.covariance = covariance
        self.r = r
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class BudgetClassifier(HalfspaceClassifier):
    """The Budget Perceptron: a kernel perceptron with a limit on support vectors.

    Parameters
    ----------
    budget : int, default 100
        limit on support vectors, 0 for none; 0 to 2^31-1
    variable : bool, default False
        also removes support vectors with a margin of beta in their own
        absence, at each update
    beta : float, default 0
        margin up to which an example is learned: y f(x) <= beta; 0 or more
    update : str, default "perceptron"
        step along an example: perceptron 1; mira up to a margin of 0, at most
        1; svm up to a margin of 1, at most C
    C : float, default 1
        largest coefficient of an example; above 0
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "budget"
    _stream = True
    _proba = False
    _settings = {
        "budget": ("budget", "int", ""),
        "variable": ("variable", "bool", ""),
        "beta": ("beta", "float", ""),
        "update": ("update", "str", ""),
        "C": ("C", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
    }

    def __init__(
        self,
        budget=100,
        variable=False,
        beta=0,
        update="perceptron",
        C=1,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.budget = budget
        self.variable = variable
        self.beta = beta
        self.update = update
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class CRAMMAClassifier(UnweightedClassifier):
    """CRAMMA, approximate maximal margin at a constant effective learning rate.

    Parameters
    ----------
    epsilon : float, default 0.5
        exponent of the threshold: beta/t^epsilon at update t; above 0
    beta : float, default 1
        threshold of the first update, in units of R; above 0
    eta : float, default 0.01
        eta_0 of the rate eta_0 beta^-delta by which updates turn the weights;
        above 0
    eta_delta : float, default 1
        exponent delta of the rate eta_0 beta^-delta; 0 or more
    R : float, default 0
        norm that beta and eta are relative to, 0 for the maximum norm, with
        an appended bias and the soft margin; 0 or more
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more
    budget : int, default 0
        limit on support vectors of a stream, 0 for none; 0 to 2^31-1

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "cramma"
    _stream = True
    _proba = False
    _settings = {
        "epsilon": ("epsilon", "float", ""),
        "beta": ("beta", "float", ""),
        "eta": ("eta", "float", ""),
        "eta_delta": ("eta_delta", "float", ""),
        "R": ("R", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
        "budget": ("budget", "int", ""),
    }

    def __init__(
        self,
        epsilon=0.5,
        beta=1,
        eta=0.01,
        eta_delta=1,
        R=0,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        budget=0,
        *,
        max_iter=10,
        shuffle=True,
        until_converged=False,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.epsilon = epsilon
        self.beta = beta
        self.eta = eta
        self.eta_delta = eta_delta
        self.R = R
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.budget = budget
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.until_converged = until_converged
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class EPClassifier(UnweightedClassifier):
    """Expectation propagation: the Gaussian posterior of a data set (batch only).

    Parameters
    ----------
    noise : float or "auto", default 0.05
        rate eps of label noise, 0 for separable data; 0 to below 0.5
    tolerance : float, default 1e-06
        largest change of a site at which EP ends, in units of its point's
        standard deviation; above 0
    sweeps : int, default 100
        maximum number of EP sweeps before the damping is reduced; 1 to 2^30
    damping : float, default 1
        fraction of a site's change that is applied; above 0 to 1
    probit : float, default 0
        standard deviation of the probit noise of scores, 0 for a step; 0 to
        1e100

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "ep"
    _stream = False
    _proba = True
    _settings = {
        "noise": ("noise", "float", "noise_auto"),
        "tolerance": ("tolerance", "float", ""),
        "sweeps": ("sweeps", "int", ""),
        "damping": ("damping", "float", ""),
        "probit": ("probit", "float", ""),
    }

    def __init__(
        self,
        noise=0.05,
        tolerance=1e-06,
        sweeps=100,
        damping=1,
        probit=0,
        *,
        until_converged=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        n_jobs=1,
        random_state=1,
    ):
        self.noise = noise
        self.tolerance = tolerance
        self.sweeps = sweeps
        self.damping = damping
        self.probit = probit
        self.until_converged = until_converged
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.n_jobs = n_jobs
        self.random_state = random_state


class KMPClassifier(UnweightedClassifier):
    """Kernel matching pursuit: least squares by few examples, chosen greedily (batch only).

    Parameters
    ----------
    size : int, default 100
        maximum number of steps; each chooses an example; 1 to 2^31-1
    backfit : bool, default False
        refits all coefficients at each step
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "kmp"
    _stream = False
    _proba = False
    _settings = {
        "size": ("size", "int", ""),
        "backfit": ("backfit", "bool", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
    }

    def __init__(
        self,
        size=100,
        backfit=False,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        *,
        until_converged=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        n_jobs=1,
        random_state=1,
    ):
        self.size = size
        self.backfit = backfit
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.until_converged = until_converged
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.n_jobs = n_jobs
        self.random_state = random_state


class LMSClassifier(HalfspaceClassifier):
    """Least mean squares (Widrow-Hoff).

    Parameters
    ----------
    eta : float, default 0.5
        step size, stable below 2 over the squared maximum norm; above 0

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "lms"
    _stream = True
    _proba = False
    _settings = {
        "eta": ("eta", "float", ""),
    }

    def __init__(
        self,
        eta=0.5,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.eta = eta
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class MICRAClassifier(UnweightedClassifier):
    """MICRA, approximate maximal margin with a rule controlled by the number of mistakes.

    Parameters
    ----------
    beta : float, default 0.1
        margin at the first update, for weights of norm 1; 0 or more
    epsilon : float, default 0.1
        exponent of the margin: beta/t^epsilon at update t; 0 to 1
    eta : float, default 1
        step at the first update, for weights of norm 1; above 0
    zeta : float, default 0.9
        exponent of the step: eta/t^zeta at update t; 0 to 1
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more
    budget : int, default 0
        limit on support vectors of a stream, 0 for none; 0 to 2^31-1

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "micra"
    _stream = True
    _proba = False
    _settings = {
        "beta": ("beta", "float", ""),
        "epsilon": ("epsilon", "float", ""),
        "eta": ("eta", "float", ""),
        "zeta": ("zeta", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
        "budget": ("budget", "int", ""),
    }

    def __init__(
        self,
        beta=0.1,
        epsilon=0.1,
        eta=1,
        zeta=0.9,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        budget=0,
        *,
        max_iter=10,
        shuffle=True,
        until_converged=False,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.beta = beta
        self.epsilon = epsilon
        self.eta = eta
        self.zeta = zeta
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.budget = budget
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.until_converged = until_converged
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class MPAClassifier(HalfspaceClassifier):
    """Multiclass passive-aggressive: one loss for all classes.

    Parameters
    ----------
    variant : int, default 1
        rule: 0 is PA, 1 is PA-I, 2 is PA-II
    C : float, default 0
        aggressiveness, the penalty of the remaining loss, 0 for 1; 0 or more
    classes : int, default 0
        classes, all compared from the start, 0 for those seen; 0 to 2^20

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "mpa"
    _stream = True
    _proba = False
    _settings = {
        "variant": ("variant", "int", ""),
        "C": ("C", "float", ""),
        "classes": ("classes", "int", ""),
    }

    def __init__(
        self,
        variant=1,
        C=0,
        classes=0,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.variant = variant
        self.C = C
        self.classes = classes
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class NGClassifier(HalfspaceClassifier):
    """TONGA: logistic regression by a low-rank online natural gradient.

    Parameters
    ----------
    buffer : int, default 30
        gradients between two reductions of the covariance; 1 to 1023
    rank : int, default 5
        eigenvectors that a reduction keeps; 1 to 1023
    decay : float, default 0.995
        factor of the covariance of earlier gradients at each example; above 0
        to 1
    lambda_ : float, default 1
        regularizer of the covariance, in units of squared gradients; above 0
    eta : float, default 1
        initial step size; above 0
    eta_decay : float, default 0.002
        decay c of the step: eta/(1 + c n) after n steps, 0 for none; 0 or
        more

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "ng"
    _stream = True
    _proba = True
    _settings = {
        "buffer": ("buffer", "int", ""),
        "rank": ("rank", "int", ""),
        "decay": ("decay", "float", ""),
        "lambda_": ("lambda", "float", ""),
        "eta": ("eta", "float", ""),
        "eta_decay": ("eta_decay", "float", ""),
    }

    def __init__(
        self,
        buffer=30,
        rank=5,
        decay=0.995,
        lambda_=1,
        eta=1,
        eta_decay=0.002,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.buffer = buffer
        self.rank = rank
        self.decay = decay
        self.lambda_ = lambda_
        self.eta = eta
        self.eta_decay = eta_decay
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class OBPMClassifier(HalfspaceClassifier):
    """Online Bayes point machine: the average of many learners, each on a random subsample.

    Parameters
    ----------
    members : int, default 100
        number N of base learners; 1 to 2^20
    tau : float, default 0.3
        probability that a member sees an example; 0 to 1
    base : str, default "perceptron"
        base learner, whose settings are accepted, too; a learner of streams
        that is no ensemble
    combine : str, default "weights"
        weights, which averages the members' weights, or vote, which counts
        their signs
    cap : bool, default False
        limits the averaged weights to norm 1 (step 15); labels do not change
    budget : int, default 1000
        limit on support vectors of all members together, 0 for none; 0 to
        2^31-1
    removal : str, default "project"
        support vector to remove: with the smallest norm (project, norm), the
        oldest, or the one whose removal causes the fewest errors
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more
    together : bool, default True
        learns members that scale their weights in SIMD lanes, several times
        as fast as separate learners
    base_config : dict, default None
        Settings of the base, by name.

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "obpm"
    _stream = True
    _proba = False
    _settings = {
        "members": ("members", "int", ""),
        "tau": ("tau", "float", ""),
        "base": ("base", "str", ""),
        "combine": ("combine", "str", ""),
        "cap": ("cap", "bool", ""),
        "budget": ("budget", "int", ""),
        "removal": ("removal", "str", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
        "together": ("together", "bool", ""),
        "base_config": ("base_config", "dict", ""),
    }

    def __init__(
        self,
        members=100,
        tau=0.3,
        base="perceptron",
        combine="weights",
        cap=False,
        budget=1000,
        removal="project",
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        together=True,
        base_config=None,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.members = members
        self.tau = tau
        self.base = base
        self.combine = combine
        self.cap = cap
        self.budget = budget
        self.removal = removal
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.together = together
        self.base_config = base_config
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class PAClassifier(HalfspaceClassifier):
    """Passive-aggressive: PA, PA-I, PA-II.

    Parameters
    ----------
    variant : int, default 1
        rule: 0 is PA, 1 is PA-I, 2 is PA-II
    C : float, default 0
        aggressiveness, the penalty of the remaining loss, 0 for 1; 0 or more
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more
    budget : int, default 0
        limit on support vectors of a stream, 0 for none; 0 to 2^31-1

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "pa"
    _stream = True
    _proba = False
    _settings = {
        "variant": ("variant", "int", ""),
        "C": ("C", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
        "budget": ("budget", "int", ""),
    }

    def __init__(
        self,
        variant=1,
        C=0,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        budget=0,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.variant = variant
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.budget = budget
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class PairsClassifier(UnweightedClassifier):
    """A linear learner on pairs of examples, which gives it a bias.

    Parameters
    ----------
    base : str, default "romma"
        learner of the pairs, whose settings are accepted, too; a learner of
        streams with one weight vector and no bias
    base_config : dict, default None
        Settings of the base, by name.

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "pairs"
    _stream = True
    _proba = False
    _settings = {
        "base": ("base", "str", ""),
        "base_config": ("base_config", "dict", ""),
    }

    def __init__(
        self,
        base="romma",
        base_config=None,
        *,
        max_iter=10,
        shuffle=True,
        bias="none",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.base = base
        self.base_config = base_config
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class PerceptronClassifier(HalfspaceClassifier):
    """The perceptron, optionally with a margin.

    Parameters
    ----------
    margin : float, default 0
        margin b up to which an example is learned: y f <= b; 0 or more
    margin_rel : float, default 0
        margin as b/R^2, R the maximum norm, with an appended bias and the
        soft margin; 0 or more
    beta : float, default 0
        margin for weights of norm 1, up to which an example is learned: y f
        <= beta |w|; 0 or more
    eta : float, default 1
        step size; above 0
    lambda_ : float, default 0
        shrinks the weights in a kernel's space by 1 - eta lambda at each
        example: NORMA; 0 to below 1
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more
    budget : int, default 0
        limit on support vectors of a stream, 0 for none; 0 to 2^31-1

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "perceptron"
    _stream = True
    _proba = False
    _settings = {
        "margin": ("margin", "float", ""),
        "margin_rel": ("margin_rel", "float", ""),
        "beta": ("beta", "float", ""),
        "eta": ("eta", "float", ""),
        "lambda_": ("lambda", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
        "budget": ("budget", "int", ""),
    }

    def __init__(
        self,
        margin=0,
        margin_rel=0,
        beta=0,
        eta=1,
        lambda_=0,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        budget=0,
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
        self.margin = margin
        self.margin_rel = margin_rel
        self.beta = beta
        self.eta = eta
        self.lambda_ = lambda_
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.budget = budget
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


class PUMMAClassifier(UnweightedClassifier):
    """PUMMA, approximate maximal p-norm margin with a direct bias, p >= 2.

    Parameters
    ----------
    p : str, default "2"
        p of |x|_p, the norm of the examples, or auto for 2 ln n, n features;
        2 or more, or auto
    delta : float, default 0.01
        fraction of the maximal margin given up; above 0 to 1
    soft_c : float, default 0
        weight C of the squared slacks (2-norm soft margin), 0 for a hard
        margin; repeated examples count separately; 0 or more
    budget : int, default 0
        limit on support vectors of a stream, 0 for none; 0 to 2^31-1, not 1
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "pumma"
    _stream = True
    _proba = False
    _settings = {
        "p": ("p", "str", ""),
        "delta": ("delta", "float", ""),
        "soft_c": ("soft_c", "float", ""),
        "budget": ("budget", "int", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
    }

    def __init__(
        self,
        p="2",
        delta=0.01,
        soft_c=0,
        budget=0,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        *,
        max_iter=10,
        shuffle=True,
        until_converged=False,
        bias="none",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.p = p
        self.delta = delta
        self.soft_c = soft_c
        self.budget = budget
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.until_converged = until_converged
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class RFFClassifier(HalfspaceClassifier):
    """A linear learner on random Fourier features: an approximate RBF kernel at a fixed cost.

    Parameters
    ----------
    D : int, default 200
        random features; 2 to 2^21, even
    sigma : float, default 1
        width of the RBF kernel exp(-|x-z|^2/(2 sigma^2)), in units of |x|;
        above 0
    base : str, default "perceptron"
        learner of the random features, whose settings are accepted, too; a
        learner of streams
    base_config : dict, default None
        Settings of the base, by name.

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "rff"
    _stream = True
    _proba = False
    _settings = {
        "D": ("D", "int", ""),
        "sigma": ("sigma", "float", ""),
        "base": ("base", "str", ""),
        "base_config": ("base_config", "dict", ""),
    }

    def __init__(
        self,
        D=200,
        sigma=1,
        base="perceptron",
        base_config=None,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.D = D
        self.sigma = sigma
        self.base = base
        self.base_config = base_config
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class ROMMAClassifier(UnweightedClassifier):
    """ROMMA and aggressive ROMMA, the relaxed online maximum margin algorithm.

    Parameters
    ----------
    aggressive : bool, default False
        updates while y f < 1 - delta, not only on mistakes
    delta : float, default 0.1
        fraction of the maximal margin given up; above 0 to 1
    budget : int, default 0
        limit on support vectors of a stream, 0 for none; 0 to 2^31-1
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "romma"
    _stream = True
    _proba = False
    _settings = {
        "aggressive": ("aggressive", "bool", ""),
        "delta": ("delta", "float", ""),
        "budget": ("budget", "int", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
    }

    def __init__(
        self,
        aggressive=False,
        delta=0.1,
        budget=0,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        *,
        max_iter=10,
        shuffle=True,
        until_converged=False,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.aggressive = aggressive
        self.delta = delta
        self.budget = budget
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.until_converged = until_converged
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class SCWClassifier(HalfspaceClassifier):
    """SCW-I, soft confidence-weighted: as AROW, with bounded steps.

    Parameters
    ----------
    covariance : str, default "diagonal"
        diagonal: d numbers for d features; or full: d^2 of them
    C : float, default 0.1
        largest step alpha, the penalty of the remaining loss; above 0
    eta : float, default 0.9
        required probability of a correct prediction; above 0.5 to below 1

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "scw"
    _stream = True
    _proba = False
    _settings = {
        "covariance": ("covariance", "str", ""),
        "C": ("C", "float", ""),
        "eta": ("eta", "float", ""),
    }

    def __init__(
        self,
        covariance="diagonal",
        C=0.1,
        eta=0.9,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.covariance = covariance
        self.C = C
        self.eta = eta
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class SOGPClassifier(UnweightedClassifier):
    """Sparse online Gaussian process: a kernel posterior on a fixed number of basis points.

    Parameters
    ----------
    basis : int, default 100
        limit on basis points; 1 to 2^14
    noise : float, default 1
        standard deviation of the probit noise of scores, 0 for a step; 0 or
        more
    eps : float, default 0
        rate eps of label noise, 0 for none; 0 to below 0.5
    novelty : float, default 0.0001
        smallest fraction of K(x, x) outside the span of the basis points that
        adds an example; 1e-6 to below 1
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "sogp"
    _stream = True
    _proba = True
    _settings = {
        "basis": ("basis", "int", ""),
        "noise": ("noise", "float", ""),
        "eps": ("eps", "float", ""),
        "novelty": ("novelty", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
    }

    def __init__(
        self,
        basis=100,
        noise=1,
        eps=0,
        novelty=0.0001,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        *,
        max_iter=1,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.basis = basis
        self.noise = noise
        self.eps = eps
        self.novelty = novelty
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class SVMClassifier(HalfspaceClassifier):
    """The support vector machine, solved to a given duality gap (batch only).

    Parameters
    ----------
    C : float, default 1
        weight of the slacks, 0 for a hard margin; 0 or more
    norm : int, default 1
        1 to penalize slacks, 2 to penalize their squares
    no_bias : bool, default False
        learns f(x) = w.x without a bias
    gap : float, default 1e-06
        duality gap to stop at, relative to the objective; 1e-12 to below 1
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "svm"
    _stream = False
    _proba = False
    _settings = {
        "C": ("C", "float", ""),
        "norm": ("norm", "int", ""),
        "no_bias": ("no_bias", "bool", ""),
        "gap": ("gap", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
    }

    def __init__(
        self,
        C=1,
        norm=1,
        no_bias=False,
        gap=1e-06,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        *,
        until_converged=True,
        bias="none",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        n_jobs=1,
        random_state=1,
    ):
        self.C = C
        self.norm = norm
        self.no_bias = no_bias
        self.gap = gap
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.until_converged = until_converged
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state


class TBPClassifier(HalfspaceClassifier):
    """The Tighter Budget Perceptron: removes the support vector that causes the fewest errors.

    Parameters
    ----------
    budget : int, default 100
        limit on support vectors; 1 to 2^31-1
    error_cache : str, default "random"
        examples on which errors are counted: all, sv (support vectors),
        random ones, or flips (whose label changes most)
    error_size : int, default 3000
        examples on which errors are counted; 1 to 2^31-1
    flips_most : bool, default False
        removes the example whose label changes most often, as printed in the
        paper's figure 5, instead of least often
    ties : str, default "oldest"
        what to remove if removals cause equal errors: the oldest, or by
        margin the one with the largest margin in its own absence
    candidates : int, default 0
        support vectors that a removal considers, sampled each time, 0 for
        all; 0 to 2^31-1
    removals : int, default 0
        support vectors removed together, by one count of errors, 0 for 1; 0
        to 2^31-1
    beta : float, default 0
        margin up to which an example is learned: y f(x) <= beta; 0 or more
    update : str, default "perceptron"
        step along an example: perceptron 1; mira up to a margin of 0, at most
        1; svm up to a margin of 1, at most C
    C : float, default 1
        largest coefficient of an example; above 0
    kernel : str, default "linear"
        linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma
        |x-z|^2)
    gamma : float, default 0
        factor of poly and rbf, in units of 1/|x|^2, needed without sigma; 0
        or more
    sigma : float, default 0
        width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2); 0 or
        more
    degree : int, default 0
        degree of poly, which needs it; 0 or more
    coef0 : float, default 0
        constant of poly, in units of gamma |x|^2; 0 or more
    scale : float, default 0
        length by which the kernel divides examples, 0 for 1; 0 or more

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "tbp"
    _stream = True
    _proba = False
    _settings = {
        "budget": ("budget", "int", ""),
        "error_cache": ("error_cache", "str", ""),
        "error_size": ("error_size", "int", ""),
        "flips_most": ("flips_most", "bool", ""),
        "ties": ("ties", "str", ""),
        "candidates": ("candidates", "int", ""),
        "removals": ("removals", "int", ""),
        "beta": ("beta", "float", ""),
        "update": ("update", "str", ""),
        "C": ("C", "float", ""),
        "kernel": ("kernel", "str", ""),
        "gamma": ("gamma", "float", ""),
        "sigma": ("sigma", "float", ""),
        "degree": ("degree", "int", ""),
        "coef0": ("coef0", "float", ""),
        "scale": ("scale", "float", ""),
    }

    def __init__(
        self,
        budget=100,
        error_cache="random",
        error_size=3000,
        flips_most=False,
        ties="oldest",
        candidates=0,
        removals=0,
        beta=0,
        update="perceptron",
        C=1,
        kernel="linear",
        gamma=0,
        sigma=0,
        degree=0,
        coef0=0,
        scale=0,
        *,
        max_iter=10,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        class_weight=None,
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.budget = budget
        self.error_cache = error_cache
        self.error_size = error_size
        self.flips_most = flips_most
        self.ties = ties
        self.candidates = candidates
        self.removals = removals
        self.beta = beta
        self.update = update
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class VVMClassifier(UnweightedClassifier):
    """The Virtual Vector Machine: a Gaussian posterior plus a few virtual points.

    Parameters
    ----------
    buffer : int, default 10
        points kept; 0 to 4096
    pairs : int, default 0
        closest pairs of points that may be merged, 0 to evict only; 0 to 2^24
    largest_margin : bool, default False
        evicts the point with the largest |R(x)|, its margin over its standard
        deviation
    noise : float or "auto", default 0.05
        rate eps of label noise, 0 for separable data; 0 to below 0.5
    tolerance : float, default 0.001
        largest change of a site at which EP ends, in units of its point's
        standard deviation; above 0
    sweeps : int, default 20
        maximum number of EP sweeps before the damping is reduced; 1 to 2^30
    damping : float, default 1
        fraction of a site's change that is applied; above 0 to 1
    probit : float, default 0
        standard deviation of the probit noise of scores, 0 for a step; 0 to
        1e100

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "vvm"
    _stream = True
    _proba = True
    _settings = {
        "buffer": ("buffer", "int", ""),
        "pairs": ("pairs", "int", ""),
        "largest_margin": ("largest_margin", "bool", ""),
        "noise": ("noise", "float", "noise_auto"),
        "tolerance": ("tolerance", "float", ""),
        "sweeps": ("sweeps", "int", ""),
        "damping": ("damping", "float", ""),
        "probit": ("probit", "float", ""),
    }

    def __init__(
        self,
        buffer=10,
        pairs=0,
        largest_margin=False,
        noise=0.05,
        tolerance=0.001,
        sweeps=20,
        damping=1,
        probit=0,
        *,
        max_iter=1,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.buffer = buffer
        self.pairs = pairs
        self.largest_margin = largest_margin
        self.noise = noise
        self.tolerance = tolerance
        self.sweeps = sweeps
        self.damping = damping
        self.probit = probit
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state


class WEPClassifier(UnweightedClassifier):
    """Window expectation propagation: a Gaussian posterior plus the last examples.

    Parameters
    ----------
    buffer : int, default 10
        recent examples kept; 0 to 4096
    noise : float or "auto", default 0.05
        rate eps of label noise, 0 for separable data; 0 to below 0.5
    tolerance : float, default 0.001
        largest change of a site at which EP ends, in units of its point's
        standard deviation; above 0
    sweeps : int, default 20
        maximum number of EP sweeps before the damping is reduced; 1 to 2^30
    damping : float, default 1
        fraction of a site's change that is applied; above 0 to 1
    probit : float, default 0
        standard deviation of the probit noise of scores, 0 for a step; 0 to
        1e100

    The other parameters are those of :class:`HalfspaceClassifier`.
    """

    _learner = "wep"
    _stream = True
    _proba = True
    _settings = {
        "buffer": ("buffer", "int", ""),
        "noise": ("noise", "float", "noise_auto"),
        "tolerance": ("tolerance", "float", ""),
        "sweeps": ("sweeps", "int", ""),
        "damping": ("damping", "float", ""),
        "probit": ("probit", "float", ""),
    }

    def __init__(
        self,
        buffer=10,
        noise=0.05,
        tolerance=0.001,
        sweeps=20,
        damping=1,
        probit=0,
        *,
        max_iter=1,
        shuffle=True,
        bias="append",
        normalize="none",
        scaling="none",
        precision="f32",
        calibrate="none",
        n_jobs=1,
        random_state=1,
    ):
        self.buffer = buffer
        self.noise = noise
        self.tolerance = tolerance
        self.sweeps = sweeps
        self.damping = damping
        self.probit = probit
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.bias = bias
        self.normalize = normalize
        self.scaling = scaling
        self.precision = precision
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state
