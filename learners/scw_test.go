package learners_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learners"
)

// naiveSCW is Algorithm 1 as the paper prints it, on a full matrix; diagonal keeps its diagonal.
type naiveSCW struct {
	C, phi   float64
	diagonal bool
	mu       []float64
	sigma    [][]float64
}

func newNaiveSCW(d int, c *learners.SCWConfig) *naiveSCW {
	n := &naiveSCW{C: c.C, phi: math.Sqrt2 * math.Erfinv(2*c.Eta-1),
		diagonal: c.Covariance == "diagonal", mu: make([]float64, d), sigma: make([][]float64, d)}
	for i := range n.sigma {
		n.sigma[i] = make([]float64, d)
		n.sigma[i][i] = 1
	}
	return n
}

func (n *naiveSCW) learn(x []float64, y, weight float64) (score, alpha float64) {
	sx := make([]float64, len(x))
	for i := range sx {
		sx[i] = inner(n.sigma[i], x)
	}
	v, score := inner(sx, x), inner(n.mu, x)
	m, phi := y*score, n.phi
	psi, zeta := 1+phi*phi/2, 1+phi*phi
	if phi*math.Sqrt(v)-m <= 0 {
		return score, 0
	}
	alpha = (-m*psi + math.Sqrt(m*m*math.Pow(phi, 4)/4+v*phi*phi*zeta)) / (v * zeta)
	alpha = min(n.C*weight, max(0, alpha))
	u := math.Pow(-alpha*v*phi+math.Sqrt(alpha*alpha*v*v*phi*phi+4*v), 2) / 4
	beta := alpha * phi / (math.Sqrt(u) + v*alpha*phi)
	for i := range n.mu {
		n.mu[i] += alpha * y * sx[i]
		for j := range n.mu {
			if i == j || !n.diagonal {
				n.sigma[i][j] -= beta * sx[i] * sx[j]
			}
		}
	}
	return score, alpha
}

// TestSCWNaive compares with the paper's formulas, for both covariances, and weights with them.
func TestSCWNaive(t *testing.T) {
	const n, d = 300, 6
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []*learners.SCWConfig{
		{Covariance: "diagonal", C: 0.1, Eta: 0.9}, {Covariance: "diagonal", C: 5, Eta: 0.6},
		{Covariance: "full", C: 0.3, Eta: 0.75}, {Covariance: "full", C: 100, Eta: 0.99},
	} {
		X, y := make([][]float64, n), make([]float64, n)
		for i := range X {
			X[i] = normals(rng, d, 1)
			if y[i] = math.Copysign(1, X[i][0]+X[i][1]); i%10 == 0 {
				y[i] = -y[i]
			}
		}
		l, want := newLearner[float64](t, "scw", c), newNaiveSCW(d, c)
		b := block[float64]("dense", X, y)
		b.W = make([]float64, n)
		updates := int64(0)
		for i := range X {
			b.W[i] = float64(i % 3)
			r := one(t, l, b, i)
			score := inner(want.mu, X[i])
			if i%3 > 0 {
				var alpha float64
				if score, alpha = want.learn(X[i], y[i], b.W[i]); alpha > 0 {
					updates++
				}
			}
			approx.Near(t, "score", r.Score, score, 1e-9)
		}
		if l.Updates() != updates || updates == 0 {
			t.Errorf("%+v: %d updates, want %d", *c, l.Updates(), updates)
		}
		approx.AllNear(t, "w", l.Weights(), want.mu, 1e-9)
	}
}

// TestSCWConstraint: after a step below C an example is right with probability eta, and no more.
func TestSCWConstraint(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, eta := range []float64{0.6, 0.9, 0.999} {
		c := &learners.SCWConfig{Covariance: "full", C: 1e6, Eta: eta}
		l := newLearner[float64](t, "scw", c)
		for i := range 50 {
			x := normals(rng, 4, 1)
			y := math.Copysign(1, x[0]+0.3*x[1])
			r := one(t, l, block[float64]("dense", [][]float64{x}, []float64{y}), 0)
			if r.Updates == 0 {
				continue
			}
			m, sd := y*inner(l.Weights(), x), math.Sqrt(quadratic(l, x))
			if p := 0.5 * math.Erfc(-m/sd/math.Sqrt2); math.Abs(p-eta) > 1e-6 {
				t.Errorf("eta %v, example %d: right with probability %v", eta, i, p)
			}
		}
	}
}

// TestSCWByHand works Algorithm 1 for eta = Phi(1), so that phi = 1, psi = 3/2 and zeta = 2.
func TestSCWByHand(t *testing.T) {
	const eta = 0.84134474606854294859 // Phi(1)
	l := newLearner[float64](t, "scw", &learners.SCWConfig{Covariance: "diagonal", C: 0.5,
		Eta: eta})
	b := block[float64]("dense", [][]float64{{1, 0}, {1, 1}, {4, 0}, {0, 0}, {1, 0}},
		[]float64{1, -1, 1, 1, 1})
	// 1: v = 1, m = 0: alpha = min(1/2, sqrt(2)/2) = 1/2; u = ((-1/2 + sqrt(1/4 + 4))/2)^2
	root := math.Sqrt(4.25)
	v1 := 1 - 0.5/((root-0.5)/2+0.5)
	r := one(t, l, b, 0)
	approx.Near(t, "score 1", r.Score, 0, 0)
	approx.AllNear(t, "w 1", l.Weights(), []float64{0.5, 0}, 1e-14)
	approx.AllNear(t, "variance 1", variances(t, l), []float64{v1, 1}, 1e-14)
	// 2: v = v1 + 1, m = -1/2: the other term of (2) is larger than C
	one(t, l, b, 1)
	approx.AllNear(t, "w 2", l.Weights(), []float64{0.5 - 0.5*v1, -0.5}, 1e-14)
	// 4: no features, no variance, no update
	before := l.Updates()
	if one(t, l, b, 3); l.Updates() != before {
		t.Error("an example without features was an update")
	}
}
