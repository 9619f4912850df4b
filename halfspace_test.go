package halfspace_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// write makes a file in a folder that goes with the test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	ok(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// values are the features of example i of the files below.
func values(i int) [3]float64 {
	return [3]float64{float64(i*37%101-50) / 8, float64(i*53%89-44) / 8, float64(i % 3)}
}

func label(i int) string {
	if x := values(i); x[0]+x[1]/4 > 0.5 {
		return "spam"
	}
	return "ham"
}

// csvText is n examples in columns; the label is in the middle.
func csvText(n int) string {
	var b strings.Builder
	b.WriteString("first,kind,second,third\n")
	for i := range n {
		x := values(i)
		fmt.Fprintf(&b, "%g,%s,%g,%g\n", x[0], label(i), x[1], x[2])
	}
	return strings.Replace(b.String(), "kind", "label", 1)
}

// svmText is the same in svmlight; indices count from 1.
func svmText(n int) string {
	var b strings.Builder
	for i := range n {
		y, x := map[string]int{"spam": 1, "ham": -1}[label(i)], values(i)
		fmt.Fprintf(&b, "%+d 1:%g 2:%g 3:%g\n", y, x[0], x[1], x[2])
	}
	return b.String()
}

// TestRows: a row by names, or by numbers, gets the score that the same row of a file gets, to the
// bit, however examples are prepared, in both precisions; and saving and loading changes none.
func TestRows(t *testing.T) {
	ctx := context.Background()
	const n = 200
	for _, data := range []halfspace.Data{{}, {Bias: "append"}, {Bias: "append", Normalize: "unit"},
		{Normalize: "unit"}, {Bias: "append", Normalize: "max"}, {Scale: "std"},
		{Scale: "maxabs", Bias: "append", Normalize: "unit"}} {
		for _, precision := range []string{"f32", "f64"} {
			for _, c := range []struct {
				file string
				row  func(m *halfspace.Model, x [3]float64) *halfspace.Row
			}{
				{write(t, "a.csv", csvText(n)),
					func(m *halfspace.Model, x [3]float64) *halfspace.Row {
						return m.Row().Set("third", x[2]).Set("first", 7).Set("second", x[1]).
							Set("first", x[0])
					}},
				{write(t, "a.svm", svmText(n)),
					func(m *halfspace.Model, x [3]float64) *halfspace.Row {
						return m.Row().At(3, x[2]).At(1, x[0]).At(2, x[1])
					}},
			} {
				m := must(halfspace.Train(ctx, halfspace.Options{Learner: "pa", Data: data,
					Precision: precision}, c.file))(t)
				saved := filepath.Join(t.TempDir(), "model")
				ok(t, m.Save(saved))
				loaded := must(halfspace.Load(saved))(t)
				ok(t, m.Snapshot().Save(saved))
				small := must(halfspace.Load(saved))(t)
				_, positive := small.Labels()
				if _, err := small.LearnOne(c.row(small, values(0)),
					positive); !errors.Is(err, model.ErrPredictOnly) {
					t.Errorf("learning on from a snapshot: %v", err)
				}
				i := 0
				for p, err := range m.Predict(ctx, c.file) {
					if err != nil {
						t.Fatal(err)
					}
					row := c.row(m, values(i))
					for _, of := range []interface {
						Score(*halfspace.Row) (float64, error)
						Label(*halfspace.Row) (string, error)
					}{m, m.Snapshot(), loaded, small} {
						f, err := of.Score(row)
						if err != nil || f != p.Score {
							t.Fatalf("%+v %s: row %d scores %v (%v), want %v", data, precision, i,
								f, err, p.Score)
						}
						if l, err := of.Label(row); err != nil || l != p.Label {
							t.Fatalf("row %d is %q (%v), want %q", i, l, err, p.Label)
						}
					}
					if p.Proba == p.Proba {
						t.Fatal("pa has probabilities")
					}
					i++
				}
				if i != n {
					t.Errorf("%d of %d rows predicted", i, n)
				}
			}
		}
	}
}

// asTheyAre leaves the examples as the file has them, as New does.
var asTheyAre = halfspace.Data{Bias: "none", Normalize: "none", Scale: "none"}

// TestLearnOneSoft: with a soft margin learning rows one by one is learning the file in one pass,
// each row with a slack of its own.
func TestLearnOneSoft(t *testing.T) {
	for _, o := range []halfspace.Options{
		{Learner: "pumma", Settings: map[string]any{"soft_c": 1}, Data: asTheyAre},
		{Learner: "rff", Settings: map[string]any{"d": 20, "sigma": 1, "base": "pumma",
			"base_config": map[string]any{"soft_c": 1}}, Data: asTheyAre},
	} {
		want := must(halfspace.Train(context.Background(), o, write(t, "a.csv", csvText(100))))(t)
		m := must(halfspace.New(o, "first", "second", "third"))(t)
		set := func(m *halfspace.Model, i int) *halfspace.Row {
			x := values(i)
			return m.Row().Set("first", x[0]).Set("second", x[1]).Set("third", x[2])
		}
		for i := range 100 {
			y := "-1"
			if label(i) == "spam" {
				y = "1"
			}
			must(m.LearnOne(set(m, i), y))(t)
		}
		for i := range 100 {
			f, err := m.Score(set(m, i))
			if g, err2 := want.Score(set(want, i)); f != g || err != nil || err2 != nil {
				t.Fatalf("%s, row %d: %v (%v), want %v (%v)", o.Learner, i, f, err, g, err2)
			}
		}
	}
}

// TestLearnOne: learning rows one by one gives the scores that learning the file gives, to the bit.
func TestLearnOne(t *testing.T) {
	ctx := context.Background()
	file := write(t, "a.csv", csvText(300))
	o := halfspace.Options{Learner: "obpm", Settings: map[string]any{"members": 20, "tau": 0.3},
		Data: halfspace.Data{Bias: "append", Normalize: "unit", Scale: "none"}}
	once := o
	once.Epochs = 1
	want := must(halfspace.Train(ctx, once, file))(t)
	m := must(halfspace.New(o, "first", "second", "third"))(t)
	row, mistakes := m.Row(), 0
	for i := range 300 {
		x, y := values(i), "-1"
		if label(i) == "spam" {
			y = "1" // which is +1
		}
		f := must(m.LearnOne(row.Reset().Set("first", x[0]).Set("second", x[1]).
			Set("third", x[2]), y))(t)
		if s := map[string]float64{"1": 1, "-1": -1}[y]; !(f*s > 0) {
			mistakes++
		}
	}
	if r := want.Result(); m.Presented() != 300 || int64(mistakes) != r.Counts.Mistakes {
		t.Errorf("%d examples, %d mistakes, want %d and %d", m.Presented(), mistakes,
			r.Counts.Presented, r.Counts.Mistakes)
	}
	for i := range 300 {
		x := values(i)
		set := func(r *halfspace.Row) *halfspace.Row {
			return r.Set("first", x[0]).Set("second", x[1]).Set("third", x[2])
		}
		f, err := m.Score(set(m.Row()))
		g, err2 := want.Score(set(want.Row()))
		if f != g || err != nil || err2 != nil {
			t.Fatalf("row %d: %v (%v), want %v (%v)", i, f, err, g, err2)
		}
	}
	saved := filepath.Join(t.TempDir(), "model")
	ok(t, m.Save(saved))
	again := must(halfspace.Load(saved))(t)
	// Files with the names in another order are matched by them.
	file = write(t, "b.csv", "third,label,first,second\n1,+1,2,3\n")
	f, _ := m.Score(m.Row().Set("first", 2).Set("second", 3).Set("third", 1))
	for p, err := range again.Predict(ctx, file) {
		if err != nil || p.Score != f || p.Actual != "+1" {
			t.Errorf("%+v (%v), want the score %v", p, err, f)
		}
	}
}

// TestModelErrors: what goes wrong has a name.
func TestModelErrors(t *testing.T) {
	ctx := context.Background()
	m := must(halfspace.New(halfspace.Options{Learner: "perceptron"}, "a", "b"))(t)
	numbered := must(halfspace.New(halfspace.Options{Learner: "perceptron"}))(t)
	svm := must(halfspace.New(halfspace.Options{Learner: "svm"}))(t)
	score := func(_ any, err error) error { return err }
	for name, c := range map[string]struct{ err, want error }{
		"a name": {score(m.Score(m.Row().Set("c", 1))), halfspace.ErrFeature},
		"the first of several": {score(m.Score(m.Row().Set("c", 1).Set("a", 1))),
			halfspace.ErrFeature},
		"a number":     {score(m.LearnOne(m.Row().At(3, 1), "+1")), halfspace.ErrFeature},
		"a number < 0": {score(numbered.Score(numbered.Row().At(-1, 1))), halfspace.ErrFeature},
		"another's row": {score(m.Score(numbered.Row().At(1, 1))),
			halfspace.ErrFeature},
		"a label":       {score(m.LearnOne(m.Row(), "yes")), halfspace.ErrLabel},
		"probabilities": {score(m.Proba(m.Row())), halfspace.ErrProba},
		"whole": {score(svm.LearnOne(svm.Row().At(0, 1), "+1")),
			learner.ErrBatch},
		"no learner": {score(halfspace.New(halfspace.Options{Learner: "x"})), training.ErrOption},
		"for Train": {score(halfspace.New(halfspace.Options{Learner: "pa", Epochs: 2})),
			training.ErrOption},
		"a setting": {score(halfspace.New(halfspace.Options{Learner: "pa",
			Settings: map[string]any{"c": -1}})), learner.ErrConfig},
		"no setting": {score(halfspace.New(halfspace.Options{Learner: "pa",
			Settings: map[string]any{"tau": 1}})), training.ErrOption},
		"no file": {score(halfspace.Train(ctx, halfspace.Options{Learner: "pa"})),
			training.ErrOption},
		"a missing file": {score(halfspace.Train(ctx, halfspace.Options{Learner: "pa"},
			"/nowhere/a.svm")), os.ErrNotExist},
		"a missing model": {score(halfspace.Load("/nowhere/a.model")), os.ErrNotExist},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want that it is %v", name, c.err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := halfspace.Train(stopped, halfspace.Options{Learner: "pa"},
		write(t, "a.svm", svmText(9))); !errors.Is(err, training.ErrStopped) && err != nil {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestConverging: a run that doesn't converge gives the model, and says so.
func TestConverging(t *testing.T) {
	file := write(t, "a.svm", "+1 1:1\n-1 1:1\n+1 1:2\n")
	m, err := halfspace.Train(context.Background(), halfspace.Options{Learner: "perceptron",
		UntilConverged: true, MaxUpdates: new(int64(10))}, file)
	if !errors.Is(err, training.ErrNotConverged) || m == nil || m.Presented() == 0 {
		t.Errorf("%v, %v", m, err)
	}
}

// TestWhileLearning: goroutines score with snapshots while the model learns, and get what the model
// knew then.
func TestWhileLearning(t *testing.T) {
	m := must(halfspace.New(halfspace.Options{Learner: "adf"}))(t)
	var wg sync.WaitGroup
	row := m.Row()
	for i := range 200 {
		x, y := values(i), map[string]string{"spam": "+1", "ham": "-1"}[label(i)]
		must(m.LearnOne(row.Reset().At(0, x[0]).At(i, x[1]), y))(t)
		if i%50 != 0 {
			continue
		}
		want, _ := m.Proba(m.Row().At(0, 1))
		s := m.Snapshot()
		for range 4 {
			wg.Go(func() {
				r := s.Row()
				for range 200 {
					if p, err := s.Proba(r.Reset().At(0, 1)); p != want || err != nil {
						t.Errorf("%v (%v), want %v", p, err, want)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestModelAllocations: scoring and learning rows allocates nothing after the first.
func TestModelAllocations(t *testing.T) {
	for _, features := range [][]string{nil, {"a", "b", "c"}} {
		m := must(halfspace.New(halfspace.Options{Learner: "pa",
			Data: halfspace.Data{Bias: "append", Normalize: "unit"}}, features...))(t)
		row, s := m.Row(), m.Snapshot()
		once := func() {
			row.Reset().At(1, 0.5).At(2, math.Pi)
			must(m.LearnOne(row, "-1"))(t)
			for _, score := range []func(*halfspace.Row) (float64, error){m.Score, s.Score} {
				must(score(row))(t)
			}
			must(m.Label(row))(t)
		}
		once()
		if n := testing.AllocsPerRun(50, once); n > 0 {
			t.Errorf("%d features: %v allocations", len(features), n)
		}
	}
}

// TestNewTakes: what New has no use for is an error, whichever field of Options it is, and what
// could not be saved is none that New takes.
func TestNewTakes(t *testing.T) {
	most := int64(5)
	for name, o := range map[string]halfspace.Options{
		"bias":             {Data: halfspace.Data{Bias: "foo"}},
		"normalize":        {Data: halfspace.Data{Normalize: "foo"}},
		"normalize max":    {Data: halfspace.Data{Normalize: "max"}},
		"rho":              {Rho: -5},
		"rho NaN":          {Rho: math.NaN()},
		"rho of pa":        {Rho: 1},
		"rho of pumma":     {Learner: "pumma", Rho: 2},
		"files":            {Files: []string{"a"}},
		"rho and bias":     {Learner: "alma", Rho: 1, Data: halfspace.Data{Bias: "append"}},
		"precision":        {Precision: "f16"},
		"max_updates":      {MaxUpdates: &most},
		"until_converged":  {UntilConverged: true},
		"active_set":       {ActiveSet: true},
		"proba":            {Proba: true},
		"predict_only":     {PredictOnly: true},
		"checkpoint_every": {CheckpointEvery: "10"},
		"mem_budget":       {MemBudget: 1},
		"format":           {Data: halfspace.Data{Format: "csv"}},
		"label_col":        {Data: halfspace.Data{LabelCol: "a"}},
		"on_error":         {Data: halfspace.Data{OnError: "skip"}},
	} {
		if o.Learner == "" {
			o.Learner = "pa"
		}
		if m, err := halfspace.New(o); !errors.Is(err, training.ErrOption) || m != nil {
			t.Errorf("%s: %v, want that it is %v", name, err, training.ErrOption)
		} else if field, _, _ := strings.Cut(name, " "); !strings.Contains(err.Error(), field) {
			t.Errorf("%s: the error is %q", name, err)
		}
	}
	for _, names := range [][]string{{"a", "b", "a"}, {"a", ""}} {
		_, err := halfspace.New(halfspace.Options{Learner: "pa"}, names...)
		if !errors.Is(err, halfspace.ErrFeature) {
			t.Errorf("features %q: %v", names, err)
		}
	}
	if _, err := halfspace.New(halfspace.Options{Learner: "alma", Rho: 2,
		Data: halfspace.Data{Bias: "", Normalize: "none"}}); err != nil {
		t.Error(err)
	}
}

// classRow is an example of a class.
type classRow struct {
	x, y  float64
	label string
}

// TestClasses: a model of classes learns row by row, says scores of all classes, is saved and
// loaded, and predicts files.
func TestClasses(t *testing.T) {
	rows := []classRow{{1, 0, "a"}, {0, 1, "b"}, {-1, -1, "c"}, {2, .1, "a"}, {.1, 2, "b"},
		{-2, -2, "c"}}
	for _, o := range []halfspace.Options{{Learner: "ovr"},
		{Learner: "pa", Data: halfspace.Data{Classes: []string{"c", "b", "a"}}}} {
		m := must(halfspace.New(o, "x", "y"))(t)
		if label, err := m.Label(m.Row()); err != nil || len(o.Classes) == 0 && label != "" {
			t.Errorf("a new model says %q, %v", label, err)
		}
		for range 5 {
			for _, r := range rows {
				must(m.LearnOne(m.Row().Set("x", r.x).Set("y", r.y), r.label))(t)
			}
		}
		_, err := m.LearnOne(m.Row(), "d")
		if known := len(o.Classes) > 0; known != errors.Is(err, halfspace.ErrLabel) {
			t.Errorf("a new class: %v", err)
		}
		path := filepath.Join(t.TempDir(), "m.model")
		ok(t, m.Save(path))
		loaded := must(halfspace.Load(path))(t)
		if !slices.Equal(loaded.Classes(), m.Classes()) || len(m.Classes()) < 3 {
			t.Errorf("loaded classes %q, want %q", loaded.Classes(), m.Classes())
		}
		says(t, loaded, rows)
	}
}

// says checks what a model that knows rows says of them, and of those of a file.
func says(t *testing.T, m *halfspace.Model, rows []classRow) {
	t.Helper()
	for _, r := range rows {
		row := m.Row().Set("x", r.x).Set("y", r.y)
		label, err := m.Label(row)
		scores, err2 := m.Scores(row, nil)
		best, err3 := m.Score(row)
		if err := errors.Join(err, err2, err3); err != nil || label != r.label ||
			len(scores) != len(m.Classes()) || best != slices.Max(scores) {
			t.Errorf("%v: %q, %v of %v, %v", r, label, best, scores, err)
		}
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	ok(t, os.WriteFile(file, []byte("x,y,label\n1,0,a\n0,1,b\n-1,-1,a\n0,2,z\n"),
		0o600))
	n, wrong, err := m.Test(t.Context(), file)
	if err != nil || n != 4 || wrong != 2 { // no label that training had is right for z
		t.Errorf("%d of %d wrong, %v, want 2 of 4", wrong, n, err)
	}
	var said []string
	for p, err := range m.Predict(t.Context(), file) {
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, p.Label+"/"+p.Actual)
	}
	if want := []string{"a/a", "b/b", "c/a", "b/"}; !slices.Equal(said, want) {
		t.Errorf("predicted %q, want %q", said, want)
	}
}

// TestStoodSomewhere: of the model of a stopped run the snapshot can be saved, and one more example
// takes its position away.
func TestStoodSomewhere(t *testing.T) {
	trained := must(halfspace.Train(t.Context(), halfspace.Options{Learner: "pa",
		Files: []string{write(t, "rows.svm", svmText(50))}}))(t)
	name := filepath.Join(t.TempDir(), "m")
	ok(t, trained.Save(name))
	file := must(model.Load(name))(t)
	file.Position = &model.Position{Example: 50, Options: []byte(`{}`), Counts: []byte(`{}`),
		Sources: []model.SourcePosition{{Name: "rows.svm"}}}
	must(model.Save(name, file))(t)
	m := must(halfspace.Load(name))(t)
	stands := func(what string, save func(string) error) bool {
		t.Helper()
		to := filepath.Join(t.TempDir(), "saved")
		ok(t, save(to))
		file := must(model.Load(to))(t)
		return file.Position != nil
	}
	if !stands("the model", m.Save) || stands("its snapshot", m.Snapshot().Save) {
		t.Error("the model stands nowhere, or its snapshot somewhere")
	}
	must(m.LearnOne(m.Row(), "1"))(t)
	if stands("after one more", m.Save) {
		t.Error("after one more example it still stands where it did")
	}
}

// must returns what a call gave that does not fail here.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ok ends the test where a call fails that does not here.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
