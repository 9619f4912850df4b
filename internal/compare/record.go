package compare

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/halfspace-ml/halfspace/internal/stat"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// record is what a candidate made of the examples, in their order.
type record struct {
	n      int64 // examples
	errors int64
	wrong  []uint64    // bit i%64 of word i/64 is 1 if example i was wrong
	losses []float64   // of the examples, or of the folds, if candidates are judged by these
	judged stat.Sample // of losses
}

// add adds an example.
func (r *record) add(wrong bool) {
	if r.n%64 == 0 {
		r.wrong = append(r.wrong, 0)
	}
	if wrong {
		r.wrong[r.n/64] |= 1 << (r.n % 64)
		r.errors++
	}
	r.n++
}

// lose adds a loss.
func (r *record) lose(v float64) {
	r.losses = append(r.losses, v)
	r.judged.Add(v)
}

// cut drops all examples after the first n, of candidates that are judged by examples.
func (r *record) cut(n int64) {
	if r.n <= n {
		return
	}
	r.n, r.errors, r.wrong = n, 0, r.wrong[:(n+63)/64]
	if n%64 > 0 {
		r.wrong[n/64] &= 1<<(n%64) - 1
	}
	for _, w := range r.wrong {
		r.errors += int64(bits.OnesCount64(w))
	}
	all := r.losses[:min(int64(len(r.losses)), n)]
	r.losses, r.judged = nil, stat.Sample{}
	for _, v := range all {
		r.lose(v)
	}
}

// rate is the fraction of wrong examples.
func (r *record) rate() float64 { return float64(r.errors) / float64(max(1, r.n)) }

// board has the records of all candidates, and tests their differences.
//
// Eliminating the worse early follows O. Maron and A. Moore, "Hoeffding races", NIPS 6, 1994, with
// paired tests in place of their bound as in F-Race: M. Birattari, T. Stützle, L. Paquete and K.
// Varrentrapp, "A racing algorithm for configuring metaheuristics", GECCO 2002.
type board struct {
	records []record
	alive   []int // candidates that were not eliminated, ascending
	score   string
	// folds is the number of folds of a repeat if a score is judged by folds, else 0. One model
	// predicts all examples of a fold, so only folds can test a setting.
	folds int
}

func newBoard(candidates int, score string, folds int) *board {
	b := &board{records: make([]record, candidates), score: score, folds: folds}
	for i := range candidates {
		b.alive = append(b.alive, i)
	}
	return b
}

// found reports whether err only stopped a comparison in which all that are left had examples.
func (b *board) found(err error) bool {
	return errors.Is(err, training.ErrStopped) && !slices.ContainsFunc(b.alive,
		func(i int) bool { return b.records[i].n == 0 })
}

// byLosses reports whether candidates are judged by losses of examples.
func (b *board) byLosses() bool { return b.score != "" && b.folds == 0 }

// mean is what a candidate is judged by: its error, or the mean of its losses or folds.
func (b *board) mean(i int) float64 {
	if b.score != "" {
		return b.records[i].judged.Mean
	}
	return b.records[i].rate()
}

// split counts the examples that only one of i and j got wrong, of those that both had.
func (b *board) split(i, j int) stat.Split {
	x, y := &b.records[i], &b.records[j]
	s := stat.Split{N: min(x.n, y.n)}
	for k := range (s.N + 63) / 64 {
		u, v, own := x.wrong[k], y.wrong[k], ^uint64(0)
		if rest := s.N - 64*k; rest < 64 {
			own = 1<<rest - 1
		}
		s.First += int64(bits.OnesCount64(u &^ v & own))
		s.Second += int64(bits.OnesCount64(v &^ u & own))
	}
	return s
}

// pair is the sample of the differences of i and j in what they are judged by.
func (b *board) pair(i, j int) (s stat.Sample) {
	if j > i {
		s = b.pair(j, i)
		s.Mean = -s.Mean
		return s
	}
	x, y := b.records[i].losses, b.records[j].losses
	for k := range min(len(x), len(y)) {
		s.Add(x[k] - y[k])
	}
	return s
}

// test is Student's test of a pair's differences, corrected for folds.
func (b *board) test(s stat.Sample) (p, half float64) {
	if b.folds > 0 {
		_, p, half = s.Resampled(1, float64(b.folds)-1)
	} else {
		_, p, half = s.TTest()
	}
	return p, finiteOr0(half)
}

// differ is how much worse i is than j, half the 95 % interval, and the probability of such a
// difference by chance.
func (b *board) differ(i, j int) (d, half, p float64) {
	if b.score == "" {
		s := b.split(i, j)
		if s.N > 0 {
			d, half = s.Difference()
		}
		return d, half, s.P()
	}
	s := b.pair(i, j)
	p, half = b.test(s)
	return s.Mean, half, p
}

// Student's test needs more: losses have long tails, and two folds may agree by chance.
const (
	leastLosses = 64
	leastFolds  = 3
)

// worse is the one-sided probability that i is so much worse than j by chance.
func (b *board) worse(i, j int) float64 {
	if b.score == "" {
		s := b.split(i, j)
		return stat.McNemarWorse(s.First, s.Second)
	}
	s, least := b.pair(i, j), int64(leastLosses)
	if b.folds > 0 {
		least = leastFolds
	}
	if s.N < least {
		return 1
	}
	p, _ := b.test(s)
	if s.Mean > 0 {
		return p / 2
	}
	return 1 - p/2
}

// Batches have firstBatch examples. When there are mostBatches they are joined in pairs: then there
// are enough for a test, each as long as can be, since neighbours in a stream are not independent.
const (
	firstBatch  = 64 // a word
	mostBatches = 128
)

// batches are the errors, or losses, of i in full batches of size examples.
func (b *board) batches(i int) (sums []float64, size int64) {
	r, filled := &b.records[i], int64(0)
	size = firstBatch
	for k := range r.n / 64 {
		cost := 0.0
		if b.byLosses() {
			for _, v := range r.losses[64*k : 64*k+64] {
				cost += v
			}
		} else {
			cost = float64(bits.OnesCount64(r.wrong[k]))
		}
		if filled == 0 {
			sums = append(sums, 0)
		}
		sums[len(sums)-1] += cost
		if filled += 64; filled < size {
			continue
		}
		if filled = 0; len(sums) == mostBatches {
			for k := range mostBatches / 2 {
				sums[k] = sums[2*k] + sums[2*k+1]
			}
			sums, size = sums[:mostBatches/2], 2*size
		}
	}
	if filled > 0 {
		sums = sums[:len(sums)-1]
	}
	return sums, size
}

// byBatch is the sample of the differences of i and j, which had the same examples, in the error or
// mean loss of a batch of size examples.
func (b *board) byBatch(i, j int) (s stat.Sample, size int64) {
	x, size := b.batches(i)
	y, _ := b.batches(j)
	for k := range x {
		s.Add((x[k] - y[k]) / float64(size))
	}
	return s, size
}

// cochran is Cochran's Q of all candidates, none of which was eliminated. An example on which l of
// k are right has l (k-l) pairs that disagree.
func (b *board) cochran() (q, p float64) {
	var c stat.Cochran
	for i, r := range b.records {
		c.Right = append(c.Right, r.n-r.errors)
		for j := range i {
			s := b.split(i, j)
			c.Within += s.First + s.Second
		}
	}
	return c.Test()
}

// leader is the best candidate that is left, the first of equals.
func (b *board) leader() int {
	best := b.alive[0]
	for _, i := range b.alive {
		if b.mean(i) < b.mean(best) {
			best = i
		}
	}
	return best
}

// leave takes a candidate out.
func (b *board) leave(i int) {
	b.alive = slices.DeleteFunc(slices.Clone(b.alive), func(k int) bool { return k == i })
}

// eliminate takes out the candidates that are worse than the leader by a one-sided test, McNemar's
// or for a score Student's, at level alpha for all of them together (Holm), and returns them.
func (b *board) eliminate(alpha float64) (left []int) {
	if alpha <= 0 || len(b.alive) < 2 {
		return nil
	}
	best := b.leader()
	var others []int
	var p []float64
	for _, i := range b.alive {
		if i != best {
			others = append(others, i)
			p = append(p, b.worse(i, best))
		}
	}
	for k, p := range stat.Holm(p) {
		if p <= alpha {
			left = append(left, others[k])
			b.leave(others[k])
		}
	}
	return left
}

// nextLook returns the number of examples at the first look after n: 256, 384, 512, 768 and so on.
// There are few looks, and losers leave early.
func nextLook(n int64) int64 {
	look := int64(256)
	for look <= n {
		look *= 2
	}
	if less := look / 4 * 3; less > n && less > 256 {
		return less
	}
	return look
}
