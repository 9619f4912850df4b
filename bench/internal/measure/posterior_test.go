package measure

import (
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
)

// The two sides of the suite do the same: from the prior and from the state after the warm-up they
// keep equal points and come to equal laws.
func TestPosteriorPeer(t *testing.T) {
	for _, buffer := range []int{0, 6} {
		const d, n = 10, 200
		v, err := startVVM(d, buffer)
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string) {
			t.Helper()
			s, l := v.learner.State(), v.naive
			points, mean, cov := s.Tensor("points").Data.([]float64),
				s.Tensor("w").Data.([]float64), s.Tensor("residual_cov").Data.([]float64)
			if len(points) != d*len(l.X) {
				t.Fatalf("%s: %d points, %d", what, len(points)/d, len(l.X))
			}
			for i := range points {
				if points[i] != l.X[i/d][i%d] {
					t.Fatalf("%s: point %d differs", what, i/d)
				}
			}
			for i := range d {
				if math.Abs(mean[i]-l.M[i]) > 1e-7*(1+math.Abs(mean[i])) {
					t.Fatalf("%s: mean %d is %v, %v", what, i, mean[i], l.M[i])
				}
				for j := range i + 1 {
					if got, want := cov[i*(i+1)/2+j], l.VR[i][j]; math.Abs(got-want) > 1e-7 {
						t.Fatalf("%s: covariance %d, %d is %v, %v", what, i, j, got, want)
					}
				}
			}
		}
		same("after the warm-up")
		for range n {
			v.ours(1)
			v.dense(1)
		}
		same("of the stream")
		v.at, v.to = v.stream.Len(), v.stream.Len() // the end: both begin anew
		v.ours(20)
		v.dense(20)
		same("anew")

		if v.learner, err = learner.Make[float64]("vvm", v.config, learner.Env{}); err != nil {
			t.Fatal(err)
		}
		v.naive, v.at, v.to = naive.NewVVM(d, buffer, false, posteriorNoise, 1e-8, 50), 0, 0
		v.ours(n)
		v.dense(n)
		same("from the prior")
	}
}
