package vecmath

import (
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/trusted"
)

// ClassSums goes through a run of sparse examples of whole values with ClassLanes weight vectors,
// each of another class: the sums of members' weights. Example after example, row e of f,
// ClassLanes numbers, becomes the example's product with all of them; then each lane of w gets the
// example times that lane of row first+e of steps, a row that one without non-zeros needs not have.
//
// Example e has the non-zeros ptr[e] to ptr[e+1]-1 of rows and val, and the part of p.Ptr[e] to
// p.Ptr[e+1]-1 in common with examples before, which have their numbers' rows of steps; of p it
// takes no more. All is in int32 and wraps. Slots of example e are below first+e.
func ClassSums(f, w []int32, ptr, rows []int32, val []int16, p *PastExamples, first int,
	steps []int16) {
	numbers := len(steps) / ClassLanes
	if len(ptr) == 0 || len(val) < len(rows) || first < 0 || len(p.Ptr) < len(ptr) ||
		len(p.Coef) < len(p.Slots) || len(f)/ClassLanes < len(ptr)-1 ||
		numbers-first < len(ptr)-1 && len(rows) > 0 {
		panic(panicShort)
	}
	checkRows(rows, ClassLanes, len(w))
	checkOffsets(ptr, len(rows))
	checkOffsets(p.Ptr, len(p.Slots))
	checkRows(p.Slots, 1, numbers)
	ClassSumsUnchecked(trusted.Indices{}, f, w, ptr, rows, val, p, first, steps)
}

// ClassSumsUnchecked is [ClassSums] for offsets, rows and slots that the caller has checked.
func ClassSumsUnchecked(_ trusted.Indices, f, w []int32, ptr, rows []int32, val []int16,
	p *PastExamples, first int, steps []int16) {
	n := len(ptr) - 1
	if n <= 0 {
		return
	}
	if race {
		raceRead(ptr)
		raceRead(rows)
		raceRead(val)
		raceRead(p.Ptr)
		raceRead(p.Slots)
		raceRead(p.Coef)
		raceRead(steps[:min(len(steps), (first+n)*ClassLanes)])
		raceWriteRows(w, ClassLanes, rows)
		raceWrite(f[:n*ClassLanes])
	}
	classSums(data(f), data(w), data(ptr), n, data(rows), data(val), data(p.Ptr), data(p.Slots),
		data(p.Coef), first, data(steps))
}

// classSumsPlain is the reference of ClassSums.
func classSumsPlain(f, w *int32, ptr *int32, n int, rows *int32, val *int16, past, slots *int32,
	coef *int16, first int, steps *int16) {
	for e := range n {
		var s [ClassLanes]int32
		for k := int(*at(past, e)); k < int(*at(past, e+1)); k++ {
			c := int32(*at(coef, k))
			for l, step := range classRow(steps, *at(slots, k)) {
				s[l] += c * int32(step)
			}
		}
		from := int(*at(ptr, e))
		to := int(*at(ptr, e+1)) - from
		of, x := unsafe.Slice(at(rows, from), to), unsafe.Slice(at(val, from), to)
		for k, r := range of {
			for l, v := range sumsRow(w, r) {
				s[l] += v * int32(x[k])
			}
		}
		*sumsRow(f, int32(e)) = s
		if to == 0 {
			continue
		}
		step := classRow(steps, int32(first+e))
		for k, r := range of {
			row := sumsRow(w, r)
			for l := range row {
				row[l] += int32(step[l]) * int32(x[k])
			}
		}
	}
}

// sumsRow is row r of sums.
func sumsRow(w *int32, r int32) *[ClassLanes]int32 {
	return (*[ClassLanes]int32)(unsafe.Pointer(at(w, int(r)*ClassLanes)))
}
