package command

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// doctorReport is what doctor prints with --json.
type doctorReport struct {
	Schema          string       `json:"schema"`
	CPU             string       `json:"cpu"`
	Features        []string     `json:"features"` // those that a kernel could use
	Impl            string       `json:"impl"`
	Why             string       `json:"why"`
	Implementations []implReport `json:"implementations"`
	Threads         int          `json:"threads"` // that commands use by default
	Cores           coresReport  `json:"cores"`
	Caches          cachesReport `json:"caches"`
	Memory          memoryReach  `json:"memory"`
	Bandwidth       []bandwidth  `json:"memory_bandwidth"`
	OS              string       `json:"os"`
	Arch            string       `json:"arch"`
}

type implReport struct {
	Name      string   `json:"name"`
	Supported bool     `json:"supported"`
	Missing   []string `json:"missing,omitempty"`
	SelfTest  string   `json:"selftest"` // passed, not run, or what failed
}

type coresReport struct {
	Physical int `json:"physical"` // 0: not known
	Logical  int `json:"logical"`
}

// cachesReport is in bytes; 0 or -1: not known.
type cachesReport struct {
	Line int `json:"line"`
	L1D  int `json:"l1d"`
	L1I  int `json:"l1i"`
	L2   int `json:"l2"`
	L3   int `json:"l3"`
}

// memoryReach is what a process may take.
type memoryReach struct {
	Limit int64           `json:"limit"` // bytes; 0: not known
	By    machine.Limiter `json:"by"`    // this machine, the control group or ulimit -v
}

type bandwidth struct {
	Threads     int     `json:"threads"`
	BytesPerSec float64 `json:"bytes_per_second"`
}

func newDoctorCmd() *cobra.Command {
	var output printFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine: CPU, kernels and their self-tests, caches, memory",
		Long: `Check this machine: CPU, caches, threads, memory bandwidth, and the
implementations of the numeric kernels.

Every implementation that the machine supports is compared with the reference, bit for bit. A
difference gives exit code 1.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := examine()
			if e := output.print(cmd, r, r.print); e != nil {
				return e
			}
			return err
		},
	}
	output.jsonFlag(cmd.Flags())
	return cmd
}

func examine() (doctorReport, error) {
	c := &cpuid.CPU
	r := doctorReport{
		Schema: schema, CPU: c.BrandName, Features: usefulFeatures(),
		Impl: vecmath.Active().String(), Why: vecmath.Why(),
		Threads: runtime.GOMAXPROCS(0),
		Cores:   coresReport{c.PhysicalCores, runtime.NumCPU()},
		Caches:  cachesReport{c.CacheLine, c.Cache.L1D, c.Cache.L1I, c.Cache.L2, c.Cache.L3},
		OS:      runtime.GOOS, Arch: runtime.GOARCH,
	}
	if r.CPU == "" {
		r.CPU = "unnamed " + runtime.GOARCH
	}
	var failed []string
	for _, im := range vecmath.Implementations() {
		test := "not run"
		if im.Supported {
			test = "passed"
			if err := vecmath.SelfTest(im.Name); err != nil {
				test = err.Error()
				failed = append(failed, im.Name)
			}
		}
		r.Implementations = append(r.Implementations, implReport{im.Name, im.Supported, im.Missing,
			test})
	}
	r.Memory.Limit, r.Memory.By = machine.Limit()
	for _, n := range slices.Compact([]int{1, r.Threads}) {
		r.Bandwidth = append(r.Bandwidth, bandwidth{n, readBandwidth(n)})
	}
	if len(failed) > 0 {
		return r, &fail{CodeFailed, fmt.Errorf("the self-test of %s failed", strings.Join(failed,
			", ")),
			"Results may be wrong: work with --impl generic, and report the line above with the " +
				"CPU's name."}
	}
	return r, nil
}

// print prints the report for people.
func (r *doctorReport) print(w io.Writer) error {
	var rows summaryRows
	rows.add("cpu", "%s", r.CPU)
	rows.add("features", "%s", strings.Join(r.Features, " "))
	rows.add("cores", "%s physical, %d logical", known(r.Cores.Physical, ""), r.Cores.Logical)
	rows.add("threads", "%d", r.Threads)
	rows.add("caches", "L1d %s, L1i %s, L2 %s, L3 %s, line %s", known(r.Caches.L1D, "B"),
		known(r.Caches.L1I, "B"), known(r.Caches.L2, "B"), known(r.Caches.L3, "B"),
		known(r.Caches.Line, "B"))
	if r.Memory.Limit > 0 {
		rows.add("memory", "%s %s", r.Memory.By.Grants(), inMiB(r.Memory.Limit))
	}
	for _, b := range r.Bandwidth {
		rows.add("memory", "%.1f GB/s read by %s", b.BytesPerSec/1e9, Plural(b.Threads, "thread"))
	}
	rows.add("chosen", "%s (%s)", r.Impl, r.Why)
	for _, im := range r.Implementations {
		if im.Supported {
			rows.add(im.Name, "self-test %s", im.SelfTest)
		} else {
			rows.add(im.Name, "not supported: this machine lacks %s",
				strings.Join(im.Missing, ", "))
		}
	}
	return rows.write(w)
}

// known is a count, in bytes with their unit if that is B, or a question mark if the machine
// doesn't tell.
func known(n int, unit string) string {
	switch {
	case n <= 0:
		return "?"
	case unit == "":
		return fmt.Sprint(n)
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// Plural is a number of things.
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// usefulFeatures are the CPU features present that numeric kernels are built on.
func usefulFeatures() []string {
	list := []string{}
	for _, id := range []cpuid.FeatureID{
		cpuid.SSE2, cpuid.SSE42, cpuid.AVX, cpuid.AVX2, cpuid.FMA3, cpuid.BMI2, cpuid.F16C,
		cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512BF16,
		cpuid.AVX512FP16, cpuid.AVX512VNNI, cpuid.AVXVNNI,
		cpuid.ASIMD, cpuid.ASIMDHP, cpuid.ASIMDDP, cpuid.SVE,
	} {
		if cpuid.CPU.Supports(id) {
			list = append(list, id.String())
		}
	}
	return list
}

// readBandwidth reads 64 MiB a thread with the sum-of-squares kernel, as often as fits 50 ms, and
// returns bytes per second of the best round.
func readBandwidth(threads int) float64 {
	const n = 64 << 20 / 4
	data := make([][]float32, threads)
	for t := range data {
		data[t] = make([]float32, n)
		for i := range data[t] {
			data[t][i] = 1 // touched, so that the pages are there
		}
	}
	best := 0.0
	for begin := time.Now(); best == 0 || time.Since(begin) < 50*time.Millisecond; {
		var all sync.WaitGroup
		start := time.Now()
		for _, d := range data {
			all.Go(func() { vecmath.SumSq(d) })
		}
		all.Wait()
		best = max(best, float64(threads)*4*n/time.Since(start).Seconds())
	}
	return best
}
