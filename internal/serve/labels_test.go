package serve

import (
	"bytes"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
)

// TestProfileLabels: in a profile what learns has the labels of its model, one process having
// several.
func TestProfileLabels(t *testing.T) {
	s := start(t, Options{Models: []Model{
		{Name: "labelled-a", Path: newModel(t, halfspace.Options{Learner: "pa"})},
		{Name: "labelled-b", Path: newModel(t, halfspace.Options{Learner: "arow"})}}})
	for _, m := range s.Stats() { // what answers has begun
		ask(t, s, `{"op":"learn","model":"`+m.Name+`","rows":{"0":1,"label":1}}`, 0)
	}
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"learner":"pa", "model":"labelled-a", "stage":"learn"`,
		`"learner":"arow", "model":"labelled-b", "stage":"learn"`} {
		if !bytes.Contains(b.Bytes(), []byte(want)) {
			t.Errorf("no goroutine has the labels %s:\n%s", want, b.Bytes())
		}
	}
}

// TestLabelTexts: a label that is a number in JSON is found by its value, and one that is a text is
// that text alone; a log has what was meant, and its replay makes the same model.
func TestLabelTexts(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	s := start(t, Options{Models: []Model{{Name: "a", Log: log, Path: trained(t,
		halfspace.Options{Learner: "perceptron"}, strings.Repeat("1 1:1\n2 2:1\n3 3:1\n", 20))}}})
	for _, body := range []string{
		`{"label":1.0,"1":1}`, `{"label":"1.0","2":1}`, // one that there is, and another
		`[{"label":7.0,"1":2},{"label":7,"2":2},{"label":"7.00","3":1}]`, // two that there are not
	} {
		asks(t, s, Learn, mediaJSON, body, 200, "")
	}
	want := []string{"1", "2", "3", "1.0", "7.0", "7.00"}
	closing(t, s)
	if m, _, err := Replay(t.Context(), log, nil, 0); err != nil {
		t.Error(err)
	} else if got := m.Classes(); !slices.Equal(got, want) {
		t.Errorf("classes %q, want %q", got, want)
	}
}
