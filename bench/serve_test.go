package bench

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/internal/race"
)

// TestBenchServe loads a server for a moment.
func TestBenchServe(t *testing.T) {
	if race.Enabled {
		t.Skip("the processes that it starts are slow then, and the server has tests of its own")
	}
	program, err := exec.LookPath("halfspace") // this test, which testscript.Main knows by that name
	if err != nil {
		t.Fatal(err)
	}
	results, err := loadServer(context.Background(), program, 300, measure.Options{Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	var note string
	for _, r := range results {
		if r.N != 3 || !(r.Median > 0) {
			t.Errorf("%s: %v in %d rounds", r.Name, r.Median, r.N)
		}
		note += r.Note
	}
	if want := "900 answers and 60 requests to learn without an error"; !strings.Contains(note, want) {
		t.Errorf("it says %q, want %q", note, want)
	}
	if g := results[1].Goal; g == 0 && results[1].Impl != "generic" {
		t.Errorf("%s beside %s has no goal", results[1].Name, results[1].Peer)
	}
}

// TestBenchServeCompares: an answer that its snapshot doesn't give, or of none, is found.
func TestBenchServeCompares(t *testing.T) {
	program, err := exec.LookPath("halfspace")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l := &serveLoad{program: program, dir: dir, model: dir + "/model"}
	if err := l.prepare(context.Background(), 20); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ answer, want string }{
		{`{"label":"+1","score":0.125,"snapshot":1000}`, "the snapshot's"},
		{`{"label":"+1","score":0.125,"snapshot":1}`, "never were"},
		{`{"label":"+1","score":0.125}`, "without the number"},
	} {
		l.answers = []answered{{3, []byte(c.answer + "\n")}}
		_, err := l.check(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.answer, err, c.want)
		}
	}
	if lesson := l.lesson(3); bytes.Count(lesson, []byte("\n")) != serveBatch-1 {
		t.Errorf("a request to learn has %q", lesson)
	}
}
