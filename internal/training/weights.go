package training

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
)

// balanced is the ClassWeight by which all classes weigh the same.
const balanced = "balanced"

// classFactor is a label's in Options.ClassWeight.
type classFactor struct {
	label  string
	factor float64
}

// classFactors returns the factors that ClassWeight names; nil where it is balanced, or "".
func (o *Options) classFactors() (factors []classFactor, err error) {
	const want = "Want balanced, or factors of labels, as a=2,b=0.5."
	if o.ClassWeight == "" || o.ClassWeight == balanced {
		return nil, nil
	}
	for _, part := range strings.Split(o.ClassWeight, ",") {
		at := strings.LastIndexByte(part, '=')
		if at <= 0 {
			return nil, badOption(want, "{class_weight} %s: %q is no label and its factor",
				o.ClassWeight, part)
		}
		v, err := strconv.ParseFloat(part[at+1:], 64)
		if err != nil || !(v >= 0 && v <= math.MaxFloat32) {
			return nil, badOption(want, "{class_weight} %s: %q is not a number of 0 or more",
				o.ClassWeight, part[at+1:])
		}
		for _, f := range factors {
			if f.label == part[:at] {
				return nil, badOption("Give it once.", "{class_weight} %s: %s comes twice",
					o.ClassWeight, part[:at])
			}
		}
		factors = append(factors, classFactor{part[:at], v})
	}
	return factors, nil
}

// suitsWeights refuses weights where the learner takes none.
func (o *Options) suitsWeights(name string, t learner.Traits) error {
	field := "weight_col"
	if o.WeightCol == "" {
		field = "class_weight"
	}
	if o.WeightCol == "" && o.ClassWeight == "" || o.takesWeights(t) {
		return nil
	}
	return o.noWeights("{"+field+"}: ", name, t)
}

// takesWeights reports whether a run takes weights. Where it looks for one hyperplane of the whole
// data set, they are what the slacks of a soft margin cost.
func (o *Options) takesWeights(t learner.Traits) bool {
	switch {
	case !o.whole(t):
		return t.Weights
	case o.SoftDelta > 0:
		return t.SoftDelta
	}
	return t.Weights && (t.Soft || !t.Stream)
}

// noWeights is the Error of a run that takes no weights; where begins the text.
func (o *Options) noWeights(where, name string, t learner.Traits) *Error {
	takes := those(func(t learner.Traits) bool { return t.Weights })
	next, why := "Learners that take weights: "+takes+".", "its rule has no place for them"
	for _, r := range t.Remedies {
		if !t.Weights && r.Change == "set" { // a hard margin, of a learner that has a soft one
			next = "Set " + fieldsOf([]string{r.Setting}) + ", or take a learner of " + takes + "."
			return badOption(next, where+"%s takes no weights: a hard margin has no slacks whose "+
				"price they could scale", name)
		}
	}
	switch {
	case o.whole(t) && t.Stream:
		next = "Take a number of {epochs}, or a learner of " + takes + "."
		why = "it looks for a hyperplane that separates all examples, whatever they weigh"
		if t.SoftDelta {
			next = "Set {soft_delta}, whose slacks have a price that weights scale, or take " +
				"{epochs} of a learner of " + takes + "."
		}
	case slices.Contains(strings.Split(takes, ", "), name):
		why = "with these settings no loss has a price that they could scale"
	}
	return badOption(next, where+"%s takes no weights: %s", name, why)
}

// explainWeights makes an error of weights in the data, which the learner takes none of, one that
// names those that do.
func (j *Job) explainWeights(err error) error {
	if !errors.Is(err, learner.ErrWeights) {
		return err
	}
	e := j.o.noWeights("the data have weights: ", j.name, j.traits)
	e.Err = err
	return e
}

// namedFactors returns the factor of each class, by its number, or of -1 and +1.
// With all, the labels are all there.
func namedFactors(named []classFactor, info dataset.Info, all bool) ([]float64, error) {
	names := info.Classes
	if names == nil {
		names = []string{info.Labels.Negative, info.Labels.Positive}
		if names[0] == "" && len(info.Rest) == 1 {
			names[0] = info.Rest[0]
		}
	}
	factors := make([]float64, len(names))
	for k := range factors {
		factors[k] = 1
	}
	given := make([]bool, len(names))
	for _, g := range named {
		if k := format.FindLabel(names, g.label, false); k >= 0 && g.label != "" {
			if given[k] {
				return nil, badOption("Give it once.", "{class_weight}: %s comes twice", names[k])
			}
			factors[k], given[k] = g.factor, true
		} else if all || info.Classes == nil {
			return nil, badOption("Labels: "+strings.Join(names, ", ")+".",
				"{class_weight}: no label %q in the data", g.label)
		}
	}
	return factors, nil
}

// classCounts counts examples by class, or by label -1 and +1.
type classCounts struct {
	of    []int64
	total int64
	some  int64 // classes that have any
}

// add counts an example.
func (c *classCounts) add(k int) { c.put(k, 1) }

// put counts n examples.
func (c *classCounts) put(k int, n int64) {
	for k >= len(c.of) {
		c.of = append(c.of, 0)
	}
	if c.of[k] == 0 && n > 0 {
		c.some++
	}
	c.of[k] += n
	c.total += n
}

// factor returns n/(K n_k), 1 of a class without examples.
func (c *classCounts) factor(k int) float64 {
	if c.of[k] == 0 {
		return 1
	}
	return float64(c.total) / (float64(c.some) * float64(c.of[k]))
}

// classOf returns the number of the class of example i, of labels 0 for -1 and 1 for +1.
func classOf[T engine.Float](y []T, class []int32, i int) int {
	if len(class) > 0 {
		return int(class[i])
	}
	return int(y[i]+1) / 2
}

// Weigh gives the examples of a data set the weights of their classes.
func Weigh[T engine.Float](o *Options, d *dataset.Data[T]) error {
	given, err := o.classFactors()
	if err != nil || o.ClassWeight == "" {
		return err
	}
	var factors []float64
	if given != nil {
		if factors, err = namedFactors(given, d.Info, true); err != nil {
			return err
		}
		return d.WeighClasses(factors)
	}
	y, class := d.Block.Y, d.Block.Class
	if d.Bytes != nil {
		y, class, _ = d.Bytes.Labels()
	}
	var c classCounts
	for i := range y {
		c.add(classOf(y, class, i))
	}
	for k := range c.of {
		factors = append(factors, c.factor(k))
	}
	return d.WeighClasses(factors)
}

// WeighStream is Weigh of a stream: each block when it comes. The first is read at once, since the
// number of classes is known from then on.
func WeighStream[T engine.Float](o *Options, src eval.Source[T],
	info func() dataset.Info) eval.Source[T] {
	first := &replay[T]{src: src}
	first.block, first.err = src.Next()
	given, err := o.classFactors()
	if err != nil || o.ClassWeight == "" { // which Validate has looked at
		return first
	}
	return &weighing[T]{src: first, info: info, given: given}
}

// keepClassCounts has the position of a run know what its stream has counted to balance classes. A
// run that is gone on with in the middle of its source has counted those before.
func keepClassCounts[T engine.Float](j *Job, in eval.Source[T]) {
	s, ok := in.(*weighing[T])
	if !ok || s.given != nil {
		return
	}
	j.counted = s.countsAt
	if j.at.placed() {
		s.known = j.at.toSkip()
		for k, n := range j.at.position.ClassCounts {
			s.counts.put(k, int64(n))
		}
		s.uncounted = j.at.standing.At - s.counts.total
	}
}

// classCounts returns how many examples of each class are among the first n of the pass, where they
// are weighed by that; else nil.
func (j *Job) classCounts(n int64) []uint64 {
	if j.counted == nil {
		return nil
	}
	return j.counted(n)
}

// weighing is a stream whose examples have the weights of their classes.
type weighing[T engine.Float] struct {
	src     eval.Source[T]
	info    func() dataset.Info
	given   []classFactor
	factors []float64
	counts  classCounts // of balanced
	known   int64       // examples to come that are counted
	view    engine.Block[T]

	uncounted int64 // examples of the pass that counts don't have
	w         []T
}

func (s *weighing[T]) Next() (*engine.Block[T], error) {
	b, err := s.src.Next()
	if err != nil || b.Len() == 0 {
		return b, err
	}
	s.w = s.w[:0]
	if s.given != nil {
		if s.factors == nil || len(b.Class) > 0 {
			if s.factors, err = namedFactors(s.given, s.info(), false); err != nil {
				return nil, err
			}
		}
		if s.w, err = dataset.WeighClasses(s.w, b.Y, b.Class, b.W, s.factors); err != nil {
			return nil, err
		}
	} else {
		for i := range b.Len() {
			k := classOf(b.Y, b.Class, i)
			if s.known > 0 {
				s.known--
			} else {
				s.counts.add(k)
			}
			s.w = append(s.w, T(s.counts.factor(k)*float64(b.Weight(i))))
		}
	}
	s.view = b.Reweighted(s.w)
	return &s.view, nil
}

// countsAt returns the counts of the first n examples of the pass, the last of which is in the
// block in hand.
func (s *weighing[T]) countsAt(n int64) []uint64 {
	counts := make([]uint64, len(s.counts.of))
	for k, n := range s.counts.of {
		counts[k] = uint64(n)
	}
	for i := s.view.Len() - int(s.counts.total+s.uncounted-n); i < s.view.Len(); i++ {
		counts[classOf(s.view.Y, s.view.Class, i)]--
	}
	return counts
}

// Wait is eval.Waiter's.
func (s *weighing[T]) Wait(d time.Duration) bool { return eval.Wait(s.src, d) }
