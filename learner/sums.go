package learner

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrSums is the error of a State in which a kept sum of members' weights is not their sum. It can
// be learned on, and scores by the sum as it is; the members would score otherwise.
var ErrSums = errors.New("the sum kept of the members' weights is not their sum")

// CheckSums returns ErrSums, with the first place, if an ensemble in s keeps a sum of its members'
// weights that is further from them than rounding can bring it. Such ensembles have members, of
// [feature][member], beside sum, of [feature], and updates. Where all of them are whole numbers
// that int16 holds the sum must be exact: T adds numbers 512 times as large exactly. Else members
// and sum may each be off by half a unit in the last place of the largest weight for each update
// of a member. No weight was ever larger than peak, if that is more than the weights are now.
// Cost: all weights.
func (s *State) CheckSums(peak float64) error {
	for i := range s.Tensors {
		prefix, ok := strings.CutSuffix(s.Tensors[i].Name, "members")
		if !ok {
			continue
		}
		t := s.Tensor(prefix + "sum")
		if t == nil {
			continue
		}
		sum, ok := t.Data.([]float64)
		if !ok || len(sum) == 0 {
			continue
		}
		var err error
		updates := float64(s.Counters[prefix+"updates"])
		switch w := s.Tensors[i].Data.(type) {
		case []float32:
			err = checkSums(sum, w, updates, peak, 0x1p-24)
		case []float64:
			err = checkSums(sum, w, updates, peak, 0x1p-53)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// checkSums is CheckSums of an ensemble; half is half a unit in the last place of 1 in T.
func checkSums[T Float](sum []float64, w []T, updates, peak, half float64) error {
	n := len(w) / len(sum)
	if n == 0 {
		return nil
	}
	whole := true
	for _, v := range w {
		peak = max(peak, math.Abs(float64(v)))
		whole = whole && v >= math.MinInt16 && v <= math.MaxInt16 && v == T(int16(v))
	}
	for _, v := range sum {
		whole = whole && v == math.Trunc(v)
	}
	// An update rounds a weight, at most peak, in T. It adds to the sum, at most n times that, in
	// float64. The sum here rounds n times more.
	roundings := updates + float64(n)
	most := 2 * peak * roundings * (half + float64(n)*0x1p-53)
	if whole {
		most = 0
	}
	for j, have := range sum {
		var want float64
		for _, v := range w[j*n:][:n] {
			want += float64(v)
		}
		if math.Abs(have-want) > most {
			return fmt.Errorf("place %d has %v, and its %d members %v: %w", j, have, n, want,
				ErrSums)
		}
	}
	return nil
}
