package command

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/perf/benchmath"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/learner"
)

var (
	soak = flag.Int("soak", 0, "examples through stdin for TestSoak, instead of some; its speed "+
		"is then looked at, too")
	soakTime = flag.Duration("soak-time", time.Minute, "CPU time of a run of -soak, which slow "+
		"learners take fewer examples for")
)

const (
	soakWindows = 80 // in which memory and time are taken, the first tenth of them to warm up
	soakSome    = 800000
)

// growth returns by what share memory grew from the first half of a run of n examples to the
// second, and whether that is too much: 1 % of a long run. In a short one a heap that is bounded
// still takes new pages up to the size at which it is collected, as if a byte or two were kept of
// each example: there it is half a word for each of those between the ends of both halves, of
// which a stream that is kept would take a word at least.
func growth(bytes [2]int64, n int) (share float64, tooMuch bool) {
	grown, allowed := bytes[1]-bytes[0], bytes[0]/100
	if *soak == 0 {
		allowed = max(allowed, int64(n)*9/20*4)
	}
	return float64(grown) / float64(max(1, bytes[0])), grown > allowed
}

// TestSoak: a stream through stdin leaves the process as it was, for each learner whose Traits
// bound what it keeps: the second half of what is behind the warm-up takes at most 1 % more memory
// than the first, and 5 % more time an example than a younger process takes at that time. .ci/soak
// runs it over 10^7 examples, and prints the table of docs/figures.md; without -soak it looks at
// the memory of some learners.
func TestSoak(t *testing.T) {
	if race.Enabled || testing.Short() {
		t.Skip("memory takes a long stream, and no race detector")
	}
	list := bounded(t)
	if *soak == 0 {
		list = slices.DeleteFunc(list, func(args []string) bool {
			return len(args) > 2 || args[1] != learner.Default() // the cheapest to run of all
		})
	}
	for _, args := range list {
		n := soakSome
		if *soak > 0 {
			const first = 20000
			before, err := soakRun(args, first, false)
			if err != nil {
				t.Errorf("%v: %v", args, err)
				continue
			}
			each := before.total / first
			n = int(min(int64(*soak), int64(*soakTime/max(1, each))))
		}
		r, err := soakRun(args, n, *soak > 0)
		if err != nil {
			t.Errorf("%v: %v", args, err)
			continue
		}
		grown, tooMuch := growth(r.bytes, n)
		if tooMuch {
			t.Errorf("%v: memory grows by %.1f %%, from %d bytes", args, 100*grown, r.bytes[0])
		}
		if *soak == 0 {
			continue
		}
		late, slowed := median(r.late), median(r.slowed)
		slower, least, most := slowed.Center-1, slowed.Lo-1, slowed.Hi-1
		t.Logf("| `%s` | %.2g | %.1f MiB | %+.2f | %.0f | %+.1f | %+.1f to %+.1f |",
			strings.Join(args[1:], " "), float64(n)/1e6, float64(r.bytes[1])/(1<<20), 100*grown,
			late.Center, 100*slower, 100*least, 100*most)
		if least > 0.05 {
			t.Errorf("%v: examples take %.1f %% more time than at first, %.1f at least", args,
				100*slower, 100*least)
		}
	}
}

// TestSoakJoin: so it is with what joins the parts of an ensemble: it holds all of it twice, and
// nothing that grows with the stream. .ci/soak runs it over 10^7 examples.
func TestSoakJoin(t *testing.T) {
	if race.Enabled || testing.Short() {
		t.Skip("memory takes a long stream, and no race detector")
	}
	n, dir := max(*soak, soakSome), t.TempDir()
	join := []string{"merge", "-q", "-m", filepath.Join(dir, "all"), "--data", "-"}
	for _, k := range []string{"1", "2"} {
		model, trace := filepath.Join(dir, k+".model"), filepath.Join(dir, k+".trace")
		part, err := startSoak([]string{"train", "-q", "--members", "128", "--shard", k + "/2",
			"--trace", trace, "-m", model, "-"}, n)
		if err != nil {
			t.Fatal(err)
		}
		defer part.kill()
		if err := part.feed(n); err != nil {
			t.Fatal(err)
		}
		if _, err := part.finish(); err != nil {
			t.Fatal(err)
		}
		join = append(join, model, "--trace", trace)
	}
	s, err := startSoak(join, n)
	if err != nil {
		t.Fatal(err)
	}
	defer s.kill()
	var bytes [2]int64 // in both halves of what is behind the warm-up
	for w := range soakWindows {
		if err := s.feed((w + 1) * n / soakWindows); err != nil {
			t.Fatal(err)
		}
		if w >= soakWindows/10 {
			i := min(1, w/(soakWindows*11/20))
			bytes[i] = max(bytes[i], s.resident())
		}
	}
	if _, err := s.finish(); err != nil {
		t.Fatal(err)
	}
	grown, tooMuch := growth(bytes, n)
	t.Logf("to join 2 parts of 64 members, %.2g examples: %.1f MiB, %+.2f %%", float64(n),
		float64(bytes[1])/(1<<20), 100*grown)
	if tooMuch {
		t.Errorf("memory grows by %.1f %%, from %d bytes", 100*grown, bytes[0])
	}
}

// bounded returns the flags of train for each learner of streams that keeps a bounded number of
// examples, or none, as it is and with a kernel. Numbers of examples, and of random features, are
// small ones.
func bounded(t *testing.T) (all [][]string) {
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, kernel := range []string{"", "rbf"} {
			c, args := e.Config(), []string{"-a", name}
			set := func(flag, value string) bool {
				for _, f := range settingsOf(c) {
					if _, idle := f.idle(settingsOf(c)); f.flag == flag && !idle {
						if f.text() == value {
							return true
						}
						args = append(args, "--"+flag, value)
						return f.set(value) == nil
					}
				}
				return false
			}
			has := slices.ContainsFunc(settingsOf(c), func(f field) bool {
				return f.flag == "kernel"
			})
			if kernel != "" && (!has || !set("kernel", kernel)) ||
				kernel == "" && has && !set("kernel", "linear") {
				continue
			}
			set("sigma", "1")
			set("rff", "64")
			for _, size := range c.Traits().Sizes {
				set(size, "30")
			}
			if t := c.Traits(); c.Validate() == nil && t.Stream && !t.Relative &&
				t.Keeps != learner.Any {
				all = append(all, args)
			}
		}
	}
	return all
}

// soaked is what a run took.
type soaked struct {
	bytes  [2]int64      // resident at most, in both halves of what is behind the warm-up
	late   []float64     // ns an example, by windows of the second half
	slowed []float64     // the same, divided by that of a younger process at that time
	total  time.Duration // CPU time
}

// median returns the median with its 95 % confidence interval.
func median(v []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(
		benchmath.NewSample(v, &benchmath.DefaultThresholds), 0.95)
}

// soakRun feeds train with so many examples of a stream that doesn't change: after changes a
// learner whose weights grow without bound makes more updates each time, and these take time. A
// machine's speed differs more from minute to minute than is looked for, so a second process,
// which begins when the first is half through, takes turns with it.
func soakRun(args []string, n int, beside bool) (r soaked, err error) {
	args = slices.Concat([]string{"train"}, args, []string{"--progress", "none", "--seed", "1",
		"-"})
	old, err := startSoak(args, n)
	if err != nil {
		return r, err
	}
	defer old.kill()
	const warm, half = soakWindows / 10, soakWindows * 11 / 20
	window := func(s *soaking, to int) (took float64, err error) {
		if !beside {
			return 0, s.feed(to * n / soakWindows)
		}
		before := s.still()
		err = s.feed(to * n / soakWindows)
		return float64(s.still()-before) * soakWindows / float64(n), err
	}
	var young *soaking
	for w := 0; w < soakWindows-1; w++ {
		late, err := window(old, w+1)
		if err != nil {
			return r, err
		}
		if w >= warm {
			i := min(1, w/half)
			r.bytes[i] = max(r.bytes[i], old.resident())
		}
		if w < half || !beside {
			continue
		}
		if young == nil {
			if young, err = startSoak(args, n); err != nil {
				return r, err
			}
			defer young.kill()
			if err := young.feed(warm * n / soakWindows); err != nil {
				return r, err
			}
		}
		early, err := window(young, w-half+warm+1)
		if err != nil {
			return r, err
		}
		r.late, r.slowed = append(r.late, late), append(r.slowed, late/early)
	}
	if err := old.feed(n); err != nil {
		return r, err
	}
	r.total, err = old.finish()
	return r, err
}

// soaking is a process that learns from its standard input, and the one that makes its examples.
type soaking struct {
	gen, train *exec.Cmd
	from       *bufio.Reader
	pipe       io.Closer // that to writes to
	to         *bufio.Writer
	talk       bytes.Buffer
	rows       int // so far
}

// startSoak starts the command with such arguments.
func startSoak(args []string, n int) (*soaking, error) {
	s := &soaking{
		gen: exec.Command("halfspace", "gen", "concepts", "-n", strconv.Itoa(n), "-d", "10",
			"--every", "2000000000", "--noise", "0.05"),
		train: exec.Command("halfspace", args...),
	}
	from, err := s.gen.StdoutPipe()
	if err != nil {
		return nil, err
	}
	to, err := s.train.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.from, s.pipe, s.to = bufio.NewReaderSize(from, 64<<10), to, bufio.NewWriterSize(to, 64<<10)
	s.train.Stderr = &s.talk
	if err := s.gen.Start(); err != nil {
		return nil, err
	}
	if err := s.train.Start(); err != nil {
		s.gen.Process.Kill()
		return nil, err
	}
	return s, nil
}

// feed passes rows on until there were so many in all.
func (s *soaking) feed(rows int) error {
	var err error
	for s.rows < rows && err == nil {
		var line []byte
		if line, err = s.from.ReadSlice('\n'); err == nil {
			s.rows++
			_, err = s.to.Write(line)
		}
	}
	if err == nil {
		err = s.to.Flush()
	}
	if err != nil {
		s.pipe.Close()
		s.train.Wait()
		return fmt.Errorf("%w: %s", err, &s.talk)
	}
	return nil
}

// still waits until the process has nothing to do, and returns its CPU time.
func (s *soaking) still() time.Duration {
	for last := cpuTime(s.train.Process.Pid); ; {
		time.Sleep(5 * time.Millisecond)
		now := cpuTime(s.train.Process.Pid)
		if now-last < 50*time.Microsecond {
			return now
		}
		last = now
	}
}

// resident is what the process has of memory, with as much of its file as is planned for: how much
// of that is there, used or not, is the system's choice.
func (s *soaking) resident() int64 {
	return machine.TextBytes + machine.KiBOf(
		fmt.Sprintf("/proc/%d/status", s.train.Process.Pid), "RssAnon:")
}

// finish ends the stream, and returns the CPU time of the process.
func (s *soaking) finish() (time.Duration, error) {
	s.pipe.Close()
	if err := s.train.Wait(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, &s.talk)
	}
	return s.train.ProcessState.UserTime() + s.train.ProcessState.SystemTime(), s.gen.Wait()
}

// kill ends what still runs.
func (s *soaking) kill() {
	for _, c := range []*exec.Cmd{s.gen, s.train} {
		if c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
	}
}

// cpuTime is what a process has taken so far.
func cpuTime(pid int) time.Duration {
	const sched = 2 // the clock of a process is (not pid) << 3 | CPUCLOCK_SCHED
	var ts syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|sched),
		uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano())
}
