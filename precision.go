package halfspace

import (
	"context"
	"fmt"
	"slices"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/spread"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// scorer scores rows, in a precision that it knows.
type scorer interface {
	// outputs appends the row's scores to dst: one, or one a class.
	outputs(h *hypothesis, r *Row, dst []float64) ([]float64, error)
	// proba appends its probabilities: that of the positive label, or one a class.
	proba(h *hypothesis, r *Row, dst []float64) ([]float64, error)
	// rows sets dst to the scores of rows, or with proba to their probabilities.
	rows(h *hypothesis, r *Rows, dst []float64, proba bool) error
	// outputsOf is how many of these a row has.
	outputsOf() int
	// hypothesis lays open what scores.
	hypothesis() (learner.Hypothesis, bool)
	// each hands on what is known of each row of files, until yield returns false.
	each(ctx context.Context, o dataset.Options, files []string, yield func(row *said) bool) error
	// capture makes the model of what scores.
	capture(name string, c learner.Config, seed uint64) (*model.Model, error)
}

// said is what is known of a row. Its slices are good during the call only.
type said struct {
	outputs  []float64 // one, or one a class
	proba    []float64 // likewise; nil: none
	labelled bool      // the rest is known
	foreign  bool      // the row has a label that the model does not know
	y        float64   // -1 or +1; of classes +1
	class    int       // of classes its number
}

// teacher is a learner, in a precision that it knows.
type teacher interface {
	// one learns a row of label y, or of a class that is not below 0.
	one(h *hypothesis, r *Row, y float64, class int) (score float64, err error)
	// rows learns rows lo to hi, whose labels have these numbers (Model.numberOf), or, where ctx
	// ends or the learner refuses one, the first of them.
	rows(ctx context.Context, h *hypothesis, r *Rows, lo, hi int, labels []int32) (rowsLearned,
		error)
	snapshot() scorer
	bytes() int64 // that the learner's state holds
	// interval is Model.Interval of a row, after so many examples were learned.
	interval(h *hypothesis, r *Row, share float64, presented uint64) (low, high float64, err error)
}

// begin makes the Model of a learner that has learned nothing.
func begin[T engine.Float](e learner.Entry, c learner.Config, file model.Model) (*Model, error) {
	l, err := learner.New[T](e, c, learner.Env{Seed: file.Seed})
	if err != nil {
		return nil, err
	}
	first, err := model.Capture(file.Learner, c, file.Seed, l)
	if err != nil {
		return nil, err
	}
	file.Config = first.Config
	return newModel(c, file, learned(l, nil), &teaching[T]{l: l}), nil
}

// restore makes the Model of what was captured.
func restore[T engine.Float](file *model.Model) (*Model, error) {
	_, c, err := file.Settings()
	if err != nil {
		return nil, err
	}
	own := *file
	own.State = learner.State{}
	if file.PredictOnly {
		p, err := model.RestorePredictor[T](file, nil)
		if err != nil {
			return nil, err
		}
		return newModel(c, own, fixed(p, nil), &known[T]{p, file.Learnable()}), nil
	}
	l, err := model.Restore[T](file, nil)
	if err != nil {
		return nil, err
	}
	return newModel(c, own, learned(l, file.Calibration),
		&teaching[T]{l: l, calibration: file.Calibration}), nil
}

func newModel(c learner.Config, file model.Model, s scorer, t teacher) *Model {
	m := &Model{file: file, config: c, learn: t}
	m.hypothesis = newHypothesis(&m.file.Prep)
	if file.Threshold != nil {
		m.from = file.Threshold.Score
	}
	traits := c.Traits()
	m.many, m.closed, m.weights = traits.Classes, traits.ClassCount > 0, traits.Weights
	m.score = s
	return m
}

// scores is a scorer in the precision of T, of a learner as it is or of what one knew.
type scores[T engine.Float] struct {
	score func(b *engine.Block[T], dst []float64) error
	prob  learner.Prober[T] // nil: none
	count func() int        // of scores, which may grow
	view  func() learner.Predictor[T]
	save  func(name string, c learner.Config, seed uint64) (*model.Model, error)
	works scratch.Stack[work[T]]
}

// learned scores with a learner, whose probabilities are those of the calibration, if there is one.
func learned[T engine.Float](l learner.Learner[T], by *learner.Calibration) *scores[T] {
	s := &scores[T]{score: l.Score, prob: learner.ProberOf(l),
		count: func() int { return learner.OutputsOf(l) },
		view:  func() learner.Predictor[T] { return learner.ViewOf(l) },
		save: func(name string, c learner.Config, seed uint64) (*model.Model, error) {
			return model.Capture(name, c, seed, l)
		}}
	if by != nil {
		s.prob = learner.CalibratedProber(l, s.count, *by)
	}
	return s
}

// fixed is learned of what a learner knew.
func fixed[T engine.Float](p learner.Predictor[T], by *learner.Calibration) *scores[T] {
	s := &scores[T]{score: p.Score, prob: learner.ProbaOf(p), count: p.Outputs,
		view: func() learner.Predictor[T] { return p },
		save: func(name string, c learner.Config, seed uint64) (*model.Model, error) {
			return model.CapturePredictor(name, c, seed, p)
		}}
	if by != nil {
		s.prob = learner.CalibratedProber(p, s.count, *by)
	}
	return s
}

func (s *scores[T]) outputs(h *hypothesis, r *Row, dst []float64) ([]float64, error) {
	w := s.works.Take()
	defer s.works.Give(w)
	dst, to := s.room(dst)
	return dst, s.score(w.example(h, r, false), to)
}

func (s *scores[T]) proba(h *hypothesis, r *Row, dst []float64) ([]float64, error) {
	if s.prob == nil {
		return dst, noProba()
	}
	w := s.works.Take()
	defer s.works.Give(w)
	dst, to := s.room(dst)
	return dst, s.prob.Proba(w.example(h, r, false), to)
}

func noProba() error {
	return fmt.Errorf("halfspace: scores of this learner are margins: %w", ErrProba)
}

func (s *scores[T]) outputsOf() int { return s.count() }

func (s *scores[T]) hypothesis() (learner.Hypothesis, bool) {
	return learner.HypothesisOf(s.view())
}

// room appends places for the outputs of an example.
func (s *scores[T]) room(dst []float64) (all, to []float64) {
	n, k := len(dst), s.count()
	all = slices.Grow(dst, k)[:n+k]
	return all, all[n:]
}

func (s *scores[T]) each(ctx context.Context, o dataset.Options, files []string,
	yield func(row *said) bool) error {
	stream, _, done, err := training.Open[T](ctx, files, o)
	if err != nil {
		return err
	}
	defer done()
	k := s.count()
	proba := make([]float64, eval.DefaultBlock*k)
	for {
		b, err := stream.Next()
		if err != nil {
			return eof(err)
		}
		row, ended := 0, false
		err = eval.Score(ctx, s.view(), eval.NewMemory(b, nil),
			func(b *engine.Block[T], f []float64) error {
				if s.prob != nil {
					if err := s.prob.Proba(b, proba); err != nil {
						return err
					}
				}
				for i := 0; i < b.Len() && !ended; i++ {
					x := said{outputs: f[i*k:][:k], labelled: stream.Labelled(row),
						foreign: stream.Foreign(row),
						y:       float64(b.Y[i])}
					if s.prob != nil {
						x.proba = proba[i*k:][:k]
					}
					if b.Class != nil {
						x.class = int(b.Class[i])
					}
					row++
					ended = !yield(&x)
				}
				return nil
			})
		if err != nil || ended {
			return err
		}
	}
}

func (s *scores[T]) capture(name string, c learner.Config, seed uint64) (*model.Model, error) {
	return s.save(name, c, seed)
}

// teaching is a teacher in the precision of T.
type teaching[T engine.Float] struct {
	l           learner.Learner[T]
	calibration *learner.Calibration // nil: none

	spread   *spread.Spread[T] // of the members, after so many examples; nil: not asked for yet
	spreadAt uint64

	work  work[T]
	class [1]int32
	round [1]learner.Round

	signs   []T // of several rows
	classes []int32
	weights []T
	rounds  []learner.Round
	size    int // of a block that takes little of aBlock
	view    engine.Block[T]
}

func (t *teaching[T]) one(h *hypothesis, r *Row, y float64, class int) (float64, error) {
	b := t.work.example(h, r, true)
	b.Y, b.Class = append(b.Y[:0], T(y)), nil
	if class >= 0 {
		t.class[0] = int32(class)
		b.Class = t.class[:]
	}
	if weight, weighs, _ := r.weightOf(h); weighs {
		t.weights = append(t.weights[:0], T(weight))
		b.W = t.weights
	}
	err := learner.Learn(t.l, b, t.round[:])
	b.W = nil
	return t.round[0].Score, err
}

func (t *teaching[T]) snapshot() scorer {
	return fixed(t.l.Snapshot(), t.calibration)
}

func (t *teaching[T]) bytes() int64 { return t.l.Bytes() }

func (k *known[T]) bytes() int64 { return k.p.Bytes() }

// known is a teacher that learns no more.
type known[T engine.Float] struct {
	p   learner.Predictor[T]
	why error
}

func (k *known[T]) one(*hypothesis, *Row, float64, int) (float64, error) { return 0, k.why }

func (k *known[T]) snapshot() scorer { return fixed(k.p, nil) }

// work is scratch of a call.
type work[T engine.Float] struct{ b, asIs engine.Block[T] }

// finish scales and normalises an example as the model's files were; where it is to be learned, it
// changes what is known of the scales. The indices of an example of columns are nil.
func finish[T engine.Float](h *hypothesis, idx []int32, val []T, learn bool) {
	f := format.Finishing{Bias: h.bias, Lead: h.lead, Words: h.prep.Words()}
	switch k := h.prep.Scaling; {
	case k == nil:
	case learn:
		if len(k.Known) == 0 && (idx == nil || f.Words) {
			k.Columns = true // of a new model, whose first rows say so
		}
		f.Known = k
	default:
		f.By = k
	}
	switch h.prep.Normalize {
	case "unit":
		f.Unit = true
	case "max":
		f.Scale = h.prep.Scale
	}
	format.Finish(&f, idx, val)
}

// example prepares a row as files are: scale, bias, then normalising.
func (w *work[T]) example(h *hypothesis, r *Row, learn bool) *engine.Block[T] {
	b := &w.b
	b.Reset()
	if h.columns() {
		row := w.spread(h, r)
		finish(h, nil, row, learn)
	} else {
		w.list(h, r)
		finish(h, b.Idx, b.Val, learn)
	}
	return b
}

// list makes a sparse example.
func (w *work[T]) list(h *hypothesis, r *Row) {
	b := &w.b
	b.X, b.Stride, b.Dim = nil, 0, h.prep.Dim+h.bias
	b.Idx, b.Val, b.Ptr = b.Idx[:0], b.Val[:0], append(b.Ptr[:0], 0)
	w.beginRow(h)
	nothing(h, b.Val[h.bias:])
	for k, i := range r.idx {
		if int(i) < h.lead {
			b.Val[int(i)+h.bias] = T(r.val[k])
			continue
		}
		b.Idx, b.Val = append(b.Idx, i+int32(h.bias)), append(b.Val, T(r.val[k]))
	}
	for range r.unknown { // behind all that the model has, as where files are read
		next := int32(h.prep.Dim + h.bias)
		if n := len(b.Idx); n > 0 {
			next = max(next, b.Idx[n-1]+1)
		}
		b.Idx, b.Val = append(b.Idx, next), append(b.Val, 1)
	}
	if n := len(b.Idx); n > 0 {
		b.Dim = max(b.Dim, int(b.Idx[n-1])+1)
	}
	b.Ptr = append(b.Ptr, len(b.Idx))
}

// beginRow begins a sparse row, with what each has, and returns where it is.
func (w *work[T]) beginRow(h *hypothesis) (first int) {
	b := &w.b
	first = len(b.Idx)
	if h.bias > 0 {
		b.Idx, b.Val = append(b.Idx, 0), append(b.Val, T(h.value))
	}
	for i := range h.lead {
		b.Idx, b.Val = append(b.Idx, int32(i+h.bias)), append(b.Val, 0)
	}
	return first
}

// spread makes a dense example.
func (w *work[T]) spread(h *hypothesis, r *Row) []T {
	b, dim := &w.b, h.prep.Dim
	if n := len(r.idx); n > 0 {
		dim = max(dim, int(r.idx[n-1])+1)
	}
	b.Ptr, b.Idx, b.Val = nil, b.Idx[:0], b.Val[:0]
	b.Dim = dim + h.bias
	b.Stride = format.Stride(b.Dim)
	if cap(b.X) < b.Stride {
		b.X = engine.Aligned[T](b.Stride)
	}
	b.X = b.X[:b.Stride]
	clear(b.X)
	row := w.denseRow(h, 0)
	if h.dense {
		nothing(h, row[h.bias:])
	}
	for k, i := range r.idx {
		row[int(i)+h.bias] = T(r.val[k])
	}
	return row
}

// denseRow returns row i of the block, with what each has.
func (w *work[T]) denseRow(h *hypothesis, i int) []T {
	row := w.b.X[i*w.b.Stride:][:w.b.Dim]
	if h.bias > 0 {
		row[0] = T(h.value)
	}
	return row
}
