package learners

import (
	"context"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// truePosterior holds the posterior of w, N(0, I) times the likelihoods of labels of which a share
// eps is wrong, as weighted directions. The likelihood does not know the length of w: it stays
// chi-distributed with d degrees of freedom and independent of the direction.
type truePosterior struct {
	d      int
	u      [][]float64 // directions
	weight []float64   // of each, sum 1
	// the mean of the logarithm of the density
	meanLog float64
	size    float64 // effective number of directions
}

// sampled draws n directions from a Student distribution in the plane that touches the sphere at
// the mean, which is fitted in a few rounds, beginning with the mean and covariance given.
func sampled(b *engine.Block[float64], eps float64, m []float64, V [][]float64,
	n int) *truePosterior {
	d := len(m)
	rng := engine.NewRand(11, uint64(d))
	p := &truePosterior{d: d}
	center, cov := lengthOne(m), make([][]float64, d)
	len2 := naiveDot(m, m)
	for i := range cov {
		cov[i] = make([]float64, d)
		for j := range cov {
			cov[i][j] = 4 * V[i][j] / len2
		}
	}
	right, wrong := math.Log(1-eps), math.Log(eps)
	const freedom = 4
	for round := range 5 {
		basis := tangent(center)
		C := make([][]float64, d-1)
		for i := range C {
			C[i] = make([]float64, d-1)
			for j := range C {
				for k := range d {
					for l := range d {
						C[i][j] += basis[i][k] * cov[k][l] * basis[j][l]
					}
				}
			}
			C[i][i] *= 1 + 1e-9
		}
		L := lower(C)
		N := n / 8
		if round == 4 {
			N = n
		}
		p.u, p.weight = make([][]float64, N), make([]float64, N)
		logs, top := make([]float64, N), math.Inf(-1)
		for s := range N {
			z, g := make([]float64, d-1), 0.0
			for i := range z {
				z[i] = rng.Normal()
			}
			for range freedom {
				v := rng.Normal()
				g += v * v
			}
			scale, norm2 := math.Sqrt(freedom/g), 0.0
			for i := range z {
				z[i] *= scale
				norm2 += z[i] * z[i]
			}
			u, t2, det := append([]float64(nil), center...), 0.0, 0.0
			for i := range z {
				t := 0.0
				for j := range i + 1 {
					t += L[i][j] * z[j]
				}
				t2 += t * t
				det += math.Log(L[i][i])
				for k := range u {
					u[k] += t * basis[i][k]
				}
			}
			u = lengthOne(u)
			logq := -det - 0.5*float64(freedom+d-1)*math.Log1p(norm2/freedom)
			logL := 0.0
			for i := range b.Len() {
				if b.Y[i]*naiveDot(u, b.X[i*d:(i+1)*d]) > 0 {
					logL += right
				} else {
					logL += wrong
				}
			}
			p.u[s] = u
			// the area of the sphere over that of the plane is (1+t^2)^(-d/2)
			logs[s] = logL - 0.5*float64(d)*math.Log1p(t2) - logq
			p.weight[s] = logL
			top = max(top, logs[s])
		}
		sum, sum2, mean := 0.0, 0.0, 0.0
		for s, l := range logs {
			w := math.Exp(l - top)
			mean += w * p.weight[s]
			p.weight[s] = w
			sum += w
			sum2 += w * w
		}
		for s := range p.weight {
			p.weight[s] /= sum
		}
		p.size = sum * sum / sum2
		// of the Student distribution, and the area of the sphere
		lg := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
		k := float64(d - 1)
		logt := lg((freedom+k)/2) - lg(freedom/2.) - k/2*math.Log(freedom*math.Pi)
		area := math.Log(2) + float64(d)/2*math.Log(math.Pi) - lg(float64(d)/2)
		logZ := top + math.Log(sum/float64(N)) - logt - area
		p.meanLog = mean/sum - logZ - float64(d)/2*(1+math.Log(2*math.Pi))
		// the next round
		next := make([]float64, d)
		for s, u := range p.u {
			for k := range next {
				next[k] += p.weight[s] * u[k]
			}
		}
		next = lengthOne(next)
		for i := range cov {
			clear(cov[i])
		}
		for s, u := range p.u {
			c := naiveDot(next, u)
			if c < 0.2 {
				continue
			}
			for i := range cov {
				for j := range cov {
					cov[i][j] += p.weight[s] * (u[i]/c - next[i]) * (u[j]/c - next[j])
				}
			}
		}
		center = next
	}
	return p
}

// divergence returns KL(p || N(m, V)).
func (p *truePosterior) divergence(m []float64, V [][]float64) float64 {
	d := p.d
	L := lower(V)
	if L == nil {
		return math.Inf(1)
	}
	g1, _ := math.Lgamma(float64(d+1) / 2)
	g0, _ := math.Lgamma(float64(d) / 2)
	length, length2 := math.Sqrt2*math.Exp(g1-g0), float64(d)
	solve := func(x []float64) []float64 {
		y := make([]float64, d)
		for i := range y {
			v := x[i]
			for j := range i {
				v -= L[i][j] * y[j]
			}
			y[i] = v / L[i][i]
		}
		return y
	}
	a, sum := solve(m), 0.0
	for s, u := range p.u {
		y := solve(u)
		sum += p.weight[s] * (length2*naiveDot(y, y) - 2*length*naiveDot(y, a) + naiveDot(a, a))
	}
	for i := range d {
		sum += 2 * math.Log(L[i][i])
	}
	return p.meanLog + 0.5*(sum+float64(d)*math.Log(2*math.Pi))
}

func lengthOne(a []float64) []float64 {
	n := math.Sqrt(naiveDot(a, a))
	u := make([]float64, len(a))
	for i, v := range a {
		u[i] = v / n
	}
	return u
}

// tangent returns an orthonormal basis of what is perpendicular to the unit vector c.
func tangent(c []float64) (basis [][]float64) {
	d := len(c)
	all := [][]float64{c}
	for i := range d {
		e := make([]float64, d)
		e[i] = 1
		for range 2 {
			for _, v := range all {
				f := naiveDot(e, v)
				for k := range e {
					e[k] -= f * v[k]
				}
			}
		}
		if len(all) < d && naiveDot(e, e) > 0.5/float64(d) {
			all = append(all, lengthOne(e))
		}
	}
	return all[1:]
}

// lower returns the Cholesky factor of A, or nil.
func lower(A [][]float64) [][]float64 {
	L := make([][]float64, len(A))
	for i := range L {
		L[i] = make([]float64, len(A))
		for j := range i + 1 {
			v := A[i][j]
			for k := range j {
				v -= L[i][k] * L[j][k]
			}
			if i == j {
				if !(v > 0) {
					return nil
				}
				L[i][i] = math.Sqrt(v)
			} else {
				L[i][j] = v / L[j][j]
			}
		}
	}
	return L
}

// noisyLabels returns n examples of d features, the first of which is 1, labeled by a normal w; a
// share flips of the labels is wrong.
func noisyLabels(n, d int, flips float64, seed int) *engine.Block[float64] {
	rng := engine.NewRand(uint64(seed), uint64(d))
	w := make([]float64, d)
	for i := range w {
		w[i] = rng.Normal()
	}
	b := &engine.Block[float64]{Dim: d, Stride: d}
	for range n {
		f := w[0]
		b.X = append(b.X, 1)
		for _, v := range w[1:] {
			x := rng.Normal()
			b.X = append(b.X, x)
			f += v * x
		}
		y := math.Copysign(1, f)
		if rng.Uniform() < flips {
			y = -y
		}
		b.Y = append(b.Y, y)
	}
	return b
}

// TestPosteriorsBesideTruth: by the logarithm of KL(true posterior || approximation) VVM is
// nearer to the truth than ADF where labels are wrong, more points are no further away, and all
// points are EP.
func TestPosteriorsBesideTruth(t *testing.T) {
	t.Parallel()
	n, runs := 300, 16
	if testing.Short() {
		runs = 4
	}
	logKL := func(v *vvm[float64], p *truePosterior) float64 {
		return math.Log(p.divergence(v.p.Mean, fullCov(v.p)))
	}
	learned := func(b *engine.Block[float64], buffer int, eps float64) *vvm[float64] {
		points := defaultPoints
		points.Noise = eps
		v := virtual(t, "vvm", &VVMConfig{Buffer: buffer, PointsConfig: points})
		if err := v.Learn(b, make([]learner.Round, b.Len())); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ flips, eps float64 }{{0.05, 0.05}, {0, 0.05}, {0.1, 0.1},
		{0.2, 0.2}} {
		var less [2]float64 // of 10 and 40 points, sums
		used, fits, same := 0, 0, 0
		for d := 2; d <= 5; d++ {
			for seed := 1; seed <= runs; seed++ {
				b := noisyLabels(n, d, c.flips, seed)
				adf := learned(b, 0, c.eps)
				p := sampled(b, c.eps, adf.p.Mean, fullCov(adf.p), 8000)
				if p.size < 600 { // too few to tell
					continue
				}
				used++
				for i, buffer := range []int{10, 40} {
					less[i] += logKL(learned(b, buffer, c.eps), p) - logKL(adf, p)
				}
				head := b.Slice(0, 80)
				ep := &epLearner[float64]{virtual(t, "ep", &EPConfig{PointsConfig{Noise: c.eps,
					Tolerance: 1e-6, Sweeps: 100, Damping: 1}})}
				r, err := ep.Fit(context.Background(), &head, learner.FitOptions{})
				if err != nil {
					t.Fatal(err)
				}
				p = sampled(&head, c.eps, ep.p.Mean, fullCov(ep.p), 8000)
				if !r.Converged || p.size < 600 {
					continue
				}
				fits++
				if math.Abs(logKL(learned(&head, 80, c.eps), p)-logKL(ep.vvm, p)) < 0.05 {
					same++
				}
			}
		}
		t.Logf("%+v: less ADF's, of %d runs 10 points %+.2f, 40 %+.2f; all points as EP in %d of %d",
			c, used, less[0]/float64(used), less[1]/float64(used), same, fits)
		if !(less[0] < 0 && less[1] < less[0]) {
			t.Errorf("%+v: points do not bring the posterior nearer to the truth", c)
		}
		if same < fits*4/5 { // EP may have several fixed points
			t.Errorf("%+v: all points are EP in %d of %d runs only", c, same, fits)
		}
	}
}
