package shard_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// TestMix: in rounds of mixing the weights are averages of the shards', in any order of the files.
func TestMix(t *testing.T) {
	for _, c := range []struct {
		name, by string
		o        training.Options
	}{
		{"perceptron", shard.MixMistakes, training.Options{}},
		{"pa", "", training.Options{Precision: "f64", Data: training.Data{Bias: "append"}}},
		{"lms", shard.MixUniform, training.Options{Shuffle: true}},
		{"obpm", "", training.Options{Settings: map[string]any{"members": 70, "tau": 0.3}}},
		{"obpm", shard.MixMistakes, training.Options{Precision: "f64",
			Settings: map[string]any{"members": 70, "tau": 0.3, "cap": true, "base": "pa"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			o := c.o
			o.Learner = c.name
			o.Files = []string{rows(t, dir, 300, 1, c.name == "obpm")}
			by, from := c.by, ""
			if by == "" {
				by = shard.MixUniform
			}
			apart, presented := o, uint64(0)
			for round := range 3 {
				models := rowShards(t, dir, apart, 4)
				to := filepath.Join(dir, string(rune('a'+round)))
				slices.Reverse(models)
				done, err := shard.Merge(t.Context(), shard.Merging{Models: models, Prior: from,
					Mix: by, Model: to})
				if err != nil {
					t.Fatal(err)
				}
				if presented += 300; done.Model.Presented != presented {
					t.Errorf("round %d: %d examples", round+1, done.Model.Presented)
				}
				average(t, done, by, from)
				from = to
				apart = training.Options{From: to, Files: o.Files, Shuffle: o.Shuffle}
			}
		})
	}
}

// average looks whether a model's weights are those of its shards, each with its share.
func average(t *testing.T, done *shard.Merged, by, from string) {
	t.Helper()
	load := func(name string) *model.Model {
		m, err := model.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	weights := func(m *model.Model) []float64 {
		if m.Precision == "f64" {
			p, err := model.RestorePredictor[float64](m, nil)
			if err != nil {
				t.Fatal(err)
			}
			return p.Weights()
		}
		p, err := model.RestorePredictor[float32](m, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p.Weights()
	}
	before, updates := uint64(0), uint64(0)
	if from != "" {
		m := load(from)
		before, updates = m.Mistakes, m.State.Counters["updates"]
	}
	all, mistakes, first := updates, 0.0, updates
	want, size := make([]float64, 20), make([]float64, 20)
	models := make([]*model.Model, len(done.Files))
	for i, name := range done.Files {
		models[i] = load(name)
		all += models[i].State.Counters["updates"] - first
		mistakes += float64(models[i].Mistakes - before)
	}
	for _, m := range models {
		share := 1 / float64(len(models))
		if by == shard.MixMistakes {
			share = float64(m.Mistakes-before) / mistakes
		}
		for j, w := range weights(m)[:20] {
			want[j] += share * w
			size[j] += share * max(w, -w)
		}
	}
	if n := done.Model.State.Counters["updates"]; n != all {
		t.Errorf("%d updates, want %d", n, all)
	}
	if s, ok := done.Model.State.Scalars["sum_sq"]; ok { // the length is not an average
		if s == 0 {
			t.Error("no length")
		}
		return
	}
	eps := 0x1p-53
	if done.Model.Precision == "f32" {
		eps = 0x1p-24
	}
	for j, w := range weights(done.Model)[:20] {
		if e := w - want[j]; max(e, -e) > 8*eps*size[j] { // a rounding a shard, and of the result
			t.Errorf("weight %d is %v, want %v", j, w, want[j])
		}
	}
}

// TestMixOne: of one shard a round is a pass of one machine.
func TestMixOne(t *testing.T) {
	dir := t.TempDir()
	o := training.Options{Learner: "obpm", Settings: map[string]any{"members": 64},
		Files: []string{rows(t, dir, 200, 3, true)}, Model: filepath.Join(dir, "one")}
	one, err := training.Run(t.Context(), o, training.Env{})
	if err != nil {
		t.Fatal(err)
	}
	mixed, err := shard.Merge(t.Context(), shard.Merging{Models: rowShards(t, dir, o, 1),
		Mix: shard.MixUniform, Model: filepath.Join(dir, "mixed")})
	if err != nil {
		t.Fatal(err)
	}
	if mixed.SHA256 != one.Saved.SHA256 {
		t.Error("another model than one machine's")
	}
}

// TestMixWrong: posteriors are not averaged, and there are two ways to average.
func TestMixWrong(t *testing.T) {
	for _, c := range []struct{ learner, mix, want string }{
		{"adf", shard.MixUniform, "has no weights"}, {"pa", "chance", "mix is"}} {
		dir := t.TempDir()
		o := training.Options{Learner: c.learner, Files: []string{rows(t, dir, 100, 1, false)}}
		_, err := shard.Merge(t.Context(), shard.Merging{Models: rowShards(t, dir, o, 2),
			Mix: c.mix})
		if !errors.Is(err, learner.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.learner, err)
		}
	}
}
