// Package smo is the room of the dual problem of the support vector machine; svm is who uses it.
//
//	problem.go  [Problem] and [Value]: what is minimised, its bounds, gap and margin
//	smo.go      two coefficients at a time over Gram rows: kernels, and problems with a bias
//	dcd.go      one coefficient at a time over weights: linear problems without a bias
package smo
