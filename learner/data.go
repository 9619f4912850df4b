package learner

import (
	"iter"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// MaxSumSq returns R^2, the square of the longest example's length, with the extended coordinate
// Delta.
func MaxSumSq[T Float](b *engine.Block[T], delta float64) float64 {
	var top float64
	for i := range b.Len() {
		_, val := b.Example(i)
		top = max(top, engine.SumSqOrdered(val))
	}
	return top + float64(delta*delta)
}

// Fingerprint returns a hash of the examples and their labels, by which a run that was cut knows
// them again: 53 bits, equal for equal examples in equal order. Cost: some ns a value.
func Fingerprint[T Float](b *engine.Block[T]) uint64 {
	return FingerprintOf(b.Len(), func(yield func(*engine.Block[T]) bool) { yield(b) })
}

// FingerprintOf is Fingerprint of n examples that come in blocks.
func FingerprintOf[T Float](n int, blocks iter.Seq[*engine.Block[T]]) uint64 {
	h := uint64(n)
	for b := range blocks {
		for i := range b.Y {
			// a weight of 1 changes no bit, so that data without weights have the sum they always
			// had
			h = hashExample(h, b, i, math.Float64bits(1))
		}
	}
	return h >> 11
}

// hashExample mixes example i, its label and its weight into h. The bits of label and weight are
// combined with those of salt.
func hashExample[T Float](h uint64, b *engine.Block[T], i int, salt uint64) uint64 {
	add := func(v uint64) {
		h = (h ^ v) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	idx, val := b.Example(i)
	add(math.Float64bits(float64(b.Y[i])) ^ math.Float64bits(float64(b.Weight(i))) ^ salt)
	if b.Class != nil {
		add(uint64(b.Class[i]))
	}
	add(uint64(len(val)))
	for k, v := range val {
		add(uint64(engine.FeatureOf(idx, k)))
		add(math.Float64bits(float64(v)))
	}
	return h
}

// Fingerprinted returns the fingerprint, of 53 bits, of examples of which sum is that of all but
// the last ones, b: equal for equal examples in equal order, whatever the blocks. 0 is that of
// none. Weights count, and classes. Cost: some ns a value.
func Fingerprinted[T Float](sum uint64, b *engine.Block[T]) uint64 {
	for i := range b.Y {
		sum = hashExample(sum, b, i, 0) >> 11
	}
	return sum
}

// WasCut reports whether s is that of a learner whose last Fit was cut.
func WasCut(s State) bool {
	_, ok := s.Counters[CutPrefix+"data"]
	return ok
}

// CutPrefix begins the names of the parts of a State that say where a run on a whole data set was
// cut, so that it goes on there to the bit.
const CutPrefix = "cut."

// Counters of a cut.
const (
	CutData   = "data"   // fingerprint of the examples, 53 bits
	CutN      = "n"      // how many there are
	CutAt     = "at"     // the next one to look at, among those of the pass
	CutEpochs = "epochs" // complete passes
	CutFlags  = "flags"
	// of several classes, in place of CutAt: which of their learners, from 0, was being fitted,
	// after those before it
	CutColumn = "column"
)
