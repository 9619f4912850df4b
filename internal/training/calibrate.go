package training

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/calibration"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/folds"
	"github.com/halfspace-ml/halfspace/learner"
)

// Learners that see the whole data set at once predict nothing before they learn it. Their scores
// for a calibration, or a threshold, are those of folds: of each, by what was learned of the
// others.

// innerFolds is how many there are at most; each has an example of every label but the rarest.
const innerFolds = 5

// innerStream is the repeat that their draw is, which no cross-validation has.
const innerStream = 1 << 20

// suitsCalibration refuses a calibration where there are no scores for it.
func (o *Options) suitsCalibration(name string, t learner.Traits) error {
	switch {
	case o.Calibrate == "":
	case o.whole(t) && o.From != "":
		return badOption("Leave out {from}.", "{calibrate} %s: the model has learned these "+
			"examples, maybe, and folds begin anew", o.Calibrate)
	}
	return nil
}

// suitsThreshold refuses one that is to be found where there are no scores for it.
func (o *Options) suitsThreshold(name string, t learner.Traits) error {
	switch {
	case o.Threshold == "":
	case t.Classes:
		return badOption("Choose the label that is +1 against all others by {positive}.",
			"{threshold} %s: of more than two classes the label is that of the largest score",
			o.Threshold)
	case o.whole(t) && o.From != "":
		return badOption("Leave out {from}.", "{threshold} %s: the model has learned these "+
			"examples, maybe, and folds begin anew", o.Threshold)
	}
	return nil
}

// target is what a threshold is to reach: what was asked for, or what that of the model was found
// for that is gone on from, whose scores will change.
func (j *Job) target() string {
	text := j.o.Threshold
	if text == "" && j.before != nil && j.before.Threshold != nil && !j.Whole() {
		text = j.before.Threshold.Target
	}
	if _, err := calibration.ParseTarget(text); err != nil { // that of a model may be any text
		return ""
	}
	return text
}

// calibrates is by what method the run finds probabilities: the one that was asked for, or that of
// the model that is gone on from, whose scores will change; "" if by none.
func (j *Job) calibrates() string {
	switch {
	case j.o.Calibrate != "":
		return j.o.Calibrate
	case j.before == nil || j.before.Calibration == nil || j.Whole():
		return ""
	case j.before.Calibration.Method != "":
		return j.before.Calibration.Method
	}
	return calibration.Platt
}

// folded finds, of a learner of the whole data set, the probabilities that are asked for, and the
// threshold: of scores of folds, of one after another. res gets them.
func (r *run[T]) folded(ctx context.Context, lo *LearnOptions, res *eval.Result) error {
	j := r.j
	mem, ok := r.in.(*eval.Memory[T])
	if method := lo.Calibrate; !ok || method == "" && lo.Threshold == "" {
		return nil
	}
	all := &dataset.Data[T]{Block: *mem.All()}
	s := &foldScores{n: all.Block.Len()}
	class := func(i int) int { return classOf(all.Block.Y, all.Block.Class, i) }
	n := s.folds(class)
	if n < 2 {
		return nil
	}
	of := folds.Assign(s.n, n, class, j.seed, innerStream)
	var train, test engine.Block[T]
	for fold := range int32(n) {
		var out, in []int32
		for i, f := range of {
			if f == fold {
				out = append(out, int32(i))
			} else {
				in = append(in, int32(i))
			}
		}
		all.Gather(&train, in)
		all.Gather(&test, out)
		l, err := learner.New[T](j.entry, j.config,
			learner.Env{Seed: j.seed, Pool: j.pool, Kept: r.room.kept})
		if err != nil {
			return err
		}
		fit := *lo.Fit
		if _, err := Learn(ctx, l, eval.NewMemory(&train, nil), LearnOptions{
			Options: eval.Options{Progress: lo.Progress}, Fit: &fit}); err != nil {
			return err
		}
		err = eval.Score(ctx, learner.ViewOf(l), eval.NewMemory(&test, nil),
			func(b *engine.Block[T], scores []float64) error {
				for i := range b.Len() {
					s.class = append(s.class, classOf(b.Y, b.Class, i))
				}
				s.scores = append(s.scores, scores...)
				return nil
			})
		if err != nil {
			return err
		}
		l = nil
		j.collect()
	}
	s.find(lo, res)
	return nil
}

// foldScores are scores of all examples, in some order.
type foldScores struct {
	n      int
	class  []int     // of two 0 and 1
	scores []float64 // one for each example, or for each of its classes
}

// folds is how many folds there can be: as many as examples of the rarest label but those of one.
func (s *foldScores) folds(class func(i int) int) int {
	var c classCounts
	for i := range s.n {
		c.add(class(i))
	}
	least, labels := int64(innerFolds), 0
	for _, n := range c.of {
		if n > 1 {
			least = min(least, n)
			labels++
		}
	}
	if labels < 2 {
		return 0
	}
	return int(least)
}

// find has them say what is asked for; nothing where a fold knew fewer classes than others.
func (s *foldScores) find(lo *LearnOptions, res *eval.Result) {
	k := len(s.scores) / s.n
	var sum float64
	for _, f := range s.scores {
		sum += float64(f * f)
	}
	unit := math.Sqrt(sum / float64(len(s.scores)))
	if k*s.n != len(s.scores) || !(unit > 0) || math.IsInf(unit, 0) {
		return
	}
	fitter := calibration.New(lo.Calibrate, unit)
	for i, class := range s.class {
		if k > 1 {
			fitter.More.Add(class, s.scores[i*k:][:k], true)
		} else {
			fitter.Two.Add(float64(2*class-1), s.scores[i], true)
		}
	}
	target, _ := calibration.ParseTarget(lo.Threshold)
	if t, ok := fitter.Two.Threshold(target); ok {
		res.Threshold = &t
	}
	if c, ok := fitter.Fit(); ok && lo.Calibrate != "" {
		res.Calibration = &c
	}
}

// calibrated is the view of l with the probabilities of c, where there are any.
func calibrated[T engine.Float](l learner.Learner[T], c *learner.Calibration) learner.Predictor[T] {
	if p := learner.ViewOf(l); c == nil {
		return p
	} else {
		return learner.Calibrated(p, *c)
	}
}
