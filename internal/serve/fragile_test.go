package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// fragile is a perceptron that panics when it learns a value of 13, has diverged at one of 14, and
// fails at one of 15; its state is no number once it has learned one of 1e-30, or of 17.
type fragile[T learner.Float] struct {
	learner.Learner[T]
	spoilt bool
}

type fragileConfig struct{ learners.PerceptronConfig }

func (*fragileConfig) Entry() learner.Entry {
	return learner.Entry{Summary: "breaks", Config: func() learner.Config {
		return &fragileConfig{learners.PerceptronConfig{Eta: 1}}
	}, New32: newFragile(func(e learner.Entry) func(learner.Config, learner.Env) (
		learner.Learner[float32], error) {
		return e.New32
	}), New64: newFragile(func(e learner.Entry) func(learner.Config, learner.Env) (
		learner.Learner[float64], error) {
		return e.New64
	})}
}

func newFragile[T learner.Float](of func(learner.Entry) func(learner.Config, learner.Env) (
	learner.Learner[T], error)) func(learner.Config, learner.Env) (learner.Learner[T], error) {
	return func(c learner.Config, env learner.Env) (learner.Learner[T], error) {
		e, err := learner.Lookup("perceptron")
		if err != nil {
			return nil, err
		}
		l, err := of(e)(&c.(*fragileConfig).PerceptronConfig, env)
		return &fragile[T]{Learner: l}, err
	}
}

func init() { learner.Register("fragile", (*fragileConfig)(nil)) }

func (l *fragile[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	for i := range b.Len() { // rows of other blocks are in b.Val, too
		_, val := b.Example(i)
		for _, v := range val {
			switch v {
			case 13:
				panic("thirteen")
			case 14:
				return learner.ErrDiverged
			case 15:
				return errors.New("fifteen")
			case 1e-30, 17:
				l.spoilt = true
			}
		}
	}
	return l.Learner.Learn(b, rounds)
}

func (l *fragile[T]) State() learner.State {
	s := l.Learner.State()
	if l.spoilt {
		s.Scalars = map[string]float64{"spoilt": math.NaN()}
	}
	return s
}

// TestSpoilt: a request that panics, leaves weights that are no numbers, or fails when the model
// has diverged or has learned a part of it, ends the learning of its model and of no other, and is
// answered with 503; all that was answered before can be learned again. So it is where the process
// was killed over it.
func TestSpoilt(t *testing.T) {
	for _, c := range []struct {
		name   string
		before int // rows of the request that can be learned
		value  float32
		why    string
	}{{"panic", 0, 13, "thirteen"}, {"not finite", 0, 1e-30, "not finite numbers"},
		{"diverged", 0, 14, "diverged"}, {"in part", 2000, 15, "fifteen"}} {
		name := c.name
		bad := "[" + strings.Repeat(`{"label":1,"0":1},`, c.before) +
			fmt.Sprintf(`{"label":1,"0":%g}]`, c.value)
		dir := t.TempDir()
		path, log := newModel(t, halfspace.Options{Learner: "fragile"}), filepath.Join(dir, "log")
		other := Model{Name: "b", Path: newModel(t, halfspace.Options{Learner: "pa"})}
		o := Options{Models: []Model{{Name: "a", Path: path, Log: log}, other}}
		s := start(t, o)
		learn := func(s *Server, body string, want int) {
			t.Helper()
			asks(t, s, Learn, mediaJSON, body, want, "")
		}
		learn(s, `[{"label":1,"0":2},{"label":-1,"0":3}]`, 200)
		before := content(t, log)
		learn(s, bad, 503)
		learn(s, `{"label":1,"0":1}`, 503)
		if !bytes.Equal(before, content(t, log)) {
			t.Errorf("%s: the log has what was not answered", name)
		}
		if st := s.Stats(); !strings.Contains(st[0].Fault, c.why) || st[0].Learned != 2 ||
			st[1].Fault != "" || s.Ready() == nil {
			t.Errorf("%s: %+v, ready: %v", name, st, s.Ready())
		}
		asks(t, s, Predict, mediaJSON, `{"0":1}`, 200, "")
		if err := s.Close(context.Background()); err == nil {
			t.Errorf("%s: closed without an error", name)
		}
		// A process that was killed over the request has it at the end of its log.
		if err := os.Truncate(log, int64(len(before))); err != nil {
			t.Fatal(err)
		}
		values := make([]float32, c.before+1)
		for i := range values {
			values[i] = 1
		}
		values[c.before] = c.value
		appendFrame(t, log, 22, rowsWith(values...))
		m, r, err := Replay(context.Background(), log, nil, 0)
		if err != nil || m.Presented() != 22 || r.Torn == 0 {
			t.Errorf("%s: replayed: %+v, %v", name, r, err)
		}
		s = start(t, o)
		learn(s, `{"label":1,"0":1}`, 200)
		closing(t, s)
		m, r, err = Replay(context.Background(), log, nil, 0)
		if err != nil || m.Presented() != 23 || r.Torn != 0 {
			t.Errorf("%s: replayed: %+v, %v", name, r, err)
		}
	}
}

// rowsWith are rows labelled 1 whose feature 0 has those values.
func rowsWith(values ...float32) *examples {
	x := &examples{ptr: []int{0}, labels: []string{"1"}}
	for _, v := range values {
		x.idx, x.f32 = append(x.idx, 0), append(x.f32, v)
		x.addLabel(0, 1, false)
	}
	return x
}

// appendFrame puts a request behind a log, as if so many examples had been learned before it.
func appendFrame(t testing.TB, log string, before uint64, x *examples) {
	t.Helper()
	f, err := os.OpenFile(log, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := &logWriter{f: f, path: log}
	if err := w.frame(frameLearn, counted(before), x.encode(nil, 0, x.n)); err != nil {
		t.Fatal(err)
	}
}

// TestFails: a request of which nothing is learned is refused, and the model learns on.
func TestFails(t *testing.T) {
	s := serving(t, newModel(t, halfspace.Options{Learner: "fragile"}), "")
	for value, want := range map[int]int{15: 422, 1: 200} {
		asks(t, s, Learn, mediaJSON, fmt.Sprintf(`{"label":1,"0":%d}`,
			value), want, "")
	}
}

// TestUnfitToSave: a model that turns out to be no numbers when it is saved learns no more: none
// that comes of it could be saved.
func TestUnfitToSave(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "fragile"})
	s := serving(t, path, "")
	const why = "not finite numbers"
	for _, c := range []struct {
		op, body string
		status   int
		want     string
	}{{Learn, `{"label":1,"0":17}`, 200, `"learned":1`}, {Save, "", 500, why},
		{Learn, `{"label":1,"0":1}`, 503, why}} {
		if status, text := do(s, c.op, mediaJSON, c.body); status != c.status ||
			!strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d %s, want %d and %s", c.op, c.body, status, text, c.status, c.want)
		}
	}
	if m, err := halfspace.Load(path); err != nil || m.Presented() != 20 {
		t.Errorf("the file: %v", err)
	}
}

// TestUntil: a log is learned up to an example, in the middle of a request or behind it; one that
// has a request amid it which can't be learned says up to which.
func TestUntil(t *testing.T) {
	dir := t.TempDir()
	path, log := newModel(t, halfspace.Options{Learner: "fragile"}), filepath.Join(dir, "log")
	s := serving(t, path, log)
	for range 3 {
		asks(t, s, Learn, mediaJSON, `[{"label":1,"0":2},{"label":-1,"0":3},`+
			`{"label":1,"1":1}]`, 200, "")
	}
	closing(t, s)
	for until := range uint64(31) {
		m, r, err := Replay(context.Background(), log, nil, until)
		want := uint64(29)
		if until > 0 {
			want = min(until, want)
		}
		switch {
		case until > 0 && until < 20:
			if !errors.Is(err, ErrModel) {
				t.Errorf("until %d, of a log that begins at 20: %v", until, err)
			}
		case err != nil || m.Presented() != want || r.Learned != int64(want)-20:
			t.Errorf("until %d: %+v, %v", until, r, err)
		}
	}
	appendFrame(t, log, 29, rowsWith(13))
	appendFrame(t, log, 30, rowsWith(1))
	if _, _, err := Replay(context.Background(), log, nil, 0); !errors.Is(err, ErrLog) ||
		!strings.Contains(err.Error(), "Replay until 29") {
		t.Errorf("a request that panics, amid a log: %v", err)
	}
	if m, _, err := Replay(context.Background(), log, nil, 29); err != nil || m.Presented() != 29 {
		t.Errorf("up to it: %v", err)
	}
}

// TestReplayCounts: a log whose requests stand at other numbers than the model has is damaged.
func TestReplayCounts(t *testing.T) {
	_, text, read := shortLog(t)
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	if err := os.WriteFile(log, text, 0o666); err != nil {
		t.Fatal(err)
	}
	appendFrame(t, log, 25, rowsWith(1))
	bad := content(t, log)
	if _, err := read(bad); !errors.Is(err, ErrLog) {
		t.Errorf("25 examples before, of 26: %v", err)
	}
}

// TestReloadFaulty: learning that has ended begins again by Reload, with all that was answered.
func TestReloadFaulty(t *testing.T) {
	path, log := newModel(t, halfspace.Options{Learner: "fragile"}), filepath.Join(t.TempDir(), "log")
	s := serving(t, path, log)
	for _, c := range []struct {
		body string
		want int
	}{{`{"label":1,"0":2}`, 200}, {`{"label":1,"0":13}`, 503}, {`{"label":1,"0":2}`, 503}, {"", 0},
		{`{"label":-1,"0":2}`, 200}} {
		if c.body == "" {
			if err := s.Reload(); err != nil || s.Ready() != nil {
				t.Fatal(err, s.Ready())
			}
		} else if status, text := do(s, Learn, mediaJSON, c.body); status != c.want {
			t.Errorf("%s: %d %s, want %d", c.body, status, text, c.want)
		}
	}
	closing(t, s)
	if m, _, err := Replay(context.Background(), log, nil, 0); err != nil || m.Presented() != 22 {
		t.Errorf("replayed: %v", err)
	}
}

// TestNewNames: features that come in one request are told apart, also by the saved model; and a
// request without a name, which a log of an older version may have, is left out.
func TestNewNames(t *testing.T) {
	path := trained(t, halfspace.Options{Learner: "pa"}, "{\"y\":\"no\",\"job\":\"clerk\"}\n"+
		"{\"y\":\"yes\",\"job\":\"smith\"}\n")
	log := filepath.Join(t.TempDir(), "log")
	o := Options{Models: []Model{{Name: "a", Path: path, Log: log}}, PublishEvery: 1}
	check := func(s *Server) {
		t.Helper()
		for name, label := range map[string]string{"u": "yes", "v": "no", "w": "yes"} {
			if _, text := do(s, Predict, mediaJSON, `{"`+name+`":1}`); !strings.Contains(text,
				`"label":"`+label+`"`) {
				t.Errorf("%s: %s, want %s", name, text, label)
			}
		}
	}
	s := start(t, o)
	asks(t, s, Learn, mediaJSON, `[{"y":"yes","u":1},{"y":"no","v":1},`+
		`{"y":"yes","w":1}]`, 200, "")
	check(s)
	closing(t, s)
	x := rowsWith(1)
	x.words, x.names, x.labels = true, [][]byte{{}}, []string{"yes"}
	appendFrame(t, log, 5, x)
	if m, r, err := Replay(context.Background(), log, nil, 0); err != nil || m.Presented() != 5 ||
		r.Learned != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	check(start(t, o))
}
