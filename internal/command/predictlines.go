package command

import (
	"context"
	"io"
	"math"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/spread"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// writer makes the lines of predictions, and tallies them.
type writer[T engine.Float] struct {
	p       *predictor
	s       *dataset.Stream[T]
	to      *output // nil: none
	r       *predictReport
	labels  []string          // as they are printed: of two the negative one first
	outputs int               // scores an example: 1 of two labels
	prober  learner.Prober[T] // nil if not asked
	proba   []float64         // of the examples in hand, where there is a prober
	spread  *spread.Spread[T] // nil without --interval
	width   float64           // sum, of the intervals
	both    int64             // intervals with scores of both labels
	before  int64             // examples of the blocks before
	row     int               // the next example's, in the stream's block
	buf     []byte            // lines of the examples in hand
	lines   []int             // where each was read, for answers

	count     eval.Count
	stats     *eval.Metrics // of all probabilities
	metrics   *eval.Metrics // of what these have, by weights; nil without a report
	abstained int64
}

// labelsOf returns the labels of a model in the order of its classes, as reports name them.
func labelsOf(p *model.Prep) []string {
	if p.Classes != nil {
		return p.Classes
	}
	shown := p.Shown()
	return []string{orRest(shown.Negative), shown.Positive}
}

// write predicts all examples, and counts those that have a label and were given one. A nil lines
// counts only.
func write[T engine.Float](ctx context.Context, p *predictor, hypothesis learner.Predictor[T],
	spread *spread.Spread[T], s *dataset.Stream[T], lines *output,
	r *predictReport) (eval.Count, error) {
	w := writer[T]{p: p, s: s, to: lines, r: r, stats: eval.NewMetrics(eval.MetricsOptions{}),
		outputs: hypothesis.Outputs(), spread: spread}
	labels := p.m.Prep.Classes
	if labels == nil {
		shown := p.m.Prep.Shown()
		labels = []string{shown.Negative, shown.Positive}
	}
	for _, name := range labels {
		w.labels = append(w.labels, shownLabel(name))
	}
	if p.output.json {
		w.metrics = eval.NewMetrics(eval.MetricsOptions{AUC: true})
	}
	if p.probable() {
		w.prober = learner.ProbaOf(hypothesis)
		w.proba = make([]float64, eval.DefaultBlock*w.outputs)
	}
	if p.each && lines != nil {
		if _, err := lines.Write(w.names()); err != nil {
			return w.count, err
		}
	}
	for {
		if err := w.idle(); err != nil {
			return w.count, err
		}
		b, err := s.Next()
		if err != nil {
			if e := w.rest(); e != nil {
				return w.count, e
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return w.count, err
		}
		err = eval.Score(ctx, hypothesis, eval.NewMemory(b, nil), func(b *engine.Block[T],
			scores []float64) error {
			if err := w.add(b, scores); err != nil {
				return err
			}
			return w.send()
		})
		if err != nil {
			return w.count, err
		}
		w.before, w.row = w.before+int64(b.Len()), 0
	}
	w.report()
	return w.count, nil
}

// send hands the lines in hand on.
func (w *writer[T]) send() (err error) {
	switch {
	case w.p.answers != nil:
		err = w.p.answers.add(w.buf, w.lines)
	case w.to != nil:
		_, err = w.to.Write(w.buf)
	}
	return err
}

// rest sends the lines of bad rows with no example behind them yet.
func (w *writer[T]) rest() error {
	w.buf, w.lines = w.buf[:0], w.lines[:0]
	w.passOver()
	return w.send()
}

// idle hands on what there is where the input gives nothing for a while.
func (w *writer[T]) idle() error {
	if len(w.p.skipped) > 0 && !w.s.Wait(flushAfter) {
		if err := w.rest(); err != nil {
			return err
		}
	}
	if w.to != nil && w.to.Buffered() > 0 && !w.s.Wait(flushAfter) {
		if err := w.to.Flush(); err != nil {
			return err
		}
	}
	if a := w.p.answers; a != nil && a.waiting() && !w.s.Wait(flushAfter) &&
		(a.whole() || !w.s.Wait(wholeAfter)) {
		return a.flush()
	}
	return nil
}

// report says what was tallied.
func (w *writer[T]) report() {
	p, r := w.p, w.r
	if w.count.Examples > 0 {
		errors, share := w.count.Errors, w.count.Error()
		r.Errors, r.Error = &errors, &share
		r.Metrics = describeMetrics(w.metrics, labelsOf(&p.m.Prep))
	}
	if p.abstain > 0 {
		r.Abstained = &w.abstained
	}
	if w.outputs == 1 && !p.threshold.cost {
		r.Threshold = &p.threshold.value
	}
	if w.spread != nil {
		r.Interval = &intervalReport{Share: p.share, Members: w.spread.Members(), Both: w.both}
		if r.Examples > 0 {
			r.Interval.Width = w.width / float64(r.Examples)
		}
	}
	r.Proba = describeProba(w.stats)
}

// add makes the lines of a block.
func (w *writer[T]) add(b *engine.Block[T], scores []float64) error {
	if w.prober != nil {
		if err := w.prober.Proba(b, w.proba); err != nil {
			return err
		}
	}
	w.buf, w.lines = w.buf[:0], w.lines[:0]
	k := w.outputs
	for i := range b.Len() {
		if len(w.p.skipped) > 0 {
			w.passOver()
		}
		if w.p.answers != nil {
			w.lines = append(w.lines, w.s.Line(w.row))
		}
		var proba []float64
		if w.prober != nil {
			proba = w.proba[i*k:][:k]
		}
		w.line(b, i, scores[i*k:][:k], proba)
	}
	w.r.Examples += int64(b.Len())
	return nil
}

// line makes the line of an example: the predicted label, its score, and its probability, or those
// of all classes. proba is nil without a prober.
func (w *writer[T]) line(b *engine.Block[T], i int, scores, proba []float64) {
	label, f, p := w.tally(b, i, scores, proba)
	if label < 0 {
		w.buf = append(w.buf, abstention...)
	} else {
		w.buf = append(w.buf, w.labels[label]...)
	}
	switch {
	case w.p.each && w.p.proba:
		w.columns(proba...)
	case w.p.each:
		w.columns(scores...)
	case w.p.proba:
		w.columns(f, p)
	default:
		w.columns(f)
	}
	if w.spread != nil {
		w.addInterval(b, i)
	}
	w.buf = append(w.buf, '\n')
}

// tally counts an example, and returns the number of the label that it is given, -1 where it is
// Given none, with the score and probability that are printed beside it.
func (w *writer[T]) tally(b *engine.Block[T], i int, scores, proba []float64) (label int, f,
	p float64) {
	y, over, likely := 1.0, learner.LostTie, math.NaN()
	f, p = math.NaN(), math.NaN()
	var o eval.Outcome
	if w.outputs == 1 {
		if f, y = scores[0], float64(b.Y[i]); proba != nil {
			p = proba[0]
			likely = max(p, 1-p)
		}
		over = f - w.p.threshold.value
		if w.p.threshold.cost {
			over = p - w.p.threshold.value
		}
		o = eval.Outcome2(y, over)
		if o.Score = f; proba != nil {
			o.Believe(p)
		}
	} else {
		class, best := -1, learner.Predicted(scores)
		if w.s.Labelled(w.row) {
			class = int(b.Class[i])
			over = learner.ClassScore(scores, class)
		}
		if o = eval.OutcomeOf(class, best); best >= 0 {
			f = scores[best]
		}
		if proba != nil {
			if o.BelieveEach(proba); best >= 0 {
				p = proba[best]
			}
		}
		likely = p
	}
	if label = int(o.Predicted); f != f {
		label = -1
	}
	if f-f != 0 {
		w.r.NotFinite++
	}
	sure := !(w.p.abstain > 0) || likely >= w.p.abstain
	if !sure {
		w.abstained++
		label = -1
	}
	if w.s.Labelled(w.row) || w.s.Foreign(w.row) {
		w.r.Labelled++
		if proba != nil {
			w.stats.Add(&o)
		}
		if sure {
			w.count.Add(y, over)
		}
		if o.Weight = float64(b.Weight(i)); sure && w.metrics != nil {
			if w.outputs == 1 {
				w.metrics.Add(&o)
			} else {
				w.metrics.AddScored(&o, scores)
			}
		}
	}
	w.row++
	return label, f, p
}

// passOver makes a line without a label for each bad row before the next example, so that line n is
// about row n.
func (w *writer[T]) passOver() {
	n := 1
	switch {
	case w.p.each:
		n = w.outputs
	case w.p.proba:
		n = 2
	}
	if w.spread != nil {
		n += 2
		if w.p.m.Calibration != nil && w.p.proba {
			n += 2
		}
	}
	next := w.before + int64(w.row)
	for p := w.p; len(p.skipped) > 0 && p.skipped[0].good <= next; p.skipped = p.skipped[1:] {
		w.buf = append(w.buf, abstention...)
		for range n {
			w.columns(math.NaN())
		}
		w.buf = append(w.buf, '\n')
		w.lines = append(w.lines, p.skipped[0].line)
	}
}

// names returns the line that names the columns of predictor.each.
func (w *writer[T]) names() []byte {
	line, kind := []byte("predicted"), "\tscore:"
	if w.p.proba {
		kind = "\tproba:"
	}
	for _, name := range w.labels {
		line = append(append(line, kind...), name...)
	}
	return append(line, '\n')
}

// columns appends numbers, each behind a tab.
func (w *writer[T]) columns(list ...float64) {
	for _, v := range list {
		w.buf = append(w.buf, '\t')
		w.buf = appendNumber(w.buf, v)
	}
}
