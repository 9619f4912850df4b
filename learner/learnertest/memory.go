package learnertest

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// extentOf returns what is to be known of b, presented so many times.
func extentOf[T learner.Float](b *engine.Block[T], times int) learner.Extent {
	n := int64(b.Len() * times)
	x := learner.Extent{Features: int64(b.Dim), Examples: n, Elem: int64(unsafe.Sizeof(T(0))),
		Dense: b.Dense(), Saved: true}
	if x.Longest = x.Features; b.Dense() {
		x.NonZeros = n * x.Features
		return x
	}
	x.NonZeros, x.Longest = int64(b.Ptr[b.Len()]-b.Ptr[0])*int64(times), 0
	for i := range b.Len() {
		x.Longest = max(x.Longest, int64(b.Ptr[i+1]-b.Ptr[i]))
	}
	return x
}

// within: what l holds is no more than its settings say, and what they say is of that order. They
// don't know how many examples are kept, and how many are learned at a time.
func (s *suite[T]) within(t *testing.T, what string, l learner.Learner[T], x learner.Extent) {
	t.Helper()
	f := s.config.Traits().Memory(x)
	held := f.Held()
	if l.Bytes() > held {
		t.Errorf("%s: %d bytes are held, Memory says %d of %+v: %+v", what, l.Bytes(), held, x,
			f.Parts)
	}
	if !x.Whole && held > 16*l.Bytes()+2<<20 {
		t.Errorf("%s: %d bytes are held, Memory says %d of %+v: %+v", what, l.Bytes(), held, x,
			f.Parts)
	}
	copies := int64(8 * len(l.Weights()))
	var state int64
	for _, c := range l.State().Tensors {
		v := reflect.ValueOf(c.Data)
		state += int64(v.Cap()) * int64(v.Type().Elem().Size())
	}
	if copies = max(copies, state); copies > f.Copies*9/8+4096 { // a clone's room is rounded up
		t.Errorf("%s: a State or Weights take %d bytes, Memory says %d of %+v", what, copies,
			f.Copies, x)
	}
}

// memory: Traits.Memory predicts the memory that a learner comes to use, of examples that are all
// there from the first block and of features that keep coming.
func (s *suite[T]) memory(t *testing.T, b *engine.Block[T]) {
	s.within(t, "new", s.fresh(t, nil), extentOf(&engine.Block[T]{Ptr: b.Ptr[:min(1, len(b.Ptr))]},
		1))
	s.within(t, "all features at once", s.trained(t, b), extentOf(b, 2))
	one := b.Slice(0, 1)
	l := s.fresh(t, nil)
	learn(t, l, &one, 1)
	s.within(t, "one example", l, extentOf(&one, 1))
	if b.Dense() {
		return
	}
	l = s.fresh(t, nil)
	x := extentOf(b, 2)
	for range 2 {
		dim := 0
		for i := range b.Len() {
			one := b.Slice(i, i+1)
			if idx, _ := one.Sparse(0); len(idx) > 0 {
				dim = max(dim, int(idx[len(idx)-1])+1)
			}
			one.Dim = dim
			learn(t, l, &one, 1)
		}
	}
	x.Growing = true
	s.within(t, "features that keep coming", l, x)
}

// batchMemory is memory of a learner that needs whole data sets.
func (s *suite[T]) batchMemory(t *testing.T, b *engine.Block[T]) {
	x := extentOf(b, 1)
	x.Whole = true
	s.within(t, "fitted", s.fitted(t, nil, b), x)
}
