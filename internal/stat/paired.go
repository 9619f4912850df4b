package stat

import (
	"fmt"
	"math"
	"slices"
)

// exactMost is up to how many examples McNemar counts exactly: beyond, the normal approximation
// with a correction for continuity is within 1 % of it.
const exactMost = 10_000

// McNemar is the test of Q. McNemar, "Note on the sampling error of the difference between
// correlated proportions", Psychometrika 12, 1947: of the examples that one of two classifiers
// alone gets wrong, first and second are each one's. It returns the probability of a split at least
// as uneven where both are wrong equally often: exactly (the binomial distribution, both sides) up
// to 10 000 such examples, and by the normal distribution with Edwards' correction for continuity
// beyond. 1 where there are none. Cost: O(the smaller count) up to 10 000.
func McNemar(first, second int64) float64 {
	return min(1, 2*McNemarWorse(max(first, second), min(first, second)))
}

// McNemarWorse is one side of McNemar: the probability that as many as first, or more, of those
// examples fall to the first classifier, where both are wrong equally often.
func McNemarWorse(first, second int64) float64 {
	n := first + second
	if n > exactMost {
		return NormalTail((float64(first-second) - 1) / math.Sqrt(float64(n)))
	}
	if first <= second { // the other tail has fewer terms
		return 1 - binomialTail(n, second+1)
	}
	return binomialTail(n, first)
}

// binomialTail is the probability of at least k of n fair coins, n/2 < k; 0 for k > n.
func binomialTail(n, k int64) float64 {
	if k > n {
		return 0
	}
	lg := func(x int64) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	// the terms fall from k on; their sum in units of the first one
	sum, term := 1.0, 1.0
	for i := k; i < n && term > 1e-18*sum; i++ {
		term *= float64(n-i) / float64(i+1)
		sum += term
	}
	return min(1, math.Exp(lg(n)-lg(k)-lg(n-k)-float64(n)*math.Ln2)*sum)
}

// Split is what two classifiers made of the same examples.
type Split struct {
	N      int64 // examples
	First  int64 // that the first alone got wrong
	Second int64 // that the second alone got wrong
}

// Difference returns the first one's share of errors less the second's, and half a 95 % interval of
// it: 1.96 standard errors of a difference of paired shares. NaN without examples.
func (s Split) Difference() (d, half float64) {
	n := float64(s.N)
	d = float64(s.First-s.Second) / n
	variance := (float64(s.First+s.Second)/n - float64(d*d)) / n
	return d, 1.959963984540054 * math.Sqrt(max(0, variance))
}

// P is McNemar of the two counts.
func (s Split) P() float64 { return McNemar(s.First, s.Second) }

// Sample adds up numbers for their mean and spread. Its zero value is empty; numbers are added by
// Add, one after another (B. P. Welford, Technometrics 4, 1962).
type Sample struct {
	N    int64
	Mean float64
	m2   float64 // sum of squared differences from the mean
}

// Add takes one number.
func (s *Sample) Add(v float64) {
	s.N++
	d := v - s.Mean
	s.Mean += d / float64(s.N)
	s.m2 += float64(d * (v - s.Mean))
}

// Variance is that of the numbers, by N-1; NaN of fewer than two.
func (s Sample) Variance() float64 {
	if s.N < 2 {
		return math.NaN()
	}
	return s.m2 / float64(s.N-1)
}

// TTest is Student's test whether the numbers have mean 0, as differences of pairs do where there
// is none. half is half the mean's 95 % interval. Where all numbers are the same, p is 0, or 1 if
// they are 0. Of fewer than two numbers p is 1 and half infinite.
func (s Sample) TTest() (t, p, half float64) { return s.tTest(1 / float64(s.N)) }

// Resampled is TTest with the variance of the mean multiplied as C. Nadeau and Y. Bengio,
// "Inference for the generalization error", Machine Learning 52, 2003, correct it where the numbers
// are of models whose training sets overlap: 1/N becomes 1/N + test/train, the numbers of examples
// tested and trained on.
func (s Sample) Resampled(test, train float64) (t, p, half float64) {
	return s.tTest(1/float64(s.N) + test/train)
}

func (s Sample) tTest(share float64) (t, p, half float64) {
	if s.N < 2 {
		return math.NaN(), 1, math.Inf(1)
	}
	degrees := float64(s.N - 1)
	se := math.Sqrt(s.Variance() * share)
	half = StudentHalf(0.95, degrees) * se
	switch {
	case se > 0:
		t = s.Mean / se
		return t, 2 * StudentTail(math.Abs(t), degrees), half
	case s.Mean == 0:
		return 0, 1, 0
	}
	return math.Inf(int(math.Copysign(1, s.Mean))), 0, 0
}

// Holm returns p values of several tests, adjusted so that those at most alpha can be believed
// together: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
// Journal of Statistics 6, 1979. The j-th smallest of m is multiplied by m-j+1, and none is below
// the one before it.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	adjusted, before := make([]float64, len(p)), 0.0
	for j, i := range order {
		before = max(before, min(1, p[i]*float64(len(p)-j)))
		adjusted[i] = before
	}
	return adjusted
}

// CochranQ tests whether classifiers are wrong equally often on the same examples: W. G. Cochran,
// "The comparison of percentages in matched samples", Biometrika 37, 1950. right[j][i] is whether
// classifier j is right on example i; see [Cochran]. Cost: O(k) an example.
func CochranQ(right ...[]bool) (q, p float64, err error) {
	k := len(right)
	if k < 2 {
		return 0, 0, fmt.Errorf("stat: Cochran's Q of %d classifiers, want 2 or more", k)
	}
	c := Cochran{Right: make([]int64, k)}
	row := make([]bool, k)
	for j, r := range right {
		if len(r) != len(right[0]) {
			return 0, 0, fmt.Errorf("stat: Cochran's Q: classifier %d has %d examples, "+
				"classifier 0 has %d", j, len(r), len(right[0]))
		}
	}
	for i := range right[0] {
		for j, r := range right {
			row[j] = r[i]
		}
		c.Add(row)
	}
	q, p = c.Test()
	return q, p, nil
}

// Cochran is what Cochran's Q is made of, in memory that doesn't grow with the examples.
type Cochran struct {
	Right []int64 // examples that each classifier got right
	// Within is the sum over the examples of l (k-l), where l of k classifiers were right: the
	// number of pairs of classifiers that disagree.
	Within int64
}

// Add takes an example: which classifiers are right. There must be as many as in Right. Cost: O(k).
func (c *Cochran) Add(right []bool) {
	l := 0
	for j, ok := range right {
		if ok {
			c.Right[j]++
			l++
		}
	}
	c.Within += int64(l * (len(right) - l))
}

// Test returns Q and p. With G_j examples right of classifier j and L_i classifiers right on
// example i,
//
//	Q = (k-1) (k sum G_j^2 - (sum G_j)^2) / (k sum L_i - sum L_i^2)
//
// has nearly the chi-squared distribution with k-1 degrees of freedom if they are wrong equally
// often; p is the probability of a Q at least as large. For two classifiers it is McNemar's test
// without a correction. Where all agree on every example Q is 0 and p is 1.
func (c *Cochran) Test() (q, p float64) {
	if c.Within == 0 {
		return 0, 1
	}
	var sum, squares float64
	for _, g := range c.Right {
		sum += float64(g)
		squares += float64(g) * float64(g)
	}
	k := float64(len(c.Right))
	q = (k - 1) * (k*squares - sum*sum) / float64(c.Within)
	return q, ChiSquaredTail(q, len(c.Right)-1)
}
