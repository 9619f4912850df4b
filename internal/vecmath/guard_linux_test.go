package vecmath

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guard lays operands out against pages that fault: each ends at one (tail), or begins behind one.
type guard struct {
	mem  []byte
	page int
	slot int // bytes of a slot, its two forbidden pages not counted
	next int
	tail bool
}

const guardSlots = 20 // operands of a kernel

func newGuard(t *testing.T) *guard {
	g := &guard{page: unix.Getpagesize()}
	g.slot = (1<<16 + g.page - 1) / g.page * g.page
	mem, err := unix.Mmap(-1, 0, guardSlots*(g.slot+2*g.page), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	g.mem = mem
	for i := range guardSlots {
		at := i * (g.slot + 2*g.page)
		for _, at := range []int{at, at + g.page + g.slot} {
			if err := unix.Mprotect(mem[at:at+g.page], unix.PROT_NONE); err != nil {
				t.Fatal(err)
			}
		}
	}
	return g
}

func (g *guard) start(tail bool) { g.next, g.tail = 0, tail }

func (g *guard) place(n, size int) unsafe.Pointer {
	if n*size > g.slot || g.next == guardSlots {
		panic("the guarded slots are too small or too few")
	}
	at := g.next*(g.slot+2*g.page) + g.page
	g.next++
	if g.tail {
		at += g.slot - n*size
	}
	return unsafe.Pointer(&g.mem[at:][:1:1][0])
}
