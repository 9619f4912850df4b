package measure

import (
	"context"
	"math"
	"os/exec"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

func newSVM(t testing.TB, c learners.SVMConfig) VectorMachine[float64] {
	t.Helper()
	s, err := NewSVM[float64](c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// svmBlock reads the first examples of a data file.
func svmBlock[T engine.Float](t testing.TB, name string, o dataset.Options,
	n int) *engine.Block[T] {
	t.Helper()
	d, err := dataset.Load[T](context.Background(), []string{realdata.File(t, name)}, o)
	if err != nil {
		t.Fatal(err)
	}
	b := d.Block.Slice(0, min(n, d.Block.Len()))
	return &b
}

// TestSVMLIBSVM compares with LIBSVM 3.24 (Debian's libsvm-tools) on the same data as svmlight
// text. The commands were
//
//	svm-train -s 0 -e 1e-6 -m 800 ARGUMENTS FILE MODEL
//
// objective is minus its "obj"; |w|^2 is 2 (obj + sum |coefficient|) of its model. For the 2-norm
// soft margin FILE contained the kernel values of K + I (-t 4), in 17 digits. The linear hard
// margin of all sonar is not among them: LIBSVM keeps kernel values in float32, which puts its
// objective there 0.4 % off (426705.049; float32 rows give 426705.049 here too, float64 rows
// 428309.923).
func TestSVMLIBSVM(t *testing.T) {
	ionosphere := svmBlock[float64](t, "ionosphere.data", dataset.Options{}, 351)
	sonar := svmBlock[float64](t, "sonar.all-data", dataset.Options{Positive: "M"}, 208)
	adult := svmBlock[float64](t, "a9a.gz", dataset.Options{}, 2000)
	linear := learners.SVMConfig{C: 1, Norm: 1,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}}
	rbf := learners.SVMConfig{C: 1, Norm: 1, KernelConfig: learner.KernelConfig{Kernel: "rbf",
		Gamma: 0.1}}
	poly := learners.SVMConfig{C: 1, Norm: 1, KernelConfig: learner.KernelConfig{Kernel: "poly",
		Gamma: 0.1, Coef0: 1, Degree: 3}}
	norm2 := learners.SVMConfig{C: 1, Norm: 2, KernelConfig: learner.KernelConfig{Kernel: "linear"}}
	hardRBF := rbf
	hardRBF.C = 0
	for _, c := range []struct {
		name              string
		b                 *engine.Block[float64]
		c                 learners.SVMConfig
		objective, margin float64
		bias              float64 // minus LIBSVM's rho
	}{
		{"ionosphere -t 0 -c 1", ionosphere, linear, 78.209595, 0.21588883725, -3.883845},
		{"ionosphere -t 2 -g 0.1 -c 1", ionosphere, rbf, 60.53642, 0.13684028580, -1.219032},
		{"ionosphere -t 1 -g 0.1 -r 1 -d 3 -c 1", ionosphere, poly, 35.195951, 0.18485278714,
			-0.97809},
		{"ionosphere -t 2 -g 0.1 -c 1e6", ionosphere, hardRBF, 599.193637, 0.028886934892,
			-2.846698},
		{"ionosphere -t 4 -c 1e9", ionosphere, norm2, 44.859479, 0.10557423614, -2.582668},
		{"sonar -t 0 -c 1", sonar, linear, 102.329672, 0.18363753181, -2.485094},
		{"sonar -t 2 -g 0.1 -c 1", sonar, rbf, 132.007331, 0.13239602535, 0.326729},
		{"sonar -t 1 -g 0.1 -r 1 -d 3 -c 1", sonar, poly, 88.152049, 0.14730718089, -1.505672},
		{"sonar -t 2 -g 0.1 -c 1e6", sonar, hardRBF, 1656.144358, 0.017375445119, -4.517608},
		{"sonar -t 4 -c 1e9", sonar, norm2, 56.433304, 0.094127665533, -1.477334},
		{"a9a, 2000 rows -t 0 -c 1", adult, linear, 701.776048, 0.19890349137, -1.765586},
		{"a9a, 2000 rows -t 2 -g 0.1 -c 1", adult, rbf, 651.323921, 0.066174130127, -0.523351},
		{"a9a, 2000 rows -t 1 -g 0.1 -r 1 -d 3 -c 1", adult, poly, 428.726497, 0.062398526828,
			-0.952622},
		{"a9a, 2000 rows -t 4 -c 1e9", adult, norm2, 414.793306, 0.034719160257, -0.832297},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.c.Gap = 1e-8
			s := newSVM(t, c.c)
			if _, err := s.Fit(context.Background(), c.b, learner.FitOptions{}); err != nil {
				t.Fatal(err)
			}
			r := s.Solution()
			off := func(got, want float64) float64 { return math.Abs(got-want) / math.Abs(want) }
			if !r.Converged || !(r.Gap <= 1e-8) || !(off(r.Objective, c.objective) <= 1e-5) ||
				!(off(r.Margin, c.margin) <= 1e-4) || !(math.Abs(r.Bias-c.bias) <= 1e-3*(1+math.Abs(
				c.bias))) {
				t.Errorf("got %+v, want objective %v, margin %v, bias %v", r, c.objective, c.margin,
					c.bias)
			}
		})
	}
}

// TestSVMSuite runs the suite on generated data, with LIBSVM and as if it were not installed.
func TestSVMSuite(t *testing.T) {
	_, missing := exec.LookPath(svmTrain)
	check := func(missing bool) {
		t.Helper()
		r, err := SVM(context.Background(), "", Options{Rounds: 1, Each: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if len(r) != 1 || !(r[0].Median > 0) || (r[0].Note != "") != missing ||
			(r[0].RatioToPeer == nil) != missing {
			t.Errorf("got %+v", r)
		}
	}
	check(missing != nil)
	t.Setenv("PATH", "")
	check(true)
}
