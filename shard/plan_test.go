package shard_test

import (
	"errors"
	"fmt"
	"math"
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
				p := adultCosts(c.units).Plan(c.by, c.units, c.examples, c.passes)
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

// TestPlanSizes: between sizes that were measured learning costs what is on the line between them.
func TestPlanSizes(t *testing.T) {
	c := shard.Costs{Learn: []shard.Learned{{Units: 64, Each: 100, Trace: 0.5, Bytes: 10},
		{Units: 128, Each: 150, Trace: 0.7, Bytes: 20}, {Units: 256, Each: 550, Bytes: 40}}}
	for units, want := range map[int]float64{32: 50, 64: 100, 96: 125, 192: 350, 512: 1100} {
		if got := c.Plan(shard.BySettings, units, 1, 1).Divisions[0].Each; got != want {
			t.Errorf("%d units: %v ns, want %v", units, got, want)
		}
	}
	d := c.Plan(shard.ByMembers, 256, 1, 1).Divisions
	if d[1].Sent != 0.7 || d[2].Sent != 0.5 || d[0].Sent != 0 || d[2].Memory != 10 ||
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
		{training.Options{}, shard.PlanOptions{By: "rows"}, learner.ErrConfig, `by "rows"`},
		{training.Options{}, shard.PlanOptions{By: shard.BySettings}, learner.ErrConfig,
			"0 settings"},
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
