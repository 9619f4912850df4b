package learners

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

func init() { learner.Register("ovo", (*OVOConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*OVOConfig) Entry() learner.Entry {
	return learner.EntryFor(OVOConfig{Base: "obpm"}, newOVO[float32],
		newOVO[float64], learner.Entry{
			Summary: "one-vs-one: a binary learner per pair of classes, which vote",
			Over: func(base string, c learner.Config, classes int) learner.Config {
				return &OVOConfig{Classes: classes, Base: base, BaseConfig: c}
			},
			Pairs:   true,
			Holding: holdPairs,
		})
}

// OVOConfig holds the settings of the learner ovo, which tells any number of classes by a learner
// for each two of them. It is shown the examples of the two alone, the class that came first as +1.
// Each votes, and the class with most votes is predicted; of those with as many, the one whose
// learners' scores sum to most. The learner is an [OVRConfig] with columns of pairs.
//
// Reference: S. Knerr, L. Personnaz, G. Dreyfus, "Single-layer learning revisited: a stepwise
// procedure for building and training a neural network", in Neurocomputing, Springer 1990; J. H.
// Friedman, "Another approach to polychotomous classification", Stanford University, 1996 (votes).
//
//	paper     here      shape, unit
//	K         classes   that have come, numbered from 0
//	f_ij(x)   columns   score of the learner of classes i < j: above 0 a vote for i, below 0 for j
//	          outputs   (votes for the class - votes against it)/2 + s/(3 (|s| + 1)), s the sum of
//	                    the class's f_ij less that of its f_ji
//
// Deviations: the sums s decide between classes with as many votes, where LIBSVM takes the first
// class, as TiesFirst does. As a share of a vote, below 1/3 either way, they are a part of the
// class's output. A score of 0 is no vote. A class may come at any time: what the pairs of a class
// with those to come begin with is a learner that has learned its examples alone. It is left out
// with Classes, which says how many there will be.
//
// Guarantee: the learner of a pair scores, to the bit, as one of two classes over the examples of
// the two, whenever they came: TestOVOColumns.
//
// Cost: an example is learned by the learners of its class's pairs, and scored by all K(K-1)/2; on
// the pool, a pair a part. Memory: that of the base for each pair, and for each class once more
// where any class may come.
type OVOConfig struct {
	// Classes is the number of classes, 0 for any number.
	//
	// Where it is known, the learners that new ones begin with are not kept. Default 0; 0 to 1024.
	Classes int `json:"classes" flag:"class-count"`
	// Base is the binary learner, whose settings are accepted, too. Default obpm; a learner of two
	// classes.
	Base string `json:"base" flag:"base"`
	// TiesFirst predicts the class seen first if votes are equal, as LIBSVM does.
	//
	// A score of 0 is a vote for the class that came later then. Default false.
	TiesFirst bool `json:"ties_first,omitempty" flag:"ties-first"`
	// BaseConfig is the base's own settings, of the type that its Entry.Config returns; nil stands
	// for those defaults. Default nil; any that are valid.
	BaseConfig learner.Config `json:"base_config"`
}

// MaxPaired is the largest number of classes of which there is a learner for each two.
const MaxPaired = 1024

// Validate wants a base of two classes with valid settings.
func (c *OVOConfig) Validate() error {
	if err := checkClassCount("ovo", c.Classes, MaxPaired); err != nil {
		return err
	}
	base, err := c.Inner()
	if err != nil {
		return err
	}
	return checkTwo("ovo", c.Base, base)
}

// Inner returns the base's settings.
func (c *OVOConfig) Inner() (learner.Config, error) {
	return baseSettings("ovo", c.Base, c.BaseConfig)
}

// UnmarshalJSON is that of OBPMConfig.
func (c *OVOConfig) UnmarshalJSON(data []byte) error {
	type fields OVOConfig // without this method
	return decodeOver("ovo", data, (*fields)(c), &c.Base, &c.BaseConfig)
}

// Traits is Config.Traits: what the base can do and needs, once a pair. Votes have no probabilities
// and no weights.
func (c *OVOConfig) Traits() learner.Traits {
	base, err := c.Inner()
	if err != nil {
		return learner.Traits{Norm: math.NaN()}
	}
	t := traitsOver(base.Traits(), c.Classes, "the pairs of classes")
	t.Linear, t.Vector, t.Proba = false, false, false
	t.Splits, t.Shard, t.ShardClasses, t.Part, t.PartOf = 0, nil, nil, nil, nil
	t.Memory = c.memory
	return t
}

// Resolve resolves the base's settings: all columns see the examples as they are.
func (c *OVOConfig) Resolve(f learner.Facts) (learner.Config, error) {
	r := *c
	var err error
	if r.BaseConfig, err = resolvedBase("ovr", c.Base, c.BaseConfig, f); err != nil {
		return nil, err
	}
	return &r, nil
}

// memory is Traits.Memory: that of the base for each pair, and for each class. A base of whole data
// sets is fitted to a copy of the examples of two classes, of all where there are but two.
func (c *OVOConfig) memory(x learner.Extent) learner.Footprint {
	base, err := c.Inner()
	if err != nil {
		return learner.Footprint{}
	}
	k := max(x.Classes, int64(c.Classes), 2)
	f := memoryOver(base, k*(k-1)/2+k, x)
	if x.Whole {
		values := x.NonZeros
		if x.Dense {
			values = learner.Times(x.Examples, x.Features)
		}
		f.Add("examples of a pair", x.Examples, learner.Plus(learner.Times(2, values, 4+x.Elem),
			learner.Times(x.Examples, 32)))
	}
	return f
}

func newOVO[T learner.Float](cfg OVOConfig, env learner.Env) (learner.Learner[T], error) {
	l, err := newOver[T](OVRConfig{Classes: cfg.Classes, Base: cfg.Base,
		BaseConfig: cfg.BaseConfig}, true, cfg.TiesFirst, env)
	return l, err
}

// holdPairs is Entry.Holding: a hypothesis of pairs of classes, as LIBSVM has them.
func holdPairs(h *learner.Hypothesis) (_ learner.Config, s learner.State, ok bool) {
	if !h.Pairs || h.Sums || len(h.Outputs) == 0 {
		return nil, s, false
	}
	_, last := pairOf(len(h.Outputs) - 1)
	cfg := &OVOConfig{Classes: last + 1, TiesFirst: true}
	o := ovr[float64]{pairs: true, since: make([]int64, last+1)}
	if cfg.Base, cfg.BaseConfig, ok = o.hold(h); !ok || o.count(last+1) != len(h.Outputs) {
		return nil, s, false
	}
	return cfg, o.State(), cfg.Validate() == nil
}

// pairOf returns the classes of pair k, first < second: those of the second class come behind all
// of classes before it.
func pairOf(k int) (first, second int) {
	for second = int(math.Sqrt(float64(2 * k))); second*(second+1)/2 <= k; {
		second++
	}
	return k - second*(second-1)/2, second
}

// votes sets dst, one a class, to the outputs by the scores of all pairs, which are that far apart.
// Where ties go to the first class these are votes alone.
func votes(dst, scores []float64, apart int, first bool) {
	if first {
		clear(dst)
		for k := range len(dst) * (len(dst) - 1) / 2 {
			i, j := pairOf(k)
			if !(scores[k*apart] > 0) {
				i, j = j, i
			}
			dst[i] += 0.5
			dst[j] -= 0.5
		}
		return
	}
	for c := range dst {
		count, sum := 0.0, 0.0
		for other := range dst {
			f := 0.0
			switch {
			case other < c: // it is +1
				f = -scores[(c*(c-1)/2+other)*apart]
			case other > c:
				f = scores[(other*(other-1)/2+c)*apart]
			}
			switch sum += f; {
			case f > 0:
				count += 0.5
			case f < 0:
				count -= 0.5
			}
		}
		share := sum / (3 * (math.Abs(sum) + 1))
		if math.IsInf(sum, 0) {
			share = math.Copysign(1.0/3, sum)
		}
		dst[c] = count + share
	}
}

// labelled returns a copy of the examples of b whose label is not 0.
func labelled[T learner.Float](b *engine.Block[T]) *engine.Block[T] {
	some := &engine.Block[T]{Dim: b.Dim, Stride: b.Stride}
	if !b.Dense() {
		some.Ptr = []int{0}
	}
	for i, y := range b.Y {
		if y == 0 {
			continue
		}
		some.Y = append(some.Y, y)
		if len(b.W) > 0 {
			some.W = append(some.W, b.W[i])
		}
		if b.Dense() {
			some.X = append(some.X, b.X[i*b.Stride:][:b.Stride]...)
			continue
		}
		idx, val := b.Sparse(i)
		some.Idx, some.Val = append(some.Idx, idx...), append(some.Val, val...)
		some.Ptr = append(some.Ptr, len(some.Idx))
	}
	return some
}
