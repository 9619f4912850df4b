package papers

import (
	"strings"
	"testing"
)

func TestPlusMinus(t *testing.T) {
	for _, c := range []struct {
		v, pm float64
		want  string
	}{
		{1735836937, 0, "1735836937"}, {0.00827, 0, "0.00827"}, {2.03, 0.32, "2.03 ± 0.32"},
		{5162, 317.6, "5162 ± 318"}, {0.0226, 0.009, "0.0226 ± 0.0090"},
		{-0.4, 12, "0 ± 12"}, {-0.6, 12, "-1 ± 12"}, {1.3953488372, 5.6e-15, "1.395"}, {0, 0, "0"},
	} {
		if got := plusMinus(c.v, c.pm); got != c.want {
			t.Errorf("%g, %g: %s, want %s", c.v, c.pm, got, c.want)
		}
	}
}

// TestNumbers: a number is exact by its digits, where nothing is drawn, or inside by the interval
// of the difference, which is narrower than both intervals together, and by its tolerance, which
// the note says.
func TestNumbers(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5} // 3 ± 1.96
	for _, c := range []struct {
		row  Row
		want Verdict
	}{
		{Row{Paper: at(4)}, Inside},
		{Row{Paper: at(5.5), PaperPM: 1.4}, Outside}, // the intervals overlap
		{Row{Paper: at(5.5), PaperPM: 1.6}, Inside},
		{Row{Paper: at(5.5), PaperPM: 1.4, Tolerance: 0.1}, Inside},
		{Row{Paper: at(3), differs: true}, NotComparable},
		{Row{}, Measured},
	} {
		c.row.fill(values)
		if c.row.Verdict != c.want || c.row.Runs != 5 {
			t.Errorf("%s against %s: %+v, want %s", c.row.OursText(), c.row.PaperText(), c.row,
				c.want)
		}
		if want := c.row.Tolerance > 0; strings.Contains(c.row.Note, "tolerance 0.1") != want {
			t.Errorf("the note of a tolerance of %v: %q", c.row.Tolerance, c.row.Note)
		}
	}
	for _, c := range []struct {
		paper, ours, unit, tolerance float64
		want                         Verdict
	}{
		{1e6, 1e6, 1, 0, Exact}, {1e6, 1000001, 1, 0, Outside}, {1e6, 999500, 1, 500, Inside},
		{1e6, 1000501, 1, 500, Outside}, {0.123, 0.12344, 1e-3, 0, Exact}, {0.123, 0.1226, 1e-3, 0,
			Exact}, {0.123, 0.1236, 1e-3, 0, Outside}, {0.123, 0.1236, 1e-3, 1e-3, Inside},
		{0.123, 0.1244, 1e-3, 1e-3, Outside},
	} {
		r := Row{Paper: at(c.paper), Tolerance: c.tolerance}
		if r.fillOne(c.ours, c.unit); r.Verdict != c.want || r.Runs != 1 || r.OursPM != 0 {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// TestClaims: a claim is decided by the interval of the difference, whose sign is shown, and by
// the least sure one of several, with an interval for all; one that is not decided says how many
// runs it would take.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		diff       []float64
		want       Verdict
		text, note string
	}{
		{[]float64{1, 2, 3, 4, 5}, Supported, "+3.0 ± 2.0", "says"},
		{[]float64{-1, -2, -3, -4, -5}, Contradicted, "-3.0 ± 2.0", "says"},
		{[]float64{-1, 2, -3, 4, 3}, Undecided, "+1.0 ± 3.6", "says; some 140 runs to decide"},
		{[]float64{1, -1}, Undecided, "0 ± 13", "says; more than 100000 runs to decide"},
		{[]float64{2}, Supported, "+2", "says"}, {[]float64{0}, Undecided, "0", "says"},
		{[]float64{0.5, 0.5}, Supported, "+0.5", "says"},
	} {
		r := Row{Kind: Claim, Note: "says"}
		r.fill(c.diff)
		if r.Verdict != c.want || r.OursText() != c.text || r.Note != c.note || r.Paper != nil {
			t.Errorf("%v: %s, %s, %q", c.diff, r.Verdict, r.OursText(), r.Note)
		}
	}
	// what a test does not reject is undecided; what is given is by construction, numbers too
	for _, c := range []struct {
		row  Row
		diff float64
		want Verdict
		note string
	}{
		{Row{Kind: Claim, nullHypothesis: true}, 1, Undecided, ""},
		{Row{Kind: Claim, nullHypothesis: true}, -1, Contradicted, ""},
		{Row{Kind: Claim, given: "as set up"}, 1, ByConstruction, "as set up"},
		{Row{Kind: Claim, given: "as set up"}, -1, ByConstruction, "as set up"},
		{Row{Paper: at(1), given: "as set up", Tolerance: 1}, 1, ByConstruction, "as set up"},
		{Row{Paper: at(1), given: "as set up"}, 2, ByConstruction, "as set up"},
	} {
		if c.row.fillOne(c.diff, 1); c.row.Verdict != c.want || c.row.Note != c.note ||
			c.row.Known != "" {
			t.Errorf("%v: %s, %q, want %s", c.diff, c.row.Verdict, c.row.Note, c.want)
		}
	}
	one := []float64{1, 2, 3, 4, 5}
	two := []float64{0.9, 1.9, 2.9, 3.9, 4.9}
	for _, c := range []struct {
		diffs [][]float64
		least int
		want  Verdict
	}{
		{[][]float64{one, two}, 1, Supported}, {[][]float64{two, one, {1, 1, 1, 1, 1}}, 0,
			Supported},
		{[][]float64{one, {0.2, 1.2, 2.2, 3.2, 4.2}}, 1, Undecided}, // alone it would be supported
		{[][]float64{one, {-1, -1, -1, -1, -1}, {0, 0, 0, 0, 0}}, 1, Contradicted},
	} {
		r := Row{Kind: Claim}
		if least := r.fillAll(c.diffs); least != c.least || r.Verdict != c.want || r.Runs != 5 {
			t.Errorf("%v: %d, %+v", c.diffs, least, r)
		}
	}
}
