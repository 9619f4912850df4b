package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/learner"
)

// mutator changes a model at random: bytes that run out are zeros.
type mutator struct {
	bytes []byte
	m     *Model
}

// pick returns a number below n, 0 if there is none.
func (u *mutator) pick(n int) int {
	v := 0
	for k := range 2 {
		if len(u.bytes) > 0 && (k == 0 || n > 256) {
			v = v<<8 | int(u.bytes[0])
			u.bytes = u.bytes[1:]
		}
	}
	return v % max(n, 1)
}

// float returns a number that is likely to do harm.
func (u *mutator) float() float64 {
	list := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 1e-3, 1e-30, 1e-300, 5e-324, 1e5,
		1e18, 1e38, 1e150, 1e300, math.MaxFloat64, -1e30, -1e300, 0x1p-32,
		0x1p-33, math.Nextafter(1, 2), math.Nextafter(1, 0), math.Inf(1), math.Inf(-1), math.NaN()}
	return list[u.pick(len(list))]
}

// count is the same among whole numbers, up to 2^64-1.
func (u *mutator) count() uint64 {
	list := []uint64{0, 1, 2, 3, 5, 7, 24, 25, 255, 1 << 16, 1 << 20, 100_000_000, math.MaxInt32,
		math.MaxInt32 - 1, 1 << 31, 1 << 32, 1 << 53, MaxCount - 1, MaxCount, MaxCount + 1,
		math.MaxInt64, 1 << 63, math.MaxUint64}
	return list[u.pick(len(list))]
}

// number is the same for an element of type E.
func number[E any](u *mutator) E {
	var e E
	switch p := any(&e).(type) {
	case *float64:
		*p = u.float()
	case *float32:
		*p = float32(u.float())
	case *int64:
		*p = int64(u.count())
	case *uint64:
		*p = u.count()
	case *int32:
		*p = int32(u.count())
	case *uint8:
		*p = uint8(u.count())
	}
	return e
}

func changed[E any](u *mutator, x []E) []E {
	x = slices.Clone(x)
	n := len(x)
	switch u.pick(6) {
	case 0:
		return x[:u.pick(n+1)]
	case 1:
		return append(x, number[E](u))
	case 2:
		v := number[E](u)
		for i := range x {
			x[i] = v
		}
	case 3:
		if n > 1 {
			i, j := u.pick(n), u.pick(n)
			x[i], x[j] = x[j], x[i]
		}
	default:
		if n > 0 {
			x[u.pick(n)] = number[E](u)
		}
	}
	return x
}

// tensor changes one tensor.
func (u *mutator) tensor() {
	list := slices.Clone(u.m.State.Tensors)
	u.m.State.Tensors = list
	if len(list) == 0 {
		return
	}
	i := u.pick(len(list))
	t := &list[i]
	before := reflect.ValueOf(t.Data).Len()
	switch u.pick(10) {
	case 0: // another type
		data := reflect.ValueOf(t.Data)
		to := reflect.ValueOf(dtypes[u.pick(len(dtypes))].make(before))
		for k := range before {
			to.Index(k).Set(data.Index(k).Convert(to.Type().Elem()))
		}
		t.Data = to.Interface()
	case 1: // another shape
		switch t.Shape = slices.Clone(t.Shape); u.pick(3) {
		case 0:
			t.Shape = append(t.Shape, 1)
		case 1:
			slices.Reverse(t.Shape)
		case 2:
			t.Shape = []int{1, before}
		}
	case 2:
		u.m.State.Tensors = slices.Delete(list, i, i+1)
	case 3:
		t.Name += "_"
	default:
		switch data := t.Data.(type) {
		case []float64:
			t.Data = changed(u, data)
		case []float32:
			t.Data = changed(u, data)
		case []int64:
			t.Data = changed(u, data)
		case []uint64:
			t.Data = changed(u, data)
		case []int32:
			x := changed(u, data)
			for i, v := range x { // there are tables up to the last feature, in training too
				x[i] = min(v, 1<<12)
			}
			t.Data = x
		case []uint8:
			t.Data = changed(u, data)
		}
		if n := reflect.ValueOf(t.Data).Len(); n != before {
			if t.Shape = []int{n}; t.Name == "members" && u.pick(2) == 0 {
				t.Shape = []int{n / 4, 4}
			}
		}
	}
}

// value changes something in a JSON document.
func (u *mutator) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 || u.pick(16) == 0 {
			v["more"] = 1
			return v
		}
		key := keys[u.pick(len(keys))]
		if u.pick(16) == 0 {
			delete(v, key)
			return v
		}
		v[key] = u.value(v[key])
		// what such settings take is theirs, not the file's
		if slices.Contains([]string{"members", "buffer", "rank", "sweeps"}, key) {
			switch n := v[key].(type) {
			case uint64:
				v[key] = min(n, 64)
			case float64:
				v[key] = min(n, 64)
			}
		}
		return v
	case []any:
		return append(v, "more")
	case string:
		return []string{"", "x", v + "\n", "rbf", "poly", "linear", "none", "append", "unit", "max",
			"csv", "perceptron", "pa", "alma", "vote"}[u.pick(15)]
	case bool:
		return !v
	case nil:
		return map[string]any{}
	}
	switch u.pick(3) {
	case 0:
		return u.count()
	case 1:
		if f := u.float(); f-f == 0 {
			return f
		}
	}
	return u.pick(64) - 8
}

func (u *mutator) document(text []byte) []byte {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return text
	}
	text, err := json.Marshal(u.value(v))
	if err != nil {
		panic(err)
	}
	return text
}

// change makes one change.
func (u *mutator) change() {
	s := &u.m.State
	switch u.pick(10) {
	default:
		u.tensor()
	case 0, 1:
		s.Counters = maps.Clone(s.Counters)
		keys := append(slices.Sorted(maps.Keys(s.Counters)), "more")
		key := keys[u.pick(len(keys))]
		if s.Counters[key] = u.count(); u.pick(16) == 0 {
			delete(s.Counters, key)
		}
	case 2, 3:
		if s.Scalars = maps.Clone(s.Scalars); s.Scalars == nil {
			s.Scalars = map[string]float64{}
		}
		keys := append(slices.Sorted(maps.Keys(s.Scalars)), "more")
		key := keys[u.pick(len(keys))]
		s.Scalars[key] = u.float()
		if s.Scalars[key]-s.Scalars[key] != 0 || u.pick(16) == 0 {
			delete(s.Scalars, key) // no JSON
		}
	case 4:
		u.m.Config = u.document(u.m.Config)
	case 5:
		text, err := json.Marshal(u.m.Prep)
		if err != nil {
			panic(err)
		}
		var p Prep
		if json.Unmarshal(u.document(text), &p) == nil {
			u.m.Prep = p
		}
		if u.pick(4) == 3 { // version 2
			u.m.Prep.Labels = Labels{}
			u.m.Prep.Classes = []string{"a", "b", "c", "a"}[:u.pick(5)]
		}
		u.m.Presented, u.m.Mistakes = u.count(), u.count()
	}
}

// FuzzState changes models of all learners, with the right checksum, and then does with them all
// that can be done. No file may panic a learner or make it take memory out of proportion, and what
// is accepted must be accepted again after learning, unless it has diverged.
func FuzzState(f *testing.F) {
	files, err := filepath.Glob("testdata/kept/*.model")
	if err != nil || len(files) == 0 {
		f.Fatalf("no models: %v", err)
	}
	kept := make([]*Model, len(files))
	for i, file := range files {
		if kept[i], err = Load(file); err != nil {
			f.Fatal(err)
		}
		for _, seed := range []string{"", "\x00\x00\x05", "\x02\x00\x08",
			"\x09\x00\x09\x05\x07\x03", "\x04\x03\x03\x00\x07", "\x05\x03\x03\x00\x07\x06\x06"} {
			f.Add(append([]byte{byte(i)}, seed...))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u := &mutator{bytes: data}
		m := *kept[u.pick(len(kept))]
		u.m = &m
		for range 8 {
			if len(u.bytes) > 0 {
				u.change()
			}
		}
		var b bytes.Buffer
		if err := write(&b, &m); err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		stuck := time.AfterFunc(time.Minute, func() { // the fuzzer itself waits for ever
			panic(fmt.Sprintf("%s %s %v %v takes longer than a minute", m.Learner, m.Config,
				m.State.Counters, m.State.Scalars))
		})
		defer stuck.Stop()
		if m.Precision == "f64" {
			useAll[float64](t, b.Bytes())
		} else {
			useAll[float32](t, b.Bytes())
		}
	})
}

// askAll asks a learner for all it has, and merges it with itself if it can.
func askAll[T learner.Float](t *testing.T, m *Model, l learner.Learner[T]) {
	for _, sparse := range []bool{false, true} {
		b := smallRows[T](9, sparse)
		dst := make([]float64, b.Len())
		if err := l.Score(b, dst); err != nil {
			t.Logf("Score: %v", err)
		}
		if p := learner.ProberOf(l); p != nil {
			if err := p.Proba(b, dst); err != nil {
				t.Logf("Proba: %v", err)
			}
		}
		l.Weights()
		l.Updates()
		l.Bytes()
	}
	if p := learner.PosteriorOf(l); p != nil {
		p.Report()
		if o, err := Restore[T](m, nil); err == nil {
			if err := p.MergePosterior(o); err != nil {
				t.Logf("MergePosterior: %v", err)
			}
		}
	}
}

// useAll does all that a user of a model file can do.
func useAll[T learner.Float](t *testing.T, data []byte) {
	before := allocated()
	took := func(what string, most int) {
		t.Helper()
		if n := allocated() - before; n > uint64(most) {
			t.Fatalf("%s allocated %d bytes for a file of %d", what, n, len(data))
		}
		before = allocated()
	}
	m, err := Decode(data)
	took("Decode", 1<<20+200*len(data))
	if err != nil {
		if !refused(err) {
			t.Fatalf("Decode: an error of no kind: %v", err)
		}
		return
	}
	if m.PredictOnly {
		predictAll[T](t, m)
		took("RestorePredictor and the rest", 1<<24+4000*len(data))
		return
	}
	l, err := Restore[T](m, nil)
	took("Restore", 1<<22+400*len(data))
	if err != nil {
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
			t.Fatalf("Restore: an error of no kind: %v", err)
		}
		return
	}
	askAll(t, m, l)
	sums := m.State.CheckSums(0) == nil
	saved := func(what string) {
		t.Helper()
		_, c, err := m.Settings()
		if err != nil {
			t.Fatalf("%s: settings: %v", what, err)
		}
		again, err := Capture(m.Learner, c, m.Seed, l)
		switch {
		case errors.Is(err, ErrNotFinite):
			return // diverged: an error, and nothing is saved
		case errors.Is(err, ErrInvalid) && (learner.PosteriorOf(l) != nil || covariance(m)):
			return // a matrix that is no covariance: only an eigenvalue could tell before
		case err != nil:
			t.Fatalf("%s: %v", what, err)
		}
		// exactly: settings may make steps of any size, and weights that were larger in between
		if err := again.State.CheckSums(math.Inf(1)); err != nil && sums {
			t.Fatalf("%s: %v", what, err)
		}
		again.Prep, again.Presented, again.Mistakes = m.Prep, m.Presented, m.Mistakes
		var b bytes.Buffer
		ok(t, Encode(&b, again))
		back := must(Decode(b.Bytes()))(t)
		must(Restore[T](back, nil))(t)
	}
	saved("after Restore")
	for _, sparse := range []bool{true, false} {
		b := smallRows[T](12, sparse)
		if f := learner.AsFitter(l); f != nil && sparse {
			if _, err := f.Fit(context.Background(), b,
				learner.FitOptions{MaxUpdates: 50}); err != nil {
				t.Logf("Fit: %v", err)
			}
			saved("after Fit")
		}
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			t.Logf("Learn: %v", err)
		}
		saved("after Learn")
	}
	if !strings.Contains(m.Learner, "rff") {
		took("the rest", 1<<26+4000*len(data))
	}
}

// covariance reports whether the model's state has covariances of weights.
func covariance(m *Model) bool {
	return slices.ContainsFunc(m.State.Tensors, func(t learner.Tensor) bool {
		return t.Name == "covariance"
	})
}

// predictAll does all that a user of a model that only predicts can do.
func predictAll[T learner.Float](t *testing.T, m *Model) {
	if _, err := Restore[T](m, nil); !errors.Is(err, ErrPredictOnly) &&
		!errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
		t.Fatalf("Restore: %v, want %v", err, ErrPredictOnly)
	}
	p, err := RestorePredictor[T](m, nil)
	if err != nil {
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
			t.Fatalf("RestorePredictor: an error of no kind: %v", err)
		}
		return
	}
	for _, sparse := range []bool{false, true} {
		b := smallRows[T](9, sparse)
		dst := make([]float64, b.Len())
		if err := p.Score(b, dst); err != nil {
			t.Logf("Score: %v", err)
		}
		if prober := learner.ProbaOf(p); prober != nil {
			if err := prober.Proba(b, dst); err != nil {
				t.Logf("Proba: %v", err)
			}
		}
	}
	p.Weights()
	p.Bytes()
	_, c, err := m.Settings()
	if err != nil {
		t.Fatal(err)
	}
	again := must(CapturePredictor(m.Learner, c, m.Seed, p))(t)
	must(RestorePredictor[T](again, nil))(t)
}
