package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// init is a full disk in a process that a test starts so: no file grows beyond so many bytes.
func init() {
	if n, err := strconv.Atoi(os.Getenv("HALFSPACE_TEST_FILE_SIZE")); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			panic(err)
		}
	}
}

// job is one that takes some tenths of a second, in four parts that are saved on the way.
func job(dir, state, file string) []string {
	return []string{"train", "--json", "--by", "members", "--workers", "4", "--members", "512",
		"--tau", "0.1", "--epochs", "4", "--shuffle", "--checkpoint-every", "2000", "--threads",
		"1", "--patience", "2s", "--state", filepath.Join(dir, state), "-m", filepath.Join(dir, state+".model"), file}
}

// long is the data of job.
func long(t *testing.T, dir string) string { return rows(t, dir, 8000, 2, false) }

// workersOf are the processes that Prism has started.
func (s *server) workersOf() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range dirs {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// PID (NAME) STATE PARENT ...
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if f[0] != "Z" && f[1] == strconv.Itoa(s.cmd.Process.Pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// learnedOnce: nobody began with a piece that was done.
func learnedOnce(t *testing.T, state string) {
	t.Helper()
	done := map[string]int{}
	for _, line := range strings.Split(string(content(t, filepath.Join(state, "log"))), "\n") {
		f := strings.SplitN(line, " ", 3)
		if len(f) < 3 {
			continue
		}
		key, _, _ := strings.Cut(f[1], ".try-")
		if f[2] == "done" {
			done[key]++
		}
		if strings.HasPrefix(f[2], "begun") && done[key] > 0 {
			t.Errorf("%s was learned again", key)
		}
	}
	for key, n := range done {
		if n != 1 {
			t.Errorf("%s: done %d times", key, n)
		}
	}
	whole, _ := filepath.Glob(filepath.Join(state, "*", "done.json"))
	if len(whole) != 5 {
		t.Errorf("there are %v, want four parts and the whole", whole)
	}
	left, _ := filepath.Glob(filepath.Join(state, "*.try-*"))
	if len(left) > 0 {
		t.Errorf("tries are left: %v", left)
	}
}

// TestKilled: workers are killed at any moment, and so is the command. The same command again, with
// workers of another processor, ends with the model of one process.
func TestKilled(t *testing.T) {
	kills := 5 // of each, side by side: they wait most of the time
	if testing.Short() {
		kills = 1
	}
	dir := t.TempDir()
	file := long(t, dir)
	begin := time.Now()
	halfspace(t, 0, job(dir, "quiet", file)...)
	takes := time.Since(begin)
	want := content(t, filepath.Join(dir, "quiet.model"))
	for i := range 4 {
		t.Run(fmt.Sprint("workers", i), func(t *testing.T) {
			t.Parallel()
			k := killing{t: t, s: newServer(t), dir: dir, file: file, takes: takes}
			for n := 0; k.killed < kills; n++ {
				k.workers(fmt.Sprintf("killed%d-%d", i, n), kills)
				if !bytes.Equal(content(t, filepath.Join(dir, k.state+".model")), want) {
					t.Fatal("another model")
				}
				learnedOnce(t, filepath.Join(dir, k.state))
			}
			t.Logf("a job takes %v; %d workers killed, %d jobs failed, %d parts gone on with",
				takes, k.killed, k.failed, k.resumed)
		})
	}
	for i := range kills {
		t.Run(fmt.Sprint("command", i), func(t *testing.T) {
			t.Parallel()
			state, want := fmt.Sprint("command", i), want
			args := job(dir, state, file)
			if i == 0 { // rounds of row shards
				args = []string{"train", "-q", "--by", "rows", "--shards", "4", "--mix", "uniform",
					"--rounds", "4", "--workers", "2", "--members", "256", "--tau", "0.1",
					"--checkpoint-every", "500", "--patience", "2s", "--state",
					filepath.Join(dir, "rows"), "-m", filepath.Join(dir, state+".model"), file}
				halfspace(t, 0, args...)
				want = content(t, filepath.Join(dir, state+".model"))
				args = append(args, "--state", filepath.Join(dir, state))
			}
			if i%2 == 0 {
				args = append(args, newServer(t).flags("PROCESS")...) // its job goes on without it
			}
			cmd := process(args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.Int64N(int64(takes))))
			cmd.Process.Kill()
			cmd.Wait()
			halfspace(t, 0, args...)
			if !bytes.Equal(content(t, filepath.Join(dir, state+".model")), want) {
				t.Fatal("another model")
			}
		})
	}
}

// killing kills workers of jobs that take so long.
type killing struct {
	t                       *testing.T
	s                       *server
	dir, file, state        string
	takes                   time.Duration
	killed, failed, resumed int
}

// workers runs a job until it comes to its end, and kills up to so many workers meanwhile, three in
// this job at most.
func (k *killing) workers(state string, most int) {
	t := k.t
	k.state = state
	for try := 0; ; try++ {
		impl := []string{"auto", "generic"}[try%2]
		cmd := process(append(job(k.dir, state, k.file),
			k.s.flags("PROCESS", "HALFSPACE_IMPL="+impl)...)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if k.killed < most && try < 3 {
			time.Sleep(time.Duration(rand.Int64N(int64(k.takes))))
			for _, pid := range k.s.workersOf() {
				syscall.Kill(pid, syscall.SIGKILL)
				k.killed++
			}
		}
		if cmd.Wait() == nil {
			break
		}
		k.failed++
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(),
			"the same command goes on there") {
			t.Errorf("it says (%v)\n%s", cmd.ProcessState, &said)
		}
	}
	text := content(t, filepath.Join(k.dir, state, "log"))
	k.resumed += bytes.Count(text, []byte("begun behind ")) -
		bytes.Count(text, []byte("begun behind 0 "))
}

// TestFailures: errors name the part, the file and what to do; nothing is written; and when it was
// done the same command ends with the model of one process.
func TestFailures(t *testing.T) {
	s := newServer(t)
	dir := t.TempDir()
	file := long(t, dir)
	halfspace(t, 0, job(dir, "quiet", file)...)
	want := content(t, filepath.Join(dir, "quiet.model"))
	again := func(state string, flags ...string) {
		t.Helper()
		halfspace(t, 0, append(job(dir, state, file), flags...)...)
		if !bytes.Equal(content(t, filepath.Join(dir, state+".model")), want) {
			t.Error("another model")
		}
		learnedOnce(t, filepath.Join(dir, state))
	}
	refused := func(state string, code int, said string, texts ...string) {
		t.Helper()
		lines := strings.Split(strings.TrimSpace(said[max(0, strings.LastIndex(said,
			"\nhalfspace: ")+1):]), "\n")
		for _, text := range texts {
			if !strings.Contains(said, text) {
				t.Errorf("it says\n%s\nwant %q", said, text)
			}
		}
		if !strings.HasPrefix(lines[0], "halfspace: ") || len(lines) < 2 ||
			!strings.HasPrefix(lines[1], "  ") ||
			strings.Contains(said, "halfspace-failure") {
			t.Errorf("it says\n%s", said)
		}
		if _, err := os.Stat(filepath.Join(dir, state+".model")); err == nil {
			t.Error("a model was written")
		}
	}

	// Each part's bundle fails once, on a runner in this process and on one elsewhere.
	keys, _ := filepath.Glob(filepath.Join(dir, "quiet", "part-*"))
	slices.Sort(keys)
	for k, key := range keys {
		state, flags := fmt.Sprint("bundle", k), []string(nil)
		if k%2 == 1 {
			flags = s.flags("PROCESS")
		}
		if err := os.Mkdir(filepath.Join(dir, state), 0o700); err != nil {
			t.Fatal(err)
		}
		inTheWay := filepath.Join(dir, state, filepath.Base(key))
		if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, said := halfspace(t, 4, append(job(dir, state, file), flags...)...)
		refused(state, 4, said, fmt.Sprintf("part %d/4", k+1), inTheWay, "rm -r "+inTheWay)
		if err := os.Remove(inTheWay); err != nil {
			t.Fatal(err)
		}
		again(state, flags...)
	}

	// A disk is full: at the first byte, in a trace, in a model.
	size := len(content(t, filepath.Join(keys[0], "model")))
	for i, n := range []int{0, 600, size / 2} {
		state := fmt.Sprint("full", i)
		_, said := halfspace(t, 1, append(job(dir, state, file), s.flags("PROCESS",
			fmt.Sprint("HALFSPACE_TEST_FILE_SIZE=", n))...)...)
		refused(state, 1, said, "/4: ", filepath.Join(dir, state), "file too large",
			"the same command goes on there")
		again(state, s.flags("PROCESS")...)
	}

	// Prism is killed, and so is what it has started.
	cmd := process(append(job(dir, "prism", file), s.flags("PROCESS")...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); len(s.workersOf()) == 0 && time.Since(begin) < time.Minute; {
		time.Sleep(5 * time.Millisecond)
	}
	s.kill()
	if cmd.Wait() == nil {
		t.Log("it was done before")
	} else {
		refused("prism", 1, said.String(), "the same command goes on there")
	}
	_, nobody := halfspace(t, 1, append(job(dir, "nobody", file), append(s.flags("PROCESS"),
		"--state", filepath.Join(dir, "prism"))...)...)
	refused("nobody", 1, nobody, "the same command goes on there")
	again("prism")
}

// TestUsage: what can't be is refused before anything begins.
func TestUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := rows(t, dir, 200, 2, false)
	m, state := filepath.Join(dir, "m"), filepath.Join(dir, "s")
	for _, c := range []struct {
		want, next string
		args       []string
	}{
		{"--by: in no parts", "--workers", []string{"--state", state, "-m", m, file}},
		{"--by: in 0 shards", "--shards", []string{"--by", "rows", "--workers", "2", "--state", state,
			"-m", m, file}},
		{"pa has no posterior", "--mix", []string{"--by", "rows", "-a", "pa", "--shards", "2",
			"--workers", "2", "--state", state, "-m", m, file}},
		{"adf has no weights", "obpm", []string{"--by", "rows", "-a", "adf", "--mix", "uniform",
			"--shards", "2", "--workers", "2", "--state", state, "-m", m, file}},
		{"--rounds without --mix", "posteriors", []string{"--by", "rows", "-a", "adf", "--rounds",
			"2", "--shards", "2", "--workers", "2", "--state", state, "-m", m, file}},
		{"--by and --mix exclude", "nothing is merged", []string{"--mix", "uniform", "--workers",
			"2", "--state", state, "-m", m, file}},
		{"--by and --rows exclude", "Leave it out", []string{"--rows", "1/2", "--workers", "2",
			"--state", state, "-m", m, file}},
		{"no folder", "--state", []string{"--workers", "2", "-m", m, file}},
		{"no place for the model", "-m", []string{"--workers", "2", "--state", state, file}},
		{"-: the workers", "file", []string{"--workers", "2", "--state", state, "-m", m, "-"}},
		{"http://bucket/dir", "gs:// and s3://", []string{"--workers", "2", "--state",
			"http://bucket/dir", "-m", m, file}},
		{"--by and --test exclude", "evaluate", []string{"--workers", "2", "--state", state, "-m",
			m, "--test", file, file}},
		{"200 members are cut by 64", "parts at most", []string{"--workers", "9", "--state", state,
			"--members", "200", "-m", m, file}},
		{"can't be taken apart", "obpm", []string{"-a", "pa", "--workers", "2", "--state", state,
			"-m", m, file}},
		{"exclude each other", "whole ensemble", []string{"--until-converged", "--workers", "2",
			"--state", state, "-m", m, file}},
		{"--runner nobody: no such", "direct", []string{"--runner", "nobody", "--workers", "2", "--state", state, "-m", m,
			file}},
	} {
		_, said := halfspace(t, -1, append([]string{"train", "--by", "members"}, c.args...)...)
		what, next, _ := strings.Cut(said, "\n")
		if !strings.Contains(what, c.want) || !strings.Contains(next, c.next) ||
			strings.Contains(said, "goroutine ") {
			t.Errorf("%v: it says\n%s\nwant %q and %q", c.args, said, c.want, c.next)
		}
		if _, err := os.Stat(m); err == nil {
			t.Errorf("%v: a model", c.args)
		}
	}
}
