package halfspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/training"
)

// ErrRows is returned for Rows whose slices don't fit together, or whose values no example can
// have. Nothing is learned or scored of the call's rows then, but of LearnRows those that it says.
var ErrRows = errors.New("bad rows")

// Rows are examples in a program's own arrays: a matrix with a row for each, by rows and sparse
// where Ptr is given (CSR, as SciPy and others have it), else dense. A call reads the arrays and
// keeps none of them.
//
// Features have the numbers that Row.At has less the first one's: column 0 is the first of them.
// Values are finite; of a sparse row indices ascend, from 0, below Dim.
type Rows struct {
	N, Dim int // examples and features

	// Ptr has N+1 offsets: row i has the indices Idx[Ptr[i]:Ptr[i+1]] and values of the same
	// places. nil: row i has the Dim values from i*Stride on, and Stride 0 stands for Dim.
	Ptr    []int
	Idx    []int32
	Stride int

	// The values, one of the two. They are rounded to the model's precision.
	F32 []float32
	F64 []float64

	// Labels are numbers of Names, -1 where there is none; nil: none are known. They are needed to
	// learn, and not looked at else.
	Labels []int32
	Names  []string

	// Weights are of 0 or more, one a row; nil: all are 1. Only learners that take some learn with
	// them: see learner.ErrWeights.
	Weights []float64
}

// batchRows is how many rows are prepared, and then learned or scored, at a time.
const batchRows = 1024

// TrainRows is Train on rows in memory: o.Files is not looked at, and what o asks of the text of
// files says nothing. The model is the one that the command makes, to the byte, of a file that has
// the same numbers, as NumPy writes them or as svmlight with indices from 1.
//
// With options that need the data as a whole (epochs, shuffled orders, fits) the rows are copied
// once, else some at a time.
func TrainRows(ctx context.Context, o Options, rows *Rows) (*Model, error) {
	if err := rows.check(true); err != nil {
		return nil, err
	}
	o.Files = []string{"rows"}
	res, err := training.Run(ctx, o, training.Env{Repeats: true,
		Open: func(context.Context, string) (training.Source, error) {
			return training.Source{Blocks32: &batches[float32]{rows: rows},
				Blocks64: &batches[float64]{rows: rows}}, nil
		}})
	return trained(res, err)
}

// LearnRows learns the rows in their order, as LearnOne learns one, in the caller's goroutine, and
// returns how many of them were mistakes before they were learned: y f(x) of 0 or less, or another
// class predicted. Where ctx ends, or a row is refused (ErrRows, ErrLabel and the learner's), the
// rows before are learned, some 1000 at a time, and Presented has counted them.
//
// Cost beside learning: a copy of the values.
func (m *Model) LearnRows(ctx context.Context, rows *Rows) (mistakes int64, err error) {
	m.hypothesis.check()
	if err := rows.check(true); err != nil {
		return 0, err
	}
	if err := m.hypothesis.fits(rows, true); err != nil {
		return 0, err
	}
	known := make([]int32, len(rows.Names)) // the class or sign of a label; 0: not looked up yet
	for lo := 0; lo < rows.N; lo += batchRows {
		if ctx.Err() != nil {
			return mistakes, context.Cause(ctx)
		}
		n, err := m.learnBatch(rows, lo, min(lo+batchRows, rows.N), known)
		if mistakes += n; err != nil {
			return mistakes, err
		}
	}
	return mistakes, nil
}

// learnBatch learns rows lo to hi.
func (m *Model) learnBatch(rows *Rows, lo, hi int, known []int32) (mistakes int64, err error) {
	p := &m.file.Prep
	signs := m.signs[:0]
	for i := lo; i < hi; i++ {
		k := rows.Labels[i]
		if k < 0 {
			return 0, fmt.Errorf("halfspace: row %d has no label: %w", i, ErrRows)
		}
		if known[k] == 0 {
			if known[k], err = m.numberOf(rows.Names[k]); err != nil {
				return 0, fmt.Errorf("row %d: %w", i, err)
			}
		}
		signs = append(signs, known[k])
	}
	m.signs = signs
	mistakes, err = m.learn.rows(m.hypothesis, rows, lo, hi, signs)
	if err != nil {
		return mistakes, err
	}
	if !m.dense {
		p.Dim = max(p.Dim, rows.Dim)
	}
	m.file.Pass, m.file.Position = nil, nil
	m.file.Presented = min(m.file.Presented+uint64(hi-lo), model.MaxCount)
	m.file.Mistakes = min(m.file.Mistakes+uint64(mistakes), model.MaxCount)
	return mistakes, nil
}

// numberOf returns -1 or +1 of a label of two; else the number of its class, from 1, which is made
// if it is new.
func (m *Model) numberOf(label string) (int32, error) {
	if !m.many {
		y, err := m.sign(label)
		return int32(y), err
	}
	class, err := m.classOf(label)
	if p := &m.file.Prep; err == nil && class == len(p.Classes) {
		p.Classes = append(p.Classes[:class:class], label) // snapshots have the others
	}
	return int32(class) + 1, err
}

// ScoreRows sets dst to the scores of the rows: Outputs of them each, row by row, as Scores returns
// them.
func (h *hypothesis) ScoreRows(rows *Rows, dst []float64) error {
	return h.askRows(rows, dst, false)
}

// ProbaRows sets dst to the probabilities of the rows: Outputs of them each, as Probas returns
// them; ErrProba if the learner has none.
func (h *hypothesis) ProbaRows(rows *Rows, dst []float64) error {
	return h.askRows(rows, dst, true)
}

// Outputs returns how many scores a row has: 1 of two labels, else those of the classes so far.
func (h *hypothesis) Outputs() int {
	h.check()
	return h.score.outputsOf()
}

func (h *hypothesis) askRows(rows *Rows, dst []float64, proba bool) error {
	h.check()
	if err := rows.check(false); err != nil {
		return err
	}
	if err := h.fits(rows, false); err != nil {
		return err
	}
	if n := rows.N * h.Outputs(); len(dst) < n {
		return fmt.Errorf("halfspace: %d places for %d scores: %w", len(dst), n, ErrRows)
	}
	return h.score.rows(h, rows, dst, proba)
}

// check looks whether the slices fit together; what is in rows is looked at when they are prepared.
func (r *Rows) check(labels bool) error {
	if r == nil {
		return badRows("the rows are nil")
	}
	values := max(len(r.F32), len(r.F64))
	stride := r.stride()
	switch {
	case r.N < 0 || r.Dim < 0 || r.Dim > math.MaxInt32-2:
		return badRows("%d rows of %d features", r.N, r.Dim)
	case r.F32 != nil && r.F64 != nil:
		return badRows("values in both precisions, want one")
	case r.Ptr == nil && (stride < r.Dim || stride > math.MaxInt/max(r.N, 1) ||
		r.N > 0 && values < (r.N-1)*stride+r.Dim):
		return badRows("%d rows of %d features, %d apart, in %d values", r.N, r.Dim, stride, values)
	case r.Ptr != nil && (len(r.Ptr) != r.N+1 || r.Ptr[0] < 0):
		return badRows("%d offsets of %d rows, want one more, the first of 0 or more", len(r.Ptr),
			r.N)
	case r.Weights != nil && len(r.Weights) != r.N:
		return badRows("%d weights of %d rows", len(r.Weights), r.N)
	}
	for i := 0; r.Ptr != nil && i < r.N; i++ {
		if lo, hi := r.Ptr[i], r.Ptr[i+1]; lo > hi || hi > len(r.Idx) || hi > values {
			return badRows("row %d goes from %d to %d of %d indices and %d values", i, lo, hi,
				len(r.Idx), values)
		}
	}
	if !labels {
		return nil
	}
	return r.checkLabels()
}

func badRows(format string, args ...any) error {
	return fmt.Errorf("halfspace: "+format+": %w", append(args, ErrRows)...)
}

func (r *Rows) checkLabels() error {
	if len(r.Labels) != r.N {
		return badRows("%d labels of %d rows", len(r.Labels), r.N)
	}
	for i, k := range r.Labels {
		if k < -1 || int(k) >= len(r.Names) {
			return badRows("row %d has label %d of %d names", i, k, len(r.Names))
		}
	}
	return nil
}

func (r *Rows) stride() int {
	if r.Stride == 0 {
		return r.Dim
	}
	return r.Stride
}

// fits refuses rows of other features than the model's.
func (h *hypothesis) fits(r *Rows, learn bool) error {
	p := h.prep
	switch {
	case h.dense && r.Dim != p.Dim, p.Words() && r.Dim > p.Dim && learn:
		return fmt.Errorf("halfspace: rows of %d features, want %d: %w", r.Dim, p.Dim, ErrFeature)
	case r.Weights != nil && learn && !h.weights:
		return fmt.Errorf("halfspace: %w", learner.ErrWeights)
	}
	return nil
}

// batches gives the rows as training takes them.
type batches[T engine.Float] struct {
	rows *Rows
	at   int
}

// Next is Blocks.Next.
func (b *batches[T]) Next() (*dataset.Batch[T], error) {
	r, lo := b.rows, b.at
	if lo >= r.N {
		return nil, io.EOF
	}
	hi := min(lo+4*batchRows, r.N)
	b.at = hi
	next := &dataset.Batch[T]{Labels: make([]string, hi-lo)}
	for i, k := range r.Labels[lo:hi] {
		if k >= 0 {
			next.Labels[i] = r.Names[k]
		}
	}
	x := &next.Block
	x.Dim = r.Dim
	if r.Weights != nil {
		x.W = make([]T, hi-lo)
		for i, w := range r.Weights[lo:hi] {
			x.W[i] = T(w)
		}
	}
	if r.Ptr == nil {
		x.Stride = r.stride()
		x.X = valuesOf[T](r, lo*x.Stride, (hi-1)*x.Stride+r.Dim)
		return next, nil
	}
	from, to := r.Ptr[lo], r.Ptr[hi]
	x.Idx, x.Val = r.Idx[from:to], valuesOf[T](r, from, to)
	x.Ptr = make([]int, hi-lo+1)
	for i := range x.Ptr {
		x.Ptr[i] = r.Ptr[lo+i] - from
	}
	return next, nil
}

// valuesOf returns values lo to hi in the precision of T: those themselves, or a copy.
func valuesOf[T engine.Float](r *Rows, lo, hi int) []T {
	if r.F32 != nil {
		return in[T](r.F32[lo:hi])
	}
	return in[T](r.F64[lo:hi])
}

// in returns x, or a copy in another precision.
func in[T, S engine.Float](x []S) []T {
	if same, ok := any(x).([]T); ok {
		return same
	}
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = T(v)
	}
	return y
}

// rows scores, some at a time.
func (s *scores[T]) rows(h *hypothesis, r *Rows, dst []float64, proba bool) error {
	ask := s.of.Score
	if proba {
		if s.prob == nil {
			return noProba()
		}
		ask = s.prob.Proba
	}
	w, k := s.works.Take(), s.of.outputs()
	defer s.works.Give(w)
	for lo := 0; lo < r.N; lo += batchRows {
		hi := min(lo+batchRows, r.N)
		b, err := w.examples(h, r, lo, hi, false)
		if err != nil {
			return err
		}
		if err := ask(b, dst[lo*k:hi*k]); err != nil {
			return err
		}
	}
	return nil
}

// rows learns examples lo to hi, whose labels are as Model.numberOf has them.
func (t *teaching[T]) rows(h *hypothesis, r *Rows, lo, hi int, signs []int32) (mistakes int64,
	err error) {
	b, err := t.work.examples(h, r, lo, hi, true)
	if err != nil {
		return 0, err
	}
	t.signs = t.signs[:0]
	for _, y := range signs {
		t.signs = append(t.signs, T(y))
	}
	b.Y, b.Class, b.W = t.signs, nil, nil
	if t.classes = t.classes[:0]; h.many {
		for i, y := range signs {
			b.Y[i], t.classes = 1, append(t.classes, y-1)
		}
		b.Class = t.classes
	}
	if r.Weights != nil {
		t.weights = t.weights[:0]
		for i, v := range r.Weights[lo:hi] {
			w, bad := format.WeightOf[T](v)
			if bad != "" {
				return 0, fmt.Errorf("halfspace: row %d: %s: %w", lo+i, bad, ErrRows)
			}
			t.weights = append(t.weights, w)
		}
		b.W = t.weights
	}
	if cap(t.rounds) < hi-lo {
		t.rounds = make([]learner.Round, batchRows)
	}
	rounds := t.rounds[:hi-lo]
	if err := t.l.Learn(b, rounds); err != nil {
		return 0, err
	}
	for i, round := range rounds {
		if !(float64(b.Y[i])*round.Score > 0) {
			mistakes++
		}
	}
	return mistakes, nil
}

func (k *known[T]) rows(*hypothesis, *Rows, int, int, []int32) (int64, error) { return 0, k.why }

// examples prepares rows lo to hi as files are.
func (w *work[T]) examples(h *hypothesis, r *Rows, lo, hi int, learn bool) (*engine.Block[T],
	error) {
	for i := lo; i < hi; i++ { // before any is seen by what scales
		idx, from, to := r.row(i)
		var at int
		var bad string
		if r.F32 != nil {
			at, bad = badValue[T](r.Dim, idx, r.F32[from:to])
		} else {
			at, bad = badValue[T](r.Dim, idx, r.F64[from:to])
		}
		if bad != "" {
			return nil, fmt.Errorf("halfspace: row %d: value %d: %s: %w", i, at, bad, ErrRows)
		}
	}
	b := &w.b
	b.Reset()
	b.Dim = max(h.prep.Dim, r.Dim) + h.bias
	if h.asTheyAre() && r.Ptr != nil && !h.dense {
		if val, same := sameValues[T](r); same {
			w.asIs = engine.Block[T]{Dim: b.Dim, Ptr: r.Ptr[lo : hi+1], Idx: r.Idx, Val: val}
			w.asIs.MarkChecked()
			return &w.asIs, nil
		}
	}
	b.Idx, b.Val, b.X = b.Idx[:0], b.Val[:0], b.X[:0]
	if r.Ptr == nil || h.dense {
		b.Ptr, b.Stride = nil, format.Stride(b.Dim)
		if n := (hi - lo) * b.Stride; cap(b.X) < n {
			b.X = engine.Aligned[T](n)
		}
		b.X = b.X[:(hi-lo)*b.Stride]
		clear(b.X)
	} else {
		b.X, b.Stride, b.Ptr = nil, 0, append(b.Ptr[:0], 0)
	}
	for i := lo; i < hi; i++ {
		idx, from, to := r.row(i)
		if r.F32 != nil {
			addRow(w, h, idx, r.F32[from:to], i-lo, learn)
		} else {
			addRow(w, h, idx, r.F64[from:to], i-lo, learn)
		}
	}
	b.MarkChecked()
	return b, nil
}

// asTheyAre reports whether rows are examples as they are.
func (h *hypothesis) asTheyAre() bool {
	p := h.prep
	return h.bias == 0 && h.lead == 0 && p.Scaling == nil && p.Normalize != "unit" &&
		p.Normalize != "max"
}

// sameValues returns the values where they have the precision of T.
func sameValues[T engine.Float](r *Rows) (val []T, same bool) {
	if r.F32 != nil {
		val, same = any(r.F32).([]T)
	} else {
		val, same = any(r.F64).([]T)
	}
	return val, same
}

// row returns the indices of row i, nil of a dense one, and where its values are.
func (r *Rows) row(i int) (idx []int32, from, to int) {
	if r.Ptr == nil {
		from = i * r.stride()
		return nil, from, from + r.Dim
	}
	from, to = r.Ptr[i], r.Ptr[i+1]
	return r.Idx[from:to:to], from, to
}

// badValue says what is wrong with a row in the precision of T, and at which value; "" is nothing.
func badValue[T, S engine.Float](dim int, idx []int32, x []S) (at int, bad string) {
	last := int32(-1)
	for k, j := range idx {
		if j <= last || int(j) >= dim {
			return k, fmt.Sprintf("index %d, want indices that ascend, from 0, below %d", j, dim)
		}
		last = j
	}
	for k, v := range x {
		if t := T(v); t-t != 0 {
			return k, fmt.Sprintf("it is %v, want a finite number", v)
		}
	}
	return 0, ""
}

// addRow makes row i of the block of the values x, at the indices or, of a dense row, from 0 on.
func addRow[T, S engine.Float](w *work[T], h *hypothesis, idx []int32, x []S, i int, learn bool) {
	var row []T
	if w.b.Ptr == nil {
		row = w.denseRow(h, i)
		for k, v := range x {
			j := k
			if idx != nil {
				j = int(idx[k])
			}
			row[j+h.bias] = T(v)
		}
		scale(h, row, nil, nil, learn)
	} else {
		first := w.beginRow(h)
		b := &w.b
		for k, v := range x {
			if j := idx[k]; int(j) < h.lead {
				b.Val[first+h.bias+int(j)] = T(v)
			} else {
				b.Idx, b.Val = append(b.Idx, j+int32(h.bias)), append(b.Val, T(v))
			}
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
		row = b.Val[first:]
		scale(h, nil, b.Idx[first:], row, learn)
	}
	normalise(h, row)
}
