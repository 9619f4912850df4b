package dataset

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// Scaling is what is known of the scale of each feature; see Options.Scaling.
type Scaling = format.Scaling

// Values of Options.Scaling.
var scalings = []string{"none", "std", "maxabs", "auto"}

// scales reports whether anything is done to values before they are normalised, and learns whether
// the data being read change what is known of the features.
func (c *config) scales() bool { return c.Scaled != nil || c.learns() }
func (c *config) learns() bool { return c.method != "" }

// finishing finishes the examples of blocks.
type finishing[T engine.Float] struct{ format.Finishing }

// rows takes examples lo to hi, and returns the largest sum of squares.
func (f *finishing[T]) rows(b *engine.Block[T], lo, hi int) (most float64) {
	for i := lo; i < hi; i++ {
		idx, val := b.Example(i)
		most = max(most, format.Finish(&f.Finishing, idx, val))
	}
	return most
}

// setMethod settles how the values of files of f are scaled as far as they were seen.
func (c *config) setMethod(f *format.Format) {
	if c.method = c.Scaling; c.method == "none" && c.Scaled == nil {
		c.method = ""
	}
	// a mean stands for values that are missing
	if c.method == "" && c.Scaled == nil && f.Takes("Missing") &&
		(c.Missing == "mean" || c.Missing == "indicator") {
		c.method = "none"
	}
}

// finish begins what is done to examples of which in is known.
func finish[T engine.Float](c *config, in *Info, unit bool, scale float64) finishing[T] {
	f := format.Finishing{Bias: c.bias, Lead: in.Lead, Words: in.Lead > 0 ||
		in.Words && format.Lookup(in.Kind).HasColumns(), Unit: unit, Scale: scale}
	if !c.learns() {
		f.By = c.Scaled
	} else if c.Scaled != nil {
		f.Known = c.Scaled.Clone()
	}
	return finishing[T]{f}
}

// setFinishing takes from the parsers what must come behind the scaling.
func (s *Stream[T]) setFinishing() {
	c := s.cfg
	c.setMethod(s.p.Format)
	s.info.Words, s.info.Lead = s.layout.Words, s.layout.Lead
	if c.scales() {
		s.after = finish[T](c, &s.info, s.p.Unit, s.p.Scale)
		s.p.Unit, s.p.Scale, s.p.KeepDiv = false, 0, false
	}
}

// fitsScaling refuses rows without columns where the columns of training were scaled: of those that
// a row lacks the mean would be missing.
func (s *Stream[T]) fitsScaling(r *rows[T]) error {
	if k := s.cfg.Scaled; k == nil || !k.Columns || r.Dense() || s.after.Words || r.N == 0 {
		return nil
	}
	return fmt.Errorf("%s: the columns of training were scaled, and these examples have none: %w",
		s.files[0], ErrForeign)
}

// Prepare scales examples lo to hi of the block that Next returned last, with
// Options.PrepareByHand, each by what was seen up to and with it. It must be called once for each
// example, in order.
func (s *Stream[T]) Prepare(lo, hi int) {
	if s.cfg.learns() {
		s.learnScale(&s.view, lo, hi)
	}
}

// scaleFits refuses features whose scales, 24 bytes each up to the largest index, would take more
// than half of the process's memory limit (debug.SetMemoryLimit, GOMEMLIMIT), or of 8 GiB where
// it has none.
func (c *config) scaleFits(features int) error {
	need := 24 * int64(features)
	if !c.learns() || need < 1<<20 { // no limit is that small
		return nil
	}
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		limit = 8 << 30
	}
	if need > limit/2 {
		return fmt.Errorf("the scales of %d features take %s, of the %s that the process may use: "+
			"is the largest index right? Tables of features grow with it, whatever is between: %w",
			features, format.InKiB(need), format.InKiB(limit), ErrMemory)
	}
	return nil
}

// learnScale scales examples by what was seen up to and with each.
func (s *Stream[T]) learnScale(b *engine.Block[T], lo, hi int) {
	s.after.begin(s.cfg.method, b)
	s.maxSq = max(s.maxSq, s.after.rows(b, lo, hi))
}

// begin knows nothing yet of the features of examples like those of b.
func (f *finishing[T]) begin(method string, b *engine.Block[T]) {
	if f.Known == nil && method != "" {
		f.Known = &format.Scaling{Method: method, Columns: b.Dense() || f.Words}
	}
}

// whole scales all examples by what is known of all of them, and returns the largest sum of
// squares.
func (f *finishing[T]) whole(method string, b *engine.Block[T]) float64 {
	f.begin(method, b)
	f.Only = true
	f.rows(b, 0, b.Len())
	f.Only, f.By = false, f.Known
	return f.rows(b, 0, b.Len())
}
