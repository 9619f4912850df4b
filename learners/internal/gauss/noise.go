package gauss

import (
	"math"

	"github.com/halfspace-ml/halfspace/learner"
)

// NoiseEstimate estimates the rate eps of wrong labels while a stream is learned. If w.x times the
// label of an example to come is N(m, v), z = m/sqrt(v), then the label that came is
// wrong with probability
//
//	(1) r = eps Phi(-z)/Z,   Z = eps + (1-2 eps) Phi(z)
//
// Z being what the learner gave that label before it was shown. The estimate takes a step towards
// r:
//
//	(2) eps += 2/(n + 40) (r - eps)     at the n-th example
//
// Since r - eps = eps (1-eps) d log Z/d eps, it descends the log-loss of the predictions made on
// the way, and rests where no other rate would have made that smaller. That is the EM algorithm,
// online: eps is the mean of the r's, in which example i counts some i/n times, so that those that
// came before much was known are forgotten, and the rate that it began with counts as 40 examples
// do at first.
//
// An example costs O(1) beside what it takes to learn it. Nothing is drawn, and blocks and threads
// do not matter. On two Gaussians (gen gauss -n 1500, 4 streams, adf, wep and vvm alike) it comes
// out at
//
//	flips       0        0.01     0.05    0.10    0.20
//	estimate    0.0001   0.0095   0.050   0.100   0.200
//	log-loss    0.005    0.052    0.202   0.325   0.505   of adf
//	eps 0.05    0.054    0.078    0.201   0.342   0.621
//
// and where the classes overlap, at the share of labels beyond what a hyperplane can separate: a9a
// .133, log-loss .415 instead of .453 with eps = .05. It is no default, as it is not better
// everywhere: the rate depends on what is known, so that on Spambase, unscaled, .232 becomes .240.
//
// Reference: O. Cappe, E. Moulines, "On-line expectation-maximization algorithm for latent data
// models", Journal of the Royal Statistical Society B 71, 2009.
type NoiseEstimate struct {
	Rate float64 // eps
	seen int64   // examples
}

// The estimate stays in these bounds. At 0 (1) would keep it for ever; 2^-13 costs -log(1 - 2^-13)
// = 0.00012 of log-loss an example where no label is wrong. Near 1/2 labels say nothing: at 0.45
// one has log 2 - H(0.45) = 0.005 nats.
const leastNoise, mostNoise = 0x1p-13, 0.45

// See learns that z came: the margin of the label that came, in standard deviations.
func (e *NoiseEstimate) See(z float64) {
	Z := math.FMA(1-2*e.Rate, NormalCDF(z), e.Rate)
	r := float64(e.Rate*NormalCDF(-z)) / Z
	if r-r != 0 {
		return
	}
	e.seen++
	e.Rate = math.FMA(2/(float64(e.seen)+40), r-e.Rate, e.Rate)
	e.Rate = min(max(e.Rate, leastNoise), mostNoise)
}

// Join makes e that of both streams.
func (e *NoiseEstimate) Join(o *NoiseEstimate) {
	if n := e.seen + o.seen; n > 0 {
		e.Rate = math.FMA(float64(o.seen)/float64(n), o.Rate-e.Rate, e.Rate)
		e.seen = n
	}
}

// Leave removes o's streams from e, if there is an e. The error is that of [CheckBegun] for a
// learner of that name.
func (e *NoiseEstimate) Leave(name string, o *NoiseEstimate, times int) error {
	if e == nil {
		return nil
	}
	if err := CheckBegun(name, e.seen, o.seen, times); err != nil {
		return err
	}
	less := float64(times) * float64(o.seen)
	n := e.seen - int64(less)
	if n > 0 { // else what it began with counts for nothing
		e.Rate = math.FMA(less/float64(n), e.Rate-o.Rate, e.Rate)
		e.Rate = min(max(e.Rate, leastNoise), mostNoise)
	}
	e.seen = n
	return nil
}

// NewNoiseEstimate returns one that begins at the given rate, or nil if none is wanted.
func NewNoiseEstimate(auto bool, rate float64) *NoiseEstimate {
	if !auto {
		return nil
	}
	return &NoiseEstimate{Rate: rate}
}

// Fields walks the estimate, if there is one; follow is given the rate that is restored.
func (e *NoiseEstimate) Fields(c *learner.Codec, follow func(rate float64)) {
	if e == nil {
		return
	}
	rate := c.Scalar("noise", &e.Rate)
	learner.Count(c, "noise_seen", &e.seen)
	c.Want(rate > 0 && rate < 0.5, "the estimated rate of wrong labels is %v, want one in (0, 1/2)",
		rate)
	c.Then(func() { follow(rate) })
}

// CheckNoise wants a rate of wrong labels; one that is to be estimated can't begin at 0.
func CheckNoise(name string, eps float64, auto bool) error {
	if auto {
		return learner.CheckSetting(name, "label-noise", eps, eps > 0 && eps <= mostNoise,
			"a rate in (0, 0.45] where its estimate begins")
	}
	return learner.CheckSetting(name, "label-noise", eps, eps >= 0 && eps < 0.5,
		"a rate in [0, 1/2)")
}
