package learner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrTrace is returned by Learn of a learner that was joined where the traces of its parts end
// early, or hold what no part writes.
var ErrTrace = errors.New("trace does not fit")

// ErrParts is returned for parts that don't make up the whole: one is missing, comes twice, or is
// of another ensemble.
var ErrParts = errors.New("parts do not make up the whole")

// Part says which members of a whole ensemble a learner's are, or, with Classes, which classes:
// each Of-th from First on.
type Part struct {
	First   int  `json:"first"`             // number of the first one, a multiple of [PartMembers]
	Members int  `json:"members,omitempty"` // how many; 0 with Classes
	Of      int  `json:"of"`                // of the whole; with Classes: parts
	Classes bool `json:"classes,omitempty"`
}

// String names it as errors do.
func (p Part) String() string {
	if p.Classes {
		return fmt.Sprintf("classes %d, %d, ... (%d/%d)", p.First, p.First+p.Of, p.First+1, p.Of)
	}
	return fmt.Sprintf("members %d to %d", p.First, p.First+p.Members-1)
}

// PartMembers is what an ensemble is cut into: members whose draws share a word.
const PartMembers = 64

// PartOf returns part k of n, counted from 0, of so many members: words of PartMembers are dealt
// out evenly. A part without members is one of too many.
func PartOf(members, k, n int) Part {
	words := (members + PartMembers - 1) / PartMembers
	lo, hi := words*k/n*PartMembers, min(words*(k+1)/n*PartMembers, members)
	return Part{First: lo, Members: hi - lo, Of: members}
}

// Tracer is a part of an ensemble that writes down what the other parts need of each example, so
// that all of them, joined, know what the whole did.
type Tracer interface {
	// TraceTo has Learn append an entry to t for each example from now on; nil ends that. Entries
	// of examples are the same for all blocks and numbers of workers.
	TraceTo(t *Trace)
}

// Joiner is an ensemble that can be made of parts that learned apart.
type Joiner interface {
	// Join gives the learner, which is new, the members of parts, of which states are what they
	// ended with. Learn then goes through the same examples again without learning: what the
	// parts did with each of them comes from the traces, one a part. Examples that were learned
	// before it came, after has learned for it, which was joined, too; nil: there are none. Errors
	// wrap ErrParts or ErrState, and of Learn ErrTrace.
	Join(parts []Part, states []State, traces []*TraceReader, after Joiner) error
	// Joined ends that: the learner is as if it had learned all examples itself, and learns on.
	// The error wraps ErrTrace if the examples, updates or traces don't end together.
	Joined() error
}

// Trace is what a part did with each example: whole numbers and sums, in an entry each.
type Trace struct {
	Bytes []byte
	ends  []int // of entries
}

// End ends an example's entry.
func (t *Trace) End() { t.ends = append(t.ends, len(t.Bytes)) }

// Entry returns that of example i since Reset.
func (t *Trace) Entry(i int) []byte {
	lo := 0
	if i > 0 {
		lo = t.ends[i-1]
	}
	return t.Bytes[lo:t.ends[i]]
}

// Reset empties it.
func (t *Trace) Reset() { t.Bytes, t.ends = t.Bytes[:0], t.ends[:0] }

// Count appends a whole number of 0 or more.
func (t *Trace) Count(n int) { t.Bytes = binary.AppendUvarint(t.Bytes, uint64(n)) }

// Sums appends those of the numbers that are not 0, in their order: what is left out changes no sum
// that begins at 0.
func (t *Trace) Sums(v []float64) {
	for _, x := range v {
		if x != 0 {
			t.Bytes = binary.LittleEndian.AppendUint64(append(t.Bytes, 1), math.Float64bits(x))
		}
	}
	t.Bytes = append(t.Bytes, 0)
}

// TraceReader reads what a [Trace] was given.
type TraceReader struct {
	r   io.ByteReader
	err error
}

// NewTraceReader returns a reader of a Trace's bytes, one after another.
func NewTraceReader(r io.ByteReader) *TraceReader { return &TraceReader{r: r} }

// Count reads what Trace.Count wrote: at most 2^31-1.
func (t *TraceReader) Count() int {
	if t.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(t.r)
	if err == nil && n > math.MaxInt32 {
		err = fmt.Errorf("a count of %d", n)
	}
	if err != nil {
		t.fail(err)
		return 0
	}
	return int(n)
}

// AddTo adds what Trace.Sums wrote to sum, one after another: what the parts' sums give in the
// order of the parts is what the whole's members give in theirs.
func (t *TraceReader) AddTo(sum float64) float64 {
	for t.err == nil {
		more, err := t.r.ReadByte()
		if err == nil && more > 1 {
			err = fmt.Errorf("a mark of %d", more)
		}
		if err != nil {
			t.fail(err)
			break
		}
		if more == 0 {
			break
		}
		var b [8]byte
		for i := range b {
			if b[i], err = t.r.ReadByte(); err != nil {
				t.fail(err)
				return sum
			}
		}
		sum += math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
	}
	return sum
}

// Err returns the first error there was; it wraps [ErrTrace].
func (t *TraceReader) Err() error { return t.err }

// Ended returns an error that wraps ErrTrace unless all was read.
func (t *TraceReader) Ended() error {
	if t.err == nil {
		if _, err := t.r.ReadByte(); err == nil {
			return fmt.Errorf("it goes on behind the last example: %w", ErrTrace)
		} else if err != io.EOF {
			t.fail(err)
		}
	}
	return t.err
}

func (t *TraceReader) fail(err error) {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("it ends early")
	}
	t.err = fmt.Errorf("%w: %w", err, ErrTrace)
}
