package halfspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// ErrRows is returned for Rows whose slices don't fit together, or whose values no example can
// have. Nothing is learned or scored of the call's rows then, but of LearnRows those that it says.
var ErrRows = errors.New("bad rows")

// Rows are examples in a program's own arrays: a matrix with a row for each, by rows and sparse
// where Ptr is given (CSR, as SciPy and others have it), else dense. A call reads the arrays and
// keeps none of them.
//
// Features have the numbers that Row.At has less the first one's: column 0 is the first of them.
// Values are finite; of a sparse row indices ascend, from 0, below Dim. Where training took the
// mean for numbers that are missing (Options.Missing), NaN in their columns stands for such.
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
	// Texts says that Names are texts where they come from, as "1" and "1.0" are that a program has
	// as strings: no two of them are the same label, and none is a label of the model that is not
	// that text. Else they are labels as a file has them, of which plain numerals are the same if
	// their value is.
	Texts bool

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
	res, err := training.Run(ctx, o, training.Env{Repeats: true, Logger: loggerOf(ctx),
		Open: func(context.Context, string) (training.Source, error) {
			return training.Source{Blocks32: &batches[float32]{rows: rows},
				Blocks64: &batches[float64]{rows: rows}}, nil
		}})
	return trained(res, err)
}

// LearnRows learns the rows in their order, as LearnOne learns one, in the caller's goroutine, and
// returns how many of them were mistakes before they were learned: y f(x) of 0 or less, or another
// class predicted. All rows are checked before the first is learned: where one is refused (ErrRows,
// ErrLabel), none is learned. Where ctx ends, those that were learned until then are: it is looked
// at some twenty times a second, or between two rows that take longer. Presented has counted them.
//
// Cost beside learning: a look at all values, and a copy of them.
func (m *Model) LearnRows(ctx context.Context, rows *Rows) (mistakes int64, err error) {
	m.hypothesis.check()
	if err := rows.check(true); err != nil {
		return 0, err
	}
	if err := m.hypothesis.fits(rows, true); err != nil {
		return 0, err
	}
	check := faults[float32]
	if m.file.Precision == "f64" {
		check = faults[float64]
	}
	if err := check(m.hypothesis, rows); err != nil {
		return 0, err
	}
	if err := m.learnMissing(rows); err != nil {
		return 0, err
	}
	rows = m.hypothesis.indicate(rows)
	known := make([]int32, len(rows.Names)) // the class or sign of a label; 0: not looked up yet
	for lo := 0; lo < rows.N; lo += batchRows {
		if ctx.Err() != nil {
			return mistakes, context.Cause(ctx)
		}
		n, err := m.learnBatch(ctx, rows, lo, min(lo+batchRows, rows.N), known)
		if mistakes += n; err != nil {
			return mistakes, err
		}
	}
	return mistakes, nil
}

// faults returns the error of the first row that can't be learned, by its label, weight or values.
func faults[T engine.Float](h *hypothesis, rows *Rows) error {
	good := make([]bool, len(rows.Names)) // the label is one of the model's, or may become one
	for i, k := range rows.Labels {
		if k < 0 {
			return fmt.Errorf("halfspace: row %d has no label: %w", i, ErrRows)
		}
		if !good[k] {
			if _, err := h.Knows(rows.Names[k], rows.Texts); err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
			good[k] = true
		}
	}
	for i, v := range rows.Weights {
		if _, bad := format.WeightOf[T](v); bad != "" {
			return fmt.Errorf("halfspace: row %d: %s: %w", i, bad, ErrRows)
		}
	}
	return firstFault[T](h, rows, 0, rows.N)
}

// learnBatch learns rows lo to hi, which faults has looked at.
func (m *Model) learnBatch(ctx context.Context, rows *Rows, lo, hi int, known []int32) (
	mistakes int64, err error) {
	p := &m.file.Prep
	signs := m.signs[:0]
	for i := lo; i < hi; i++ {
		k := rows.Labels[i]
		if known[k] == 0 {
			if known[k], err = m.numberOf(rows.Names[k], rows.Texts); err != nil {
				return 0, fmt.Errorf("row %d: %w", i, err)
			}
		}
		signs = append(signs, known[k])
	}
	m.signs = signs
	did, err := m.learn.rows(ctx, m.hypothesis, rows, lo, hi, signs)
	if did.rows == 0 {
		return 0, err
	}
	if !m.dense {
		p.Dim = max(p.Dim, rows.Dim)
	}
	m.file.Pass, m.file.Position = nil, nil
	m.file.Presented = min(m.file.Presented+uint64(did.rows), model.MaxCount)
	m.file.Mistakes = min(m.file.Mistakes+uint64(did.mistakes), model.MaxCount)
	return did.mistakes, err
}

// numberOf returns -1 or +1 of a label of two; else the number of its class, from 1, which is made
// if it is new.
func (m *Model) numberOf(label string, text bool) (int32, error) {
	if !m.many {
		y, err := m.sign(label, text)
		return int32(y), err
	}
	class, err := m.classOf(label, text)
	if p := &m.file.Prep; err == nil && class == len(p.Classes) {
		p.Classes = append(p.Classes[:class:class], label) // snapshots have the others
	}
	return int32(class) + 1, err
}

// ScoreRows sets dst to the scores of the rows: Outputs of them each, row by row, as Scores returns
// them. It does not end before all are: a caller that may have to stop gives some rows at a time.
func (h *hypothesis) ScoreRows(rows *Rows, dst []float64) error {
	return h.askRows(rows, dst, false)
}

// ProbaRows sets dst to the probabilities of the rows: Outputs of them each, as Probas returns
// them; ErrProba if the learner has none.
func (h *hypothesis) ProbaRows(rows *Rows, dst []float64) error {
	return h.askRows(rows, dst, true)
}

// LabelRows sets dst to the labels that are predicted of the rows, as Label returns them: the
// number of each in Classes, -1 where a score is NaN.
func (h *hypothesis) LabelRows(rows *Rows, dst []int32) error {
	h.check()
	if rows != nil && rows.N >= 0 && len(dst) < rows.N {
		return fmt.Errorf("halfspace: %d places for %d labels: %w", len(dst), rows.N, ErrRows)
	}
	k := h.Outputs()
	var scores []float64
	if rows != nil && rows.N > 0 {
		scores = make([]float64, rows.N*k)
	}
	if err := h.askRows(rows, scores, false); err != nil {
		return err
	}
	for i := range rows.N {
		dst[i] = int32(h.predicted(scores[i*k:][:k]))
	}
	return nil
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
	rows = h.indicate(rows)
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
	k, sparse := p.Scaling, r.Ptr != nil
	switch {
	case k != nil && len(k.Known) > 0 && !h.dense && !p.Words() && (k.Columns && sparse ||
		!k.Columns && !sparse && learn):
		return fmt.Errorf("halfspace: the features were scaled as those of dense rows (%v), and "+
			"these are sparse (%v): %w", k.Columns, sparse, ErrRows)
	case h.dense && r.Dim != p.Dim, p.Words() && r.Dim > p.Dim && learn:
		return fmt.Errorf("halfspace: rows of %d features, want %d: %w", r.Dim, p.Dim, ErrFeature)
	case r.Weights != nil && learn && !h.weights:
		return fmt.Errorf("halfspace: %w", learner.ErrWeights)
	}
	return nil
}

// batches gives the rows as training takes them.
type batches[T engine.Float] struct {
	rows  *Rows
	given bool
}

// Next is Blocks.Next: all at once, of which nothing is copied here.
func (b *batches[T]) Next() (*dataset.Batch[T], error) {
	r := b.rows
	if b.given || r.N == 0 {
		return nil, io.EOF
	}
	b.given = true
	next := &dataset.Batch[T]{F32: r.F32, F64: r.F64, Labels: r.Names, Codes: r.Labels,
		Texts: r.Texts}
	x := &next.Block
	if x.Dim = r.Dim; r.Ptr == nil {
		x.Stride = r.stride()
	} else {
		end := r.Ptr[r.N]
		x.Ptr, x.Idx = r.Ptr, r.Idx[:end]
		next.F32, next.F64 = r.F32[:min(end, len(r.F32))], r.F64[:min(end, len(r.F64))]
	}
	if r.Weights != nil {
		x.W = make([]T, r.N)
		for i, w := range r.Weights {
			x.W[i] = T(w)
		}
	}
	return next, nil
}

// rows scores, some at a time.
func (s *scores[T]) rows(h *hypothesis, r *Rows, dst []float64, proba bool) error {
	ask := s.score
	if proba {
		if s.prob == nil {
			return noProba()
		}
		ask = s.prob.Proba
	}
	w, k := s.works.Take(), s.count()
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

// aBlock is how long the learning of a block may take: between two of them ctx is looked at.
const aBlock = 50 * time.Millisecond

// rowsLearned counts what one call of teacher.rows has learned.
type rowsLearned struct {
	rows     int
	mistakes int64
}

// rows learns examples lo to hi, whose labels are as Model.numberOf has them. All of them are
// looked at before the first is learned.
func (t *teaching[T]) rows(ctx context.Context, h *hypothesis, r *Rows, lo, hi int,
	signs []int32) (did rowsLearned, err error) {
	b, err := t.work.examples(h, r, lo, hi, true)
	if err != nil {
		return did, err
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
		for _, v := range r.Weights[lo:hi] {
			w, _ := format.WeightOf[T](v) // faults has looked at them
			t.weights = append(t.weights, w)
		}
		b.W = t.weights
	}
	if cap(t.rounds) < hi-lo {
		t.rounds = make([]learner.Round, batchRows)
	}
	for n := hi - lo; did.rows < n; {
		if did.rows > 0 && ctx.Err() != nil {
			return did, context.Cause(ctx)
		}
		t.size = min(max(t.size, 4), batchRows)
		from, to := did.rows, min(did.rows+t.size, n)
		t.view = b.Slice(from, to)
		rounds := t.rounds[from:to]
		start := time.Now()
		if err := learner.Learn(t.l, &t.view, rounds); err != nil {
			return did, err
		}
		switch took := time.Since(start); {
		case took > aBlock:
			t.size = (to - from) / 2
		case took < aBlock/8:
			t.size *= 2
		}
		for i, round := range rounds {
			if !(float64(t.view.Y[i])*round.Score > 0) {
				did.mistakes++
			}
		}
		did.rows = to
	}
	return did, nil
}

func (k *known[T]) rows(context.Context, *hypothesis, *Rows, int, int, []int32) (rowsLearned,
	error) {
	return rowsLearned{}, k.why
}

// examples prepares rows lo to hi as files are.
func (w *work[T]) examples(h *hypothesis, r *Rows, lo, hi int, learn bool) (*engine.Block[T],
	error) {
	for i := lo; r.Ptr != nil && i < hi; i++ {
		if idx, _, _ := r.row(i); !ascend(idx, r.Dim) {
			return nil, faultOf[T](h, r, lo, hi)
		}
	}
	b := &w.b
	b.Reset()
	b.Dim = max(h.prep.Dim, r.Dim) + h.bias
	if h.asTheyAre() && r.Ptr != nil && !h.dense {
		if val, same := sameValues[T](r); same {
			if !engine.Finite(val[r.Ptr[lo]:r.Ptr[hi]]) {
				return nil, faultOf[T](h, r, lo, hi)
			}
			w.asIs = engine.Block[T]{Dim: b.Dim, Ptr: r.Ptr[lo : hi+1], Idx: r.Idx, Val: val}
			w.asIs.MarkChecked()
			return &w.asIs, nil
		}
	}
	if r.F32 != nil {
		fill(w, h, r, r.F32, lo, hi)
	} else {
		fill(w, h, r, r.F64, lo, hi)
	}
	// before any is seen by what scales
	if !(engine.Finite(b.Val) && engine.Finite(b.X)) && !(h.fields.Fills && fillable(h, b)) {
		return nil, faultOf[T](h, r, lo, hi)
	}
	for i := range hi - lo {
		if b.Ptr == nil {
			row := b.X[i*b.Stride:][:b.Dim]
			finish(h, nil, row, learn)
			continue
		}
		idx, val := b.Sparse(i)
		finish(h, idx, val, learn)
	}
	b.MarkChecked()
	return b, nil
}

// fillable reports whether the values are finite but for numbers of columns that are missing.
func fillable[T engine.Float](h *hypothesis, b *engine.Block[T]) bool {
	for i := range b.Len() {
		_, val := b.Example(i)
		columns := val[h.bias:]
		if !b.Dense() {
			columns = columns[:h.lead]
		}
		for _, v := range columns {
			if v-v != 0 && v == v {
				return false
			}
		}
		if !engine.Finite(val[h.bias+len(columns):]) {
			return false
		}
	}
	return true
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

// ascend reports whether the indices of a row ascend, from 0, below dim.
func ascend(idx []int32, dim int) bool {
	last, bad := int32(-1), int32(0)
	for _, j := range idx { // one sign for all, since a branch each costs as much as learning
		bad |= j | (j - last - 1)
		last = j
	}
	return bad >= 0 && int(last) < dim
}

// faultOf is firstFault of rows among which there is one.
func faultOf[T engine.Float](h *hypothesis, r *Rows, lo, hi int) error {
	if err := firstFault[T](h, r, lo, hi); err != nil {
		return err
	}
	return badRows("a value that is not finite")
}

// firstFault returns the error of the first of rows lo to hi that no example can have, in the
// precision of T.
func firstFault[T engine.Float](h *hypothesis, r *Rows, lo, hi int) error {
	filled := 0 // columns in which NaN stands for a mean
	if h.fields.Fills {
		filled = h.lead
	}
	for i := lo; i < hi; i++ {
		idx, from, to := r.row(i)
		var at int
		var bad string
		if r.F32 != nil {
			at, bad = badValue[T](r.Dim, filled, idx, r.F32[from:to])
		} else {
			at, bad = badValue[T](r.Dim, filled, idx, r.F64[from:to])
		}
		if bad != "" {
			return fmt.Errorf("halfspace: row %d: value %d: %s: %w", i, at, bad, ErrRows)
		}
	}
	return nil
}

// badValue says what is wrong with a row in the precision of T, and at which value; "" is nothing.
// The first columns, as many as filled, may have NaN.
func badValue[T, S engine.Float](dim, filled int, idx []int32, x []S) (at int, bad string) {
	last := int32(-1)
	for k, j := range idx {
		if j <= last || int(j) >= dim {
			return k, fmt.Sprintf("index %d, want indices that ascend, from 0, below %d", j, dim)
		}
		last = j
	}
	for k, v := range x {
		if t := T(v); t-t != 0 && (v == v || engine.FeatureOf(idx, k) >= filled) {
			return k, fmt.Sprintf("it is %v, want a finite number", v)
		}
	}
	return 0, ""
}

// fill makes examples of rows lo to hi, whose values are in x, as they are: what each has is added,
// and nothing scaled.
func fill[T, S engine.Float](w *work[T], h *hypothesis, r *Rows, x []S, lo, hi int) {
	b, n := &w.b, hi-lo
	same, _ := any(x).([]T)
	if r.Ptr != nil && !h.dense {
		if b.X, b.Stride = nil, 0; h.lead > 0 {
			b.Idx, b.Val, b.Ptr = b.Idx[:0], b.Val[:0], append(b.Ptr[:0], 0)
			for i := lo; i < hi; i++ {
				idx, from, to := r.row(i)
				addWords(w, h, idx, x[from:to])
			}
			return
		}
		fillSparse(b, h, r, x, same, lo, hi)
		return
	}
	b.Ptr, b.Idx, b.Val, b.Stride = nil, b.Idx[:0], b.Val[:0], format.Stride(b.Dim)
	if cap(b.X) < n*b.Stride {
		b.X = engine.Aligned[T](n * b.Stride)
	}
	b.X = b.X[:n*b.Stride]
	clear(b.X)
	for i := range n {
		idx, from, to := r.row(lo + i)
		row := w.denseRow(h, i)[h.bias:]
		switch {
		case idx != nil:
			for k, j := range idx {
				row[j] = T(x[from+k])
			}
		case same != nil:
			copy(row, same[from:to])
		default:
			for k, v := range x[from:to] {
				row[k] = T(v)
			}
		}
	}
}

// fillSparse is fill of sparse rows; same is x where that has the precision of T, else nil.
func fillSparse[T, S engine.Float](b *engine.Block[T], h *hypothesis, r *Rows, x []S, same []T,
	lo, hi int) {
	n, more := hi-lo, int32(h.bias)
	values := r.Ptr[hi] - r.Ptr[lo] + n*h.bias
	ptr, idx, val := format.Sized(b.Ptr, n+1), format.Sized(b.Idx, values),
		format.Sized(b.Val, values)
	ptr[0] = 0
	at := 0
	for i := range n {
		from, to := r.Ptr[lo+i], r.Ptr[lo+i+1]
		if h.bias > 0 {
			idx[at], val[at] = 0, T(h.value)
			at++
		}
		in := r.Idx[from:to]
		out := idx[at:][:len(in)]
		for k, j := range in {
			out[k] = j + more
		}
		if same != nil {
			copy(val[at:], same[from:to])
		} else {
			in, out := x[from:to], val[at:][:len(in)]
			for k, v := range in {
				out[k] = T(v)
			}
		}
		at += len(in)
		ptr[i+1] = at
	}
	b.Ptr, b.Idx, b.Val = ptr, idx, val
}

// addWords adds an example in which some columns stand first.
func addWords[T, S engine.Float](w *work[T], h *hypothesis, idx []int32, x []S) {
	first, b := w.beginRow(h), &w.b
	for k, v := range x {
		if j := idx[k]; int(j) < h.lead {
			b.Val[first+h.bias+int(j)] = T(v)
		} else {
			b.Idx, b.Val = append(b.Idx, j+int32(h.bias)), append(b.Val, T(v))
		}
	}
	b.Ptr = append(b.Ptr, len(b.Idx))
}
