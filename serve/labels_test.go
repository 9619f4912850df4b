package serve

import (
	"bytes"
	"runtime/pprof"
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
