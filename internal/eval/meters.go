package eval

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// LearningPoint is one of a learning curve.
type LearningPoint struct {
	Examples, Errors int64 // so far, in all passes: each was predicted before it was learned
	// error of the window, or faded; NaN without
	Recent float64
}

// meters are what a run tallies beside its counts.
type meters struct {
	o        MetricsOptions
	whole    *Metrics // of the first pass; nil as long as counts say as much
	window   *Window
	fading   *Metrics
	curve    curve
	believed Outcome // probabilities of the example in hand, where they are asked for
	proba    bool
}

func newMeters(o *Options) meters {
	m := meters{o: MetricsOptions{AUC: o.AUC}, proba: o.Proba}
	if o.AUC || o.Proba {
		m.whole = NewMetrics(m.o)
	}
	if o.Window > 0 {
		m.window = NewWindow(o.Window, m.o)
	}
	if o.Fading > 0 {
		faded := m.o
		faded.Fading = o.Fading
		m.fading = NewMetrics(faded)
	}
	if o.Curve > 0 {
		m.curve = curve{curveState{Step: 1}, max(o.Curve, 2)}
	}
	return m
}

// addOutcomes adds those of rounds, which begin at example lo of b; before are counts of what came
// before b.
func addOutcomes[T engine.Float](m *meters, b *engine.Block[T], lo int, rounds []learner.Round,
	first bool, before *Count) {
	if m.whole == nil && first && (b.Class != nil || b.Weighted()) {
		if m.whole = before.Metrics(); m.whole == nil {
			m.whole = NewMetrics(m.o)
		}
	}
	whole := m.whole
	if !first {
		whole = nil
	}
	if whole == nil && m.window == nil && m.fading == nil {
		return
	}
	for i := range rounds {
		o := outcomeOf(b, lo+i, &rounds[i])
		if m.proba {
			p := &m.believed
			o.Proba, o.Hit, o.Own, o.Sure, o.Brier = true, p.Hit, p.Own, p.Sure, p.Brier
		}
		if whole != nil {
			whole.Add(&o)
		}
		if m.window != nil {
			m.window.Add(&o)
		}
		if m.fading != nil {
			m.fading.Add(&o)
		}
	}
}

// outcomeOf is that of example i of b.
func outcomeOf[T engine.Float](b *engine.Block[T], i int, r *learner.Round) (o Outcome) {
	if b.Class != nil {
		o = OutcomeOf(int(b.Class[i]), int(r.Predicted))
	} else {
		o = Outcome2(float64(b.Y[i]), r.Score)
	}
	o.Weight = float64(b.Weight(i))
	return o
}

// recent returns the Metrics of the window, or those that fade; nil without.
func (m *meters) recent() *Metrics {
	if m.window != nil {
		return m.window.Metrics()
	}
	return m.fading
}

// recentError returns their error; NaN without.
func (m *meters) recentError() float64 {
	switch {
	case m.window != nil:
		return m.window.Error()
	case m.fading != nil:
		return m.fading.Error()
	}
	return math.NaN()
}

// point returns that of the learning curve which is now.
func (r *run[T]) point() LearningPoint {
	return LearningPoint{r.count.Examples, r.count.Errors, r.recentError()}
}

// curve keeps points at equal distances, which double when there are too many.
type curve struct {
	curveState
	most int
}

// curveState is the JSON of a curve.
type curveState struct {
	Points []numbers // each a LearningPoint
	Step   int64     // 0: no points
	From   int64     // examples before the run
}

// next returns after how many examples a point is due.
func (c *curve) next() int64 {
	if c.Step == 0 {
		return math.MaxInt64
	}
	return c.From + c.Step*int64(len(c.Points)+1)
}

// add keeps the point that is due.
func (c *curve) add(p LearningPoint) {
	c.Points = append(c.Points, numbers{float64(p.Examples), float64(p.Errors), p.Recent})
	if len(c.Points) < c.most {
		return
	}
	kept := c.Points[:0]
	for i := 1; i < len(c.Points); i += 2 {
		kept = append(kept, c.Points[i])
	}
	c.Points = kept
	c.Step *= 2
}

// all returns the points, the last of which is the end.
func (c *curve) all(end LearningPoint) (points []LearningPoint) {
	for _, p := range c.Points {
		points = append(points, LearningPoint{int64(p[0]), int64(p[1]), p[2]})
	}
	if n := len(points); end.Examples == 0 || n > 0 && points[n-1].Examples == end.Examples {
		return points
	}
	return append(points, end)
}
