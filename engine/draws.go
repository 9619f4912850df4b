package engine

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// A draw is a function of (seed, stream, where it is used) and of nothing that was drawn before.
// That makes results independent of blocks, tiles and threads, and lets a model go on from a
// counter.
//
// The generator: a key of 128 bits is hashed from (kind of draw, seed, stream). A 64-bit counter,
// times an odd constant plus the key's first half, goes through mix, a bijection with full
// avalanche; the result x gives the word hi ^ lo of the 128-bit product x * (x ^ second half).
// Several words from one counter take x, x+step, x+2*step, ..., which is Wang Yi's wyrand from a
// hashed start.
const (
	golden = 0x9e3779b97f4a7c15 // 2^64 / golden ratio, odd: spreads counters over the word
	step   = 0xa0761d6478bd642f // between the words of one counter; wyrand's

	wordStep = golden << 48 & (1<<64 - 1) // between the counters of two words of members
)

// mix is D. Stafford's variant 13 of the MurmurHash3 finaliser (the output function of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fold is the output function.
func (k key) fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x, x^k.fin)
	return hi ^ lo
}

// start hashes a counter to the x of its first word.
func (k key) start(counter uint64) uint64 { return mix(k.counter(counter)) }

// counter spreads a counter over the word.
func (k key) counter(c uint64) uint64 { return k.add + c*golden }

// key selects one of the generator's sequences.
type key struct{ add, fin uint64 }

// Kinds of draws. Equal seeds and streams give unrelated words to different kinds.
const (
	kindMask = 1 + iota
	kindRand
	kindPermute
	kindFourier
)

// newKey hashes seed and stream one after the other, so that neighbours and swapped pairs are
// unrelated.
func newKey(kind, seed, stream uint64) key {
	h := mix(mix(kind*golden+seed) + stream*golden)
	return key{add: mix(h + golden), fin: mix(h + step)}
}

// Draws is the source of the draws of a seed and a stream. Streams tell apart uses of one seed. It
// is a value without state: copy it and use it from any number of goroutines.
type Draws struct{ key key }

// NewDraws returns the draws of a seed and a stream, any two numbers.
func NewDraws(seed, stream uint64) Draws { return Draws{newKey(kindMask, seed, stream)} }

// Bernoulli draws, for each member and example number, a bit that is 1 with probability tau
// exactly: not of tau rounded to some number of bits, but of all digits of the float64. Draws of
// distinct (member, example) are independent as long as members stay below 2^22 and examples below
// 2^48.
//
// Each draw stands for a uniform number U of which only the digits needed to decide U < tau are
// ever made. Word d of 64 members has a bit for each: digit d of its U is the same as tau's. A
// member is decided at its first 0, and drawn if tau's digit there is a 1.
//
// It is read only and may be used by any number of goroutines.
type Bernoulli struct {
	key    key
	all    bool       // tau = 1: the only one with a digit before the binary point
	n      int        // binary digits of tau after the point, up to its last 1
	digits [17]uint64 // those digits, the first in the highest bit; the smallest float64 is 2^-1074

	// For Masks, if n <= 64: all ones if the first digit is a 1 (or tau is), and a 1 where
	// a digit and the next differ.
	first, turn uint64
}

// Bernoulli prepares the draws for a probability tau. It panics if tau is not in [0, 1]: callers
// validate settings.
func (d Draws) Bernoulli(tau float64) *Bernoulli {
	if !(tau >= 0 && tau <= 1) {
		panic(fmt.Sprintf("engine: Bernoulli draws with probability %v", tau))
	}
	b := &Bernoulli{key: d.key}
	switch tau {
	case 0:
	case 1:
		b.all, b.first = true, ^uint64(0)
	default:
		// tau = frac * 2^exp, 1/2 <= frac < 1, exp <= 0
		frac, exp := math.Frexp(tau)
		mant := uint64(math.Ldexp(frac, 53)) << 11   // frac's digits, the first in the highest bit
		b.n = -exp + 64 - bits.TrailingZeros64(mant) // -exp zeros come first
		w, s := -exp/64, uint(-exp%64)
		b.digits[w] = mant >> s
		if low := mant << (64 - s); low != 0 {
			b.digits[w+1] = low
		}
		b.first = uint64(int64(b.digits[0]) >> 63)
		b.turn = b.digits[0] ^ b.digits[0]<<1
	}
	return b
}

// Masks draws for a run of examples, of so many members from 64*word on: bit l%64 of word l/64 of
// example e is the draw of member 64*word+l. The words of example, example+1, ... follow one
// another in mask, whose length is a multiple of those of each, (members+63)/64; members > 0. The
// rest of an example's last word is 0. Cost: about eight random words for 64 members (one for tau =
// 1/2).
func (b *Bernoulli) Masks(mask []uint64, word, members int, example uint64) {
	words := (members + 63) / 64
	last := ^uint64(0) >> (-uint(members) % 64) // lanes of the last word
	if b.n > 64 {
		for i := range mask {
			lanes := ^uint64(0)
			if (i+1)%words == 0 {
				lanes = last
			}
			mask[i] = b.word(lanes, word+i%words, example+uint64(i/words))
		}
		return
	}
	if end := example + uint64(len(mask)/words); end < 1<<48 && end >= example {
		// Counters are sums then: the word is in other bits than the example.
		vecmath.MixCounters(mask, words, b.counter(word, example), golden, wordStep)
	} else {
		for i := range mask {
			c := b.counter(word+i%words, example+uint64(i/words))
			vecmath.MixCounters(mask[i:i+1], 1, c, 0, 0)
		}
	}
	vecmath.DrawBits(mask, words, last, b.key.fin, step, b.first, b.turn)
}

// Draw returns the draw of one member: the bit that Masks gives it.
func (b *Bernoulli) Draw(member int, example uint64) bool {
	return b.word(1<<(uint(member)%64), member/64, example) != 0
}

// counter is what mix makes the first x of members 64*g, ..., 64*g+63 of; [vecmath.MixCounters]
// does so for many.
func (b *Bernoulli) counter(g int, example uint64) uint64 {
	return b.key.counter(example ^ uint64(g)<<48)
}

// word draws for some lanes of word g; the others get 0.
func (b *Bernoulli) word(lanes uint64, g int, example uint64) (below uint64) {
	if b.all {
		return lanes
	}
	x := mix(b.counter(g, example))
	for d := 0; lanes != 0 && d < b.n; d++ { // lanes: those whose U agrees with tau in d digits
		same := lanes & b.key.fold(x)
		if b.digits[d/64]<<(uint(d)%64)>>63 != 0 {
			below |= lanes &^ same
		}
		lanes = same
		x += step
	}
	return below
}

// Permute fills dst with a uniformly random permutation of 0, ..., len(dst)-1 that depends on the
// seed, the epoch and the length.
func Permute(dst []int32, seed, epoch uint64) {
	r := Rand{key: newKey(kindPermute, seed, epoch)}
	for i := range dst { // Fisher-Yates, inside out
		j := r.IntN(i + 1)
		dst[i] = dst[j]
		dst[j] = int32(i)
	}
}

// Rand is a sequence of random numbers for generators of data, a [math/rand/v2.Source]. Its state
// is the position, so that it can be stored and entered anywhere. All methods give the same bits on
// every platform, which those of math/rand/v2 don't promise for real numbers. Not safe for
// concurrent use; sequences of different streams are independent.
type Rand struct {
	key key
	pos uint64
}

// NewRand returns the sequence of a seed and a stream at position 0.
func NewRand(seed, stream uint64) *Rand { return &Rand{key: newKey(kindRand, seed, stream)} }

// Seek makes pos the position.
func (r *Rand) Seek(pos uint64) { r.pos = pos }

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	r.pos++
	return r.key.fold(r.key.start(r.pos - 1))
}

// IntN returns a uniform number in [0, n), by one word almost always. It panics if n <= 0.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic(fmt.Sprintf("engine: IntN(%d)", n))
	}
	return int(r.below(uint64(n)))
}

// below returns a uniform number in [0, n). D. Lemire, "Fast Random Integer Generation in an
// Interval", ACM TOMACS 29(1), 2019: hi of word*n is uniform once the words whose lo is below 2^64
// mod n are refused.
func (r *Rand) below(n uint64) uint64 {
	hi, lo := bits.Mul64(r.Uint64(), n)
	if lo < n {
		for refuse := -n % n; lo < refuse; {
			hi, lo = bits.Mul64(r.Uint64(), n)
		}
	}
	return hi
}

// Uniform returns a uniform multiple of 2^-53 in [0, 1), by one word.
func (r *Rand) Uniform() float64 { return float64(r.Uint64()>>11) * 0x1p-53 }

// Normal returns a number from the normal distribution with mean 0 and variance 1, by one word. Its
// distribution function is the normal one at steps of 2^-45, so |Normal| < 7.61.
func (r *Rand) Normal() float64 {
	u := r.Uint64()
	x := normalQuantile((float64(u>>20) + 0.5) * 0x1p-45)
	if u&1 != 0 {
		return -x
	}
	return x
}

// normalQuantile returns the x <= 0 with normal distribution function p, for e^-32 < p <= 1/2;
// relative error about 1e-15. Source: ndtri of S. L. Moshier's Cephes Math Library, its first two
// of three ranges. Only operations with one correct result are used, so that it has the same bits
// everywhere.
func normalQuantile(p float64) float64 {
	if p > 0.13533528323661269189 { // e^-2
		y := p - 0.5
		y2 := y * y
		// sqrt(2 pi)
		return 2.50662827463100050242 * math.FMA(y, float64(y2*horner(y2, central[0]))/horner(y2,
			central[1]), y)
	}
	x := math.Sqrt(-2 * log(p))
	z := 1 / x
	return float64(z*horner(z, tail[0]))/horner(z, tail[1]) - (x - log(x)/x)
}

// horner evaluates a polynomial whose highest coefficient comes first.
func horner(x float64, c []float64) float64 {
	s := c[0]
	for _, v := range c[1:] {
		s = math.FMA(s, x, v)
	}
	return s
}

// Numerator and denominator of the corrections in normalQuantile.
var central = [2][]float64{
	{-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1,
		1.39312609387279679503e1, -1.23916583867381258016e0},
	{1, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1,
		-2.25462687854119370527e2,
		2.00260212380060660359e2, -8.20372256168333339912e1, 1.59056225126211695515e1,
		-1.18331621121330003142e0},
}
var tail = [2][]float64{
	{4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1,
		4.40805073893200834700e1, 1.46849561928858024014e1,
		2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2,
		-8.57456785154685413611e-4},
	{1, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1,
		1.50425385692907503408e1,
		2.50464946208309415979e0, -1.42182922854787788574e-1, -3.80806407691578277194e-2,
		-9.33259480895457427372e-4},
}

// log is the natural logarithm of a positive normal number; error below 1 ulp. math.Log may differ
// between platforms. Source: FreeBSD's e_log.c: log(2^k (1+f)) = k ln 2 + f - (f^2/2 - s (f^2/2 +
// R(s^2))) with s = f/(2+f).
func log(x float64) float64 {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	f := m - 1
	s := f / (2 + f)
	s2 := s * s
	half := 0.5 * float64(f*f)
	rest := s2 * horner(s2, logSeries[:])
	return math.FMA(float64(k), 6.93147180369123816490e-01, -((half - math.FMA(s, half+rest,
		float64(float64(k)*1.90821492927058770002e-10))) - f))
}

var logSeries = [7]float64{
	1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
	2.222219843214978396e-01,
	2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
}
