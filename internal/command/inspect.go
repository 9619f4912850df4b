package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/exchange"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// inspectReport is what inspect prints with --json.
type inspectReport struct {
	Schema string `json:"schema"`
	Model  string `json:"model"` // the file
	*exchange.Summary
	Why *exchange.Explanation `json:"why,omitempty"` // with --why
}

func newInspectCmd() *cobra.Command {
	var (
		why    string
		top    int
		output printFlags
	)
	cmd := &cobra.Command{
		Use:   "inspect [flags] MODEL",
		Short: "Show what is in a model, or how it comes to a score",
		Long:  helpText("inspect"),
		Example: `  halfspace inspect a9a.model
  halfspace inspect --why "3:1 11:1 14:1 83:1" a9a.model
  halfspace inspect --why a9a.t:17 --top 5 a9a.model`,
		Annotations: args(UseRead),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return Usage("See: halfspace inspect --help.", "%s: want one",
					Plural(len(args), "model"))
			case top < 0:
				return Usage("0 shows none.", "--top %d: want 0 or more", top)
			}
			m, err := loadModel(args[0])
			if err != nil {
				return err
			}
			if err := m.State.CheckSums(0); err != nil {
				return modelError(args[0], fmt.Errorf("%w: %w; train it anew", err,
					model.ErrDamaged))
			}
			s, err := exchange.Inspect(m, top)
			if err != nil {
				return modelError(args[0], err)
			}
			r := inspectReport{Schema: schema, Model: args[0], Summary: s}
			if cmd.Flags().Changed("why") {
				if r.Why, err = explainRow(cmd.Context(), args[0], m, why, top); err != nil {
					return err
				}
			}
			_, config, err := m.Settings()
			if err != nil {
				return modelError(args[0], err)
			}
			return output.print(cmd, r, func(w io.Writer) error {
				if r.Why != nil {
					return printWhy(w, r.Why)
				}
				return printSummary(w, s, describeConfig(m.Learner, config))
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&why, "why", "", "show how the model scores `ROW`: a row of the model's format, "+
		"or FILE:N, the Nth example of a file")
	fs.IntVar(&top, "top", 20, "how many weights, parts of a score and kept examples are shown")
	output.jsonFlag(fs)
	return cmd
}

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

// explainRow explains the scores of a row, or of an example of a file.
func explainRow(ctx context.Context, name string, m *model.Model, row string, top int) (
	*exchange.Explanation, error) {
	if m.Precision == "f64" {
		return explainRowOf[float64](ctx, name, m, row, top)
	}
	return explainRowOf[float32](ctx, name, m, row, top)
}

// explainError is dataError for a row that is to be explained: there is none to go on to.
func explainError(err error) error {
	if errors.Is(err, dataset.ErrBadRow) {
		return &fail{CodeData, err, "Nothing was explained. Write the row as those are that the " +
			"model learned, or name FILE:N."}
	}
	return dataError(err, "nothing was explained")
}

func explainRowOf[T engine.Float](ctx context.Context, name string, m *model.Model, row string,
	top int) (*exchange.Explanation, error) {
	o := (&training.Data{}).Reading()
	training.AsTrained(&o, m)
	o.LabelsOptional = true
	var (
		s     *dataset.Stream[T]
		err   error
		place = 1
	)
	file, n, ok := exampleOf(row)
	if ok {
		if file, err = findInput(file); err != nil {
			return nil, err
		}
		place = n
		s, err = dataset.Open[T](ctx, []string{file}, o)
	} else {
		o.Format = m.Prep.Format
		s, err = dataset.OpenReader[T](ctx, "--why", strings.NewReader(row+"\n"), o)
	}
	if err != nil {
		return nil, explainError(err)
	}
	defer s.Close()
	for seen := 0; ; {
		b, err := s.Next()
		if err == io.EOF {
			return nil, &fail{CodeData, fmt.Errorf("%s: %s, no example %d", row,
				Plural(seen, "example"), place), "Examples count from 1."}
		}
		if err != nil {
			return nil, explainError(err)
		}
		if seen += b.Len(); seen < place {
			continue
		}
		x, err := exchange.Explain(m, b, b.Len()-1-(seen-place), top)
		if err != nil {
			return nil, modelError(name, err)
		}
		return x, nil
	}
}

// exampleOf cuts FILE:N, where there is such a file.
func exampleOf(row string) (file string, n int, ok bool) {
	at := strings.LastIndexByte(row, ':')
	if at < 1 {
		return "", 0, false
	}
	n, err := strconv.Atoi(row[at+1:])
	if err != nil || n < 1 || strings.ContainsAny(row, "\n") {
		return "", 0, false
	}
	if _, err := findInput(row[:at]); err != nil {
		return "", 0, false
	}
	return row[:at], n, true
}

// printWhy prints how scores came about.
func printWhy(w io.Writer, x *exchange.Explanation) error {
	label := shownLabel(x.Label)
	if x.Label == "" {
		label = abstention
	}
	if err := (summaryRows{{"label", label}}).write(w); err != nil {
		return err
	}
	for _, o := range x.Outputs {
		head := fmt.Sprintf("\n%s: score %.6g", shownLabel(o.Class), o.Score)
		if o.Margin != nil {
			head += fmt.Sprintf(", margin %.6g", *o.Margin)
		}
		if _, err := fmt.Fprintln(w, head); err != nil {
			return err
		}
		var rows summaryRows
		if o.Bias != nil {
			rows.add("  bias", "%s", signed(*o.Bias))
		}
		for _, p := range o.Parts {
			how := fmt.Sprintf("  of value %.6g", p.Value)
			if p.Weight != nil {
				how = fmt.Sprintf("  %.6g times %.6g", *p.Weight, p.Value)
			}
			rows.add("  "+shownLabel(p.Feature), "%s%s", signed(p.Adds), how)
		}
		if err := rows.write(w); err != nil {
			return err
		}
		rows = nil
		for _, p := range o.Examples {
			rows.add("  "+signed(p.Adds), "%.6g times %.6g  %s", p.Coef, p.Kernel, p.Row)
		}
		if len(rows) > 0 {
			if _, err := fmt.Fprintln(w, "kept examples"); err != nil {
				return err
			}
		}
		if err := rows.write(w); err != nil {
			return err
		}
	}
	return nil
}
