// Package learners has the linear and kernel classifiers, one file each, all behind one
// interface: see [Learner].
//
//	perceptron    perceptron.go    the perceptron, with a fixed margin if wanted
//	alma          alma.go          ALMA, approximate maximal margin, p-norm, p >= 2
//	lms           lms.go           least mean squares (Widrow-Hoff)
//	pa            pa.go            passive-aggressive: PA, PA-I, PA-II
//	cramma        cramma.go        CRAMMA, approximate maximal margin at a constant effective
//	                               learning rate
//	romma         romma.go         ROMMA and aggressive ROMMA, the relaxed online maximum margin
//	                               algorithm
//	pumma         pumma.go         PUMMA, approximate maximal p-norm margin with a bias of its own,
//	                               p >= 2
//	pairs         pairs.go         a linear learner of pairs of examples, which so has a bias
//	micra         micra.go         MICRA, approximate maximal margin controlled by the number of
//	                               mistakes
//	arow          arow.go          AROW, adaptive regularization of weights, diagonal or full
//	                               covariance
//	scw           scw.go           SCW-I, soft confidence-weighted, diagonal or full covariance
//	ovr           ovr.go           any number of classes, a learner of two for each
//	ovo           ovo.go           any number of classes, a learner for each two of them, which vote
//	mpa           mpa.go           passive-aggressive for any number of classes, by one loss of all
//	obpm          obpm.go          online Bayes point machine: an average of many perceptrons
//	budget        budget.go        the Budget Perceptron, and the kernel perceptron
//	tbp           tbp.go           the Tighter Budget Perceptron
//	sogp          sogp.go          the sparse online Gaussian process classifier
//	kmp           kmp.go           kernel matching pursuit, basic and backfitting (whole data sets
//	                               only)
//	ng            ng.go            logistic regression by a low-rank online natural gradient
//	rff           rff.go           a linear learner on random Fourier features
//	adf           adf.go           assumed density filtering: a Gaussian posterior, full or diagonal
//	                               covariance
//	ep            ep.go            expectation propagation: a Gaussian posterior of all examples
//	                               (whole data sets only)
//	wep           wep.go           window expectation propagation: a Gaussian posterior and the last
//	                               examples
//	vvm           vvm.go           the Virtual Vector Machine: a Gaussian posterior and a few
//	                               virtual points
//	svm           svm.go           the support vector machine, to a stated duality gap (whole data
//	                               sets only)
//
// A file has the same order everywhere: reference, problem or rule with the numbers that the code
// repeats, a table from the paper's symbols to fields, deviations, guarantee with its test, cost,
// settings, Learn, Score, state. Package learner/learnertest has what all of them must pass, and
// internal what they share: each package there says what it has, for which learners, and what it
// keeps true.
//
// # Words
//
//	score             f(x) = w.x, with w as it is: not divided by |w|
//	margin            y f(x); the geometric margin is y f(x)/|w|
//	mistake           y f(x) <= 0: a score of zero is a mistake. The predicted label of a zero score
//	                  is +1
//	update            the learner's rule fired on an example and changed its state
//	member            one of the classifiers of an ensemble
//	epoch             one pass over the examples
//	block             a run of examples that are handed over together
//
// An update is counted when the rule fires, also on an example without features: the perceptron and
// ALMA then move no weight, but count it (ALMA's threshold and step go on to the next k), as the
// published traces do. LMS does not count an example that it fits exactly, and PA skips one
// without features, for which its rule has no solution.
//
// # Notation
//
//	symbol    name here    meaning
//	x, y      block        example and label, -1 or +1
//	w         w            weights
//	f(x)      score        w.x
//	alpha     alpha        ALMA: share of the maximal margin given up
//	gamma     gamma        margin of the data
//	eta       eta          step size
//	theta     theta        ALMA, p > 2: dual weights f(w)
//	rho       rho          the constant feature of the augmented space
//	tau       tau          OBPM: probability that a member sees an example. PA: step size, in step
//	Delta     delta        soft margin: the extended coordinate
//	delta     Delta        ROMMA, PUMMA: share of the maximal margin given up
//	C         SoftC        PUMMA: weight of the squared slacks
//	b         Bias         PUMMA: bias, f(x) = w.x + b
//	z         d            PUMMA: the segment from u to z/2, z = xpos - xneg
//	xi        m            PUMMA: slacks, C |u|^2 xi
//	b         Margin       perceptron: margin of y f(x)
//	B, C      B, C         ALMA: margin and step. PA: C is the aggressiveness
//	p, q      P            norms of examples and weights, 1/p + 1/q = 1
//	k         updates+1    number of the next update
//	beta      Beta         CRAMMA: threshold of the first update, in units of R
//	epsilon   Epsilon      CRAMMA: the threshold falls with t^epsilon
//	t         updates+1    CRAMMA: number of the next update
//	Gamma     Margin       margin of batch learners: directional, extended coordinates included
//	N         members      OBPM: number of members
//	R         R            length of the longest example
//	eps       Noise        ADF, EP, VVM: rate of wrong labels
//	m, V      m, V         ADF, EP, VVM: mean and covariance of the weights' posterior
//	tau, nu   tau, nu      EP: a site exp(nu u - tau u^2/2) in place of a likelihood
package learners

//go:generate go run ../internal/helpgen
