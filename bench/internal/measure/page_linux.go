package measure

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// beforeUntouched returns n zeros that end where a page begins that was never touched. They are
// outside the garbage collector's memory, for as long as the process runs.
func beforeUntouched(n int) []float32 {
	page := unix.Getpagesize()
	size := (4*n + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, size+page, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return make([]float32, n)
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&mem[size-4*n])), n)
}
