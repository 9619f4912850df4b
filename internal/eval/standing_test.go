package eval_test

import (
	"io"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
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
