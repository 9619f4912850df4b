package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ErrTallies is returned if a run is to be resumed with tallies that no run has made.
var ErrTallies = errors.New("tallies that no run has made")

// What a run tallies in addition to the counts of its Standing is a JSON object: the state of each
// part under its name. A resumed run takes the parts that it was asked for and leaves out others; a
// part that isn't there starts from nothing. A file may have been changed, so each part is checked.

// mostClasses is the limit of package dataset.
const mostClasses = 1 << 20

// numbers are floats of any value: JSON has neither NaN nor infinities, which are strings here.
type numbers []float64

// MarshalJSON is json.Marshaler's.
func (n numbers) MarshalJSON() ([]byte, error) {
	text := []byte{'['}
	for i, v := range n {
		if i > 0 {
			text = append(text, ',')
		}
		if finite := v-v == 0; finite {
			text = strconv.AppendFloat(text, v, 'g', -1, 64)
		} else {
			text = strconv.AppendQuote(text, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return append(text, ']'), nil
}

// UnmarshalJSON is json.Unmarshaler's.
func (n *numbers) UnmarshalJSON(text []byte) error {
	var list []any
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*n = nil
	for _, x := range list {
		v, ok := x.(float64)
		if s, quoted := x.(string); quoted {
			parsed, err := strconv.ParseFloat(s, 64)
			v, ok = parsed, err == nil
		}
		if !ok {
			return ErrTallies
		}
		*n = append(*n, v)
	}
	return nil
}

// part is one of those that a run tallies.
type part struct {
	name string
	save func() any
	// load reads the state that JSON holds by a function that fails if it has another form, and
	// reports whether a run can have made it.
	load func(read func(state any) bool) bool
}

// stateOf is a part whose state is in memory as JSON holds it.
func stateOf[S any](name string, state *S, valid func(*S) bool) part {
	return part{name, func() any { return state }, func(read func(any) bool) bool {
		var s S
		ok := read(&s) && valid(&s)
		if ok {
			*state = s
		}
		return ok
	}}
}

// parts are those of the run.
func (r *run[T]) parts() (list []part) {
	list = append(list, stateOf("scales", &r.scales.scalesState, (*scalesState).valid))
	metrics := func(name string, m *Metrics) {
		valid := func(s *metricsState) bool { return s.valid(&m.o) }
		list = append(list, stateOf(name, &m.s, valid))
	}
	if r.whole != nil {
		metrics(r.metricsName(), r.whole)
	}
	if r.res.Proba != nil {
		metrics("probabilities of all passes", r.status.Proba)
		metrics("probabilities of the first", r.res.Proba)
	}
	if w := r.window; w != nil {
		list = append(list, part{fmt.Sprint("window of ", len(w.ring)), w.save, w.load})
	}
	if m := r.fading; m != nil {
		metrics(fmt.Sprint("fading by ", m.o.Fading, ", ", r.metricsName()), m)
	}
	if c := &r.curve; c.Step > 0 {
		list = append(list, stateOf(fmt.Sprint("curve of ", c.most), &c.curveState,
			func(s *curveState) bool { return s.valid(c.most, r.count.Examples) }))
	}
	if f := r.fitter; f != nil {
		list = append(list, part{"calibration", func() any { return f },
			func(read func(any) bool) bool { return read(f) && f.More.Valid() }})
	}
	if d := r.drift; d != nil {
		list = append(list, d.part())
	}
	if r.waits != nil {
		list = append(list, part{"examples whose labels come later", r.saveQueue, r.loadQueue})
	}
	if r.ids != nil {
		list = append(list, part{"examples whose labels come by ids", r.saveIDs, r.loadIDs})
	}
	return list
}

// metricsName says what Metrics tally.
func (r *run[T]) metricsName() string {
	return fmt.Sprintf("metrics, AUC %t, probabilities %t", r.meters.o.AUC, r.meters.proba)
}

// tallies returns the run's parts.
func (r *run[T]) tallies() ([]byte, error) {
	all := map[string]any{}
	for _, p := range r.parts() {
		all[p.name] = p.save()
	}
	return json.Marshal(all)
}

// takeTallies takes the parts that the run was asked for. If it fails, the run is not to be used.
func (r *run[T]) takeTallies(text []byte) error {
	var found map[string]json.RawMessage
	if err := json.Unmarshal(text, &found); err != nil {
		return fmt.Errorf("eval: %v: %w", err, ErrTallies)
	}
	if _, there := found[r.metricsName()]; there && r.whole == nil {
		r.whole = NewMetrics(r.meters.o)
	}
	for _, p := range r.parts() {
		state, there := found[p.name]
		if there && !p.load(func(to any) bool {
			d := json.NewDecoder(bytes.NewReader(state))
			d.DisallowUnknownFields()
			return d.Decode(to) == nil
		}) {
			return fmt.Errorf("eval: %s: %w", p.name, ErrTallies)
		}
	}
	return nil
}

// windowState is the JSON of a Window, its oldest outcome at At if the window is full.
type windowState struct {
	At       int
	Outcomes []numbers
	Sums     numbers // weights, those of wrong predictions
}

func (w *Window) save() any {
	s := windowState{At: w.at, Sums: numbers{w.sum, w.wrong}}
	for i := range w.ring[:w.n] {
		o := &w.ring[i]
		s.Outcomes = append(s.Outcomes, numbers{float64(o.Class), float64(o.Predicted),
			float64(one(o.Proba)), float64(one(o.Hit)), o.Weight, o.Score, o.Own, o.Sure, o.Brier})
	}
	return s
}

func (w *Window) load(read func(any) bool) bool {
	var s windowState
	n := 0
	if read(&s) {
		n = len(s.Outcomes)
	}
	if len(s.Sums) != 2 || n > len(w.ring) || s.At < 0 || s.At >= len(w.ring) ||
		n < len(w.ring) && s.At != n {
		return false
	}
	w.at, w.n, w.sum, w.wrong = s.At, n, s.Sums[0], s.Sums[1]
	for i, v := range s.Outcomes {
		if len(v) != 9 || !(min(v[0], v[1]) >= -1 && max(v[0], v[1]) < mostClasses) || v[7] < 0 {
			return false
		}
		w.ring[i] = Outcome{Class: int32(v[0]), Predicted: int32(v[1]), Proba: v[2] == 1,
			Hit: v[3] == 1, Weight: v[4], Score: v[5], Own: v[6], Sure: v[7], Brier: v[8]}
	}
	return true
}

// valid reports whether a curve of at most so many points can be so after that many examples: the
// next point is after the example in hand.
func (s *curveState) valid(most int, examples int64) bool {
	n := len(s.Points)
	for _, p := range s.Points {
		if len(p) != 3 {
			return false
		}
	}
	return n < most && s.From >= 0 && s.From <= examples &&
		(s.Step == 1 || s.Step > 0 && n > 0) && int64(n) == (examples-s.From)/s.Step
}

// valid reports whether a look at the features' scales can have found this.
func (s *scalesState) valid() bool {
	if len(s.Found) > 1 || s.Seen < 0 || s.Seen > scaleRows || s.Rows < 0 || s.Rows > s.Seen ||
		len(s.Squares) > scaleFeatures || len(s.NonZero) != len(s.Squares) ||
		len(s.Sums) != len(s.Squares) {
		return false
	}
	for _, w := range s.Found {
		if w.Code != Unscaled && w.Code != Uncentred || w.Feature < 0 ||
			w.Feature > math.MaxInt32 {
			return false
		}
	}
	return true
}
