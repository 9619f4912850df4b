package ensemble_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
)

// plain is Algorithm 2 of the OBPM paper with perceptrons, a loop over members for each example. It
// adds in the order that the kernels promise, so that it has their bits.
type plain[T learner.Float] struct {
	w            [][]T // [member][feature]
	sum          []float64
	draws        *engine.Bernoulli
	margin, step T
	t            uint64
}

func (p *plain[T]) learn(b *engine.Block[T], i int) learner.Round {
	p.t++
	for j := range p.w {
		p.w[j] = append(p.w[j], make([]T, max(0, b.Dim-len(p.w[j])))...)
	}
	p.sum = append(p.sum, make([]float64, max(0, b.Dim-len(p.sum)))...)
	y, weight := b.Y[i], b.Weight(i)
	c, updates := T(p.step*weight), 0
	for j, w := range p.w { // lines 6 to 8
		if weight == 0 || !p.draws.Draw(j, p.t-1) || !(T(y*score(w, b, i)) <= p.margin) {
			continue
		}
		updates++
		if b.Dense() {
			x := b.Row(i)
			vecmath.Axpy(w[:len(x)], T(c*y), x)
			continue
		}
		idx, val := b.Sparse(i)
		for k, f := range idx {
			w[f] = fma(T(c*y), val[k], w[f])
		}
	}
	var f float64
	a := float64(float64(float64(c)*float64(updates)) * float64(y)) // line 13
	if b.Dense() {
		x := b.Row(i)
		f = vecmath.DotMixed(p.sum[:len(x)], x)
		for k, v := range x {
			if a != 0 {
				p.sum[k] = math.FMA(a, float64(v), p.sum[k])
			}
		}
	} else {
		idx, val := b.Sparse(i)
		f = vecmath.SparseDotMixed(idx, val, p.sum)
		for k, j := range idx {
			if a != 0 {
				p.sum[j] = math.FMA(a, float64(val[k]), p.sum[j])
			}
		}
	}
	return learner.Round{Score: f / float64(len(p.w)), Updates: int32(updates)}
}

// score is that of example i by weights w.
func score[T learner.Float](w []T, b *engine.Block[T], i int) (s T) {
	if b.Dense() {
		x := b.Row(i)
		return vecmath.Dot(w[:len(x)], x)
	}
	idx, val := b.Sparse(i)
	for k, j := range idx {
		s = fma(val[k], w[j], s)
	}
	return s
}

// fma is a*b + c, rounded once.
func fma[T learner.Float](a, b, c T) T {
	if _, ok := any(a).(float64); ok {
		return T(math.FMA(float64(a), float64(b), float64(c)))
	}
	p, d := float64(a)*float64(b), float64(c) // exact
	s := p + d
	if v := s - p; s-s == 0 {
		// What s lost makes it odd, so that the second rounding goes the right way.
		lost := (p - (s - v)) + (d - v)
		if bits := math.Float64bits(s); lost != 0 && bits&1 == 0 {
			if lost > 0 == (s > 0) {
				s = math.Float64frombits(bits + 1)
			} else {
				s = math.Float64frombits(bits - 1)
			}
		}
	}
	return T(s)
}

// votes are the shares of the members that score the examples 0 or more.
func (p *plain[T]) votes(b *engine.Block[T]) []float64 {
	of := make([]float64, b.Len())
	for i := range of {
		for _, w := range p.w {
			if score(w, b, i) >= 0 {
				of[i]++
			}
		}
		of[i] /= float64(len(p.w))
	}
	return of
}

// stream makes examples of dim features, with nonZeros(i) of them, of random labels: many mistakes.
func stream[T learner.Float](seed uint64, n, dim int, nonZeros func(i int) int,
	value func(r *rand.Rand) T) *engine.Block[T] {
	r := rand.New(rand.NewPCG(seed, 1))
	b := &engine.Block[T]{Dim: dim, Ptr: []int{0}}
	taken := make([]bool, dim)
	for i := range n {
		k := min(nonZeros(i), dim)
		for have := 0; have < k; {
			j := r.IntN(dim)
			if k > dim/2 {
				j = have
			}
			if !taken[j] {
				taken[j] = true
				have++
			}
		}
		for j := 0; k > 0; j++ {
			if taken[j] {
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, value(r))
				taken[j] = false
				k--
			}
		}
		b.Ptr, b.Y = append(b.Ptr, len(b.Idx)), append(b.Y, T(1-2*r.IntN(2)))
	}
	return b
}

func each(n int) func(int) int { return func(int) int { return n } }

// then is n non-zeros, and of the examples from a number on as many as listed.
func then(n, from int, list ...int) func(int) int {
	return func(i int) int {
		if i >= from && i-from < len(list) {
			return list[i-from]
		}
		return n
	}
}

func one[T learner.Float](*rand.Rand) T    { return 1 }
func real[T learner.Float](r *rand.Rand) T { return T(r.NormFloat64()) }
func whole[T learner.Float](r *rand.Rand) T {
	return T(r.IntN(256))
}

// anySize are numbers of all magnitudes that examples may have, those that are not normal included:
// learners refuse examples whose squared length is above 2^126, of float64 2^1000.
func anySize[T learner.Float](r *rand.Rand) T {
	least, most := -150, 59
	if _, ok := any(T(0)).(float64); ok {
		least, most = -1046, 490
	}
	return T(math.Ldexp(r.Float64()*2-1, r.IntN(most-least+1)+least))
}

// positive are the examples with the label +1, which move weights one way.
func positive[T learner.Float](b *engine.Block[T]) *engine.Block[T] {
	for i := range b.Y {
		b.Y[i] = 1
	}
	return b
}

// weighted are the examples with weights 0 to 2.
func weighted[T learner.Float](b *engine.Block[T]) *engine.Block[T] {
	for i := range b.Len() {
		b.W = append(b.W, T(i%5)/2)
	}
	return b
}

// dense are the examples as rows.
func dense[T learner.Float](b *engine.Block[T]) *engine.Block[T] {
	d := &engine.Block[T]{Y: b.Y, W: b.W, Dim: b.Dim, Stride: b.Dim + 3,
		X: make([]T, b.Len()*(b.Dim+3))}
	for i := range b.Len() {
		idx, val := b.Sparse(i)
		for k, j := range idx {
			d.X[i*d.Stride+int(j)] = val[k]
		}
	}
	return d
}

// path is a row of TestPaths: settings and a stream that take a way through the package.
type path[T learner.Float] struct {
	name    string
	members int
	tau     float64
	margin  float64
	eta     float64
	stream  []*engine.Block[T]
	// taken reports whether an ensemble took that way, where the implementation has it; nil: it
	// doesn't show.
	taken func(o *ensemble.Ensemble[T]) bool
	votes bool // the members' are asked for after each part of the stream
	long  bool // not with -short
}

// of is a stream of parts.
func of[T learner.Float](parts ...*engine.Block[T]) []*engine.Block[T] { return parts }

func paths[T learner.Float]() []path[T] {
	inT := func(o *ensemble.Ensemble[T]) bool { return o.Lanes != nil && !o.Lanes.Int16() }
	int8s := func(o *ensemble.Ensemble[T]) bool {
		return o.Lanes.Tiles[0].Int8 != nil || !vecmath.RunsInt8() && o.Lanes.Int16()
	}
	int16s := func(o *ensemble.Ensemble[T]) bool { return o.Lanes.Tiles[0].Int16 != nil }
	apart := func(o *ensemble.Ensemble[T]) bool { return !o.Lanes.Direct() }
	bag := func(i int) int { return int(3 / math.Pow(float64(i*7919%1000+1)/1001, .9)) }
	s := func(seed uint64, n, dim int, k func(int) int, v func(*rand.Rand) T) *engine.Block[T] {
		return stream(seed, n, dim, k, v)
	}
	return []path[T]{
		{"int8", 100, .3, 0, 1, of(s(1, 1500, 60, each(9), one)), int8s, false, false},
		{"int8, two tiles", 200, .1, 0, 1, of(s(2, 900, 60, each(9), one)), int8s, false, false},
		{"int16", 130, .9, 2000, 1, of(positive(s(3, 400, 9, each(8), one))), int16s, false, false},
		{"out of int8", 70, .9, 3e4, 1, of(positive(s(4, 700, 300, then(20, 100, 300, 7), one))),
			nil, false, false},
		{"out of int16", 70, .9, 0x1p31, 1, of(positive(s(5, 300, 12, each(6), one)),
			s(6, 700, 2000, then(9, 40, 1500, 2000), one)), nil, false, false},
		{"out of int16 in a run", 70, .9, 32000, 1, of(positive(s(53, 300, 400, then(400, 299, 3),
			one))), nil, false, false},
		{"all members' weights out of int8 at once", 70, .9, 2000, 1, of(positive(s(56, 200, 16,
			each(16), one))), nil, false, false},
		{"out of int16 behind other pieces", 70, .9, 32767, 1, of(positive(s(57, 1300, 30, each(30),
			one))), nil, false, false},
		{"margin beyond int16", 20, .9, 40000, 1, of(s(54, 200, 60, each(9), one)), inT, false,
			false},
		{"weights, a step of .1", 100, .3, 0, .1, of(weighted(s(55, 300, 60, each(9), real))), inT,
			false, false},
		{"margin that T rounds", 20, .9, 0x1p31 - 1, 1, of(s(7, 200, 60, each(9), one)), inT, false,
			false},
		{"margin of int16", 20, .9, 32767.5, 1, of(s(8, 200, 60, each(9), one)), nil, false,
			false},
		{"half a margin", 20, .9, .5, 1, of(s(8, 200, 60, each(9), one)), int8s, false, false},
		{"ones behind short rows", 10, .3, 0, 1, of(s(9, 1100, 11, each(3), one), s(10, 300, 9000,
			then(3, 0, 9000), one)), nil, false, false},
		{"bag of words", 10, 1, 0, 1, of(s(11, 1500, 1500, bag, one)), nil, false, false},
		{"bag of words, more members", 140, .3, 0, 1, of(s(12, 600, 1500, bag, one)), nil, false,
			false},
		{"few of many update", 100, .02, 0, 1, of(s(13, 1300, 300, each(6), one)), int8s, false,
			false},
		{"no rows at first", 100, .3, 0, 1, of(s(14, 700, 9000, each(14), one), s(15, 600, 20000,
			each(14), one)), apart, false, false},
		{"no rows at first, reals", 100, .3, 0, 1, of(s(16, 500, 9000, each(14), real)), apart,
			false, false},
		{"long rows at the end", 3, .5, 1, 1, of(s(17, 40, 40000, then(5, 10, 32768, 32769, 1,
			40000), one), s(18, 3, 40000, then(2, 1, 32769, 40000), real)), nil, false, false},
		{"blocks of one long row", 3, .5, 1, 1, of(s(19, 1, 32769, each(32769), one),
			s(20, 1, 65537, each(65537), whole)), nil, false, false},
		{"a million", 3, .9, 0, 1, of(s(21, 30, 1e6, then(3, 20, 1e6), one), s(22, 4, 1e6,
			then(1e6, 1, 0), real)), nil, false, true},
		{"empty rows", 70, .5, 0, 1, of(s(23, 300, 20, func(i int) int { return i % 3 }, one),
			s(24, 300, 20, func(i int) int { return i % 2 }, real)), nil, false, false},
		{"no member sees any", 70, 0, 0, 1, of(s(25, 100, 20, each(3), one)), nil, false, false},
		{"one member", 1, 1, 0, 1, of(s(26, 300, 20, each(3), one)), nil, false, false},
		{"wholes", 100, .3, 100, 1, of(s(27, 300, 40, each(9), whole)), inT, false, false},
		{"reals", 100, .3, .5, .1, of(s(28, 1300, 60, each(9), real)), inT, false, false},
		{"any size", 65, .3, 0, 1, of(s(29, 600, 30, each(4), anySize)), inT, false, false},
		{"any size, a step of 2^-20", 65, .6, 0, 0x1p-20, of(s(30, 600, 30, each(4), anySize)), inT,
			false, false},
		{"a step of 2", 65, .6, 0, 2, of(s(31, 600, 30, each(4), one)), inT, false, false},
		{"reals after ones", 100, .3, 0, 1, of(s(32, 500, 60, each(9), one),
			s(33, 500, 60, each(9), real), s(34, 200, 60, each(9), one)), inT, false, false},
		{"weights", 100, .3, 0, 1, of(s(35, 300, 60, each(9), one),
			weighted(s(36, 300, 60, each(9), one)), s(37, 300, 60, each(9), one)), inT, false,
			false},
		{"rows", 100, .3, 0, 1, of(dense(s(38, 500, 60, each(30), real))), nil, false, false},
		{"rows of any size", 9, .9, 0, 1, of(dense(s(39, 200, 20, each(9), anySize))), nil, false,
			false},
		{"rows with weights", 100, .3, 0, 1, of(weighted(dense(s(40, 200, 60, each(30), real)))),
			nil, false, false},
		{"rows, many members", 300, .2, 1, 1, of(dense(s(41, 300, 700, each(30), whole))), nil,
			false, false},
		{"rows between sparse ones", 100, .3, 0, 1, of(s(42, 300, 60, each(9), one),
			dense(s(43, 300, 50, each(9), one)), s(44, 300, 70, each(9), one),
			dense(s(45, 300, 90, each(9), real)), s(46, 300, 90, each(9), one)), nil, false,
			false},
		{"rows between sparse ones, more members", 200, .3, 0, 1, of(s(58, 300, 60, each(9), real),
			dense(s(59, 300, 50, each(9), real)), s(60, 300, 60, each(9), real)), inT, false,
			false},
		{"votes once", 100, .3, 0, 1, of(s(47, 700, 60, each(9), one), s(48, 1500, 60, each(9),
			one)), int8s, true, false},
		{"votes often", 100, .3, 0, 1, of(s(49, 100, 60, each(9), one), s(50, 90, 60, each(9),
			one), s(51, 100, 60, each(9), one), dense(s(52, 100, 60, each(9), one))), nil, true,
			false},
	}
}

// TestPaths: all ways through the package are the plain form: the same scores, updates, members
// and S, to the bit, whatever the blocks, threads and implementation; and where weights are whole
// numbers S is the sum of the members'.
func TestPaths(t *testing.T) {
	before := vecmath.Active().String()
	defer func() {
		if err := vecmath.Use(before); err != nil {
			t.Error(err)
		}
	}()
	var pools []*engine.Pool
	for threads := range 3 {
		pools = append(pools, engine.NewPool(threads+1))
		pools[threads].Insist()
		defer pools[threads].Close()
	}
	t.Run("float32", func(t *testing.T) { testPaths(t, paths[float32](), pools) })
	t.Run("float64", func(t *testing.T) { testPaths(t, paths[float64](), pools) })
}

func testPaths[T learner.Float](t *testing.T, list []path[T], pools []*engine.Pool) {
	for _, c := range list {
		if c.long && (testing.Short() || reflect.TypeFor[T]().Size() == 8) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			want := c.plainly(t)
			turn := 0
			for _, im := range vecmath.Implementations() {
				if !im.Supported {
					continue
				}
				if err := vecmath.Use(im.Name); err != nil {
					t.Fatal(err)
				}
				for _, pool := range pools {
					sizes := []int{256, 1 << 20, 90, 1025, 64, 7}
					if c.long {
						sizes = sizes[:1]
					}
					if testing.Short() || c.long { // another one each time
						at := (turn + len(c.name)) % len(sizes)
						sizes = sizes[at : at+1]
					}
					for _, size := range sizes {
						what := fmt.Sprintf("%s, %d threads, blocks of %d", im.Name, pool.Workers(),
							size)
						if got := c.quickly(t, pool, size); !got.equal(t, want, what) {
							return
						}
					}
					turn++
				}
			}
		})
	}
}

// result is what of a stream was learned.
type result[T learner.Float] struct {
	rounds   []learner.Round
	votes    [][]float64
	features []int32 // that have weights or S
	members  []T
	sum      []float64
}

// plainly learns the stream by the plain form.
func (c *path[T]) plainly(t *testing.T) *result[T] {
	if err := vecmath.Use("generic"); err != nil {
		t.Fatal(err)
	}
	p := plain[T]{w: make([][]T, c.members), draws: engine.NewDraws(3, 0).Bernoulli(c.tau),
		margin: T(c.margin), step: T(c.eta)}
	var r result[T]
	for _, b := range c.stream {
		for i := range b.Len() {
			r.rounds = append(r.rounds, p.learn(b, i))
		}
		if c.votes {
			r.votes = append(r.votes, p.votes(b))
		}
	}
	for j, s := range p.sum {
		has := math.Float64bits(s) != 0
		for _, w := range p.w {
			has = has || w[j] != 0 || 1/w[j] < 0
		}
		if !has {
			continue
		}
		r.features, r.sum = append(r.features, int32(j)), append(r.sum, s)
		for _, w := range p.w {
			r.members = append(r.members, w[j])
		}
	}
	return &r
}

// quickly learns the stream as it is learned.
func (c *path[T]) quickly(t *testing.T, pool *engine.Pool, size int) *result[T] {
	e, err := learner.Lookup("obpm")
	if err != nil {
		t.Fatal(err)
	}
	cfg := e.Config().(*learners.OBPMConfig)
	cfg.Members, cfg.Tau = c.members, c.tau
	cfg.BaseConfig = &learners.PerceptronConfig{Margin: c.margin, Eta: c.eta}
	l, err := learner.New[T](e, cfg, learner.Env{Seed: 3, Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	// the field of that name of a type that only its package names
	field := reflect.ValueOf(l).Elem().FieldByName("Ensemble").Addr()
	o := field.Interface().(*ensemble.Ensemble[T])
	var r result[T]
	for _, b := range c.stream {
		for lo := 0; lo < b.Len(); lo += size {
			v := b.Slice(lo, min(lo+size, b.Len()))
			rounds := make([]learner.Round, v.Len())
			if err := l.Learn(&v, rounds); err != nil {
				t.Fatal(err)
			}
			r.rounds = append(r.rounds, rounds...)
		}
		if has := vecmath.Active() != vecmath.NEON; has && c.taken != nil &&
			b == c.stream[len(c.stream)-1] && !c.taken(o) {
			t.Errorf("blocks of %d: another way was taken", size)
		}
		if c.votes {
			votes := make([]float64, b.Len())
			if err := learner.ProberOf(l).Proba(b, votes); err != nil {
				t.Fatal(err)
			}
			r.votes = append(r.votes, votes)
		}
	}
	s := l.State()
	r.features = s.Tensor("features").Data.([]int32)
	r.members, r.sum = s.Tensor("members").Data.([]T), s.Tensor("sum").Data.([]float64)
	return &r
}

// equal reports whether the results are the same, to the bit.
func (r *result[T]) equal(t *testing.T, want *result[T], what string) bool {
	t.Helper()
	var faults []string
	for i, w := range want.rounds {
		if g := r.rounds[i]; g.Updates != w.Updates || !sameBits(g.Score, w.Score) {
			faults = append(faults, fmt.Sprintf("example %d: %+v, want %+v", i, g, w))
			break
		}
	}
	for i, w := range want.votes {
		if !slices.Equal(w, r.votes[i]) {
			faults = append(faults, fmt.Sprintf("votes after part %d differ", i))
		}
	}
	switch {
	case !slices.Equal(r.features, want.features):
		faults = append(faults, "other features")
	case !slices.EqualFunc(r.members, want.members, sameBits):
		faults = append(faults, "other members")
	case !slices.EqualFunc(r.sum, want.sum, sameBits):
		faults = append(faults, "another S")
	}
	if len(faults) > 0 {
		t.Errorf("%s: %s", what, strings.Join(faults, "; "))
	}
	return len(faults) == 0
}

// sameBits reports whether numbers are the same: neither sign nor bits of what is none count.
func sameBits[T learner.Float](a, b T) bool {
	return a == b && (a != 0 || 1/a == 1/b) || a != a && b != b
}
