package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// What is timed side by side computes the same.
func TestSameResults(t *testing.T) {
	for _, n := range []int{1, 16, 100, 1000} {
		for _, ops := range [][]operation{operations32(n), operations64(n)} {
			for _, op := range ops {
				if op.name == "axpy" || op.name == "scal" {
					continue // they change what they work on
				}
				want := op.ours()
				for _, f := range []func() float64{op.blas, op.vek} {
					if f == nil {
						continue
					}
					if got := f(); !(math.Abs(got-want) <= 1e-4*(1+math.Abs(want))) {
						t.Errorf("%s, n = %d: %v, vecmath's %v", op.name, n, got, want)
					}
				}
			}
		}
	}
}

// All implementations of vecmath give the same bits.
func TestBits(t *testing.T) {
	sums := map[string]bool{}
	for _, line := range bitsOf() {
		t.Log(line)
		if fields := strings.Fields(line); fields[0] == "vecmath" {
			sums[fields[2]] = true
		}
	}
	if len(sums) != 1 {
		t.Errorf("vecmath's implementations give %d different sums", len(sums))
	}
}

func TestTable(t *testing.T) {
	var text strings.Builder
	printTimes(&text, 2, time.Microsecond, []int{3, 5})
	if got := strings.Count(text.String(), "\n"); got != 2+2*len(operations64(1)) {
		t.Errorf("%d lines:\n%s", got, &text)
	}
}

// The page has a line for each operation that the program prints.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/numerics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range operations64(1) {
		if head := fmt.Sprintf("\n| %s | 784 | ", op.name); !strings.Contains(string(page), head) {
			t.Errorf("docs/numerics.md has no line %q", strings.TrimSpace(head))
		}
	}
}
