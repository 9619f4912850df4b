package vecmath

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// forEachImpl runs f for every implementation that this machine supports, made active; generic
// included.
func forEachImpl(t *testing.T, f func(t *testing.T, im Impl)) {
	t.Helper()
	defer func(im Impl, w string) { active, why = im, w }(active, why)
	for _, info := range Implementations() {
		if !info.Supported {
			continue
		}
		if err := Use(info.Name); err != nil {
			t.Fatal(err)
		}
		t.Run(info.Name, func(t *testing.T) { f(t, info.Impl) })
	}
}

// forEachKernel crosses the supported implementations but generic with the kernels of one
// precision.
func forEachKernel[T Float](t *testing.T, f func(t *testing.T, im Impl, k kernel[T])) {
	t.Helper()
	forEachImpl(t, func(t *testing.T, im Impl) {
		for _, k := range kernelTable[T]() {
			t.Run(fmt.Sprintf("%s[%T]", k.name, T(0)), func(t *testing.T) { f(t, im, k) })
		}
	})
}

// compare runs one kernel on operands laid out by place, and generic on a copy.
func compare[T Float](t *testing.T, im Impl, k kernel[T], g *generator[T], n int, where string) {
	t.Helper()
	got := k.make(g, n)
	want := got.clone()
	active = im
	k.run(got)
	active = Generic
	k.run(want)
	active = im
	if d := got.diff(want); d != "" {
		t.Fatalf("size %d, values %d, %s: %s", n, g.mode, where, d)
	}
}

func newGenerator[T Float](n, mode int, place func(n, size int) unsafe.Pointer) *generator[T] {
	return &generator[T]{rng: rand.New(rand.NewPCG(uint64(n), uint64(mode))), mode: mode,
		place: place}
}

// sizes are every length to 200 and those around the loops of up to 512 bytes by powers of two.
func sizes() []int {
	var s []int
	for n := range 201 {
		s = append(s, n)
	}
	for _, n := range []int{256, 320, 384, 512, 640, 784, 1024} {
		s = append(s, n-1, n, n+1, n+2)
	}
	return s
}

// Each size, with every kind of values, at one of the 16 misalignments, between sentinels; the
// misalignment is another one for each size, each kind and each operand.
func TestSameBits(t *testing.T) {
	t.Run("float32", func(t *testing.T) { forEachKernel(t, testSizes[float32]) })
	t.Run("float64", func(t *testing.T) { forEachKernel(t, testSizes[float64]) })
}

func testSizes[T Float](t *testing.T, im Impl, k kernel[T]) {
	var f fence
	for _, n := range sizes() {
		for mode := range valueModes {
			if testing.Short() && n%3 != mode%3 { // emulators are slow
				continue
			}
			f.start(n + 5*mode)
			compare(t, im, k, newGenerator[T](n, mode, f.place), n, "between sentinels")
			if !f.intact() {
				t.Fatalf("size %d, values %d: wrote outside its operands", n, mode)
			}
		}
	}
}

// Every misalignment of every operand against some sizes.
func TestMisaligned(t *testing.T) {
	t.Run("float32", func(t *testing.T) { forEachKernel(t, testMisaligned[float32]) })
	t.Run("float64", func(t *testing.T) { forEachKernel(t, testMisaligned[float64]) })
}

func testMisaligned[T Float](t *testing.T, im Impl, k kernel[T]) {
	var f fence
	for _, n := range []int{7, 16, 33, 64, 100, 123, 200} {
		for shift := range 16 {
			f.start(shift)
			compare(t, im, k, newGenerator[T](n, 3, f.place), n, fmt.Sprintf("shift %d", shift))
			if !f.intact() {
				t.Fatalf("size %d, shift %d: wrote outside its operands", n, shift)
			}
		}
	}
}

// Every operand ends at a page that faults, then begins behind one: a kernel that reads past an end
// dies here.
func TestGuardPages(t *testing.T) {
	g := newGuard(t)
	t.Run("float32", func(t *testing.T) { testGuardPages[float32](t, g) })
	t.Run("float64", func(t *testing.T) { testGuardPages[float64](t, g) })
}

func testGuardPages[T Float](t *testing.T, g *guard) {
	forEachKernel(t, func(t *testing.T, im Impl, k kernel[T]) { testGuarded(t, g, im, k) })
}

func testGuarded[T Float](t *testing.T, g *guard, im Impl, k kernel[T]) {
	for _, n := range sizes() {
		if testing.Short() && n%3 != 0 { // emulators are slow
			continue
		}
		for _, tail := range []bool{true, false} {
			g.start(tail)
			compare(t, im, k, newGenerator[T](n, 0, g.place), n, fmt.Sprintf("guarded, tail %v",
				tail))
		}
	}
}

// fence lays operands out in one buffer with 64 bytes of a pattern at least between them. Operand
// number i begins (shift + 3i) mod 16 of its elements past a multiple of 128 bytes.
type fence struct {
	buf   []uint64
	used  int // bytes
	count int
	shift int
	spans [][2]int // operands, bytes
}

const fencePattern = 0xa5

func (f *fence) start(shift int) {
	if f.buf == nil {
		f.buf = make([]uint64, 1<<16)
		for i, b := 0, f.bytes(); i < len(b); i++ {
			b[i] = fencePattern
		}
	}
	for _, s := range f.spans { // what the last round wrote
		b := f.bytes()[s[0]:s[1]]
		for i := range b {
			b[i] = fencePattern
		}
	}
	f.used, f.count, f.shift, f.spans = 0, 0, shift, f.spans[:0]
}

func (f *fence) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(f.buf))), len(f.buf)*8)
}

func (f *fence) place(n, size int) unsafe.Pointer {
	at := (f.used+64+127)/128*128 + size*((f.shift+3*f.count)%16)
	f.used = at + n*size
	f.count++
	if f.used+256 > len(f.buf)*8 {
		panic(fmt.Sprintf("fence of %d bytes is too short", len(f.buf)*8))
	}
	f.spans = append(f.spans, [2]int{at, f.used})
	return unsafe.Pointer(&f.bytes()[at])
}

// intact looks at the pattern between the operands.
func (f *fence) intact() bool {
	b, at := f.bytes(), 0
	for _, s := range append(f.spans, [2]int{f.used + 256, f.used + 256}) {
		for _, v := range b[at:s[0]] {
			if v != fencePattern {
				return false
			}
		}
		at = s[1]
	}
	return true
}
