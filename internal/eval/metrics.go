package eval

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
)

// Outcome is one prediction beside the class that came.
type Outcome struct {
	Class     int32 // that came; of two 0 is label -1, 1 is label +1; -1: none of the classes
	Predicted int32 // -1: none, which is an error
	Proba     bool  // whether the four below are there
	Hit       bool  // Sure was of the class that came: of +1, or of the most probable
	Weight    float64
	Score     float64 // of two classes, for +1

	Own   float64 // probability of the class that came
	Sure  float64 // of +1; of more than two classes, of the most probable
	Brier float64 // (p - [class])^2: of +1; of more than two classes, summed over them
}

// Outcome2 is that of a label -1 or +1, or 0, which is neither, with score f, of weight 1: f >= 0
// predicts +1, NaN nothing.
func Outcome2(y, f float64) Outcome {
	o := Outcome{Weight: 1, Score: f, Predicted: -1}
	if y == 0 {
		o.Class = -1
	} else if y > 0 {
		o.Class = 1
	}
	if f == f {
		o.Predicted = int32(one(f >= 0))
	}
	return o
}

// OutcomeOf is that of a class out of several, of weight 1; predicted is -1 where nothing is.
func OutcomeOf(class, predicted int) Outcome {
	return Outcome{Weight: 1, Class: int32(class), Predicted: int32(predicted), Score: math.NaN()}
}

// Believe adds p = P(y = +1), of two classes. A NaN is the probability 0 of the label that came, as
// is any p of a label that is neither.
func (o *Outcome) Believe(p float64) {
	if o.Class < 0 {
		o.Proba, o.Hit, o.Sure, o.Own, o.Brier = true, false, math.NaN(), 0, 1
		if p == p {
			o.Brier = (p*p + (1-p)*(1-p) + 1) / 2 // half of the sum over three classes
		}
		return
	}
	y := 2*float64(o.Class) - 1
	if p != p {
		p = math.Max(0, -y)
	}
	o.Proba, o.Hit, o.Sure, o.Own = true, o.Class == 1, p, p
	if o.Class == 0 {
		o.Own = 1 - p
	}
	d := p - float64(o.Class)
	o.Brier = d * d
}

// LogLoss returns -log of the probability of the class that came, in nats, or of LeastProbability
// where that is more; NaN without probabilities.
func (o *Outcome) LogLoss() float64 {
	if !o.Proba {
		return math.NaN()
	}
	return -math.Log(max(o.Own, LeastProbability))
}

// BelieveEach adds p[k] = P(class k). A class without a place in p has the probability 0, and so
// has each where one is NaN.
func (o *Outcome) BelieveEach(p []float64) {
	o.Proba, o.Own, o.Sure, o.Hit, o.Brier = true, 0, math.NaN(), false, 1
	best := learner.Predicted(p)
	if best < 0 {
		return
	}
	o.Brier, o.Sure, o.Hit = 0, p[best], best == int(o.Class)
	for k, v := range p {
		if k == int(o.Class) {
			o.Own, v = v, v-1
		}
		o.Brier += v * v
	}
	if o.Class < 0 || int(o.Class) >= len(p) {
		o.Brier++
	}
}

// calibrationBins equal bins of [0, 1] are what CalibrationError compares; a probability on a
// border belongs to the upper one.
const calibrationBins = 10

// LeastProbability is what LogLoss takes the probability of a label for where it is less: certainty
// that was wrong would cost an infinite loss.
const LeastProbability = 1e-15

// MaxConfusion is the most classes of which a confusion matrix is kept; of more, each class has
// its figures, and no cells.
const MaxConfusion = 100

// MetricsOptions say what Metrics tally beside the classes. The zero value: nothing.
type MetricsOptions struct {
	// AUC keeps how often each score of two classes came, by bins: 128 KiB. Of more, up to
	// MaxConfusion, AddScored keeps them of each class, 128 KiB a class.
	AUC bool
	// Fading, above 0 and below 1, multiplies the weight of all outcomes before by it at each new
	// one: about the last 1/(1-Fading) count (J. Gama, R. Sebastião, P. P. Rodrigues, "On
	// evaluating stream learning algorithms", Machine Learning 90, 2013). 0 and 1 fade nothing.
	Fading float64
}

// Metrics tallies outcomes, in memory that does not grow with them. Without weights and fading all
// counts are whole numbers up to 2^53, so that nothing depends on the order. Not safe for
// concurrent use.
//
// Conventions are those of scikit-learn: what would be divided by 0 is 0, and macro means are over
// the classes that came or were predicted, balanced error is over those that came. Shares are from
// 0 to 1. Without outcomes all of them are 0, and AUC is NaN.
//
// Cost: some ns an outcome, 10 more with AUC; nothing is allocated but for a new class.
type Metrics struct {
	o    MetricsOptions
	s    metricsState
	each []classScores
}

// metricsState is what Metrics have tallied, as JSON holds it.
type metricsState struct {
	Examples int64
	Unit     float64 // of the present weights: 1 without fading

	Sum, Right  float64
	Classes     []classTally
	Cells       []float64 // [class][predicted], in rows of Stride; nil for too many classes
	Stride      int
	Weighed     float64 // weight of what has probabilities
	LogLoss     float64
	Brier       float64
	Calibration [calibrationBins]calibrationBin
	Scores      []scoreBin
	Lost        scoreBin // NaN
}

// valid reports whether Metrics with these options can have the state.
func (s *metricsState) valid(o *MetricsOptions) bool {
	n := len(s.Classes)
	return s.Unit > 0 && s.Examples >= 0 && (s.Scores == nil) == !o.AUC &&
		(s.Scores == nil || len(s.Scores) == 2*scoreBins) && len(s.Cells) == s.Stride*s.Stride &&
		s.Stride >= 0 && s.Stride <= MaxConfusion && (s.Cells == nil || s.Stride >= n)
}

// classScores are those of a class, of more than two.
type classScores struct {
	bins []scoreBin
	lost scoreBin // NaN, or no score
}

type classTally struct {
	Came      float64 `json:"c,omitempty"`
	Predicted float64 `json:"p,omitempty"`
	Right     float64 `json:"r,omitempty"`
}

type scoreBin struct {
	Negative float64 `json:"n,omitempty"`
	Positive float64 `json:"p,omitempty"`
}

// calibrationBin is what a bin of probabilities has: its weight, and the sums of p and of hits.
type calibrationBin struct{ Weight, P, Hits float64 }

// NewMetrics returns empty Metrics.
func NewMetrics(o MetricsOptions) *Metrics {
	m := &Metrics{o: o}
	m.Reset()
	if o.AUC {
		m.s.Scores = make([]scoreBin, 2*scoreBins)
	}
	return m
}

// Reset forgets all outcomes.
func (m *Metrics) Reset() {
	clear(m.s.Cells)
	clear(m.s.Scores)
	for k := range m.each {
		clear(m.each[k].bins)
		m.each[k].lost = scoreBin{}
	}
	m.s = metricsState{Unit: 1, Classes: m.s.Classes[:0], Cells: m.s.Cells, Stride: m.s.Stride,
		Scores: m.s.Scores}
}

// Add tallies an outcome. One of none of the classes is an error, and a wrong prediction of the
// class that was predicted; the confusion matrix and the scores of two classes leave it out.
func (m *Metrics) Add(o *Outcome) {
	if last := int(max(o.Class, o.Predicted)); last >= len(m.s.Classes) {
		m.grow(last + 1)
	}
	if f := m.o.Fading; f > 0 && f < 1 {
		if m.s.Unit /= f; m.s.Unit > tooLarge {
			m.scale(1 / m.s.Unit)
			m.s.Unit = 1
		}
	}
	w := o.Weight * m.s.Unit
	m.s.Examples++
	m.s.Sum += w
	if o.Class >= 0 {
		m.s.Classes[o.Class].Came += w
	}
	if o.Predicted >= 0 {
		m.s.Classes[o.Predicted].Predicted += w
		if o.Predicted == o.Class {
			m.s.Classes[o.Class].Right += w
			m.s.Right += w
		}
		if m.s.Cells != nil && o.Class >= 0 {
			m.s.Cells[int(o.Class)*m.s.Stride+int(o.Predicted)] += w
		}
	}
	if m.s.Scores != nil && o.Class >= 0 {
		b := &m.s.Lost
		if f := o.Score; f == f {
			b = &m.s.Scores[scoreBinOf(f)]
		}
		if o.Class == 1 {
			b.Positive += w
		} else {
			b.Negative += w
		}
	}
	if o.Proba {
		m.believe(o, w)
	}
}

// AddScored is Add with the scores of all classes, of more than two, one after another: AUC is of
// them. A class beyond has none. Cost: some ns a class.
func (m *Metrics) AddScored(o *Outcome, scores []float64) {
	before := m.s.Sum
	m.Add(o)
	if !m.o.AUC || len(scores) > MaxConfusion || len(m.s.Classes) > MaxConfusion {
		m.each = nil
		return
	}
	for k := len(m.each); k < len(scores); k++ {
		c := classScores{bins: make([]scoreBin, 2*scoreBins)}
		c.lost.Negative = before // class k never came with a score
		if k < len(m.s.Classes) {
			came := m.s.Classes[k].Came
			if k == int(o.Class) {
				came -= o.Weight * m.s.Unit
			}
			c.lost.Positive, c.lost.Negative = came, before-came
		}
		m.each = append(m.each, c)
	}
	w := o.Weight * m.s.Unit
	for k := range m.each {
		c := &m.each[k]
		b := &c.lost
		if k < len(scores) && scores[k] == scores[k] {
			b = &c.bins[scoreBinOf(scores[k])]
		}
		if k == int(o.Class) {
			b.Positive += w
		} else {
			b.Negative += w
		}
	}
}

// believe tallies the probabilities of an outcome.
func (m *Metrics) believe(o *Outcome, w float64) {
	m.s.Weighed += w
	m.s.LogLoss += w * o.LogLoss()
	m.s.Brier += w * o.Brier
	if o.Sure == o.Sure {
		b := &m.s.Calibration[min(int(o.Sure*calibrationBins), calibrationBins-1)]
		b.Weight += w
		b.P += w * o.Sure
		if o.Hit {
			b.Hits += w
		}
	}
}

// tooLarge is where weights that grow while the ones before fade are made small again. The product
// of two sums of such is still a number.
const tooLarge = 1 << 400

// scale multiplies all tallies.
func (m *Metrics) scale(by float64) {
	for _, v := range []*float64{&m.s.Sum, &m.s.Right, &m.s.Weighed, &m.s.LogLoss, &m.s.Brier,
		&m.s.Lost.Negative, &m.s.Lost.Positive} {
		*v *= by
	}
	for i := range m.s.Classes {
		c := &m.s.Classes[i]
		c.Came, c.Predicted, c.Right = c.Came*by, c.Predicted*by, c.Right*by
	}
	for i := range m.s.Cells {
		m.s.Cells[i] *= by
	}
	for i := range m.s.Calibration {
		b := &m.s.Calibration[i]
		b.Weight, b.P, b.Hits = b.Weight*by, b.P*by, b.Hits*by
	}
	scaleBins(m.s.Scores, by)
	for k := range m.each {
		m.each[k].scaled(by)
	}
}

// scaled multiplies the tallies of a class.
func (c *classScores) scaled(by float64) {
	scaleBins(c.bins, by)
	c.lost = scoreBin{c.lost.Negative * by, c.lost.Positive * by}
}

func scaleBins(bins []scoreBin, by float64) {
	for i := range bins {
		b := &bins[i]
		b.Negative, b.Positive = b.Negative*by, b.Positive*by
	}
}

// grow makes room for n classes.
func (m *Metrics) grow(n int) {
	had := len(m.s.Classes)
	m.s.Classes = slices.Grow(m.s.Classes, n-had)[:n]
	clear(m.s.Classes[had:])
	switch {
	case n > MaxConfusion:
		m.s.Cells, m.s.Stride = nil, 0
	case n > m.s.Stride && (had == 0 || m.s.Cells != nil):
		stride := min(MaxConfusion, max(n, 2*m.s.Stride))
		cells := make([]float64, stride*stride)
		for k := range had {
			copy(cells[k*stride:], m.s.Cells[k*m.s.Stride:][:had])
		}
		m.s.Cells, m.s.Stride = cells, stride
	}
}

// Examples returns how many outcomes were added.
func (m *Metrics) Examples() int64 { return m.s.Examples }

// Classes returns how many classes came or were predicted: the largest number of one, and one more.
func (m *Metrics) Classes() int { return len(m.s.Classes) }

// Error returns the share of wrong predictions.
func (m *Metrics) Error() float64 { return ratio(m.s.Sum-m.s.Right, m.s.Sum) }

// BalancedError returns the mean over the classes that came of the share of each that was predicted
// wrong: 1 less the mean recall.
func (m *Metrics) BalancedError() float64 {
	var sum, n float64
	for _, c := range m.s.Classes {
		if c.Came > 0 {
			sum += 1 - c.Right/c.Came
			n++
		}
	}
	return ratio(sum, n)
}

// ClassMetrics are the figures of one class.
type ClassMetrics struct {
	Came, Predicted float64 // weight: without weights and fading, how many
	Right           float64 // of both
	Precision       float64 // Right/Predicted
	Recall          float64 // Right/Came
	F1              float64 // 2 Right/(Came + Predicted)
}

// Class returns the figures of class k; of one that never came, zeros.
func (m *Metrics) Class(k int) ClassMetrics {
	if k < 0 || k >= len(m.s.Classes) {
		return ClassMetrics{}
	}
	c := m.s.Classes[k]
	u := 1 / m.s.Unit
	return ClassMetrics{c.Came * u, c.Predicted * u, c.Right * u, ratio(c.Right, c.Predicted),
		ratio(c.Right, c.Came), ratio(2*c.Right, c.Came+c.Predicted)}
}

// F1 returns, of two classes, that of +1: the harmonic mean of precision and recall. Of more it is
// the mean of the classes' ("macro").
func (m *Metrics) F1() float64 {
	if len(m.s.Classes) <= 2 {
		return m.Class(1).F1
	}
	var sum, n float64
	for k, c := range m.s.Classes {
		if c.Came+c.Predicted > 0 {
			sum += m.Class(k).F1
			n++
		}
	}
	return ratio(sum, n)
}

// Confusion returns how much of the class k was predicted as p, [k][p]; nil for more than
// MaxConfusion classes. What was predicted as nothing is in no cell.
func (m *Metrics) Confusion() [][]float64 {
	if m.s.Cells == nil {
		return nil
	}
	rows := make([][]float64, len(m.s.Classes))
	for k := range rows {
		rows[k] = slices.Clone(m.s.Cells[k*m.s.Stride:][:len(m.s.Classes)])
		for p := range rows[k] {
			rows[k][p] /= m.s.Unit
		}
	}
	return rows
}

// Proba reports whether outcomes had probabilities.
func (m *Metrics) Proba() bool { return m.s.Weighed > 0 }

// LogLoss returns the mean of -log P(class that came), in nats.
func (m *Metrics) LogLoss() float64 { return ratio(m.s.LogLoss, m.s.Weighed) }

// Brier returns the mean of Outcome.Brier.
func (m *Metrics) Brier() float64 { return ratio(m.s.Brier, m.s.Weighed) }

// CalibrationError returns the expected calibration error: over 10 equal bins of the probability of
// +1, or of the most probable class, the mean, weighted by their outcomes, of the distance between
// the mean of it and the fraction that came true.
func (m *Metrics) CalibrationError() float64 {
	var sum float64
	for _, b := range m.s.Calibration {
		sum += math.Abs(b.P - b.Hits)
	}
	return ratio(sum, m.s.Weighed)
}

// CalibrationBin is what came of probabilities that are alike.
type CalibrationBin struct {
	From, To float64
	Weight   float64 // without weights and fading, how many
	Mean     float64 // of the probabilities
	Share    float64 // of those that came true
}

// Calibration returns the bins that are not empty: ten of equal width, each with its lower end.
func (m *Metrics) Calibration() (bins []CalibrationBin) {
	for i, b := range m.s.Calibration {
		if b.Weight > 0 {
			bins = append(bins, CalibrationBin{float64(i) / calibrationBins,
				float64(i+1) / calibrationBins, b.Weight / m.s.Unit, b.P / b.Weight,
				b.Hits / b.Weight})
		}
	}
	return bins
}

func ratio(a, of float64) float64 {
	if !(of > 0) {
		return 0
	}
	return a / of
}

// Metrics returns what c says of two classes: all that needs neither scores nor probabilities. nil
// where a score was NaN or infinite.
func (c Count) Metrics() *Metrics {
	if c.NotFinite > 0 {
		return nil
	}
	m := NewMetrics(MetricsOptions{})
	right := (c.Positives + c.Predicted - c.Errors) / 2 // of +1
	for _, cell := range []struct {
		class, predicted int32
		n                int64
	}{
		{1, 1, right}, {1, 0, c.Positives - right}, {0, 1, c.Predicted - right},
		{0, 0, c.Examples - c.Positives - c.Predicted + right},
	} {
		if cell.n > 0 {
			m.Add(&Outcome{Class: cell.class, Predicted: cell.predicted, Weight: float64(cell.n)})
		}
	}
	m.s.Examples = c.Examples
	return m
}

// Probabilities returns Metrics of the probabilities alone, in which each example counts once: the
// means are the same, and the bins have numbers of examples.
func (m *Metrics) Probabilities() *Metrics {
	p := NewMetrics(MetricsOptions{})
	if !m.Proba() {
		return p
	}
	by := float64(m.s.Examples) / m.s.Weighed
	p.s.Examples, p.s.Weighed = m.s.Examples, float64(m.s.Examples)
	p.s.LogLoss, p.s.Brier = m.s.LogLoss*by, m.s.Brier*by
	for i, b := range m.s.Calibration {
		p.s.Calibration[i] = calibrationBin{math.Round(b.Weight * by), b.P * by,
			math.Round(b.Hits * by)}
	}
	return p
}
