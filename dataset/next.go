package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// Next returns the next run of examples in file order, up to some thousand, as a block that is
// valid until the next call. At the end the error is io.EOF; before any other error come the good
// rows that stand before it (unless their labels could not be decided yet).
func (s *Stream[T]) Next() (*engine.Block[T], error) {
	for {
		switch {
		case s.cur != nil && s.pos < s.cur.N:
			return s.deliver()
		case s.cur != nil:
			s.retire()
		case len(s.ready) > 0:
			s.cur, s.pos = s.ready[0], 0
			s.ready[0] = nil
			s.ready = s.ready[1:]
		case s.err != nil:
			return nil, s.err
		default:
			s.advance(nil)
		}
	}
}

// Wait waits until Next would return at once, or for d, and reports whether it would. What Next
// returned before must not be used any more. So a caller can do what has to be done while nothing
// comes: flush what it wrote, save.
func (s *Stream[T]) Wait(d time.Duration) bool {
	var end <-chan time.Time
	for {
		switch {
		case s.cur != nil && s.pos < s.cur.N, len(s.ready) > 0, s.err != nil:
			return true
		case s.cur != nil:
			s.retire()
		}
		if end == nil {
			t := time.NewTimer(d)
			defer t.Stop()
			end = t.C
		}
		if !s.advance(end) {
			return false
		}
	}
}

// retire gives the memory of the rows that were returned back.
func (s *Stream[T]) retire() {
	s.settle()
	s.release(s.cur)
	s.recycle(s.cur)
	s.cur = nil
}

// release lets as much text follow as the rows were made of.
func (s *Stream[T]) release(r *rows[T]) {
	if r.weight > 0 {
		s.gate.put(r.weight)
		r.weight = 0
	}
}

// recycle keeps rows for a chunk to come, unless they are those of a long line: a usual chunk's
// take up to 12 bytes a byte of text, so that 32 is beyond any.
func (s *Stream[T]) recycle(r *rows[T]) {
	if r.Bytes() > 32*int64(s.lim.chunk) {
		return
	}
	select {
	case s.outs <- r:
	default:
	}
}

// deliver makes the next view of cur, of blockRows at most, and counts it: Info is of what was
// returned, whatever was read ahead.
func (s *Stream[T]) deliver() (*engine.Block[T], error) {
	s.count()
	if s.cfg.learns() && !s.cfg.PrepareByHand {
		if err := s.cfg.scaleFits(s.view.Dim); err != nil {
			s.err = err
			return nil, err
		}
		s.learnScale(&s.view, 0, s.view.Len())
	}
	s.view.MarkChecked()
	return &s.view, nil
}

// count makes the next view of cur, and counts it.
func (s *Stream[T]) count() {
	r := s.cur
	s.settle()
	lo, hi := s.pos, min(s.pos+blockRows, r.N)
	s.pos = hi
	in := &s.info
	in.Rows += hi - lo
	var signs [8]int // examples of each sign; a branch on labels would often be mispredicted
	for _, code := range r.Code[lo:hi] {
		signs[(s.lab.sign[code]+1)&7]++
	}
	in.Foreign += signs[foreign+1] + signs[fresh+1]
	none := signs[unlabelled+1] + signs[foreign+1]
	in.Unlabelled += none
	in.Positives += hi - lo - none - signs[-1+1]
	if r.Dense() {
		in.Dim = r.Dim
		in.NonZeros += int64(hi-lo) * int64(r.Dim)
	} else {
		in.NonZeros += int64(r.Ptr[hi] - r.Ptr[lo])
		for i := lo; i < hi; i++ {
			if p := r.Ptr[i+1]; p > r.Ptr[i] {
				in.Dim = max(in.Dim, int(r.Idx[p-1])+1) // the last index of a row is its largest
			}
		}
	}
	s.countUnknown(&r.Block, lo, hi)
	s.view = r.Slice(lo, hi)
	s.view.Dim = in.Dim
}

// Info says what was found and read so far; see [Info].
func (s *Stream[T]) Info() Info {
	in := s.info
	in.Labels, in.Seen = s.lab.labelMap(), s.lab.seen()
	in.Rest, in.ForeignLabels = s.lab.others(), s.lab.strangers()
	if s.lab.classes {
		in.Classes = slices.Clone(s.lab.names)
	}
	in.MaxNorm = math.Sqrt(s.maxSq)
	if in.Scaling = s.cfg.Scaled; s.cfg.learns() {
		in.Scaling = s.after.Known.Clone()
	}
	in.InputRead = s.from.read.Load()
	if s.layout.Words && s.cfg.HashBits == 0 { // of the rows returned, whatever was read ahead
		names := s.cfg.names.List()
		in.Names = names[:min(len(names), max(len(s.cfg.Names), in.Dim-s.lead()))]
	}
	in.Shared = s.cfg.names.Shared()
	return in
}

// Close ends the goroutines and closes the files. A read of standard input or of a reader or source
// of the caller's that is under way is not waited for.
func (s *Stream[T]) Close() error {
	s.cancel()
	if f := s.from.current.Load(); f != nil {
		(*f).Close() // wakes a read from a pipe
	}
	foreign := s.from.reader != nil || s.foreign
	for _, f := range s.files {
		foreign = foreign || f == "-"
	}
	if !foreign {
		<-s.reader
		s.wg.Wait()
	}
	if s.err == nil || s.err == io.EOF {
		s.err = fmt.Errorf("dataset: %w", os.ErrClosed)
	}
	s.cur, s.ready, s.held = nil, nil, nil
	return nil
}

// heldSilence is how long nothing comes before OnWarn is called with how many rows wait for a
// second label: a pause that no file makes, and a user at a pipe notices.
const heldSilence = time.Second

// advance takes the next chunk; it returns false if none came before end.
func (s *Stream[T]) advance(end <-chan time.Time) bool {
	var c *chunk[T]
	var ok bool
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return true
	}
	var silent <-chan time.Time
	if s.heldRows > 0 && !s.warned && s.cfg.OnWarn != nil {
		t := time.NewTimer(heldSilence)
		defer t.Stop()
		silent = t.C
	}
	select {
	case c, ok = <-s.order: // what is there comes before the end of the time
	default:
		select {
		case c, ok = <-s.order:
		case <-end:
			return false
		case <-silent:
			s.warned = true
			label := s.lab.told.List[0].Text
			s.cfg.OnWarn(fmt.Sprintf("%d rows, all labelled %q, wait for a second label: "+
				"set Options.Positive to %s to begin at once", s.heldRows, label, label))
			return true
		case <-s.ctx.Done():
			s.err = s.ctx.Err()
			return true
		}
	}
	if !ok {
		if s.err = s.ctx.Err(); s.err == nil {
			s.err = s.locate(s.finish())
		}
		return true
	}
	select {
	case <-c.done:
	case <-s.ctx.Done():
		s.err = s.ctx.Err()
		return true
	}
	s.err = s.locate(s.take(c))
	if s.err != nil {
		s.cancel()
	}
	return true
}

// take settles labels, places and counts of a chunk: here, in file order, and not in the workers,
// so that which label is met first, and which bad row is one too many, depends on the file alone.
// Its error comes after the good rows before it.
func (s *Stream[T]) take(c *chunk[T]) error {
	r := c.rows
	if err := s.fitsScaling(r); err != nil {
		r.N = 0
		return err
	}
	if c.first {
		s.line, s.fileRows = 0, 0
	}
	err := s.takeRows(c)
	err = s.nameFeatures(c, err)
	s.good += int64(r.N)
	s.addPlace(c, err)
	s.fileRows += r.N + r.NBad
	s.zero = s.zero || r.Zero
	if !s.cfg.learns() {
		s.maxSq = max(s.maxSq, r.MaxSq)
	}
	s.info.Bytes += c.size
	if s.doubtful(c.last) && err == nil {
		s.doubt.What += fmt.Sprintf(" (%d labels in %d rows look like no classes)",
			len(s.lab.names), s.good)
		err, r.N = s.doubt, 0
	}
	r.weight = c.size
	lines := r.Lines
	s.hold(r) // which may give r to a worker
	if err == nil && !s.lab.decided && !s.whole && (s.heldRows > maxHeld ||
		s.heldMem > s.lim.Held) {
		if s.lab.alone() == nil {
			s.decided()
		} else {
			err = s.tooManyHeld(c.File, s.line+lines)
		}
	}
	s.line += lines
	if err == nil && c.fail != nil {
		err = c.fail
		if e := new(RowError); errors.As(err, &e) {
			if c.inLine {
				e.Line += s.line
			}
			e.Good = s.good
		}
	}
	if err == nil && c.last && s.fileRows == 0 && s.cfg.Rows.Of == 0 {
		what := c.Layout.NoRows
		if what == "" {
			what = blankFile
		}
		err = noRows(c.File, what)
	}
	if c.warn != "" && s.cfg.OnWarn != nil {
		s.cfg.OnWarn(c.warn)
	}
	select {
	case s.spare <- c:
	default:
	}
	return err
}

// lead returns how many features stand first in each row: an appended one, and columns of numbers.
func (s *Stream[T]) lead() int { return s.cfg.bias + s.layout.Lead }

// nameFeatures gives features that have names their numbers. err is that of the rows behind those
// that are left; a name that has no room stands before it.
func (s *Stream[T]) nameFeatures(c *chunk[T], err error) error {
	r := c.rows
	if r.Names == nil {
		return err
	}
	w, full := r.Settle(s.cfg.names, s.lead(), s.cfg.FixedNames)
	select {
	case s.sets <- r.Names:
	default:
	}
	r.Names = nil
	if s.after.By != nil {
		r.MaxSq = s.after.rows(&r.Block, 0, r.N)
	}
	if full == nil {
		return err
	}
	return &RowError{File: c.File, Line: s.line + w.Line + 1, Col: w.Off - w.Start + 1,
		Good: s.good + int64(w.Row), What: full.Error(),
		Excerpt: format.Excerpt(c.Line(w.Start), w.Off-w.Start), Err: ErrMemory}
}

// takeRows goes through the chunk's labels and bad rows in file order. On an error r.N becomes the
// rows before it.
func (s *Stream[T]) takeRows(c *chunk[T]) error {
	r := c.rows
	s.ids = s.ids[:0]
	bad := 0
	var err error
	for k := range len(r.Where) + 1 {
		row := r.N + 1 // behind the last label come the remaining bad rows
		if k < len(r.Where) {
			row = r.Where[k].Row
		}
		for ; bad < r.Kept() && r.BadRow(bad) <= row; bad++ {
			if err = s.badRow(c, bad); err != nil {
				r.N = r.BadRow(bad)
				break
			}
		}
		if err != nil || k == len(r.Where) {
			break
		}
		id, lerr := s.lab.id(r.Labels.List[k])
		if lerr != nil {
			err = s.labelError(c, r.Where[k], lerr)
			r.N = row
			break
		}
		if l := s.lab; l.doubt != nil {
			s.doubt, l.doubt = s.labelError(c, r.Where[k], l.doubt), nil
		}
		s.ids = append(s.ids, id)
	}
	if err == nil {
		s.info.BadRows += r.NBad - r.Kept() // those without an error of their own
	}
	for i, code := range r.Code[:r.N] {
		r.Code[i] = s.ids[code]
	}
	r.Y = r.Y[:r.N]
	return err
}

// doubtful reports whether more than half of the rows, before any of them is returned, have a label
// of their own: of classes there would be several rows each.
func (s *Stream[T]) doubtful(last bool) bool {
	if s.doubt == nil || s.whole && !last {
		return false
	}
	if 2*int64(len(s.lab.names)) > s.good {
		return true
	}
	s.doubt = nil
	return false
}

// labelError is the error of a label that the chunk has at w.
func (s *Stream[T]) labelError(c *chunk[T], w format.Place, err error) *RowError {
	e := &RowError{File: c.File, Good: s.good + int64(w.Row), What: err.Error(), Err: ErrLabels}
	if s.lab.third {
		e.Err = ErrThird
	} else if s.lab.closed {
		e.Err = ErrClosed
	}
	if place := s.p.Format.Place; place != nil {
		place(e, c.Layout, c.Offset+int64(w.Start))
		return e
	}
	if note := c.Layout.LabelNote; note != "" {
		e.What = note + ": " + e.What
	}
	line, from := c.LineOf(w.Start, w.Off)
	e.Line, e.Col = s.line+w.Line+1+line, w.Off-from+1
	e.Excerpt = format.Excerpt(c.Line(from), w.Off-from)
	return e
}

// badRow counts the i-th bad row of the chunk, and returns it if there are too many.
func (s *Stream[T]) badRow(c *chunk[T], i int) error {
	if s.info.BadRows < s.cfg.maxBad && s.cfg.OnBad == nil {
		s.info.BadRows++
		return nil
	}
	b := c.BadAt(i, &s.p)
	e := b.Err
	e.Line += s.line + 1
	e.Good = s.good + int64(b.Row)
	if s.info.BadRows >= s.cfg.maxBad {
		return &e
	}
	s.info.BadRows++
	s.cfg.OnBad(s.locate(&e))
	return nil
}

// hold puts rows among those ready to be returned, or keeps them until the labels are decided.
func (s *Stream[T]) hold(r *rows[T]) {
	switch {
	case r.N == 0:
		s.release(r)
		s.recycle(r)
		return
	case !s.lab.decided && s.lab.later && s.heldRows == 0 && len(s.lab.told.List) == 0:
		s.sign(r) // none has a label yet
		s.ready = append(s.ready, r)
		return
	case !s.lab.decided:
		s.release(r)
		s.heldRows += r.N
		// a slow stream comes row by row
		if i := len(s.held) - 1; !s.whole && i >= 0 && s.held[i].N < blockRows {
			s.heldMem -= s.held[i].Bytes()
			s.held[i].append(r)
			s.heldMem += s.held[i].Bytes()
			s.recycle(r)
			return
		}
		if !s.whole && r.N < blockRows { // take no more room than it needs
			small := &rows[T]{}
			small.append(r)
			s.recycle(r)
			r = small
		}
		s.heldMem += r.Bytes()
		s.held = append(s.held, r)
		return
	}
	s.decided()
	s.sign(r)
	s.ready = append(s.ready, r)
}

// decided readies the rows that waited for the labels.
func (s *Stream[T]) decided() {
	for _, r := range s.held {
		s.sign(r)
	}
	s.ready = append(s.ready, s.held...)
	s.held, s.heldRows, s.heldMem = nil, 0, 0
}

// sign gives rows their labels, -1 and +1, now that it is decided which is which.
func (s *Stream[T]) sign(r *rows[T]) {
	y := r.Y[:r.N]
	r.WeighRest()
	l := s.lab
	l.two = l.two || !s.whole && !l.classes
	if l.classes || l.many && s.whole {
		r.Class = slices.Grow(r.Class[:0], r.N)[:r.N]
		for i, code := range r.Code[:r.N] {
			r.Class[i] = l.classOf(code)
		}
	} else {
		r.Class = nil
	}
	if l.classes {
		for i := range y {
			y[i] = 1
		}
		return
	}
	for i, code := range r.Code[:r.N] {
		y[i] = T(labels[(s.lab.sign[code]+1)&7])
	}
}

// labels are the numbers of examples, each behind the one of its sign + 1; a branch would often be
// mispredicted.
var labels = [8]int8{0: -1, 2: 1, 3: 1}

// tooManyHeld is the error of rows that waited in vain.
func (s *Stream[T]) tooManyHeld(name string, line int) error {
	e := &RowError{File: name, Line: line, Col: 1, Good: s.good, Err: ErrLabels,
		What: fmt.Sprintf("%d rows, all labelled %s, wait for a second label: say by "+
			"Options.Positive which label is +1", s.heldRows, s.lab.met())}
	if s.cfg.Memory > 0 && s.heldMem > s.lim.Held {
		e.What = fmt.Sprintf("%d rows, all labelled %s, wait for a second label and fill the %s "+
			"there are for them: say by Options.Positive which label is +1, or raise "+
			"Options.Memory",
			s.heldRows, s.lab.met(), format.InKiB(s.lim.Held))
		e.Err = ErrMemory
	}
	return e
}

// finish is the end of the data: what could not be decided now is.
func (s *Stream[T]) finish() error {
	last := s.files[len(s.files)-1]
	if last == "-" {
		last = stdinName
	}
	if s.stop.asked.Load() {
		if !s.lab.decided && s.good > 0 && s.lab.alone() == nil {
			s.decided()
		}
		return ErrStopped
	}
	if s.good == 0 {
		if r := s.cfg.Rows; r.Of > 0 && s.info.BadRows == 0 {
			return fmt.Errorf("part %s of the rows of %s has none: there are fewer rows than "+
				"parts, or files that can't be cut: %w", r, strings.Join(s.files, " "), ErrEmpty)
		}
		e := &RowError{File: last, Line: max(s.line, 1), Col: 1, Err: ErrEmpty,
			What: fmt.Sprintf("expected examples, all %d rows are bad", s.info.BadRows)}
		return e
	}
	place := func(err error) error {
		e := &RowError{File: last, Line: s.line, Col: 1, Good: s.good, What: err.Error(),
			Err: ErrLabels}
		if n := len(s.parts); n > 0 && s.p.Format.Place != nil {
			l := s.parts[n-1].layout
			s.p.Format.Place(e, l, l.Start)
		}
		return e
	}
	if !s.lab.decided {
		if err := s.lab.alone(); err != nil {
			return place(err)
		}
		s.decided()
	}
	if s.cfg.positive != nil && !s.lab.fixed && s.cfg.Rows.Of == 0 {
		if s.lab.positive() < 0 {
			return place(fmt.Errorf("no row has the label %q of Options.Positive; "+
				"the labels are %s",
				s.lab.pos.Text, s.lab.met()))
		}
	}
	return io.EOF
}

// Labelled reports whether example i of the block that Next returned last has a label: false only
// for rows that Options.LabelsOptional let pass with none, or with one that Options.Labels doesn't
// know.
func (s *Stream[T]) Labelled(i int) bool {
	x := s.signOf(i)
	return x != unlabelled && x != foreign
}

// Foreign reports whether example i of the block that Next returned last has a label, and one that
// Options.Labels or Classes doesn't know: a prediction of it is wrong, whatever it says.
func (s *Stream[T]) Foreign(i int) bool { return s.signOf(i) == foreign }

func (s *Stream[T]) signOf(i int) int8 {
	return s.lab.sign[s.cur.Code[s.pos-s.view.Len()+i]]
}

// ID returns the id of example i of the block that Next returned last, "" if it has none, and
// whether the row is bare: it has no features, only a label as a rule. It is for streams with
// Options.LabelsLater, of which a row without a label has an id. Options.Scaling looks at bare rows
// as at others, unless PrepareByHand leaves them out. The id is good until the
// next call of Next.
func (s *Stream[T]) ID(i int) (id []byte, bare bool) {
	return s.cur.RowID(s.pos - s.view.Len() + i)
}
