package training_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/training"
)

// weighted writes examples of two columns, with weights from w in a third one where it is not nil.
func weighted(t *testing.T, w func(i int, positive bool) float64) string {
	t.Helper()
	var b strings.Builder
	head := "a,b,label\n"
	if w != nil {
		head = "a,weight,b,label\n"
	}
	b.WriteString(head)
	for i := range 300 {
		x, y, label := float64(i*7%31)/31, float64(i*11%17)/17, "no"
		if i%5 == 0 {
			x, label = x+0.6, "yes"
		}
		if w == nil {
			fmt.Fprintf(&b, "%v,%v,%s\n", x, y, label)
		} else {
			fmt.Fprintf(&b, "%v,%v,%v,%s\n", x, w(i, label == "yes"), y, label)
		}
	}
	name := filepath.Join(t.TempDir(), "x.csv")
	ok(t, os.WriteFile(name, []byte(b.String()), 0o600))
	return name
}

// weightsOf trains and returns the weights of the hypothesis.
func weightsOf(t *testing.T, o training.Options) []float64 {
	t.Helper()
	o.Learner, o.Bias = "pa", "append"
	o.Model = filepath.Join(t.TempDir(), "x.model")
	res := must(training.Run(t.Context(), o, training.Env{}))(t)
	m := must(res.Model())(t)
	w := m.State.Tensor("w").Data.([]float32)
	var out []float64
	for _, v := range w {
		out = append(out, float64(v))
	}
	return out
}

// A column of weights and factors of classes mean the same, in memory and as a stream.
func TestClassWeights(t *testing.T) {
	plain := weighted(t, nil)
	three := weighted(t, func(_ int, positive bool) float64 {
		if positive {
			return 3
		}
		return 0.5
	})
	column := training.Data{WeightCol: "weight"}
	for _, epochs := range []int{1, 2} {
		want := weightsOf(t, training.Options{Files: []string{three}, Epochs: epochs, Data: column})
		got := weightsOf(t, training.Options{Files: []string{plain}, Epochs: epochs,
			ClassWeight: "yes=3,no=0.5"})
		if !slices.Equal(got, want) {
			t.Errorf("%d epochs: weights %v by class, %v by column", epochs, got, want)
		}
		if slices.Equal(got, weightsOf(t, training.Options{Files: []string{plain},
			Epochs: epochs})) {
			t.Errorf("%d epochs: weights change nothing", epochs)
		}
	}
	// 60 of 300 are yes: 300/(2*60) and 300/(2*240)
	balanced := weightsOf(t, training.Options{Files: []string{plain}, Epochs: 2,
		ClassWeight: "balanced"})
	if want := weightsOf(t, training.Options{Files: []string{plain}, Epochs: 2,
		ClassWeight: "yes=2.5,no=0.625"}); !slices.Equal(balanced, want) {
		t.Errorf("balanced: %v, want %v", balanced, want)
	}
	// in a stream the shares are those up to and with the example
	sum := [2]int{}
	running := weighted(t, func(_ int, positive bool) float64 {
		k := 0
		if positive {
			k = 1
		}
		sum[k]++
		some := 0
		for _, n := range sum {
			some += min(n, 1)
		}
		return float64(sum[0]+sum[1]) / (float64(some) * float64(sum[k]))
	})
	if got, want := weightsOf(t, training.Options{Files: []string{plain}, Epochs: 1,
		ClassWeight: "balanced"}), weightsOf(t, training.Options{Files: []string{running},
		Epochs: 1, Data: column}); !slices.Equal(got, want) {
		t.Errorf("balanced stream: %v, want %v", got, want)
	}
}

func TestClassWeightErrors(t *testing.T) {
	plain := weighted(t, nil)
	for _, c := range []struct{ learner, weight, want string }{
		{"pa", "yes", "is no label and its factor"},
		{"pa", "yes=x", "is not a number"},
		{"pa", "yes=-1", "is not a number of 0 or more"},
		{"pa", "yes=1,yes=2", "comes twice"},
		{"pa", "maybe=1", `no label "maybe"`},
		{"romma", "balanced", "romma takes no weights"},
	} {
		for _, epochs := range []int{1, 2} {
			o := training.Options{Learner: c.learner, Files: []string{plain}, Epochs: epochs,
				ClassWeight: c.weight}
			_, err := training.Run(t.Context(), o, training.Env{})
			if !errors.Is(err, training.ErrOption) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v, want %q", c.learner, c.weight, err, c.want)
			}
		}
	}
	o := training.Options{Learner: "perceptron", Files: []string{plain}, ClassWeight: "balanced",
		UntilConverged: true}
	if err := o.Validate(); !errors.Is(err, training.ErrOption) ||
		!strings.Contains(err.Error(), "whatever they weigh") {
		t.Errorf("until converged: %v", err)
	}
	for _, name := range []string{"perceptron", "romma"} { // whose slacks have a price
		o.Learner, o.SoftDelta = name, 1
		if err := o.Validate(); err != nil {
			t.Errorf("%s with a soft margin: %v", name, err)
		}
	}
}
