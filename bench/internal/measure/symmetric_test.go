package measure

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// The program that runs OpenBLAS answers, its time counts as the peer's, and one that dies is an
// error and no figure.
func TestOpenBLASChild(t *testing.T) {
	ctx := context.Background()
	program, err := compileOpenBLAS(ctx, t.TempDir())
	if err != nil {
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, name := range []string{"f32", "f64"} {
		c, err := startChild(ctx, program, name, "50")
		if err != nil {
			t.Fatal(err)
		}
		before := ThreadTime()
		for _, k := range []int{1, 2000} {
			c.run(k)
		}
		if used := c.used + ThreadTime() - before; used < 2000*100*time.Nanosecond ||
			used > 10*time.Second {
			t.Errorf("%s: 2001 steps at n = 50 took %v", name, used)
		}
		if err := c.stop(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := startChild(ctx, program, "f64", "0")
	if err != nil {
		t.Fatal(err)
	}
	c.run(1)
	if c.stop() == nil {
		t.Error("a size of 0 brought no error")
	}
}

// Without the library nothing is compared, and the reason says what to install.
func TestOpenBLASMissing(t *testing.T) {
	t.Setenv("PATH", "")
	if _, err := compileOpenBLAS(context.Background(), t.TempDir()); err == nil {
		t.Error("no error without gcc")
	}
	dir := t.TempDir()
	gcc := "#!/bin/sh\necho cannot find -l:libopenblas.so.0 >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "gcc"), []byte(gcc), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	if _, err := compileOpenBLAS(context.Background(), t.TempDir()); err == nil {
		t.Error("no error without the library")
	}
}

// The loops that the step is compared with do the same, to within rounding.
func TestPlainRankOneMul(t *testing.T) {
	const n = 20
	x, u := vectors[float64](n)
	stride := vecmath.SymStride[float64](n)
	v, want := make([]float64, n*stride), make([]float64, n)
	triangle, got := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range n {
			v[i*stride+j] = 1 / float64(1+i+j) // Hilbert's
			triangle[i*n+j] = v[i*stride+j]
		}
	}
	for range 3 {
		vecmath.SymRankOneMul(want, v, stride, x, 0.1, u)
		plainRankOneMul(got, triangle, x, 0.1, u)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12*float64(n) {
			t.Errorf("y[%d] = %v, want %v", i, got[i], want[i])
		}
	}
}
