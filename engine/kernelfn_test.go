package engine

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKernelValidate(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, k := range []Kernel{
		{},
		{Kind: Linear, Scale: 1100},
		{Kind: Poly, Gamma: 1, Degree: 5, Coef0: 1, Scale: 1100},
		{Kind: Poly, Gamma: 0.5, Degree: 1},
		{Kind: RBF, Gamma: 1.0 / 123},
		RBFSigma(3),
	} {
		if err := k.Validate(); err != nil {
			t.Errorf("%+v: %v", k, err)
		}
	}
	for _, tc := range []struct {
		k    Kernel
		says string
	}{
		{Kernel{Kind: "rfb", Gamma: 1}, `kernel "rfb"`},
		{Kernel{Scale: -1}, "scale -1"},
		{Kernel{Scale: nan}, "scale NaN"},
		{Kernel{Kind: RBF}, "gamma 0"},
		{Kernel{Kind: RBF, Gamma: inf}, "gamma +Inf"},
		{Kernel{Kind: Poly, Degree: 2}, "gamma 0"},
		{Kernel{Kind: Poly, Gamma: 1}, "degree 0"},
		{Kernel{Kind: Poly, Gamma: 1, Degree: 2, Coef0: -1}, "coef0 -1"},
		{Kernel{Kind: RBF, Gamma: 1e-300, Scale: 1e300}, "gamma/scale^2"},
		{Kernel{Kind: RBF, Gamma: 1, Scale: 1e-300}, "gamma/scale^2"},
		{RBFSigma(0), "gamma +Inf"},
	} {
		if err := tc.k.Validate(); !errors.Is(err, ErrKernel) || !strings.Contains(err.Error(),
			tc.says) {
			t.Errorf("%+v: %v, want %q", tc.k, err, tc.says)
		}
		if _, err := NewPoints[float32](tc.k); !errors.Is(err, ErrKernel) {
			t.Errorf("NewPoints took %+v", tc.k)
		}
	}
}

// The formulas of the doc comment, worked by hand.
func TestKernelValues(t *testing.T) {
	b := &Block[float64]{Y: []float64{1, 1}, Dim: 2, X: []float64{1, 2, 3, 5}, Stride: 2}
	for _, tc := range []struct {
		k    Kernel
		want float64 // K((1,2), (3,5)); x.z = 13, |x-z|^2 = 13
	}{
		{Kernel{}, 13},
		{Kernel{Kind: Linear, Scale: 2}, 13.0 / 4},
		{Kernel{Kind: Poly, Gamma: 1, Degree: 2}, 169},
		{Kernel{Kind: Poly, Gamma: 2, Degree: 5, Coef0: 3}, 29 * 29 * 29 * 29 * 29},
		{Kernel{Kind: Poly, Gamma: 1, Degree: 3, Coef0: 1, Scale: 0.5}, 53 * 53 * 53},
		{Kernel{Kind: RBF, Gamma: 0.25}, math.Exp(-13.0 / 4)},
		{Kernel{Kind: RBF, Gamma: 1, Scale: 4}, math.Exp(-13.0 / 16)},
		{RBFSigma(2), math.Exp(-13.0 / 8)},
	} {
		p := mustPoints[float64](t, tc.k, b)
		dst := make([]float64, 2)
		p.Row(dst, 0, 0, 2)
		if math.Abs(dst[1]-tc.want) > 2*0x1p-52*tc.want { // 1 ulp each of two exp; exact otherwise
			t.Errorf("%+v: %v, want %v", tc.k, dst[1], tc.want)
		}
		if dst[0] != p.Diag(0) || tc.k.Kind == RBF && dst[0] != 1 {
			t.Errorf("%+v: K(x, x) = %v, Diag %v", tc.k, dst[0], p.Diag(0))
		}
	}
}

func TestKernelJSON(t *testing.T) {
	for _, k := range []Kernel{{}, {Kind: Poly, Gamma: 1, Degree: 5, Coef0: 1, Scale: 1100},
		RBFSigma(0.3)} {
		text, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		var back Kernel
		if err := json.Unmarshal(text, &back); err != nil || back != k {
			t.Errorf("%s: %s, %v", text, cmp.Diff(k, back), err)
		}
	}
}
