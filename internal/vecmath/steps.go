package vecmath

import (
	"math"
	"unsafe"
)

// Runs of updates in score space: an update's row is known only when the search of the one before
// has ended, so that what stands between two updates counts in full. A run makes many of them in
// one call, each that of [AddScaledNext].

// FixedSteps makes updates of scores s by the same step e for as long as it finds any: it puts k
// into picked, adds e times row k of rows to s, fused, and goes on with the first index behind k,
// cyclically, at which the new s is <= thr. It ends when picked is full, when there is no such
// index, or at one where s is above sure. It returns how many updates were made, at least one, and
// the next index, or -1.
//
// Row k begins at k*stride and has len(s) elements; stride is len(s) at least. len(s) and
// len(picked) are at least 1.
func FixedSteps(s, rows []float64, stride int, e, thr, sure float64, k int, picked []int32) (n,
	next int) {
	checkSteps(s, rows, stride, k, len(picked))
	if race {
		raceWrite(picked)
	}
	return fixedSteps(data(s), len(s), data(rows), stride, e, thr, sure, k, data(picked),
		len(picked))
}

// LengthSteps is where a run of updates of a vector a stands whose threshold and step go by |a|:
//
//	|a|^2 += step (2 s_k + step |x_k|^2),  s += step row k,  alpha_k += step
//	f = |a|, or the largest |a| so far over Divisors,  threshold = Thresholds f,  step = Rate f
//
// Each product and sum is rounded, but 2 s_k and what is added to it, which are fused.
type LengthSteps struct { // assembly reads it by offsets, see steps_amd64.s
	Norm2     float64 // |a|^2
	Step      float64 // of the next update
	Threshold float64 // at or under which a score is one that wants it; set, and first a guess
	Rate      float64
	Longest   float64 // the largest |a| so far; only with Divisors
	// The run ends behind an update that leaves no more of Norm2 than the share Least, or more than
	// Most.
	Least, Most float64
	floor       float64 // Least times Norm2 before the last update
	Last        int     // the last update's index
	Wraps       int     // how often an update's index was not above that of the one before

	Alpha      []float64 // dual coefficients, one an index
	AlphaLow   []float64 // the rounding errors of their sums
	Thresholds []float64 // one an update
	Divisors   []float64 // likewise, or nil
}

// Run makes updates, the first of them that of k, until there is one for each of the thresholds, an
// update has left Norm2 where Least and Most don't want it, or no score is <= the threshold. It
// returns how many there were, at least one, and the first index behind the last one's, cyclically,
// at which s is <= Threshold, or -1; within says that Norm2 is where Least and Most want it. Wraps
// counts within the run.
//
// rows are as in [FixedSteps], squares the |x_k|^2. There is a threshold at least.
func (r *LengthSteps) Run(s, rows []float64, stride int, squares []float64, k int) (n, next int,
	within bool) {
	most := len(r.Thresholds)
	checkSteps(s, rows, stride, k, most)
	if min(len(squares), len(r.Alpha), len(r.AlphaLow)) < len(s) ||
		r.Divisors != nil && len(r.Divisors) < most {
		panic(panicShort)
	}
	if race {
		raceRead(squares[:len(s)])
		raceRead(r.Thresholds)
		raceRead(r.Divisors)
		raceWrite(r.Alpha)
		raceWrite(r.AlphaLow)
	}
	r.Wraps = 0
	n, next = lengthSteps(data(s), len(s), data(rows), stride, data(squares), &r.Norm2, k)
	return n, next, r.Norm2 > r.floor && r.Norm2 <= r.Most
}

// checkSteps checks what both runs take.
func checkSteps(s, rows []float64, stride, k, most int) {
	if most == 0 || uint(k) >= uint(len(s)) || stride < len(s) {
		panic(panicFrom)
	}
	if rest := len(rows) - len(s); rest < 0 || rest/stride < len(s)-1 {
		panic(panicShort)
	}
	if race {
		raceRead(rows)
		raceWrite(s)
	}
}

// fixedStepsPlain is FixedSteps by a call an update.
func fixedStepsPlain(s *float64, n int, rows *float64, stride int, e, thr, sure float64, k int,
	picked *int32, most int) (count, next int) {
	for {
		*at(picked, count) = int32(k)
		count++
		k = addScaledNext(s, e, at(rows, k*stride), n, k+1, thr)
		if k < 0 || count == most || *at(s, k) > sure {
			return count, k
		}
	}
}

// lengthStepsPlain is LengthSteps.Run by a call an update.
func lengthStepsPlain(s *float64, n int, rows *float64, stride int, squares *float64,
	run *float64, k int) (count, next int) {
	r := (*LengthSteps)(unsafe.Pointer(run)) // whose first field that is
	for {
		step, before := r.Step, r.Norm2
		two := math.FMA(2, *at(s, k), float64(step**at(squares, k)))
		r.Norm2, r.floor = before+float64(step*two), float64(r.Least*before)
		f := math.Sqrt(r.Norm2)
		if r.Divisors != nil {
			if r.Longest > f {
				f = r.Longest
			}
			if f > r.Longest {
				r.Longest = f
			}
			f /= r.Divisors[count]
		}
		r.Step, r.Threshold = float64(r.Rate*f), float64(r.Thresholds[count]*f)
		alpha := r.Alpha[k]
		sum := alpha + step
		added := sum - alpha
		r.Alpha[k] = sum // and what its rounding dropped, by D. E. Knuth
		r.AlphaLow[k] += (alpha - (sum - added)) + (step - added)
		r.Last = k
		count++
		k = addScaledNext(s, step, at(rows, k*stride), n, k+1, r.Threshold)
		if k < 0 || count == len(r.Thresholds) || !(r.Norm2 > r.floor && r.Norm2 <= r.Most) {
			return count, k
		}
		if k <= r.Last {
			r.Wraps++
		}
	}
}

// at is element i behind p.
func at[E any](p *E, i int) *E {
	return (*E)(unsafe.Add(unsafe.Pointer(p), i*int(unsafe.Sizeof(*p))))
}
