package drift

import "math"

// DefaultDelta is the confidence of the detector named adwin.
const DefaultDelta = 0.002

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
	losses
	Squares float64
	Look    int        // losses since the last look
	Rows    []adwinRow // at least one; the last one is not empty, or it is the only one
	delta   float64
}

const (
	adwinRows    = 48
	adwinBuckets = 5 // M of the paper
	adwinLeast   = 5 // losses of either part of a cut
)

// adwinRow has the buckets of 2^i losses, the oldest first.
type adwinRow struct {
	N             int
	Sums, Squares [adwinBuckets + 1]float64
}

// NewADWIN returns a detector with that confidence, above 0 and below 1.
func NewADWIN(delta float64) *ADWIN {
	return &ADWIN{delta: delta, Rows: make([]adwinRow, 1, adwinRows)}
}

// Reset is Detector's.
func (a *ADWIN) Reset() { *a = *NewADWIN(a.delta) }

// Valid is Detector's.
func (a *ADWIN) Valid() bool {
	rows, n := len(a.Rows), int64(0)
	if rows == 0 || rows > adwinRows || a.Look < 0 || a.Look >= Look ||
		rows > 1 && a.Rows[rows-1].N == 0 {
		return false
	}
	for i, r := range a.Rows {
		if r.N < 0 || r.N > adwinBuckets {
			return false
		}
		n += int64(r.N) << i
	}
	return a.N == n && a.losses.Valid()
}

// Add is Detector's.
func (a *ADWIN) Add(loss float64) (found bool) {
	square := float64(loss * loss)
	a.put(loss, square)
	a.add(loss)
	a.Squares += square
	if a.Look++; a.Look < Look {
		return false
	}
	a.Look = 0
	for cut, rose := a.cut(); cut; cut, rose = a.cut() {
		found = found || rose
		a.drop()
	}
	return found
}

// put adds a bucket of one loss, and joins the two oldest of a row that has too many.
func (a *ADWIN) put(sum, square float64) {
	for i := 0; ; i++ {
		if i == len(a.Rows) {
			a.Rows = append(a.Rows, adwinRow{})
		}
		r := &a.Rows[i]
		r.Sums[r.N], r.Squares[r.N] = sum, square
		if r.N++; r.N <= adwinBuckets || i+1 == adwinRows {
			return
		}
		sum, square = r.Sums[0]+r.Sums[1], r.Squares[0]+r.Squares[1]
		r.forget(2)
	}
}

// forget drops the n oldest buckets.
func (r *adwinRow) forget(n int) {
	r.N -= n
	copy(r.Sums[:r.N], r.Sums[n:])
	copy(r.Squares[:r.N], r.Squares[n:])
}

// cut reports whether the window falls into two, and whether the mean rose there.
func (a *ADWIN) cut() (cut, rose bool) {
	if a.N < 2*adwinLeast {
		return false, false
	}
	n, mean := float64(a.N), a.Mean()
	variance := max(0, a.Squares/n-float64(mean*mean))
	l := math.Log(2 * math.Log(n) / a.delta)
	var n0 int64
	var sum0 float64
	for i := len(a.Rows) - 1; i >= 0; i-- {
		r := &a.Rows[i]
		for k := range r.N {
			n0 += 1 << i
			sum0 += r.Sums[k]
			n1 := a.N - n0
			if n0 < adwinLeast {
				continue
			}
			if n1 < adwinLeast {
				return false, false
			}
			inverse := 1/float64(n0) + 1/float64(n1)
			d := (a.Sum-sum0)/float64(n1) - sum0/float64(n0)
			if math.Abs(d) > math.Sqrt(2*inverse*variance*l)+float64(2./3*inverse*l) {
				return true, d > 0
			}
		}
	}
	return false, false
}

// drop forgets the oldest bucket.
func (a *ADWIN) drop() {
	i := len(a.Rows) - 1
	r := &a.Rows[i]
	a.N -= 1 << i
	a.Sum -= r.Sums[0]
	a.Squares -= r.Squares[0]
	r.forget(1)
	for len(a.Rows) > 1 && a.Rows[len(a.Rows)-1].N == 0 {
		a.Rows = a.Rows[:len(a.Rows)-1]
	}
}
