package learners

import "github.com/halfspace-ml/halfspace/learner"

// Forgetter is for [learner.ForgetterOf]: nil where the base can't forget.
func (o *obpm[T]) Forgetter() learner.Forgetter {
	if !o.cfg.Traits().Forgets {
		return nil
	}
	return forgettingOBPM[T]{o}
}

type forgettingOBPM[T learner.Float] struct{ o *obpm[T] }

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
func (o *obpm[T]) rewrite(change func(col []T)) {
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
