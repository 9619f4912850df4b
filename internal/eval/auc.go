package eval

import (
	"cmp"
	"math"
	"slices"
)

// Scores are told apart by sign, by exponent from 2^-32 to 2^32 and by the first six bits of the
// mantissa: a bin is at most 1/64 as wide as its scores are large. What is smaller or larger is in
// the first or last bin of its sign.
const (
	mantissaBits = 6
	scoreBins    = 64 << mantissaBits // of each sign
	firstBin     = (1023 - 32) << mantissaBits
)

// scoreBinOf returns the bin of a score that is not NaN. Larger scores have no smaller one.
func scoreBinOf(f float64) int {
	u := math.Float64bits(f)
	at := int(u&^(1<<63)>>(52-mantissaBits)) - firstBin
	at = max(0, min(at, scoreBins-1))
	if f < 0 {
		return scoreBins - 1 - at
	}
	return scoreBins + at
}

// AUC returns the area under the ROC curve, of two classes: the share of pairs of a positive and a
// negative of which the positive scores more, equal scores counting half. The true value, of all
// scores as they are, is within bound of it: pairs in one bin count half, and bound is half their
// share. NaN without both classes, or without MetricsOptions.AUC. A NaN is less than all scores.
//
// Of more classes, where AddScored has their scores, it is the mean of the classes' that came, each
// against the rest: ClassAUC. That is scikit-learn's roc_auc_score with multi_class="ovr" and
// average="macro"; bound is the mean of theirs.
func (m *Metrics) AUC() (auc, bound float64) {
	if m.each != nil {
		return m.meanAUC(func(classTally) float64 { return 1 })
	}
	if m.s.Scores == nil || len(m.s.Classes) > 2 {
		return math.NaN(), math.NaN()
	}
	return areaOf(m.s.Scores, m.s.Lost, 1)
}

// WeightedAUC is AUC of more than two classes with each class weighing as much as its examples do
// together: average="weighted" there. NaN of two.
func (m *Metrics) WeightedAUC() (auc, bound float64) {
	if m.each == nil {
		return math.NaN(), math.NaN()
	}
	return m.meanAUC(func(c classTally) float64 { return c.Came })
}

// ClassAUC returns AUC of class k against all others, by its scores; of two classes it is NaN, as
// it is of a class that never came, or where nothing else did.
func (m *Metrics) ClassAUC(k int) (auc, bound float64) {
	switch {
	case m.each == nil || k < 0 || k >= len(m.s.Classes) || m.s.Classes[k].Came == 0 ||
		m.s.Classes[k].Came == m.s.Sum:
		return math.NaN(), math.NaN()
	case k >= len(m.each): // it has no scores: all are equal
		return 0.5, 0.5
	}
	return areaOf(m.each[k].bins, m.each[k].lost, 1/m.s.Sum)
}

// meanAUC returns the mean over the classes that have one.
func (m *Metrics) meanAUC(weight func(classTally) float64) (auc, bound float64) {
	var sum float64
	for k, c := range m.s.Classes {
		if a, b := m.ClassAUC(k); a == a {
			w := weight(c)
			auc, bound, sum = auc+w*a, bound+w*b, sum+w
		}
	}
	return auc / sum, bound / sum
}

// areaOf returns AUC of scores, whose weights are multiplied by unit so that no product overflows.
func areaOf(bins []scoreBin, lost scoreBin, unit float64) (auc, bound float64) {
	var won, same, below, positive, negative float64
	for _, b := range bins {
		b.Positive, b.Negative = b.Positive*unit, b.Negative*unit
		won += b.Positive * below
		same += b.Positive * b.Negative
		below += b.Negative
		positive, negative = positive+b.Positive, negative+b.Negative
	}
	lost.Positive, lost.Negative = lost.Positive*unit, lost.Negative*unit
	won += positive * lost.Negative
	same += lost.Positive * lost.Negative
	pairs := (positive + lost.Positive) * (negative + lost.Negative)
	return (won + same/2) / pairs, same / 2 / pairs
}

// Scored is a score of two classes beside the label that came.
type Scored struct {
	Score, Weight float64
	Positive      bool
}

// CurvePoint is one point of the ROC and of the precision-recall curve: what predicting +1 from
// Threshold on gets right.
type CurvePoint struct {
	Threshold float64
	True      float64 // positives among those
	False     float64 // negatives among those
}

// Curve is what each threshold gets, from the largest down.
type Curve struct {
	Points              []CurvePoint // True and False ascend; one for each score
	Positives, Negative float64      // all
}

// CurveOf returns the curve of all scores, which it sorts. NaN comes last, and what weighs nothing
// is left out: it would be a point without a precision. Cost: of sorting.
func CurveOf(all []Scored) (c Curve) {
	slices.SortFunc(all, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	for _, s := range all {
		if s.Weight == 0 {
			continue
		}
		if n := len(c.Points); n == 0 || cmp.Compare(s.Score, c.Points[n-1].Threshold) != 0 {
			c.Points = append(c.Points, CurvePoint{s.Score, c.Positives, c.Negative})
		}
		if s.Positive {
			c.Positives += s.Weight
		} else {
			c.Negative += s.Weight
		}
		p := &c.Points[len(c.Points)-1]
		p.True, p.False = c.Positives, c.Negative
	}
	return c
}

// Curve returns that of the bins, whose thresholds are their least scores; empty without
// MetricsOptions.AUC, and of more than two classes, which have one each.
func (m *Metrics) Curve() Curve {
	if m.each != nil || len(m.s.Classes) > 2 {
		return Curve{}
	}
	return m.curveOf(m.s.Scores, m.s.Lost)
}

// ClassCurve is Curve of class k against all others, by its scores; empty where ClassAUC is NaN.
func (m *Metrics) ClassCurve(k int) Curve {
	if auc, _ := m.ClassAUC(k); auc != auc || k >= len(m.each) {
		return Curve{}
	}
	return m.curveOf(m.each[k].bins, m.each[k].lost)
}

func (m *Metrics) curveOf(bins []scoreBin, lost scoreBin) (c Curve) {
	for i := len(bins) - 1; i >= 0; i-- {
		b := bins[i]
		if b.Positive+b.Negative == 0 {
			continue
		}
		c.Positives += b.Positive / m.s.Unit
		c.Negative += b.Negative / m.s.Unit
		c.Points = append(c.Points, CurvePoint{binStart(i), c.Positives, c.Negative})
	}
	if lost.Positive+lost.Negative > 0 {
		c.Positives += lost.Positive / m.s.Unit
		c.Negative += lost.Negative / m.s.Unit
		c.Points = append(c.Points, CurvePoint{math.NaN(), c.Positives, c.Negative})
	}
	return c
}

// binStart returns the least score of a bin.
func binStart(i int) float64 {
	switch {
	case i == 0:
		return math.Inf(-1)
	case i == scoreBins:
		return 0
	case i > scoreBins:
		return math.Float64frombits(uint64(i-scoreBins+firstBin) << (52 - mantissaBits))
	}
	// The bin of -s begins behind the largest number of s's bin.
	return -math.Nextafter(math.Float64frombits(
		uint64(scoreBins-i+firstBin)<<(52-mantissaBits)), 0)
}

// AUC returns the area under the ROC curve, by trapezoids; NaN without both classes.
func (c *Curve) AUC() float64 {
	var area, t, f float64
	for _, p := range c.Points {
		area += (p.False - f) * (t + (p.True-t)/2)
		t, f = p.True, p.False
	}
	return area / (c.Positives * c.Negative)
}

// AveragePrecision returns the sum over the thresholds of the precision there times what recall
// it adds; NaN without positives.
func (c *Curve) AveragePrecision() float64 {
	var sum, t float64
	for _, p := range c.Points {
		sum += (p.True - t) * p.True / (p.True + p.False)
		t = p.True
	}
	return sum / c.Positives
}

// Thin leaves out points between which the ROC curve is a straight line, and then all but about n.
// The first and the last stay.
func (c *Curve) Thin(n int) {
	if len(c.Points) < 3 {
		return
	}
	kept := c.Points[:1]
	from := CurvePoint{}
	for i := 1; i+1 < len(c.Points); i++ {
		p, next := c.Points[i], c.Points[i+1]
		last := kept[len(kept)-1]
		if (p.True-last.True)*(next.False-p.False) != (next.True-p.True)*(p.False-last.False) {
			kept = append(kept, p)
		}
	}
	kept = append(kept, c.Points[len(c.Points)-1])
	c.Points = kept
	if len(kept) <= n {
		return
	}
	thin := kept[:1:1]
	from = kept[0]
	for i, p := range kept[1:] {
		if i == len(kept)-2 || float64(n)*((p.True-from.True)/max(c.Positives, 1)+
			(p.False-from.False)/max(c.Negative, 1)) >= 2 {
			thin, from = append(thin, p), p
		}
	}
	c.Points = thin
}
