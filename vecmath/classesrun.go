package vecmath

import (
	"math/bits"
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/trusted"
)

// ClassLanes is the number of lanes of [ClassesRun]: the classes of a row.
const ClassLanes = 32

// PastExamples says what examples have in common with those before them. Example e has c = Coef[k]
// in common with the example of number Slots[k], for Ptr[e] <= k < Ptr[e+1].
//
// Bit l of Took[s] says that lane l took example s, and of Own[s] that it took it as one of its
// class: what a lane has of example s is c where it took that as its own, -c where it took it as
// one of the rest, and else 0. Sums of that are in int16 and wrap.
type PastExamples struct {
	Ptr, Slots []int32
	Coef       []int16
	Took, Own  []uint32
}

// ClassesRun lets ClassLanes member lanes, each of another class, go through a run of sparse
// examples of whole values by the rule of a fixed margin and a step of 1, as [LanesRunInt16] does:
// example after example, the lanes whose score s has y*s <= margin add y times the example. The
// label y is +1 in the lanes of Own[first+e] and -1 in the others. Only those of lanes take part.
//
// Example e has the non-zeros ptr[e] to ptr[e+1]-1 of rows and val, and the part of p.Ptr[e] to
// p.Ptr[e+1]-1 in common with examples before. Its score is the sum of both: products are added in
// int32, which must not wrap where they are to be right. The examples of seen are gone through, in
// that order. Took[first+e] becomes the lanes that took example e, and these lanes of row e of
// counts, ClassLanes numbers, grow by 1. Slots of example e are below first+e.
//
// The new peak is peak or the largest magnitude of a weight in a row that changed. The margin is
// -32767 to 32766.
func ClassesRun(counts, w []int16, ptr, rows []int32, val []int16, p *PastExamples, first int,
	seen []int32, lanes uint32, margin int16, peak int) (newPeak int) {
	checkPast(p)
	if len(ptr) == 0 || len(val) < len(rows) || first < 0 {
		panic(panicShort)
	}
	checkRows(rows, ClassLanes, len(w))
	checkOffsets(ptr, len(rows))
	n := min(len(ptr), len(p.Ptr), len(p.Took)-first+1, len(counts)/ClassLanes+1) - 1
	checkRows(seen, 1, n)
	return ClassesRunUnchecked(trusted.Indices{}, counts, w, ptr, rows, val, p, first, seen, lanes,
		margin, peak)
}

// ClassesRunUnchecked is [ClassesRun] for offsets, rows, slots and examples that the caller has
// checked.
func ClassesRunUnchecked(_ trusted.Indices, counts, w []int16, ptr, rows []int32, val []int16,
	p *PastExamples, first int, seen []int32, lanes uint32, margin int16, peak int) (newPeak int) {
	if len(seen) == 0 {
		return peak
	}
	if race {
		raceRead(ptr)
		raceRead(rows)
		raceRead(val)
		raceRead(seen)
		racePast(p)
		raceWriteRows(w, ClassLanes, rows)
		raceWrite(counts)
		for _, e := range seen {
			raceWrite(p.Took[first+int(e):][:1])
		}
	}
	return classesRun(data(counts), data(w), data(ptr), data(rows), data(val), data(p.Ptr),
		data(p.Slots), data(p.Coef), data(p.Took), data(p.Own), first, data(seen), len(seen),
		int(lanes), int(margin), peak)
}

// PastRows makes each row rows[i] of w, ClassLanes lanes, what examples before have had in common
// with example i of p.
func PastRows(w []int16, rows []int32, p *PastExamples) {
	checkPast(p)
	if len(p.Ptr) <= len(rows) {
		panic(panicShort)
	}
	checkRows(rows, ClassLanes, len(w))
	PastRowsUnchecked(trusted.Indices{}, w, rows, p)
}

// PastRowsUnchecked is [PastRows] for offsets, rows and slots that the caller has checked.
func PastRowsUnchecked(_ trusted.Indices, w []int16, rows []int32, p *PastExamples) {
	if len(rows) == 0 {
		return
	}
	if race {
		raceRead(rows)
		racePast(p)
		raceWriteRows(w, ClassLanes, rows)
	}
	pastRows(data(w), data(rows), len(rows), data(p.Ptr), data(p.Slots), data(p.Coef), data(p.Took),
		data(p.Own))
}

func racePast(p *PastExamples) {
	raceRead(p.Ptr)
	raceRead(p.Slots)
	raceRead(p.Coef)
	raceRead(p.Own)
}

// checkPast checks the operands of what examples have in common with others.
func checkPast(p *PastExamples) {
	if len(p.Ptr) == 0 || len(p.Coef) < len(p.Slots) {
		panic(panicShort)
	}
	checkOffsets(p.Ptr, len(p.Slots))
	checkRows(p.Slots, 1, min(len(p.Took), len(p.Own)))
}

// checkOffsets checks that offsets ascend, from 0 to n at most.
func checkOffsets(ptr []int32, n int) {
	from := int32(0)
	for _, to := range ptr {
		if to < from {
			panic(panicShort)
		}
		from = to
	}
	if int(from) > n {
		panic(panicShort)
	}
}

// classesRunPlain is the reference of ClassesRun.
func classesRunPlain(counts, w *int16, ptr, rows *int32, val *int16, past, slots *int32,
	coef *int16, took, own *uint32, first int, seen *int32, nseen, lanes, margin, peak int) int {
	for _, example := range unsafe.Slice(seen, nseen) {
		var (
			shared [ClassLanes]int16
			s      [ClassLanes]int32
			e      = int(example)
			from   = int(*at(ptr, e))
			n      = int(*at(ptr, e+1)) - from
		)
		pastSum(&shared, *at(past, e), *at(past, e+1), slots, coef, took, own)
		for l, v := range shared {
			s[l] = int32(v)
		}
		of, x := unsafe.Slice(at(rows, from), n), unsafe.Slice(at(val, from), n)
		for k, r := range of {
			for l, v := range classRow(w, r) {
				s[l] += int32(v) * int32(x[k])
			}
		}
		mine, update := *at(own, first+e), uint32(0)
		for l, v := range s {
			y := int64(-1)
			if mine>>l&1 != 0 {
				y = 1
			}
			if y*int64(v) <= int64(margin) { // line 3 of Algorithm 1
				update |= 1 << l
			}
		}
		update &= uint32(lanes)
		*at(took, first+e) = update
		if update == 0 {
			continue
		}
		count := classRow(counts, example)
		for m := update; m != 0; m &= m - 1 {
			count[bits.TrailingZeros32(m)]++
		}
		for k, r := range of {
			row := classRow(w, r)
			for m := update &^ mine; m != 0; m &= m - 1 {
				row[bits.TrailingZeros32(m)] -= x[k]
			}
			for m := update & mine; m != 0; m &= m - 1 {
				row[bits.TrailingZeros32(m)] += x[k]
			}
			for _, v := range row {
				peak = max(peak, int(v), -int(v))
			}
		}
	}
	return peak
}

// pastRowsPlain is the reference of PastRows.
func pastRowsPlain(w *int16, rows *int32, n int, past, slots *int32, coef *int16,
	took, own *uint32) {
	for i, r := range unsafe.Slice(rows, n) {
		row := classRow(w, r)
		*row = [ClassLanes]int16{}
		pastSum(row, *at(past, i), *at(past, i+1), slots, coef, took, own)
	}
}

// pastSum adds to dst what examples before have in common with one.
func pastSum(dst *[ClassLanes]int16, from, to int32, slots *int32, coef *int16, took, own *uint32) {
	for k := int(from); k < int(to); k++ {
		s, c := int(*at(slots, k)), *at(coef, k)
		u, mine := *at(took, s), *at(own, s)
		for m := u &^ mine; m != 0; m &= m - 1 {
			dst[bits.TrailingZeros32(m)] -= c
		}
		for m := u & mine; m != 0; m &= m - 1 {
			dst[bits.TrailingZeros32(m)] += c
		}
	}
}

// classRow is row r.
func classRow(w *int16, r int32) *[ClassLanes]int16 {
	return (*[ClassLanes]int16)(unsafe.Pointer(at(w, int(r)*ClassLanes)))
}

// at is element i behind p.
func at[E any](p *E, i int) *E {
	return (*E)(unsafe.Add(unsafe.Pointer(p), i*int(unsafe.Sizeof(*p))))
}
