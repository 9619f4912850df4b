package eval_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// behind is a stream of the examples behind the first ones, some at a time.
type behind struct {
	b    *engine.Block[float64]
	at   int
	view engine.Block[float64]
}

func (s *behind) Next() (*engine.Block[float64], error) {
	lo, hi := s.at, min(s.at+13, s.b.Len())
	if lo == hi {
		return nil, io.EOF
	}
	s.at, s.view = hi, s.b.Slice(lo, hi)
	return &s.view, nil
}

// counted are the counts of a result: not its times, and not that it was resumed.
func counted(r eval.Result) eval.Result {
	r.Read, r.Learn, r.Resumed, r.Behind = 0, 0, false, 0
	return r
}

// TestContinue: a run that goes on at any of its checkpoints ends as it would have, with what it
// counted.
func TestContinue(t *testing.T) {
	t.Parallel()
	all := random(97, 3)
	e, err := learner.Lookup("perceptron")
	if err != nil {
		t.Fatal(err)
	}
	start := func(s *learner.State) learner.Learner[float64] {
		l, err := learner.New[float64](e, e.Config(), learner.Env{Seed: 5})
		if err == nil && s != nil {
			err = l.SetState(*s)
		}
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, o := range map[string]eval.Options{
		"stream":         {},
		"epochs":         {Epochs: 3},
		"shuffled":       {Epochs: 3, Shuffle: true, Seed: 5, Before: 100},
		"converged":      {UntilConverged: true, Shuffle: true, Seed: 5},
		"most updates":   {UntilConverged: true, MaxUpdates: 60},
		"begun in a run": {UntilConverged: true, Resume: &learner.Pass{}},
	} {
		if o.Resume != nil {
			o.Resume = &learner.Pass{Data: learner.Fingerprint(all), Examples: 97, Number: 3,
				At: 40, Updated: true}
		}
		source := func(at int64) eval.Source[float64] {
			if name == "stream" {
				return &behind{b: all, at: int(at)}
			}
			return memory(all)
		}
		type mark struct {
			state learner.State
			text  []byte
		}
		var marks []mark
		whole := start(nil)
		o.CheckpointEvery = 10
		o.Checkpoint = func(r eval.Result) error {
			if !r.Standing.Valid() {
				t.Errorf("%s: %+v", name, *r.Standing)
			}
			text, err := json.Marshal(r.Standing)
			marks = append(marks, mark{whole.State(), text})
			return err
		}
		want, err := eval.Run(t.Context(), whole, source(0), o)
		if err != nil || want.Standing != nil || len(marks) < 4 {
			t.Fatalf("%s: %v, %+v", name, err, want)
		}
		o.CheckpointEvery, o.Checkpoint, o.Resume = 0, nil, nil
		for _, m := range marks {
			o.Continue = &eval.Standing{}
			if err := json.Unmarshal(m.text, o.Continue); err != nil {
				t.Fatal(err)
			}
			l := start(&m.state)
			got, err := eval.Run(t.Context(), l, source(o.Continue.At), o)
			if err != nil || !got.Resumed || !reflect.DeepEqual(counted(got), counted(want)) {
				t.Errorf("%s from %s: %v, %+v; in one go %+v", name, m.text, err, got, want)
			}
			if !reflect.DeepEqual(l.State(), whole.State()) {
				t.Errorf("%s from %s: the end is another", name, m.text)
			}
		}
		if name == "stream" {
			continue
		}
		o.Continue.Data++
		if _, err := eval.Run(t.Context(), start(nil), source(0), o); !errors.Is(err,
			eval.ErrStanding) {
			t.Errorf("%s over other examples: %v", name, err)
		}
	}
}

// TestStandingRefused: places that no run has been at.
func TestStandingRefused(t *testing.T) {
	good := func() *eval.Standing {
		c := eval.Count{Examples: 25, Errors: 3, Positives: 10, Predicted: 9, Changes: 5}
		return &eval.Standing{Epochs: 2, At: 5, Examples: 10, Data: 7, Pass: 2, Updates: 9,
			InPass: 1, Updated: true, Mistakes: 4, Count: c, First: eval.Count{Examples: 10},
			Label: -1}
	}
	if !good().Valid() {
		t.Fatal("the good one")
	}
	for i, change := range []func(s *eval.Standing){
		func(s *eval.Standing) { s.Epochs = 3 },
		func(s *eval.Standing) { s.Epochs = -1 },
		func(s *eval.Standing) { s.At = 11 },
		func(s *eval.Standing) { s.Examples = 0 },
		func(s *eval.Standing) { s.Examples = 1 << 62 },
		func(s *eval.Standing) { s.Pass = 1 },
		func(s *eval.Standing) { s.Pass = 1 << 63 },
		func(s *eval.Standing) { s.Begun = -1 },
		func(s *eval.Standing) { s.InPass = 10 },
		func(s *eval.Standing) { s.Mistakes = 26 },
		func(s *eval.Standing) { s.Label = 2 },
		func(s *eval.Standing) { s.Count.Examples = -25 },
		func(s *eval.Standing) { s.Count.Errors = 26 },
		func(s *eval.Standing) { s.First.Examples = 26 },
		func(s *eval.Standing) { s.Marks[1].Errors = 1 },
	} {
		s := good()
		if change(s); s.Valid() {
			t.Errorf("%d: %+v is taken", i, *s)
		}
	}
}
