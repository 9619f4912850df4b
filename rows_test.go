package halfspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// someRows makes rows of 20 features, of which a third is not 0, and text that says the same.
func someRows(n, classes int, sparse, wide bool) (*halfspace.Rows, string) {
	const dim = 20
	draw := rand.New(rand.NewPCG(1, 2))
	r := &halfspace.Rows{N: n, Dim: dim}
	for k := range classes {
		r.Names = append(r.Names, strconv.Itoa(2*k-1)) // -1, 1, 3, ...
	}
	if sparse {
		r.Ptr = []int{0}
	}
	put := func(v float32) {
		if wide {
			r.F64 = append(r.F64, float64(v))
		} else {
			r.F32 = append(r.F32, v)
		}
	}
	var text strings.Builder
	for range n {
		k := draw.IntN(classes)
		r.Labels = append(r.Labels, int32(k))
		text.WriteString(r.Names[k])
		for j := range dim {
			v := float32(0)
			if draw.IntN(3) == 0 || j == dim-1 {
				v = float32(draw.NormFloat64() + float64(k*(j%classes)))
			}
			if v != 0 || !sparse {
				put(v)
			}
			if v != 0 {
				if sparse {
					r.Idx = append(r.Idx, int32(j))
				}
				fmt.Fprintf(&text, " %d:%v", j+1, float64(v))
			}
		}
		text.WriteByte('\n')
		if sparse {
			r.Ptr = append(r.Ptr, len(r.Idx))
		}
	}
	return r, text.String()
}

// saved returns the bytes of a model.
func saved(t *testing.T, m *halfspace.Model) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m")
	ok(t, m.Save(file))
	b := must(os.ReadFile(file))(t)
	return b
}

// TestTrainRows: what is learned of arrays is what is learned of a file that says the same, to the
// byte: streams, several passes, shuffled ones and fits, of two classes and more.
func TestTrainRows(t *testing.T) {
	seven := uint64(7)
	for name, o := range map[string]halfspace.Options{
		"defaults": {Learner: "obpm"},
		"prepared": {Learner: "pa", Precision: "f64",
			Data: halfspace.Data{Bias: "append", Normalize: "unit"}},
		"shuffled":  {Learner: "obpm", Epochs: 3, Shuffle: true, Seed: &seven},
		"max":       {Learner: "perceptron", Data: halfspace.Data{Normalize: "max"}},
		"fitted":    {Learner: "svm", UntilConverged: true},
		"scaled":    {Learner: "arow", Data: halfspace.Data{Scale: "std"}},
		"adf":       {Learner: "adf", Calibrate: "platt"},
		"in budget": {Learner: "perceptron", Epochs: 2, MemBudget: 64 << 20},
	} {
		for _, classes := range []int{2, 3} {
			if classes > 2 && name == "adf" {
				continue // probabilities are of two
			}
			rows, text := someRows(300, classes, true, o.Precision == "f64")
			file := filepath.Join(t.TempDir(), "rows")
			ok(t, os.WriteFile(file, []byte(text), 0o600))
			fromFile := o
			fromFile.IndexBase = "1"
			want := must(halfspace.Train(context.Background(), fromFile, file))(t)
			got := must(halfspace.TrainRows(context.Background(), o, rows))(t)
			if !bytes.Equal(saved(t, got), saved(t, want)) {
				t.Errorf("%s, %d classes: the models differ", name, classes)
			}
		}
	}
}

// rowOf makes r row i of rows.
func rowOf(r *halfspace.Row, rows *halfspace.Rows, i int) *halfspace.Row {
	value := func(k int) float64 {
		if rows.F32 != nil {
			return float64(rows.F32[k])
		}
		return rows.F64[k]
	}
	if rows.Ptr != nil {
		for k := rows.Ptr[i]; k < rows.Ptr[i+1]; k++ {
			r.At(int(rows.Idx[k]), value(k))
		}
		return r
	}
	for j := range rows.Dim {
		r.At(j, value(i*rows.Dim+j))
	}
	return r
}

// TestLearnRows: rows are learned and scored as one by one, and as the run does that TrainRows is.
func TestLearnRows(t *testing.T) {
	for _, c := range []struct {
		classes      int
		sparse, wide bool
		o            halfspace.Options
	}{
		{2, true, false, halfspace.Options{Learner: "obpm"}},
		{2, false, false, halfspace.Options{Learner: "pa"}},
		{2, true, true, halfspace.Options{Learner: "arow",
			Data: halfspace.Data{Bias: "append", Normalize: "unit"}}},
		{3, true, false, halfspace.Options{Learner: "obpm",
			Data: halfspace.Data{Classes: []string{"-1", "1", "3"}}}},
		{3, false, true, halfspace.Options{Learner: "mpa", Precision: "f64"}},
	} {
		rows, _ := someRows(2500, c.classes, c.sparse, c.wide)
		batch := must(halfspace.New(c.o))(t)
		single := must(halfspace.New(c.o))(t)
		mistakes := must(batch.LearnRows(context.Background(), rows))(t)
		missed := int64(0)
		one := func(i int) *halfspace.Row { return rowOf(single.Row(), rows, i) }
		for i := range rows.N {
			label := rows.Names[rows.Labels[i]]
			score := must(single.LearnOne(one(i), label))(t)
			if c.classes == 2 && label == "-1" {
				score = -score
			}
			if !(score > 0) {
				missed++
			}
		}
		if c.sparse && mistakes != missed {
			t.Errorf("%s: %d mistakes, want %d", c.o.Learner, mistakes, missed)
		}
		if c.sparse && !bytes.Equal(saved(t, batch), saved(t, single)) {
			t.Errorf("%s: the models differ", c.o.Learner)
		}
		k := batch.Outputs()
		scores := make([]float64, rows.N*k)
		ok(t, batch.Snapshot().ScoreRows(rows, scores))
		for i := range 10 {
			want := must(batch.Scores(one(i), nil))(t)
			for j, v := range want {
				if got := scores[i*k+j]; math.Abs(got-v) > 1e-5*(1+math.Abs(v)) {
					t.Errorf("%s: row %d scores %v, want %v", c.o.Learner, i, got, v)
				}
			}
		}
	}
}

// TestBadRows: rows that don't fit together, or hold what no example has, teach nothing and say
// where they are wrong.
func TestBadRows(t *testing.T) {
	good := func() *halfspace.Rows {
		return &halfspace.Rows{N: 2, Dim: 3, Ptr: []int{0, 1, 3}, Idx: []int32{1, 0, 2},
			F32: []float32{1, 2, 3}, Labels: []int32{0, 1}, Names: []string{"-1", "+1"}}
	}
	for what, spoil := range map[string]func(r *halfspace.Rows){
		"3 labels of 2 rows":      func(r *halfspace.Rows) { r.Labels = []int32{0, 1, 0} },
		"label 2 of 2 names":      func(r *halfspace.Rows) { r.Labels[1] = 2 },
		"has no label":            func(r *halfspace.Rows) { r.Labels[1] = -1 },
		"row 1 goes from 1 to 9":  func(r *halfspace.Rows) { r.Ptr[2] = 9 },
		"row 0 goes from 0 to -1": func(r *halfspace.Rows) { r.Ptr[1] = -1 },
		"2 offsets of 2 rows":     func(r *halfspace.Rows) { r.Ptr = r.Ptr[:2] },
		"row 1: value 1: index 0": func(r *halfspace.Rows) { r.Idx[2] = 0 },
		"row 0: value 0: index 3": func(r *halfspace.Rows) { r.Idx[0] = 3 },
		"it is NaN":               func(r *halfspace.Rows) { r.F32[2] = float32(math.NaN()) },
		"it is 1e+300": func(r *halfspace.Rows) {
			r.F32, r.F64 = nil, []float64{1, 2, 1e300}
		},
		"in both precisions":            func(r *halfspace.Rows) { r.F64 = []float64{1, 2, 3} },
		"1 weights of 2 rows":           func(r *halfspace.Rows) { r.Weights = []float64{1} },
		"2 rows of 3 features, 3 apart": func(r *halfspace.Rows) { r.Ptr = nil },
		"-1 rows":                       func(r *halfspace.Rows) { r.N = -1 },
		"no such label":                 func(r *halfspace.Rows) { r.Names[1] = "7" },
	} {
		if what == "2 rows of 3 features, 3 apart" {
			what = "2 rows of 3 features, 3 apart, in 3 values"
		}
		m := must(halfspace.New(halfspace.Options{Learner: "perceptron"}))(t)
		before := saved(t, m)
		r := good()
		spoil(r)
		_, err := m.LearnRows(context.Background(), r)
		if !errors.Is(err, halfspace.ErrRows) && !errors.Is(err, halfspace.ErrLabel) ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("%q: the error is %v", what, err)
		}
		if !bytes.Equal(saved(t, m), before) {
			t.Errorf("%q: something was learned", what)
		}
	}
	m := must(halfspace.New(halfspace.Options{Learner: "romma"}))(t)
	r := good()
	r.Weights = []float64{1, 2}
	if _, err := m.LearnRows(context.Background(), r); !errors.Is(err, learner.ErrWeights) {
		t.Errorf("weights: %v", err)
	}
	if err := m.ScoreRows(good(), make([]float64, 1)); !errors.Is(err, halfspace.ErrRows) {
		t.Errorf("one place for two scores: %v", err)
	}
	if err := m.ProbaRows(good(), make([]float64, 2)); !errors.Is(err, halfspace.ErrProba) {
		t.Errorf("probabilities: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.LearnRows(ctx, good()); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// Rows of a program's own arrays, learned in batches as they come.
func ExampleModel_LearnRows() {
	m, err := halfspace.New(halfspace.Options{Learner: "pa"})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := &halfspace.Rows{N: 3, Dim: 2, F32: []float32{1, 0, 0, 1, 1, -1},
		Labels: []int32{1, 0, 1}, Names: []string{"-1", "+1"}}
	mistakes, err := m.LearnRows(context.Background(), rows)
	scores := make([]float64, rows.N)
	fmt.Println(mistakes, err, m.ScoreRows(rows, scores), scores)
	// Output: 2 <nil> <nil> [1 -1 2]
}

// A model that is trained as the command trains one of a file with the same numbers.
func ExampleTrainRows() {
	m, err := halfspace.TrainRows(context.Background(),
		halfspace.Options{Learner: "svm", UntilConverged: true},
		&halfspace.Rows{N: 2, Dim: 1, F64: []float64{3, 1}, Labels: []int32{1, 0},
			Names: []string{"ham", "spam"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	label, err := m.Label(m.Row().At(1, 2.5))
	fmt.Println(label, err)
	// Output: spam <nil>
}

// TestWeights: the scores are the weights' sums, of two classes and more; what has no weights says
// so. A model that was encoded is the one that is decoded.
func TestWeights(t *testing.T) {
	for _, o := range []halfspace.Options{
		{Learner: "pa", Data: halfspace.Data{Bias: "append"}},
		{Learner: "obpm", Data: halfspace.Data{Classes: []string{"-1", "1", "3"}}},
		{Learner: "adf", Precision: "f64"},
	} {
		rows, _ := someRows(200, max(2, len(o.Classes)), false, true)
		m := must(halfspace.New(o))(t)
		must(m.LearnRows(context.Background(), rows))(t)
		var b bytes.Buffer
		ok(t, m.Encode(&b))
		again := must(halfspace.Decode(b.Bytes()))(t)
		weights, biases, linear := again.Weights()
		if !linear || len(weights) != m.Outputs() || again.Features() != 20 {
			t.Fatalf("%s: %d weights of %d features, %v", o.Learner, len(weights), again.Features(),
				linear)
		}
		scores := make([]float64, rows.N*m.Outputs())
		ok(t, m.ScoreRows(rows, scores))
		for i := range rows.N {
			for k, w := range weights {
				f, size := biases[k], math.Abs(biases[k])
				for j, v := range w {
					f += v * rows.F64[i*20+j]
					size += math.Abs(v * rows.F64[i*20+j])
				}
				// a sum of 21 products in float32, and weights that were rounded to it
				if got := scores[i*len(weights)+k]; math.Abs(f-got) > 44*size*0x1p-24 {
					t.Fatalf("%s: row %d scores %v, its weights say %v", o.Learner, i, got, f)
				}
			}
		}
	}
	m := must(halfspace.New(halfspace.Options{Learner: "budget"}))(t)
	if _, _, ok := m.Weights(); ok {
		t.Error("a kernel has weights")
	}
	if _, err := halfspace.Decode([]byte("no model")); err == nil {
		t.Error("text is taken for a model")
	}
}

// TestSettings: a setting that is put into the defaults leaves the others what they are, those of
// the base too.
func TestSettings(t *testing.T) {
	for learnerName, put := range map[string]map[string]any{
		"obpm": {"tau": 0.3}, "rff": {"sigma": 0.5}, "perceptron": {"eta": 0.5},
	} {
		e := must(learner.Lookup(learnerName))(t)
		plain := must(json.Marshal(e.Config()))(t)
		m := must(halfspace.New(halfspace.Options{Learner: learnerName, Settings: put}))(t)
		var want, got map[string]any
		_, settings := m.Learner()
		ok(t, errors.Join(json.Unmarshal(plain, &want),
			json.Unmarshal([]byte(settings), &got)))
		for key, v := range put {
			want[key] = v
		}
		for key := range got {
			if g, w := fmt.Sprint(got[key]), fmt.Sprint(want[key]); g != w {
				t.Errorf("%s: %s is %s, want %s", learnerName, key, g, w)
			}
		}
	}
}

// TestLearnRowsStopped: where ctx ends, what was learned until then is counted, and is what as many
// rows alone would have given.
func TestLearnRowsStopped(t *testing.T) {
	rows, _ := someRows(2500, 2, true, false)
	for _, looks := range []int{1, 3, 9} {
		m := must(halfspace.New(halfspace.Options{Learner: "pa"}))(t)
		ctx := &endsAfter{Context: context.Background(), looks: looks}
		mistakes, err := m.LearnRows(ctx, rows)
		n := int(m.Presented())
		if !errors.Is(err, context.Canceled) || n == 0 || n >= rows.N {
			t.Fatalf("%d looks: %d rows learned, %v", looks, n, err)
		}
		part := *rows
		part.N, part.Ptr, part.Labels = n, rows.Ptr[:n+1], rows.Labels[:n]
		again := must(halfspace.New(halfspace.Options{Learner: "pa"}))(t)
		if want, err := again.LearnRows(context.Background(), &part); err != nil ||
			want != mistakes || !bytes.Equal(saved(t, m), saved(t, again)) {
			t.Errorf("%d looks, %d rows: %d mistakes, want %d; %v", looks, n, mistakes, want, err)
		}
	}
}

// endsAfter is a context that ends when it was asked so often.
type endsAfter struct {
	context.Context
	looks int
}

func (c *endsAfter) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestTrainRowsStopped: the model of what was learned is there, whichever way it goes through rows.
func TestTrainRowsStopped(t *testing.T) {
	rows, _ := someRows(2500, 2, true, false)
	for _, shuffle := range []bool{false, true} {
		o := halfspace.Options{Learner: "pa", Epochs: 1 << 20, Shuffle: shuffle}
		var m *halfspace.Model
		for wait := 20 * time.Millisecond; m == nil; wait *= 2 { // until it has begun to learn
			ctx, cancel := context.WithTimeout(context.Background(), wait)
			var err error
			m, err = halfspace.TrainRows(ctx, o, rows)
			cancel()
			if !errors.Is(err, training.ErrStopped) {
				t.Fatal(err)
			}
		}
		if m.Presented() == 0 || len(saved(t, m)) == 0 {
			t.Errorf("%d examples learned", m.Presented())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := halfspace.TrainRows(ctx, halfspace.Options{Learner: "pa"}, rows)
	if !errors.Is(err, training.ErrStopped) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestNewScale: a new model scales by the rows so far, as a stream of the same rows does, and
// doesn't take sparse rows behind dense ones, or the other way round.
func TestNewScale(t *testing.T) {
	data := halfspace.Data{Scale: "std", Bias: "append", Normalize: "unit"}
	var models []*halfspace.Model
	var kinds []*halfspace.Rows
	for _, sparse := range []bool{false, true} {
		rows, _ := someRows(300, 2, sparse, true)
		want := must(halfspace.TrainRows(context.Background(),
			halfspace.Options{Learner: "pa", Data: data}, rows))(t)
		got := must(halfspace.New(halfspace.Options{Learner: "pa", Data: data}))(t)
		must(got.LearnRows(context.Background(), rows))(t)
		a, b := make([]float64, rows.N), make([]float64, rows.N)
		ok(t, errors.Join(want.ScoreRows(rows, a), got.ScoreRows(rows, b)))
		if !slices.Equal(a, b) {
			t.Errorf("sparse %v: other scores", sparse)
		}
		var file bytes.Buffer
		ok(t, got.Encode(&file))
		again := must(halfspace.Decode(file.Bytes()))(t)
		if err := again.ScoreRows(rows, b); err != nil || !slices.Equal(a, b) {
			t.Errorf("sparse %v: other scores of what was saved, %v", sparse, err)
		}
		models, kinds = append(models, got), append(kinds, rows)
	}
	for i, m := range models {
		if _, err := m.LearnRows(context.Background(), kinds[1-i]); !errors.Is(err,
			halfspace.ErrRows) {
			t.Errorf("model %d learns the other rows: %v", i, err)
		}
	}
	if _, err := halfspace.New(halfspace.Options{Learner: "pa", Data: halfspace.Data{
		Scale: "auto"}}); err == nil {
		t.Error("scale auto, of which nothing can be found")
	}
}

// TestRowOfScaledColumns: of a model that has scaled the columns of dense rows, a Row of the
// features that are not 0 is scored and learned as the dense row, to the bit; also by a model that
// was saved, and with a feature that no row had before.
func TestRowOfScaledColumns(t *testing.T) {
	ctx := context.Background()
	for _, data := range []halfspace.Data{{Scale: "std"}, {Scale: "maxabs", Bias: "append"},
		{Scale: "std", Bias: "append", Normalize: "unit"}} {
		for _, precision := range []string{"f32", "f64"} {
			rows, _ := someRows(300, 2, false, true)
			for i := range rows.F64 {
				if rows.F64[i] != 0 {
					rows.F64[i] += 3 // so that 0 is far from the mean
				}
			}
			m := must(halfspace.New(halfspace.Options{Learner: "pa", Precision: precision,
				Data: data}))(t)
			must(m.LearnRows(ctx, rows))(t)
			copyOf := func() *halfspace.Model {
				var b bytes.Buffer
				ok(t, m.Encode(&b))
				again := must(halfspace.Decode(b.Bytes()))(t)
				return again
			}
			want := make([]float64, rows.N)
			ok(t, m.ScoreRows(rows, want))
			one, many := copyOf(), copyOf()
			for i := range 50 {
				sparse := func(m *halfspace.Model) *halfspace.Row {
					r := m.Row()
					for j, v := range rows.F64[i*rows.Dim:][:rows.Dim] {
						if v != 0 {
							r.At(j, v)
						}
					}
					return r
				}
				for _, from := range []*halfspace.Model{m, copyOf()} {
					if got, err := from.Score(sparse(from)); err != nil || got != want[i] {
						t.Fatalf("%+v, %s: row %d has score %v, %v, want %v", data, precision, i,
							got, err, want[i])
					}
				}
				next := *rows
				next.N, next.F64 = 1, rows.F64[i*rows.Dim:][:rows.Dim]
				next.Labels = rows.Labels[i:][:1]
				must(many.LearnRows(ctx, &next))(t)
				must(one.LearnOne(sparse(one), rows.Names[rows.Labels[i]]))(t)
			}
			var a, b bytes.Buffer
			ok(t, errors.Join(one.Encode(&a), many.Encode(&b)))
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%+v, %s: LearnOne is not LearnRows", data, precision)
			}
			if f, err := m.Score(m.Row().At(rows.Dim+5, 1)); err != nil || f-f != 0 {
				t.Errorf("a feature that is new: %v, %v", f, err)
			}
		}
	}
}
