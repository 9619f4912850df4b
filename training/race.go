package training

import (
	"math/bits"

	"github.com/halfspace-ml/halfspace/eval/stat"
)

// race keeps what rivals made of the same examples: how many each got wrong, and which of two the
// other got right. Its memory grows with the square of the rivals, not with the examples. Rivals
// that leave keep the counts that they had.
//
// Dropping the worse early follows O. Maron and A. Moore, "Hoeffding races", NIPS 6, 1994, with
// paired tests in place of their bound as in F-Race: M. Birattari, T. Stützle, L. Paquete and K.
// Varrentrapp, "A racing algorithm for configuring metaheuristics", GECCO 2002.
type race struct {
	alive  []int     // ascending
	seen   []int64   // examples of each
	errors []int64   // of each
	alone  [][]int64 // alone[i][j]: examples that i got wrong and j right, while both were there

	// Errors of each in batches of that many examples. When there are mostBatches of them they are
	// joined by twos, so that there are enough for a test, each as long as can be: errors near each
	// other in a stream are not independent.
	batch  int64
	filled int64 // examples in the last batch, which is not full
	counts [][]float64

	// Where rivals are judged by something else than errors: what each was judged by, of which less
	// is better, and how far apart two were on the same, apart[i][j] with j < i. These are losses
	// of examples, which stand in counts too, or with folds above 0 what each fold came to.
	judged []stat.Sample
	apart  [][]stat.Sample
	folds  float64
}

const (
	firstBatch  = 64 // a word
	mostBatches = 128
)

func newRace(rivals int) *race {
	r := &race{batch: firstBatch, seen: make([]int64, rivals), errors: make([]int64, rivals),
		counts: make([][]float64, rivals)}
	for i := range rivals {
		r.alive = append(r.alive, i)
		r.alone = append(r.alone, make([]int64, rivals))
	}
	return r
}

// judge has rivals judged by a score: with folds above 0 by what fold is given, of so many a
// repeat, else by losses that add is given. The examples of a fold are judged by one model, whose
// luck they share: only folds tell a setting's. Its memory is three times that of errors.
func (r *race) judge(score string, folds int) {
	if score == "" {
		return
	}
	r.judged = make([]stat.Sample, len(r.seen))
	for i := range r.judged {
		r.apart = append(r.apart, make([]stat.Sample, i))
	}
	r.folds = float64(folds)
}

// losing reports whether rivals are judged by losses of examples.
func (r *race) losing() bool { return r.judged != nil && r.folds == 0 }

// add counts n examples, 64 at most: a bit of wrong[i] is 1 for each that rival i got wrong, and
// losses[i] has what each cost it, if they are judged by that. Words of fewer than 64 may follow
// each other anywhere but within a batch: those are left out of it.
func (r *race) add(wrong []uint64, losses [][]float64, n int) {
	for _, i := range r.alive {
		w := wrong[i]
		r.seen[i] += int64(n)
		r.errors[i] += int64(bits.OnesCount64(w))
		for _, j := range r.alive {
			r.alone[i][j] += int64(bits.OnesCount64(w &^ wrong[j]))
		}
		if r.filled == 0 {
			r.counts[i] = append(r.counts[i], 0)
		}
		cost := float64(bits.OnesCount64(w))
		if r.losing() {
			cost = r.lose(i, losses, n)
		}
		r.counts[i][len(r.counts[i])-1] += cost
	}
	if r.filled += int64(n); r.filled < r.batch {
		return
	}
	r.filled = 0
	if len(r.counts[r.alive[0]]) < mostBatches {
		return
	}
	r.batch *= 2
	for i, c := range r.counts {
		for k := range len(c) / 2 {
			c[k] = c[2*k] + c[2*k+1]
		}
		r.counts[i] = c[:len(c)/2] // of one that left, an odd batch is left out
	}
}

// lose counts the losses of rival i in n examples, and returns their sum.
func (r *race) lose(i int, losses [][]float64, n int) (sum float64) {
	own := losses[i][:n]
	for _, v := range own {
		r.judged[i].Add(v)
		sum += v
	}
	for _, j := range r.alive {
		if j >= i {
			break
		}
		apart := r.apart[i][j]
		for k, v := range losses[j][:n] {
			apart.Add(own[k] - v)
		}
		r.apart[i][j] = apart
	}
	return sum
}

// fold counts what a fold came to for each rival, of which less is better.
func (r *race) fold(values []float64) {
	for at, i := range r.alive {
		r.judged[i].Add(values[i])
		for _, j := range r.alive[:at] {
			r.apart[i][j].Add(values[i] - values[j])
		}
	}
}

// full returns how many full batches a rival has.
func (r *race) full(i int) int {
	n := len(r.counts[i])
	if r.filled > 0 && n > 0 && r.seen[i] == r.seen[r.alive[0]] {
		n--
	}
	return n
}

// split is what i and j made of the examples that both had.
func (r *race) split(i, j int) stat.Split {
	return stat.Split{N: min(r.seen[i], r.seen[j]), First: r.alone[i][j], Second: r.alone[j][i]}
}

// mean is what a rival is judged by: its share of errors, or the mean of its losses or folds.
func (r *race) mean(i int) float64 {
	if r.judged != nil {
		return r.judged[i].Mean
	}
	return float64(r.errors[i]) / float64(max(1, r.seen[i]))
}

// pair is the sample of the differences of i and j in what they are judged by.
func (r *race) pair(i, j int) stat.Sample {
	if j < i {
		return r.apart[i][j]
	}
	s := r.apart[j][i]
	s.Mean = -s.Mean
	return s
}

// test is Student's test of a pair's differences, for folds as these need it.
func (r *race) test(s stat.Sample) (p, half float64) {
	if r.folds > 0 {
		_, p, half = s.Resampled(1, r.folds-1)
	} else {
		_, p, half = s.TTest()
	}
	return p, finiteOr0(half)
}

// differ is how far i is behind j, half its 95 % interval, and how probable as much is by chance.
func (r *race) differ(i, j int) (d, half, p float64) {
	if r.judged == nil {
		s := r.split(i, j)
		if s.N > 0 {
			d, half = s.Difference()
		}
		return d, half, s.P()
	}
	s := r.pair(i, j)
	p, half = r.test(s)
	return s.Mean, half, p
}

// Student's test is not believed of fewer: losses have long tails, and two folds may agree by
// chance.
const (
	leastLosses = 64
	leastFolds  = 3
)

// worse is how probable it is by chance that i is so far behind j: a test of one side.
func (r *race) worse(i, j int) float64 {
	if r.judged == nil {
		s := r.split(i, j)
		return stat.McNemarWorse(s.First, s.Second)
	}
	s, least := r.pair(i, j), int64(leastLosses)
	if r.folds > 0 {
		least = leastFolds
	}
	if s.N < least {
		return 1
	}
	p, _ := r.test(s)
	if s.Mean > 0 {
		return p / 2
	}
	return 1 - p/2
}

// batches is the sample of the differences of i and j in the share of errors in a batch, or in its
// mean loss.
func (r *race) batches(i, j int) stat.Sample {
	var s stat.Sample
	for k := range min(r.full(i), r.full(j)) {
		s.Add((r.counts[i][k] - r.counts[j][k]) / float64(r.batch))
	}
	return s
}

// cochran is Cochran's Q of all rivals; it needs all that there were from the start. An example on
// which l of k are right has l (k-l) pairs that disagree.
func (r *race) cochran() (q, p float64) {
	var c stat.Cochran
	for i, e := range r.errors {
		c.Right = append(c.Right, r.seen[i]-e)
		for j := range r.alone {
			c.Within += r.alone[i][j]
		}
	}
	return c.Test()
}

// leader returns the best of those that are left, the first of several. All have seen the same.
func (r *race) leader() int {
	best := r.alive[0]
	for _, i := range r.alive {
		if r.mean(i) < r.mean(best) {
			best = i
		}
	}
	return best
}

// leave takes a rival out.
func (r *race) leave(i int) {
	if n := r.full(i); n < len(r.counts[i]) {
		r.counts[i] = r.counts[i][:n]
	}
	rest := r.alive[:0:0]
	for _, k := range r.alive {
		if k != i {
			rest = append(rest, k)
		}
	}
	r.alive = rest
}

// look takes out the rivals that are worse than the leader by a test of one side, McNemar's or of
// losses and folds Student's, at level alpha for all of them together (Holm), and returns them.
func (r *race) look(alpha float64) (left []int) {
	if alpha <= 0 || len(r.alive) < 2 {
		return nil
	}
	best := r.leader()
	var others []int
	var p []float64
	for _, i := range r.alive {
		if i != best {
			others = append(others, i)
			p = append(p, r.worse(i, best))
		}
	}
	for k, p := range stat.Holm(p) {
		if p <= alpha {
			left = append(left, others[k])
		}
	}
	for _, i := range left {
		r.leave(i)
	}
	return left
}

// nextLook returns the number of examples of the look behind the one at n: at 256, 384, 512, 768
// and so on, so that there are few of them and losers leave early. All are multiples of 64.
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
