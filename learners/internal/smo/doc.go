// Package smo is for the dual problem of the support vector machine; only svm uses it.
//
//	problem.go  [Problem] and [Value]: what is minimised, its bounds, gap and margin
//	newton.go   Newton steps on the weights: linear problems of up to [MostNewtonDim] features
//	dcd.go      one coefficient at a time over weights: linear problems of more features
//	smo.go      two coefficients at a time over kernel rows, one without a bias: kernels
//
// Invariants:
//
//   - alpha stays in its box after every step, on the bound itself where a step arrives there, and
//     with a bias sum y alpha is 0 but for roundings wherever a value is taken: that is of a
//     feasible dual solution and bounds the objective from below.
//   - A run ends as converged only by a duality gap that was computed afresh, without the rounding
//     errors of the steps.
//   - Shrinking saves time and decides nothing: before a run ends all examples are looked at.
//   - A step, its order and its bits depend on the data, the settings and, in dcd.go, the seed; not
//     on how many kernel rows are kept, nor on the workers that compute them.
package smo
