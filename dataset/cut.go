package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
)

// read cuts the files into chunks.
func (s *Stream[T]) read() {
	defer close(s.reader)
	s.cut.Lock()
	defer s.cut.Unlock()
	defer s.endReading()
	if s.p.format == "idx" {
		for i := range s.pairs {
			if !s.readIDX(&s.pairs[i], s.pairIn[i]) {
				break
			}
		}
		for _, in := range s.pairIn {
			in.Close()
		}
		return
	}
	in := s.first
	for i, name := range s.files {
		if i > 0 {
			var err error
			if in, err = s.openNext(name); err != nil {
				if err != errStopped {
					c := s.chunk(0)
					c.name, c.csv, c.first, c.fail = name, s.first.csv, true, err
					endText(c.text)
					s.send(c)
				}
				return
			}
		}
		in.stop = &s.stop
		ok := s.readText(in)
		in.Close()
		if !ok {
			return
		}
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
func (s *Stream[T]) openNext(name string) (in *input, err error) {
	s.cut.Unlock()
	defer s.cut.Lock()
	if !s.stop.enter() {
		return nil, errStopped
	}
	defer s.stop.leave()
	if in, err = s.from.open(name); err != nil {
		return nil, err
	}
	if err = s.checkNext(in); err != nil {
		in.Close()
		return nil, err
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
	if cap(c.text) > 2*s.lim.chunk+stops { // of a long line: don't keep that for ever
		c.text = nil
	}
	*c = chunk[T]{text: sized(c.text, n+stops), done: c.done}
	return c
}

// send hands a chunk to the workers and, in order, to Next. The caller holds s.cut.
func (s *Stream[T]) send(c *chunk[T]) bool {
	if s.over || !s.gate.take(int64(c.n), s.ctx.Done()) {
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

// endText puts the line ends behind a text.
func endText(b []byte) {
	for i := range b[:stops] {
		b[i] = '\n'
	}
}

// cutter cuts the text of one file at line ends, fasta before headers, into chunks. While it waits
// for text in the middle of a chunk, the whole lines that are there can be taken out of it.
// Stream.cut guards it.
type cutter[T engine.Float] struct {
	s       *Stream[T]
	in      *input
	c       *chunk[T] // of its text, [:lo] is handed over already, and [lo:n] is there
	lo, n   int
	clean   int  // up to here no line ends behind lo
	done    int  // bytes of the file handed over
	any     bool // something was handed over
	reading bool // a read into c.text[n:] is under way
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
			k.n = copy(k.c.text, k.c.text[k.lo:k.n])
			k.clean = max(0, k.clean-k.lo)
			k.lo = 0
		}
		room := len(k.c.text) - stops
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
		m, err := in.Read(k.c.text[k.n:room])
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
	from := max(k.lo, k.clean)
	i := -1
	if k.s.p.format == "fasta" { // at a header
		from = max(k.lo, k.clean-1)
		i = bytes.LastIndex(k.c.text[from:k.n], []byte("\n>"))
	} else {
		i = bytes.LastIndexByte(k.c.text[from:k.n], '\n')
	}
	k.clean = k.n
	if i < 0 {
		return k.lo
	}
	return from + i + 1
}

// send hands over a chunk of text that follows what was.
func (k *cutter[T]) send(c *chunk[T], n int) bool {
	c.name, c.csv, c.first, c.n = k.in.name, k.in.csv, !k.any, n
	endText(c.text[n:])
	c.header = k.s.p.format == "csv" && k.done <= k.in.header && k.in.header < k.done+n
	k.done += n
	k.any = true
	k.ticks = 0
	return k.s.send(c)
}

// handOver sends a copy of the whole lines that are there.
func (k *cutter[T]) handOver() {
	if end := k.whole(); end > k.lo {
		c := k.s.chunk(end - k.lo)
		n := copy(c.text, k.c.text[k.lo:end])
		k.lo = end
		k.send(c, n)
	}
}

// next sends the full chunk, or makes it longer if it is the beginning of a line.
func (k *cutter[T]) next() error {
	c, l := k.c, &k.s.lim
	old := k.clean
	if end := k.whole(); end > 0 {
		k.c = k.s.chunk(max(l.chunk, k.n-end+1))
		k.n = copy(k.c.text, c.text[end:k.n])
		k.clean = k.n
		k.send(c, end)
		return nil
	}
	// a long line is looked at: what is no text may never end
	if least := min(chunkSize, l.line/2); k.n >= least {
		if old < least {
			old = 0
		}
		if i := binaryAt(c.text[old:k.n]); i >= 0 {
			return k.in.binaryByte(int64(k.done+old+i), c.text[old+i])
		}
	}
	if k.n > l.line {
		return l.lineError(k.in.name, c.text[:k.n])
	}
	text := make([]byte, min(2*k.n, l.line+1)+stops)
	copy(text, c.text[:k.n])
	c.text = text
	return nil
}

// end sends the last chunk of the file, and the error that ended it unless that is io.EOF.
func (k *cutter[T]) end(err error) bool {
	if k.lo > 0 {
		k.n = copy(k.c.text, k.c.text[k.lo:k.n])
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
		err = k.in.textError(c.text[n:k.n], err)
	}
	c.fail, c.inLine = err, errors.As(err, &e) && e.Line > 0
	k.send(c, n)
	return false
}

// readIDX cuts the images of one pair. The caller holds s.cut; it is free while a read may wait.
func (s *Stream[T]) readIDX(p *idxPair, in *input) bool {
	in.stop = &s.stop
	per := max(1, s.lim.chunk/p.pixels)
	for row := 0; row < p.rows; row += per {
		k := min(per, p.rows-row)
		c := s.chunk(k * p.pixels)
		c.name, c.first, c.last, c.labels, c.lname, c.row0 = p.images, row == 0, row+k == p.rows,
			p.y, p.labels, row
		n, err := 0, error(nil)
		s.cut.Unlock()
		for n < k*p.pixels && err == nil && s.ctx.Err() == nil {
			var m int
			m, err = in.Read(c.text[n : k*p.pixels])
			n += m
		}
		s.cut.Lock()
		if s.over || s.ctx.Err() != nil || err == errStopped {
			return false
		}
		c.n = n - n%p.pixels
		if n < k*p.pixels {
			c.fail = in.binaryError(16+int64(row*p.pixels+n),
				fmt.Sprintf("image %d of %d", row+n/p.pixels+1, p.rows), err)
		}
		if !s.send(c) {
			return false
		}
	}
	return true
}
