package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// seconds is the line of a summary that differs from run to run.
var seconds = regexp.MustCompile(`(?m)^seconds .*$`)

// TestOneTable: settings that are dealt out over any number of workers have the table that they
// have in one process, to the byte but for the time, with races and by folds, and the best the same
// model. What was tried once is not tried again.
func TestOneTable(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		name     string
		settings int
		workers  []int
		on       [][]string
		args     string
	}{
		{"race", 10, []int{2, 8}, [][]string{nil, s.flags("PROCESS")},
			"-a pa --grid C=.001,.01,.1,1,10 --grid normalize=none,unit"},
		{"all", 6, []int{2, 8}, [][]string{s.flags("LOOPBACK"), nil},
			"--members 20 --grid tau=.05,.3 --grid seed=1,2,3 --level 0 --json"},
		{"folds", 9, []int{2, 8}, [][]string{nil, nil},
			"-a pa --by cv --folds 4 --level .2 --random 9 --range C=1e-4:100:log"},
		{"losses", 4, []int{2}, [][]string{nil},
			"--members 20 --grid tau=.01,.05,.3,.9 --score log-loss"},
		{"calibrated", 3, []int{2}, [][]string{nil},
			"-a pa --by cv --grid C=.001,.1,10 --score brier --calibrate platt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			model := filepath.Join(dir, "model")
			args := append([]string{"tune", "--progress", "none", "-m", model},
				append(strings.Fields(c.args), rows(t, dir, 2000, 2, true))...)
			timeless := func(out string) string {
				out = regexp.MustCompile(`"(seconds|total)": [0-9.e-]+`).ReplaceAllString(out, "")
				return seconds.ReplaceAllString(out, "")
			}
			want, _ := halfspace(t, 0, args...)
			whole := content(t, model)
			for i, n := range c.workers {
				state := filepath.Join(dir, fmt.Sprint("state", i))
				parted := append(append(args[:len(args):len(args)], "--state", state,
					"--workers", fmt.Sprint(n)), c.on[i]...)
				for range 2 {
					if got, _ := halfspace(t, 0, parted...); timeless(got) != timeless(want) {
						t.Errorf("%d workers:\n%s\nwant\n%s", n, got, want)
					}
					if !bytes.Equal(content(t, model), whole) {
						t.Errorf("%d workers: another model", n)
					}
				}
				log := content(t, filepath.Join(state, "log"))
				if begun := bytes.Count(log, []byte(" begun ")); begun != min(n, c.settings)+1 {
					t.Errorf("%d workers: %d tries began, want one a part and one that compares"+
						"\n%s", n, begun, log)
				}
			}
		})
	}
	dir := t.TempDir()
	file, state := rows(t, dir, 100, 2, true), filepath.Join(dir, "state")
	for want, args := range map[string]string{
		"Say how many with --workers": "--state " + state + " " + file,
		"Name one with --state":       "--workers 2 " + file,
		"don't have this process's":   "--workers 2 --state " + state + " -",
	} {
		_, said := halfspace(t, 2, append([]string{"tune", "-a", "pa"}, strings.Fields(args)...)...)
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %q", args, said, want)
		}
	}
}
