package learners

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

func init() {
	Register(Entry{"rff", "a linear learner on random Fourier features: an approximate RBF kernel at a fixed cost",
		func() Config { return &RFFConfig{D: 200, Sigma: 1, Base: "perceptron"} }, newRFF[float32], newRFF[float64]})
}

// RFF maps examples to random features whose inner product approximates an RBF kernel, and gives them to a linear learner.
//
// Reference: A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007:
//
//	(1) omega_j ~ N(0, I/sigma^2), j = 1 ... D/2
//	(2) z(x) = sqrt(2/D) (cos omega_1.x, ..., cos omega_D/2.x, sin omega_1.x, ..., sin omega_D/2.x)
//	    E z(x).z(y) = exp(-|x-y|^2/(2 sigma^2)),   |z(x)| = 1
//
//	paper     here            shape, unit
//	D         Config.D        features z
//	sigma     Config.Sigma    width, in units of the examples; the sigma of the VVM paper is its square
//	omega     omega           D/2 a feature of the examples, drawn from the seed when the feature first comes
//
// Deviations: none.
//
// Guarantee: over the draws z(x).z(y) has mean K(x, y) and variance at most 1/D: TestRFFKernel.
//
// Cost: D/2 multiply-adds a non-zero, D/2 sines and cosines an example, and the base learner's cost for dense examples of D features. Memory: D/2
// float64 a feature, and the base learner's.
type RFF[T Float] struct {
	cfg   RFFConfig
	seed  uint64
	inner Learner[T]
	omega [][]float64     // [feature][frequency]
	z     engine.Block[T] // the features of some examples, in x
	x     []T
	p     []float64 // omega_j . x
}

// RFFConfig holds the settings of RFF.
type RFFConfig struct {
	D     int     `json:"D" flag:"rff" help:"random features, an even number"`
	Sigma float64 `json:"sigma" flag:"sigma" help:"width of the RBF kernel exp(-|x-z|^2/(2 sigma^2))"`
	Base  string  `json:"base" flag:"base" help:"the linear learner of the random features; its own flags are taken too"`
	// BaseConfig holds the base's own settings, of the type that its Entry.Config returns; nil means those defaults.
	BaseConfig Config `json:"base_config"`
}

// Validate wants an even D > 0, Sigma > 0 and a linear base that learns one example after another.
func (c *RFFConfig) Validate() error {
	switch {
	case c.D < 2 || c.D%2 != 0 || c.D > 1<<24:
		return fmt.Errorf("rff: rff is %d, want an even number of features: %w", c.D, ErrConfig)
	case c.Base == "rff":
		return fmt.Errorf("rff: base is %q, want a linear learner: %w", c.Base, ErrConfig)
	}
	if err := checkSetting("rff", "sigma", c.Sigma, c.Sigma > 0, "a width > 0"); err != nil {
		return err
	}
	base, err := baseSettings("rff", c.Base, c.BaseConfig)
	if err != nil {
		return err
	}
	if _, kernel := base.(interface{ kernel() engine.Kernel }); kernel && c.Base != "pumma" || BatchOnly(base) {
		return fmt.Errorf("rff: base is %q, which has kernels of its own, or learns from whole data sets only: want a linear learner of streams: %w", c.Base, ErrConfig)
	}
	return base.Validate()
}

// UnmarshalJSON is that of OBPMConfig.
func (c *RFFConfig) UnmarshalJSON(data []byte) error {
	type fields RFFConfig // without this method
	raw := struct {
		*fields
		BaseConfig json.RawMessage `json:"base_config"` // hides the field of that name
	}{fields: (*fields)(c)}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		return fmt.Errorf("rff: settings: %w", err)
	}
	var err error
	c.BaseConfig, err = decodeBase("rff", c.Base, raw.BaseConfig)
	return err
}

// baseSettings returns c, or for nil the defaults of the learner called base.
func baseSettings(learner, base string, c Config) (Config, error) {
	e, err := Lookup(base)
	if err != nil {
		return nil, fmt.Errorf("%s: base: %w", learner, err)
	}
	d := e.Config()
	if c == nil {
		return d, nil
	}
	if fmt.Sprintf("%T", c) != fmt.Sprintf("%T", d) {
		return nil, fmt.Errorf("%s: base is %q, but the base's settings are %T, want %T: %w", learner, base, c, d, ErrConfig)
	}
	return c, nil
}

// decodeBase reads the settings of the learner called base. Fields that are not there keep their defaults, unknown ones are refused.
func decodeBase(learner, base string, doc json.RawMessage) (Config, error) {
	if len(doc) == 0 || string(doc) == "null" {
		return nil, nil
	}
	c, err := baseSettings(learner, base, nil)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	if err := dec.Decode(c); err != nil {
		return nil, fmt.Errorf("%s: settings of base %q: %w", learner, base, err)
	}
	return c, nil
}

// NeedsRadius reports whether the base's settings are still relative to R.
func (c *RFFConfig) NeedsRadius() bool {
	r, ok := c.BaseConfig.(RadiusConfig)
	return ok && r.NeedsRadius()
}

// Resolve resolves the base's settings: its examples have length 1.
func (c *RFFConfig) Resolve(float64) error {
	if r, ok := c.BaseConfig.(RadiusConfig); ok {
		return r.Resolve(1)
	}
	return nil
}

func newRFF[T Float](c Config, env Env) (Learner[T], error) {
	cfg, err := configAs[RFFConfig]("rff", c)
	if err != nil {
		return nil, err
	}
	base, err := baseSettings("rff", cfg.Base, cfg.BaseConfig)
	if err != nil {
		return nil, err
	}
	e, err := Lookup(cfg.Base)
	if err != nil {
		return nil, err
	}
	if f, ok := base.(FeaturesConfig); ok {
		if err := f.ResolveFeatures(cfg.D); err != nil {
			return nil, err
		}
	}
	inner, err := New[T](e, base, env)
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	l := &RFF[T]{cfg: cfg, seed: env.Seed, inner: inner, p: make([]float64, cfg.D/2)}
	l.x = engine.Aligned[T](rffBlock * ((cfg.D + 15) &^ 15))
	return l, nil
}

// rffBlock examples are mapped at a time.
const rffBlock = 64

// rffStream is the first of the streams of draws, one a feature.
const rffStream = 1 << 40

// Learn is Learner.Learn.
func (l *RFF[T]) Learn(b *engine.Block[T], rounds []Round) error {
	if err := checkBlock("rff", b, len(rounds)); err != nil {
		return err
	}
	for lo := 0; lo < b.Len(); lo += rffBlock {
		hi := min(lo+rffBlock, b.Len())
		l.features(b, lo, hi)
		if err := l.inner.Learn(&l.z, rounds[lo:hi]); err != nil {
			return err
		}
	}
	return nil
}

// features maps examples lo to hi-1 into z.
func (l *RFF[T]) features(b *engine.Block[T], lo, hi int) {
	for len(l.omega) < b.Dim {
		row, rand := make([]float64, l.cfg.D/2), engine.NewRand(l.seed, rffStream+uint64(len(l.omega)))
		for j := range row {
			row[j] = rand.Normal() / l.cfg.Sigma // (1)
		}
		l.omega = append(l.omega, row)
	}
	scale := math.Sqrt(2 / float64(l.cfg.D))
	stride := (l.cfg.D + 15) &^ 15
	l.z = engine.Block[T]{Y: b.Y[lo:hi], X: l.x[:(hi-lo)*stride], Dim: l.cfg.D, Stride: stride}
	l.z.MarkChecked()
	for i := lo; i < hi; i++ {
		clear(l.p)
		idx, val := rowOf(b, i)
		for n, v := range val {
			if v != 0 {
				vecmath.Axpy(l.p, float64(v), l.omega[at(idx, n)])
			}
		}
		row := l.z.Row(i - lo)
		for j, p := range l.p {
			sin, cos := sincos(p)
			row[j], row[len(l.p)+j] = T(scale*cos), T(scale*sin) // (2)
		}
	}
}

// sincos returns sine and cosine of x to within 2e-16, to the same bits on every CPU. Beyond 2^20 the period is 2 pi rounded to float64.
func sincos(x float64) (sin, cos float64) {
	if math.Abs(x) > 1<<20 {
		x = math.Remainder(x, 2*math.Pi)
	}
	// x = k pi/2 + r, pi/2 in three parts
	const p1, p2, p3 = 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110
	k := math.RoundToEven(float64(x * (2 / math.Pi)))
	r := math.FMA(-k, p3, math.FMA(-k, p2, math.FMA(-k, p1, x)))
	r2 := float64(r * r)
	s, c := 1./355687428096000, 1./20922789888000 // Taylor: 1/17!, 1/16!
	for _, a := range [...]float64{-1. / 1307674368000, 1. / 6227020800, -1. / 39916800, 1. / 362880, -1. / 5040, 1. / 120, -1. / 6} {
		s = math.FMA(s, r2, a)
	}
	for _, a := range [...]float64{-1. / 87178291200, 1. / 479001600, -1. / 3628800, 1. / 40320, -1. / 720, 1. / 24, -1. / 2} {
		c = math.FMA(c, r2, a)
	}
	s, c = math.FMA(float64(r*r2), s, r), math.FMA(r2, c, 1)
	switch int64(k) & 3 {
	case 1:
		return c, -s
	case 2:
		return -s, -c
	case 3:
		return -c, s
	}
	return s, c
}

// Score is Learner.Score.
func (l *RFF[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkBlock("rff", b, len(dst)); err != nil {
		return err
	}
	for lo := 0; lo < b.Len(); lo += rffBlock {
		hi := min(lo+rffBlock, b.Len())
		l.features(b, lo, hi)
		if err := l.inner.Score(&l.z, dst[lo:hi]); err != nil {
			return err
		}
	}
	return nil
}

// Proba is Prober.Proba of the base; the error wraps ErrProba if it has none.
func (l *RFF[T]) Proba(b *engine.Block[T], dst []float64) error {
	inner, ok := l.inner.(Prober[T])
	if !ok {
		return fmt.Errorf("rff: base %q: %w", l.cfg.Base, ErrProba)
	}
	if err := checkBlock("rff", b, len(dst)); err != nil {
		return err
	}
	for lo := 0; lo < b.Len(); lo += rffBlock {
		hi := min(lo+rffBlock, b.Len())
		l.features(b, lo, hi)
		if err := inner.Proba(&l.z, dst[lo:hi]); err != nil {
			return err
		}
	}
	return nil
}

// Weights returns nil: the weights are those of the random features.
func (l *RFF[T]) Weights() []float64 { return nil }

// Features returns D.
func (l *RFF[T]) Features() int { return l.cfg.D }

// Updates is Learner.Updates.
func (l *RFF[T]) Updates() int64 { return l.inner.Updates() }

// Bytes is Learner.Bytes.
func (l *RFF[T]) Bytes() int64 {
	return l.inner.Bytes() + int64(len(l.omega))*int64(l.cfg.D/2)*8 + bytesOf(l.p) + bytesOf(l.x) + int64(unsafe.Sizeof(*l))
}

// State is that of the base learner: the frequencies follow from the seed.
func (l *RFF[T]) State() State { return l.inner.State() }

// SetState is Learner.SetState.
func (l *RFF[T]) SetState(s State) error {
	if err := l.inner.SetState(s); err != nil {
		return fmt.Errorf("rff: %w", err)
	}
	return nil
}
