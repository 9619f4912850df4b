package training

import "testing"

// TestGoesOnAlone: what starts anew with other examples says so, before anything is read.
func TestGoesOnAlone(t *testing.T) {
	for _, c := range []struct {
		learner, base string
		converged     bool
		want          bool
	}{
		{"ovr", "svm", true, true},
		{"ovo", "svm", true, true},
		{"ovr", "romma", true, false}, // classes side by side, as a stream
		{"romma", "", true, false},
		{"pa", "", false, false},
	} {
		o := Options{Learner: c.learner, Files: []string{"none"}, UntilConverged: c.converged}
		if c.base != "" {
			o.Settings = map[string]any{"base": c.base}
		}
		j, err := New(o, Env{})
		if err != nil {
			t.Fatal(err)
		}
		if got := j.GoesOnAlone(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
