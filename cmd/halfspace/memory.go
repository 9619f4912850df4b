package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learners"
)

// latencyReport is how long learning one example took, in nanoseconds.
type latencyReport struct {
	P50 int64 `json:"p50_ns"`
	P99 int64 `json:"p99_ns"`
	Max int64 `json:"max_ns"`
}

// newLatency holds times up to a minute to three digits.
func newLatency() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Minute), 3)
}

func reportLatency(h *hdrhistogram.Histogram) *latencyReport {
	return &latencyReport{P50: h.ValueAtQuantile(50), P99: h.ValueAtQuantile(99), Max: h.Max()}
}

// memoryReport is how --mem-budget was split, and what came of it.
type memoryReport struct {
	Budget  int64                 `json:"budget"`
	Program int64                 `json:"program"` // the program itself, and its reading
	Data    int64                 `json:"data"`    // examples read into memory
	Parts   []learners.MemoryPart `json:"parts"`   // of the learner
	Peak    int64                 `json:"peak"`    // most resident memory there was; 0 where the system doesn't say
}

func (m *memoryReport) planned() int64 { return m.Program + m.Data + learners.TotalMemory(m.Parts) }

func (m *memoryReport) String() string {
	s := []string{fmt.Sprintf("the program %s", inMiB(m.Program))}
	if m.Data > 0 {
		s = append(s, fmt.Sprintf("the examples %s", inMiB(m.Data)))
	}
	for _, p := range m.Parts {
		s = append(s, fmt.Sprintf("%d %s %s", p.Items, p.Name, inMiB(p.Bytes)))
	}
	return strings.Join(s, ", ")
}

// programBytes is what the program takes with what it reads ahead, without examples kept (resident, linux/amd64: 20 to 26 MiB).
const programBytes = 25 << 20

// planMemory splits --mem-budget before anything is learned: sizes that no flag gave are set to the largest that fit.
func planMemory[T engine.Float](t *trainer, in *reader[T]) error {
	c, ok := t.config.(learners.MemoryConfig)
	if t.memory == 0 || !ok {
		return nil
	}
	fs := t.cmd.Flags()
	budget := given(fs, "mem-budget")
	if !c.Bounded() {
		return usage("Bound what it keeps: --budget, and with tbp another --error-cache than all.", "%s with these settings grows with the stream: %s can't hold", t.learner, budget)
	}
	plan := &memoryReport{Budget: int64(t.memory), Program: programBytes}
	var sample *engine.Block[T]
	if mem, ok := in.source.(*eval.Memory[T]); ok {
		sample = mem.All()
		info, elem := in.info(), int64(unsafe.Sizeof(T(0)))
		if plan.Data = 2 * int64(info.Rows) * int64(sample.Stride+1) * elem; !sample.Dense() {
			plan.Data = 2 * (int64(info.Rows)*(8+elem) + info.NonZeros*(4+elem))
		}
	} else {
		first := &replay[T]{src: in.source}
		if first.block, first.err = in.source.Next(); first.err == nil {
			sample = first.block
		}
		in.source = first
	}
	if sample == nil {
		return nil // the run meets the error
	}
	elem := int64(unsafe.Sizeof(T(0)))
	example, err := learners.ExampleBytes[T](c, sample)
	if err != nil {
		return settingError(err)
	}
	rest := plan.Budget - plan.Program - plan.Data
	if sized := fs.Changed("budget") || fs.Changed("error-size") || fs.Changed("basis") || t.before != nil; !sized {
		if err := c.FitMemory(rest, example, elem); err != nil {
			return &fail{codeUsage, fmt.Errorf("%s %s: %w", budget, &t.memory, err), fmt.Sprintf("The program itself takes %s.", inMiB(plan.Program+plan.Data))}
		}
	}
	plan.Parts = c.Memory(example, elem)
	if len(plan.Parts) == 0 {
		return nil
	}
	if plan.planned() > plan.Budget {
		return usage("Lower --budget (and --error-size) or --basis, or leave them out: then they are as large as fits.", "%s %s: needed are %s: %s", budget, &t.memory, inMiB(plan.planned()), plan)
	}
	if most := machineMemory(); most > 0 && plan.planned() > most {
		return usage("Give less than that.", "%s %s: this machine has %s", budget, &t.memory, inMiB(most))
	}
	t.report.Memory = plan
	if !t.output.quiet {
		fmt.Fprintf(t.cmd.ErrOrStderr(), "memory: %s of %s: %s\n", inMiB(plan.planned()), &t.memory, plan)
	}
	// The collector works harder instead of taking more. What it doesn't manage is the program's text and the like.
	const unmanaged = 10 << 20
	debug.SetMemoryLimit(plan.planned() - unmanaged)
	return nil
}

// bounded gives the blocks of a source, but refuses those whose features take more memory than there may be.
type bounded[T engine.Float] struct {
	eval.Source[T]
	t   *trainer
	dim int // looked at so far
}

// Next is Source.Next.
func (s *bounded[T]) Next() (*engine.Block[T], error) {
	b, err := s.Source.Next()
	if err == nil && b.Dim > s.dim {
		s.dim = b.Dim
		err = checkFeatures[T](s.t, b.Dim)
	}
	return b, err
}

// checkFeatures refuses more features than --mem-budget, or three quarters of this machine's memory, have room for.
func checkFeatures[T engine.Float](t *trainer, dim int) error {
	need, most, who := int64(dim)*learners.FeatureBytes(t.config, int64(unsafe.Sizeof(T(0)))), machineMemory()/4*3, "three quarters of this machine's memory are"
	if t.memory > 0 && (most == 0 || int64(t.memory) < most) {
		most, who = int64(t.memory), given(t.cmd.Flags(), "mem-budget")+" is"
	}
	if most == 0 || need <= most {
		return nil
	}
	kept := "Nothing was saved."
	if t.saved > 0 {
		kept = fmt.Sprintf("The model after %d examples is in %s.", t.saved, t.model)
	}
	return &fail{codeFailed, fmt.Errorf("%s: %d features take %s, and %s %s", t.learner, dim, inMiB(need), who, inMiB(most)),
		kept + " Is the largest index right? Tables of features grow with it, whatever is between."}
}

// machineMemory returns the memory of this machine in bytes; 0 where the system doesn't tell.
func machineMemory() int64 { return kibOf("/proc/meminfo", "MemTotal:") }

// replay gives a block that was taken from a source before the others.
type replay[T engine.Float] struct {
	src   eval.Source[T]
	block *engine.Block[T]
	err   error
	gone  bool
}

// Next is Source.Next.
func (r *replay[T]) Next() (*engine.Block[T], error) {
	if r.gone {
		return r.src.Next()
	}
	r.gone = true
	return r.block, r.err
}

// peakMemory returns the most resident memory of this process so far, in bytes; 0 where the system doesn't tell.
func peakMemory() int64 { return kibOf("/proc/self/status", "VmHWM:") }

// kibOf returns the bytes that a line of a file of /proc tells in kB, or 0.
func kibOf(file, name string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	_, line, ok := bytes.Cut(text, []byte(name))
	if !ok {
		return 0
	}
	fields := bytes.Fields(line)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
