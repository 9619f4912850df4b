package dataset

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// Sum returns a fingerprint of the rows that were returned, in their order: of labels, weights and
// values as they were prepared, but not scaled by what was seen of them. The last back rows, of the
// block that Next returned last and at most all of it, are left out. Without Options.Sums it is
// always the same. Texts that are read as the same rows have the same sum, however they are packed,
// named or divided into files. A sum has 53 bits, which JSON's numbers hold, and is no protection
// against somebody who wants to deceive. Cost: a worker's look at each value.
func (s *Stream[T]) Sum(back int) uint64 { return s.summed(back) >> 11 }

// summed is Sum in all its bits.
func (s *Stream[T]) summed(back int) uint64 {
	h := s.sum
	if s.cur == nil || s.cur.sums == nil {
		return h
	}
	lo := s.pos - s.view.Len()
	hi := max(lo, s.pos-back)
	sums, codes := s.cur.sums[lo:hi], s.cur.Code[lo:hi]
	for i, sum := range sums {
		h = mixed(h ^ sum + uint64(codes[i])*0x9e3779b97f4a7c15)
	}
	return h
}

// settle adds the rows of the last view to the sum.
func (s *Stream[T]) settle() {
	s.sum = s.summed(0)
	s.view = s.view.Slice(0, 0)
}

// mixed spreads each bit over all of them.
func mixed(x uint64) uint64 {
	x *= 0xff51afd7ed558ccd
	x ^= x >> 32
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>29
}

// append adds rows whose labels and bad rows have been settled.
func (r *rows[T]) append(more *rows[T]) {
	r.Append(&more.Rows)
	if more.sums != nil {
		r.sums = append(r.sums, more.sums[:more.N]...)
	}
}

// sum finds the sums of the rows' values. Those of a row are added up, so that none waits for the
// one before it; the feature's number is in each.
func (r *rows[T]) sum() {
	r.sums = slices.Grow(r.sums[:0], r.N)[:r.N]
	for i := range r.sums {
		idx, val := r.Example(i)
		h := uint64(len(val))
		if idx == nil {
			for j, v := range val {
				h += summand(uint64(j), float64(v))
			}
		} else {
			for k, j := range idx[:len(val)] {
				h += summand(uint64(j), float64(val[k]))
			}
		}
		if i < len(r.W) && r.W[i] != 1 {
			h += summand(^uint64(0), float64(r.W[i]))
		}
		if r.HasIDs() {
			id, _ := r.RowID(i)
			h += summand(1<<63, float64(format.HashName(nil, id)))
		}
		r.sums[i] = h
	}
}

// summand is what feature j of value v adds to its row's sum.
func summand(j uint64, v float64) uint64 {
	x := (math.Float64bits(v) ^ j*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	return x ^ x>>32
}
