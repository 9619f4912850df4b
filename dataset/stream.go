package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/halfspace-ml/halfspace/engine"
)

// Stream reads examples in file order. One goroutine may use it at a time. Close it.
//
// A reader goroutine cuts the text into chunks, Options.Workers goroutines parse them, Next takes the results in order and settles what
// depends on the order: labels, places, counts. Memory is bounded by the workers' chunks (a line longer than a chunk makes it grow), and
// by the rows held back until two labels were seen.
type Stream[T engine.Float] struct {
	cfg    *config
	p      parsing
	files  []string
	from   *opener
	first  *input    // the first file, open
	like   Options   // csv: the further files' columns are as these say
	pairs  []idxPair // idx
	pairIn []*input

	ctx    context.Context
	cancel context.CancelFunc
	jobs   chan *chunk[T]
	order  chan *chunk[T] // as jobs, in file order; closed at the end
	spare  chan *chunk[T]
	outs   chan *rows[T]
	wg     sync.WaitGroup // workers
	reader chan struct{}  // closed when the reader has ended

	whole    bool // Load: rows may be held without bound, and an index 0 may turn up anywhere
	lab      *labeler
	held     []*rows[T] // labels not decided yet
	heldRows int
	heldNZ   int
	ready    []*rows[T] // to be returned
	cur      *rows[T]
	pos      int // rows of cur returned
	ids      []int32
	line     int // lines of the file before the chunk
	fileRows int
	good     int64 // rows taken, returned or not
	zero     bool  // some row has an index 0
	maxSq    float64
	info     Info
	view     engine.Block[T]
	err      error // after the rows that are ready
}

// Open opens files as one stream of examples; "-" is standard input. It reads the beginning of the first file (all of idx labels) and
// returns the errors that it finds there; ErrOption and the errors of os.Open otherwise.
func Open[T engine.Float](ctx context.Context, files []string, o Options) (*Stream[T], error) {
	size, err := checkFiles(files)
	if err != nil {
		return nil, err
	}
	s, err := open[T](ctx, files, &opener{}, o, false)
	if err == nil {
		s.info.InputSize = size
	}
	return s, err
}

// OpenReader is Open for one file that is read from r; name stands for it in errors. r is not closed.
func OpenReader[T engine.Float](ctx context.Context, name string, r io.Reader, o Options) (*Stream[T], error) {
	return open[T](ctx, []string{name}, &opener{reader: r}, o, false)
}

func open[T engine.Float](ctx context.Context, files []string, from *opener, o Options, whole bool) (*Stream[T], error) {
	c, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if c.Normalize == "max" && c.Scale == 0 && !whole {
		return nil, fmt.Errorf("normalize max: a stream is not read to its end before it is used: give the scale, or load the data whole: %w", ErrScale)
	}
	s := &Stream[T]{cfg: c, files: files, from: from, whole: whole, lab: newLabeler(c)}
	s.info.Scale = 1
	if c.Normalize == "max" && c.Scale > 0 {
		s.info.Scale = c.Scale
	}
	if err := s.prepare(); err != nil {
		if s.first != nil {
			s.first.Close()
		}
		for _, in := range s.pairIn {
			in.Close()
		}
		return nil, err
	}
	s.start(ctx)
	return s, nil
}

// prepare opens the first file and settles what its head tells.
func (s *Stream[T]) prepare() error {
	c := s.cfg
	in, err := s.from.open(s.files[0])
	if err != nil {
		return err
	}
	s.first = in
	s.info.Compression = in.packed
	in.peek(headSize)
	format := c.Format
	if format != "idx" {
		if err := in.headError(); err != nil {
			return err
		}
	}
	if format == "" {
		if format, err = in.sniff(); err != nil {
			return err
		}
	}
	s.info.Format, s.info.IndexBase, s.info.BaseFound = format, 1, "columns count from 1"
	p := &s.p
	*p = parsing{format: format, bias: c.bias, one: c.BiasValue, unit: c.Normalize == "unit", stop: c.maxBad == 0, optional: c.LabelsOptional}
	if c.Normalize == "max" {
		p.scale = c.Scale // 0 in Load: found at the end
	}
	switch {
	case c.maxBad != math.MaxInt:
		p.keepBad = c.maxBad + 1
	case c.OnBad != nil:
		p.keepBad = math.MaxInt
	}
	if format == "idx" {
		return s.prepareIDX()
	}
	in.stripBOM()
	if len(in.lines(1)) == 0 && in.err == io.EOF {
		return noRows(in.name, in.nothing())
	}
	if format == "fasta" {
		s.info.Dim = spliceDim + c.bias
		p.letters, err = in.sequenceLength()
		return err
	}
	if format == "csv" {
		if err := in.layout(&c.Options); err != nil {
			return err
		}
		s.columns(in.csv)
		return nil
	}
	s.prepareBase()
	return nil
}

// prepareBase decides the index base of svmlight, as far as the head tells.
func (s *Stream[T]) prepareBase() {
	c, p, in := s.cfg, &s.p, s.first
	base, found := c.base, c.baseFound
	p.zeroHint = "index 0, but indices count from 1 here: pass --index-base 0 if they count from 0"
	p.most = maxIndex - uint64(c.bias)
	if base < 0 && s.whole {
		p.shift, p.least = int64(c.bias)-1, 0 // base 1, until an index 0 turns up
		return
	}
	if base < 0 {
		base = 1
		head := in.head[:min(len(in.head), headSize)]
		part := "the first MiB"
		if len(in.head) <= headSize && in.err == io.EOF && len(s.files) == 1 {
			part = "the data"
		}
		found = "no index 0 in " + part
		p.zeroHint = "index 0, though the first MiB of the data has none: pass --index-base 0"
		if mayHaveZero(head) { // rare: look closely
			q := *p
			q.shift, q.keepBad, q.stop = -1, 0, false
			c := chunk[T]{n: bytes.LastIndexByte(head, '\n') + 1, out: &rows[T]{}}
			if c.n == 0 || in.err == io.EOF {
				c.n = len(head)
			}
			c.text = append(bytes.Clone(head[:c.n]), make([]byte, stops)...)
			endText(c.text[c.n:])
			c.parse(&q)
			if c.out.zero {
				base, found = 0, "index 0 occurs in "+part
			}
		}
	}
	s.info.IndexBase, s.info.BaseFound = base, found
	p.shift, p.least = int64(c.bias-base), uint64(base)
}

// prepareIDX opens the pairs of files.
func (s *Stream[T]) prepareIDX() error {
	pairs, err := pairIDX(s.files, func(name string) (*input, error) {
		if s.first != nil && name == s.files[0] {
			in := s.first
			s.first = nil
			return in, nil
		}
		if s.from.reader != nil {
			return nil, fmt.Errorf("%s: idx needs two files: %w", name, ErrFormat)
		}
		return s.from.open(name)
	}, func(in *input) { s.pairIn = append(s.pairIn, in) })
	if err != nil {
		return err
	}
	s.pairs = pairs
	s.p.pixels = pairs[0].pixels
	var seen [256]bool
	var labels []string
	for _, p := range pairs {
		for _, y := range p.y {
			seen[y] = true
		}
	}
	for i, ok := range seen {
		if ok {
			labels = append(labels, byteLabels[i].text)
		}
	}
	if len(labels) > 2 && !s.lab.decided {
		return &RowError{File: pairs[0].labels, Offset: 8,
			What: fmt.Sprintf("%d labels (%s to %s): choose the one to tell from all others, as in --positive %s",
				len(labels), labels[0], labels[len(labels)-1], labels[len(labels)-1]), Err: ErrLabels}
	}
	return nil
}

func (s *Stream[T]) start(ctx context.Context) {
	s.ctx, s.cancel = context.WithCancel(ctx)
	n := s.cfg.Workers
	s.jobs = make(chan *chunk[T], n)
	s.order = make(chan *chunk[T], n+1)
	s.spare = make(chan *chunk[T], 2*n+4)
	s.outs = make(chan *rows[T], 2*n+4)
	s.reader = make(chan struct{})
	go s.read()
	for range n {
		s.wg.Go(s.work)
	}
}

// work parses chunks.
func (s *Stream[T]) work() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case c, ok := <-s.jobs:
			if !ok {
				return
			}
			select {
			case c.out = <-s.outs:
			default:
				c.out = &rows[T]{}
			}
			c.parse(&s.p)
			c.done <- struct{}{}
		}
	}
}

// read cuts the files into chunks.
func (s *Stream[T]) read() {
	defer close(s.reader)
	defer close(s.order)
	defer close(s.jobs)
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
			if in, err = s.from.open(name); err == nil {
				if err = s.checkNext(in); err != nil {
					in.Close()
				}
			}
			if err != nil {
				c := s.chunk(0)
				c.name, c.csv, c.first, c.fail = name, s.first.csv, true, err
				endText(c.text)
				s.send(c)
				return
			}
		}
		ok := s.readText(in)
		in.Close()
		if !ok {
			return
		}
	}
}

// checkNext looks whether a further file goes with the first.
func (s *Stream[T]) checkNext(in *input) error {
	in.peek(headSize)
	if err := in.headError(); err != nil {
		return err
	}
	if s.cfg.Format == "" {
		format, err := in.sniff()
		if err != nil {
			return err
		}
		if format != s.p.format {
			return &RowError{File: in.name, Line: 1, Col: 1, What: fmt.Sprintf("expected %s as in %s, found %s", s.p.format, s.files[0], format), Err: ErrFormat}
		}
	}
	in.stripBOM()
	if len(in.lines(1)) == 0 && in.err == io.EOF {
		return noRows(in.name, in.nothing())
	}
	if s.p.format == "csv" {
		return in.layout(&s.like)
	}
	return nil
}

// chunk returns a chunk to fill, with room for n bytes.
func (s *Stream[T]) chunk(n int) *chunk[T] {
	var c *chunk[T]
	select {
	case c = <-s.spare:
	default:
		c = &chunk[T]{done: make(chan struct{}, 1)}
	}
	*c = chunk[T]{text: sized(c.text, n+stops), done: c.done}
	return c
}

// send hands a chunk to the workers and, in order, to Next.
func (s *Stream[T]) send(c *chunk[T]) bool {
	select {
	case s.order <- c:
	case <-s.ctx.Done():
		return false
	}
	select {
	case s.jobs <- c:
	case <-s.ctx.Done():
		return false
	}
	return c.fail == nil
}

// readText cuts one file at line ends, fasta before headers.
func (s *Stream[T]) readText(in *input) bool {
	done := 0        // bytes before the chunk
	var carry []byte // the beginning of a line, or of a record
	for {
		c := s.chunk(max(s.cfg.chunk, len(carry)+1))
		c.name, c.csv, c.first = in.name, in.csv, done == 0
		n := copy(c.text, carry)
		cut := -1
		var err error
		for cut < 0 && err == nil {
			if n == len(c.text)-stops {
				if n > maxLine {
					err = &RowError{File: in.name, Line: 1, Col: 1, What: "the line is longer than 1 GiB: this is no text", Excerpt: excerpt(c.text[:200], 0), Err: ErrFormat}
					break
				}
				c.text = append(make([]byte, 0, 2*len(c.text)), c.text...)
				c.text = c.text[:cap(c.text)]
			}
			lo := n
			for n < len(c.text)-stops && err == nil {
				var m int
				m, err = in.Read(c.text[n : len(c.text)-stops])
				n += m
				if s.ctx.Err() != nil {
					return false
				}
			}
			if s.p.format == "fasta" { // at a header
				lo = max(lo-1, 0)
				if i := bytes.LastIndex(c.text[lo:n], []byte("\n>")); i >= 0 {
					cut = lo + i + 1
				}
			} else if i := bytes.LastIndexByte(c.text[lo:n], '\n'); i >= 0 {
				cut = lo + i + 1
			}
		}
		switch {
		case err == io.EOF:
			cut, c.last = n, true
		case err != nil:
			cut = max(cut, 0)
			c.fail, c.inLine = err, true
			if !errors.As(err, new(*RowError)) {
				c.fail = in.textError(c.text[cut:n], err)
				c.inLine = errors.As(c.fail, new(*RowError))
			}
		}
		carry = append(carry[:0], c.text[cut:n]...)
		c.n = cut
		endText(c.text[cut:])
		c.header = s.p.format == "csv" && done <= in.header && in.header < done+cut
		done += cut
		last := c.last // c is the stream's once it is sent
		if !s.send(c) {
			return false
		}
		if last {
			return true
		}
	}
}

// endText puts the line ends behind a text.
func endText(b []byte) {
	for i := range b[:stops] {
		b[i] = '\n'
	}
}

// readIDX cuts the images of one pair.
func (s *Stream[T]) readIDX(p *idxPair, in *input) bool {
	per := max(1, s.cfg.chunk/p.pixels)
	for row := 0; row < p.rows; row += per {
		k := min(per, p.rows-row)
		c := s.chunk(k * p.pixels)
		c.name, c.first, c.last, c.labels, c.lname, c.row0 = p.images, row == 0, row+k == p.rows, p.y, p.labels, row
		n, err := 0, error(nil)
		for n < k*p.pixels && err == nil {
			var m int
			m, err = in.Read(c.text[n : k*p.pixels])
			n += m
			if s.ctx.Err() != nil {
				return false
			}
		}
		c.n = n - n%p.pixels
		if n < k*p.pixels {
			c.fail = in.binaryError(16+int64(row*p.pixels+n), fmt.Sprintf("image %d of %d", row+n/p.pixels+1, p.rows), err)
		}
		if !s.send(c) {
			return false
		}
	}
	return true
}
