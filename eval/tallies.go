package eval

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/learner"
)

// ErrTallies is returned where a run is to go on with tallies that none can have made.
var ErrTallies = errors.New("tallies that no run has made")

// What a run tallies beside the counts of its Standing is written as bytes, in one order for
// writing and reading: numbers of variable length (LEB128), and each float as twice its value where
// that is a whole number from 0 on, so that most take a byte or two, else as 1 and its eight bytes.
// So a file of n bytes has no more than n numbers, and takes no memory out of proportion. Nothing
// that is read is believed: what no run can have tallied is refused.

// talliesForm is the first number: of which form the rest is.
const talliesForm = 1

// mostClasses is as many as package dataset takes.
const mostClasses = 1 << 20

// packing is bytes that are written, or read.
type packing struct {
	bytes   []byte // written so far, or left to be read
	reading bool
	bad     bool // what was read can't be

	features, classes int // of an example, at most; 0: any number
}

// want notes what can't be.
func (p *packing) want(ok bool) { p.bad = p.bad || p.reading && !ok }

// number packs one of up to most.
func (p *packing) number(v *uint64, most uint64) {
	if !p.reading {
		p.bytes = binary.AppendUvarint(p.bytes, *v)
		return
	}
	n, size := binary.Uvarint(p.bytes)
	if size <= 0 || n > most {
		*v, p.bad, p.bytes = 0, true, nil
		return
	}
	*v, p.bytes = n, p.bytes[size:]
}

// whole packs numbers from 0 up to most.
func whole[I int | int32 | int64](p *packing, most int64, list ...*I) {
	for _, v := range list {
		n := uint64(*v)
		p.number(&n, uint64(most))
		*v = I(n)
	}
}

// length packs how many elements follow, each of a byte or more.
func (p *packing) length(n, most int) int {
	if whole(p, int64(most), &n); p.reading && n > len(p.bytes) {
		n, p.bad, p.bytes = 0, true, nil
	}
	return n
}

// flag packs what is or isn't.
func (p *packing) flag(v *bool) {
	n := one(*v)
	whole(p, 1, &n)
	*v = n == 1
}

// float packs floats of any value.
func (p *packing) float(list ...*float64) {
	for _, v := range list {
		n := uint64(1)
		if w := *v; w >= 0 && w < 1<<53 && w == math.Trunc(w) && !math.Signbit(w) {
			n = 2 * uint64(w)
		}
		if p.number(&n, 1<<54); n != 1 {
			*v = float64(n / 2)
			p.want(n%2 == 0)
			continue
		}
		if !p.reading {
			p.bytes = binary.LittleEndian.AppendUint64(p.bytes, math.Float64bits(*v))
		} else if len(p.bytes) < 8 {
			*v, p.bad, p.bytes = 0, true, nil
		} else {
			*v = math.Float64frombits(binary.LittleEndian.Uint64(p.bytes))
			p.bytes = p.bytes[8:]
		}
	}
}

// text packs a name.
func (p *packing) text(v *string) {
	n := p.length(len(*v), math.MaxInt)
	if !p.reading {
		p.bytes = append(p.bytes, *v...)
		return
	}
	*v, p.bytes = string(p.bytes[:n]), p.bytes[n:]
}

// part is one of what a run tallies. Where a run goes on, the parts of its name are taken up that
// it was asked for; others are left out, and what has none begins anew.
type part struct {
	name string
	pack func(*packing)
}

// parts are those of the run.
func (r *run[T]) parts() (list []part) {
	add := func(name string, pack func(*packing)) { list = append(list, part{name, pack}) }
	add("scales", r.scales.pack)
	add("centre", r.scales.packCentre)
	if r.whole != nil {
		add(r.metricsName(), r.whole.pack)
	}
	if r.res.Proba != nil {
		add("probabilities of all passes", r.status.Proba.pack)
		add("probabilities of the first", r.res.Proba.pack)
	}
	if w := r.window; w != nil {
		add(fmt.Sprint("window of ", len(w.ring)), w.pack)
	}
	if m := r.fading; m != nil {
		add(fmt.Sprint("fading by ", m.o.Fading, ", ", r.metricsName()), m.pack)
	}
	if c := &r.curve; c.step > 0 {
		add(fmt.Sprint("curve of ", c.most), func(p *packing) { c.pack(p, r.count.Examples) })
	}
	if r.calibrator != nil {
		add("calibration", r.calibrator.pack)
	}
	if r.classes != nil {
		add(fmt.Sprint("calibration of classes, temperature ", r.classes.Temperature),
			r.classes.pack)
	}
	if r.o.Drift != nil {
		add("drift", r.packDrift)
	}
	if r.waits != nil {
		add("examples whose labels come later", r.packQueue)
	}
	if r.ids != nil {
		add("examples whose labels come by ids", r.packIDs)
	}
	return list
}

// metricsName says what Metrics tally.
func (r *run[T]) metricsName() string {
	return fmt.Sprintf("metrics, AUC %t, probabilities %t", r.meters.o.AUC, r.meters.proba)
}

// tallies returns the run's parts as bytes.
func (r *run[T]) tallies() []byte {
	p := &packing{}
	form := talliesForm
	whole(p, math.MaxInt32, &form)
	for _, part := range r.parts() {
		body := &packing{}
		part.pack(body)
		text := string(body.bytes)
		p.text(&part.name)
		p.text(&text)
	}
	return p.bytes
}

// takeTallies takes up those that it is asked for. Where it fails the run is not to be used.
func (r *run[T]) takeTallies(bytes []byte) error {
	p := &packing{bytes: bytes, reading: true}
	form := 0
	if whole(p, math.MaxInt32, &form); form != talliesForm {
		return fmt.Errorf("eval: tallies of the form %d: %w", form, ErrTallies)
	}
	found := map[string]string{}
	for len(p.bytes) > 0 && !p.bad {
		var name, body string
		p.text(&name)
		p.text(&body)
		found[name] = body
	}
	if _, there := found[r.metricsName()]; there && r.whole == nil {
		r.whole = NewMetrics(r.meters.o)
	}
	for _, part := range r.parts() {
		if body, there := found[part.name]; there {
			b := &packing{bytes: []byte(body), reading: true,
				features: r.o.Features, classes: r.o.Classes}
			part.pack(b)
			p.bad = p.bad || b.bad || len(b.bytes) > 0
			if p.bad {
				return fmt.Errorf("eval: %s: %w", part.name, ErrTallies)
			}
		}
	}
	if p.bad {
		return fmt.Errorf("eval: %w", ErrTallies)
	}
	return nil
}

func (m *Metrics) pack(p *packing) {
	whole(p, learner.MaxCount, &m.examples)
	p.float(&m.unit, &m.sum, &m.right, &m.weighed, &m.logLoss, &m.brier, &m.lost.negative,
		&m.lost.positive)
	p.want(m.unit > 0)
	n, cells := p.length(len(m.classes), mostClasses), m.cells != nil
	if p.flag(&cells); p.reading {
		p.want(!cells || n <= MaxConfusion)
		if m.grow(n); !cells || p.bad {
			m.cells, m.stride = nil, 0
		}
	}
	for i := range m.classes {
		c := &m.classes[i]
		p.float(&c.came, &c.predicted, &c.right)
		for k := range m.classes[:min(n, m.stride)] {
			p.float(&m.cells[i*m.stride+k])
		}
	}
	for i := range m.calibration {
		b := &m.calibration[i]
		p.float(&b.weight, &b.p, &b.hits)
	}
	for i := range m.scores {
		p.float(&m.scores[i].negative, &m.scores[i].positive)
	}
}

func (w *Window) pack(p *packing) {
	whole(p, int64(len(w.ring)-1), &w.at)
	w.n = p.length(w.n, len(w.ring))
	p.want(w.n == len(w.ring) || w.at == w.n)
	p.float(&w.sum, &w.wrong)
	for i := range w.ring[:w.n] {
		w.ring[i].pack(p)
	}
}

func (o *Outcome) pack(p *packing) {
	predicted := o.Predicted + 1 // -1 is nothing
	whole(p, mostClasses, &o.Class, &predicted)
	o.Predicted = predicted - 1
	p.flag(&o.Proba)
	p.flag(&o.Hit)
	p.float(&o.Weight, &o.Score)
	if o.Proba {
		p.float(&o.Own, &o.Sure, &o.Brier)
		p.want(o.Sure != o.Sure || o.Sure >= 0)
	}
}

// pack packs the curve of a run that stands after so many examples.
func (c *curve) pack(p *packing, examples int64) {
	whole(p, learner.MaxCount, &c.step, &c.from)
	n := p.length(len(c.points), c.most-1)
	if p.reading {
		c.points = make([]LearningPoint, n)
	}
	for i := range c.points {
		a := &c.points[i]
		whole(p, learner.MaxCount, &a.Examples, &a.Errors)
		p.float(&a.Recent)
	}
	// as add leaves it, so that the next point is after the example in hand
	p.want(c.from <= examples && (c.step == 1 || c.step > 0 && n > 0) && !p.bad &&
		int64(n) == (examples-c.from)/c.step)
}

func (c *Calibrator) pack(p *packing) {
	p.float(&c.seen, &c.counted, &c.square, &c.weights, &c.squares)
	for i := range c.bins {
		b := &c.bins[i]
		p.float(&b.negative, &b.positive, &b.sum)
	}
}

func (c *ClassCalibrator) pack(p *packing) {
	n := p.length(len(c.each), mostClasses)
	if p.reading {
		p.want(n*calibratorBins <= len(p.bytes)) // three bytes a bin or more
		if p.bad {
			return
		}
		c.each = make([]Calibrator, n)
	}
	for k := range c.each {
		c.each[k].pack(p)
	}
	p.float(&c.seen, &c.square)
	whole(p, mostClasses, &c.k)
	whole(p, mostKept, &c.at)
	if n = p.length(len(c.class), mostKept); p.reading {
		p.want(n*c.k <= len(p.bytes) && n <= c.most() && (n == 0 || c.k > 0) &&
			(n < c.most() && c.at == n || n == c.most() && c.at < n))
		if p.bad {
			return
		}
		c.class, c.kept = make([]int32, n), make([]float64, n*c.k)
	}
	for i := range c.class {
		whole(p, int64(max(0, c.k-1)), &c.class[i])
	}
	for i := range c.kept {
		p.float(&c.kept[i])
		p.want(c.kept[i]-c.kept[i] == 0)
	}
}

func (s *Probabilities) pack(p *packing) {
	whole(p, learner.MaxCount, &s.Examples)
	p.float(&s.logLoss, &s.brier)
	for i := range s.bins {
		b := &s.bins[i]
		whole(p, learner.MaxCount, &b.examples, &b.positive)
		p.float(&b.p)
	}
}

func (s *scales) pack(p *packing) {
	whole(p, scaleRows, &s.seen, &s.rows)
	n := p.length(len(s.squares), scaleFeatures)
	if p.reading {
		s.squares, s.nonzero = make([]float64, n), make([]int32, n)
	}
	for j := range s.squares {
		p.float(&s.squares[j])
		whole(p, scaleRows, &s.nonzero[j])
	}
	var found Warning
	some := len(s.found) > 0 && s.found[0].Code == Unscaled
	if p.flag(&some); !some {
		return
	}
	if !p.reading {
		found = s.found[0]
	}
	whole(p, math.MaxInt32, &found.Feature)
	p.float(&found.Ratio)
	found.Code = Unscaled
	s.found = []Warning{found}
}

// packCentre packs what positions of earlier programs lack. It comes behind pack.
func (s *scales) packCentre(p *packing) {
	n := p.length(len(s.sums), scaleFeatures)
	if p.reading {
		p.want(n <= len(s.squares))
		s.sums = make([]float64, min(n, len(s.squares)))
	}
	for j := range s.sums {
		p.float(&s.sums[j])
	}
	some := len(s.found) > 0 && s.found[0].Code == Uncentred
	p.flag(&s.sparse)
	if p.flag(&some); !some {
		return
	}
	found := Warning{Code: Uncentred, Sparse: s.sparse}
	if !p.reading {
		found = s.found[0]
	}
	p.float(&found.Ratio)
	s.found = []Warning{found}
}

// packDrift packs what Options.Drift has seen and found.
func (r *run[T]) packDrift(p *packing) {
	whole(p, learner.MaxCount, &r.losses, &r.stretch.Examples, &r.stretch.Errors, &r.res.Drifted)
	n := p.length(len(r.res.Drifts), mostDrifts)
	if p.reading && n > 0 {
		r.res.Drifts = make([]Drift, n)
	}
	for i := range r.res.Drifts {
		d := &r.res.Drifts[i]
		whole(p, learner.MaxCount, &d.Example)
		p.float(&d.Error)
	}
	state := r.o.Drift.State()
	if n := p.length(len(state), math.MaxInt); p.reading {
		state = make([]float64, n)
	}
	for i := range state {
		p.float(&state[i])
	}
	if p.reading && !p.bad {
		p.want(r.o.Drift.SetState(state) == nil)
	}
}
