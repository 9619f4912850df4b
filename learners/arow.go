package learners

import (
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
)

func init() { learner.Register("arow", (*AROWConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*AROWConfig) Entry() learner.Entry {
	return learner.EntryFor(AROWConfig{Covariance: "diagonal", R: 1},
		newAROW[float32], newAROW[float64], learner.Entry{
			Summary: "AROW, adaptive regularization of weights: frequent features change less",
		})
}

// AROWConfig is AROW. It keeps a Gaussian over weights: a mean, which scores, and covariances,
// which say how far the weights may still move. An example with a margin below 1 moves the mean
// most where the variance is large, and lowers the variance of all the weights that it has. Unlike
// PA, which brings each example's margin to 1 whatever it takes, it trades that against moving away
// from what it knows, and so bears labels that are wrong.
//
// Reference: K. Crammer, A. Kulesza, M. Dredze, "Adaptive Regularization of Weight Vectors", NIPS
// 2009, Figure 1 (and Machine Learning 91:155-187, 2013). After each example the Gaussian is that
// which minimises
//
//	D_KL(N(mu, Sigma) || N(mu_t, Sigma_t)) + max(0, 1 - y mu.x)^2/(2r) + x' Sigma x/(2r)
//
// where one of the example's margins is below 1:
//
//	(1) v = x' Sigma_t x,  beta = 1/(v + r),  alpha = max(0, 1 - y mu_t.x) beta
//	(2) mu_{t+1} = mu_t + alpha y Sigma_t x                                   (mu_1 = 0)
//	(3) Sigma_{t+1} = Sigma_t - beta Sigma_t x x' Sigma_t                     (Sigma_1 = I)
//
//	paper       here                 shape, unit
//	x_t, y_t    block                example; label, -1 or +1
//	mu          m                    one a feature
//	Sigma       v                    diagonal: one a feature; full: [feature][feature], by rows
//	r           Config.R             of |x|^2: lambda_1 = lambda_2 = 1/(2r)
//	m_t, v_t    f, v
//
// With a diagonal covariance Sigma is, after (3), replaced by its diagonal: V_i -= beta (V_i
// x_i)^2.
//
// Deviations: a weight divides r, as it multiplies both losses. An example in which v is not a
// normal number is skipped, and with the full covariance one whose v is within rounding errors; (3)
// there leaves no less of v than that.
//
// Guarantee: with the full covariance the mistakes on any examples are, for every vector u, at most
//
//	sqrt(r |u|^2 + u' X u) sqrt(log det(I + X/r) + U) + sum of max(0, 1 - y u.x) - U
//
// over the examples that it updated on, whose x x' add up to X, and U of which were no mistakes
// (Theorem 2): TestAROWMistakeBound. For examples of one feature each the diagonal one is the same:
// TestAROWDiagonal.
// Variances stay positive and all is finite, whatever the units of the features: TestAROWRange.
//
// The default r is a compromise for test examples of public sets: as they are, most want some
// more, and brought to length 1 they want less, since r is in units of |x|^2.
//
// Cost: O(non-zeros) an example with a diagonal covariance, O(Dim^2) an update with a full one.
// Memory: two float64 a feature; full: one, and Dim^2.
type AROWConfig struct {
	// Covariance is diagonal: d numbers for d features; or full: d^2 of them. Default diagonal;
	// diagonal or full.
	Covariance string `json:"covariance" flag:"covariance" values:"diagonal|full"`
	// R is the regularization, in units of |x|^2: larger values change less per example; use
	// smaller ones for examples of norm 1. Default 1; above 0.
	R float64 `json:"r" flag:"r" tune:"0.01|0.1|1|10"`
}

// Validate wants a known Covariance and R > 0.
func (c *AROWConfig) Validate() error {
	if err := gauss.CheckCovariance("arow", c.Covariance); err != nil {
		return err
	}
	return learner.CheckSetting("arow", "r", c.R, c.R > 0, "a number > 0")
}

// Traits is Config.Traits.
func (c *AROWConfig) Traits() learner.Traits { return gauss.OnlineTraits(c.Covariance) }

func newAROW[T learner.Float](cfg AROWConfig, _ learner.Env) (learner.Learner[T], error) {
	return gauss.NewOnline[T](cfg.Covariance, gauss.Rule{Name: "arow", Margin: 1,
		Step: func(margin, v, weight float64) (alpha, r float64) { // (1)
			r = cfg.R / weight
			return float64((1 - margin) * (1 / (v + r))), r
		}}), nil
}
