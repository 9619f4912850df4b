package command

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/spread"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// intervalReport is what predict says of --interval with --json.
type intervalReport struct {
	Share   float64 `json:"share"` // of the members
	Members int     `json:"members"`
	Width   float64 `json:"mean_width"` // in units of the score
	// examples whose interval has the threshold in it, if that is a score
	Both int64 `json:"undecided"`
}

// mostMemberWeights is how many numbers the members' weights may be: 256 MiB.
const mostMemberWeights = 1 << 25

// hypothesisOf is what the model predicts with, and its spreadOf.
func hypothesisOf[T engine.Float](p *predictor) (learner.Predictor[T], *spread.Spread[T], error) {
	h, err := model.RestorePredictor[T](p.m, p.pool)
	if err != nil {
		return nil, nil, modelError(p.model, err)
	}
	s, err := spreadOf[T](p)
	return h, s, err
}

// spreadOf is the spread of the model's members, where --interval asks for it; nil else.
func spreadOf[T engine.Float](p *predictor) (*spread.Spread[T], error) {
	if p.share == 0 {
		return nil, nil
	}
	none := func(why string) error {
		return Usage("Leave it out: it is for ensembles whose members have weights of their own.",
			"%s: %s %s", Given(p.cmd.Flags(), "interval"), p.model, why)
	}
	switch {
	case p.m.PredictOnly:
		return nil, none("can only predict, and was saved without its members")
	case len(p.m.Prep.Classes) > 0:
		return nil, none("tells more than two classes")
	}
	l, err := model.Restore[T](p.m, p.pool)
	if err != nil {
		return nil, modelError(p.model, err)
	}
	s, ok := spread.New(l, mostMemberWeights)
	if !ok {
		return nil, none("has no members with weights of their own, or too many weights")
	}
	return s, nil
}

// addInterval adds the columns of the i-th example in hand.
func (w *writer[T]) addInterval(b *engine.Block[T], i int) {
	low, high := w.spread.Quantiles(b, i, w.p.share)
	w.columns(low, high)
	if width := high - low; width-width == 0 {
		w.width += width
	}
	if t := &w.p.threshold; !t.cost && low < t.value && high >= t.value {
		w.both++
	}
	if c := w.p.m.Calibration; c != nil && w.p.proba {
		p, q := c.Proba(low), c.Proba(high)
		w.columns(min(p, q), max(p, q))
	}
}
