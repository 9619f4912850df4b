package command

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/realdata"
)

// labelsSeen is an output that looks at goroutines' labels when it is written to.
type labelsSeen struct{ goroutines bytes.Buffer }

func (l *labelsSeen) Write(p []byte) (int, error) {
	if l.goroutines.Len() == 0 {
		pprof.Lookup("goroutine").WriteTo(&l.goroutines, 1)
	}
	return len(p), nil
}

// TestPredictLabels: profiles of predict know the learner and the stage, as those of train do.
func TestPredictLabels(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "data"), filepath.Join(dir, "model")
	rows := strings.Repeat("+1 1:1\n-1 2:1\n", 20000) // their lines fill the output more than once
	if err := os.WriteFile(data, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen labelsSeen
	for _, args := range [][]string{{"train", "-q", "-a", "pa", "-m", model, data},
		{"predict", "-q", "-i", model, data}} {
		seen.goroutines.Reset()
		root := newRootCmd(&seen)
		root.SetArgs(args)
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const want = `{"learner":"pa", "stage":"predict"}`
	if all := seen.goroutines.String(); !strings.Contains(all, want) {
		t.Errorf("no goroutine with %s in\n%s", want, all)
	}
}

// TestProfileTags has each command that learns for long write a CPU profile, and looks for the keys
// and values of its samples' tags among the profile's strings.
func TestProfileTags(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "data"), filepath.Join(dir, "model")
	var rows bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		fmt.Fprintf(&rows, "%+d", 1-2*r.IntN(2))
		for j := range 300 {
			fmt.Fprintf(&rows, " %d:%.2f", j+1, r.NormFloat64())
		}
		rows.WriteByte('\n')
	}
	if err := os.WriteFile(data, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) {
		t.Helper()
		root := newRootCmd(io.Discard)
		root.SetArgs(args)
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
	}
	command("train", "-q", "-a", "obpm", "--members", "2000", "--combine", "vote", "-m", model,
		data)
	for _, c := range []struct{ args, tags string }{
		{"train -q -a adf --epochs 5 DATA", "learner adf stage learn"},
		{"cv -q -a adf --repeats 2 DATA", "learner adf stage learn fold repeat"},
		{"tune -q -a adf --level 0 --grid label-noise=.1,.2 DATA",
			"learner adf stage learn setting label-noise=.1"},
		{"tune -q -a adf --by cv --level 0 --grid label-noise=.1 DATA",
			"learner adf stage learn setting label-noise=.1 fold"},
		{"compare -q -a adf -a pa DATA", "learner stage learn setting adf"},
		{"compare -q MODEL MODEL DATA", "learner obpm stage predict model"},
	} {
		t.Run(c.args, func(t *testing.T) {
			file := filepath.Join(dir, "profile", "cpu.pprof")
			var args []string
			for _, w := range strings.Fields(c.args) {
				args = append(args, strings.NewReplacer("DATA", data, "MODEL",
					model).Replace(w))
			}
			args = append(args, "--profile", filepath.Dir(file))
			// A sample is taken each 10 ms: a short run may have none of what is looked for.
			missed := strings.Fields(c.tags)
			for range 30 {
				command(args...)
				profile := realdata.Unpacked(t, file)
				missed = slices.DeleteFunc(missed, func(tag string) bool {
					// an entry of the table of strings, field 6 of profile.proto
					return bytes.Contains(profile, append([]byte{6<<3 | 2, byte(len(tag))}, tag...))
				})
				if len(missed) == 0 {
					return
				}
			}
			t.Errorf("%q are not among the profiles' strings", missed)
		})
	}
}
