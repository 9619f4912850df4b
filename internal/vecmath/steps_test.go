package vecmath

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// stepsCase has scores and rows that keep a run going for a while: a symmetric matrix with a long
// diagonal, as inner products have.
func stepsCase(n, seed int) (s, rows, squares []float64, stride int) {
	rng := newGenerator[float64](n, seed, nil).rng
	stride = n + seed%4*3
	s, squares = make([]float64, n), make([]float64, n)
	rows = make([]float64, (n-1)*stride+n)
	for i := range n {
		s[i] = rng.NormFloat64() - 0.5
		for j := range i {
			v := rng.NormFloat64() / 4
			rows[i*stride+j], rows[j*stride+i] = v, v
		}
		squares[i] = 1 + rng.Float64()
		rows[i*stride+i] = squares[i]
	}
	return s, rows, squares, stride
}

// A run is what AddScaledNext does call by call.
func TestFixedSteps(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := 1; n <= 140; n++ {
			if testing.Short() && n > 20 && n%8 > 1 { // emulators are slow
				continue
			}
			for seed := range 6 {
				s, rows, _, stride := stepsCase(n, seed)
				for _, most := range []int{1, 2, 60} {
					for _, sure := range []float64{math.Inf(1), 0.3, math.Inf(-1)} {
						at := seed % n
						got, want := slices.Clone(s), slices.Clone(s)
						picked := make([]int32, most, most+1)
						made, next := FixedSteps(got, rows, stride, 0.1, 0.5, sure, at, picked)
						var list []int32
						k := at
						for {
							list = append(list, int32(k))
							k = AddScaledNext(want, 0.1, rows[k*stride:][:n], k+1, 0.5)
							if k < 0 || len(list) == most || want[k] > sure {
								break
							}
						}
						if made != len(list) || next != k || !slices.Equal(picked[:made], list) {
							t.Fatalf("n %d, seed %d, most %d, sure %v: %d updates %v, then %d, "+
								"want %v, then %d", n, seed, most, sure, made, picked[:made], next,
								list, k)
						}
						if d := diffFloats(got, want); d != "" {
							t.Fatalf("n %d, seed %d, most %d: s%s", n, seed, most, d)
						}
					}
				}
			}
		}
	})
}

// lengthStep makes update i of a run, that of k, by the definition: into r and s.
func lengthStep(r *LengthSteps, s, row, squares []float64, i, k int) (next int, within bool) {
	step, before := r.Step, r.Norm2
	r.Norm2 += float64(step * (float64(2*s[k]) + float64(step*squares[k])))
	f := math.Sqrt(r.Norm2)
	if r.Divisors != nil {
		if f > r.Longest { // not NaN
			r.Longest = f
		}
		if r.Longest > f {
			f = r.Longest
		}
		f /= r.Divisors[i]
	}
	r.Step, r.Threshold = float64(r.Rate*f), float64(r.Thresholds[i]*f)
	var low big.Float // by numbers long enough
	low.SetPrec(2000).SetFloat64(r.Alpha[k])
	low.Add(&low, big.NewFloat(step))
	r.Alpha[k] += step
	low.Sub(&low, big.NewFloat(r.Alpha[k]))
	d, _ := low.Float64()
	r.AlphaLow[k] += d
	r.Last = k
	next = AddScaledNext(s, step, row[:len(s)], k+1, r.Threshold)
	return next, r.Norm2 > float64(r.Least*before) && r.Norm2 <= r.Most
}

// lengthCase has a run of some kind.
func lengthCase(n, seed int) LengthSteps {
	r := LengthSteps{Norm2: 0.3, Step: 0.2, Rate: 0.1, Longest: 1, Least: 0x1p-24, Most: 0x1p512,
		Wraps: 5, Alpha: slices.Repeat([]float64{0.3}, n),
		AlphaLow: slices.Repeat([]float64{0x1p-60}, n)}
	for i := range []int{1, 2, 60}[seed%3] {
		r.Thresholds = append(r.Thresholds, 0.4/math.Sqrt(float64(i+1)))
		if seed/3%2 > 0 {
			r.Divisors = append(r.Divisors, math.Sqrt(float64(i+2)))
		}
	}
	switch seed {
	case 10:
		r.Least = 0.9
	case 11:
		r.Most = 0.4
	}
	return r
}

// A run by lengths is, to the bit, what its definition does update by update, whatever ends it.
func TestLengthSteps(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		ends := map[string]int{}
		for n := 1; n <= 140; n++ {
			if testing.Short() && n > 20 && n%8 > 1 {
				continue
			}
			for seed := range 12 {
				s, rows, squares, stride := stepsCase(n, seed)
				r, w := lengthCase(n, seed), lengthCase(n, seed)
				got, want, k := slices.Clone(s), slices.Clone(s), seed%n
				made, next, within := r.Run(got, rows, stride, squares, k)
				w.Wraps = 0
				wantWithin, i := true, 0
				for {
					k, wantWithin = lengthStep(&w, want, rows[k*stride:], squares, i, k)
					if i++; k < 0 || i == len(w.Thresholds) || !wantWithin {
						break
					}
					if k <= w.Last {
						w.Wraps++
					}
				}
				ends[fmt.Sprint("none ", k < 0, " within ", wantWithin)]++
				where := fmt.Sprintf("n %d, seed %d", n, seed)
				if made != i || next != k || within != wantWithin || r.Wraps != w.Wraps ||
					r.Last != w.Last {
					t.Fatalf("%s: %d updates, %d wraps, the last of %d, then %d, want %d, "+
						"%d, %d, %d", where, made, r.Wraps, r.Last, next, i, w.Wraps, w.Last, k)
				}
				for _, d := range []string{diffFloats(got, want), diffFloats(r.Alpha, w.Alpha),
					diffFloats(r.AlphaLow, w.AlphaLow),
					diffFloats([]float64{r.Norm2, r.Step, r.Threshold, r.Longest},
						[]float64{w.Norm2, w.Step, w.Threshold, w.Longest})} {
					if d != "" {
						t.Fatalf("%s: s, alpha, its errors or numbers%s", where, d)
					}
				}
			}
		}
		if len(ends) != 4 {
			t.Errorf("runs ended in these ways: %v, want all four", ends)
		}
	})
}
