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
// concurrent use; of any number of Metrics, Merge makes one.
//
// Conventions are those of scikit-learn: what would be divided by 0 is 0, and macro means are over
// the classes that came or were predicted, balanced error is over those that came. Shares are from
// 0 to 1. Without outcomes all of them are 0, and AUC is NaN.
//
// Cost: some ns an outcome, 10 more with AUC; nothing is allocated but for a new class.
type Metrics struct {
	o        MetricsOptions
	examples int64
	unit     float64 // of the present weights: 1 without fading

	sum, right  float64
	classes     []classTally
	cells       []float64 // [class][predicted], in rows of stride; nil for too many classes
	stride      int
	weighed     float64 // weight of what has probabilities
	logLoss     float64
	brier       float64
	calibration [calibrationBins]calibrationBin
	scores      []scoreBin
	lost        scoreBin // NaN
	each        []classScores
}

// classScores are those of a class, of more than two.
type classScores struct {
	bins []scoreBin
	lost scoreBin // NaN, or no score
}

type classTally struct{ came, predicted, right float64 }
type scoreBin struct{ negative, positive float64 }

// calibrationBin is what a bin of probabilities has: its weight, and the sums of p and of hits.
type calibrationBin struct{ weight, p, hits float64 }

// NewMetrics returns empty Metrics.
func NewMetrics(o MetricsOptions) *Metrics {
	m := &Metrics{o: o}
	m.Reset()
	if o.AUC {
		m.scores = make([]scoreBin, 2*scoreBins)
	}
	return m
}

// Reset forgets all outcomes.
func (m *Metrics) Reset() {
	clear(m.cells)
	clear(m.scores)
	for k := range m.each {
		clear(m.each[k].bins)
		m.each[k].lost = scoreBin{}
	}
	*m = Metrics{o: m.o, unit: 1, classes: m.classes[:0], cells: m.cells, stride: m.stride,
		scores: m.scores, each: m.each}
}

// Add tallies an outcome. One of none of the classes is an error, and a wrong prediction of the
// class that was predicted; the confusion matrix and the scores of two classes leave it out.
func (m *Metrics) Add(o *Outcome) {
	if last := int(max(o.Class, o.Predicted)); last >= len(m.classes) {
		m.grow(last + 1)
	}
	if f := m.o.Fading; f > 0 && f < 1 {
		if m.unit /= f; m.unit > tooLarge {
			m.scale(1 / m.unit)
			m.unit = 1
		}
	}
	w := o.Weight * m.unit
	m.examples++
	m.sum += w
	if o.Class >= 0 {
		m.classes[o.Class].came += w
	}
	if o.Predicted >= 0 {
		m.classes[o.Predicted].predicted += w
		if o.Predicted == o.Class {
			m.classes[o.Class].right += w
			m.right += w
		}
		if m.cells != nil && o.Class >= 0 {
			m.cells[int(o.Class)*m.stride+int(o.Predicted)] += w
		}
	}
	if m.scores != nil && o.Class >= 0 {
		b := &m.lost
		if f := o.Score; f == f {
			b = &m.scores[scoreBinOf(f)]
		}
		if o.Class == 1 {
			b.positive += w
		} else {
			b.negative += w
		}
	}
	if o.Proba {
		m.believe(o, w)
	}
}

// AddScored is Add with the scores of all classes, of more than two, one after another: AUC is of
// them. A class beyond has none. Cost: some ns a class.
func (m *Metrics) AddScored(o *Outcome, scores []float64) {
	before := m.sum
	m.Add(o)
	if !m.o.AUC || len(scores) > MaxConfusion || len(m.classes) > MaxConfusion {
		m.each = nil
		return
	}
	for k := len(m.each); k < len(scores); k++ {
		c := classScores{bins: make([]scoreBin, 2*scoreBins)}
		c.lost.negative = before // class k never came with a score
		if k < len(m.classes) {
			came := m.classes[k].came
			if k == int(o.Class) {
				came -= o.Weight * m.unit
			}
			c.lost.positive, c.lost.negative = came, before-came
		}
		m.each = append(m.each, c)
	}
	w := o.Weight * m.unit
	for k := range m.each {
		c := &m.each[k]
		b := &c.lost
		if k < len(scores) && scores[k] == scores[k] {
			b = &c.bins[scoreBinOf(scores[k])]
		}
		if k == int(o.Class) {
			b.positive += w
		} else {
			b.negative += w
		}
	}
}

// believe tallies the probabilities of an outcome.
func (m *Metrics) believe(o *Outcome, w float64) {
	m.weighed += w
	m.logLoss += w * o.LogLoss()
	m.brier += w * o.Brier
	if o.Sure == o.Sure {
		b := &m.calibration[min(int(o.Sure*calibrationBins), calibrationBins-1)]
		b.weight += w
		b.p += w * o.Sure
		if o.Hit {
			b.hits += w
		}
	}
}

// tooLarge is where weights that grow while the ones before fade are made small again. The product
// of two sums of such is still a number.
const tooLarge = 1 << 400

// scale multiplies all tallies.
func (m *Metrics) scale(by float64) {
	for _, v := range []*float64{&m.sum, &m.right, &m.weighed, &m.logLoss, &m.brier,
		&m.lost.negative, &m.lost.positive} {
		*v *= by
	}
	for i := range m.classes {
		c := &m.classes[i]
		c.came, c.predicted, c.right = c.came*by, c.predicted*by, c.right*by
	}
	for i := range m.cells {
		m.cells[i] *= by
	}
	for i := range m.calibration {
		b := &m.calibration[i]
		b.weight, b.p, b.hits = b.weight*by, b.p*by, b.hits*by
	}
	scaleBins(m.scores, by)
	for k := range m.each {
		m.each[k].scaled(by)
	}
}

// scaled multiplies the tallies of a class.
func (c *classScores) scaled(by float64) {
	scaleBins(c.bins, by)
	c.lost = scoreBin{c.lost.negative * by, c.lost.positive * by}
}

func scaleBins(bins []scoreBin, by float64) {
	for i := range bins {
		b := &bins[i]
		b.negative, b.positive = b.negative*by, b.positive*by
	}
}

// grow makes room for n classes.
func (m *Metrics) grow(n int) {
	had := len(m.classes)
	m.classes = slices.Grow(m.classes, n-had)[:n]
	clear(m.classes[had:])
	switch {
	case n > MaxConfusion:
		m.cells, m.stride = nil, 0
	case n > m.stride && (had == 0 || m.cells != nil):
		stride := min(MaxConfusion, max(n, 2*m.stride))
		cells := make([]float64, stride*stride)
		for k := range had {
			copy(cells[k*stride:], m.cells[k*m.stride:][:had])
		}
		m.cells, m.stride = cells, stride
	}
}

// Merge adds what o has tallied, as if its outcomes had come at the same time: what faded there has
// faded.
func (m *Metrics) Merge(o *Metrics) {
	if len(o.classes) > len(m.classes) {
		m.grow(len(o.classes))
	}
	by := m.unit / o.unit
	m.examples += o.examples
	m.sum += by * o.sum
	m.right += by * o.right
	m.weighed += by * o.weighed
	m.logLoss += by * o.logLoss
	m.brier += by * o.brier
	for k, c := range o.classes {
		into := &m.classes[k]
		into.came += by * c.came
		into.predicted += by * c.predicted
		into.right += by * c.right
	}
	if o.examples > 0 && o.cells == nil {
		m.cells, m.stride = nil, 0
	}
	for k := range o.classes {
		for p := 0; m.cells != nil && p < len(o.classes); p++ {
			m.cells[k*m.stride+p] += by * o.cells[k*o.stride+p]
		}
	}
	for i, b := range o.calibration {
		into := &m.calibration[i]
		into.weight += by * b.weight
		into.p += by * b.p
		into.hits += by * b.hits
	}
	switch {
	case o.examples == 0:
	case m.examples == o.examples: // m was empty
		m.each = o.Clone().each
		for k := range m.each {
			m.each[k].scaled(by)
		}
	case len(m.each) != len(o.each):
		m.each = nil
	}
	if m.scores == nil || o.scores == nil {
		m.scores = nil
		return
	}
	addBins(m.scores, o.scores, by)
	m.lost.add(&o.lost, by)
	if o.examples == 0 || m.examples == o.examples {
		return
	}
	for k := range m.each {
		addBins(m.each[k].bins, o.each[k].bins, by)
		m.each[k].lost.add(&o.each[k].lost, by)
	}
}

// addBins adds others times by to bins.
func addBins(bins, others []scoreBin, by float64) {
	for i := range others {
		bins[i].add(&others[i], by)
	}
}

// add adds o times by.
func (b *scoreBin) add(o *scoreBin, by float64) {
	b.negative += by * o.negative
	b.positive += by * o.positive
}

// Clone returns a copy.
func (m *Metrics) Clone() *Metrics {
	c := *m
	c.classes, c.cells, c.scores = slices.Clone(m.classes), slices.Clone(m.cells),
		slices.Clone(m.scores)
	c.each = slices.Clone(m.each)
	for k := range c.each {
		c.each[k].bins = slices.Clone(m.each[k].bins)
	}
	return &c
}

// Examples returns how many outcomes were added.
func (m *Metrics) Examples() int64 { return m.examples }

// Classes returns how many classes came or were predicted: the largest number of one, and one more.
func (m *Metrics) Classes() int { return len(m.classes) }

// Error returns the share of wrong predictions.
func (m *Metrics) Error() float64 { return ratio(m.sum-m.right, m.sum) }

// BalancedError returns the mean over the classes that came of the share of each that was predicted
// wrong: 1 less the mean recall.
func (m *Metrics) BalancedError() float64 {
	var sum, n float64
	for _, c := range m.classes {
		if c.came > 0 {
			sum += 1 - c.right/c.came
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
	if k < 0 || k >= len(m.classes) {
		return ClassMetrics{}
	}
	c := m.classes[k]
	u := 1 / m.unit
	return ClassMetrics{c.came * u, c.predicted * u, c.right * u, ratio(c.right, c.predicted),
		ratio(c.right, c.came), ratio(2*c.right, c.came+c.predicted)}
}

// F1 returns, of two classes, that of +1: the harmonic mean of precision and recall. Of more it is
// the mean of the classes' ("macro").
func (m *Metrics) F1() float64 {
	if len(m.classes) <= 2 {
		return m.Class(1).F1
	}
	var sum, n float64
	for k, c := range m.classes {
		if c.came+c.predicted > 0 {
			sum += m.Class(k).F1
			n++
		}
	}
	return ratio(sum, n)
}

// Confusion returns how much of the class k was predicted as p, [k][p]; nil for more than
// MaxConfusion classes. What was predicted as nothing is in no cell.
func (m *Metrics) Confusion() [][]float64 {
	if m.cells == nil {
		return nil
	}
	rows := make([][]float64, len(m.classes))
	for k := range rows {
		rows[k] = slices.Clone(m.cells[k*m.stride:][:len(m.classes)])
		for p := range rows[k] {
			rows[k][p] /= m.unit
		}
	}
	return rows
}

// Proba reports whether outcomes had probabilities.
func (m *Metrics) Proba() bool { return m.weighed > 0 }

// LogLoss returns the mean of -log P(class that came), in nats.
func (m *Metrics) LogLoss() float64 { return ratio(m.logLoss, m.weighed) }

// Brier returns the mean of Outcome.Brier.
func (m *Metrics) Brier() float64 { return ratio(m.brier, m.weighed) }

// CalibrationError returns the expected calibration error; see [Probabilities.CalibrationError].
func (m *Metrics) CalibrationError() float64 {
	var sum float64
	for _, b := range m.calibration {
		sum += math.Abs(b.p - b.hits)
	}
	return ratio(sum, m.weighed)
}

// Probabilities returns the same means for as many examples, of outcomes that all had some.
func (m *Metrics) Probabilities() *Probabilities {
	if !m.Proba() {
		return &Probabilities{}
	}
	by := float64(m.examples) / m.weighed
	s := &Probabilities{Examples: m.examples, logLoss: m.logLoss * by, brier: m.brier * by}
	for i, b := range m.calibration {
		s.bins[i].examples = int64(math.Round(b.weight * by))
		s.bins[i].positive = int64(math.Round(b.hits * by))
		s.bins[i].p = b.p * by
	}
	return s
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
	for i, b := range m.calibration {
		if b.weight > 0 {
			bins = append(bins, CalibrationBin{float64(i) / calibrationBins,
				float64(i+1) / calibrationBins, b.weight / m.unit, b.p / b.weight,
				b.hits / b.weight})
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
	m.examples = c.Examples
	return m
}
