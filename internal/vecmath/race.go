//go:build race

package vecmath

import (
	"math/bits"
	"runtime"
	"unsafe"
)

// The race detector can not see into assembly, so the exported kernels tell it what they read and
// write.

const race = true

func raceRead[E any](s []E) {
	if len(s) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(data(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

func raceWrite[E any](s []E) {
	if len(s) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(data(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// raceRows and raceWriteRows: a row of width elements of w for each index, or single elements with
// width 1.
func raceRows[E any](w []E, width int, rows []int32) {
	for _, r := range rows {
		raceRead(w[int(r)*width:][:width])
	}
}

func raceWriteRows[E any](w []E, width int, rows []int32) {
	for _, r := range rows {
		raceWrite(w[int(r)*width:][:width])
	}
}

// raceWriteLanes: the listed lanes of each row.
func raceWriteLanes[E any](w []E, width int, rows, lanes []int32) {
	for _, r := range rows {
		raceWriteRows(w[int(r)*width:][:width], 1, lanes)
	}
}

func maskLanes(mask []uint64) (lanes []int32) {
	for i, word := range mask {
		for ; word != 0; word &= word - 1 {
			lanes = append(lanes, int32(i*64+bits.TrailingZeros64(word)))
		}
	}
	return lanes
}
