package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learners"
)

// memoryReport is how --mem-budget was split, and what came of it.
type memoryReport struct {
	Budget  int64                 `json:"budget"`
	Program int64                 `json:"program"` // the program itself
	Reader  int64                 `json:"reader"`  // what is read ahead
	Data    int64                 `json:"data"`    // examples read into memory
	Parts   []learners.MemoryPart `json:"parts"`   // of the learner
	Moving  int64                 `json:"moving"`  // tables of the learner that are there twice while they grow or are copied for the model file
	Peak    int64                 `json:"peak"`    // most resident memory there was; 0 where the system doesn't say
}

func (m *memoryReport) planned() int64 {
	return m.Program + m.Reader + m.Data + m.Moving + learners.Footprint{Parts: m.Parts}.Held()
}

func (m *memoryReport) String() string {
	s := []string{fmt.Sprintf("the program %s", inMiB(m.Program))}
	add := func(bytes int64, what string) {
		if bytes >= 1<<16 {
			s = append(s, what+" "+inMiB(bytes))
		}
	}
	add(m.Reader, "reading")
	add(m.Data, "the examples")
	s = append(s, partsText(m.Parts)...)
	add(m.Moving, "what moves or is saved")
	return strings.Join(s, ", ")
}

// partsText tells of what counts among the parts.
func partsText(parts []learners.MemoryPart) (s []string) {
	rest := int64(0)
	for _, p := range parts {
		if p.Bytes < 1<<18 {
			rest += p.Bytes
			continue
		}
		s = append(s, fmt.Sprintf("%d %s %s", p.Items, p.Name, inMiB(p.Bytes)))
	}
	if rest >= 1<<16 {
		s = append(s, "tables "+inMiB(rest))
	}
	return s
}

// Of --mem-budget, measured on linux/amd64 (resident, Go 1.26): 17 to 19 MiB are the program's text
// and constants, which the collector doesn't manage, as far as they are used, and 3 to 4 MiB its
// runtime, flags and tables.
const (
	textBytes    = 18 << 20
	programBytes = textBytes + 4<<20
)

// leastReading is what reading takes at least.
const leastReading = 4 << 20

// readingShare is what a reader may take of that which the program leaves: a quarter of 64 MiB, an
// eighth of what is beyond; or what the longest line takes, if that was given (32 times its
// length).
func readingShare(left, line int64) int64 {
	share := max(leastReading, min(left, 64<<20)/4+max(0, left-64<<20)/8)
	return max(share, 32*line+dataset.MemoryBase)
}

// noteworthy is how much a learner may take without --mem-budget before it is told.
const noteworthy = 256 << 20

// passBytes is about how many bytes of memory a core goes over in a second.
const passBytes = 6e9

// plan knows what --mem-budget, or else this machine, has room for, and what the learner will take.
type plan[T engine.Float] struct {
	t      *trainer
	most   int64           // for all
	who    string          // says so
	report memoryReport    // its split
	x      learners.Extent // that the learner has room for
	seen   int64           // non-zeros so far
	rows   int64           // that have come
	told   int64           // bytes that were told
	gram   int64           // FitOptions.GramBytes
	kept   int64           // Env.Kept
	before int64           // bytes of the model of -i beyond what the examples so far ask for
	begun  bool            // a block has come
}

// newPlan makes the plan of what doesn't depend on the data, and sets the limits that the collector
// and the reader hold.
func newPlan[T engine.Float](t *trainer, inMemory bool) (*plan[T], error) {
	p := &plan[T]{t: t, x: learners.Extent{Elem: int64(unsafe.Sizeof(T(0))), Examples: learners.Any,
		NonZeros: learners.Any, Soft: t.softDelta > 0, Saved: t.model != ""}}
	p.report = memoryReport{Budget: int64(t.memory), Program: programBytes}
	machine, by := memoryLimit("/", addressSpace())
	if t.memory == 0 {
		p.most, p.who = machine/4*3, fmt.Sprintf("three quarters of what %s are", by.grants())
		if machine == 0 {
			p.most = math.MaxInt64
		} else if least := p.most - textBytes; least > 0 && least < debug.SetMemoryLimit(-1) {
			debug.SetMemoryLimit(least)
		}
		return p, nil
	}
	budget := given(t.cmd.Flags(), "mem-budget")
	p.most, p.who = int64(t.memory), budget+" is"
	readers := int64(1)
	if !inMemory && (len(t.test) > 0 || t.marginReport) {
		readers = 2 // the first has come to its end when the second begins, but has its memory yet
	}
	line := int64(0) // given
	if t.cmd.Flags().Changed("max-line") {
		line = t.opts.MaxLine
	}
	share, least := readingShare((p.most-programBytes)/readers, line), readers*readingShare(0, line)
	switch {
	case machine > 0 && p.most > machine:
		return nil, usage("Give less than that.", "%s %s: %s %s", budget, &t.memory,
			by.grants(), inMiB(machine))
	case p.most <= programBytes+least: // a learner takes something, too
		return nil, usage("Give more than that, by what the learner is to hold.",
			"%s %s: the program takes %s, and reading %s", budget, &t.memory, inMiB(programBytes),
			inMiB(least))
	}
	p.report.Reader = readers * share
	t.opts.Memory = share - dataset.MemoryBase
	debug.SetMemoryLimit(p.most - textBytes)
	return p, nil
}

// room is what the learner may take.
func (p *plan[T]) room() int64 {
	return p.most - p.report.Program - p.report.Reader - p.report.Data - p.before
}

// restored takes from the room what a learner that goes on holds beyond what the first examples ask
// for: features that were seen before.
func (p *plan[T]) restored(bytes int64) error {
	if p.t.memory == 0 {
		return nil
	}
	p.before = max(0, bytes-p.t.config.Memory(p.x).Held())
	return p.fits(p.x)
}

// roomForModel refuses a model to go on from that --mem-budget has no room to read: the file, what
// it says and the learner's copy of that are there at once.
func (t *trainer) roomForModel() error {
	info, err := os.Stat(t.from)
	if err != nil || t.memory == 0 { // loading tells what is wrong with it
		return nil
	}
	debug.SetMemoryLimit(int64(t.memory) - textBytes)
	if need := 3*info.Size() + programBytes; need > int64(t.memory) {
		return usage("Raise the budget.", "%s %s: going on from %s, a model of %s, takes %s",
			given(t.cmd.Flags(), "mem-budget"), &t.memory,
			t.from, inMiB(info.Size()), inMiB(need))
	}
	return nil
}

// whole makes the plan for a data set in memory, beside which there are so many bytes of another
// for the test.
func (p *plan[T]) whole(b *engine.Block[T], test int64) error {
	t := p.t
	x := dataExtent(b)
	x.Soft, x.Saved = p.x.Soft, p.x.Saved
	x.Whole = t.whole() || t.fitting()
	t.large = t.large || dataBytes(x) >= noteworthy
	if t.memory > 0 || t.large {
		debug.FreeOSMemory() // what they were put together from
	}
	p.report.Reader, p.report.Data, p.begun = 0, dataBytes(x)+test, true
	if t.shuffle {
		p.report.Data += 4 * x.Examples
	}
	sample := b.Slice(0, min(b.Len(), sampleRows))
	return p.settle(x, &sample)
}

// sampleRows are looked at for what a kept example takes.
const sampleRows = 4096

// dataExtent is that of a whole data set.
func dataExtent[T engine.Float](b *engine.Block[T]) learners.Extent {
	x := extent(b)
	x.Features, x.Examples, x.Dense, x.Elem = int64(b.Dim), int64(b.Len()), b.Dense(),
		int64(unsafe.Sizeof(T(0)))
	return x
}

// admit makes the plan for the first block of a stream, and looks at each further one whether the
// learner has room for it.
func (p *plan[T]) admit(b *engine.Block[T]) error {
	if b.Len() == 0 {
		return nil
	}
	x := p.x
	p.rows += int64(b.Len())
	x.Dense = b.Dense()
	if dim := int64(b.Dim); dim > x.Features {
		x.Features, x.Growing = dim, p.begun
	}
	come := extent(b)
	x.Longest = max(x.Longest, come.Longest)
	p.seen += come.NonZeros
	if !p.begun {
		x.NonZeros = p.seen
		p.begun = true
		return p.settle(x, b)
	}
	if x.NonZeros = max(p.x.NonZeros, p.seen); x == p.x {
		return nil
	}
	if p.seen > p.x.NonZeros { // look again when there are twice as many, not at every block
		more := x
		if more.NonZeros = 2 * p.seen; p.fits(more) == nil {
			x = more
		}
	}
	if err := p.fits(x); err != nil {
		return err
	}
	if f := p.t.config.Memory(x); x.Features > p.x.Features && f.Moving >= 1<<20 {
		p.t.collect() // tables that were there twice the last time go before the next ones move
	}
	p.x = x
	return nil
}

// extent returns what of it a block decides.
func extent[T engine.Float](b *engine.Block[T]) (x learners.Extent) {
	if b.Dense() {
		return learners.Extent{Longest: int64(b.Dim), NonZeros: int64(b.Dim) * int64(b.Len())}
	}
	x.NonZeros = int64(b.Ptr[b.Len()] - b.Ptr[0])
	for i := range b.Len() {
		x.Longest = max(x.Longest, int64(b.Ptr[i+1]-b.Ptr[i]))
	}
	return x
}

// fits returns an error if the learner has no room for data of that extent, and tells when it will
// take much.
func (p *plan[T]) fits(x learners.Extent) error {
	t := p.t
	if t.memory == 0 && x.Examples == learners.Any && t.config.Traits().Keeps == learners.Any {
		x.Examples = p.rows // what is kept grows with the stream, so far to this
	}
	f := t.config.Memory(x)
	peak, twice := f.Peak(), max(f.Moving, f.Copies)
	t.large = t.large || peak >= noteworthy
	what := fmt.Sprintf("%d features", x.Features)
	if x.Whole {
		what = fmt.Sprintf("%d examples of %d features", x.Examples, x.Features)
	}
	if left := p.room(); peak > left {
		next := " Is the largest index right? Tables of features grow with it, whatever is between."
		if x.Features < 1<<20 {
			next = " Raise the limit, or take a learner or settings that hold less."
		}
		if t.config.Traits().Keeps > 0 && x.Kept > 0 {
			next = keptSizes
		}
		parts := partsText(f.Parts)
		if twice >= 1<<16 {
			parts = append(parts, "what moves or is saved "+inMiB(twice))
		}
		return &fail{codeFailed,
			fmt.Errorf("%s: %s take %s (%s), and %s %s, of which the learner may take %s",
				t.learner, what, inMiB(peak), strings.Join(parts, ", "),
				p.who, inMiB(p.most), inMiB(max(0, left))), upper(t.kept()) + "." + next}
	}
	if held := f.Held(); t.memory == 0 && held >= noteworthy && held >= 2*p.told &&
		!t.output.quiet {
		p.told = held
		each := ""
		if f.Each >= noteworthy {
			each = fmt.Sprintf("; each example goes over %s of it, which takes some %.1f s",
				inMiB(f.Each), float64(f.Each)/passBytes)
		}
		fmt.Fprintf(t.cmd.ErrOrStderr(), "memory: %s with %s takes %s%s\n", t.learner, what,
			inMiB(held), each)
	}
	return nil
}

// collect makes room for a copy of what was learned, or of its tables, where these are large or
// memory is short: the collector alone would find the last one only when the next is there.
func (t *trainer) collect() {
	if t.memory > 0 || t.large {
		runtime.GC()
	}
}

// keptSizes is what to do where later examples are larger than the first ones.
const keptSizes = " What is kept was sized by the first examples: set --budget, --error-size or " +
	"--basis lower than that, or raise --mem-budget."

// settle sizes what the learner keeps that wasn't sized by flags, and makes the split.
func (p *plan[T]) settle(x learners.Extent, sample *engine.Block[T]) error {
	t := p.t
	fs := t.cmd.Flags()
	if t.memory > 0 && t.config.Traits().Keeps > 0 {
		if err := p.keep(&x, sample); err != nil {
			return err
		}
	}
	if x.Whole { // kernel values have what all else leaves
		x.Gram = -1
		peak := t.config.Memory(x).Peak()
		if x.Gram = learners.DefaultGramBytes; t.memory > 0 {
			left := p.room() - peak // holds the least of rows that went for others already
			x.Gram = max(left, leastGram)
			if t.config.Memory(x).Peak() > p.room() {
				x.Gram = max(min(left, (left+4<<20)*2/3), leastGram)
			}
		}
		p.gram = x.Gram
	}
	// it runs beside the learner, when that has come to its end
	if t.marginSVM && t.memory > 0 && x.Examples < learners.Any {
		own, svm := x, x
		own.Whole, svm.Whole, svm.Gram = false, true, -1
		left := p.room() - t.config.Memory(own).Held() -
			(&learners.SVMConfig{Norm: 1}).Memory(svm).Peak()
		if t.marginGram = left; left < leastGram {
			return usage("Raise the budget, or leave "+given(fs, "margin-svm")+" out.",
				"%s %s: no room is left for the svm", given(fs, "mem-budget"), &t.memory)
		}
	}
	if err := p.fits(x); err != nil {
		return err
	}
	p.x = x
	if t.memory == 0 {
		return nil
	}
	f := t.config.Memory(x)
	p.report.Parts, p.report.Moving = f.Parts, max(f.Moving, f.Copies)
	t.report.Memory = &p.report
	if p.report.planned() > p.most { // fits has seen to it
		return fmt.Errorf("%s: %s planned of %s", given(fs, "mem-budget"),
			inMiB(p.report.planned()), inMiB(p.most))
	}
	if !t.output.quiet {
		fmt.Fprintf(t.cmd.ErrOrStderr(), "memory: %s of %s: %s\n", inMiB(p.report.planned()),
			&t.memory, &p.report)
	}
	return nil
}

// leastGram is room for some kernel rows.
const leastGram = 1 << 20

// keep sizes what is kept of examples like those of sample.
func (p *plan[T]) keep(x *learners.Extent, sample *engine.Block[T]) error {
	t := p.t
	c, traits := t.config, t.config.Traits()
	fs := t.cmd.Flags()
	budget := given(fs, "mem-budget")
	if traits.Keeps == learners.Any && x.Examples == learners.Any {
		return usage("Bound what it keeps: --budget, and with tbp another --error-cache than all.",
			"%s with these settings grows with the stream: %s can't hold", t.learner, budget)
	}
	mean, largest, err := learners.KeptExample[T](c, sample)
	if err != nil {
		return settingError(err)
	}
	sized := traits.Keeps == learners.Any || t.before != nil || traits.FitMemory == nil ||
		slices.ContainsFunc(traits.Sizes, fs.Changed)
	if !sized {
		// An eighth is for features to come and for what the collector has to let lie for a while.
		d, err := traits.FitMemory(p.room()-p.room()/8, *x, mean, largest)
		if err != nil {
			return usage("Give more, or take a learner that keeps no examples.",
				"%s with one kept example takes more than the %s that %s %s leaves for it: %w",
				t.learner, inMiB(max(0, p.room())), budget, &t.memory, err)
		}
		t.config, c, traits = d, d, d.Traits()
	}
	x.Kept = learners.KeptRoom(min(traits.Keeps, x.Examples), mean, largest)
	f := c.Memory(*x)
	if left := p.room() - f.Peak(); left >= 0 {
		x.Kept += left / 2 // for examples that are larger than the first ones
	} else {
		p.report.Parts, p.report.Moving = f.Parts, max(f.Moving, f.Copies)
		return usage("Lower --budget (and --error-size) or --basis, or leave them out: then they "+
			"are as large as fits.", "%s %s: needed are %s: %s",
			budget, &t.memory, inMiB(p.report.planned()), &p.report)
	}
	p.kept = x.Kept
	return nil
}

// dataBytes returns what the examples take in memory, and take once more while they are put
// together.
func dataBytes(x learners.Extent) int64 {
	if x.Dense {
		return x.Examples * (x.Features + 64/x.Elem + 1) * x.Elem
	}
	return x.Examples*(8+x.Elem) + x.NonZeros*(4+x.Elem) // offset, label; index, value
}

// begin makes the plan for the examples, and sets what is kept of them.
func (p *plan[T]) begin(in *reader[T], test int64) error {
	if mem, ok := in.source.(*eval.Memory[T]); ok {
		return p.whole(mem.All(), test)
	}
	in.source = &planned[T]{in.source, p}
	if p.t.memory == 0 {
		return nil
	}
	first := &replay[T]{src: in.source}
	first.block, first.err = in.source.Next()
	in.source = first
	if refused := (*fail)(nil); errors.As(first.err, &refused) {
		return first.err
	}
	return nil // the run meets any other error
}

// measure counts what the files hold, in a pass that keeps nothing, and refuses them if reading
// them into memory would take more than --mem-budget. The count stops where the budget ends. It
// returns what the test examples will take.
func (p *plan[T]) measure(ctx context.Context) (test int64, err error) {
	t := p.t
	if t.memory == 0 {
		return 0, nil
	}
	if info, err := os.Stat(t.from); t.from != "" && err == nil { // lies there meanwhile
		p.before = info.Size()
		defer func() { p.before = 0 }()
		t.collect()
	}
	var train int64
	for _, files := range [][]string{t.files, t.test} {
		if len(files) == 0 {
			continue
		}
		if slices.Contains(files, "-") {
			return 0, usage("Put the examples into a file, or leave the flag out.",
				"%s: what comes from stdin can't be measured before it is read",
				given(t.cmd.Flags(), "mem-budget"))
		}
		bytes, err := p.count(ctx, files, train)
		if err != nil {
			return 0, t.unread(ctx, err)
		}
		if train+2*bytes > p.room() { // those that are being put together are there twice
			return 0, &fail{codeFailed,
				fmt.Errorf("%s: reading it into memory takes more than the %s that %s %s "+
					"leaves for it",
					strings.Join(files, " "),
					inMiB(max(0, p.room())), given(t.cmd.Flags(), "mem-budget"), &t.memory),
				"Raise the budget, or learn from the stream: one epoch without --shuffle, " +
					"--until-converged and --normalize max."}
		}
		train, test = train+bytes, bytes
	}
	if len(t.test) == 0 {
		test = 0
	}
	return test, nil
}

// count returns what the examples in the files will take beside so many bytes, or more than there
// is room for.
func (p *plan[T]) count(ctx context.Context, files []string, beside int64) (int64, error) {
	bytes := int64(0)
	// Labels take the same room whatever they are, and values whatever they are divided by.
	o := p.t.opts
	o.Labels, o.Positive, o.Normalize, o.OnBad = &dataset.LabelMap{Positive: "+1"}, "", "none", nil
	s, err := await(ctx, func() (*dataset.Stream[T], error) {
		return dataset.Open[T](ctx, files, o)
	})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for {
		b, err := s.Next()
		if err == io.EOF {
			return bytes, nil
		}
		if err != nil {
			return 0, err
		}
		info := s.Info()
		bytes = dataBytes(learners.Extent{Features: int64(b.Dim), Examples: int64(info.Rows),
			NonZeros: info.NonZeros, Elem: p.x.Elem, Dense: b.Dense()})
		if beside+2*bytes > p.room() {
			return bytes, nil
		}
	}
}

// planned gives the blocks of a stream, but refuses those for which there is no room.
type planned[T engine.Float] struct {
	eval.Source[T]
	plan *plan[T]
}

// Next is Source.Next.
func (s *planned[T]) Next() (*engine.Block[T], error) {
	b, err := s.Source.Next()
	if err == nil {
		err = s.plan.admit(b)
	}
	return b, err
}

// Wait is eval.Waiter's.
func (s *planned[T]) Wait(d time.Duration) bool { return eval.Wait(s.Source, d) }

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

// Wait is eval.Waiter's.
func (r *replay[T]) Wait(d time.Duration) bool { return !r.gone || eval.Wait(r.src, d) }

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
