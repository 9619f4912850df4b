package learner

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// MaxCount is the most that a counter of a State may be: so far below the ends of uint64 and int64
// that neither learning on nor the sum of several reaches them, and far above what can be counted.
const MaxCount = 1 << 60

// Element is what a [Tensor] may hold.
type Element interface {
	float32 | float64 | int64 | uint64 | int32 | uint8
}

// Codec walks the parts of a learner's state by name. A learner has one method that names them all,
// in the order of their tensors, and [StateOf], [SetState] and [CheckState] go through it:
//
//   - StateOf writes: each part is copied into a State, and nothing of the learner changes.
//   - CheckState reads without keeping: each part must be there, and be of the type and shape that
//     is asked for; no parts may be left over. What is read is not copied.
//   - SetState reads, and if all fits, stores copies into the learner, part by part in the order
//     of the walk, with what [Codec.Then] was given in between. If anything does not fit, the
//     learner is as it was.
//
// Each part is handed over by a pointer to where the learner has it, and returned as it will be: in
// writing what the pointer has, in reading what the State has, which is not stored yet. So what
// parts must be together is asked of the values returned ([Codec.Want]), and what follows from them
// is made in a Then. With a nil pointer a part is only checked.
//
// The first thing that does not fit ends a walk's reading: what is asked for later is 0 and empty,
// and the error, led by the learner's name and wrapping [ErrState], is returned in the end. A name
// that is used twice in a walk panics.
type Codec struct {
	learner string
	from    *State         // what is read; nil in writing
	to      State          // what is written
	keep    bool           // what is read shall be stored
	prefix  string         // of names
	named   map[part]bool  // so far
	names   []part         // of from, sorted by name: made when the first one is looked up
	place   map[string]int // of from's tensors
	store   []func()
	err     error
}

// part identifies a tensor, counter or scalar: each kind has names of its own.
type part struct{ kind, name string }

// StateOf returns the State that fields walks through.
func StateOf(fields func(*Codec)) State {
	c := &Codec{to: State{Counters: map[string]uint64{}}}
	fields(c)
	return c.to
}

// SetState stores s where fields says, in a learner of that name, or returns what does not fit (an
// error that wraps [ErrState]) and stores nothing.
func SetState(name string, s State, fields func(*Codec)) error {
	c := &Codec{learner: name, from: &s, keep: true}
	if err := c.walk(fields); err != nil {
		return err
	}
	for _, store := range c.store {
		store()
	}
	return c.err
}

// CheckState returns the error that [SetState] would return. Cost: fields, and no copy of s.
func CheckState(name string, s State, fields func(*Codec)) error {
	c := &Codec{learner: name, from: &s}
	return c.walk(fields)
}

// walk reads, and refuses parts that fields has not named.
func (c *Codec) walk(fields func(*Codec)) error {
	fields(c)
	seen := map[part]bool{}
	for _, p := range c.from.parts() {
		if c.err != nil {
			break
		}
		c.Want(c.named[p], "%s %q is no part of its state", p.kind, p.name)
		c.Want(!seen[p], "%s %q comes twice", p.kind, p.name)
		seen[p] = true
	}
	return c.err
}

// parts returns what s consists of, in an order that does not depend on chance.
func (s *State) parts() (names []part) {
	for _, t := range s.Tensors {
		names = append(names, part{"tensor", t.Name})
	}
	for _, k := range slices.Sorted(maps.Keys(s.Counters)) {
		names = append(names, part{"counter", k})
	}
	for _, k := range slices.Sorted(maps.Keys(s.Scalars)) {
		names = append(names, part{"scalar", k})
	}
	return names
}

// index prepares look-ups by name. A model of many classes has a State of many parts, so that
// looking through all of them for each would take time that grows with the square.
func (c *Codec) index() {
	if c.place != nil {
		return
	}
	c.names, c.place = c.from.parts(), make(map[string]int, len(c.from.Tensors))
	for i := len(c.from.Tensors) - 1; i >= 0; i-- { // of equal names, the first
		c.place[c.from.Tensors[i].Name] = i
	}
	slices.SortFunc(c.names, func(a, b part) int { return strings.Compare(a.name, b.name) })
}

// tensor returns the tensor of that name, nil if there is none.
func (c *Codec) tensor(name string) *Tensor {
	c.index()
	if i, ok := c.place[name]; ok {
		return &c.from.Tensors[i]
	}
	return nil
}

// name notes that a part is asked for and returns its name.
func (c *Codec) name(kind, name string) string {
	p := part{kind, c.prefix + name}
	if c.named[p] {
		panic(fmt.Sprintf("learner: a state has two parts %s %q", kind, p.name))
	}
	if c.named == nil {
		c.named = map[part]bool{}
	}
	c.named[p] = true
	return p.name
}

// Want ends a walk in reading if ok is false, with an error that says learner, format and
// [ErrState]; format may wrap another error by %w. It reports whether all has fitted so far, and is
// true in writing: a learner can always say what it holds.
func (c *Codec) Want(ok bool, format string, args ...any) bool {
	if !ok && c.Reading() {
		c.err = fmt.Errorf("%s: %w: %w", c.learner, fmt.Errorf(format, args...), ErrState)
	}
	return c.err == nil
}

// Writing reports whether the State is being made: parts that the learner does not hold as its
// State has them are to be worked out.
func (c *Codec) Writing() bool { return c.from == nil }

// Reading reports whether a State is being read and has fitted so far: what more it must satisfy is
// to be checked.
func (c *Codec) Reading() bool { return c.from != nil && c.err == nil }

// Keeping reports whether a State is being read, has fitted so far, and is to be stored: what takes
// room or can fail is to be made now, and put in its place by Then.
func (c *Codec) Keeping() bool { return c.keep && c.err == nil }

// Then has do called once all parts have been found to fit, if they are to be stored: after the
// parts before this call have been, and before those behind it.
func (c *Codec) Then(do func()) {
	if c.Keeping() {
		c.store = append(c.store, do)
	}
}

// In walks parts whose names begin with prefix.
func (c *Codec) In(prefix string, fields func(*Codec)) {
	before := c.prefix
	c.prefix += prefix
	fields(c)
	c.prefix = before
}

// PerFeature wants n, of what there is one for each feature, to be as many as State.Features says
// that there are, or none. All that a State has for each feature goes through it, or through
// WithinFeatures.
func (c *Codec) PerFeature(what string, n int) {
	if c.Reading() && c.from.Features > 0 {
		c.Want(n == 0 || n == c.from.Features, "%s has %d features, want %d", what, n,
			c.from.Features)
	}
}

// WithinFeatures wants n, one more than the largest index of a feature, to be at most as many as
// State.Features says that there are.
func (c *Codec) WithinFeatures(what string, n int) {
	if c.Reading() && c.from.Features > 0 {
		c.Want(n <= c.from.Features, "%s has %d features, want at most %d", what, n,
			c.from.Features)
	}
}

// Optional reports whether a part, which a State may lack, is there: in writing that is what have
// says.
func (c *Codec) Optional(name string, have bool) bool {
	if c.from == nil {
		return have
	}
	name = c.prefix + name
	_, counter := c.from.Counters[name]
	_, scalar := c.from.Scalars[name]
	return c.err == nil && (counter || scalar || c.tensor(name) != nil)
}

// Count is a counter: in reading at most [MaxCount], and 2^31-1 where I can't hold that.
func Count[I int | int64 | uint64](c *Codec, name string, v *I) I {
	name = c.name("counter", name)
	if c.from == nil {
		c.to.Counters[name] = uint64(*v)
		return *v
	}
	n, ok := c.from.Counters[name]
	c.Want(ok, "counter %q is missing", name)
	most := uint64(MaxCount)
	if uint64(I(most)) != most {
		most = math.MaxInt32
	}
	if !c.Want(n <= most, "counter %q is %d, want at most %d", name, n, most) {
		return 0
	}
	return stored(c, v, I(n))
}

// Scalar is a number that is neither NaN nor infinite.
func (c *Codec) Scalar(name string, v *float64) float64 {
	name = c.name("scalar", name)
	if c.from == nil {
		if c.to.Scalars == nil {
			c.to.Scalars = map[string]float64{}
		}
		c.to.Scalars[name] = *v
		return *v
	}
	x, ok := c.from.Scalars[name]
	c.Want(ok, "scalar %q is missing", name)
	if !c.Want(x-x == 0, "scalar %q is %v, want a finite number", name, x) {
		return 0
	}
	return stored(c, v, x)
}

// stored has v stored at the place, if there is one, and returns it.
func stored[V any](c *Codec, place *V, v V) V {
	if place != nil {
		c.Then(func() { *place = v })
	}
	return v
}

// Vector is a tensor of one dimension and any length up to 2^31-1. Learner and State each have
// their own copy; what is returned in reading is the State's, and must be neither changed nor
// kept.
func Vector[E Element](c *Codec, name string, v *[]E) []E {
	if c.from == nil {
		return c.write(name, slices.Clone(*v), len(*v)).([]E)
	}
	return keptCopy(c, v, View[E](c, name, nil))
}

// Matrix is Vector of rows*cols elements, row by row, whose tensor has the shape [rows, cols].
func Matrix[E Element](c *Codec, name string, rows, cols int, v *[]E) []E {
	if c.from == nil {
		return c.write(name, slices.Clone(*v), rows, cols).([]E)
	}
	return keptCopy(c, v, View[E](c, name, nil, rows, cols))
}

// keptCopy has a copy of v stored at the place, if there is one, and returns v.
func keptCopy[E Element](c *Codec, place *[]E, v []E) []E {
	if place != nil {
		c.Then(func() { *place = slices.Clone(v) })
	}
	return v
}

// View is a tensor that the learner holds in another form: in writing the State takes v itself,
// which is not the learner's any longer; in reading what the State has is returned, and must be
// neither changed nor kept. Its shape is that which is given, or one dimension of any length. Like
// Vector and Matrix it refuses NaN and infinities in reading: a learner that has them has diverged,
// and what it computes from them is worth nothing.
func View[E Element](c *Codec, name string, v []E, shape ...int) []E {
	if c.from == nil {
		if len(shape) == 0 {
			shape = []int{len(v)}
		}
		return c.write(name, v, shape...).([]E)
	}
	name = c.name("tensor", name)
	t := c.tensor(name)
	if !c.Want(t != nil, "tensor %q is missing", name) {
		return nil
	}
	data, ok := t.Data.([]E)
	if !c.Want(ok, "tensor %q is %T, want %T", name, t.Data, data) {
		return nil
	}
	if len(shape) == 0 {
		shape = []int{len(data)}
	}
	elements := int64(1)
	for _, n := range shape {
		elements *= int64(n)
	}
	fits := slices.Equal(t.Shape, shape) && int64(len(data)) == elements
	if !c.Want(fits && (len(shape) > 1 || elements <= math.MaxInt32),
		"tensor %q has shape %v and %d elements, want shape %v", name, t.Shape, len(data), shape) {
		return nil
	}
	switch d := t.Data.(type) {
	case []float32:
		finite(c, name, d)
	case []float64:
		finite(c, name, d)
	}
	if c.err != nil {
		return nil
	}
	return data
}

// write adds a tensor and returns its data.
func (c *Codec) write(name string, data any, shape ...int) any {
	c.to.Tensors = append(c.to.Tensors, Tensor{c.name("tensor", name), shape, data})
	return data
}

// finite wants the tensor of that name to be neither NaN nor infinite, all of it.
func finite[E float32 | float64](c *Codec, name string, v []E) {
	if at := slices.IndexFunc(v, func(x E) bool { return x-x != 0 }); at >= 0 {
		c.Want(false, "tensor %q has %v at %d, want finite numbers", name, v[at], at)
	}
}

// Part is a State within the State, whose names begin with prefix there, or nil if there is none.
// In reading, fields checks it, by the names within and with nil pointers: all that is there must
// be asked for, and all of it is stored at s.
func (c *Codec) Part(prefix string, s **State, fields func(*Codec)) *State {
	if c.from == nil {
		if *s != nil {
			c.In(prefix, func(c *Codec) { c.attach(*s) })
		}
		return *s
	}
	inner := c.within(c.prefix + prefix)
	if inner != nil {
		c.In(prefix, fields)
	}
	if c.err != nil {
		return nil
	}
	c.Then(func() {
		if *s = inner; inner != nil {
			for i := range inner.Tensors {
				t := &inner.Tensors[i]
				t.Shape, t.Data = slices.Clone(t.Shape), clonedData(t.Data)
			}
		}
	})
	return inner
}

// stateful has a State, as learners do.
type stateful interface {
	State() State
	SetState(State) error
	CheckState(State) error
}

// Inners are the States of other learners, or of what has one as they do, within the State: the
// names in that of of[m] begin with prefix(m) here, which has a dot at its end and nowhere else.
// All of them are checked before any is stored. A learner that then refuses what its CheckState
// took makes SetState return that error.
func Inners[S stateful](c *Codec, prefix func(m int) string, of []S) {
	if c.from == nil {
		for m, l := range of {
			s := l.State()
			c.In(prefix(m), func(c *Codec) { c.attach(&s) })
		}
		return
	}
	inner := c.from.split(c.prefix)
	for m, l := range of {
		name := prefix(m)
		s := inner[name]
		if s == nil {
			s = &State{}
		}
		s.Features = c.from.Features
		for _, p := range s.parts() {
			c.In(name, func(c *Codec) { c.name(p.kind, p.name) })
		}
		if err := l.CheckState(*s); !c.Want(err == nil, "%s%w", name, err) {
			return
		}
		c.Then(func() {
			if err := l.SetState(*s); err != nil && c.err == nil {
				c.err = fmt.Errorf("%s: %s%w", c.learner, name, err)
			}
		})
	}
}

// split returns the parts of s whose names begin with prefix and another word up to a dot: a State
// for each such word, dot included, with what is behind it as names. The data are shared.
func (s *State) split(prefix string) map[string]*State {
	parts := map[string]*State{}
	// of returns whose part is called that, and its name there.
	of := func(name string) (*State, string) {
		name, within := strings.CutPrefix(name, prefix)
		word, rest, dot := strings.Cut(name, ".")
		if !within || !dot {
			return &State{Counters: map[string]uint64{}, Scalars: map[string]float64{}}, name
		}
		p := parts[word+"."]
		if p == nil {
			p = &State{Counters: map[string]uint64{}, Scalars: map[string]float64{}}
			parts[word+"."] = p
		}
		return p, rest
	}
	for k, n := range s.Counters {
		p, name := of(k)
		p.Counters[name] = n
	}
	for k, x := range s.Scalars {
		p, name := of(k)
		p.Scalars[name] = x
	}
	for _, t := range s.Tensors {
		p, name := of(t.Name)
		p.Tensors = append(p.Tensors, Tensor{name, t.Shape, t.Data})
	}
	return parts
}

// attach writes all of s.
func (c *Codec) attach(s *State) {
	for _, p := range s.parts() {
		switch p.kind {
		case "counter":
			n := s.Counters[p.name]
			Count(c, p.name, &n)
		case "scalar":
			x := s.Scalars[p.name]
			c.Scalar(p.name, &x)
		default:
			t := s.Tensor(p.name)
			c.write(p.name, clonedData(t.Data), slices.Clone(t.Shape)...)
		}
	}
}

// within returns the parts of what is read whose names begin with prefix, without it; their data
// are shared. It is nil if there are none.
func (c *Codec) within(prefix string) *State {
	c.index()
	s := &State{Counters: map[string]uint64{}, Scalars: map[string]float64{}}
	var tensors []int // in the order of from
	i, _ := slices.BinarySearchFunc(c.names, prefix, func(p part, prefix string) int {
		return strings.Compare(p.name, prefix)
	})
	for ; i < len(c.names) && strings.HasPrefix(c.names[i].name, prefix); i++ {
		name := c.names[i].name
		switch c.names[i].kind {
		case "tensor":
			tensors = append(tensors, c.place[name])
		case "counter":
			s.Counters[name[len(prefix):]] = c.from.Counters[name]
		case "scalar":
			s.Scalars[name[len(prefix):]] = c.from.Scalars[name]
		}
	}
	slices.Sort(tensors)
	for _, i := range tensors {
		t := c.from.Tensors[i]
		s.Tensors = append(s.Tensors, Tensor{t.Name[len(prefix):], t.Shape, t.Data})
	}
	if len(s.Counters)+len(s.Scalars)+len(s.Tensors) == 0 {
		return nil
	}
	s.Features = c.from.Features
	return s
}

// clonedData returns a copy of a Tensor's data.
func clonedData(data any) any {
	switch d := data.(type) {
	case []float32:
		return slices.Clone(d)
	case []float64:
		return slices.Clone(d)
	case []int64:
		return slices.Clone(d)
	case []uint64:
		return slices.Clone(d)
	case []int32:
		return slices.Clone(d)
	case []uint8:
		return slices.Clone(d)
	}
	return data
}
