package engine

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	randv2 "math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

var _ randv2.Source = (*Rand)(nil)

// anyTau yields probabilities of every size, the edges often.
var anyTau = rapid.OneOf(
	rapid.SampledFrom([]float64{0, 1, 0.5, 0.25, 0.75, 0.01, 0.05, 0.3, 1.0 / 3, 0x1p-11, 0x1.8p-11,
		0x1p-12, 0x1.fffp-12, math.Nextafter(1, 0),
		0x1p-64, 0x1.8p-65, 0x1p-1022, 0x1.fffffffffffffp-1022, 0x1.8p-1040,
		math.SmallestNonzeroFloat64}),
	rapid.Float64Range(0, 1),
)

// TestMasksAreDraws: a mask bit is the member's own draw, whatever the number of members, the word
// that they begin with and the number of examples; the rest of an example's last word is 0.
func TestMasksAreDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewDraws(rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "stream")).Bernoulli(
			anyTau.Draw(t, "tau"))
		members := rapid.IntRange(1, 300).Draw(t, "members")
		word := rapid.IntRange(0, 5).Draw(t, "word")
		first := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(1<<48-4, 1<<48)).Draw(t, "example")
		words, examples := (members+63)/64, rapid.IntRange(0, 9).Draw(t, "examples")
		mask := make([]uint64, words*examples)
		b.Masks(mask, word, members, first)
		for i, m := range mask {
			for l := range 64 {
				member := i%words*64 + l
				want := member < members && b.Draw(64*word+member, first+uint64(i/words))
				if got := m>>l&1 != 0; got != want {
					t.Fatalf("example %d, member %d of %d from word %d on: %v, want %v", i/words,
						member, members, word, got, want)
				}
			}
		}
	})
}

// TestDigits: tau's digits are those of the number, checked in exact arithmetic.
func TestDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tau := anyTau.Draw(t, "tau")
		b := NewDraws(1, 2).Bernoulli(tau)
		sum := new(big.Float).SetPrec(1100)
		if b.all {
			sum.SetInt64(1)
		}
		for d := range b.n {
			if b.digits[d/64]<<(d%64)>>63 != 0 {
				sum.Add(sum, new(big.Float).SetMantExp(big.NewFloat(1), -d-1))
			}
		}
		if want := new(big.Float).SetFloat64(tau); sum.Cmp(want) != 0 {
			t.Fatalf("digits make %v, want %v", sum, want)
		}
	})
}

func TestBernoulliRange(t *testing.T) {
	for _, tau := range []float64{-1e-300, math.Nextafter(1, 2), math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("tau %v was accepted", tau)
				}
			}()
			NewDraws(1, 2).Bernoulli(tau)
		}()
	}
}

// TestGoldenDraws pins the numbers: models that are stored must go on to the same draws.
func TestGoldenDraws(t *testing.T) {
	mask := make([]uint64, 2)
	NewDraws(1, 2).Bernoulli(0.3).Masks(mask, 0, 100, 3)
	perm := make([]int32, 8)
	Permute(perm, 1, 2)
	r := NewRand(1, 2)
	got := fmt.Sprintf("%x %v %x %x %x %d", mask, perm, r.Uint64(), r.Normal(), r.Uniform(),
		r.IntN(1000))
	const want = "[887800208be53400 880eb2480] [1 4 3 2 6 7 0 5] b983769a64bba081 " +
		"-0x1.b6843faeff8d4p-01 0x1.311852aaffa28p-04 334"
	if got != want {
		t.Errorf("draws are\n%s, want\n%s", got, want)
	}
}

// ---- Quality. Each check gives p-values of a statistic under the claim "independent bits, 1 with
// probability tau". Seeds are fixed, so a run can't fail by chance; floor is far below what the few
// hundred p-values here would reach by chance.

const floor = 1e-6

// maskFunc is the mask of the draws of a seed, stream and tau.
type maskFunc func(seed, stream uint64, tau float64) func(mask []uint64, members int,
	example uint64)

func ourMasks(seed, stream uint64, tau float64) func([]uint64, int, uint64) {
	b := NewDraws(seed, stream).Bernoulli(tau)
	return func(mask []uint64, members int, example uint64) { b.Masks(mask, 0, members, example) }
}

// zP is the two-sided p-value of a count of n Bernoulli(p) trials, by the normal approximation.
func zP(count, n, p float64) float64 {
	if n*p < 1e-9 && count > 0 { // too rare for the approximation: the chance of any hit
		return n * p
	}
	return math.Erfc(math.Abs(count-n*p) / math.Sqrt(2*n*p*(1-p)))
}

// chiP is the two-sided p-value of a sum of df squared standard normals: too even is as wrong as
// too uneven.
func chiP(x float64, df int) float64 {
	c := distuv.ChiSquared{K: float64(df)}
	return 2 * min(c.CDF(x), c.Survival(x))
}

// worst is the Bonferroni p-value of the smallest of several.
func worst(p []float64) float64 { return min(1, slices.Min(p)*float64(len(p))) }

// history holds bit e of lane l in bits[l][e/64].
func history(f func([]uint64, int, uint64), members, examples int) [][]uint64 {
	h := make([][]uint64, members)
	for l := range h {
		h[l] = make([]uint64, examples/64)
	}
	mask := make([]uint64, (members+63)/64)
	for e := range examples {
		f(mask, members, uint64(e))
		for g, m := range mask {
			for ; m != 0; m &= m - 1 {
				h[64*g+bits.TrailingZeros64(m)][e/64] |= 1 << (e % 64)
			}
		}
	}
	return h
}

func ones(a []uint64) (n int) {
	for _, w := range a {
		n += bits.OnesCount64(w)
	}
	return n
}

// covariance is the sum of (a[e]-tau)*(b[e+lag]-tau) over the first n examples. Its terms are
// uncorrelated, of variance (tau*(1-tau))^2, for any two sequences of independent draws and for one
// with itself at a lag.
func covariance(a, b []uint64, lag, n int, tau float64) float64 {
	na, nb, both := 0, 0, 0
	for w := range n / 64 {
		v := b[w+lag/64] >> (lag % 64)
		if lag%64 > 0 {
			v |= b[w+lag/64+1] << (64 - lag%64)
		}
		na += bits.OnesCount64(a[w])
		nb += bits.OnesCount64(v)
		both += bits.OnesCount64(a[w] & v)
	}
	return float64(both) - tau*float64(na+nb) + float64(n)*tau*tau
}

// covP is the p-value of a covariance over n terms.
func covP(cov float64, n int, tau float64) float64 {
	return math.Erfc(math.Abs(cov) / (tau * (1 - tau) * math.Sqrt(2*float64(n))))
}

const (
	testLanes    = 130 // two full words and two lanes of a third
	testExamples = 1 << 15
)

var checks = []struct {
	name string
	p    func(f maskFunc, tau float64) float64
}{
	{"total", func(f maskFunc, tau float64) float64 {
		n := 0
		mask, draw := make([]uint64, 3), f(7, 0, tau)
		for e := range 1 << 18 {
			draw(mask, testLanes, uint64(e))
			n += ones(mask)
		}
		return zP(float64(n), testLanes<<18, tau)
	}},
	{"every lane", func(f maskFunc, tau float64) float64 {
		x, scale := 0.0, testExamples*tau*(1-tau)
		for _, l := range history(f(7, 0, tau), testLanes, testExamples) {
			d := float64(ones(l)) - testExamples*tau
			x += d * d / scale
		}
		return chiP(x, testLanes)
	}},
	// against Binomial(testLanes, tau)
	{"count per example", func(f maskFunc, tau float64) float64 {
		var seen [testLanes + 1]float64
		mask, draw := make([]uint64, 3), f(7, 0, tau)
		for e := range testExamples {
			draw(mask, testLanes, uint64(e))
			seen[ones(mask)]++
		}
		binomial := distuv.Binomial{N: testLanes, P: tau}
		x, df, o, w := 0.0, -1, 0.0, 0.0
		for k := range seen { // bins of at least 20 expected
			o, w = o+seen[k], w+testExamples*binomial.Prob(float64(k))
			if w >= 20 {
				x, df, o, w = x+(o-w)*(o-w)/w, df+1, 0, 0
			}
		}
		return chiP(x, df)
	}},
	{"pairs of lanes", func(f maskFunc, tau float64) float64 {
		h := history(f(7, 0, tau), testLanes, testExamples)
		var p []float64
		for a := range h {
			for b := range a {
				p = append(p, covP(covariance(h[a], h[b], 0, testExamples, tau), testExamples, tau))
			}
		}
		return worst(p)
	}},
	// a lane now and any lane's count some examples later
	{"lags", func(f maskFunc, tau float64) float64 {
		h := history(f(7, 0, tau), testLanes, testExamples)
		var p []float64
		for a := range h {
			for _, b := range []int{a, (a + 1) % testLanes, (a + 64) % testLanes} {
				for lag := 1; lag <= 64; lag++ {
					p = append(p, covP(covariance(h[a], h[b], lag, testExamples-128, tau),
						testExamples-128, tau))
				}
			}
		}
		return worst(p)
	}},
	{"runs", func(f maskFunc, tau float64) float64 { // Wald and Wolfowitz, given the number of ones
		x := 0.0
		for _, l := range history(f(7, 0, tau), testLanes, testExamples) {
			n1 := float64(ones(l))
			n0 := testExamples - n1
			runs := 1.0
			for e := 1; e < testExamples; e++ {
				if (l[e/64]>>(e%64)^l[(e-1)/64]>>((e-1)%64))&1 != 0 {
					runs++
				}
			}
			mean := 2*n0*n1/testExamples + 1
			variance := (mean - 1) * (mean - 2) / (testExamples - 1)
			x += (runs - mean) * (runs - mean) / variance
		}
		return chiP(x, testLanes)
	}},
	{"neighbouring seeds and streams", func(f maskFunc, tau float64) float64 {
		keys := [][2]uint64{{7, 0}, {8, 0}, {7, 1}, {0, 7}, {1, 7}, {6, 0}, {7 | 1<<63, 0},
			{7, 1 << 63}, {7 ^ 1<<32, 0}}
		hs := make([][][]uint64, len(keys))
		for i, k := range keys {
			hs[i] = history(f(k[0], k[1], tau), testLanes, testExamples)
		}
		var p []float64
		for i := range hs {
			for j := range hs {
				if i == j {
					continue
				}
				for _, lag := range []int{0, 1, 64} {
					for _, shift := range []int{0, 64} { // lanes
						sum := 0.0
						for a := range testLanes {
							sum += covariance(hs[i][a], hs[j][(a+shift)%testLanes], lag,
								testExamples-128, tau)
						}
						p = append(p, covP(sum, testLanes*(testExamples-128), tau))
					}
				}
			}
		}
		return worst(p)
	}},
}

func TestMaskQuality(t *testing.T) {
	for _, tau := range []float64{0.05, 0.3, 0.5, 0.8} {
		for _, c := range checks {
			p := c.p(ourMasks, tau)
			t.Logf("tau %v, %s: p = %.3g", tau, c.name, p)
			if p < floor {
				t.Errorf("tau %v, %s: p = %.2g", tau, c.name, p)
			}
		}
	}
	for _, tau := range []float64{0, 1e-4, 0.01, 1.0 / 3, 0.999, 1} { // the count alone
		p := 1.0
		if tau == 0 || tau == 1 {
			mask := []uint64{5, 5, 5}
			ourMasks(7, 0, tau)(mask, testLanes, 9)
			if got, want := ones(mask), int(tau)*testLanes; got != want {
				t.Errorf("tau %v: %d of %d lanes", tau, got, testLanes)
			}
		} else {
			p = checks[0].p(ourMasks, tau)
		}
		if p < floor {
			t.Errorf("tau %v: p = %.2g", tau, p)
		}
	}
}

// TestAvalanche: a flipped bit of seed, stream, group or example flips each bit of the words with
// probability 1/2.
func TestAvalanche(t *testing.T) {
	word := func(in [4]uint64, d uint64) uint64 {
		k := newKey(kindMask, in[0], in[1])
		return k.fold(k.start(in[2]^in[3]<<48) + d*step)
	}
	const trials = 4000
	r := NewRand(3, 4)
	var p []float64
	for field := range 4 {
		for bit := range 64 {
			if field == 3 && bit >= 16 || field == 2 && bit >= 48 {
				continue // the limits that Bernoulli states
			}
			var flips [64]int
			for i := range trials {
				in := [4]uint64{r.Uint64(), r.Uint64(), uint64(i), uint64(r.IntN(4))}
				a := word(in, uint64(i%8))
				in[field] ^= 1 << bit
				for d := a ^ word(in, uint64(i%8)); d != 0; d &= d - 1 {
					flips[bits.TrailingZeros64(d)]++
				}
			}
			for _, f := range flips {
				p = append(p, zP(float64(f), trials, 0.5))
			}
		}
	}
	if w := worst(p); w < floor {
		t.Errorf("smallest of %d p-values, corrected: %.2g", len(p), w)
	}
}

// permP are p-values for a way to permute: all orders of 5 equally often, and every number of 40 in
// every place equally often, in the next epoch too, whatever place it had.
func permP(permute func(dst []int32, seed, epoch uint64)) float64 {
	const n, each = 5, 500
	counts := map[[n]int32]float64{}
	for epoch := range uint64(120 * each) {
		var p [n]int32
		permute(p[:], 1, epoch)
		counts[p]++
	}
	x := float64(120-len(counts)) * each
	for _, c := range counts {
		x += (c - each) * (c - each) / each
	}
	p := []float64{chiP(x, 119)}

	const m, runs = 40, 20000
	var place, next [m][m]float64
	last, now := make([]int32, m), make([]int32, m)
	permute(last, 2, 0)
	for epoch := range uint64(runs) {
		permute(now, 2, epoch+1)
		for i := range now {
			place[i][now[i]]++
			next[last[i]][now[i]]++
		}
		copy(last, now)
	}
	for _, table := range []*[m][m]float64{&place, &next} {
		x := 0.0
		for i := range table {
			for _, c := range table[i] {
				x += (c - runs/m) * (c - runs/m) / (runs / m)
			}
		}
		// A random permutation matrix has variance 1/(m-1) per cell instead of (1/m)(1-1/m), and
		// (m-1)^2 free cells.
		p = append(p, chiP(x*(m-1)/m, (m-1)*(m-1)))
	}
	return worst(p)
}

func TestPermuteQuality(t *testing.T) {
	if p := permP(Permute); p < floor {
		t.Errorf("p = %.2g", p)
	}
}

func TestPermuteIsPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dst := rapid.SliceOfN(rapid.Int32(), 0, 300).Draw(t, "dst")
		Permute(dst, rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "epoch"))
		slices.Sort(dst)
		for i, v := range dst {
			if v != int32(i) {
				t.Fatalf("%d is not there", i)
			}
		}
	})
}

func TestRandPosition(t *testing.T) {
	r := NewRand(5, 6)
	for range 10 {
		r.Uint64()
	}
	at := r.pos
	want := []uint64{r.Uint64(), r.Uint64()}
	s := NewRand(5, 6)
	s.Seek(at)
	if got := []uint64{s.Uint64(), s.Uint64()}; at != 10 || !slices.Equal(got, want) {
		t.Errorf("at %d: %x, want %x", at, got, want)
	}
	// math/rand/v2 keeps no state of its own, so the position covers its numbers as well.
	a := randv2.New(r).NormFloat64()
	r.Seek(12)
	if b := randv2.New(r).NormFloat64(); a != b {
		t.Errorf("NormFloat64 from position 12: %v and %v", a, b)
	}
}

// bytesP is the chi-square p-value of each of the 8 bytes of words, and of pairs of a byte and the
// same one a word later.
func bytesP(word func() uint64) float64 {
	const n = 1 << 20
	var single [8][256]float64
	pair := make([]float64, 1<<16)
	last := uint64(0)
	for range n {
		w := word()
		for k := range 8 {
			single[k][w>>(8*k)&255]++
		}
		pair[w&255<<8|last&255]++
		last = w
	}
	chi := func(c []float64) float64 {
		x, want := 0.0, float64(n)/float64(len(c))
		for _, v := range c {
			x += (v - want) * (v - want) / want
		}
		return chiP(x, len(c)-1)
	}
	p := []float64{chi(pair)}
	for k := range single {
		p = append(p, chi(single[k][:]))
	}
	return worst(p)
}

func TestRandQuality(t *testing.T) {
	for seed := range uint64(3) {
		if p := bytesP(NewRand(seed, 0).Uint64); p < floor {
			t.Errorf("seed %d: p = %.2g", seed, p)
		}
	}
	streams := uint64(0)
	// the first word of each stream
	if p := bytesP(func() uint64 { streams++; return NewRand(1, streams).Uint64() }); p < floor {
		t.Errorf("across streams: p = %.2g", p)
	}
}

// cellsP is the chi-square p-value of numbers in [0, 1) in 1000 equal cells.
func cellsP(u func() float64) float64 {
	const cells, each = 1000, 500
	var c [cells]float64
	for range cells * each {
		c[int(u()*cells)]++
	}
	x := 0.0
	for _, v := range c {
		x += (v - each) * (v - each) / each
	}
	return chiP(x, cells-1)
}

func TestUniformAndNormal(t *testing.T) {
	r := NewRand(8, 9)
	phi := func(x float64) float64 { return min(math.Erfc(-x/math.Sqrt2)/2, math.Nextafter(1, 0)) }
	if p := cellsP(r.Uniform); p < floor {
		t.Errorf("Uniform: p = %.2g", p)
	}
	if p := cellsP(func() float64 { return phi(r.Normal()) }); p < floor {
		t.Errorf("Normal: p = %.2g", p)
	}
	if p := cellsP(func() float64 { return (float64(r.IntN(3000)) + 0.5) / 3000 }); p < floor {
		t.Errorf("IntN: p = %.2g", p)
	}
}

// TestBelowUnbiased: with n = 3 * 2^61 and no word refused, 2 modulo 3 would come in 2 of 8 cases,
// 0 and 1 in 3 of 8 each.
func TestBelowUnbiased(t *testing.T) {
	r := NewRand(1, 1)
	const n, trials = 3 << 61, 30000
	thirds := [3]float64{}
	for range trials {
		thirds[r.below(n)%3]++
	}
	x := 0.0
	for _, c := range thirds {
		x += (c - trials/3) * (c - trials/3) / (trials / 3)
	}
	if p := chiP(x, 2); p < floor {
		t.Errorf("%v, p = %.2g", thirds, p)
	}
	if r.pos == trials {
		t.Error("no word was refused, though one in four is")
	}
}

// TestNormalQuantile: Phi(quantile(p)) = p to the accuracy of erfc, which has relative error below
// 1e-15; d ln Phi / d ln x is about x^2, up to 58, at the far end.
func TestNormalQuantile(t *testing.T) {
	r := NewRand(1, 1)
	for i := range 200000 {
		p := r.Uniform() / 2
		if i%2 == 0 { // small ones too
			p = math.Ldexp(0.5+p, -i%45)
		}
		if p < 0x1p-46 || p > 0.5 {
			continue
		}
		x := normalQuantile(p)
		if back := math.Erfc(-x/math.Sqrt2) / 2; math.Abs(back-p) > 4e-14*p {
			t.Fatalf("quantile(%v) = %v, where the distribution function is %v", p, x, back)
		}
		if l := log(p); math.Abs(l-math.Log(p)) > 0x1p-52*math.Abs(l) {
			t.Fatalf("log(%v) = %v, math.Log says %v", p, l, math.Log(p))
		}
	}
	if lo := normalQuantile(0x1p-46); lo < -7.61 || lo > -7.5 {
		t.Errorf("lowest is %v", lo)
	}
}

func TestDrawsAllocs(t *testing.T) {
	b := NewDraws(1, 2).Bernoulli(0.3)
	run, r := make([]uint64, 10), NewRand(1, 2)
	perm := make([]int32, 50)
	if n := testing.AllocsPerRun(100, func() {
		b.Masks(run, 0, 100, 5)
		r.Normal()
		Permute(perm, 1, 2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
