package learners

import (
	"math"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
)

func init() { learner.Register("scw", (*SCWConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*SCWConfig) Entry() learner.Entry {
	return learner.EntryFor(SCWConfig{Covariance: "diagonal", C: 0.1, Eta: 0.9},
		newSCW[float32], newSCW[float64], learner.Entry{
			Summary: "SCW-I, soft confidence-weighted: as AROW, with bounded steps",
		})
}

// SCWConfig is SCW-I. It keeps a Gaussian over weights, as [AROWConfig] does. It changes it as
// little as lets the example be predicted right with probability eta, as far as a step of C allows.
// So the margin that an example needs grows with the variance of its score.
//
// Reference: J. Wang, P. Zhao, S. C. H. Hoi, "Exact Soft Confidence-Weighted Learning", ICML 2012,
// Algorithm 1 and Proposition 1. After each example the Gaussian is that which minimizes
//
//	D_KL(N(mu, Sigma) || N(mu_t, Sigma_t)) + C max(0, phi sqrt(x' Sigma x) - y mu.x)
//
// With phi = Phi^-1(eta), psi = 1 + phi^2/2 and zeta = 1 + phi^2:
//
//	(1) v = x' Sigma_t x,  m = y mu_t.x,  update if m < phi sqrt(v)
//	(2) alpha = min(C, max(0, (-m psi + sqrt(m^2 phi^4/4 + v phi^2 zeta))/(v zeta)))
//	(3) u = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v))^2/4
//	(4) beta = alpha phi/(sqrt(u) + v alpha phi)
//	(5) mu_{t+1} = mu_t + alpha y Sigma_t x                                   (mu_1 = 0)
//	(6) Sigma_{t+1} = Sigma_t - beta Sigma_t x x' Sigma_t                     (Sigma_1 = I)
//
//	paper       here                 shape, unit
//	x_t, y_t    block                example; label, -1 or +1
//	mu          w                    one a feature
//	Sigma       variance             diagonal: one a feature; full: covariance
//	C           Config.C             the largest alpha
//	eta         Config.Eta           probability
//
// Deviations: a weight multiplies C, the price of the example's loss. With a diagonal covariance
// Sigma is, after (6), replaced by its diagonal. beta is 1/(v + r) with r = sqrt(u)/(alpha phi),
// and sqrt(u) is 2 v/(alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v)), which loses no digits. An
// example in which v is not a normal number is skipped.
//
// Guarantee: after a step with alpha < C the example has y mu.x = phi sqrt(x' Sigma x), with the
// full covariance: TestSCWConstraint.
//
// Cost and memory: those of AROW.
type SCWConfig struct {
	// Covariance is diagonal: d numbers for d features; or full: d^2 of them. Default diagonal;
	// diagonal or full.
	Covariance string `json:"covariance" flag:"covariance" values:"diagonal|full"`
	// C is the largest step alpha, the penalty of the remaining loss. Default 0.1; above 0.
	C float64 `json:"C" flag:"C" tune:"0.01|0.1|1|10"`
	// Eta is the required probability of a correct prediction. Default 0.9; above 0.5 to below 1.
	Eta float64 `json:"eta" flag:"eta" tune:"0.6|0.75|0.9"`
}

// Validate wants a known Covariance, C > 0 and Eta between 0.5 and 1.
func (c *SCWConfig) Validate() error {
	if err := gauss.CheckCovariance("scw", c.Covariance); err != nil {
		return err
	}
	if err := learner.CheckSetting("scw", "C", c.C, c.C > 0, "a number > 0"); err != nil {
		return err
	}
	return learner.CheckSetting("scw", "eta", c.Eta, c.Eta > 0.5 && c.Eta < 1,
		"a number above 0.5 and below 1")
}

// Traits is Config.Traits.
func (c *SCWConfig) Traits() learner.Traits { return gauss.OnlineTraits(c.Covariance) }

func newSCW[T learner.Float](cfg SCWConfig, _ learner.Env) (learner.Learner[T], error) {
	phi := gauss.NormalQuantile(cfg.Eta)
	phi2 := float64(phi * phi)
	psi, zeta := 1+phi2/2, 1+phi2
	return gauss.NewOnline[T](cfg.Covariance, gauss.Rule{Name: "scw", Margin: math.Inf(1),
		Step: func(m, v, weight float64) (alpha, r float64) {
			if !(m < float64(phi*math.Sqrt(v))) { // (1)
				return 0, 0
			}
			half := float64(m*phi2) / 2
			root := math.Sqrt(float64(half*half) + float64(float64(v*phi2)*zeta))
			alpha = min(float64(cfg.C*weight),
				max(0, (root-float64(m*psi))/float64(v*zeta))) // (2)
			avp := float64(float64(alpha*v) * phi)
			sqrtU := 2 * v / (avp + math.Sqrt(float64(avp*avp)+4*v)) // (3)
			return alpha, sqrtU / float64(alpha*phi)                 // (4)
		}}), nil
}
