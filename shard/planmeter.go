package shard

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/training"
)

// measureRows measures what the rows cost a learner, and merging models of them.
func (m *meter) measureRows(ctx context.Context) error {
	first, _, err := m.learnMore(ctx)
	if err != nil {
		return err
	}
	name, to := filepath.Join(m.dir, "shard"), filepath.Join(m.dir, "merged")
	// Models of one size cost the same to be merged whatever they have seen.
	merge := func(n int) (float64, error) {
		began := m.clock()
		_, err := Merge(ctx, Merging{Models: slices.Repeat([]string{name}, n), Mix: m.mix,
			Model: to, Machine: m.env.Machine})
		return float64(m.clock() - began), err
	}
	const few = 2
	about := 0.0
	// Those that have seen the same may be too certain together, of fewer examples they are not.
	for rows := m.rows; ; rows /= 4 {
		if err := m.saveModel(ctx, rows, name); err != nil {
			return err
		}
		if about, err = merge(few); err == nil {
			break
		}
		if !errors.Is(err, learner.ErrPrior) || rows < leastRows/4 {
			return err
		}
	}
	// As many as a third of the time allows in all rounds, and so many that it shows.
	lots := few * int(float64(learnTime)/3/planRounds/max(about, 1))
	lots = min(max(lots, 2*few), manyParts)
	var learned []Learned
	var merged [2][]float64
	for range planRounds {
		l, _, err := m.learn(ctx, "")
		if err != nil {
			return err
		}
		learned = append(learned, l)
		for i, n := range []int{few, lots} {
			t, err := merge(n)
			if err != nil {
				return err
			}
			merged[i] = append(merged[i], t)
		}
	}
	m.costs.Learn = []Learned{middle(append(learned, first))}
	slices.Sort(merged[0])
	slices.Sort(merged[1])
	m.costs.Merge = merged[0][planRounds/2]
	m.costs.MergeShard = max(0, (merged[1][planRounds/2]-m.costs.Merge)/float64(lots-few))
	return nil
}

// saveModel writes the model of the first rows of the sample.
func (m *meter) saveModel(ctx context.Context, rows int, name string) error {
	few := *m
	few.rows = rows
	_, done, err := few.learn(ctx, "")
	if err != nil {
		return err
	}
	one, err := done.Model()
	if err != nil {
		return err
	}
	if _, err = model.Save(name, one); err != nil {
		return err
	}
	st, err := os.Stat(name)
	if err == nil {
		m.costs.Model = st.Size()
	}
	return err
}

// middle is the median by what learning an example costs.
func middle(of []Learned) Learned {
	slices.SortFunc(of, func(a, b Learned) int { return cmp.Compare(a.Each, b.Each) })
	return of[len(of)/2]
}

// learnMore learns the first of the sample, then as much of it as a round has time for.
func (m *meter) learnMore(ctx context.Context) (Learned, *training.Trial, error) {
	m.rows = min(m.sample.Rows, leastRows)
	first, _, err := m.learn(ctx, "")
	if err != nil {
		return first, nil, err
	}
	m.rows = max(m.rows, min(m.sample.Rows, int(float64(learnTime)/(planRounds+1)/first.Each)))
	return m.learn(ctx, "")
}
