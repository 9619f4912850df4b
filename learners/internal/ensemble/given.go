package ensemble

import (
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// AppendTrace appends what the members did with example e of the last run: how many updated, and
// of sums that depend on the order of the members those of their words, in that order.
func (r *MemberRun[T]) AppendTrace(t *learner.Trace, e int) {
	if r.short {
		_, _, updates := r.Sums(e)
		t.Count(updates)
		t.End()
		return
	}
	updates := 0
	for i, n := e, r.B.Len(); i < len(r.partials); i += n {
		updates += r.partials[i].Updates
	}
	t.Count(updates)
	if r.Owner.KeepsSum {
		r.appendSums(t, e, func(p *Partial) []float64 { return p.Coef[:] })
	}
	switch r.aggregate {
	case AggregateVotes: // exact in any order
		_, votes, _ := r.Sums(e)
		t.Count(int(votes))
	case AggregateScores:
		r.appendSums(t, e, func(p *Partial) []float64 { return p.total[:] })
	}
	t.End()
}

// appendSums appends the sums of example e, part by part.
func (r *MemberRun[T]) appendSums(t *learner.Trace, e int, of func(*Partial) []float64) {
	r.words = r.words[:0]
	for i, n := e, r.B.Len(); i < len(r.partials); i += n {
		r.words = append(r.words, of(&r.partials[i])...)
	}
	t.Sums(r.words)
}

// RunGiven is Run of members that have learned b's examples elsewhere, in parts that have written
// down what they did: the members stay as they are.
func (r *MemberRun[T]) RunGiven(b *engine.Block[T], lo int, what Aggregate,
	traces []*learner.TraceReader) error {
	r.aggregate, r.first, r.ones = what, NoDraws, false
	r.weighted = b.Weighted()
	r.short = r.Owner.fixed && what == AggregateNone
	r.take(b, lo, min(b.Len(), lo+RunExamples))
	n := r.B.Len()
	r.measure()
	r.Parts = 1
	if r.short {
		r.counts = slices.Grow(r.counts[:0], n)[:n]
	} else {
		r.partials = slices.Grow(r.partials[:0], n)[:n]
	}
	for e := range n {
		var p Partial
		for _, t := range traces {
			r.given(t, &p)
			if err := t.Err(); err != nil {
				return err
			}
		}
		if r.short {
			r.counts[e] = int32(p.Updates)
		} else {
			r.partials[e] = p
		}
	}
	return nil
}

// given adds what AppendTrace wrote of an example.
func (r *MemberRun[T]) given(t *learner.TraceReader, p *Partial) {
	p.Updates += t.Count()
	if r.short {
		return
	}
	if r.Owner.KeepsSum {
		p.Coef[0] = t.AddTo(p.Coef[0])
	}
	switch r.aggregate {
	case AggregateVotes:
		p.total[0] += float64(t.Count())
	case AggregateScores:
		p.total[0] = t.AddTo(p.total[0])
	}
}
