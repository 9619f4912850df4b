package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// captured is the model of a learner that has learned two examples.
func captured(t *testing.T, name string) *model.Model {
	t.Helper()
	e, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	c := e.Config()
	l, err := learner.New[float32](e, c, learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	b := &engine.Block[float32]{Dim: 2, Stride: 2, X: []float32{1, 0, 0, 1}, Y: []float32{1, -1}}
	if err := l.Learn(b, make([]learner.Round, 2)); err != nil {
		t.Fatal(err)
	}
	m, err := model.Capture(name, c, 0, l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPredictCaptured: a model that a program has captured without telling of its data has the
// labels -1 and +1.
func TestPredictCaptured(t *testing.T) {
	t.Parallel()
	m := captured(t, "perceptron")
	dir := t.TempDir()
	file, data := filepath.Join(dir, "m"), filepath.Join(dir, "d")
	if _, err := model.Save(file, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data, []byte("+1 1:1\n-1 2:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("halfspace", "predict", "-i", file, data).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "+1\t1\n-1\t-1\n"; string(out) != want {
		t.Errorf("predict prints %q, want %q", out, want)
	}
}

// TestInspectSums: a model whose kept sum is not that of its members' weights is damaged to
// inspect, and scores as it did.
func TestInspectSums(t *testing.T) {
	t.Parallel()
	m := captured(t, "obpm")
	file := filepath.Join(t.TempDir(), "m")
	for _, good := range []bool{true, false} {
		if !good {
			m.State.Tensor("sum").Data.([]float64)[1]++
		}
		if _, err := model.Save(file, m); err != nil {
			t.Fatal(err)
		}
		inspect := exec.Command("halfspace", "inspect", file)
		out, err := inspect.CombinedOutput()
		code := inspect.ProcessState.ExitCode()
		if said := bytes.Contains(out, []byte("place 1")); good && (err != nil || said) ||
			!good && (code != CodeModel || !said) {
			t.Errorf("sums are right: %v; inspect ends with %d and prints %q", good, code, out)
		}
		predict := exec.Command("halfspace", "predict", "-i", file, "-")
		predict.Stdin = bytes.NewReader([]byte("+1 1:1\n"))
		if out, err := predict.CombinedOutput(); err != nil {
			t.Errorf("sums are right: %v; predict: %v, %q", good, err, out)
		}
	}
}
