package command

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/internal/compare"
)

// verdict says who is better than all others, if anybody is, and else who may be, of those that
// did not fail; and who did.
func verdict(names []string, res *compare.Comparison, score string) string {
	var failed []string
	for i, s := range res.Results {
		if s.Failed != "" {
			failed = append(failed, names[i])
		}
	}
	out := strings.Join(failed, ", ")
	switch len(names) - len(failed) {
	case len(names):
		return verdictOf(names, res, score)
	case 1:
		return fmt.Sprintf("only %s can be judged, not %s", names[res.Order[0]], out)
	}
	return fmt.Sprintf("%s; not judged: %s", verdictOf(names, res, score), out)
}

// verdictOf is verdict without those that failed.
func verdictOf(names []string, res *compare.Comparison, score string) string {
	best := res.Order[0]
	var beaten, open []compare.Pair
	for _, p := range res.Pairs {
		if p.First != best && p.Second != best {
			continue
		}
		if p.Verdict == compare.Undecided {
			open = append(open, p)
		} else {
			beaten = append(beaten, p)
		}
	}
	points := func(p compare.Pair) string {
		if !inPercent(score) {
			return fmt.Sprintf("%.3g ± %.2g in %s (p = %s)", max(p.Difference, -p.Difference),
				p.PM, scoreName(score), shortP(p.P))
		}
		return fmt.Sprintf("%.3g ± %.2g points (p = %s)", 100*max(p.Difference, -p.Difference),
			100*p.PM, shortP(p.P))
	}
	switch {
	case len(open) == 0 && len(beaten) == 1:
		return fmt.Sprintf("%s is better by %s", names[best], points(beaten[0]))
	case len(open) == 0 && len(beaten) > 1:
		closest := beaten[0]
		for _, p := range beaten {
			if max(p.Difference, -p.Difference) < max(closest.Difference, -closest.Difference) {
				closest = p
			}
		}
		return fmt.Sprintf("%s is better than all others, by %s or more", names[best],
			points(closest))
	case len(beaten) == 0 && len(open) == 1:
		return fmt.Sprintf("undecided: they differ by %s", points(open[0]))
	case len(open) == 0:
		return "undecided"
	}
	var rest []string
	for _, p := range open {
		rest = append(rest, names[p.First+p.Second-best])
	}
	what := "fewest errors"
	if score != "" {
		what = "least " + scoreName(score)
	}
	return fmt.Sprintf("undecided: %s has the %s, and so may %s", names[best], what,
		strings.Join(rest, ", "))
}

// print prints the tables and the verdict.
func (c *comparer) print(w io.Writer, r *compareReport, res *compare.Comparison) error {
	var b strings.Builder
	width := len("pair")
	pair := func(p pairReport) string { return p.Names[0] + " - " + p.Names[1] }
	for _, x := range r.Compared {
		width = max(width, utf8.RuneCountInString(x.Name))
	}
	for _, p := range r.Pairs {
		width = max(width, utf8.RuneCountInString(pair(p)))
	}
	scored := r.Metric != ""
	head, test := "", "McNemar"
	if scored {
		head, test = fmt.Sprintf(" %10s %8s", scoreColumn(r.Metric), "±"), "examples t"
	}
	fmt.Fprintf(&b, "%-*s %9s %8s %9s%s\n", width, "", "error %", "±", "errors", head)
	for _, i := range res.Order {
		x := r.Compared[i]
		if x.Failed != "" {
			fmt.Fprintf(&b, "%-*s %9s %8s %9s %s\n", width, x.Name, "-", "-", "-",
				failedText(x.Failed))
			continue
		}
		score := ""
		if scored {
			score = fmt.Sprintf(" %10s %8s", shownScore(r.Metric, *x.Score),
				shownScore(r.Metric, *x.ScorePM))
		}
		fmt.Fprintf(&b, "%-*s %9.3f %8.3f %9d%s\n", width, x.Name, 100**x.Error, 100**x.PM,
			x.Errors, score)
	}
	unit := "points"
	if scored {
		unit = scoreColumn(r.Metric)
	}
	wide := len(test) // of the name of a test
	if len(r.Pairs) > 0 {
		fmt.Fprintf(&b, "\n%-*s %9s %8s %17s %*s %9s %9s\n", width, "pair", unit, "±",
			"wrong alone", max(9, wide), test, "paired t", "p")
	}
	for _, p := range r.Pairs {
		t := "-"
		if p.Batches > 0 {
			t = shortP(p.PairedT)
		}
		each := p.McNemar
		if p.ExamplesT != nil {
			each = *p.ExamplesT
		}
		fmt.Fprintf(&b, "%-*s %9s %8s %17s %*s %9s %9s\n", width, pair(p),
			shownScore(r.Metric, p.Difference), shownScore(r.Metric, p.PM),
			fmt.Sprintf("%d : %d", p.FirstAlone, p.SecondAlone), max(9, wide), shortP(each), t,
			shortP(p.P))
	}
	b.WriteString("\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	var rows summaryRows
	rows.add("examples", "%d", r.Examples)
	if r.CochranQ != nil {
		rows.add("Cochran's Q", "%.4g (p = %s)", *r.CochranQ, shortP(*r.CochranP))
	}
	rows.add("verdict", "%s", r.Verdict)
	rows.add("seconds", "%.3f total, %s", r.Seconds.Total, Plural(r.Threads, "thread"))
	return rows.write(w)
}
