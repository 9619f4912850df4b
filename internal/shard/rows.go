package shard

import "github.com/halfspace-ml/halfspace/internal/training"

// NextRound returns the options of a shard's run in a round of iterative parameter mixing after the
// first: it continues from the file of a model that was mixed. That has the learner, its settings
// and how examples are prepared; the rest is of o.
//
// Reference: R. McDonald, K. Hall, G. Mann, "Distributed Training Strategies for the Structured
// Perceptron", NAACL 2010.
func NextRound(o training.Options, from string) training.Options {
	o.From, o.Learner, o.Precision, o.Seed, o.Config, o.Literal = from, "", "", nil, nil, false
	o.Settings, o.Bias, o.Normalize, o.Scale, o.Missing, o.Rho = nil, "", "", "", "", 0
	o.HashBits, o.Interactions, o.Positive, o.Classes, o.Pairs = 0, nil, "", nil, false
	return o
}
