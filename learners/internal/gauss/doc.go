// Package gauss is for normal distributions of the weights.
//
//	posterior.go   [Posterior], what adf, ep, wep and vvm share: a Gaussian, a few points beside it,
//	               and the guards that keep the covariance definite
//	covariance.go  its covariance matrix, the last change of which waits for the next product
//	online.go      [Rule] and [Online], the learners that differ in their step alone: arow and scw
//	diagonal.go    a diagonal covariance: adf, arow and scw
//	guards.go      which changes of it rounding errors allow
//	points.go      points that come, are absorbed by the Gaussian, or are dropped; merge.go two
//	               that become one
//	sites.go       expectation propagation: one site refined; propagate.go sweeps of all, until
//	               they converge
//	absorbed.go    [Sites], for more points than features, all absorbed: ep
//	noise.go       [NoiseEstimate], the rate of wrong labels that is estimated on the way
//	stepfactor.go  the likelihood of one label, its moments and what they are made of; bvn.go of two
//	product.go     the product of two posteriors
//	state.go       the posterior as a State
//	predictor.go   [Gaussian], the hypothesis of all of them: Score, Proba, files of predictions
//	               alone
//	linalg.go      [Cholesky], [Jacobi] and matrices of two rows
//
// adf with a diagonal covariance and sogp take the likelihood from here, arow what bounds and grows
// covariances, and ng [Cholesky] and [Jacobi].
package gauss
