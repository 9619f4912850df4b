package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

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
			select {
			case s.outs <- s.cur:
			default:
			}
			s.cur = nil
		case len(s.ready) > 0:
			s.cur, s.pos = s.ready[0], 0
			s.ready[0] = nil
			s.ready = s.ready[1:]
		case s.err != nil:
			return nil, s.err
		default:
			s.advance()
		}
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
	s.view = r.Slice(lo, hi)
	s.view.Dim = in.Dim
	s.view.MarkChecked()
	return &s.view
}

// Info tells what was found and read so far; see [Info].
func (s *Stream[T]) Info() Info {
	in := s.info
	in.Labels, in.Seen = s.lab.labelMap(), s.lab.seen()
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

// advance takes the next chunk.
func (s *Stream[T]) advance() {
	var c *chunk[T]
	var ok bool
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return
	}
	select {
	case c, ok = <-s.order:
	case <-s.ctx.Done():
		s.err = s.ctx.Err()
		return
	}
	if !ok {
		if s.err = s.ctx.Err(); s.err == nil {
			s.err = s.finish()
		}
		return
	}
	select {
	case <-c.done:
	case <-s.ctx.Done():
		s.err = s.ctx.Err()
		return
	}
	s.err = s.take(c)
	if s.err != nil {
		s.cancel()
	}
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
	if r.n > 0 {
		s.hold(r)
	}
	if err == nil && !s.lab.decided && !s.whole && (s.heldRows > maxHeld || s.heldNZ > maxHeldNZ) {
		err = &RowError{File: c.name, Line: s.line + r.lines, Col: 1, Good: s.good, Err: ErrLabels,
			What: fmt.Sprintf("%d rows, all labelled %s, wait for a second label: say with --positive which label is +1", s.heldRows, s.lab.names())}
	}
	s.line += r.lines
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
		for ; bad < len(r.bad) && r.bad[bad].row <= row; bad++ {
			if err = s.badRow(&r.bad[bad]); err != nil {
				r.n = r.bad[bad].row
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
		s.info.BadRows += r.nbad - len(r.bad) // those that nobody is told of
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
	e.Line, e.Col, e.Excerpt = s.line+w.line+1, w.off-w.start+1, excerpt(c.line(w.start), w.off-w.start)
	return e
}

// badRow counts a bad row, and returns it if there are too many.
func (s *Stream[T]) badRow(b *badRow) error {
	if s.info.BadRows < s.cfg.maxBad && s.cfg.OnBad == nil {
		s.info.BadRows++
		return nil
	}
	e := b.err // a copy: the chunk goes back to the workers
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
	s.held = append(s.held, r)
	if !s.lab.decided {
		s.heldRows += r.n
		s.heldNZ += len(r.Val) + len(r.X)
		return
	}
	for _, r := range s.held {
		for i, code := range r.code[:r.n] {
			r.Y[i] = 1
			if s.lab.sign[code] < 0 {
				r.Y[i] = -1
			}
		}
		s.ready = append(s.ready, r)
	}
	s.held = s.held[:0]
}

// finish is the end of the data: what could not be decided now is.
func (s *Stream[T]) finish() error {
	last := s.files[len(s.files)-1]
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
		held := s.held
		s.held = nil
		for _, r := range held {
			s.hold(r)
		}
	}
	if s.cfg.positive != nil && !s.lab.fixed {
		if _, ok := s.lab.set.find(*s.lab.pos); !ok {
			return place(fmt.Errorf("no row has the label %q of --positive; the labels are %s", s.lab.pos.text, s.lab.names()))
		}
	}
	return io.EOF
}
