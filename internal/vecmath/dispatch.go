package vecmath

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"
)

//go:generate go run ./dispatchgen

// Impl is an implementation of the kernels.
type Impl uint8

// The implementations. All give the same bits.
const (
	Generic Impl = iota // plain Go, everywhere
	NEON                // arm64 Advanced SIMD, 128-bit
	AVX2                // amd64 AVX2 with FMA3 and BMI2, 256-bit
	AVX512              // amd64 AVX-512 F, VL, DQ and BW with FMA3 and BMI2, 512-bit
)

// bestFirst is the order in which implementations are listed and tried.
var bestFirst = [...]Impl{AVX512, AVX2, NEON, Generic}

// String returns the name that [Use] and HALFSPACE_IMPL take.
func (im Impl) String() string {
	switch im {
	case Generic:
		return "generic"
	case NEON:
		return "neon"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("Impl(%d)", uint8(im))
}

// Info says of one implementation whether it runs here.
type Info struct {
	Impl      Impl
	Name      string
	Supported bool
	// what this machine lacks: names of CPU features, or "an amd64 CPU"; empty if supported
	Missing []string
}

// ErrImpl is wrapped by the errors of [Use] and [SelfTest]: the named implementation does not exist
// or does not run here.
var ErrImpl = errors.New("implementation not available")

// EnvImpl is the environment variable that forces an implementation. It is read once, as the
// program starts; see [Err].
const EnvImpl = "HALFSPACE_IMPL"

var (
	active = best()
	why    = "best of " + supportedNames()
	envErr error
)

func init() {
	name := os.Getenv(EnvImpl)
	if name == "" {
		return
	}
	if err := Use(name); err != nil {
		envErr = &environmentError{name}
		return
	}
	if name != "auto" {
		why = "forced by " + EnvImpl
	}
}

// Err returns what was wrong with [EnvImpl] when the program started: nil, or an error that wraps
// [ErrImpl]. The best implementation is active then. A program for which that is not good enough
// ends itself.
func Err() error { return envErr }

// environmentError is what Err returns for a value of EnvImpl.
type environmentError struct{ name string }

func (e *environmentError) Error() string { return EnvImpl + "=" + e.name + ": " + explain(e.name) }
func (e *environmentError) Unwrap() error { return ErrImpl }

// Implementations lists all implementations, best first, the same names on every architecture.
func Implementations() []Info {
	list := make([]Info, len(bestFirst))
	for i, im := range bestFirst {
		lacks := missing(im)
		list[i] = Info{Impl: im, Name: im.String(), Supported: len(lacks) == 0, Missing: lacks}
	}
	return list
}

// Active returns the implementation that the kernels use.
func Active() Impl { return active }

// Why says in a few words how [Active] was chosen.
func Why() string { return why }

// Use makes all kernels use the named implementation from now on; "auto" is the best that this
// machine supports. The error wraps [ErrImpl] and leaves the choice as it was. Not safe while
// kernels run.
func Use(name string) error {
	if name == "auto" {
		active, why = best(), "best of "+supportedNames()
		return nil
	}
	im, err := lookup(name)
	if err != nil {
		return err
	}
	active, why = im, "forced by name"
	return nil
}

// lookup finds a supported implementation by name.
func lookup(name string) (Impl, error) {
	for _, im := range bestFirst {
		if im.String() == name && len(missing(im)) == 0 {
			return im, nil
		}
	}
	return 0, fmt.Errorf("%w: %q: %s", ErrImpl, name, explain(name))
}

// explain says why name can not be used.
func explain(name string) string {
	reason := "no such implementation"
	for _, im := range bestFirst {
		if im.String() == name {
			reason = "this machine lacks " + strings.Join(missing(im), ", ")
		}
	}
	return reason + "; this machine supports " + supportedNames()
}

func best() Impl {
	for _, im := range bestFirst {
		if len(missing(im)) == 0 {
			return im
		}
	}
	return Generic
}

func supportedNames() string {
	var names []string
	for _, im := range bestFirst {
		if len(missing(im)) == 0 {
			names = append(names, im.String())
		}
	}
	return strings.Join(names, ", ")
}

// is32 reports which of the two instantiations this is. The compiler folds it: no branch is left (a
// type switch on any(x) is a comparison of type words instead).
func is32[T Float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// f32 and f64 name the type that is32 has found.
func f32[T Float](p *T) *float32 { return (*float32)(unsafe.Pointer(p)) }
func f64[T Float](p *T) *float64 { return (*float64)(unsafe.Pointer(p)) }
