package eval

import "math"

// DefaultADWINDelta is the confidence of the detector named adwin.
const DefaultADWINDelta = 0.002

// ADWIN keeps a window of the last losses that is as long as their mean seems to have been the
// same: A. Bifet and R. Gavaldà, "Learning from time-changing data with adaptive windowing", SDM
// 2007, their ADWIN2. The window W of n losses is cut into an older part W0 and a newer one W1
// wherever it can be; where their means differ by more than
//
//	eps = sqrt(2/m var ln(2/d)) + 2/(3m) ln(2/d),  1/m = 1/n0 + 1/n1,  d = delta / ln n
//
// with the variance var of W, the oldest losses are dropped, until no cut is left. Drift is found
// where the newer part's mean is the larger one.
//
// The window is an exponential histogram (M. Datar and others, 2002): buckets of 1, 2, 4, ...
// losses, at most 5 of each, oldest the largest, cuts between buckets alone. Deviation from the
// paper: cuts are looked at after each 32 losses, as in its authors' program.
//
// By the paper's Theorem 3.1, with d = delta/n in place of delta/ln n, a change is found at a look
// where there is none with a probability of delta at most. Cost: some ns a loss, O(log n) a look;
// 6 KiB.
type ADWIN struct {
	delta float64
	n     int64
	sum   float64
	sq    float64 // of squares
	look  int     // losses since the last look
	rows  [adwinRows]adwinRow
	used  int // rows in use
}

const (
	adwinRows    = 48
	adwinBuckets = 5 // M of the paper
	adwinLeast   = 5 // losses of either part of a cut
)

// adwinRow has the buckets of 2^i losses, the oldest first.
type adwinRow struct {
	n       int
	sum, sq [adwinBuckets + 1]float64
}

// NewADWIN returns a detector of that confidence; outside of (0, 1) it is DefaultADWINDelta.
func NewADWIN(delta float64) *ADWIN {
	if !(delta > 0 && delta < 1) {
		delta = DefaultADWINDelta
	}
	return &ADWIN{delta: delta, used: 1}
}

// Reset is DriftDetector's.
func (a *ADWIN) Reset() { *a = ADWIN{delta: a.delta, used: 1} }

// State is DriftDetector's: the counts, and of each row of buckets how many there are, and their
// sums.
func (a *ADWIN) State() []float64 {
	s := []float64{float64(a.look), a.sum, a.sq}
	for i := range a.rows[:a.used] {
		r := &a.rows[i]
		s = append(s, float64(r.n))
		for k := range r.n {
			s = append(s, r.sum[k], r.sq[k])
		}
	}
	return s
}

// SetState is DriftDetector's.
func (a *ADWIN) SetState(s []float64) error {
	next := ADWIN{delta: a.delta}
	if len(s) < 4 || !isCount(s[0]) || s[0] >= DriftLook {
		return errState("adwin")
	}
	next.look, next.sum, next.sq = int(s[0]), s[1], s[2]
	for s = s[3:]; len(s) > 0; next.used++ {
		n := s[0]
		if s = s[1:]; next.used == adwinRows || !isCount(n) || n > adwinBuckets ||
			len(s) < 2*int(n) {
			return errState("adwin")
		}
		r := &next.rows[next.used]
		for r.n = 0; r.n < int(n); r.n++ {
			r.sum[r.n], r.sq[r.n] = s[2*r.n], s[2*r.n+1]
		}
		s = s[2*r.n:]
		next.n += int64(r.n) << next.used
	}
	if last := next.rows[next.used-1].n; last == 0 && next.used > 1 {
		return errState("adwin")
	}
	*a = next
	return nil
}

// Mean is that of the window.
func (a *ADWIN) Mean() float64 {
	if a.n == 0 {
		return 0
	}
	return a.sum / float64(a.n)
}

// Len returns how many losses the window has.
func (a *ADWIN) Len() int64 { return a.n }

// Add is DriftDetector's.
func (a *ADWIN) Add(loss float64) DriftState {
	square := float64(loss * loss)
	a.put(0, loss, square)
	a.n++
	a.sum += loss
	a.sq += square
	if a.look++; a.look < DriftLook {
		return DriftNone
	}
	a.look = 0
	state := DriftNone
	for cut, rose := a.cut(); cut; cut, rose = a.cut() {
		if rose {
			state = DriftFound
		}
		a.drop()
	}
	return state
}

// put adds a bucket, and joins the two oldest where there are too many.
func (a *ADWIN) put(i int, sum, sq float64) {
	for {
		r := &a.rows[i]
		r.sum[r.n], r.sq[r.n] = sum, sq
		if r.n++; r.n <= adwinBuckets || i+1 == adwinRows {
			return
		}
		sum, sq = r.sum[0]+r.sum[1], r.sq[0]+r.sq[1]
		r.n -= 2
		copy(r.sum[:r.n], r.sum[2:])
		copy(r.sq[:r.n], r.sq[2:])
		i++
		a.used = max(a.used, i+1)
	}
}

// cut reports whether the window falls into two, and whether the mean rose there.
func (a *ADWIN) cut() (cut, rose bool) {
	if a.n < 2*adwinLeast {
		return false, false
	}
	n, mean := float64(a.n), a.Mean()
	variance := max(0, a.sq/n-float64(mean*mean))
	l := math.Log(2 * math.Log(n) / a.delta)
	var n0 int64
	var sum0 float64
	for i := a.used - 1; i >= 0; i-- {
		r := &a.rows[i]
		for k := range r.n {
			n0 += 1 << i
			sum0 += r.sum[k]
			n1 := a.n - n0
			if n0 < adwinLeast {
				continue
			}
			if n1 < adwinLeast {
				return false, false
			}
			inverse := 1/float64(n0) + 1/float64(n1)
			d := (a.sum-sum0)/float64(n1) - sum0/float64(n0)
			if math.Abs(d) > math.Sqrt(2*inverse*variance*l)+float64(2./3*inverse*l) {
				return true, d > 0
			}
		}
	}
	return false, false
}

// drop forgets the oldest bucket.
func (a *ADWIN) drop() {
	i := a.used - 1
	r := &a.rows[i]
	a.n -= 1 << i
	a.sum -= r.sum[0]
	a.sq -= r.sq[0]
	r.n--
	copy(r.sum[:r.n], r.sum[1:])
	copy(r.sq[:r.n], r.sq[1:])
	for a.used > 1 && a.rows[a.used-1].n == 0 {
		a.used--
	}
}
