package eval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// figures are all that a result says but times and that it was resumed, as text.
func figures(r eval.Result) string {
	r = counted(r)
	var b strings.Builder
	metrics := func(m *eval.Metrics) {
		if m == nil {
			return
		}
		auc, bound := m.AUC()
		fmt.Fprintf(&b, "%d %v %v %v %v %v %v\n", m.Examples(), m.Error(), m.BalancedError(),
			m.F1(), m.Confusion(), auc, bound)
		for k := range m.Classes() {
			fmt.Fprintf(&b, "%v ", m.Class(k))
		}
		fmt.Fprintf(&b, "%v %v %v\n", m.LogLoss(), m.Brier(), m.CalibrationError())
	}
	metrics(r.Metrics)
	metrics(r.Recent)
	if p := r.Proba; p != nil {
		fmt.Fprintln(&b, p.Examples(), p.LogLoss(), p.Brier(), p.CalibrationError())
	}
	if r.Calibration != nil {
		fmt.Fprintln(&b, *r.Calibration)
	}
	if r.Late != nil {
		fmt.Fprintln(&b, *r.Late)
		r.Late = nil
	}
	r.Metrics, r.Recent, r.Proba, r.Calibration = nil, nil, nil, nil
	fmt.Fprintf(&b, "%+v", r)
	return b.String()
}

// tallyCases are runs that tally all there is.
func tallyCases() map[string]struct {
	learner string
	data    *engine.Block[float64]
	o       eval.Options
} {
	all := random(150, 3)
	classes := *random(150, 4)
	classes.W, classes.Class = make([]float64, 150), make([]int32, 150)
	for i := range classes.Class {
		classes.Class[i] = int32(i*i%7) % 4
		classes.W[i] = float64(i%3) + 0.5
	}
	turns := *random(1500, 5)
	large := *random(1500, 6)
	for i := range large.Len() {
		large.Row(i)[1] *= 1000
	}
	for i := 500; i < 1000; i++ {
		turns.Y[i] *= -1
	}
	aside := *random(1500, 7)
	for i := range aside.Len() {
		for j := range aside.Row(i) {
			aside.Row(i)[j] += 3
		}
	}
	type c = struct {
		learner string
		data    *engine.Block[float64]
		o       eval.Options
	}
	return map[string]c{
		"scores": {"pa", all, eval.Options{AUC: true, Window: 20, Curve: 10,
			Calibrate: "platt"}},
		"probabilities": {"obpm", all, eval.Options{Proba: true, Fading: 0.9, Curve: 5, Epochs: 2,
			Shuffle: true}},
		"faded scores": {"pa", all, eval.Options{AUC: true, Fading: 0.3, Epochs: 2}},
		"classes":      {"ovr", &classes, eval.Options{Window: 1000, Curve: 1000, Epochs: 2}},
		"classes of a window, with probabilities": {"ovr", &classes, eval.Options{Window: 30,
			Calibrate: "platt"}},
		"classes calibrated by one number": {"ovr", &classes, eval.Options{
			Calibrate: "temperature", Epochs: 2}},
		"unscaled":     {"pa", &large, eval.Options{}},
		"uncentred":    {"pa", &aside, eval.Options{}},
		"adwin":        {"pa", &turns, eval.Options{Drift: "adwin"}},
		"ddm":          {"pa", &turns, eval.Options{Drift: "ddm", Window: 50}},
		"page-hinkley": {"pa", &turns, eval.Options{Drift: "page-hinkley"}},
		"delayed":      {"obpm", all, eval.Options{Delay: 31, Proba: true}},
		"delayed classes": {"ovr", &classes, eval.Options{Delay: 31,
			Calibrate: "temperature"}},
	}
}

// newOf is a learner of that name with the settings that it has by default, in a state if not nil.
func newOf(t testing.TB, name string, s *learner.State) learner.Learner[float64] {
	t.Helper()
	e, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New[float64](e, e.Config(), learner.Env{Seed: 3})
	if err == nil && s != nil {
		err = l.SetState(*s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sources gives what a run reads from an example on, and may complete its options.
type sources func(at int64, o *eval.Options) eval.Source[float64]

// inMemory are examples that are all there.
func inMemory(b *engine.Block[float64]) sources {
	return func(int64, *eval.Options) eval.Source[float64] { return memory(b) }
}

// inStream are examples that come.
func inStream(b *engine.Block[float64]) sources {
	return func(at int64, _ *eval.Options) eval.Source[float64] {
		return &behind{b: b, at: int(at)}
	}
}

// stood is where a run stood, as it is kept.
type stood struct {
	state         learner.State
	text, tallies []byte
}

// standings runs a learner and returns its result, its end and where it stood every so many
// examples.
func standings(t testing.TB, name string, from sources, o eval.Options, every int64) (
	r eval.Result, all []stood, end learner.State) {
	t.Helper()
	l := newOf(t, name, nil)
	o.CheckpointEvery = every
	o.Checkpoint = func(r eval.Result) error {
		if !r.Standing.Valid() {
			t.Errorf("%s: %+v", name, *r.Standing)
		}
		text, err := json.Marshal(r.Standing)
		all = append(all, stood{l.State(), text, r.Standing.Tallies})
		return err
	}
	r, err := eval.Run(t.Context(), l, from(0, &o), o)
	if err != nil || r.Standing != nil {
		t.Fatalf("%s: %v, %+v", name, err, r)
	}
	return r, all, l.State()
}

// goneOn runs the rest.
func goneOn(t testing.TB, name string, from sources, o eval.Options, at stood) (eval.Result,
	learner.State, error) {
	t.Helper()
	o.Continue, o.Resume, o.Features, o.Classes = &eval.Standing{}, nil, 5, 4
	if err := json.Unmarshal(at.text, o.Continue); err != nil {
		t.Fatal(err)
	}
	o.Continue.Tallies = at.tallies
	l := newOf(t, name, &at.state)
	r, err := eval.Run(t.Context(), l, from(o.Continue.At, &o), o)
	return r, l.State(), err
}

// goesOn demands that a run which goes on at any of its checkpoints ends as the one that nothing
// stopped: what it says, number by number, and what was learned. It returns both.
func goesOn(t *testing.T, what, name string, from sources, o eval.Options, every int64) (
	eval.Result, []stood, learner.State) {
	t.Helper()
	want, all, end := standings(t, name, from, o, every)
	if len(all) < 4 {
		t.Errorf("%s: %d checkpoints", what, len(all))
	}
	for i, at := range all {
		got, state, err := goneOn(t, name, from, o, at)
		if g, w := figures(got), figures(want); err != nil || !got.Resumed || g != w {
			t.Errorf("%s, from mark %d: %v, %s\nin one go:\n%s", what, i, err, g, w)
		}
		if !reflect.DeepEqual(state, end) {
			t.Errorf("%s, from mark %d: the end is another", what, i)
		}
	}
	return want, all, end
}

// TestContinue: runs of all kinds, with all that there is to tally, go on.
func TestContinue(t *testing.T) {
	t.Parallel()
	all := random(97, 3)
	whole := eval.Options{UntilConverged: true, Shuffle: true}
	some, inRun := whole, whole
	some.MaxUpdates = 60
	inRun.Resume = &learner.Pass{Data: learner.Fingerprint(all), Examples: 97, Number: 3, At: 40,
		Shuffle: true, Updated: true}
	for name, o := range map[string]eval.Options{"epochs": {Epochs: 3}, "converged": whole,
		"shuffled": {Epochs: 3, Shuffle: true, Seed: 5, Before: 100}, "most updates": some,
		"begun in a run": inRun} {
		_, marks, _ := goesOn(t, name, "perceptron", inMemory(all), o, 10)
		other := *all
		other.Y = append([]float64{-all.Y[0]}, all.Y[1:]...)
		if _, _, err := goneOn(t, "perceptron", inMemory(&other), o, marks[0]); !errors.Is(err,
			eval.ErrStanding) {
			t.Errorf("%s over other examples: %v", name, err)
		}
	}
	goesOn(t, "stream", "perceptron", inStream(all), eval.Options{}, 10)
	for name, c := range tallyCases() {
		want, _, _ := goesOn(t, name, c.learner, inMemory(c.data), c.o, 37)
		if c.o.Drift == "adwin" && want.Drifted == 0 ||
			strings.HasPrefix(name, "un") && !slices.ContainsFunc(want.Warnings,
				func(w eval.Warning) bool { return w.Code == name }) {
			t.Errorf("%s: nothing was found", name)
		}
	}
}

// TestTalliesAnew: what was not asked for before, or of another size, begins where the run goes on;
// and so does all where nothing was kept.
func TestTalliesAnew(t *testing.T) {
	t.Parallel()
	c := tallyCases()["scores"]
	_, all, _ := standings(t, c.learner, inMemory(c.data), c.o, 50)
	for name, o := range map[string]eval.Options{
		"window": {AUC: true, Window: 30, Curve: 10, Calibrate: "platt"},
		"curve":  {AUC: true, Window: 20, Curve: 11, Calibrate: "platt"},
		"fading": {Fading: 0.5},
	} {
		got, _, err := goneOn(t, c.learner, inMemory(c.data), o, all[1])
		if err != nil || got.Recent.Examples() > 50 || got.Presented != 150 ||
			name == "window" && got.Recent.Examples() != 30 ||
			name == "fading" && got.Recent.Examples() != 50 {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	all[1].tallies = nil
	if got, _, err := goneOn(t, c.learner, inMemory(c.data), c.o, all[1]); err != nil ||
		got.Metrics.Examples() != 50 {
		t.Errorf("without tallies: %v, %+v", err, got)
	}
}

// TestTalliesRefused cuts and changes what was kept.
func TestTalliesRefused(t *testing.T) {
	t.Parallel()
	for name, c := range tallyCases() {
		_, all, _ := standings(t, c.learner, inMemory(c.data), c.o, 100)
		at := all[0]
		good := at.tallies
		try := func(what string, b []byte, must bool) {
			t.Helper()
			at.tallies = b
			_, _, err := goneOn(t, c.learner, inMemory(c.data), c.o, at)
			if must && !errors.Is(err, eval.ErrTallies) || err != nil &&
				!errors.Is(err, eval.ErrTallies) && !errors.Is(err, learner.ErrLength) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		try("another form", append([]byte{1}, good[1:]...), true)
		try("more", append(append([]byte{}, good...), '}'), true)
		step := len(good)/23 + 1
		for n := 2; n < len(good); n += step {
			try(fmt.Sprint("cut at ", n), good[:n], true)
			for _, v := range []byte{'0', '9', '-', ']'} {
				b := append([]byte{}, good...)
				b[n] = v
				try(fmt.Sprint("byte ", n), b, false)
			}
		}
	}
}

// FuzzTallies goes on with tallies made up.
func FuzzTallies(f *testing.F) {
	cases := tallyCases()
	names := []string{"scores", "probabilities", "faded scores", "classes", "adwin", "unscaled",
		"delayed classes"}
	at := map[string]stood{}
	for i, name := range names {
		c := cases[name]
		_, all, _ := standings(f, c.learner, inMemory(c.data), c.o, 100)
		at[name] = all[0]
		f.Add(byte(i), all[0].tallies)
	}
	f.Fuzz(func(t *testing.T, which byte, tallies []byte) {
		name := names[int(which)%len(names)]
		c, from := cases[name], at[name]
		from.tallies = tallies
		if r, _, err := goneOn(t, c.learner, inMemory(c.data), c.o, from); err == nil {
			figures(r)
		} else if !errors.Is(err, eval.ErrTallies) && !errors.Is(err, learner.ErrLength) {
			t.Error(err)
		}
	})
}
