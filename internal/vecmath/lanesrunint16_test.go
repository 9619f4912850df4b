package vecmath

import (
	"math"
	"slices"
	"testing"
)

// LanesRunInt16 gives the counts and weights of LanesRun in both precisions, as far as it goes, and
// ends behind the first example that takes a weight beyond the limit. The sums are the products
// with the sums of the rows.
func TestInt16AsFloats(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		testInt16AsFloats[float32](t)
		testInt16AsFloats[float64](t)
	})
}

func testInt16AsFloats[T Float](t *testing.T) {
	ended, large := 0, 0
	for n := range 200 {
		for mode := range valueModes {
			o := makeRunInt16(newGenerator[T](n, mode, nil), n)
			if o.peak > 1<<10 {
				large++
			}
			w, ones := make([]T, len(o.int16s)), make([]T, len(o.idx))
			for i, v := range o.int16s {
				w[i] = T(v)
			}
			for k := range ones {
				ones[k] = 1
			}
			margin, counts := int16(o.words[0]), slices.Clone(o.lanes)
			done, peak := LanesRunInt16(o.lanes, o.int32s, o.int16s, o.n, o.used,
				o.ptr, o.idx, o.z, o.mask, o.stride, margin, o.limit, o.peak)
			checkSums(t, o, slices.Clone(w), done)
			LanesRun(counts[:done], w, o.n, o.ptr, o.idx, ones, o.z, o.mask,
				o.stride, T(margin), 1)
			if !slices.Equal(o.lanes, counts) {
				t.Fatalf("size %d: counts %d, of floats %d", n, o.lanes, counts)
			}
			most := o.peak
			for i, v := range o.int16s {
				if T(v) != w[i] {
					t.Fatalf("size %d: weight %d is %d, of floats %v", n, i, v, w[i])
				}
				most = max(most, int(v), -int(v))
			}
			if done < len(o.lanes) {
				ended++
			}
			if most > peak || done < len(o.lanes) && peak <= o.limit {
				t.Fatalf("size %d: %d of %d done, peak %d, but a weight is %d, the limit %d", n,
					done, len(o.lanes), peak, most, o.limit)
			}
		}
	}
	if ended < 20 || large < 20 {
		t.Errorf("%d runs ended early, %d had large weights", ended, large)
	}
}

// LanesRunInt8 does what LanesRunInt16 does with the same weights, and needs no more than its limit
// allows: four weights of Int8Small fit a byte, and two of Int8Limit.
func TestInt8AsInt16(t *testing.T) {
	if 4*Int8Small > math.MaxInt8 || 2*Int8Limit > math.MaxInt8 {
		t.Error("sums of weights leave int8")
	}
	forEachImpl(t, func(t *testing.T, _ Impl) {
		ended := 0
		for n := range 200 {
			for mode := range valueModes {
				o := makeRunInt8(newGenerator[float32](n, mode, nil), n)
				w := make([]int16, len(o.int8s))
				for i, v := range o.int8s {
					w[i] = int16(v)
				}
				counts, sums := slices.Clone(o.lanes), slices.Clone(o.int32s)
				margin := int16(o.words[0])
				done, peak := LanesRunInt8(o.lanes, o.int32s, o.int8s, o.n, o.ptr,
					o.idx, o.z, o.mask, o.stride, margin, o.limit, o.peak)
				done16, peak16 := LanesRunInt16(counts, sums, w, o.n, o.used,
					o.ptr, o.idx, o.z, o.mask, o.stride, margin, o.limit, o.peak)
				if done != done16 || peak != peak16 || !slices.Equal(o.lanes, counts) ||
					!slices.Equal(o.int32s, sums) {
					t.Fatalf("size %d: %d done, peak %d, counts %d, sums %d; in int16 %d, %d, "+
						"%d, %d", n, done, peak, o.lanes, o.int32s, done16, peak16, counts, sums)
				}
				for i, v := range o.int8s {
					if int16(v) != w[i] {
						t.Fatalf("size %d: weight %d is %d, in int16 %d", n, i, v, w[i])
					}
				}
				if done < len(counts) {
					ended++
				}
			}
		}
		if ended < 20 {
			t.Errorf("%d runs ended early", ended)
		}
	})
}

// AllOnes sees every element.
func TestAllOnes(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) { testAllOnes(t) })
}

func testAllOnes(t *testing.T) {
	for n := range 70 {
		a, b := make([]float32, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 1, 1
		}
		if !AllOnes(a) || !AllOnes(b) {
			t.Fatalf("%d ones are not all ones", n)
		}
		for i := range n {
			a[i], b[i] = -1, 1+0x1p-52
			if AllOnes(a) || AllOnes(b) {
				t.Fatalf("element %d of %d is not seen", i, n)
			}
			a[i], b[i] = 1, 1
		}
	}
}

// checkSums compares the sums of the done examples of a run that began with the weights w, which it
// changes: the counts say how many lanes updated, and those of a row add up to its sum.
func checkSums[T Float](t *testing.T, o *operands[T], w []T, done int) {
	t.Helper()
	sums := make([]int, len(o.idx)) // of the rows
	for r := range sums {
		for _, v := range w[r*o.n:][:o.n] {
			sums[r] += int(v)
		}
	}
	for e, got := range o.int32s {
		want, of := 0, o.idx[o.ptr[e]-o.ptr[0]:o.ptr[e+1]-o.ptr[0]]
		for _, r := range of {
			want += sums[r]
		}
		for _, r := range of {
			sums[r] += int(o.z[e]) * int(o.lanes[e])
		}
		if e >= done {
			want = e - 9
		}
		if int(got) != want {
			t.Fatalf("sum of example %d of %d is %d, want %d", e, done, got, want)
		}
	}
}
