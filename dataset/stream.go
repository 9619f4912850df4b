package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/halfspace-ml/halfspace/engine"
)

// Stream reads examples in file order. One goroutine may use it at a time. Close it.
//
// A reader goroutine cuts the text into chunks, Options.Workers goroutines parse them, Next takes
// the results in order and settles what depends on the order: labels, places, counts. Where the
// input pauses, the whole lines that have come are handed on, so that a slow stream is heard line
// by line; how the text is cut never changes the rows. Memory is bounded: see Options.Memory.
type Stream[T engine.Float] struct {
	cfg    *config
	lim    limits
	gate   gate
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
	stop   stopper

	cut    sync.Mutex // guards the two below, and sending
	cutter *cutter[T] // of the file that is read
	over   bool       // nothing is sent any more

	whole    bool // Load: rows may be held without bound, and an index 0 may turn up anywhere
	lab      *labeler
	held     []*rows[T] // labels not decided yet
	heldRows int
	heldMem  int64      // bytes
	told     bool       // that rows are held
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
	s := &Stream[T]{cfg: c, files: files, from: from, whole: whole, lab: newLabeler(c, !whole)}
	if s.lim, err = c.limit(); err != nil {
		return nil, err
	}
	from.limits = &s.lim
	s.gate = gate{most: s.lim.flight, freed: make(chan struct{}, 1)}
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
	in.peek(&s.lim, in.enough)
	format := c.Format
	if err := in.headError(&s.lim, format); err != nil {
		return err
	}
	if format == "" {
		if format, err = in.sniff(); err != nil {
			return err
		}
	}
	if err := c.foreign(in, format, 0); err != nil {
		return err
	}
	s.info.Format, s.info.IndexBase, s.info.BaseFound = format, 1, "columns count from 1"
	p := &s.p
	*p = parsing{format: format, bias: c.bias, one: c.BiasValue, unit: c.Normalize == "unit", stop: c.maxBad == 0, optional: c.LabelsOptional}
	for _, l := range []*label{s.lab.pos, s.lab.neg} {
		if l != nil {
			p.known = append(p.known, *l)
		}
	}
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
	if c.Base != nil && c.IndexBase != "0" && c.IndexBase != "1" {
		p.zeroHint = "index 0, but indices counted from 1 in training: pass --index-base 0 if " +
			"they count from 0 here"
	}
	p.most = maxIndex - uint64(c.bias)
	if base < 0 && s.whole {
		p.shift, p.least = int64(c.bias)-1, 0 // base 1, until an index 0 turns up
		return
	}
	if base < 0 {
		base = 1
		head := in.head[:min(len(in.head), s.lim.head)]
		part := "the first MiB"
		switch {
		case in.paused:
			part = "what came before the first pause"
		case in.slow:
			part = "what came in the first " + headWait.String()
		case len(in.head) <= s.lim.head && in.err == io.EOF && len(s.files) == 1:
			part = "the data"
		case s.lim.head < headSize:
			part = "the first " + inKiB(int64(s.lim.head))
		}
		found = "no index 0 in " + part
		p.zeroHint = "index 0, though " + part + " has none: pass --index-base 0"
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
	if err := s.cfg.foreign(s.pairIn[0], "idx", s.p.pixels); err != nil {
		return err
	}
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
	n := s.lim.workers
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

// checkNext looks whether a further file goes with the first.
func (s *Stream[T]) checkNext(in *input) error {
	in.peek(&s.lim, in.enough)
	if err := in.headError(&s.lim, s.p.format); err != nil {
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
