package vecmath

import (
	"math"
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
// Example e has the non-zeros ptr[e] to ptr[e+1]-1 of rows and val: those before wide[e] have rows
// of narrow, whose weights wrap in 8 bits, the others of w. There are as many of both kinds as go
// in pairs, ptr and wide being even: a value of 0 makes them so. An example has in common with
// those before what p.Ptr[e] to p.Ptr[e+1]-1 say. Its score is the sum of both: products are added
// in int32, which must not wrap where they are to be right. The examples of seen are gone through,
// in that order. Took[first+e] becomes the lanes that took example e, and these lanes of row e of
// counts, ClassLanes numbers, grow by 1. Slots of example e are below first+e.
//
// The new peak is peak or the largest magnitude of a weight in a row of w that changed. The margin
// is -32767 to 32766.
func ClassesRun(counts []int16, narrow []int8, w []int16, ptr, wide, rows []int32, val []int16,
	p *PastExamples, first int, seen []int32, lanes uint32, margin int16, peak int) (newPeak int) {
	checkPast(p)
	if len(ptr) == 0 || len(val) < len(rows) || len(wide) < len(ptr)-1 || first < 0 {
		panic(panicShort)
	}
	checkOffsets(ptr, len(rows))
	for e, mid := range wide[:len(ptr)-1] {
		if mid < ptr[e] || mid > ptr[e+1] || (ptr[e]|mid|ptr[e+1])&1 != 0 {
			panic(panicShort)
		}
		checkRows(rows[ptr[e]:mid], ClassLanes, len(narrow))
		checkRows(rows[mid:ptr[e+1]], ClassLanes, len(w))
	}
	n := min(len(ptr), len(p.Ptr), len(p.Took)-first+1, len(counts)/ClassLanes+1) - 1
	checkRows(seen, 1, n)
	return ClassesRunUnchecked(trusted.Indices{}, counts, narrow, w, ptr, wide, rows, val, p, first,
		seen, lanes, margin, peak)
}

// ClassesRunUnchecked is [ClassesRun] for offsets, rows, slots and examples that the caller has
// checked.
func ClassesRunUnchecked(_ trusted.Indices, counts []int16, narrow []int8, w []int16,
	ptr, wide, rows []int32, val []int16, p *PastExamples, first int, seen []int32, lanes uint32,
	margin int16, peak int) (newPeak int) {
	if len(seen) == 0 {
		return peak
	}
	if race {
		raceRead(ptr)
		raceRead(wide)
		raceRead(rows)
		raceRead(val)
		raceRead(seen)
		racePast(p)
		raceWrite(counts)
		for _, e := range seen {
			raceWriteRows(narrow, ClassLanes, rows[ptr[e]:wide[e]])
			raceWriteRows(w, ClassLanes, rows[wide[e]:ptr[e+1]])
			raceWrite(p.Took[first+int(e):][:1])
		}
	}
	return classesRun(data(counts), data(narrow), data(w), data(ptr), data(wide), data(rows),
		data(val), data(p.Ptr), data(p.Slots), data(p.Coef), data(p.Took), data(p.Own), first,
		data(seen), len(seen), int(lanes), int(margin), peak)
}

// PastRows makes each row rows[i] of narrow, ClassLanes lanes, what examples before have had in
// common with example i of p, which wraps in 8 bits.
func PastRows(narrow []int8, rows []int32, p *PastExamples) {
	checkPast(p)
	if len(p.Ptr) <= len(rows) {
		panic(panicShort)
	}
	checkRows(rows, ClassLanes, len(narrow))
	PastRowsUnchecked(trusted.Indices{}, narrow, rows, p)
}

// PastRowsUnchecked is [PastRows] for offsets, rows and slots that the caller has checked.
func PastRowsUnchecked(_ trusted.Indices, narrow []int8, rows []int32, p *PastExamples) {
	if len(rows) == 0 {
		return
	}
	if race {
		raceRead(rows)
		racePast(p)
		raceWriteRows(narrow, ClassLanes, rows)
	}
	pastRows(data(narrow), data(rows), len(rows), data(p.Ptr), data(p.Slots), data(p.Coef),
		data(p.Took), data(p.Own))
}

// WidenRows makes row to[i] of w row from[i] of narrow, ClassLanes lanes.
func WidenRows(w []int16, to []int32, narrow []int8, from []int32) {
	if len(to) < len(from) {
		panic(panicShort)
	}
	checkRows(to[:len(from)], ClassLanes, len(w))
	checkRows(from, ClassLanes, len(narrow))
	WidenRowsUnchecked(trusted.Indices{}, w, to, narrow, from)
}

// WidenRowsUnchecked is [WidenRows] for rows that the caller has checked.
func WidenRowsUnchecked(_ trusted.Indices, w []int16, to []int32, narrow []int8, from []int32) {
	if len(from) == 0 {
		return
	}
	if race {
		raceRead(to)
		raceRead(from)
		raceWriteRows(w, ClassLanes, to[:len(from)])
		for _, r := range from {
			raceRead(classRow(data(narrow), r)[:])
		}
	}
	widenRows(data(w), data(to), data(narrow), data(from), len(from))
}

// RowBits sets in bits[i] those of the magnitudes of row rows[i] of narrow, ClassLanes lanes, less
// 1 where a number is below 0: no magnitude is larger than bits[i]+1 then.
func RowBits(bits []uint8, narrow []int8, rows []int32) {
	checkLen(len(rows), len(bits))
	checkRows(rows, ClassLanes, len(narrow))
	const bytes, each = 8, 0x0101010101010101
	for i, r := range rows {
		var or uint64
		for k := range ClassLanes / bytes {
			v := *(*uint64)(unsafe.Add(unsafe.Pointer(classRow(data(narrow), r)), bytes*k))
			or |= v ^ v>>7&each*math.MaxUint8 // all bits of what is below 0 turn
		}
		or |= or >> 32
		or |= or >> 16
		bits[i] |= uint8(or | or>>8)
	}
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
func classesRunPlain(counts *int16, narrow *int8, w *int16, ptr, wide, rows *int32, val *int16,
	past, slots *int32, coef *int16, took, own *uint32, first int, seen *int32,
	nseen, lanes, margin, peak int) int {
	for _, example := range unsafe.Slice(seen, nseen) {
		var (
			shared [ClassLanes]int16
			s      [ClassLanes]int32
			e      = int(example)
			from   = int(*at(ptr, e))
			mid    = int(*at(wide, e)) - from
			n      = int(*at(ptr, e+1)) - from
		)
		pastSum(&shared, *at(past, e), *at(past, e+1), slots, coef, took, own)
		for l, v := range shared {
			s[l] = int32(v)
		}
		of, x := unsafe.Slice(at(rows, from), n), unsafe.Slice(at(val, from), n)
		for k, r := range of[:mid] {
			for l, v := range classRow(narrow, r) {
				s[l] += int32(v) * int32(x[k])
			}
		}
		for k, r := range of[mid:] {
			for l, v := range classRow(w, r) {
				s[l] += int32(v) * int32(x[mid+k])
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
		for k, r := range of[:mid] {
			stepRow(classRow(narrow, r), update, mine, int8(x[k]))
		}
		for k, r := range of[mid:] {
			row := classRow(w, r)
			stepRow(row, update, mine, x[mid+k])
			for _, v := range row {
				peak = max(peak, int(v), -int(v))
			}
		}
	}
	return peak
}

// stepRow adds x to the lanes of update that are mine, and takes it from the others.
func stepRow[W int8 | int16](row *[ClassLanes]W, update, mine uint32, x W) {
	for m := update &^ mine; m != 0; m &= m - 1 {
		row[bits.TrailingZeros32(m)] -= x
	}
	for m := update & mine; m != 0; m &= m - 1 {
		row[bits.TrailingZeros32(m)] += x
	}
}

// pastRowsPlain is the reference of PastRows.
func pastRowsPlain(narrow *int8, rows *int32, n int, past, slots *int32, coef *int16,
	took, own *uint32) {
	for i, r := range unsafe.Slice(rows, n) {
		var sum [ClassLanes]int16
		pastSum(&sum, *at(past, i), *at(past, i+1), slots, coef, took, own)
		row := classRow(narrow, r)
		for l, v := range sum {
			row[l] = int8(v)
		}
	}
}

// widenRowsPlain is the reference of WidenRows.
func widenRowsPlain(w *int16, to *int32, narrow *int8, from *int32, n int) {
	for i, r := range unsafe.Slice(from, n) {
		row := classRow(w, *at(to, i))
		for l, v := range classRow(narrow, r) {
			row[l] = int16(v)
		}
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
func classRow[W int8 | int16](w *W, r int32) *[ClassLanes]W {
	return (*[ClassLanes]W)(unsafe.Pointer(at(w, int(r)*ClassLanes)))
}

// at is element i behind p.
func at[E any](p *E, i int) *E {
	return (*E)(unsafe.Add(unsafe.Pointer(p), i*int(unsafe.Sizeof(*p))))
}
