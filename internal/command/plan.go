package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/bench"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// planReport is what plan prints with --json.
type planReport struct {
	Schema    string         `json:"schema"`
	Learner   string         `json:"learner"`
	Config    learner.Config `json:"config"`
	Precision string         `json:"precision"`
	*shard.Plan
	Verdict  string       `json:"verdict"`
	Seconds  totalSeconds `json:"seconds"`
	Warnings warnings     `json:"warnings"`
}

// planner is one run of plan.
type planner struct {
	*trainer
	by       choice
	settings int
	examples howMany
}

// howMany is a flag for a number of examples, as 1000000 or 1e9; 0 is none given.
type howMany int64

func (c *howMany) Type() string   { return "N" }
func (c *howMany) String() string { return strconv.FormatInt(int64(*c), 10) }
func (c *howMany) Set(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 1 && n < 1<<53) || n != float64(int64(n)) {
		return errors.New("not a number of examples like 1000000 or 1e9")
	}
	*c = howMany(n)
	return nil
}

func newPlanCmd() *cobra.Command {
	p := &planner{}
	cmd := &cobra.Command{
		Use:   "plan [flags] FILE...",
		Short: "Say how long train would take on one core and on many, and whether these pay",
		Long: `Measure for a second or so what it costs here to read these examples, to learn them
with these settings, in parts of several sizes, and to join parts, and say what that makes of all
examples: on one core, and in 2, 4, 8, ... parts, of a core each, on this machine or on others.

With N members in w parts an example takes

  read + c N/w, and to join the parts  read + replay

where c is what a member costs in a part of that size. Each part reads all examples, so that reading
and joining are what is left of many parts. See train --shard, and merge --trace.

With --by settings, --settings of them, as costly as the one that is given, are dealt out, of which
each worker learns some side by side: nothing is joined.

Times are CPU times, so other programs disturb them little. No model is written.`,
		Example: `  halfspace plan --members 4096 --tau 0.05 --examples 1e9 a9a
  halfspace plan -a pa --by settings --settings 64 a9a`,
		Annotations: args(useExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return p.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.Var(&p.examples, "examples", "how many there will be; without, as many as FILE has, by its "+
		"size")
	choose(fs, &p.by, "by", "what is dealt out", shard.ByMembers, shard.BySettings)
	fs.IntVar(&p.settings, "settings", 0, "with --by settings: how many")
	p.trainer = studyFlags(cmd, nil)
	return cmd
}

func (p *planner) run(cmd *cobra.Command, args []string) error {
	fs := cmd.Flags()
	if slices.Contains(args, "-") {
		return usage("Put some of the examples into a file, and say with --examples how many "+
			"there will be.", "-: stdin is read once, and a plan reads several times")
	}
	by := p.by.value == shard.BySettings
	switch {
	case by && p.settings < 1:
		return usage("Say how many with --settings.", "%s: no settings", given(fs, "by"))
	case !by && fs.Changed("settings"):
		return usage("Add --by settings, or leave it out.",
			"%s has no effect without --by settings", given(fs, "settings"))
	}
	if err := p.begin(cmd, args); err != nil {
		return err
	}
	if p.o.UntilConverged {
		return usage("Say with --epochs how many there will be.",
			"%s: how many passes that takes is not known", given(fs, "until-converged"))
	}
	plan, err := shard.MakePlan(cmd.Context(), p.o, shard.PlanOptions{By: p.by.value,
		Settings: p.settings, Examples: int64(p.examples), Clock: bench.ProcessTime},
		p.studyEnv())
	if err != nil {
		return p.planError(err)
	}
	r := &planReport{Schema: schema, Learner: p.o.Learner, Config: p.o.Config,
		Precision: p.precision.value, Plan: plan, Verdict: plan.Verdict(),
		Seconds: totalSeconds{bench.ProcessTime().Seconds()}, Warnings: p.told}
	switch {
	case p.output.json:
		return printJSON(stdout(cmd), r)
	case p.output.quiet:
		return nil
	}
	return r.print(cmd)
}

// planError gives an error of a plan its exit code and next step.
func (p *planner) planError(err error) error {
	e := (*training.Error)(nil)
	if text, ok := strings.CutPrefix(err.Error(), "shard: "); ok &&
		errors.Is(err, learner.ErrConfig) && !errors.As(err, &e) {
		next := "Learners that have: " + who(func(t learner.Traits) bool { return t.Splits > 0 }) +
			", without a kernel; or --by settings."
		if strings.Contains(text, "examples") {
			next = "Say with --examples how many there will be."
		}
		return &fail{codeUsage, &explained{text, err}, next}
	}
	return p.studyError(err)
}

// print prints the table of divisions and the verdict.
func (r *planReport) print(cmd *cobra.Command) error {
	var rows summaryRows
	c, unit := r.Costs, strings.TrimSuffix(r.By, "s")
	rows.add("learner", "%s %s, %s", r.Learner, describeConfig(r.Learner, r.Config), r.Precision)
	passes := ""
	if r.Passes > 1 {
		passes = fmt.Sprintf(", %d passes", r.Passes)
	}
	rows.add("examples", "%d%s", r.Examples, passes)
	least, most := c.Learn[0], c.Learn[len(c.Learn)-1]
	each := fmt.Sprintf("%.3g", most.Each/float64(most.Units))
	if len(c.Learn) > 1 {
		each += fmt.Sprintf(" (%.3g of %d)", least.Each/float64(least.Units), least.Units)
	}
	join := ""
	if len(r.Divisions) > 1 && r.By == shard.ByMembers {
		join = fmt.Sprintf("; to join %.0f ns", c.Replay)
		if len(r.Divisions) > 2 {
			join += fmt.Sprintf(", and %.2g a part", c.ReplayPart)
		}
	}
	rows.add("measured", "on %d: to read one %.0f ns; to learn it %s ns a %s%s", r.Measured, c.Read,
		each, unit, join)
	w := stdout(cmd)
	if err := twoColumns(w, rows); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%7s %8s %12s %9s %7s %10s %10s %10s\n", "workers", r.By, "ns/example",
		"time", "faster", "each sends", "memory", "to join")
	for _, d := range r.Divisions {
		sent, joined := "-", "-"
		if d.JoinMemory > 0 {
			sent = shortBytes(d.Sent * float64(r.Examples) * float64(r.Passes))
			joined = shortBytes(float64(d.JoinMemory))
		}
		took := time.Duration(d.Seconds * float64(time.Second))
		fmt.Fprintf(&b, "%7d %8d %12.0f %9s %6.1fx %10s %10s %10s\n", d.Workers, d.Units, d.Each,
			shortTime(took), d.Faster, sent, shortBytes(float64(d.Memory)), joined)
	}
	fmt.Fprintf(&b, "\n%s\n", upper(r.Verdict)+".")
	_, err := fmt.Fprint(w, b.String())
	return err
}

// shortBytes is an amount of memory for people.
func shortBytes(bytes float64) string {
	unit := 0
	for ; bytes >= 1000 && unit < 4; unit++ {
		bytes /= 1024
	}
	return fmt.Sprintf("%.3g %s", bytes, []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit])
}
