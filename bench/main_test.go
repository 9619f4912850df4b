package bench

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/internal/realdata"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"halfspace-bench": func() { os.Exit(Run()) },
		"halfspace": func() { os.Exit(command.Run()) }})
}

// TestProfileTags has each verb write a CPU profile, and looks for the keys and values of its
// samples' tags among the profile's strings.
func TestProfileTags(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ args, tags string }{
		{"bench wide --rounds 3 --json", "suite wide case side ours peer"},
		{"repro obpm/table1 --runs 40 -q --fresh --cache DIR/cache",
			"experiment obpm/table1 learner obpm"},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := append(strings.Fields(strings.ReplaceAll(c.args, "DIR", dir)), "--profile", dir)
			// A sample is taken each 10 ms: a short run may have none of what is looked for.
			missed := strings.Fields(c.tags)
			for range 30 {
				root := command.NewProgram(io.Discard, name, short, example, verbs)
				root.SetArgs(args)
				if err := root.ExecuteContext(t.Context()); err != nil {
					t.Fatal(err)
				}
				profile := realdata.Unpacked(t, filepath.Join(dir, "cpu.pprof"))
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
