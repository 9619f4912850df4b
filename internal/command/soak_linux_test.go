package command

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

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
	soakWindows = 40 // in which memory and time are taken, the first tenth of them to warm up
	soakSome    = 100000
)

// TestSoak: a stream through stdin leaves the process as it was, for each learner whose Traits
// bound what it keeps: the second half of what is behind the warm-up takes at most 1 % more memory
// than the first, and 5 % more time an example. .ci/soak runs it over 10^7 examples, and prints
// the table of docs/figures.md; without -soak it looks at the memory of some learners.
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
			before, err := soakRun(args, first)
			if err != nil {
				t.Errorf("%v: %v", args, err)
				continue
			}
			each := before.total / first
			n = int(min(int64(*soak), int64(*soakTime/max(1, each))))
		}
		r, err := soakRun(args, n)
		if err != nil {
			t.Errorf("%v: %v", args, err)
			continue
		}
		t.Logf("| `%s` | %.2g | %.1f MiB | %+.2f %% | %.0f ns | %+.1f %% |", strings.Join(args[1:],
			" "), float64(n), float64(r.bytes[1])/(1<<20), 100*growth(r.bytes[0], r.bytes[1]),
			float64(r.each[0]), 100*growth(int64(r.each[0]), int64(r.each[1])))
		if g := growth(r.bytes[0], r.bytes[1]); g > 0.01 {
			t.Errorf("%v: memory grows by %.1f %%, from %d bytes", args, 100*g, r.bytes[0])
		}
		if g := growth(int64(r.each[0]), int64(r.each[1])); *soak > 0 && g > 0.05 {
			t.Errorf("%v: examples take %.1f %% more time, at first %v", args, 100*g, r.each[0])
		}
	}
}

func growth(from, to int64) float64 { return float64(to)/float64(max(1, from)) - 1 }

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

// soaked is what a run took, in the first half of what is behind the warm-up and in the second.
type soaked struct {
	bytes [2]int64         // resident at most
	each  [2]time.Duration // CPU time of an example: the lower quartile of the windows
	total time.Duration    // CPU time
}

// soakRun feeds train with so many examples of a stream that doesn't change: after changes a
// learner whose weights grow without bound makes more updates each time, and these take time.
func soakRun(args []string, n int) (r soaked, err error) {
	gen := exec.Command("halfspace", "gen", "concepts", "-n", strconv.Itoa(n), "-d", "10",
		"--every", "2000000000", "--noise", "0.05")
	train := exec.Command("halfspace", append(append([]string{"train"}, args...), "--progress",
		"none", "--seed", "1", "-")...)
	from, err := gen.StdoutPipe()
	if err != nil {
		return r, err
	}
	to, err := train.StdinPipe()
	if err != nil {
		return r, err
	}
	var talk bytes.Buffer
	train.Stderr = &talk
	if err := gen.Start(); err != nil {
		return r, err
	}
	if err := train.Start(); err != nil {
		return r, err
	}
	pid := train.Process.Pid
	var each [2][]time.Duration
	var clock time.Duration
	rows, next := 0, n/soakWindows
	buf := make([]byte, 64<<10)
	for in := bufio.NewReaderSize(from, 64<<10); ; {
		k, err := in.Read(buf)
		if err == io.EOF {
			break
		}
		if err == nil {
			rows += bytes.Count(buf[:k], []byte("\n"))
			_, err = to.Write(buf[:k])
		}
		if err != nil {
			train.Wait()
			return r, fmt.Errorf("%w: %s", err, &talk)
		}
		if rows < next {
			continue
		}
		window := rows * soakWindows / n
		next = (window + 1) * n / soakWindows
		now := cpuTime(pid)
		if window >= soakWindows/10 && rows < n {
			half := 0
			if window >= soakWindows*11/20 {
				half = 1
			}
			each[half] = append(each[half], (now-clock)*soakWindows/time.Duration(n))
			r.bytes[half] = max(r.bytes[half], kibOf(fmt.Sprintf("/proc/%d/status", pid),
				"VmRSS:"))
		}
		clock = now
	}
	to.Close()
	if err := train.Wait(); err != nil {
		return r, fmt.Errorf("%w: %s", err, &talk)
	}
	for i := range each {
		if slices.Sort(each[i]); len(each[i]) > 0 {
			r.each[i] = each[i][len(each[i])/4]
		}
	}
	r.total = train.ProcessState.UserTime() + train.ProcessState.SystemTime()
	return r, gen.Wait()
}

// cpuTime is what a process has taken so far.
func cpuTime(pid int) time.Duration {
	const sched = 2 // the clock of a process is (not pid) << 3 | CPUCLOCK_SCHED
	var ts syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|sched),
		uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano())
}
