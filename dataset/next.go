package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
)

// Next returns the next run of examples in file order, up to some thousand, as a block that is valid until the next call. At the end the
// error is io.EOF; before any other error come the good rows that stand before it (unless their labels could not be decided yet).
func (s *Stream[T]) Next() (*engine.Block[T], error) {
	for {
		switch {
		case s.cur != nil && s.pos < s.cur.n:
			return s.deliver(), nil
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

// Wait waits until Next would return at once, or for d, and tells whether it would. What Next
// returned before must not be used any more. So a caller can do what has to be done while nothing
// comes: flush what it wrote, save.
func (s *Stream[T]) Wait(d time.Duration) bool {
	var end <-chan time.Time
	for {
		switch {
		case s.cur != nil && s.pos < s.cur.n, len(s.ready) > 0, s.err != nil:
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

// recycle keeps rows for a chunk to come, unless they are those of a long line.
func (s *Stream[T]) recycle(r *rows[T]) {
	if r.bytes() > 32*int64(s.lim.chunk) {
		return
	}
	select {
	case s.outs <- r:
	default:
	}
}

// deliver makes the next view of cur and counts it.
func (s *Stream[T]) deliver() *engine.Block[T] {
	r := s.cur
	lo, hi := s.pos, min(s.pos+blockRows, r.n)
	s.pos = hi
	in := &s.info
	in.Rows += hi - lo
	for i, y := range r.Y[lo:hi] {
		if s.lab.sign[r.code[lo+i]] == unlabelled {
			in.Unlabelled++
		} else if y > 0 {
			in.Positives++
		}
	}
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
	s.view.MarkChecked()
	return &s.view
}

// Info tells what was found and read so far; see [Info].
func (s *Stream[T]) Info() Info {
	in := s.info
	in.Labels, in.Seen = s.lab.labelMap(), s.lab.seen()
	in.Rest = s.lab.others()
	in.MaxNorm = math.Sqrt(s.maxSq)
	in.InputRead = s.from.read.Load()
	return in
}

// Close ends the goroutines and closes the files. A read of standard input or of a reader given to OpenReader that is under way is not
// waited for.
func (s *Stream[T]) Close() error {
	s.cancel()
	if f := s.from.current.Load(); f != nil {
		f.Close() // wakes a read from a pipe
	}
	foreign := s.from.reader != nil
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

// heldSilence is how long nothing comes until it is told that rows wait for a second label.
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
	if s.heldRows > 0 && !s.told && s.cfg.OnWarn != nil {
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
			s.told = true
			label := s.lab.set.list[0].text
			s.cfg.OnWarn(fmt.Sprintf("%d rows, all labelled %q, wait for a second label: "+
				"--positive %s begins at once", s.heldRows, label, label))
			return true
		case <-s.ctx.Done():
			s.err = s.ctx.Err()
			return true
		}
	}
	if !ok {
		if s.err = s.ctx.Err(); s.err == nil {
			s.err = s.finish()
		}
		return true
	}
	select {
	case <-c.done:
	case <-s.ctx.Done():
		s.err = s.ctx.Err()
		return true
	}
	s.err = s.take(c)
	if s.err != nil {
		s.cancel()
	}
	return true
}

// take settles labels, places and counts of a chunk. Its error comes after the good rows before it.
func (s *Stream[T]) take(c *chunk[T]) error {
	r := c.out
	if c.first {
		s.line, s.fileRows = 0, 0
	}
	err := s.takeRows(c)
	s.good += int64(r.n)
	s.fileRows += r.n + r.nbad
	s.zero = s.zero || r.zero
	s.maxSq = max(s.maxSq, r.maxSq)
	s.info.Bytes += int64(c.n)
	r.weight = int64(c.n)
	lines := r.lines
	s.hold(r) // which may give r to a worker
	if err == nil && !s.lab.decided && !s.whole && (s.heldRows > maxHeld ||
		s.heldMem > s.lim.held) {
		if s.lab.alone() == nil {
			s.decided()
		} else {
			err = s.tooManyHeld(c.name, s.line+lines)
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
	if err == nil && c.last && s.fileRows == 0 {
		what := "only blank lines and comments"
		if c.csv != nil && c.csv.headed {
			what = "only a header"
		}
		err = noRows(c.name, what)
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

// takeRows goes through the chunk's labels and bad rows in file order. On an error r.n becomes the rows before it.
func (s *Stream[T]) takeRows(c *chunk[T]) error {
	r := c.out
	s.ids = s.ids[:0]
	bad := 0
	var err error
	for k := range len(r.where) + 1 {
		row := r.n + 1 // behind the last label come the remaining bad rows
		if k < len(r.where) {
			row = r.where[k].row
		}
		for ; bad < r.kept() && r.badRow(bad) <= row; bad++ {
			if err = s.badRow(c, bad); err != nil {
				r.n = r.badRow(bad)
				break
			}
		}
		if err != nil || k == len(r.where) {
			break
		}
		id, lerr := s.lab.id(r.labels.list[k])
		if lerr != nil {
			err = s.labelError(c, r.where[k], lerr)
			r.n = row
			break
		}
		s.ids = append(s.ids, id)
	}
	if err == nil {
		s.info.BadRows += r.nbad - r.kept() // those that nobody is told of
	}
	for i, code := range r.code[:r.n] {
		r.code[i] = s.ids[code]
	}
	r.Y = r.Y[:r.n]
	return err
}

func (s *Stream[T]) labelError(c *chunk[T], w place, err error) error {
	e := &RowError{File: c.name, Good: s.good + int64(w.row), What: err.Error(), Err: ErrLabels}
	if s.p.format == "idx" {
		e.File, e.Offset = c.lname, 8+int64(c.row0+w.row)
		return e
	}
	// nobody said which column holds the labels
	if lay := c.csv; lay != nil && s.cfg.LabelCol == "" {
		name := "the last"
		if lay.label < len(s.info.Header) {
			name = strconv.Quote(s.info.Header[lay.label])
		}
		e.What = fmt.Sprintf("labels are taken from column %d (%s; --label-col names another): %s",
			lay.label+1, name, e.What)
	}
	e.Line, e.Col, e.Excerpt = s.line+w.line+1, w.off-w.start+1, excerpt(c.line(w.start), w.off-w.start)
	return e
}

// badRow counts the i-th bad row of the chunk, and returns it if there are too many.
func (s *Stream[T]) badRow(c *chunk[T], i int) error {
	if s.info.BadRows < s.cfg.maxBad && s.cfg.OnBad == nil {
		s.info.BadRows++
		return nil
	}
	b := c.badAt(i, &s.p)
	e := b.err
	e.Line += s.line + 1
	e.Good = s.good + int64(b.row)
	if s.info.BadRows >= s.cfg.maxBad {
		return &e
	}
	s.info.BadRows++
	s.cfg.OnBad(&e)
	return nil
}

// hold puts rows among those ready to be returned, or keeps them until the labels are decided.
func (s *Stream[T]) hold(r *rows[T]) {
	switch {
	case r.n == 0:
		s.release(r)
		s.recycle(r)
		return
	case !s.lab.decided:
		s.release(r)
		s.heldRows += r.n
		// a slow stream comes row by row
		if i := len(s.held) - 1; !s.whole && i >= 0 && s.held[i].n < blockRows {
			s.heldMem -= s.held[i].bytes()
			s.held[i].append(r)
			s.heldMem += s.held[i].bytes()
			s.recycle(r)
			return
		}
		if !s.whole && r.n < blockRows { // take no more room than it needs
			small := &rows[T]{}
			small.append(r)
			s.recycle(r)
			r = small
		}
		s.heldMem += r.bytes()
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

// sign gives rows their labels.
func (s *Stream[T]) sign(r *rows[T]) {
	for i, code := range r.code[:r.n] {
		r.Y[i] = 1
		if s.lab.sign[code] < 0 {
			r.Y[i] = -1
		}
	}
}

// tooManyHeld is the error of rows that waited in vain.
func (s *Stream[T]) tooManyHeld(name string, line int) error {
	e := &RowError{File: name, Line: line, Col: 1, Good: s.good, Err: ErrLabels,
		What: fmt.Sprintf("%d rows, all labelled %s, wait for a second label: say with "+
			"--positive which label is +1", s.heldRows, s.lab.names())}
	if s.cfg.Memory > 0 && s.heldMem > s.lim.held {
		e.What = fmt.Sprintf("%d rows, all labelled %s, wait for a second label and fill the %s "+
			"there are for them: say with --positive which label is +1, or raise --mem-budget",
			s.heldRows, s.lab.names(), inKiB(s.lim.held))
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
		e := &RowError{File: last, Line: max(s.line, 1), Col: 1, Err: ErrEmpty,
			What: fmt.Sprintf("expected examples, all %d rows are bad", s.info.BadRows)}
		return e
	}
	place := func(err error) error {
		e := &RowError{File: last, Line: s.line, Col: 1, Good: s.good, What: err.Error(), Err: ErrLabels}
		if s.p.format == "idx" {
			e.File, e.Line, e.Offset = s.pairs[len(s.pairs)-1].labels, 0, 8
		}
		return e
	}
	if !s.lab.decided {
		if err := s.lab.alone(); err != nil {
			return place(err)
		}
		s.decided()
	}
	if s.cfg.positive != nil && !s.lab.fixed {
		if _, ok := s.lab.set.find(*s.lab.pos); !ok {
			return place(fmt.Errorf("no row has the label %q of --positive; the labels are %s", s.lab.pos.text, s.lab.names()))
		}
	}
	return io.EOF
}
