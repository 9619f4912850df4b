package shard_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// adultCosts are those of a core of 2026 on examples of Adult's shape, tau 0.05: reading 150 ns, a
// member 1.3 ns, replay 20 ns and 7 ns a part.
func adultCosts(members int) shard.Costs {
	return shard.Costs{Read: 150, Replay: 20, ReplayPart: 7,
		Learn: []shard.Learned{{Units: members, Each: 1.3 * float64(members)}}}
}

// TestPlanFormula: times follow T = read + c N/w + read + replay + w replay of a part, and where
// one core is enough, or no number of them is much faster, the plan says so.
func TestPlanFormula(t *testing.T) {
	const (
		pays  = "machines pay: %d workers, of a core each, do in %s what one core does in %s"
		more  = "; more of them save less than a fifth of that"
		alone = "one core does this in %s: machines beside it don't pay"
		no    = "one core does this in %s, and more of them save less than a fifth: "
	)
	for _, c := range []struct {
		by       string
		units    int
		examples int64
		passes   int
		workers  int // that pay
		verdict  string
	}{
		{shard.ByMembers, 100, 1e9, 1, 1, fmt.Sprintf(alone, "4.7 minutes")},
		{shard.ByMembers, 4096, 1e9, 1, 16, fmt.Sprintf(pays+more, 16, "13 minutes", "91 minutes")},
		{shard.ByMembers, 4096, 1e6, 1, 1, fmt.Sprintf(alone, "6 s")},
		{shard.ByMembers, 128, 1e10, 1, 1, fmt.Sprintf(no+"reading, by each of them, and joining "+
			"are most of it", "53 minutes")},
		{shard.ByMembers, 64, 1e10, 1, 1, fmt.Sprintf(no+"it can't be taken apart", "39 minutes")},
		{shard.ByMembers, 1000, 1e9, 3, 8, fmt.Sprintf(pays+more, 8, "17 minutes", "68 minutes")},
		{shard.BySettings, 4096, 1e9, 1, 128, fmt.Sprintf(pays+more, 128, "3.2 minutes",
			"91 minutes")},
	} {
		t.Run(fmt.Sprintf("%s/%d/%g/%d", c.by, c.units, float64(c.examples), c.passes),
			func(t *testing.T) {
				p := adultCosts(c.units).Plan(shard.Work{By: c.by, Units: c.units,
					Examples: c.examples, Passes: c.passes})
				n, e := float64(c.examples)*1e-9, float64(c.passes)
				for i, d := range p.Divisions {
					w := float64(d.Workers)
					if d.Workers != 1<<i {
						t.Errorf("division %d: %d workers", i, d.Workers)
					}
					want := n * (150 + e*1.3*float64(d.Units))
					if d.Workers > 1 && c.by == shard.ByMembers {
						want += n * (150 + e*(20+7*w))
					}
					if math.Abs(d.Seconds-want) > 1e-12*want {
						t.Errorf("%d workers: %v s, want %v", d.Workers, d.Seconds, want)
					}
					// words are dealt out: the largest part has at most one more than the mean
					if c.by == shard.ByMembers && float64(d.Units) > float64(c.units)/w+64 {
						t.Errorf("%d workers: a part of %d members", d.Workers, d.Units)
					}
				}
				most := (c.units + 63) / 64
				if c.by == shard.BySettings {
					most = 1024 // and no further
				}
				if last := p.Divisions[len(p.Divisions)-1]; last.Workers > most ||
					2*last.Workers <= most {
					t.Errorf("up to %d workers, %d can be", last.Workers, most)
				}
				if p.Workers != c.workers {
					t.Errorf("%d workers pay, want %d", p.Workers, c.workers)
				}
				if v := p.Verdict(); v != c.verdict {
					t.Errorf("%q,\nwant %q", v, c.verdict)
				}
			})
	}
}

// TestPlanRows: times follow T = R (n/w (read + E c) + merging), and of the shards that make
// another model each no more are advised than are enough.
func TestPlanRows(t *testing.T) {
	c := shard.Costs{Read: 150, Merge: 4e6, MergeShard: 1e6, Model: 1000,
		Learn: []shard.Learned{{Units: 1, Each: 350, Bytes: 5000}}}
	for _, o := range []struct {
		examples       int64
		passes, rounds int
		mixed          bool
		workers        int
		verdict        string
	}{
		{1e9, 1, 0, false, 1, "one core does this in 8.3 minutes: machines beside it don't pay"},
		{1e10, 1, 0, false, 8, "machines pay: 8 workers, of a core each, do in 10 minutes what one " +
			"core does in 83 minutes"},
		{1e9, 2, 3, true, 4, "machines pay: 4 workers, of a core each, do in 11 minutes what one " +
			"core does in 42 minutes"},
		{1000, 1, 0, false, 1, "one core does this in 1 s: machines beside it don't pay"},
	} {
		c.Mixed = o.mixed
		p := c.Plan(shard.Work{By: shard.ByRows, Units: int(o.examples), Examples: o.examples,
			Passes: o.passes, Rounds: o.rounds})
		rounds := float64(max(1, o.rounds))
		for i, d := range p.Divisions {
			w := float64(int(1) << i)
			shardRows := math.Ceil(float64(o.examples) / w)
			want, sent, models := rounds*shardRows*(150+float64(o.passes)*350), 0.0, 0
			if i > 0 {
				want += rounds * (4e6 + (w-2)*1e6)
				sent, models = 1000*rounds, i+1 // as high as the tree, and one
				if o.mixed {
					models = int(w) + 1
				}
			}
			if math.Abs(d.Seconds-want*1e-9) > 1e-12*d.Seconds || float64(d.Units) != shardRows ||
				float64(d.Sent) != sent || d.JoinMemory != int64(models)*5000 || d.Memory != 5000 {
				t.Errorf("%v of %d: %+v, want %v s", w, o.examples, d, want*1e-9)
			}
		}
		if n := len(p.Divisions); n != min(11, bits.Len64(uint64(o.examples))) {
			t.Errorf("%d divisions of %d", n, o.examples)
		}
		if p.Workers != o.workers || p.Verdict() != o.verdict {
			t.Errorf("%d workers, %q,\nwant %d, %q", p.Workers, p.Verdict(), o.workers, o.verdict)
		}
	}
	c.Merge, c.MergeShard = 1e12, 1e12
	p := c.Plan(shard.Work{By: shard.ByRows, Units: 2e9, Examples: 2e9})
	if v := p.Verdict(); !strings.HasSuffix(v, "save less than a fifth: merging is most of it") {
		t.Errorf("%q", v)
	}
}

// TestPlanClasses: classes are joined as members are, and the largest part has one more where they
// can't be dealt out evenly.
func TestPlanClasses(t *testing.T) {
	c := shard.Costs{Read: 100, Learn: []shard.Learned{{Units: 2, Each: 400, Trace: 1, Bytes: 10},
		{Units: 20, Each: 4000, Bytes: 100}}, Replay: 50}
	p := c.Plan(shard.Work{By: shard.ByClasses, Units: 20, Examples: 1e9, Passes: 2})
	for i, want := range []float64{8100, 4300, 2300, 1500, 1100} {
		d := p.Divisions[i]
		if d.Each != want || i > 0 && d.JoinMemory != 200+int64(d.Workers)<<19 {
			t.Errorf("%+v, want %v ns", d, want)
		}
	}
	if len(p.Divisions) != 5 || p.Divisions[4].Units != 2 || p.Divisions[4].Sent != 2e9 {
		t.Errorf("%+v", p.Divisions)
	}
}

// TestPlanStart: each part is a process that takes a while to start, and so is what joins them, in
// each round.
func TestPlanStart(t *testing.T) {
	c := shard.Costs{Start: 1e7, Read: 100, Learn: []shard.Learned{{Units: 1, Each: 400}}}
	for _, w := range []struct {
		work shard.Work
		want []float64 // ns beside examples, on one core and on two
	}{
		{shard.Work{By: shard.ByClasses, Units: 2}, []float64{1e7, 2e7}},
		{shard.Work{By: shard.BySettings, Units: 2}, []float64{1e7, 1e7}},
		{shard.Work{By: shard.ByRows, Units: 2}, []float64{1e7, 2e7}},
		{shard.Work{By: shard.ByRows, Units: 2, Rounds: 3}, []float64{3e7, 6e7}},
	} {
		w.work.Examples = 1000
		all := c.Plan(w.work).Divisions
		c := c
		c.Start = 0
		for i, d := range c.Plan(w.work).Divisions {
			if got := 1000 * (all[i].Each - d.Each); math.Abs(got-w.want[i]) > 1 {
				t.Errorf("%+v on %d: %v ns to start, want %v", w.work, d.Workers, got, w.want[i])
			}
		}
	}
}

// TestPlanSizes: between sizes that were measured learning costs what is on the line between them.
func TestPlanSizes(t *testing.T) {
	c := shard.Costs{Learn: []shard.Learned{{Units: 64, Each: 100, Trace: 0.5, Bytes: 10},
		{Units: 128, Each: 150, Trace: 0.7, Bytes: 20}, {Units: 256, Each: 550, Bytes: 40}}}
	for units, want := range map[int]float64{32: 50, 64: 100, 96: 125, 192: 350, 512: 1100} {
		if got := c.Plan(shard.Work{By: shard.BySettings, Units: units,
			Examples: 1}).Divisions[0].Each; got != want {
			t.Errorf("%d units: %v ns, want %v", units, got, want)
		}
	}
	d := c.Plan(shard.Work{By: shard.ByMembers, Units: 256, Examples: 10}).Divisions
	if d[1].Sent != 7 || d[2].Sent != 5 || d[0].Sent != 0 || d[2].Memory != 10 ||
		d[2].JoinMemory != 2*40+4<<19 {
		t.Errorf("%+v", d)
	}
}

// TestMakePlan: what is measured is finite, above 0 and of all sizes of parts; what it counts is
// right whatever the clock says.
func TestMakePlan(t *testing.T) {
	dir := t.TempDir()
	file := rows(t, dir, 3000, 1, true)
	var now time.Duration
	clock := func() time.Duration { now += time.Millisecond; return now }
	o := training.Options{Learner: "obpm", Files: []string{file}, Epochs: 2,
		Settings: map[string]any{"members": 300, "tau": 0.1}}
	p, err := shard.MakePlan(t.Context(), o, shard.PlanOptions{Clock: clock}, training.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Examples != 3000 || p.Units != 300 || p.Passes != 2 || len(p.Divisions) != 3 ||
		p.Measured < 1024 || p.Measured > 3000 {
		t.Errorf("%+v", p)
	}
	var units []int
	for _, l := range p.Costs.Learn {
		units = append(units, l.Units)
		if whole := l.Units == 300; !(l.Each > 0) || l.Bytes <= 0 || (l.Trace == 0) != whole ||
			l.Trace > 2 {
			t.Errorf("%+v", l)
		}
	}
	if fmt.Sprint(units) != "[108 172 300]" { // the last word has 44 members
		t.Errorf("parts of %v members", units)
	}
	if p.Costs.Read <= 0 || p.Costs.ReplayPart < 0 {
		t.Errorf("%+v", p.Costs)
	}
	p, err = shard.MakePlan(t.Context(), o, shard.PlanOptions{By: shard.BySettings, Settings: 5,
		Examples: 7}, training.Env{})
	if err != nil || p.Units != 5 || len(p.Costs.Learn) != 1 || p.Examples != 7 ||
		len(p.Divisions) != 3 || p.Divisions[2].Units != 2 || p.Divisions[2].JoinMemory != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestMakePlanRows: learning, merging and the models' size are measured of posteriors and weights.
func TestMakePlanRows(t *testing.T) {
	two := rows(t, t.TempDir(), 3000, 2, false)
	for _, c := range []struct {
		o training.Options
		p shard.PlanOptions
	}{
		{training.Options{Learner: "adf"}, shard.PlanOptions{}},
		{training.Options{Learner: "wep"}, shard.PlanOptions{}},
		{training.Options{Learner: "pa"}, shard.PlanOptions{Mix: shard.MixUniform, Rounds: 4}},
	} {
		c.o.Files, c.p.By = []string{two}, shard.ByRows
		p, err := shard.MakePlan(t.Context(), c.o, c.p, training.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if l := p.Costs.Learn; len(l) != 1 || !(l[0].Each > 0) || l[0].Bytes <= 0 ||
			p.Costs.Model < 20*4 || !(p.Costs.Merge > 0) || p.Costs.MergeShard < 0 ||
			p.Costs.Mixed != (c.p.Mix != "") || p.Units != 3000 || p.Rounds != max(1, c.p.Rounds) ||
			len(p.Divisions) != 11 {
			t.Errorf("%s: %+v", c.o.Learner, p)
		}
	}
}

// TestMakePlanClasses: all classes together are measured, parts of them, and the join.
func TestMakePlanClasses(t *testing.T) {
	p, err := shard.MakePlan(t.Context(), training.Options{Learner: "pa", Files: []string{
		classes(t, t.TempDir(), 3000, 5)}}, shard.PlanOptions{By: shard.ByClasses},
		training.Env{})
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine all may seem to be the parts' share.
	if p.Units != 5 || len(p.Divisions) != 3 || !(p.Costs.Replay+p.Costs.ReplayPart > 0) {
		t.Errorf("%+v", p)
	}
	for i, units := range []int{2, 3, 5} {
		l := p.Costs.Learn[i]
		if l.Units != units || !(l.Each > 0) || (l.Trace > 0) != (units < 5) {
			t.Errorf("%+v, want %d classes", l, units)
		}
	}
}

// classes writes n examples, each of one of k classes, and returns the file's name.
func classes(t *testing.T, dir string, n, k int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "c%d %d:1 %d:0.5\n", i%k, i%k+1, k+1+i%3)
	}
	name := filepath.Join(dir, "classes.svm")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestMakePlanWrong: what can't be planned says why.
func TestMakePlanWrong(t *testing.T) {
	file := rows(t, t.TempDir(), 100, 1, true)
	for _, c := range []struct {
		o    training.Options
		p    shard.PlanOptions
		want error
		text string
	}{
		{training.Options{Learner: "perceptron"}, shard.PlanOptions{}, learner.ErrConfig,
			"no members that learn apart"},
		{training.Options{}, shard.PlanOptions{By: "features"}, learner.ErrConfig,
			`by "features"`},
		{training.Options{}, shard.PlanOptions{By: shard.BySettings}, learner.ErrConfig,
			"0 settings"},
		{training.Options{}, shard.PlanOptions{By: shard.ByRows}, learner.ErrConfig,
			"obpm has no posterior to merge"},
		{training.Options{Learner: "adf"}, shard.PlanOptions{By: shard.ByRows,
			Mix: shard.MixUniform}, learner.ErrConfig, "no weights to be averaged"},
		{training.Options{Learner: "pa"}, shard.PlanOptions{By: shard.ByRows, Mix: "chance"},
			learner.ErrConfig, "chance"},
		{training.Options{Learner: "adf"}, shard.PlanOptions{By: shard.ByRows, Rounds: 2},
			learner.ErrConfig, "2 rounds"},
		{training.Options{}, shard.PlanOptions{Rounds: 2}, learner.ErrConfig,
			"are of rows, not of members"},
		{training.Options{}, shard.PlanOptions{By: shard.ByClasses}, learner.ErrConfig,
			"two classes"},
		{training.Options{Pairs: true}, shard.PlanOptions{By: shard.ByClasses}, learner.ErrConfig,
			"class by class"},
		{training.Options{Learner: "tbp"}, shard.PlanOptions{By: shard.ByClasses},
			learner.ErrConfig, "the classes of tbp can't be taken apart"},
		{training.Options{Data: training.Data{Normalize: "max"}}, shard.PlanOptions{}, nil,
			"in memory"},
	} {
		if c.o.Learner == "" {
			c.o.Learner = "obpm"
		}
		c.o.Files = []string{file}
		_, err := shard.MakePlan(t.Context(), c.o, c.p, training.Env{})
		if err == nil || c.want != nil && !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v, want %v", c.p, err, c.text)
		}
	}
}
