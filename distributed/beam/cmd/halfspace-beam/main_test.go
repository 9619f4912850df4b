package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/halfspace-ml/halfspace/internal/realdata"
)

const shared = "../../../../../shared/data" // the public data, beside the repository

// TestMain is the command, or Prism, in processes that tests start.
func TestMain(m *testing.M) {
	switch kind, port, _ := strings.Cut(os.Getenv("HALFSPACE_TEST_AS"), " "); kind {
	case "command":
		os.Exit(run())
	case "prism":
		n, _ := strconv.Atoi(port)
		// What workers are started with, they set themselves.
		os.Unsetenv("HALFSPACE_TEST_AS")
		_, err := prism.CreateJobServer(context.Background(), prism.Options{Port: n})
		if err != nil {
			panic(err)
		}
		select {}
	default:
		os.Exit(m.Run())
	}
}

// server is a Prism in a process of its own.
type server struct {
	port int
	cmd  *exec.Cmd
}

// newServer starts one.
func newServer(t testing.TB) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append(os.Environ(), fmt.Sprint("HALFSPACE_TEST_AS=prism ", s.port))
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", s.port))
		if err == nil {
			c.Close()
			return s
		}
		if time.Since(begin) > time.Minute {
			t.Fatal("no Prism")
		}
	}
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// flags have a job run on it: with workers in the process of the command, or in processes that it
// starts, which have these variables of the environment.
func (s *server) flags(kind string, env ...string) []string {
	f := []string{"--runner", "prism", "--endpoint", fmt.Sprint("localhost:", s.port),
		"--environment_type", kind}
	if kind == "PROCESS" {
		vars := map[string]string{"HALFSPACE_TEST_AS": "command"}
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			vars[name] = value
		}
		config, _ := json.Marshal(map[string]any{"command": os.Args[0], "env": vars})
		f = append(f, "--environment_config", string(config))
	}
	return f
}

// process is one that can be started.
func process(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "HALFSPACE_TEST_AS=command")
	return cmd
}

// halfspace runs the command; want is its exit code, -1 any.
func halfspace(t testing.TB, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := process(args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	code := 0
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		code = e.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if want >= 0 && code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, &out, &said)
	}
	return out.String(), said.String()
}

// result is what is compared of a run.
type result struct {
	SHA256      string  `json:"model_sha256"`
	Progressive float64 `json:"progressive_error"`
}

func content(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// away learns with --by and returns what came of it.
func away(t testing.TB, dir, state string, workers int, args ...string) result {
	t.Helper()
	out, _ := halfspace(t, 0, append([]string{"train", "--json", "--workers", strconv.Itoa(workers),
		"--state", filepath.Join(dir, state), "-m", filepath.Join(dir, state+".model")},
		args...)...)
	var r result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

// rows writes n examples of so many classes to a file, sparse or dense, of ones or of numbers.
func rows(t testing.TB, dir string, n, classes int, dense bool) string {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(classes)))
	var b strings.Builder
	for range n {
		class := r.IntN(classes)
		if classes == 2 {
			class = 2*class - 1
		}
		fmt.Fprint(&b, class)
		for j := range 20 {
			near := (j+5*class+20)%20 < 8 // so that there is something to learn
			switch {
			case dense:
				v := r.NormFloat64()
				if near {
					v++
				}
				fmt.Fprintf(&b, " %d:%.4g", j+1, v)
			case r.IntN(10) < 2 || near && r.IntN(3) == 0:
				fmt.Fprintf(&b, " %d:1", j+1)
			}
		}
		b.WriteByte('\n')
	}
	name := filepath.Join(dir, fmt.Sprintf("%d-%d-%v.svm", n, classes, dense))
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// a9a is the public file, if it is there.
func a9a(t *testing.T) string {
	if os.Getenv("HALFSPACE_DATA") == "" {
		dir, err := filepath.Abs(shared)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("HALFSPACE_DATA", dir)
	}
	return realdata.File(t, "a9a.gz")
}

// TestOneModel: whatever learns, and in however many parts, the model is that of one process, to
// the byte, and so is its progressive error.
func TestOneModel(t *testing.T) {
	s := newServer(t)
	loopback, processes := s.flags("LOOPBACK"), s.flags("PROCESS")
	for _, c := range []struct {
		name    string
		classes int // 0 is a9a
		dense   bool
		workers []int
		on      [][]string // which of the places to learn take part, one a number of workers
		args    string
	}{
		{"by classes", 10, true, []int{1, 4, 8}, [][]string{nil, processes, loopback},
			"-a pa --epochs 2 --shuffle"},
		{"perceptron", 2, false, []int{2, 8, 4, 3, 2}, [][]string{nil, nil, loopback, processes,
			s.flags("PROCESS", "HALFSPACE_IMPL=generic")}, ""},
		{"pa", 2, true, []int{5, 3}, [][]string{nil, loopback},
			"--base pa --precision f64"},
		{"alma", 2, false, []int{8, 2}, [][]string{nil, processes},
			"--base alma --precision f64 --epochs 3 --shuffle"},
		{"vote", 2, true, []int{8}, [][]string{{"--runner", "direct"}},
			"--combine vote --epochs 3 --shuffle"},
		{"classes", 10, false, []int{2, 4}, [][]string{nil, processes}, ""},
		{"a9a", 0, false, []int{4}, [][]string{processes}, "--bias append --normalize unit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var file string
			dir := t.TempDir()
			if c.classes == 0 {
				if testing.Short() {
					t.Skip("short")
				}
				file = a9a(t)
			} else {
				t.Parallel()
				file = rows(t, dir, 1500, c.classes, c.dense)
			}
			args, by := append(strings.Fields("--members 512 --tau 0.1 "+c.args), file), "members"
			if c.name == "by classes" {
				args, by = args[4:], "classes"
			}
			one := filepath.Join(dir, "one.model")
			out, _ := halfspace(t, 0, append([]string{"train", "--json", "-m", one}, args...)...)
			var want result
			if err := json.Unmarshal([]byte(out), &want); err != nil || want.SHA256 == "" ||
				want.Progressive <= 0 || want.Progressive > 0.8 {
				t.Fatalf("%v %+v\n%s", err, want, out)
			}
			ways := len(c.on)
			if testing.Short() {
				ways = min(ways, 2)
			}
			for i, on := range c.on[:ways] {
				got := away(t, dir, fmt.Sprint("state", i), c.workers[i],
					append(append([]string{"--by", by}, on...), args...)...)
				if got != want {
					t.Errorf("%d parts on %v: %+v, want %+v", c.workers[i], on, got, want)
				}
				if !bytes.Equal(content(t, filepath.Join(dir, fmt.Sprint("state", i, ".model"))),
					content(t, one)) {
					t.Errorf("%d parts on %v: other bytes", c.workers[i], on)
				}
			}
		})
	}
}

// TestRows: row shards that any number of workers learn, anywhere, are merged to the bytes that
// train --rows and merge make of them, posteriors at once and weights round by round; also where
// they go on from a model. What was learned once is not learned again.
func TestRows(t *testing.T) {
	s := newServer(t)
	loopback, processes := s.flags("LOOPBACK"), s.flags("PROCESS")
	generic := s.flags("PROCESS", "HALFSPACE_IMPL=generic")
	for _, c := range []struct {
		name    string
		shards  int
		mix     []string // by round; none: posteriors
		workers []int
		on      [][]string
		args    string
		goesOn  bool // they go on from what one process learned
	}{
		{"adf", 5, nil, []int{1, 2, 8}, [][]string{nil, processes, loopback}, "-a adf", true},
		{"vvm", 3, nil, []int{2}, [][]string{{"--runner", "direct"}},
			"-a vvm --precision f64 --epochs 2 --shuffle", false},
		{"mix", 4, []string{"mistakes", "mistakes", "mistakes"}, []int{1, 8, 2},
			[][]string{nil, generic, loopback}, "--members 64 --tau 0.3 --shuffle", false},
		{"goes on", 2, []string{"uniform", "uniform"}, []int{2}, [][]string{nil}, "-a pa", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, args, from := rows(t, dir, 1500, 2, true), strings.Fields(c.args), ""
			if c.goesOn {
				from = filepath.Join(dir, "from")
				halfspace(t, 0, append([]string{"train", "-q", "-m", from, file}, args...)...)
				args = []string{"-i", from}
			}
			want := content(t, rowShards(t, dir, file, c.shards, c.mix, from, args))
			by := append([]string{"--by", "rows", "--shards", strconv.Itoa(c.shards)}, args...)
			if c.mix != nil {
				by = append(by, "--mix", c.mix[0], "--rounds", strconv.Itoa(len(c.mix)))
			}
			for i, on := range c.on {
				state := fmt.Sprint("state", i)
				got := away(t, dir, state, c.workers[i], append(append(by[:len(by):len(by)],
					on...), file)...)
				model := content(t, filepath.Join(dir, state+".model"))
				if !bytes.Equal(model, want) || got.SHA256 != fmt.Sprintf("%x",
					sha256.Sum256(want)) {
					t.Errorf("%d workers on %v: %+v, other bytes", c.workers[i], on, got)
				}
			}
			away(t, dir, "state0", 3, append(by, file)...)
			pieces := max(1, len(c.mix)) * (c.shards + 1)
			log := content(t, filepath.Join(dir, "state0", "log"))
			if begun, taken := bytes.Count(log, []byte(" begun ")), bytes.Count(log,
				[]byte(" taken\n")); begun != pieces || taken != pieces {
				t.Errorf("%d pieces were begun and %d taken, of %d\n%s", begun, taken, pieces, log)
			}
		})
	}
}

// rowShards learns shards of the rows by commands, merges them, and returns the model's file.
func rowShards(t *testing.T, dir, file string, n int, mix []string, from string,
	args []string) string {
	t.Helper()
	for round := range max(1, len(mix)) {
		to := filepath.Join(dir, fmt.Sprint("merged", round))
		merge := []string{"merge", "-q", "-m", to}
		if mix != nil {
			merge = append(merge, "--mix", mix[round])
		}
		if from != "" {
			merge = append(merge, "--prior", from)
		}
		for k := 1; k <= n; k++ {
			m := filepath.Join(dir, fmt.Sprint("rows", k))
			halfspace(t, 0, append([]string{"train", "-q", "--rows", fmt.Sprintf("%d/%d", k, n),
				"-m", m, file}, args...)...)
			merge = append(merge, m)
		}
		halfspace(t, 0, merge...)
		shuffled := slices.Contains(args, "--shuffle")
		if from, args = to, []string{"-i", to}; shuffled {
			args = append(args, "--shuffle")
		}
	}
	return from
}
