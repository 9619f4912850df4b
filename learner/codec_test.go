package learner

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// parts of a state of all kinds.
type parts struct {
	n       int64
	size    int
	flags   uint64
	x       float64
	maybe   float64
	some    bool
	w       []float32
	square  []float64
	packed  []int32
	inner   *State
	deeper  []uint8
	then    int
	invalid bool
}

func (p *parts) fields(c *Codec) {
	Count(c, "n", &p.n)
	Count(c, "size", &p.size)
	Count(c, "flags", &p.flags)
	c.Scalar("x", &p.x)
	w := Vector(c, "w", &p.w)
	if c.Optional("maybe", p.some) {
		maybe := c.Scalar("maybe", &p.maybe)
		c.Then(func() { p.some = maybe == p.maybe })
	}
	square := Matrix(c, "square", len(w), len(w), &p.square)
	c.Want(len(square) == len(w)*len(w), "checked before")
	var packed []int32
	if c.Writing() {
		packed = append(packed, p.packed...)
	}
	packed = View(c, "packed", packed)
	c.Then(func() { p.packed = append([]int32(nil), packed...) })
	c.In("deep.", func(c *Codec) { Vector(c, "er", &p.deeper) })
	c.Part("inner.", &p.inner, func(c *Codec) {
		Count[uint64](c, "k", nil)
		View[float64](c, "v", nil)
	})
	c.Then(func() { p.then++ })
	c.Want(!p.invalid, "flags: %w", errors.ErrUnsupported)
}

func whole() *parts {
	return &parts{n: 7, size: 8, flags: 9, x: 0.5, maybe: 2, some: true, w: []float32{1, 2},
		square: []float64{1, 2, 3, 4}, packed: []int32{5}, deeper: []uint8{6},
		inner: &State{Counters: map[string]uint64{"k": 3}, Scalars: map[string]float64{},
			Tensors: []Tensor{{"v", []int{2}, []float64{8, 9}}}}}
}

// TestCodecRoundTrip: what was written is read, as copies, and written again as it was.
func TestCodecRoundTrip(t *testing.T) {
	for _, more := range []bool{true, false} {
		p := whole()
		if !more {
			p.some, p.maybe, p.inner = false, 0, nil
		}
		s := StateOf(p.fields)
		got := &parts{inner: &State{}}
		if err := CheckState("x", s, got.fields); err != nil || got.w != nil || got.then != 0 {
			t.Fatalf("CheckState: %v, %+v", err, got)
		}
		if err := SetState("x", s, got.fields); err != nil || got.then != 1 {
			t.Fatalf("SetState: %v, %+v", err, got)
		}
		if got.then = 0; !reflect.DeepEqual(got, p) {
			t.Errorf("got %+v, want %+v", got, p)
		}
		again := StateOf(got.fields)
		if !reflect.DeepEqual(again, s) {
			t.Errorf("got %v, want %v", again, s)
		}
		for _, x := range s.Tensors { // none of them is the learner's
			reflect.ValueOf(x.Data).Index(0).SetZero()
		}
		if !reflect.DeepEqual(StateOf(p.fields), again) ||
			!reflect.DeepEqual(StateOf(got.fields), again) {
			t.Error("the State shares memory with the learner")
		}
	}
}

// TestCodecRefuses: each thing that does not fit is named in the error, and nothing is stored.
func TestCodecRefuses(t *testing.T) {
	tensor := func(name string) func(s *State, change func(*Tensor)) {
		return func(s *State, change func(*Tensor)) { change(s.Tensor(name)) }
	}
	w, square := tensor("w"), tensor("square")
	for _, r := range []struct {
		change func(s *State)
		want   string
	}{
		{func(s *State) { *s = State{} }, `x: counter "n" is missing: `},
		{func(s *State) { delete(s.Scalars, "x") }, `x: scalar "x" is missing: `},
		{func(s *State) { s.Tensors = s.Tensors[1:] }, `x: tensor "w" is missing: `},
		{func(s *State) { s.Counters["n"] = MaxCount + 1 },
			`x: counter "n" is 1152921504606846977, want at most 1152921504606846976: `},
		{func(s *State) { s.Scalars["x"] = math.NaN() },
			`x: scalar "x" is NaN, want a finite number: `},
		{func(s *State) { s.Scalars["x"] = math.Inf(-1) },
			`x: scalar "x" is -Inf, want a finite number: `},
		{func(s *State) { w(s, func(t *Tensor) { t.Data = []float64{1, 2} }) },
			`x: tensor "w" is []float64, want []float32: `},
		{func(s *State) { w(s, func(t *Tensor) { t.Data = nil }) },
			`x: tensor "w" is <nil>, want []float32: `},
		{func(s *State) { w(s, func(t *Tensor) { t.Shape = nil }) },
			`x: tensor "w" has shape [] and 2 elements, want shape [2]: `},
		{func(s *State) { w(s, func(t *Tensor) { t.Data = []float32{1, float32(math.Inf(1))} }) },
			`x: tensor "w" has +Inf at 1, want finite numbers: `},
		{func(s *State) { square(s, func(t *Tensor) { t.Shape = []int{4} }) },
			`x: tensor "square" has shape [4] and 4 elements, want shape [2 2]: `},
		{func(s *State) { square(s, func(t *Tensor) { t.Data = []float64{1, 2, 3} }) },
			`x: tensor "square" has shape [2 2] and 3 elements, want shape [2 2]: `},
		{func(s *State) { s.Counters["more"] = 1 }, `x: counter "more" is no part of its state: `},
		{func(s *State) { s.Scalars["more"] = 1 }, `x: scalar "more" is no part of its state: `},
		{func(s *State) { s.Tensors = append(s.Tensors, s.Tensors[1]) },
			`x: tensor "square" comes twice: `},
		{func(s *State) { s.Tensors = append(s.Tensors, Tensor{"W", []int{0}, []float32{}}) },
			`x: tensor "W" is no part of its state: `},
		{func(s *State) { delete(s.Counters, "inner.k") }, `x: counter "inner.k" is missing: `},
		{func(s *State) { s.Scalars["inner.u"] = 1 },
			`x: scalar "inner.u" is no part of its state: `},
		{func(s *State) { tensor("inner.v")(s, func(t *Tensor) { t.Data = []int64{1, 2} }) },
			`x: tensor "inner.v" is []int64, want []float64: `},
		{func(s *State) { tensor("deep.er")(s, func(t *Tensor) { t.Name = "er" }) },
			`x: tensor "deep.er" is missing: `},
	} {
		s := StateOf(whole().fields)
		r.change(&s)
		got := new(parts)
		err, checked := SetState("x", s, got.fields), CheckState("x", s, got.fields)
		if !errors.Is(err, ErrState) || !strings.HasPrefix(err.Error(), r.want) {
			t.Errorf("SetState says %v, want %s...", err, r.want)
		}
		if checked == nil || checked.Error() != err.Error() {
			t.Errorf("CheckState says %v, SetState %v", checked, err)
		}
		if !reflect.DeepEqual(got, new(parts)) {
			t.Errorf("%v: stored %+v", err, got)
		}
	}
	bad := &parts{invalid: true}
	err := SetState("x", StateOf(whole().fields), bad.fields)
	if !errors.Is(err, ErrState) || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want both errors", err)
	}
}

// ensemble is a learner whose state is that of others and a counter.
type ensemble struct {
	n       int64
	members []*member
}

type member struct{ parts }

func (m *member) State() State             { return StateOf(m.fields) }
func (m *member) SetState(s State) error   { return SetState("m", s, m.fields) }
func (m *member) CheckState(s State) error { return CheckState("m", s, m.fields) }

func (e *ensemble) fields(c *Codec) {
	Count(c, "n", &e.n)
	Inners(c, func(m int) string { return string(rune('a'+m)) + "." }, e.members)
}

// TestCodecInners: the states of others within a state are taken or refused together.
func TestCodecInners(t *testing.T) {
	e := &ensemble{n: 3, members: []*member{{*whole()}, {*whole()}}}
	e.members[1].n, e.members[1].inner = 5, nil
	s := StateOf(e.fields)
	fresh := func() *ensemble { return &ensemble{members: []*member{{}, {}}} }
	got := fresh()
	if err := SetState("x", s, got.fields); err != nil {
		t.Fatal(err)
	}
	for _, m := range got.members {
		m.then = 0
	}
	if !reflect.DeepEqual(got, e) || !reflect.DeepEqual(StateOf(got.fields), s) {
		t.Errorf("got %+v, want %+v", got, e)
	}
	for _, r := range []struct {
		change func(s *State)
		want   string
	}{
		{func(s *State) { delete(s.Counters, "b.n") }, `x: b.m: counter "n" is missing: `},
		{func(s *State) { s.Counters["b.more"] = 1 },
			`x: b.m: counter "more" is no part of its state: `},
		{func(s *State) { s.Counters["c.n"] = 1 }, `x: counter "c.n" is no part of its state: `},
		{func(s *State) { s.Tensor("b.w").Data = nil }, `x: b.m: tensor "w" is <nil>, `},
	} {
		s := StateOf(e.fields)
		r.change(&s)
		got := fresh()
		err := SetState("x", s, got.fields)
		if !errors.Is(err, ErrState) || !strings.HasPrefix(err.Error(), r.want) {
			t.Errorf("SetState says %v, want %s...", err, r.want)
		}
		if !reflect.DeepEqual(got, fresh()) {
			t.Errorf("%v: stored %+v", err, got)
		}
	}
}

// TestCodecTwice: a name that is used twice is a mistake of the learner's.
func TestCodecTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	x := 1.0
	StateOf(func(c *Codec) {
		c.Scalar("x", &x)
		c.Scalar("x", &x)
	})
}
