package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	mix      choice
	settings int
	rounds   int
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

where c is what a member costs in a part of that size, and all of them what a process takes to start,
for the part and for the join. Each part reads all examples, so that reading
and joining are what is left of many parts. See train --shard, and merge --trace.

With --by rows each part learns a shard of the rows: n of them in w parts take

  n/w (read + c), and to merge the parts  m + (w-2) m'

The posteriors are merged once; with --mix weights are averaged, behind each of --rounds. The model
of w shards is another one than one machine's, with another error: see train --rows and merge.

With --by classes each of w parts learns every w-th of N classes, and they are joined as members are.
See train --shard-by.

With --by settings, --settings of them, as costly as the one that is given, are dealt out, of which
each worker learns some side by side: nothing is joined.

Times are CPU times, so other programs disturb them little. No model is written.`,
		Example: `  halfspace plan --members 4096 --tau 0.05 --examples 1e9 a9a
  halfspace plan -a adf --by rows a9a
  halfspace plan -a pa --by settings --settings 64 a9a`,
		Annotations: args(useExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return p.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.Var(&p.examples, "examples", "how many there will be; without, as many as FILE has, by its "+
		"size")
	choose(fs, &p.by, "by", "what is dealt out", shard.ByMembers, shard.ByRows, shard.ByClasses,
		shard.BySettings)
	fs.IntVar(&p.settings, "settings", 0, "with --by settings: how many")
	choose(fs, &p.mix, "mix", "with --by rows: average weights, not posteriors"+
		who(func(t learner.Traits) bool { return t.Mixes }), "none", shard.MixUniform,
		shard.MixMistakes)
	fs.IntVar(&p.rounds, "rounds", 1, "with --mix: how often weights are averaged, each time "+
		"behind a pass over the rows")
	p.trainer = studyFlags(cmd, "", nil)
	return cmd
}

func (p *planner) run(cmd *cobra.Command, args []string) error {
	fs := cmd.Flags()
	if slices.Contains(args, "-") {
		return usage("Put some of the examples into a file, and say with --examples how many "+
			"there will be.", "-: stdin is read once, and a plan reads several times")
	}
	if err := p.agree(fs); err != nil {
		return err
	}
	if err := p.begin(cmd, args); err != nil {
		return err
	}
	if p.o.UntilConverged {
		return usage("Say with --epochs how many there will be.",
			"%s: how many passes that takes is not known", given(fs, "until-converged"))
	}
	start, err := startTime(cmd.Context())
	if err != nil {
		return err
	}
	mix, rounds := p.mixing()
	plan, err := shard.MakePlan(cmd.Context(), p.o, shard.PlanOptions{By: p.by.value,
		Settings: p.settings, Mix: mix, Rounds: rounds, Examples: int64(p.examples), Start: start,
		Clock: bench.ProcessTime}, p.studyEnv())
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

// startTime is the CPU time of train on two examples, the median of some: what each process takes
// that learns a part, and about what one takes that joins parts, beside examples.
func startTime(ctx context.Context) (time.Duration, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "halfspace-start-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "two")
	if err := os.WriteFile(file, []byte("1 1:1\n-1 2:1\n"), 0o600); err != nil {
		return 0, err
	}
	times := make([]time.Duration, 5)
	for i := range times {
		cmd := exec.CommandContext(ctx, program, "train", "-q", "-m", file+".model", file)
		cmd.Args[0] = os.Args[0] // some programs go by the name that they are called by
		if out, err := cmd.CombinedOutput(); err != nil {
			if ctx.Err() != nil {
				return 0, &fail{codeStopped, errStopped, ""}
			}
			return 0, fmt.Errorf("to start: %w: %s", err, out)
		}
		times[i] = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// agree refuses flags of other ways to deal work out.
func (p *planner) agree(fs *pflag.FlagSet) error {
	by := p.by.value
	if by == shard.BySettings && p.settings < 1 {
		return usage("Say how many with --settings.", "%s: no settings", given(fs, "by"))
	}
	for _, f := range []struct{ name, of string }{{"settings", shard.BySettings},
		{"mix", shard.ByRows}, {"rounds", shard.ByRows}} {
		if by != f.of && fs.Changed(f.name) {
			return usage("Add --by "+f.of+", or leave it out.", "%s has no effect without --by %s",
				given(fs, f.name), f.of)
		}
	}
	switch {
	case p.rounds < 1:
		return usage("1 is the average of shards that learned apart.", "--rounds %d: no round",
			p.rounds)
	case p.mix.value == "none" && fs.Changed("rounds"):
		return usage("Add --mix uniform, or leave it out: posteriors are merged once.",
			"%s without --mix", given(fs, "rounds"))
	}
	return nil
}

// mixing is what shard.PlanOptions say of --mix and --rounds.
func (p *planner) mixing() (mix string, rounds int) {
	if p.by.value != shard.ByRows || p.mix.value == "none" {
		return "", 0
	}
	return p.mix.value, p.rounds
}

// planError gives an error of a plan its exit code and next step.
func (p *planner) planError(err error) error {
	e := (*training.Error)(nil)
	if text, ok := strings.CutPrefix(err.Error(), "shard: "); ok &&
		errors.Is(err, learner.ErrConfig) && !errors.As(err, &e) {
		return &fail{codeUsage, &explained{text, err}, p.nextStep(text)}
	}
	return p.studyError(err)
}

// nextStep says what to do about an error of a plan.
func (p *planner) nextStep(text string) string {
	switch {
	case strings.Contains(text, "how many examples"):
		return "Say with --examples how many there will be."
	case p.by.value == shard.ByClasses:
		return "Or --by members, rows, settings."
	case p.by.value == shard.ByRows && p.mix.value != "none":
		return "Learners that can: " + strings.Join(shard.Mixable(), ", ") + "."
	case p.by.value == shard.ByRows:
		return "Learners that can be merged: " + strings.Join(shard.Mergeable(), ", ") +
			"; or average weights with --mix."
	}
	return "Take one that has" + who(func(t learner.Traits) bool { return t.Splits > 0 }) +
		", without a kernel; or --by rows, settings."
}

// print prints the table of divisions and the verdict.
func (r *planReport) print(cmd *cobra.Command) error {
	var rows summaryRows
	c := &r.Costs
	rows.add("learner", "%s %s, %s", r.Learner, describeConfig(r.Learner, r.Config), r.Precision)
	passes := ""
	if r.Passes > 1 {
		passes = fmt.Sprintf(", %d passes", r.Passes)
	}
	if r.Rounds > 1 {
		passes += fmt.Sprintf(", %d rounds", r.Rounds)
	}
	rows.add("examples", "%d%s", r.Examples, passes)
	rows.add("measured", "on %d: to start %s; to read one %.0f ns; to learn it %s", r.Measured,
		shortNano(c.Start), c.Read, r.costs())
	w := stdout(cmd)
	if err := twoColumns(w, rows); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%7s %10s %12s %9s %7s %10s %10s %10s\n", "workers", r.By, "ns/example",
		"time", "faster", "each sends", "memory", "to join")
	for _, d := range r.Divisions {
		sent, joined := "-", "-"
		if d.JoinMemory > 0 {
			sent = shortBytes(float64(d.Sent))
			joined = shortBytes(float64(d.JoinMemory))
		}
		each := fmt.Sprintf("%.0f", d.Each)
		if d.Each < 100 {
			each = fmt.Sprintf("%.2g", d.Each)
		}
		took := time.Duration(d.Seconds * float64(time.Second))
		fmt.Fprintf(&b, "%7d %10d %12s %9s %6.1fx %10s %10s %10s\n", d.Workers, d.Units, each,
			shortTime(took), d.Faster, sent, shortBytes(float64(d.Memory)), joined)
	}
	fmt.Fprintf(&b, "\n%s\n", upper(r.Verdict)+".")
	_, err := fmt.Fprint(w, b.String())
	return err
}

// costs says what learning and joining cost.
func (r *planReport) costs() string {
	c := &r.Costs
	least, most := c.Learn[0], c.Learn[len(c.Learn)-1]
	if r.By == shard.ByRows {
		text := shortNano(most.Each)
		if len(r.Divisions) > 1 {
			text += fmt.Sprintf("; to merge two %s, and each more %s",
				shortNano(c.Merge), shortNano(c.MergeShard))
		}
		return text
	}
	each := fmt.Sprintf("%.3g", most.Each/float64(most.Units))
	if len(c.Learn) > 1 {
		each += fmt.Sprintf(" (%.3g of %d)", least.Each/float64(least.Units), least.Units)
	}
	unit := map[string]string{shard.ByMembers: "member", shard.ByClasses: "class",
		shard.BySettings: "setting"}[r.By]
	text := each + " ns a " + unit
	if len(r.Divisions) > 1 && r.By != shard.BySettings {
		text += fmt.Sprintf("; to join %.0f ns", c.Replay)
		if len(r.Divisions) > 2 {
			text += fmt.Sprintf(", and %.2g a part", c.ReplayPart)
		}
	}
	return text
}

// shortNano is a time in nanoseconds for people.
func shortNano(ns float64) string {
	unit := 0
	for ; ns >= 1000 && unit < 3; unit++ {
		ns /= 1000
	}
	return fmt.Sprintf("%.3g %s", ns, []string{"ns", "µs", "ms", "s"}[unit])
}

// shortBytes is an amount of memory for people.
func shortBytes(bytes float64) string {
	unit := 0
	for ; bytes >= 1000 && unit < 4; unit++ {
		bytes /= 1024
	}
	return fmt.Sprintf("%.3g %s", bytes, []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit])
}
