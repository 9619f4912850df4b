package vecmath_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/vecmath"
)

func Example() {
	x, y := []float32{1, 2, 3}, []float32{4, 5, 6}
	fmt.Println(vecmath.Dot(x, y), vecmath.SumSq(x), vecmath.SqDist(x, y))
	vecmath.Axpy(y, 0.5, x)
	vecmath.Scal(x, -1)
	fmt.Println(x, y)
	rows := make([]float32, 2)
	vecmath.RowsDot(rows, []float32{1, 0, 0, 0, 1, 1}, 3, y)
	fmt.Println(rows)

	idx, w := []int32{0, 2}, []float32{1, 1, 1}
	vecmath.SparseAxpy(w, 2, idx, []float32{1, 0.5})
	fmt.Println(w, vecmath.SparseDot(idx, []float32{1, 10}, w))
	wide := []float64{1, 0, 2}
	vecmath.AxpyMixed(wide, 0.5, w)
	fmt.Println(wide, vecmath.DotMixed(wide, w))
	// Output:
	// 32 14 27
	// [-1 -2 -3] [4.5 6 7.5]
	// [4.5 13.5]
	// [3 1 2] 23
	// [2.5 0.5 3] 14
}

func ExampleExp() {
	x := []float64{0, 1, math.Inf(-1)}
	vecmath.Exp(x, x)
	fmt.Printf("%.6f\n", x)
	// Output: [1.000000 2.718282 0.000000]
}

func ExampleSinCos() {
	x := []float64{0, math.Pi / 2, math.Pi}
	sin := make([]float64, 3)
	vecmath.SinCos(sin, x, x, 1)
	fmt.Printf("%.3f %.3f\n", sin[:2], x[:1])
	// Output: [0.000 1.000] [1.000]
}

// An index outside panics before anything is written.
func TestOutside(t *testing.T) {
	w := []float64{1, 2, 3, 4}
	for _, idx := range [][]int32{{0, 4, 1}, {0, -1, 1}} {
		for name, call := range map[string]func(){
			"dot":  func() { vecmath.SparseDot(idx, w[:3], w) },
			"axpy": func() { vecmath.SparseAxpy(w, 1, idx, w[:3]) },
		} {
			func() {
				defer func() {
					if recover() == nil || w[0] != 1 || w[1] != 2 {
						t.Errorf("%s of %v: no panic, or written before: %v", name, idx, w)
					}
				}()
				call()
			}()
		}
	}
}

func TestUse(t *testing.T) {
	defer func() {
		if err := vecmath.Use("auto"); err != nil {
			t.Error(err)
		}
	}()
	if vecmath.Err() != nil {
		t.Error(vecmath.Err())
	}
	if err := vecmath.SelfTest("nonsense"); !errors.Is(err, vecmath.ErrImpl) {
		t.Error(err)
	}
	for _, im := range vecmath.Implementations() {
		err := vecmath.Use(im.Name)
		if im.Supported != (err == nil) || err != nil && !errors.Is(err, vecmath.ErrImpl) {
			t.Errorf("%+v: %v", im, err)
		}
		if im.Supported && vecmath.Active().String() != im.Name {
			t.Errorf("active is %s, want %s", vecmath.Active(), im.Name)
		}
	}
}
