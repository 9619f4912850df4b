package dataset

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// read cuts the files into chunks.
func (s *Stream[T]) read() {
	defer close(s.reader)
	defer s.closeParts()
	s.cut.Lock()
	defer s.cut.Unlock()
	defer s.endReading()
	if len(s.parts) > 0 {
		for i := range s.parts {
			p := &s.parts[i]
			read := func() bool { return s.readPart(p) }
			if p.in.runs != nil {
				read = func() bool { return s.readRuns(p.in) }
			}
			if !p.skip && !read() {
				break
			}
		}
		return
	}
	in := s.first
	for i, name := range s.files {
		if s.cfg.Rows.Of > 0 && s.some[i].from >= s.some[i].to { // none of it
			if i == 0 {
				in.Close()
			}
			continue
		}
		if i > 0 {
			var err error
			if in, err = s.openNext(i); err != nil {
				if err != errStopped {
					c := s.chunk(0)
					c.File, c.Layout, c.first, c.fail = name, s.layout, true, err
					format.EndText(c.Text)
					s.send(c)
				}
				return
			}
		}
		ok := false
		if in.runs != nil {
			ok = s.readRuns(in)
		} else {
			in.stop = &s.stop
			ok = s.readText(in)
		}
		in.Close()
		if !ok {
			return
		}
	}
}

// closeParts closes files that go together, once nobody looks at them any more.
func (s *Stream[T]) closeParts() {
	if len(s.parts) == 0 {
		return
	}
	s.wg.Wait()
	for _, p := range s.parts {
		p.in.Close()
	}
}

// endReading says that no more chunks come. The caller holds s.cut.
func (s *Stream[T]) endReading() {
	if !s.over {
		s.over = true
		close(s.order)
		close(s.jobs)
	}
}

// openNext opens a further file. The caller holds s.cut; it is free meanwhile.
func (s *Stream[T]) openNext(i int) (in *input, err error) {
	s.cut.Unlock()
	defer s.cut.Lock()
	if !s.stop.enter() {
		return nil, errStopped
	}
	defer s.stop.leave()
	if in, err = s.from.open(s.files[i]); err != nil {
		return nil, err
	}
	if err = s.checkNext(in); err != nil {
		in.Close()
		return nil, err
	}
	if s.some != nil {
		s.narrowTo(in, s.some[i])
	}
	return in, nil
}

// Stop ends the reading: Next returns the rows of the whole lines that were read until now, then
// ErrStopped. A read that waits for input is not waited for. Any goroutine may call it.
func (s *Stream[T]) Stop() {
	s.stop.asked.Store(true) // the reader stops before it would have to wait again
	if !s.stop.waiting.Load() {
		return
	}
	time.Sleep(textPause / 2) // what a read has just given comes along
	s.cut.Lock()
	defer s.cut.Unlock()
	if s.over || !s.stop.waiting.Load() {
		return
	}
	if s.cutter != nil {
		s.cutter.handOver()
	}
	s.endReading()
}

// chunk returns a chunk to fill, with room for n bytes.
func (s *Stream[T]) chunk(n int) *chunk[T] {
	var c *chunk[T]
	select {
	case c = <-s.spare:
	default:
		c = &chunk[T]{done: make(chan struct{}, 1)}
	}
	if cap(c.Text) > 2*s.lim.chunk+format.Stops { // of a long line: don't keep that for ever
		c.Text = nil
	}
	*c = chunk[T]{Chunk: format.Chunk[T]{Text: format.Sized(c.Text, n+format.Stops)}, done: c.done}
	return c
}

// send hands a chunk to the workers and, in order, to Next. The caller holds s.cut. It goes to
// Next's queue first, so that the order is that of the file whichever worker is done first; gate
// bounds the text on its way, so that a slow learner stops the reading and not the machine.
func (s *Stream[T]) send(c *chunk[T]) bool {
	c.size += int64(c.N)
	if s.over || !s.gate.take(c.size, s.ctx.Done()) {
		return false
	}
	select {
	case s.order <- c:
	case <-s.ctx.Done():
		return false
	}
	fail := c.fail // c is the stream's once it is sent
	select {
	case s.jobs <- c:
	case <-s.ctx.Done():
		return false
	}
	return fail == nil
}

// cutter cuts the text of one file into chunks, where its format says that text may be cut. While
// it waits for text in the middle of a chunk, the whole lines that are there can be taken out of
// it. Stream.cut guards it.
type cutter[T engine.Float] struct {
	s       *Stream[T]
	in      *input
	c       *chunk[T] // of its text, [:lo] is handed over already, and [lo:n] is there
	lo, n   int
	clean   int  // up to here no line ends behind lo
	looked  int  // up to here a long line has been looked at for what no text has
	done    int  // bytes of the input handed over
	any     bool // something was handed over
	reading bool // a read into c.Text[n:] is under way
	reads   int  // begun so far, and
	seen    int  // when the clock looked last
	ticks   int  // of the clock since something was handed over
	clock   *time.Timer
	ticking bool
}

// tick looks whether a read has been waiting since the last tick, or the input gives so little that
// no chunk got full for textTicks, and then hands over what is there. A clock that ticks on costs a
// fast input less than one that is set anew for each read; it rests where there is nothing to hand
// over.
func (k *cutter[T]) tick() {
	k.s.cut.Lock()
	defer k.s.cut.Unlock()
	if k.s.cutter != k || k.s.over {
		return
	}
	if k.reading && k.reads == k.seen {
		k.handOver()
		k.ticking = false
		return
	}
	if k.ticks++; k.reading && k.ticks >= textTicks {
		k.handOver()
	}
	k.seen = k.reads
	k.clock.Reset(textPause)
}

// readText cuts one file. The caller holds s.cut; it is free while a read may wait.
func (s *Stream[T]) readText(in *input) bool {
	k := &cutter[T]{s: s, in: in, c: s.chunk(s.lim.chunk)}
	s.cutter = k
	k.clock = time.AfterFunc(time.Hour, k.tick)
	k.clock.Stop()
	defer func() { k.clock.Stop(); s.cutter = nil }()
	for {
		if k.lo > 0 {
			k.n = copy(k.c.Text, k.c.Text[k.lo:k.n])
			k.clean, k.looked = max(0, k.clean-k.lo), max(0, k.looked-k.lo)
			k.lo = 0
		}
		room := len(k.c.Text) - format.Stops
		if k.n == room {
			if err := k.next(); err != nil {
				return k.end(err)
			}
			if s.ctx.Err() != nil {
				return false
			}
			continue
		}
		k.reading = true
		k.reads++
		if !k.ticking {
			k.ticking = true
			k.clock.Reset(textPause)
		}
		s.cut.Unlock()
		m, err := in.Read(k.c.Text[k.n:room])
		s.cut.Lock()
		k.reading = false
		if s.over || s.ctx.Err() != nil {
			return false
		}
		k.n += m
		if err != nil {
			return k.end(err)
		}
	}
}

// whole returns where the last whole line ends that isn't handed over, lo if there is none.
func (k *cutter[T]) whole() int {
	if last := k.s.p.Format.Last; last != nil {
		end, _ := last(k.in.layout, k.c.Text[k.lo:k.n])
		k.clean = k.n
		return k.lo + end
	}
	cut := k.s.p.Format.Cut
	from := max(k.lo, k.clean-len(cut)+1) // a cut's text may have come in two pieces
	end := from + cut.Last(k.c.Text[from:k.n])
	k.clean = k.n
	if end == from {
		return k.lo
	}
	return end
}

// send hands over a chunk of text that follows what was.
func (k *cutter[T]) send(c *chunk[T], n int) bool {
	c.File, c.Layout, c.first, c.N = k.in.name, k.in.layout, !k.any, n
	c.Offset = k.in.from + int64(k.done)
	format.EndText(c.Text[n:])
	k.done += n
	k.any = true
	k.ticks = 0
	return k.s.send(c)
}

// handOver sends a copy of the whole lines that are there.
func (k *cutter[T]) handOver() {
	if end := k.whole(); end > k.lo {
		c := k.s.chunk(end - k.lo)
		n := copy(c.Text, k.c.Text[k.lo:end])
		k.lo = end
		k.send(c, n)
	}
}

// next sends the full chunk, or makes it longer if it is the beginning of a line.
func (k *cutter[T]) next() error {
	c, l := k.c, &k.s.lim
	if end := k.whole(); end > 0 {
		k.c = k.s.chunk(max(k.s.lim.chunk, k.n-end+1))
		k.n = copy(k.c.Text, c.Text[end:k.n])
		k.clean, k.looked = k.n, 0
		k.send(c, end)
		return nil
	}
	// a long line is looked at: what is no text may never end
	if least := min(chunkSize, l.Line/2); k.n >= least {
		from := k.looked
		if i := format.BinaryAt(c.Text[from:k.n]); i >= 0 {
			return format.BinaryByte(k.in.name, k.in.from+int64(k.done+from+i), c.Text[from+i])
		}
		k.looked = k.n
	}
	if k.n > l.Line {
		if last := k.s.p.Format.Last; last != nil {
			if _, open := last(k.in.layout, c.Text[:k.n]); open >= 0 {
				return l.NotClosed(k.in.name, c.Text[:k.n], open)
			}
		}
		return l.TooLong(k.in.name, c.Text[:k.n])
	}
	text := make([]byte, min(2*k.n, l.Line+1)+format.Stops)
	copy(text, c.Text[:k.n])
	c.Text = text
	return nil
}

// end sends the last chunk of the file, and the error that ended it unless that is io.EOF.
func (k *cutter[T]) end(err error) bool {
	if k.lo > 0 {
		k.n = copy(k.c.Text, k.c.Text[k.lo:k.n])
		k.clean, k.lo = max(0, k.clean-k.lo), 0
	}
	c := k.c
	switch {
	case errors.Is(err, errStopped):
		k.handOver()
		return false
	case err == io.EOF:
		c.last, c.warn = true, k.in.warning()
		return k.send(c, k.n)
	}
	n, e := k.whole(), new(RowError)
	if !errors.As(err, &e) {
		err = k.in.textError(c.Text[n:k.n], err)
	}
	c.fail, c.inLine = err, errors.As(err, &e) && e.Line > 0
	k.send(c, n)
	return false
}

// readRuns hands the runs of one file over. The caller holds s.cut; it is free while the next one
// is read.
func (s *Stream[T]) readRuns(in *input) bool {
	for first := true; ; first = false {
		if !s.stop.enter() {
			return false
		}
		c := s.chunk(0)
		s.cut.Unlock()
		run, err := in.runs.Next(c.Text[:0], s.lim.chunk)
		s.cut.Lock()
		s.stop.leave()
		if s.over || s.ctx.Err() != nil {
			return false
		}
		c.File, c.Layout, c.first, c.last = in.name, in.layout, first, err == io.EOF
		if run.Layout != nil {
			c.Layout = run.Layout
		}
		switch {
		case err == nil || err == io.EOF:
			c.Run, c.size, c.N = run.Value, run.Bytes, len(run.Text)
		case s.foreign && !errors.As(err, new(*RowError)): // else it says the name
			c.fail = fmt.Errorf("%s: %w", in.name, err)
		default:
			c.fail = err
		}
		e := new(RowError)
		c.inLine = errors.As(c.fail, &e) && e.Line > 0
		if c.Offset = run.At; c.N > 0 {
			c.Text = run.Text
		}
		c.Text = slices.Grow(c.Text[:c.N], format.Stops)[:c.N+format.Stops]
		format.EndText(c.Text[c.N:])
		if !s.send(c) {
			return false
		}
		if err != nil { // c is the stream's
			return true
		}
	}
}

// readPart cuts a file whose examples all take as many bytes. The caller holds s.cut; it is free
// while a read may wait.
func (s *Stream[T]) readPart(p *part) bool {
	in, l := p.in, p.layout
	in.stop = &s.stop
	per := max(1, s.lim.chunk/l.Size)
	for row := p.lo; row < p.hi; row += per {
		k := min(per, p.hi-row)
		size := k * l.Size
		c, n, err := s.chunk(size), 0, error(nil)
		s.cut.Unlock()
		for n < size && err == nil && s.ctx.Err() == nil {
			var m int
			m, err = p.data.Read(c.Text[n:size])
			n += m
		}
		s.cut.Lock()
		c.File, c.Layout, c.first, c.last = in.name, l, row == p.lo, row+k == p.hi
		c.Offset = l.Start + int64(row)*int64(l.Size)
		if s.over || s.ctx.Err() != nil || err == errStopped {
			return false
		}
		c.N = n - n%l.Size
		if n < size {
			c.fail = p.data.Broken(c.Offset+int64(n),
				fmt.Sprintf("%s %d of %d", l.Unit, row+n/l.Size+1, l.Rows), err)
		} else if row+k == l.Rows {
			s.cut.Unlock()
			err = format.AtEnd(p.data, l.Start+int64(l.Rows)*int64(l.Size), l.Rows)
			s.cut.Lock()
			if c.fail = err; s.over {
				return false
			}
		}
		if !s.send(c) {
			return false
		}
	}
	return true
}
