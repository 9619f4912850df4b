package learners

import (
	"cmp"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Replacer is for [learner.ReplacerOf]: nil where members have more than weights.
func (o *OBPM[T]) Replacer() learner.Replacer[T] {
	if o.cfg.Traits().Replaces == 0 {
		return nil
	}
	return replacingOBPM[T]{o}
}

type replacingOBPM[T learner.Float] struct{ o *OBPM[T] }

// Replace is [learner.Replacer.Replace]. S is summed over the members anew. It goes by counts
// alone, and scores are added up in the order of the features, so that it takes the same members
// whatever the blocks, workers and implementations are.
func (r replacingOBPM[T]) Replace(n int, recent []engine.Block[T]) error {
	if err := learner.CheckRecent("obpm", n, recent); err != nil {
		return err
	}
	list := r.o.ranked(recent)
	n = min(n, len(list)/2)
	best, worst := list[:n], list[len(list)-n:]
	if n > 0 {
		r.o.rewrite(func(col []T) {
			for i, m := range worst {
				col[m] = col[best[i]]
			}
		})
	}
	return nil
}

// ranked returns the members in the order of how many examples they predict the wrong label of, the
// fewest first, and of as many in the order of their numbers.
func (o *OBPM[T]) ranked(blocks []engine.Block[T]) []int {
	type value struct {
		feature, example int32
		x                T
	}
	var (
		values []value // by feature: a store of members is read by columns
		y      []T
	)
	for i := range blocks {
		b := &blocks[i]
		for e := range b.Len() {
			idx, val := b.Example(e)
			for k, x := range val {
				if j := engine.FeatureOf(idx, k); x != 0 && j < o.Room {
					values = append(values, value{int32(j), int32(len(y)), x})
				}
			}
			y = append(y, b.Y[e])
		}
	}
	slices.SortStableFunc(values, func(a, b value) int { return cmp.Compare(a.feature, b.feature) })
	members := o.cfg.Members
	scores, col := make([]T, len(y)*members), make([]T, members)
	last, some := int32(-1), false
	for _, v := range values {
		if v.feature != last {
			last, some = v.feature, o.Store().Column(col, int(v.feature))
		}
		if !some {
			continue
		}
		of := scores[int(v.example)*members:][:members]
		for m, w := range col {
			of[m] += T(w * v.x)
		}
	}
	wrong, list := make([]int, members), make([]int, members)
	for e, label := range y {
		for m, s := range scores[e*members:][:members] {
			if (s >= 0) != (label > 0) {
				wrong[m]++
			}
		}
	}
	for m := range list {
		list[m] = m
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(wrong[a], wrong[b]) })
	return list
}

// Forgetter is for [learner.ForgetterOf]: nil where the base can't forget.
func (o *OBPM[T]) Forgetter() learner.Forgetter {
	if !o.cfg.Traits().Forgets {
		return nil
	}
	return forgettingOBPM[T]{o}
}

type forgettingOBPM[T learner.Float] struct{ o *OBPM[T] }

// Forget is [learner.Forgetter.Forget]: all members forget. S is summed over them anew.
func (f forgettingOBPM[T]) Forget(keep float64) error {
	if err := learner.CheckKeep("obpm", keep); err != nil || keep == 1 {
		return err
	}
	f.o.rewrite(func(col []T) {
		for m := range col {
			col[m] *= T(keep)
		}
	})
	return nil
}

// rewrite has change give the members other weights of each feature that any of them has one of,
// and sums them up anew.
func (o *OBPM[T]) rewrite(change func(col []T)) {
	col, store, sum := make([]T, o.cfg.Members), o.Store(), o.Sum()
	o.sumSq = 0
	for j := range o.Room {
		if store.Column(col, j) {
			change(col)
			store.SetColumn(j, col)
		}
		if !o.KeepsSum {
			continue
		}
		sum[j] = o.Rule.Total(0, col)
		if o.cfg.Cap {
			o.sumSq += float64(sum[j] * sum[j])
		}
	}
}
