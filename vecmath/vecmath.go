// Package vecmath has dense and sparse vector operations on float32 and float64, in AVX-512, AVX2
// (with FMA), NEON and plain Go, with the same bits on every CPU. docs/numerics.md has what is
// promised.
//
// The destination comes first, lengths are elements, slices of one call have the length of the
// first (a shorter one panics, a longer one is cut). Functions allocate nothing, keep nothing and
// are safe for concurrent use on distinct destinations.
//
// The best implementation that CPU and operating system support is chosen at start. The environment
// variable HALFSPACE_IMPL (or [Use]) forces one by name.
package vecmath

import "github.com/halfspace-ml/halfspace/internal/vecmath"

// Float is the element type of vectors.
type Float interface{ float32 | float64 }

// EnvImpl is the environment variable that forces an implementation. It is read once, as the
// program starts; see [Err].
const EnvImpl = vecmath.EnvImpl

// ErrImpl is wrapped by the errors of [Use], [Err] and [SelfTest]: the named implementation does
// not exist or does not run here.
var ErrImpl = vecmath.ErrImpl

// Info says of one implementation whether it runs here.
type Info struct {
	Name      string
	Supported bool
	// what this machine lacks: names of CPU features, or "an amd64 CPU"; empty if supported
	Missing []string
}

// Implementations lists all implementations, best first, the same names on every architecture.
func Implementations() []Info {
	var list []Info
	for _, im := range vecmath.Implementations() {
		list = append(list, Info{Name: im.Name, Supported: im.Supported, Missing: im.Missing})
	}
	return list
}

// Impl is an implementation; its String is its name.
type Impl = vecmath.Impl

// Active returns the implementation in use.
func Active() Impl { return vecmath.Active() }

// Why says in a few words how [Active] was chosen.
func Why() string { return vecmath.Why() }

// Use makes all functions use the named implementation from now on; "auto" is the best that this
// machine supports. The error wraps [ErrImpl] and leaves the choice as it was. Not safe while other
// calls run.
func Use(name string) error { return vecmath.Use(name) }

// Err returns what was wrong with [EnvImpl] when the program started: nil, or an error that wraps
// [ErrImpl]. The best implementation is active then. A program for which that is not good enough
// ends itself.
func Err() error { return vecmath.Err() }

// SelfTest compares the named implementation with plain Go, on fixed inputs of many lengths, and
// reports the first difference in bits. It takes some milliseconds. Not safe while other calls run.
func SelfTest(name string) error { return vecmath.SelfTest(name) }

// Dot returns the sum of a[i]*b[i].
func Dot[T Float](a, b []T) T { return vecmath.Dot(a, b) }

// Axpy adds a*x to y. x may be y, but must not overlap it otherwise.
func Axpy[T Float](y []T, a T, x []T) { vecmath.Axpy(y, a, x) }

// Scal multiplies x by a.
func Scal[T Float](x []T, a T) { vecmath.Scal(x, a) }

// SumSq returns the sum of x[i]*x[i]. It is not scaled: it overflows if the square of the norm
// does.
func SumSq[T Float](x []T) T { return vecmath.SumSq(x) }

// SqDist returns the sum of (a[i]-b[i]) squared.
func SqDist[T Float](a, b []T) T { return vecmath.SqDist(a, b) }

// RowsDot sets dst[r] = Dot(rows[r*stride:][:len(x)], x), to the same bits as [Dot].
func RowsDot[T Float](dst, rows []T, stride int, x []T) { vecmath.RowsDot(dst, rows, stride, x) }

// DotMixed is [Dot] of a float64 vector and one of either precision, over len(x) elements.
func DotMixed[T Float](a []float64, x []T) float64 { return vecmath.DotMixed(a, x) }

// AxpyMixed adds a*x to the float64 vector y.
func AxpyMixed[T Float](y []float64, a float64, x []T) { vecmath.AxpyMixed(y, a, x) }

// SparseDot returns the sum of val[k]*w[idx[k]]. The indices need not ascend; one outside w panics
// as a slice does.
func SparseDot[T Float](idx []int32, val []T, w []T) T {
	vecmath.CheckIndices(idx, len(w))
	return vecmath.SparseDot(idx, val, w)
}

// SparseAxpy adds a*val[k] to w[idx[k]]. The indices need not ascend; one that repeats is added to
// as often. One outside w panics as a slice does, before anything is written.
func SparseAxpy[T Float](w []T, a T, idx []int32, val []T) {
	vecmath.CheckIndices(idx, len(w))
	vecmath.SparseAxpy(w, a, idx, val)
}

// Exp sets dst[i] to e to the power of x[i], for i < len(dst), within 1.05 units in the last place.
// dst may be x, but must not overlap it otherwise.
func Exp[T Float](dst, x []T) { vecmath.Exp(dst, x) }

// SinCos sets sin[i] and cos[i] to scale times the sine and the cosine of x[i], for i < len(x),
// computed in float64 with an error below 1.5*2^-53 for scale 1, then rounded. sin or cos may be x,
// but they must not overlap otherwise. Beyond 2^30 in size, and for NaN, x counts as 2^30 with the
// sign of x.
func SinCos[T Float](sin, cos, x []T, scale float64) { vecmath.SinCos(sin, cos, x, scale) }
