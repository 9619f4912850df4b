package bench

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/halfspace-ml/halfspace/bench/internal/papers"

	"github.com/halfspace-ml/halfspace/internal/command"
)

// timeColumns are ours of all runs, and how many times as long the learner's plain form and the
// paper's program took, each where any row has that.
var timeColumns = []struct {
	head string
	any  func(rows []papers.Row) bool
	cell func(r papers.Row) string
}{
	{"s, all runs", papers.HasSeconds, func(r papers.Row) string {
		return papers.SecondsText(r.Seconds)
	}},
	{"x naive", papers.HasNaive, func(r papers.Row) string { return papers.RatioText(r.XNaive()) }},
	{"x paper", papers.HasPaperSeconds, func(r papers.Row) string {
		return papers.RatioText(r.XPaper())
	}},
}

// lightTable gives a table the style of a terminal: lines below its head alone.
func lightTable(t table.Writer) table.Writer {
	t.SetStyle(table.StyleLight)
	t.Style().Options.SeparateColumns = false
	t.Style().Options.DrawBorder = false
	return t
}

// rowTable is rows of one kind as a table of go-pretty.
func rowTable(kind papers.Kind, rows []papers.Row, notes bool) table.Writer {
	t := table.NewWriter()
	head := map[papers.Kind]table.Row{
		papers.Number:      {"row", "quantity", "paper", "ours", "verdict"},
		papers.Claim:       {"claim", "quantity", "difference", "verdict"},
		papers.Measurement: {"row", "quantity", "ours"},
	}[kind]
	var right []table.ColumnConfig
	times := timeColumns[:0:0]
	for _, c := range timeColumns {
		if c.any(rows) {
			times, head = append(times, c), append(head, c.head)
			right = append(right, table.ColumnConfig{Name: c.head, Align: text.AlignRight,
				AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(right)
	if notes {
		head = append(head, "note")
	}
	t.AppendHeader(head)
	for _, r := range rows {
		cells := table.Row{r.Row, r.Quantity}
		if kind == papers.Number {
			cells = append(cells, r.PaperText())
		}
		if cells = append(cells, r.OursText()); kind != papers.Measurement {
			cells = append(cells, r.Verdict)
		}
		for _, c := range times {
			cells = append(cells, c.cell(r))
		}
		if notes {
			cells = append(cells, r.Note)
		}
		t.AppendRow(cells)
	}
	return t
}

// writeRows prints rows of an experiment as tables, one a kind.
func writeRows(w io.Writer, rows []papers.Row) error {
	least, most := math.MaxInt, 0
	for _, r := range rows {
		least, most = min(least, r.Runs), max(most, r.Runs)
	}
	for _, kind := range papers.Kinds {
		of := papers.OfKind(rows, kind)
		if len(of) == 0 {
			continue
		}
		t := lightTable(rowTable(kind, of, false))
		if _, err := fmt.Fprintf(w, "%s\n", t.Render()); err != nil {
			return err
		}
	}
	if most > 1 {
		runs := strconv.Itoa(most)
		if least < most {
			runs = fmt.Sprintf("%d to %d", least, most)
		}
		fmt.Fprintf(w, "Means of %s runs ± half a 95 %% confidence interval (Student's t); "+
			"inside: that of the difference has 0 in it.\n", runs)
	}
	if papers.HasNaive(rows) {
		fmt.Fprintln(w, "x naive: how many times the CPU time the learner's plain form took, in "+
			"the same run.")
	}
	if papers.HasPaperSeconds(rows) {
		fmt.Fprintf(w, "x paper: how many times as long the paper's program took on %s.\n",
			papers.PaperOf(rows[0].Experiment).Hardware)
	}
	for _, v := range papers.Verdicts {
		if v == papers.Exact || v == papers.Measured || v == papers.Supported {
			continue
		}
		var told []papers.Row // intervals that overlap need no words
		for _, r := range rows {
			if r.Verdict == v && (v != papers.Inside || r.Tolerance > 0) {
				told = append(told, r)
			}
		}
		notes := papers.Footnotes(told)
		for _, n := range notes.Below {
			fmt.Fprintf(w, "%s: %s\n", v, n)
		}
		for i, n := range notes.Own {
			if n != "" {
				fmt.Fprintf(w, "%s, %s %s: %s\n", v, told[i].Row, told[i].Quantity, n)
			}
		}
	}
	return nil
}

// writeMarkdown writes what is only measured folded.
func writeMarkdown(w io.Writer, o papers.Outcome) error {
	if _, err := fmt.Fprintf(w, "## %s\n\n%s. `%s`\n\n", o.Name, o.Summary, o.Command); err != nil {
		return err
	}
	for _, kind := range papers.Kinds {
		of := papers.OfKind(o.Rows, kind)
		if len(of) == 0 {
			continue
		}
		form := "%s\n\n"
		if kind == papers.Measurement {
			form = "<details><summary>" + command.Plural(len(of), "measurement") +
				"</summary>\n\n%s\n\n" +
				"</details>\n\n"
		}
		if _, err := fmt.Fprintf(w, form, rowTable(kind, of, true).RenderMarkdown()); err != nil {
			return err
		}
	}
	return writeSlow(w, o)
}

// writeSlow writes what only --slow includes.
func writeSlow(w io.Writer, o papers.Outcome) error {
	if o.Slow == "" {
		return nil
	}
	rows := ""
	if o.LeftOut > 0 {
		rows = fmt.Sprintf(" (%s)", command.Plural(o.LeftOut, "row"))
	}
	_, err := fmt.Fprintf(w, "Only with --slow: %s%s.\n\n", o.Slow, rows)
	return err
}

// writeCSV writes numbers as they are; an unknown one is empty.
func writeCSV(w io.Writer, rows []papers.Row) error {
	c := csv.NewWriter(w)
	c.Write([]string{"experiment", "row", "kind", "quantity", "paper", "paper_pm", "ours",
		"ours_pm", "runs", "verdict", "tolerance", "note", "known", "seconds", "paper_seconds",
		"naive_seconds"})
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	maybe := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	for _, r := range rows {
		c.Write([]string{r.Experiment, r.Row, string(r.Kind), r.Quantity, maybe(r.Paper),
			number(r.PaperPM), number(r.Ours), number(r.OursPM), strconv.Itoa(r.Runs),
			string(r.Verdict), number(r.Tolerance), r.Note, r.Known, number(r.Seconds),
			maybe(r.PaperSeconds), maybe(r.NaiveSeconds)})
	}
	c.Flush()
	return c.Error()
}

// writeVerdicts sums up several experiments.
func writeVerdicts(w io.Writer, outcomes []papers.Outcome) error {
	t := lightTable(table.NewWriter())
	head := table.Row{"experiment"}
	for _, v := range papers.Verdicts {
		head = append(head, v)
	}
	t.AppendHeader(append(head, "left out (--slow)", "s"))
	total := map[papers.Verdict]int{}
	var seconds float64
	var rows, left, skipped int
	for _, o := range outcomes {
		row := table.Row{o.Name}
		if o.Skipped != "" {
			skipped++
			row = append(row, "not run")
		} else {
			for _, v := range papers.Verdicts {
				n := o.Verdicts()[v]
				if total[v] += n; n == 0 {
					row = append(row, "")
				} else {
					row = append(row, n)
				}
			}
			row = append(row, o.LeftOut, fmt.Sprintf("%.1f", o.Seconds))
			rows, left, seconds = rows+len(o.Rows), left+o.LeftOut, seconds+o.Seconds
		}
		t.AppendRow(row)
	}
	foot := table.Row{"all"}
	for _, v := range papers.Verdicts {
		foot = append(foot, total[v])
	}
	t.AppendFooter(append(foot, left, fmt.Sprintf("%.1f", seconds)))
	_, err := fmt.Fprintf(w, "%s\n%s of %s; left out: %s that --slow includes; not run: %s\n",
		t.Render(),
		command.Plural(rows, "row"), command.Plural(len(outcomes)-skipped, "experiment"),
		command.Plural(left, "row"),
		command.Plural(skipped, "experiment"))
	return err
}
