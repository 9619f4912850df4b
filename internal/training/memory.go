package training

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
)

// Machine is the memory that there is for the process of a run. The zero value is as much as
// a run wants, none of it in use by anything else.
type Machine struct {
	Bytes   int64  // that the process may take; 0: not known
	By      string // who says so; "": "this machine has"
	Program int64  // what the process takes beside the run

	// Limit, if not nil, is called with the bytes that the process is to keep within: it sets the
	// limit of Go's collector, which is the process's, not a run's.
	Limit func(bytes int64)
	// Peak, if there, returns the most resident memory of the process so far.
	Peak func() int64
}

// says is By.
func (m *Machine) says() string {
	if m.By == "" {
		return "this machine has"
	}
	return m.By
}

// Split is how Options.MemBudget was split, and what came of it, in bytes.
type Split struct {
	Budget  int64 `json:"budget"`
	Program int64 `json:"program"` // the program itself
	// what is read ahead; of examples that were read into memory before learning began, what this
	// took beyond what learning takes
	Reader int64 `json:"reader"`
	Data   int64 `json:"data"` // examples read into memory
	// What is tallied: bins of scores, a window; and, with Delay, examples that wait for labels.
	Metrics int64                `json:"metrics"`
	Scales  int64                `json:"scales"` // what is known of the features' scale, twice
	Parts   []learner.MemoryPart `json:"parts"`  // of the learner
	// Tables of the learner that are there twice, while they grow or are copied for the model file.
	Moving int64 `json:"moving"`
	// The most resident memory until learning ended; 0 where Machine doesn't say.
	Peak int64 `json:"peak"`
}

// Planned returns the sum of what is planned.
func (m *Split) Planned() int64 {
	return m.Program + m.Reader + m.Data + m.Metrics + m.Scales + m.Moving +
		learner.Footprint{Parts: m.Parts}.Held()
}

// String lists what counts of it.
func (m *Split) String() string {
	s := []string{fmt.Sprintf("the program %s", inMiB(m.Program))}
	add := func(bytes int64, what string) {
		if bytes >= 1<<16 {
			s = append(s, what+" "+inMiB(bytes))
		}
	}
	add(m.Reader, "reading")
	add(m.Data, "the examples")
	add(m.Metrics, "metrics and what waits for labels")
	add(m.Scales, "scales of features")
	s = append(s, partsText(m.Parts)...)
	add(m.Moving, "what moves or is saved")
	return strings.Join(s, ", ")
}

// partsText lists the larger parts, each as text.
func partsText(parts []learner.MemoryPart) (s []string) {
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

// Need is how much a learner takes that takes much, without a budget.
type Need struct {
	Learner string
	What    string // "9 features", "10 examples of 9 features"
	Held    int64  // bytes, at most: features that are rare, or zeros, may take less
	Each    int64  // of them, what is gone over for each example
}

// leastReading is what reading is given at least, in bytes.
const leastReading = 4 << 20

// readingShare is what a reader may take, in bytes, of what the program leaves: a quarter of the
// first 64 MiB and an eighth of what is beyond, since reading ahead pays up to some MiB only, and
// the learner has use for all the rest. If the longest line was given, it is 32 times that at
// least: its text is there while it is cut, and its values, of several bytes each, while it is
// parsed.
func readingShare(left, line int64) int64 {
	share := max(leastReading, min(left, 64<<20)/4+max(0, left-64<<20)/8)
	return max(share, 32*line+dataset.MemoryBase)
}

// readingShare is what each of so many readers may take of MemBudget, in bytes.
func (o *Options) readingShare(m *Machine, readers int64) int64 {
	return readingShare((int64(o.MemBudget)-m.Program)/readers, o.longestLine())
}

// longestLine is MaxLine as package dataset has it.
func (o *Options) longestLine() int64 { return min(int64(o.MaxLine), 1<<30) }

// noteworthy is from how many bytes on, without a budget, Observer.Needs is called, and memory
// is given back to the system at once where it is no longer needed.
const noteworthy = 256 << 20

// leastGram is room for some kernel rows, in bytes: a solver needs two at a time to go on at all.
const leastGram = 1 << 20

// sampleRows is how many of the first examples are looked at for how many bytes a kept one takes:
// enough for a mean, and few beside what learning them costs.
const sampleRows = 4096

// room knows what Options.MemBudget, or else the machine, has room for, and what the learner will
// take. Memory is planned before it is taken: by the first block of a stream or by the whole data
// set, and anew at each block that has more features or non-zeros than was planned for. So what has
// no room is an error, before the learner asks the system for it.
//
// The budget is split in this order: the program, reading, examples in memory, then all the rest to
// the learner; of that kept examples are sized last, as only they can be.
type room[T engine.Float] struct {
	j      *Job
	most   int64          // bytes for all: MemBudget, else three quarters of the machine's
	who    string         // what sets most, for errors: "{mem_budget} is"
	split  Split          // what is planned so far
	reader int64          // bytes that the reader may take now
	loaded int64          // bytes there were while examples were read into memory
	x      learner.Extent // that the learner has room for
	seen   int64          // non-zeros of the stream so far
	rows   int64          // examples of the stream so far
	noted  int64          // bytes in the last call of Needs
	gram   int64          // FitOptions.GramBytes
	svm    int64          // the same, for the largest margin of MarginSVM; 0: the default
	kept   int64          // Env.Kept
	before int64          // bytes of the model of From beyond what the examples so far ask for
	begun  bool           // a block has come
}

// newRoom plans what doesn't depend on the data, and sets the limits that the collector and the
// reader keep.
func newRoom[T engine.Float](j *Job, inMemory bool) (*room[T], error) {
	o, machine := &j.o, &j.env.Machine
	r := &room[T]{j: j, x: learner.Extent{Elem: int64(unsafe.Sizeof(T(0))), Examples: learner.Any,
		NonZeros: learner.Any, Soft: o.SoftDelta > 0, Saved: o.Model != ""}}
	r.split = Split{Budget: int64(o.MemBudget), Program: machine.Program}
	if o.MemBudget == 0 {
		// a quarter is for what isn't planned: reading, and garbage not collected yet
		r.most, r.who = machine.Bytes/4*3, fmt.Sprintf("three quarters of what %s are",
			machine.says())
		if machine.Bytes == 0 {
			r.most = math.MaxInt64
		} else {
			machine.limit(r.most)
		}
		return r, nil
	}
	r.most, r.who = int64(o.MemBudget), "{mem_budget} is"
	readers := int64(1)
	if !inMemory && (len(o.Test) > 0 || o.MarginReport) {
		readers = 2 // the first has come to its end when the second begins, but has its memory yet
	}
	share := o.readingShare(machine, readers)
	least := readers * readingShare(0, o.longestLine())
	switch {
	case machine.Bytes > 0 && r.most > machine.Bytes:
		return nil, badOption("Give less than that.", "{mem_budget} %s: %s %s", o.MemBudget,
			machine.says(), inMiB(machine.Bytes))
	case r.most <= machine.Program+least: // a learner takes something, too
		return nil, badOption("Give more than that, by what the learner is to hold.",
			"{mem_budget} %s: the program takes %s, and reading %s", o.MemBudget,
			inMiB(machine.Program), inMiB(least))
	}
	r.reader = readers * share
	r.split.Reader = r.reader
	j.data.Memory = share - dataset.MemoryBase
	machine.limit(r.most)
	return r, nil
}

func (m *Machine) limit(bytes int64) {
	if m.Limit != nil {
		m.Limit(bytes)
	}
}

// left is what the learner may take.
func (r *room[T]) left() int64 {
	return r.most - r.split.Program - r.reader - r.split.Data - r.split.Metrics -
		r.split.Scales - r.before
}

// restored takes from the room what a learner that goes on holds beyond what the first examples ask
// for: features that were seen before.
func (r *room[T]) restored(bytes int64) error {
	if r.j.o.MemBudget == 0 {
		return nil
	}
	r.before = max(0, bytes-r.j.config.Traits().Memory(r.x).Held())
	return r.fits(r.x)
}

// roomForModel refuses a model to go on from that the budget has no room to read: the file, what it
// says and the learner's copy of that are there at once.
func (o *Options) roomForModel(m *Machine) error {
	info, err := os.Stat(o.From)
	if err != nil || o.MemBudget == 0 { // loading reports what is wrong with it
		return nil
	}
	m.limit(int64(o.MemBudget))
	if need := 3*info.Size() + m.Program; need > int64(o.MemBudget) {
		return badOption("Raise the budget.",
			"{mem_budget} %s: going on from %s, a model of %s, takes %s", o.MemBudget, o.From,
			inMiB(info.Size()), inMiB(need))
	}
	return nil
}

// whole plans for a data set in memory, beside which there are so many bytes of another for the
// test.
func (r *room[T]) whole(mem *eval.Memory[T], test int64) error {
	j := r.j
	var sample engine.Block[T]
	var x learner.Extent
	for b := range mem.Blocks() {
		x, sample = dataExtent(b, mem.Len()), b.Slice(0, min(b.Len(), sampleRows))
		break
	}
	train := held(mem)
	x.Soft, x.Saved, x.Classes = r.x.Soft, r.x.Saved, r.x.Classes
	x.Whole = j.Whole()
	j.large = j.large || train >= noteworthy
	if j.o.MemBudget > 0 || j.large {
		debug.FreeOSMemory() // what they were put together from
	}
	// the examples are there twice while they are put together, and so is the test after them
	r.loaded = r.reader + train + max(train, 2*test)
	r.reader, r.split.Data, r.begun = 0, train+test, true
	if j.o.Shuffle {
		r.split.Data += 4 * x.Examples // the order, an int32 an example
	}
	return r.settle(x, &sample)
}

// dataExtent is that of a whole data set of n examples, of which b are all or, of dense ones, some.
func dataExtent[T engine.Float](b *engine.Block[T], n int) learner.Extent {
	x := extent(b)
	x.Features, x.Examples, x.Dense, x.Elem = int64(b.Dim), int64(n), b.Dense(),
		int64(unsafe.Sizeof(T(0)))
	if x.Dense {
		x.NonZeros = x.Features * x.Examples
	}
	return x
}

// admit plans for the first block of a stream, and looks at each further one whether the learner
// has room for it.
func (r *room[T]) admit(b *engine.Block[T]) error {
	if b.Len() == 0 {
		return nil
	}
	x := r.x
	r.rows += int64(b.Len())
	x.Dense = b.Dense()
	if dim := int64(b.Dim); dim > x.Features {
		x.Features, x.Growing = dim, r.begun
	}
	for _, class := range b.Class {
		x.Classes = max(x.Classes, int64(class)+1)
	}
	come := extent(b)
	x.Longest = max(x.Longest, come.Longest)
	r.seen += come.NonZeros
	if !r.begun {
		x.NonZeros = r.seen
		r.begun = true
		return r.settle(x, b)
	}
	if x.NonZeros = max(r.x.NonZeros, r.seen); x == r.x {
		return nil
	}
	if r.seen > r.x.NonZeros { // look again when there are twice as many, not at every block
		more := x
		if more.NonZeros = 2 * r.seen; r.fits(more) == nil {
			x = more
		}
	}
	if err := r.fits(x); err != nil {
		return err
	}
	if f := r.j.config.Traits().Memory(x); x.Features > r.x.Features && f.Moving >= 1<<20 {
		r.j.collect() // tables that were there twice the last time go before the next ones move
	}
	r.x = x
	return nil
}

// extent returns what of it a block decides.
func extent[T engine.Float](b *engine.Block[T]) (x learner.Extent) {
	if b.Dense() {
		return learner.Extent{Longest: int64(b.Dim), NonZeros: int64(b.Dim) * int64(b.Len())}
	}
	x.NonZeros = int64(b.Ptr[b.Len()] - b.Ptr[0])
	for i := range b.Len() {
		x.Longest = max(x.Longest, int64(b.Ptr[i+1]-b.Ptr[i]))
	}
	return x
}

// KeptSizes says what to do where kept examples are larger than the first ones, by which what is
// kept was sized: where the learner returns learner.ErrMemory, say.
func KeptSizes(c learner.Config, name func(field string) string) string {
	return render(mark(keptSizes(c.Traits())), name)
}

func keptSizes(t learner.Traits) string {
	return "What is kept was sized by the first examples: set " + fieldsOf(t.Sizes) +
		" lower than that, or raise {mem_budget}."
}

// fits returns an error if the learner has no room for data of that extent, and calls Needs when it
// will take much.
func (r *room[T]) fits(x learner.Extent) error {
	j := r.j
	if j.o.MemBudget == 0 && x.Examples == learner.Any && j.traits.Keeps == learner.Any {
		x.Examples = r.rows // what is kept grows with the stream, so far to this
	}
	r.split.Metrics, r.split.Scales = j.o.metering(x), j.scalesOf(x)
	f := j.config.Traits().Memory(x)
	peak, twice := f.Peak(), max(f.Moving, f.Copies)
	j.large = j.large || peak >= noteworthy
	what := fmt.Sprintf("%d features", x.Features)
	if x.Whole {
		what = fmt.Sprintf("%d examples of %d features", x.Examples, x.Features)
	}
	if left := r.left(); peak > left {
		next := "Is the largest index right? Tables of features grow with it, whatever is between."
		if x.Features < 1<<20 { // no slip of an index, which would be far larger as a rule
			next = "Raise the limit, or take a learner or settings that hold less."
		}
		if x.Kept > 0 {
			next = keptSizes(j.traits)
		}
		parts := partsText(f.Parts)
		if twice >= 1<<16 {
			parts = append(parts, "what moves or is saved "+inMiB(twice))
		}
		e := newError(ErrMemory, next, "%s: %s take %s (%s), and "+r.who+" %s, of which the "+
			"learner may take %s", j.name, what, inMiB(peak), strings.Join(parts, ", "),
			inMiB(r.most), inMiB(max(0, left)))
		e.Late = true
		return e
	}
	// again at twice as much only: a stream whose features keep coming asks at nearly every block
	if held := f.Held(); j.o.MemBudget == 0 && held >= noteworthy && held >= 2*r.noted {
		r.noted = held
		n := Need{Learner: j.name, What: what, Held: held}
		if f.Each >= noteworthy {
			n.Each = f.Each
		}
		j.observer.Needs(n)
	}
	return nil
}

// scalesOf is what is known of the scale of that extent's features, and a copy of it for the model,
// in bytes.
func (j *Job) scalesOf(x learner.Extent) int64 {
	o := &j.data
	scaled := o.Scaled != nil || o.Scaling == "std" || o.Scaling == "maxabs"
	if !scaled && o.Missing != "mean" && o.Missing != "indicator" {
		return 0
	}
	return 2 * format.ScalingBytes * x.Features
}

// metering is what is tallied of examples of that extent, in bytes.
func (o *Options) metering(x learner.Extent) int64 {
	const (
		bins    = 128 << 10 // of scores, for all, and for the window or what fades
		outcome = 56
		point   = 24
		block   = 512 // examples of a block that is learned in part, at most two of them
	)
	n := outcome*int64(o.Window) + 2*point*int64(o.Curve)
	if o.AUC {
		n += 2 * bins
		if len(o.Test) > 0 { // of each class
			n += bins * min(x.Classes, eval.MaxConfusion)
		}
	}
	if x.Whole && (o.Calibrate != "" || o.Threshold != "") { // what is split, and its scores
		n += dataBytes(x) + (8*max(1, x.Classes)+8)*x.Examples
	}
	if o.Delay > 0 {
		x.Examples = int64(o.Delay) + block
		x.NonZeros = x.Examples * x.Longest
		n += dataBytes(x) + 4*outcome*int64(o.Delay) // a list that is there twice when it grows
	}
	if o.IDCol != "" {
		_, bytes := o.waits()
		n += bytes
	}
	return n
}

// collect makes room for a copy of what was learned, or of its tables, where these are large or
// memory is short: the collector alone would find the last one only when the next is there, and
// would hand its pages back to the system in its own time, which on a busy machine is later still.
func (j *Job) collect() {
	if j.o.MemBudget > 0 || j.large {
		debug.FreeOSMemory()
	}
}

// settle sizes what the learner keeps that wasn't sized by settings, and makes the split.
func (r *room[T]) settle(x learner.Extent, sample *engine.Block[T]) error {
	j, budget := r.j, r.j.o.MemBudget
	r.split.Metrics, r.split.Scales = j.o.metering(x), j.scalesOf(x)
	if budget > 0 && j.traits.Keeps > 0 && !x.Whole {
		if err := r.keep(&x, sample); err != nil {
			return err
		}
	}
	if x.Whole { // kernel values have what all else leaves
		x.Gram = r.gramBytes(x)
		r.gram = x.Gram
	}
	if err := r.roomForSVM(x); err != nil {
		return err
	}
	if err := r.fits(x); err != nil {
		return err
	}
	r.x = x
	if budget == 0 {
		return nil
	}
	f := j.config.Traits().Memory(x)
	r.split.Parts, r.split.Moving = f.Parts, max(f.Moving, f.Copies)
	if r.loaded > 0 {
		r.split.Reader = 0
		learning := r.split.Planned() - r.split.Program
		r.split.Reader = max(0, min(r.loaded, r.most-r.split.Program)-learning)
	}
	j.split = &r.split
	if r.split.Planned() > r.most { // fits has seen to it
		return badOption("", "{mem_budget}: %s planned of %s", inMiB(r.split.Planned()),
			inMiB(r.most))
	}
	return nil
}

// gramBytes returns how many bytes kernel values may take in a Fit: what all else leaves. Evicted
// rows may lie uncollected up to half of the limit of kernel values beside them; where that has no
// room, it is two thirds.
func (r *room[T]) gramBytes(x learner.Extent) int64 {
	if r.j.o.MemBudget == 0 {
		return learner.DefaultGramBytes
	}
	memory := r.j.traits.Memory
	x.Gram = -1
	left := r.left() - memory(x).Peak() // that is without rows but the few that are in use
	x.Gram = max(left, leastGram)
	if memory(x).Peak() > r.left() { // with evicted rows
		return max(min(left, (left+4<<20)*2/3), leastGram)
	}
	return x.Gram
}

// roomForSVM plans for the largest margin, which is found beside the learner when that has come to
// its end.
func (r *room[T]) roomForSVM(x learner.Extent) error {
	o := &r.j.o
	if !o.MarginSVM || o.MemBudget == 0 || x.Examples == learner.Any {
		return nil
	}
	own, svm := x, x
	own.Whole, svm.Whole, svm.Gram = false, true, -1
	r.svm = r.left() - r.j.config.Traits().Memory(own).Held() - largestMarginMemory(svm).Peak()
	if r.svm < leastGram {
		return badOption("Raise the budget, or leave {margin_svm} out.",
			"{mem_budget} %s: no room is left for the svm", o.MemBudget)
	}
	return nil
}

// keep sizes what is kept of examples like those of sample.
func (r *room[T]) keep(x *learner.Extent, sample *engine.Block[T]) error {
	j, budget := r.j, r.j.o.MemBudget
	sizes := fieldsOf(j.traits.Sizes)
	if j.traits.Keeps == learner.Any && x.Examples == learner.Any {
		by := "its settings"
		if sizes != "" {
			by = sizes + " or other settings"
		}
		return badOption("Bound what it keeps, by "+by+".",
			"%s with these settings grows with the stream: {mem_budget} can't hold", j.name)
	}
	mean, largest, err := learner.KeptExample[T](j.config, sample)
	if err != nil {
		return err
	}
	if sized := j.traits.Keeps == learner.Any || j.o.KeepSizes || j.before != nil ||
		j.traits.FitMemory == nil; !sized {
		// An eighth is for features to come and for what the collector has to let lie for a while.
		c, err := j.traits.FitMemory(r.left()-r.left()/8, *x, mean, largest)
		if err != nil {
			return badOption("Give more, or take a learner that keeps no examples.",
				"%s with one kept example takes more than the %s that {mem_budget} %s leaves for "+
					"it: %w", j.name, inMiB(max(0, r.left())), budget, err)
		}
		j.set(c)
	}
	x.Kept = learner.KeptRoom(min(j.traits.Keeps, x.Examples), mean, largest)
	f := j.config.Traits().Memory(*x)
	if left := r.left() - f.Peak(); left >= 0 {
		// for examples that are larger than the first ones; the other half for tables that grow
		x.Kept += left / 2
	} else {
		r.split.Parts, r.split.Moving = f.Parts, max(f.Moving, f.Copies)
		return badOption("Lower "+sizes+", or leave it out: then as many examples are kept as "+
			"there is room for.", "{mem_budget} %s: needed are %s: %s", budget,
			inMiB(r.split.Planned()), &r.split)
	}
	r.kept = x.Kept
	return nil
}

// dataBytes returns how many bytes the examples take in memory, and take once more while they are
// put together: dense a row of T, padded to a cache line of 64 bytes, and a label; sparse an int64
// offset and a label an example, an int32 index and a value a non-zero.
func dataBytes(x learner.Extent) int64 {
	if x.Dense {
		return x.Examples * (x.Features + 64/x.Elem + 1) * x.Elem
	}
	return x.Examples*(8+x.Elem) + x.NonZeros*(4+x.Elem) // offset, label; index, value
}

// begin plans for the examples, and sets what is kept of them. It returns what is to be learned
// from: in, or in with a look at each block.
func (r *room[T]) begin(in eval.Source[T], test int64) (eval.Source[T], error) {
	if mem, ok := in.(*eval.Memory[T]); ok {
		return in, r.whole(mem, test)
	}
	in = &planned[T]{in, r}
	if r.j.o.MemBudget == 0 {
		return in, nil
	}
	first := &replay[T]{src: in}
	first.block, first.err = in.Next()
	if refused(first.err) {
		return nil, first.err
	}
	return first, nil // the run meets any other error
}

// loads returns what ends the reading of files into memory, beside so many bytes of examples that
// are there, where the budget has no room for them; nil without a budget.
func (r *room[T]) loads(files []string, beside int64) func(bytes int64) error {
	o := &r.j.o
	if o.MemBudget == 0 {
		return nil
	}
	left := r.left() - beside
	if info, err := os.Stat(o.From); o.From != "" && err == nil { // lies there meanwhile
		left -= info.Size()
		r.j.collect()
	}
	return func(bytes int64) error {
		if 2*bytes <= left { // those that are being put together are there twice
			return nil
		}
		return newError(ErrMemory, "Raise the budget, or learn from the stream: one epoch without "+
			"{shuffle}, {until_converged} and {normalize} max.",
			"%s: reading it into memory takes more than the %s that {mem_budget} %s leaves for it",
			strings.Join(files, " "), inMiB(max(0, r.left())), o.MemBudget)
	}
}

// held returns the bytes that examples in memory take.
func held[T engine.Float](mem *eval.Memory[T]) int64 {
	if mem == nil {
		return 0
	}
	if bytes := mem.Bytes(); bytes > 0 {
		return bytes
	}
	for b := range mem.Blocks() {
		return dataBytes(dataExtent(b, mem.Len()))
	}
	return 0
}

// planned gives the blocks of a stream, but refuses those for which there is no room.
type planned[T engine.Float] struct {
	eval.Source[T]
	room *room[T]
}

func (s *planned[T]) Next() (*engine.Block[T], error) {
	b, err := s.Source.Next()
	if err == nil {
		err = s.room.admit(b)
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

func (r *replay[T]) Next() (*engine.Block[T], error) {
	if r.gone {
		return r.src.Next()
	}
	r.gone = true
	return r.block, r.err
}

// Wait is eval.Waiter's.
func (r *replay[T]) Wait(d time.Duration) bool { return !r.gone || eval.Wait(r.src, d) }
