package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// Generator describes a source of synthetic examples.
type Generator struct {
	Name, Summary string
	Params        []Param // its own, then those that all have: n, seed, split, noise
	make          func(*args) (dim int, next nextFunc, err error)
}

// Param is a parameter of a generator. Values are texts, as on a command line.
type Param struct{ Name, Default, Help string }

// nextFunc fills row with the next example, and reports whether it is positive.
type nextFunc func(row []float64) (positive bool, err error)

// Streams of the draws of a seed. What the two splits share, the target, is drawn from the first.
const (
	streamTarget = iota
	streamTrain
	streamTest
	streamNoise
)

var common = []Param{
	{"n", "1000", "number of examples; the first of many are the same as few"},
	{"seed", "1", "seed of all draws"},
	{"split", "train", "train or test: other examples of the same target"},
	{"noise", "0", "probability of flipping a label; not in the test split"},
}

// Generators returns the generators in the order of help.
func Generators() []Generator {
	list := []Generator{
		{"margin", "unit vectors at a distance from a hyperplane through 0 " +
			"(OBPM section 4.1)", []Param{
			{"d", "100", "features"},
			{"margin", "0.05", "least distance from the hyperplane"},
		}, makeMargin},
		{"rofk", "r-of-k threshold functions over -1/+1 attributes (PUMMA section 5.1)", []Param{
			{"d", "100", "attributes"},
			{"k", "16", "attributes that matter"},
			{"r", "8", "how many of them must be +1"},
		}, makeROfK},
		{"gauss", "two classes, each two Gaussians of unit covariance", []Param{
			{"d", "2", "features, at least 2"},
			{"distance", "6", "between the centres of the classes, along the first feature"},
			{"spread", "4",
				"between the two Gaussians of a class, along the second; 0 makes them one"},
		}, makeGauss},
		{"waveform", "Breiman's waveform, 21 features: one of three classes against another " +
			"or both", []Param{
			{"positive", "1", "class that is +1: 1, 2 or 3"},
			{"negative", "2", "class that is -1, or 0 for both others"},
		}, makeWaveform},
		{"banana", "two crescents that reach into one another", []Param{
			{"spread", "0.25", "standard deviation around a crescent of radius 1"},
		}, makeBanana},
		{"drift", "MNIST digits whose positive class turns from one label to a second and a " +
			"third (OBPM section 4.2)", []Param{
			{"images", "", "idx file of images"},
			{"labels", "", "idx file of labels; without it the one beside the images"},
			{"positives", "0.5", "share of positive examples"},
			{"first", "1", "positive label at first"},
			{"second", "2", "positive label by half of the examples"},
			{"third", "3", "positive label by nine tenths"},
		}, makeDrift},
		{"concepts", "unit vectors labelled by a hyperplane that changes: drift", []Param{
			{"d", "20", "features"},
			{"kind", "abrupt", "abrupt, gradual or recurring (to and fro between two)"},
			{"every", "5000", "examples from one change to the next"},
			{"width", "1000", "of gradual: examples that a change takes"},
		}, makeConcepts},
	}
	for i := range list {
		list[i].Params = append(list[i].Params, common...)
	}
	return list
}

// args are a generator's parameters. The first error is kept.
type args struct {
	name   string
	values map[string]string
	rng    *engine.Rand // of the split
	target *engine.Rand
	n      int
	err    error
}

func (a *args) fail(name, want string) {
	if a.err == nil {
		a.err = fmt.Errorf("generator %s: %s=%s: expected %s: %w", a.name, name, a.values[name],
			want, ErrOption)
	}
}

func (a *args) int(name string, lo, hi int) int {
	v, err := strconv.Atoi(a.values[name])
	if err != nil || v < lo || v > hi {
		a.fail(name, fmt.Sprintf("a whole number from %d to %d", lo, hi))
		return lo
	}
	return v
}

func (a *args) float(name string, lo, hi float64) float64 {
	v, err := strconv.ParseFloat(a.values[name], 64)
	if err != nil || !(v >= lo && v <= hi) {
		a.fail(name, fmt.Sprintf("a number from %g to %g", lo, hi))
		return lo
	}
	return v
}

// Generate makes n examples, dense. Params not given have their defaults; a name that the generator
// lacks is an error. The same parameters give the same bits everywhere.
func Generate[T engine.Float](name string, params map[string]string) (*Data[T], error) {
	s, err := newSynthetic(name, params)
	if err != nil {
		return nil, err
	}
	d := &Data[T]{}
	b := &d.Block
	b.Dim, b.Stride = s.dim, format.Stride(s.dim)
	b.X, b.Y = engine.Aligned[T](s.n*b.Stride), make([]T, s.n)
	d.Info = Info{Format: name, IndexBase: 1, BaseFound: "generated",
		Labels: LabelMap{"-1", "+1"}, Rows: s.n, Dim: s.dim, Scale: 1,
		NonZeros: int64(s.n) * int64(s.dim)}
	longest := 0.0
	for i := range s.n {
		positive, err := s.example()
		if err != nil {
			return nil, err
		}
		b.Y[i] = -1
		if positive {
			b.Y[i] = 1
			d.Info.Positives++
		}
		x := b.Row(i)
		for j, v := range s.row {
			x[j] = T(v)
		}
		longest = max(longest, format.Squares(x))
	}
	d.Info.MaxNorm = math.Sqrt(longest)
	b.MarkChecked()
	return d, nil
}

// GenerateEach gives each the examples of [Generate], one after another: nothing but the present
// one is kept. x is good until each returns; its error ends the work and is returned.
func GenerateEach[T engine.Float](name string, params map[string]string,
	each func(x []T, positive bool) error) error {
	s, err := newSynthetic(name, params)
	if err != nil {
		return err
	}
	x := make([]T, s.dim)
	for range s.n {
		positive, err := s.example()
		if err != nil {
			return err
		}
		for j, v := range s.row {
			x[j] = T(v)
		}
		if err := each(x, positive); err != nil {
			return err
		}
	}
	return nil
}

// synthetic is a generator at work.
type synthetic struct {
	n, dim int
	next   nextFunc
	noise  float64 // probability of flipping a label
	flips  *engine.Rand
	row    []float64 // the last example
}

// example draws the next one into row.
func (s *synthetic) example() (positive bool, err error) {
	if positive, err = s.next(s.row); err != nil {
		return false, err
	}
	if flip := s.flips.Uniform() < s.noise; flip {
		positive = !positive
	}
	return positive, nil
}

// newSynthetic starts the generator of that name; every wrong parameter is ErrOption.
func newSynthetic(name string, params map[string]string) (*synthetic, error) {
	list := Generators()
	i := slices.IndexFunc(list, func(g Generator) bool { return g.Name == name })
	if i < 0 {
		var names []string
		for _, g := range list {
			names = append(names, g.Name)
		}
		return nil, fmt.Errorf("generator %q: expected one of %s: %w", name,
			strings.Join(names, ", "), ErrOption)
	}
	g := list[i]
	a := &args{name: name, values: map[string]string{}}
	var names []string
	for _, p := range g.Params {
		names = append(names, p.Name)
		a.values[p.Name] = p.Default
		if v, ok := params[p.Name]; ok {
			a.values[p.Name] = v
		}
	}
	unknown := []string{}
	for n := range params {
		if !slices.Contains(names, n) {
			unknown = append(unknown, n)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return nil, fmt.Errorf("generator %s has no parameter %s: it has %s: %w", name, unknown[0],
			strings.Join(names, ", "), ErrOption)
	}
	n := a.int("n", 1, math.MaxInt32)
	noise := a.float("noise", 0, 1)
	seed, err := strconv.ParseUint(a.values["seed"], 10, 64)
	if err != nil {
		a.fail("seed", "a whole number below 2^64")
	}
	stream := uint64(streamTrain)
	switch a.values["split"] {
	case "train":
	case "test":
		stream, noise = streamTest, 0
	default:
		a.fail("split", "train or test")
	}
	a.n, a.rng, a.target = n, engine.NewRand(seed, stream), engine.NewRand(seed, streamTarget)
	if a.err != nil {
		return nil, a.err
	}
	dim, next, err := g.make(a)
	if a.err != nil {
		err = a.err
	}
	if err != nil {
		return nil, err
	}
	return &synthetic{n: n, dim: dim, next: next, noise: noise,
		flips: engine.NewRand(seed, streamNoise), row: make([]float64, dim)}, nil
}

// makeMargin draws u uniformly from {-1, 0, +1}^d, and x uniformly from the directions with
// |u.x|/|u| >= margin.
//
// Source: E. Harrington, R. Herbrich, J. Kivinen, J. Platt, R. C. Williamson, "Online Bayes Point
// Machines", PAKDD 2003, section 4.1. Reading: x has length 1, which the paper does not say.
func makeMargin(a *args) (int, nextFunc, error) {
	d := a.int("d", 1, 1<<24)
	margin := a.float("margin", 0, 1)
	u := make([]float64, d)
	norm := 0.0
	for norm == 0 {
		for j := range u {
			u[j] = float64(a.target.IntN(3) - 1)
		}
		norm = math.Sqrt(format.Squares(u))
	}
	return d, func(x []float64) (bool, error) {
		for range 1_000_000 {
			dot := 0.0
			for j := range x {
				x[j] = a.rng.Normal()
				dot += float64(u[j] * x[j])
			}
			s := format.Squares(x)
			if dist := dot / norm / math.Sqrt(s); math.Abs(dist) >= margin {
				format.ToUnit(x, s)
				return dist > 0, nil
			}
		}
		return false, fmt.Errorf("generator margin: no vector of %d features at a distance "+
			"of %v in a million draws: lower the margin: %w",
			d, margin, ErrOption)
	}, nil
}

// makeROfK labels x +1 if at least r of k attributes are +1. Those are +1 with the probability that
// makes both labels equally likely, the others with 1/2.
//
// Source: K. Ishibashi, K. Hatano, M. Takeda, "Online Learning of Approximate Maximum p-Norm Margin
// Classifiers with Bias", COLT 2008, section 5.1. Reading: how the labels are made equally likely.
func makeROfK(a *args) (int, nextFunc, error) {
	d := a.int("d", 1, 1<<24)
	k := a.int("k", 1, d)
	r := a.int("r", 1, k)
	relevant := make([]bool, d)
	for left := k; left > 0; {
		if j := a.target.IntN(d); !relevant[j] {
			relevant[j] = true
			left--
		}
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		if p := (lo + hi) / 2; atLeast(r, k, p) < 0.5 {
			lo = p
		} else {
			hi = p
		}
	}
	return d, func(x []float64) (bool, error) {
		on := 0
		for j := range x {
			p := 0.5
			if relevant[j] {
				p = lo
			}
			x[j] = -1
			if a.rng.Uniform() < p {
				x[j] = 1
				if relevant[j] {
					on++
				}
			}
		}
		return on >= r, nil
	}, nil
}

// atLeast returns the probability of r or more successes in k trials: the distribution is built
// trial by trial.
func atLeast(r, k int, p float64) float64 {
	q := make([]float64, r+1) // of 0, ..., r-1 successes so far, and of r or more
	q[0] = 1
	for range k {
		for j := r; j >= 0; j-- {
			stay := float64(q[j] * (1 - p))
			if j == r {
				stay = q[j]
			}
			if j > 0 {
				stay += float64(q[j-1] * p)
			}
			q[j] = stay
		}
	}
	return q[r]
}

// makeGauss draws the class and its component by fair coins.
func makeGauss(a *args) (int, nextFunc, error) {
	d := a.int("d", 2, 1<<24)
	distance := a.float("distance", 0, 1e6)
	spread := a.float("spread", 0, 1e6)
	return d, func(x []float64) (bool, error) {
		coins := a.rng.Uint64() >> 62
		for j := range x {
			x[j] = a.rng.Normal()
		}
		x[0] += float64((float64(coins&1) - 0.5) * distance)
		x[1] += float64((float64(coins>>1) - 0.5) * spread)
		return coins&1 == 1, nil
	}, nil
}

// makeWaveform mixes two of three triangular waves and adds unit noise.
//
// Source: L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and Regression Trees",
// 1984, section 2.6.2.
func makeWaveform(a *args) (int, nextFunc, error) {
	pos := a.int("positive", 1, 3)
	neg := a.int("negative", 0, 3)
	if pos == neg {
		a.fail("negative", "another class than positive")
	}
	wave := func(w, j int) float64 { // h1, h2, h3 at attribute j = 1, ..., 21
		centre := [...]int{11, 15, 7}[w]
		return float64(max(6-max(j-centre, centre-j), 0))
	}
	classes := [...][2]int{{0, 1}, {0, 2}, {1, 2}} // the waves of classes 1, 2, 3
	return 21, func(x []float64) (bool, error) {
		class := pos
		switch {
		case neg == 0:
			class = 1 + a.rng.IntN(3)
		case a.rng.Uint64()>>63 == 0:
			class = neg
		}
		u := a.rng.Uniform()
		w := classes[class-1]
		for j := range x {
			x[j] = float64(u*wave(w[0], j+1)) + float64((1-u)*wave(w[1], j+1)) + a.rng.Normal()
		}
		return class == pos, nil
	}, nil
}

// makeBanana draws points near the upper half circle around (0, 0), negative, or the lower one
// around (1, 1/2), positive.
func makeBanana(a *args) (int, nextFunc, error) {
	spread := a.float("spread", 0, 1e6)
	return 2, func(x []float64) (bool, error) {
		var c, s, r float64
		for { // a uniform direction, without sine and cosine
			c, s = 2*a.rng.Uniform()-1, a.rng.Uniform()
			if r = float64(c*c) + float64(s*s); r <= 1 && r > 0x1p-40 {
				break
			}
		}
		r = math.Sqrt(r)
		positive := a.rng.Uint64()>>63 == 1
		x[0], x[1] = c/r, s/r
		if positive {
			x[0], x[1] = 1-x[0], 0.5-x[1]
		}
		x[0] += float64(spread * a.rng.Normal())
		x[1] += float64(spread * a.rng.Normal())
		return positive, nil
	}, nil
}

// makeDrift draws, for example t = 1, ..., n, a positive one (an image of the label that is
// positive now) with the given probability, else one of any other label. The positive label is the
// first; the second if r_t > 1 - t/(n/2); the third if r_t > 1 - 1.11 t/n, with one uniform r_t.
//
// Source: as makeMargin, section 4.2. Reading: the paper prints 1 - t/(1.11 n) for the third, which
// would not be "all label 3 by 900". The share of positives, and that negatives are of any label
// but the present one, are choices.
func makeDrift(a *args) (int, nextFunc, error) {
	share := a.float("positives", 0, 1)
	phase := [3]byte{byte(a.int("first", 0, 255)), byte(a.int("second", 0, 255)),
		byte(a.int("third", 0, 255))}
	if a.values["images"] == "" {
		a.fail("images", "an idx file of images")
	}
	if a.err != nil {
		return 0, nil, a.err
	}
	x, y, pixels, err := readIDXPair(a.values["images"], a.values["labels"])
	if err != nil {
		return 0, nil, err
	}
	var of [256][]int32
	for i, l := range y {
		of[l] = append(of[l], int32(i))
	}
	for i, name := range []string{"first", "second", "third"} {
		if n := len(of[phase[i]]); n == 0 || n == len(y) {
			a.fail(name, "a label of the data that is not the only one")
			return 0, nil, a.err
		}
	}
	t := 0
	return pixels, func(row []float64) (bool, error) {
		t++
		r := a.rng.Uniform()
		label := phase[0]
		if r > 1-float64(t)/(float64(a.n)/2) {
			label = phase[1]
		}
		if r > 1-1.11*float64(t)/float64(a.n) {
			label = phase[2]
		}
		positive := a.rng.Uniform() < share
		var i int
		if positive {
			i = int(of[label][a.rng.IntN(len(of[label]))])
		} else {
			for i = a.rng.IntN(len(y)); y[i] == label; {
				i = a.rng.IntN(len(y))
			}
		}
		for j, v := range x[i*pixels : (i+1)*pixels] {
			row[j] = float64(v)
		}
		return positive, nil
	}, nil
}

// readIDXPair reads all bytes of images and labels.
func readIDXPair(images, labels string) (x, y []byte, pixels int, err error) {
	files := []string{images}
	if labels != "" {
		files = append(files, labels)
	}
	from := &opener{limits: &builtIn}
	o := format.Options{Limits: &builtIn.Limits}
	return format.ReadIDX(files, &o, func(name string) (format.File, error) {
		return from.open(name)
	})
}
