package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
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
	p      format.Settings
	opts   *format.Options
	layout *format.Layout // of the first file
	files  []string
	from   *opener
	first  *input      // the first file, open
	some   []byteRange // the parts of the files that are read; nil: all files, whole
	parts  []part      // all files, open, where the format opens them together

	foreign bool // what is read is the caller's, and may wait for ever

	ctx    context.Context
	cancel context.CancelFunc
	jobs   chan *chunk[T]
	order  chan *chunk[T] // as jobs, in file order; closed at the end
	spare  chan *chunk[T]
	outs   chan *rows[T]
	sets   chan *format.NameSet
	wg     sync.WaitGroup // workers
	reader chan struct{}  // closed when the reader has ended
	stop   stopper

	cut    sync.Mutex // guards the two below, and sending
	cutter *cutter[T] // of the file that is read
	over   bool       // nothing is sent any more

	whole    bool // Load: rows may wait without bound, and an index 0 may turn up anywhere
	lab      *labeler
	held     []*rows[T] // labels not decided yet
	heldRows int
	heldMem  int64      // bytes
	warned   bool       // OnWarn was called with how many rows wait
	ready    []*rows[T] // to be returned
	cur      *rows[T]
	pos      int // rows of cur returned
	places   []placed
	sum      uint64 // of the rows returned before view, with Options.Sums
	ids      []int32
	line     int // lines of the file before the chunk
	fileRows int
	good     int64 // rows taken, returned or not
	zero     bool  // some row has an index 0
	maxSq    float64
	after    finishing[T] // what is done to values behind the parsers
	info     Info
	view     engine.Block[T]
	doubt    *RowError // that the labels are labels; nil: none, or not any more
	err      error     // after the rows that are ready
}

// Open opens files as one stream of examples; "-" is standard input. It reads the beginning of the
// first file (all of idx labels) and returns the errors that it finds there; ErrOption and the
// errors of os.Open otherwise.
func Open[T engine.Float](ctx context.Context, files []string, o Options) (*Stream[T], error) {
	return openFiles[T](ctx, files, o, false)
}

// openFiles is Open, of a stream that may be taken whole.
func openFiles[T engine.Float](ctx context.Context, files []string, o Options,
	whole bool) (*Stream[T], error) {
	size, err := o.checkFiles(files)
	if err != nil {
		return nil, err
	}
	s, err := open[T](ctx, files, &opener{}, o, whole)
	if err == nil {
		s.info.InputSize = size
	}
	return s, err
}

// OpenReader is Open for one file that is read from r; name stands for it in errors. r is not
// closed.
func OpenReader[T engine.Float](ctx context.Context, name string, r io.Reader,
	o Options) (*Stream[T], error) {
	return open[T](ctx, []string{name}, &opener{reader: r}, o, false)
}

func open[T engine.Float](ctx context.Context, files []string, from *opener, o Options,
	whole bool) (*Stream[T], error) {
	s, err := newStream[T](files, from, o, whole)
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, s.prepare)
}

// newStream is a stream of which nothing is open yet.
func newStream[T engine.Float](files []string, from *opener, o Options,
	whole bool) (*Stream[T], error) {
	c, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if c.Normalize == "max" && c.Scale == 0 && !whole {
		return nil, fmt.Errorf("normalize max: a stream is not read to its end before it is "+
			"used: give the scale, or load the data whole: %w", ErrScale)
	}
	if c.LabelsLater && whole {
		return nil, fmt.Errorf("labels of a whole data set don't come later: %w", ErrOption)
	}
	c.Sums = c.Sums && !whole
	s := &Stream[T]{cfg: c, files: files, from: from, whole: whole, lab: newLabeler(c, !whole)}
	if s.lim, err = c.limit(); err != nil {
		return nil, err
	}
	s.lim.files = len(files)
	from.limits, from.by = &s.lim, c.OpenFile
	s.gate = gate{most: s.lim.flight, freed: make(chan struct{}, 1)}
	s.info.Scale = 1
	if c.Normalize == "max" && c.Scale > 0 {
		s.info.Scale = c.Scale
	}
	return s, nil
}

// begin starts to read what prepare opens.
func (s *Stream[T]) begin(ctx context.Context, prepare func() error) (*Stream[T], error) {
	if err := prepare(); err != nil {
		s.closeFiles()
		return nil, s.locate(err)
	}
	s.start(ctx)
	return s, nil
}

// closeFiles closes what prepare has opened, before anything is read.
func (s *Stream[T]) closeFiles() {
	if s.first != nil {
		s.first.Close()
	}
	for _, p := range s.parts {
		p.in.Close()
	}
}

// part is a file that is no text, standing at its first example.
type part struct {
	in     *input
	layout *format.Layout
	lo, hi int         // examples that are read, where all take as many bytes
	skip   bool        // none is read
	data   format.File // what they are read from
}

// divisible reports whether the examples are all of the file, each as many bytes of it.
func (p *part) divisible() bool { return p.in.runs == nil && p.data == format.File(p.in) }

// prepare opens the first file and settles what its head says.
func (s *Stream[T]) prepare() error {
	c := s.cfg
	if f := c.format; f != nil && !f.Files() {
		return badOption("format", f.Name, format.Or(append([]string{"auto"},
			format.Names(nil)...)))
	}
	if err := s.divided(); err != nil {
		return err
	}
	in, err := s.from.open(s.files[0])
	if err != nil {
		return err
	}
	s.first = in
	s.info.Compression = in.packed
	in.peek(&s.lim, func() bool { return in.enough(c.format) })
	if err := in.headError(&s.lim, c.format); err != nil {
		return err
	}
	f := c.format
	if f == nil {
		if f, err = format.Recognise(in.begins(&s.lim), c.trained()); err != nil {
			return err
		}
	}
	if err := c.foreign(in.name, f); err != nil {
		return err
	}
	s.settings(f)
	s.info.Format = f.Name
	s.opts = s.options()
	if f.Open != nil {
		if err = s.openParts(); err == nil {
			s.layout = s.parts[0].layout
		}
	} else {
		in.layout, err = s.readHead(in)
		s.layout = in.layout
	}
	if err != nil {
		return err
	}
	if err := s.arranged(f); err != nil {
		return err
	}
	return s.cutRows()
}

// arranged settles what follows from the layout of the first file.
func (s *Stream[T]) arranged(f *format.Format) error {
	c, l, to := s.cfg, s.layout, &s.info
	to.IndexBase, to.BaseFound = l.IndexBase, l.BaseFound
	to.LabelKey, to.IDKey = l.LabelKey, l.IDKey
	to.Decided = l.Decided
	if c.OnWarn != nil {
		for _, odd := range l.Odd {
			c.OnWarn(odd)
		}
	}
	to.Columns, to.LabelCol, to.Header, to.Kinds = l.Columns, l.LabelCol, l.Header, l.Kinds
	if to.Kind = l.Kind; to.Kind == "" {
		to.Kind = f.Name
	} else if kind := format.Lookup(l.Kind); kind != nil {
		if err := c.foreign(s.files[0], kind); err != nil {
			return err
		}
	}
	if err := s.fitPreset(); err != nil {
		return err
	}
	s.setFinishing()
	if format.Lookup(to.Kind).HasColumns() {
		to.WeightCol = c.WeightCol
	}
	if l.Dim > 0 {
		to.Dim = l.Dim + c.bias
	}
	return nil
}

// settings says how chunks are parsed.
func (s *Stream[T]) settings(f *format.Format) {
	c := s.cfg
	s.p = format.Settings{Format: f, Bias: c.bias, One: c.BiasValue, Unit: c.Normalize == "unit",
		Stop: c.maxBad == 0, Optional: c.LabelsOptional || c.LabelsLater,
		IDs: c.LabelsLater, KeepDiv: c.Bytes && s.whole,
		Lines:    c.Lines && !s.whole,
		HashBits: c.HashBits, Pairs: c.pairs}
	p := &s.p
	if s.lab.many {
		p.Labels = unnamedClasses
	}
	for _, name := range c.Classes {
		p.Known = append(p.Known, format.MakeLabel(name))
	}
	for _, l := range []*format.Label{s.lab.pos, s.lab.neg} {
		if l != nil {
			p.Known = append(p.Known, *l)
		}
	}
	if c.Normalize == "max" {
		p.Scale = c.Scale // 0 in Load: found at the end
	}
	switch {
	case c.maxBad != math.MaxInt:
		p.KeepBad = c.maxBad + 1
	case c.OnBad != nil:
		p.KeepBad = math.MaxInt
	}
}

// options are the part of Options that a format needs.
func (s *Stream[T]) options() *format.Options {
	c := s.cfg
	o := &format.Options{
		Whole: s.whole, Files: len(s.files), Bias: c.bias, Single: unsafe.Sizeof(T(0)) == 4,
		Workers: s.lim.workers,
		Base:    c.base, BaseFound: c.baseFound,
		BaseTrained: c.Base != nil && c.IndexBase != "0" && c.IndexBase != "1",
		WeightCol:   c.WeightCol, WeightOptional: c.WeightOptional || c.LabelsOptional,
		IDCol: c.IDCol, IDs: c.LabelsLater, LabelKey: c.LabelKey, LabelCol: c.LabelCol,
		Columns: c.Columns, Header: c.Header, HeaderRow: c.HeaderRow,
		Label: c.Label,
		Kinds: c.Kinds, TextCols: c.TextCols, NumberCols: c.NumberCols, IgnoreCols: c.IgnoreCols,
		Missing:  c.Missing,
		Optional: c.LabelsOptional, Limits: &s.lim.Limits,
		Hashed: c.HashBits > 0 || len(c.pairs) > 0, Inflate: inflate,
		Lookup: format.Lookup,
	}
	if c.Trained == s.p.Format.Name && !c.AnyFormat {
		o.TrainedDim = c.Dim
	}
	o.Trained = c.trained()
	switch trained := format.Lookup(c.Trained); {
	case c.HashBits > 0 || len(c.pairs) > 0 || len(c.Names) > 0:
		o.Naming = format.Words
	case trained.HasIndices():
		o.Naming = format.Numbers
	case trained != nil:
		o.Naming = format.Words
	}
	return o
}

// readHead finds the layout of a file.
func (s *Stream[T]) readHead(in *input) (l *format.Layout, err error) {
	if runs := s.p.Format.Runs; runs != nil {
		in.runs, l, err = runs(in, s.opts, s.layout)
		return l, err
	}
	in.stripBOM()
	h := in.begins(&s.lim)
	if len(h.Lines(1)) == 0 && h.Whole {
		return nil, noRows(in.name, in.nothing())
	}
	if s.p.Format.Layout == nil {
		return &format.Layout{IndexBase: 1}, nil
	}
	return s.p.Format.Layout(h, s.opts, s.layout)
}

// openParts opens files that go together.
func (s *Stream[T]) openParts() error {
	f := s.p.Format
	parts, err := f.Open(s.files, s.opts, func(name string) (format.File, error) {
		if s.first != nil && name == s.files[0] {
			in := s.first
			s.first = nil
			return in, nil
		}
		if s.from.reader != nil {
			return nil, fmt.Errorf("%s: %s needs two files: %w", name, f.Name, ErrFormat)
		}
		return s.from.open(name)
	})
	for _, p := range parts {
		q := part{in: p.File.(*input), layout: p.Layout, hi: p.Layout.Rows, data: p.Data}
		if q.data == nil {
			q.data = p.File
		}
		q.in.layout, q.in.runs = p.Layout, p.Runs
		s.parts = append(s.parts, q)
	}
	return err
}

func (s *Stream[T]) start(ctx context.Context) {
	s.ctx, s.cancel = context.WithCancel(ctx)
	n := s.lim.workers
	s.jobs = make(chan *chunk[T], n)
	s.order = make(chan *chunk[T], n+1)
	s.spare = make(chan *chunk[T], 2*n+4)
	s.outs = make(chan *rows[T], 2*n+4)
	s.sets = make(chan *format.NameSet, n+4)
	s.reader = make(chan struct{})
	for range n {
		s.wg.Go(s.work)
	}
	go s.read() // which may wait for all of them
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
			case c.rows = <-s.outs:
			default:
				c.rows = &rows[T]{}
			}
			c.Out = &c.rows.Rows
			select {
			case c.Out.Names = <-s.sets:
			default:
			}
			c.Parse(&s.p)
			if s.after.By != nil && c.Out.Names == nil { // else behind Settle
				c.Out.MaxSq = s.after.rows(&c.Out.Block, 0, c.Out.N)
			}
			if s.cfg.Sums {
				c.rows.sum()
			}
			c.done <- struct{}{}
		}
	}
}

// checkNext looks whether a further file goes with the first.
func (s *Stream[T]) checkNext(in *input) (err error) {
	f := s.p.Format
	in.peek(&s.lim, func() bool { return in.enough(f) })
	if err := in.headError(&s.lim, f); err != nil {
		return err
	}
	if s.cfg.format == nil {
		trained := s.cfg.trained()
		if trained == "" {
			trained = f.Name // as the first file
		}
		other, err := format.Recognise(in.begins(&s.lim), trained)
		if err != nil {
			return err
		}
		if other != f {
			return &RowError{File: in.name, Line: 1, Col: 1, Err: ErrFormat,
				What: fmt.Sprintf("expected %s as in %s, found %s", f.Name, s.files[0],
					other.Name)}
		}
	}
	in.layout, err = s.readHead(in)
	return err
}
