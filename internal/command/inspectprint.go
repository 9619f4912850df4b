package command

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/exchange"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// printSummary prints what is in a model, for people.
func printSummary(w io.Writer, s *exchange.Summary, settings string) error {
	p := &s.Prep
	rows := summaryRows{{"learner", s.Learner + ", " + s.Precision}, {"settings", settings},
		{"seed", fmt.Sprint(s.Seed)}}
	var classes []string
	for _, name := range s.Classes {
		classes = append(classes, shownLabel(name))
	}
	if len(classes) == 2 && len(p.Classes) == 0 {
		classes[1] += " is positive"
	}
	rows.add("labels", "%s", strings.Join(classes, ", "))
	if s.Since != nil && len(s.Since) == len(classes) {
		came, number := slices.Clone(classes), ": example %d"
		for k, n := range s.Since {
			came[k] += fmt.Sprintf(number, n+1)
			number = ": %d"
		}
		rows.add("since", "%s", strings.Join(came, ", "))
	}
	rows.add("rows", "%s", describePrep(p))
	rows.add("presented", "%d examples, %d mistakes", s.Presented, s.Mistakes)
	addShard(&rows, s)
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		if !strings.Contains(name, ".") { // a class's or member's own
			rows.add(name, "%d", s.Counters[name])
		}
	}
	switch {
	case s.Position != nil:
		rows.add("position", "%s", describePosition(s))
	case s.Pass != nil:
		rows.add("position", "%d of %s of a pass", s.Pass.At,
			Plural(int(s.Pass.Examples), "example"))
	}
	if c := s.Calibration; c != nil {
		rows.add("calibration", "%s", describeCalibration(c, len(p.Classes)))
	}
	if t := s.Threshold; t != nil {
		what := fmt.Sprintf("score %.4g for %s: precision %.3g, recall %.3g", t.Score, t.Target,
			t.Precision, t.Recall)
		if t.Target == "above=0" {
			what = "a score above 0, as in the program that made the model"
		}
		if t.Cost != nil {
			what += fmt.Sprintf(", cost %.4g an example", *t.Cost)
		}
		rows.add("threshold", "%s", what)
	}
	what := s.Form
	if s.Support != nil {
		what = Plural(*s.Support, "example") + " kept"
	}
	if s.PredictOnly {
		what += "; it can only predict"
	}
	rows.add("made of", "%s", what)
	if err := rows.write(w); err != nil {
		return err
	}
	for _, o := range s.Outputs {
		if err := printOutput(w, &o, s.Support != nil); err != nil {
			return err
		}
	}
	return nil
}

// addShard says which shard of the rows a model has learned, or which members of an ensemble it is,
// and what is left to be done.
func addShard(rows *summaryRows, s *exchange.Summary) {
	add := rows.add
	if p := s.Part; p != nil && p.Classes {
		add("part", "%v, counted from 0", p)
		add("to join", "with the other %d parts, by merge --trace", p.Of-1)
	} else if p != nil {
		add("part", "members %d to %d of %d, counted from 0", p.First, p.First+p.Members-1, p.Of)
		add("to join", "with the parts that have the other %d, by merge --trace", p.Of-p.Members)
	}
	r := s.Rows
	if r == nil {
		return
	}
	add("row shard", "%d of %d: %s learned, %s", r.Shard, r.Of, Plural(int(r.Examples), "example"),
		Plural(int(r.Mistakes), "mistake"))
	// The fingerprints that all shards of a run have in common.
	add("cut", "data %d, options %d", r.Data, r.Run)
	if r.From != "" {
		add("went on", "from the model of sha256 %s: merge --prior", r.From)
	}
	switch {
	case s.Position != nil || s.Pass != nil:
		add("to merge", "not yet: its run was stopped before its end")
	case r.Of == 1:
		add("to merge", "this shard alone")
	default:
		var others []string
		if r.Shard > 1 {
			others = append(others, span(1, r.Shard-1))
		}
		if r.Shard < r.Of {
			others = append(others, span(r.Shard+1, r.Of))
		}
		add("to merge", "with %s of the same cut", strings.Join(others, " and "))
	}
}

// span names the numbers from one to another.
func span(from, to int) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d to %d", from, to)
}

// describePosition says where a run stood.
func describePosition(s *exchange.Summary) string {
	p, text := s.Position, fmt.Sprintf("behind %d examples", s.Position.Example)
	if column, ok := s.Counters[learner.CutPrefix+learner.CutColumn]; ok {
		text = describeColumn(s.Outputs, int(column))
	} else if p.Examples > 0 {
		text = fmt.Sprintf("in pass %d, behind %d of %d examples", p.Epoch+1, p.Example, p.Examples)
	}
	var names []string
	for _, s := range p.Sources {
		names = append(names, shownLabel(s.Name))
	}
	return text + " of " + strings.Join(names, " ") + "; to go on: train --resume"
}

// describeColumn says at which of several classes, or pairs of them, a run stood.
func describeColumn(all []exchange.OutputSummary, k int) string {
	if k >= len(all) { // what there is of votes is not known
		return fmt.Sprintf("at the learner of classes number %d", k+1)
	}
	what, name := "class", shownLabel(all[k].Class)
	if all[k].Against != "" {
		what, name = "pair", name+" against "+shownLabel(all[k].Against)
	}
	return fmt.Sprintf("at %s %d of %d, %s, in a pass", what, k+1, len(all), name)
}

// describePrep says how rows become examples.
func describePrep(p *model.Prep) string {
	parts := []string{p.Format + ", " + Plural(p.Dim, "feature")}
	if by := p.ScaledBy(); by != "none" {
		parts = append(parts, "scaled by "+by)
	}
	if p.Bias == "append" {
		value := 1.0
		if p.BiasValue != 0 {
			value = p.BiasValue
		}
		parts = append(parts, fmt.Sprintf("a feature of %v appended", value))
	}
	switch p.Normalize {
	case "unit":
		parts = append(parts, "divided by their length")
	case "max":
		parts = append(parts, fmt.Sprintf("divided by %.6g", p.Scale))
	}
	return strings.Join(parts, ", ")
}

// printOutput prints the weights of an output, or its kept examples.
func printOutput(w io.Writer, o *exchange.OutputSummary, examples bool) error {
	kind := "weights"
	if examples {
		kind = "examples"
	}
	name := shownLabel(o.Class)
	if o.Against != "" {
		name += " against " + shownLabel(o.Against)
	}
	head := fmt.Sprintf("\n%s: bias %.6g, %d %s that are not 0", name, o.Bias, o.NonZeros, kind)
	if o.Norm != nil {
		head += fmt.Sprintf(", length %.6g", *o.Norm)
	}
	if _, err := fmt.Fprintln(w, head); err != nil {
		return err
	}
	var rows summaryRows
	for _, t := range o.Top {
		rows.add("  "+shownLabel(t.Feature), "%s", signed(t.Weight))
	}
	for _, x := range o.Examples {
		rows.add("  "+signed(x.Coef), "%s", x.Row)
	}
	return rows.write(w)
}

// signed is a number to six digits, in a column with others.
func signed(v float64) string {
	if v < 0 || math.Signbit(v) {
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprintf("+%.6g", v)
}
