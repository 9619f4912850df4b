package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// ErrKernel is wrapped by the errors of [Kernel.Validate].
var ErrKernel = errors.New("bad kernel")

// KernelKind names a kernel function. The empty name is linear.
type KernelKind string

// The kernel functions.
const (
	Linear KernelKind = "linear"
	Poly   KernelKind = "poly"
	RBF    KernelKind = "rbf"
)

// Kernel is a kernel function K(x, z) of examples divided by Scale, s below:
//
//	linear   x.z / s^2
//	poly     (Coef0 + Gamma x.z / s^2)^Degree
//	rbf      exp(-Gamma |x-z|^2 / s^2)
//
// The width sigma of an rbf follows exp(-|x-z|^2 / (2 sigma^2)), see [RBFSigma]. A row of kernel
// values is computed from dot products, all arithmetic in float64 up to the argument of exp:
//
//	g = Gamma / s^2       (1 / s^2 for linear)
//	poly: power by squaring, from the lowest bit of Degree
//	rbf: |x-z|^2 = max(0, x.x + z.z - 2 x.z), from stored squared norms; -g times
//	that is rounded to the row's precision,
//	then vecmath.Exp
//
// so that a value is the same on every CPU. K(x, x) of an rbf is 1 exactly.
type Kernel struct {
	Kind   KernelKind `json:"kernel,omitempty"`
	Gamma  float64    `json:"gamma,omitempty"`  // > 0 for poly and rbf; not used by linear
	Degree int        `json:"degree,omitempty"` // >= 1 for poly; not used by others
	// >= 0 for poly, as a kernel must be positive semidefinite; not used by others
	Coef0 float64 `json:"coef0,omitempty"`
	Scale float64 `json:"scale,omitempty"` // > 0; 0 stands for 1
}

// RBFSigma returns exp(-|x-z|^2 / (2 sigma^2)), that is gamma = 1 / (2 sigma^2).
func RBFSigma(sigma float64) Kernel {
	return Kernel{Kind: RBF, Gamma: 1 / (2 * sigma * sigma)}
}

// Validate names the first field that is not as [Kernel] says. The error wraps [ErrKernel].
func (k Kernel) Validate() error {
	positive := func(v float64) bool { return v > 0 && v <= math.MaxFloat64 }
	switch {
	case k.Kind != "" && k.Kind != Linear && k.Kind != Poly && k.Kind != RBF:
		return fmt.Errorf("kernel %q: must be linear, poly or rbf: %w", k.Kind, ErrKernel)
	case k.Scale != 0 && !positive(k.Scale):
		return fmt.Errorf("scale %v: must be positive, or 0 for none: %w", k.Scale, ErrKernel)
	case (k.Kind == Poly || k.Kind == RBF) && !positive(k.Gamma):
		return fmt.Errorf("gamma %v: must be positive for kernel %s: %w", k.Gamma, k.Kind,
			ErrKernel)
	case k.Kind == Poly && k.Degree < 1:
		return fmt.Errorf("degree %d: must be 1 or more: %w", k.Degree, ErrKernel)
	case k.Kind == Poly && !(k.Coef0 == 0 || positive(k.Coef0)):
		return fmt.Errorf("coef0 %v: must be 0 or more: %w", k.Coef0, ErrKernel)
	case !positive(k.factor()):
		return fmt.Errorf("gamma %v, scale %v: gamma/scale^2 is not a positive number: %w", k.Gamma,
			k.Scale, ErrKernel)
	}
	return nil
}

// factor is g, what dot products and squared distances are multiplied by.
func (k Kernel) factor() float64 {
	gamma := k.Gamma
	if k.Kind != Poly && k.Kind != RBF {
		gamma = 1
	}
	if k.Scale == 0 {
		return gamma
	}
	return gamma / float64(k.Scale*k.Scale)
}

// Self returns K(x, x) of an x with x.x = xx.
func (k Kernel) Self(xx float64) float64 {
	v, sq := [1]float64{}, [1]float64{xx}
	kernelValues(v[:], &k, xx, sq[:], sq[:])
	return v[0]
}

// kernelValues sets dst[j] = K of two examples with squared norms xx and sq[j] and the dot product
// dots[j].
func kernelValues[T Float](dst []T, k *Kernel, xx float64, sq, dots []float64) {
	g := k.factor()
	sq, dots = sq[:len(dst)], dots[:len(dst)]
	switch k.Kind {
	case RBF:
		for j := range dst {
			dst[j] = T(float64(-g * max(0, xx+sq[j]-2*dots[j])))
		}
		vecmath.Exp(dst, dst)
	case Poly:
		for j := range dst {
			dst[j] = T(power(k.Coef0+float64(g*dots[j]), k.Degree))
		}
	default:
		for j := range dst {
			dst[j] = T(float64(g * dots[j]))
		}
	}
}

// power returns b^d for d >= 1, by squaring from the lowest bit.
func power(b float64, d int) float64 {
	p := 1.0
	for {
		if d&1 != 0 {
			p *= b
		}
		if d >>= 1; d == 0 {
			return p
		}
		b *= b
	}
}
