package measure

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

//go:embed peers/openblas.c
var openblasSource []byte

// Symmetric measures the step of a posterior covariance, vecmath.SymRankOneMul, and the product
// alone that scores take, vecmath.SymMul, beside the plain loops over the triangle, and beside
// OpenBLAS's symv and syr on one thread. That peer is a C
// program, compiled here with gcc and run as a child, whose CPU time counts. Without gcc or the
// library (Debian: libopenblas0-serial or libopenblas0-pthread) it is left out, and a note says so.
func Symmetric(ctx context.Context, o Options) ([]Result, error) {
	dir, err := os.MkdirTemp("", "halfspace-symmetric")
	if err != nil {
		return nil, fmt.Errorf("bench: symmetric: %w", err)
	}
	defer os.RemoveAll(dir)
	if o.Each == 0 {
		// long beside bringing back the matrix that the other side has pushed out of the cache
		o.Each = 10 * time.Millisecond
	}
	peer, missing := compileOpenBLAS(ctx, dir)
	sizes := []int{100, 300, 500, 1000}
	var out []Result
	for _, n := range sizes {
		for _, c := range symmetricCases(n) {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			out = append(out, c.run(ctx, vecmath.Active().String(), o))
		}
	}
	if missing != nil {
		out[0].Note = "compared with plain loops only: " + missing.Error()
		return out, nil
	}
	runtime.LockOSThread() // the clock is this thread's
	defer runtime.UnlockOSThread()
	for _, n := range sizes {
		for _, c := range symmetricCases(n) {
			args := []string{typeName(c.name), strconv.Itoa(n)}
			if strings.HasPrefix(c.name, "symmul/") {
				args = append(args, "mul")
			}
			b, err := startChild(ctx, peer, args...)
			if err != nil {
				return out, err
			}
			c.peerName, c.peer, c.cpu = "openblas", b.run,
				func() time.Duration { return ThreadTime() + b.used }
			out = append(out, c.run(ctx, vecmath.Active().String(), o))
			if err := b.stop(); err != nil {
				return out, fmt.Errorf("bench: %s: OpenBLAS: %w", c.name, err)
			}
		}
	}
	return out, nil
}

// typeName is the second part of a case's name.
func typeName(name string) string { return strings.Split(name, "/")[1] }

// symmetricCases are those of a size, beside plain loops.
func symmetricCases(n int) []pair {
	return append(symmetric[float64](n), symmetric[float32](n)...)
}

// identity is the unit matrix in rows of that stride.
func identity[T engine.Float](n, stride int) []T {
	v := engine.Aligned[T](n * stride)
	for i := range n {
		v[i*stride+i] = 1
	}
	return v
}

// symmetric compares both with what one would write: the triangle's change, then its product.
func symmetric[T engine.Float](n int) []pair {
	precision := "f64"
	if vecmath.LaneUnit[T]() == 16 {
		precision = "f32"
	}
	x, u := vectors[T](n)
	stride := vecmath.SymStride[T](n)
	v, y := identity[T](n, stride), engine.Aligned[T](n)
	plain, sum := identity[T](n, n), engine.Aligned[T](n)
	a, b := T(1e-6), T(1e-6)
	vecmath.SymRankOneMul(y, v, stride, x, 0, u) // brings the memory in
	return []pair{
		kernel(fmt.Sprintf("symrankonemul/%s/n=%d", precision, n), traffic{}, func() {
			vecmath.SymRankOneMul(y, v, stride, x, a, u)
			a = -a
		}).beside("go-loop", func() {
			plainRankOneMul(sum, plain, x, b, u)
			b = -b
		}),
		kernel(fmt.Sprintf("symmul/%s/n=%d", precision, n), traffic{}, func() {
			vecmath.SymMul(y, v, stride, x)
		}).beside("go-loop", func() { plainMul(sum, plain, x) }),
	}
}

// plainRankOneMul is vecmath.SymRankOneMul on a triangle of stride len(x).
func plainRankOneMul[T engine.Float](y, v, x []T, a T, u []T) {
	n := len(x)
	for i := range n {
		row, c := v[i*n:][:i+1], a*u[i]
		for j := range row {
			row[j] -= c * u[j]
		}
	}
	plainMul(y, v, x)
}

// plainMul is vecmath.SymMul on a triangle of stride len(x).
func plainMul[T engine.Float](y, v, x []T) {
	n := len(x)
	for i := range n {
		row, xi := v[i*n:][:i], x[i]
		s := v[i*n+i] * xi
		for j, w := range row {
			s += w * x[j]
			y[j] += w * xi
		}
		y[i] = s
	}
}

// compileOpenBLAS returns the program that runs the peer, or why there is none.
func compileOpenBLAS(ctx context.Context, dir string) (string, error) {
	if _, err := exec.LookPath("gcc"); err != nil {
		return "", fmt.Errorf("gcc is not installed")
	}
	source, program := filepath.Join(dir, "openblas.c"), filepath.Join(dir, "openblas")
	if err := os.WriteFile(source, openblasSource, 0o600); err != nil {
		return "", err
	}
	// By the name that the library has at run time: no headers and no link for developers are
	// needed.
	text, err := exec.CommandContext(ctx, "gcc", "-O2", "-o", program, source,
		"-l:libopenblas.so.0").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gcc does not link OpenBLAS (Debian: libopenblas0-serial): %s",
			strings.Join(strings.Fields(string(text)), " "))
	}
	return program, nil
}

// child is a process that does a number of operations on request, and returns how long it took.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	used time.Duration // its CPU time, less what talking to it takes of ours
	err  error
}

func startChild(ctx context.Context, program string, args ...string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, program, args...)}
	c.cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, c.cmd.Start()
}

// run has k operations done. After an error it does nothing, and stop returns that error.
func (c *child) run(k int) {
	before := ThreadTime()
	ns := int64(k) * int64(time.Millisecond)
	if c.err == nil {
		_, c.err = fmt.Fprintln(c.in, k)
	}
	if c.err == nil {
		_, c.err = fmt.Fscanln(c.out, &ns)
	}
	c.used += time.Duration(ns) - (ThreadTime() - before)
}

func (c *child) stop() error {
	c.in.Close()
	if err := c.cmd.Wait(); c.err == nil {
		c.err = err
	}
	return c.err
}
