package command

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/halfspace-ml/halfspace/internal/race"
)

func TestMain(m *testing.M) {
	// Under the race detector a program sleeps for a second before it ends, and the tests start
	// some hundreds.
	if race.Enabled {
		os.Setenv("GORACE", noSleep)
	}
	plainPages()
	testscript.Main(m, Programs)
}

// Programs are those that scripts run.
var Programs = map[string]func(){"halfspace": func() { os.Exit(Run()) },
	"halfspace-peak": mainWithPeak}

const noSleep = "atexit_sleep_ms=0"

// TestScripts drives the command as a user does. Besides testscript's own commands, scripts have
//
//	code N program args...      the program must end with exit code N
//	keys file key...            the JSON document in the file has these keys (a.b is b in a;
//	                            - is null or absent)
//	only name...                the folder has these files and no others
//	gzip from to                pack a file
//	spoil folder                the middle byte of its only file is changed
//	$MODELS                     the folder of models that earlier versions wrote
//	damage from to N cut|flip   a copy that ends after N bytes, or has its byte N changed
//	forge from to OLD NEW       a copy of a model in whose document NEW stands for OLD, with the
//	                            checksum put right
//	stretch file bytes          make a file longer by a hole
//	[race]                      under the race detector
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			if cond == "race" {
				return race.Enabled, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			models, err := filepath.Abs("testdata/models")
			if err != nil {
				return err
			}
			env.Setenv("MODELS", models)
			env.Setenv("GORACE", noSleep)
			for _, kv := range os.Environ() { // settings of the tester are none of the script's
				if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "HALFSPACE_") &&
					name != "HALFSPACE_IMPL" {
					env.Setenv(name, "")
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": scriptCode,
			"keys": scriptKeys,
			"only": scriptOnly,

			"forge":   scriptForge,
			"stretch": scriptStretch,
			"rewrite": scriptRewrite,

			"gzip": func(ts *testscript.TestScript, neg bool, args []string) {
				var b bytes.Buffer
				w := gzip.NewWriter(&b)
				w.Write([]byte(ts.ReadFile(args[0])))
				ts.Check(w.Close())
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
			},
			"spoil": func(ts *testscript.TestScript, neg bool, args []string) {
				files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*"))
				ts.Check(err)
				if len(files) != 1 {
					ts.Fatalf("%v, want one file", files)
				}
				b, err := os.ReadFile(files[0])
				ts.Check(err)
				b[len(b)/2] ^= 1
				ts.Check(os.WriteFile(files[0], b, 0o600))
			},
			"damage": func(ts *testscript.TestScript, neg bool, args []string) {
				b := []byte(ts.ReadFile(args[0]))
				n, err := strconv.Atoi(args[2])
				ts.Check(err)
				if args[3] == "cut" {
					b = b[:n]
				} else {
					b[n] ^= 1
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o600))
			},
		},
	})
}

func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: keys file key...")
	}
	var doc map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
	for _, key := range args[1:] {
		at := doc
		parts := strings.Split(key, ".")
		for _, p := range parts[:len(parts)-1] {
			at, _ = at[p].(map[string]any)
		}
		if _, ok := at[parts[len(parts)-1]]; !ok {
			ts.Fatalf("no key %q", key)
		}
	}
}

func scriptOnly(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs("."))
	ts.Check(err)
	want := map[string]bool{}
	for _, name := range args {
		want[name] = true
	}
	for _, e := range entries {
		if !want[e.Name()] && !strings.HasPrefix(e.Name(), ".tmp") {
			ts.Fatalf("%s was left behind", e.Name())
		}
		delete(want, e.Name())
	}
	for name := range want {
		ts.Fatalf("%s is missing", name)
	}
}
