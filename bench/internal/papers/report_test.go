package papers

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/report"
)

func sample() Outcome {
	row := Row{Experiment: "tbp/banana", Row: "svm <best>", Quantity: "test_error_percent",
		Paper: at(1.5), PaperSeconds: at(10), NaiveSeconds: at(7), Note: "why & how", Seconds: 2}
	row.fill([]float64{1, 2, 3})
	return Outcome{Name: "tbp/banana", Summary: "error & size", Command: "halfspace repro " +
		"tbp/banana", Rows: []Row{row, {Verdict: Exact, Ours: 3, Paper: at(3)}}, Seconds: 2.5,
		Figures: []report.Figure{{Name: "tbp/banana", Title: "banana", XLabel: "kept", YLabel: "error",
			Lines: []report.Line{{Name: "svm", X: []float64{1, 2}, Y: []float64{3, 4}}}}}}
}

// TestReport: the page is well formed, holds everything, escapes what must be, and asks for no
// other file.
func TestReport(t *testing.T) {
	below := Row{Experiment: "obpm/figure3", Row: "a above b", Quantity: "errors_difference",
		Kind: Claim}
	below.fill([]float64{-2, -2.5, -2})
	r := Report{Machine: "a machine", Command: "halfspace repro some", Date: "2026-11-22 21:00",
		Seed: 7, Outcomes: []Outcome{sample(), {Name: "obpm/table2",
			Command: "halfspace repro obpm/table2", Skipped: "no time"},
			{Name: "obpm/table1", Rows: []Row{{Verdict: Inside}}, LeftOut: 8, Slow: "the long ones"},
			{Name: "obpm/figure3", Rows: []Row{below}, Date: "2026-11-21"}}}
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"svm &lt;best&gt;", "why &amp; how", ">banana</text>",
		"Not run: no time", "halfspace repro tbp/banana", "seeds from 7", "a machine", "Weston",
		"Alpha",
		`<b class="exact">1</b>`, `<b class="inside">2</b>`, `<b>4</b>rows`,
		// what was run and when; a verdict chooses rows, and comes first in them
		"<code>halfspace repro some</code> 2026-11-22 21:00", "Run on 2026-11-21",
		`id="only-contradicted"><b class="contradicted">1</b>`,
		`body:has(#only-inside:checked) tbody tr[data-verdict]:not([data-verdict=inside])`,
		`<tr data-verdict="contradicted"><td class="verdict contradicted">contradicted</td>` +
			`<th scope="row" class="row">a above b</th>`,
		`<th scope="col">claim</th><th scope="col">quantity</th>` +
			`<th scope="col" class="n">difference</th>`,
		// for readers who do not see it
		`<caption><span>tbp/banana: numbers that the paper prints</span></caption>`,
		`<div class="scroll" tabindex="0" role="region" aria-label="tbp/banana: numbers`,
		`aria-label="banana. error against kept: svm 4 at 2"`,
		`<b>8</b>left out for --slow`, "the long ones (8 rows)", `<b>1</b>experiments not run`,
		`<td class="n">2.00</td><td class="n">7.00</td><td class="n">3.5</td><td class="n">10.00</td><td class="n">15</td>`, "prefers-color-scheme: dark", "@media print"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"http://", "https://", "<script", "ZgotmplZ"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
	}
}

// TestFootnotes: parts of several rows are printed once, what always stands together stays
// together, and nothing is lost.
func TestFootnotes(t *testing.T) {
	long := "so long that it needs a line of its own"
	n := Footnotes([]Row{{Note: "a; b; from 1 to 2"}, {}, {Note: "a; b; c"}, {Note: "c; c; " +
		long}})
	if want := []string{"a; b", "c", long}; !slices.Equal(n.Below, want) {
		t.Errorf("below %q, want %q", n.Below, want)
	}
	if want := [][]int{{0}, nil, {0, 1}, {1, 2}}; fmt.Sprint(n.Marks) != fmt.Sprint(want) {
		t.Errorf("marks %v, want %v", n.Marks, want)
	}
	if want := []string{"from 1 to 2", "", "", ""}; !slices.Equal(n.Own, want) {
		t.Errorf("own %q, want %q", n.Own, want)
	}
}

// TestSlow: a paper's file that leaves something out for RunOptions.Slow has an experiment that
// says what.
func TestSlow(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, p := range Papers {
		leaves := slices.ContainsFunc(files, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && strings.HasPrefix(name, p.Name) && !strings.HasSuffix(name,
				"_test.go") && strings.Contains(string(text), "o.slow(")
		})
		says := slices.ContainsFunc(Experiments(), func(e Experiment) bool {
			return PaperOf(
				e.Name).Name == p.Name && e.Slow != ""
		})
		if leaves != says {
			t.Errorf("%s: leaves something out for Slow: %v; an experiment says what: %v", p.Name,
				leaves, says)
		}
		if leaves {
			checked++
		}
	}
	if checked == 0 {
		t.Error("no paper leaves anything out")
	}
}

// TestPapers: every experiment is of a known paper and states how long it takes.
func TestPapers(t *testing.T) {
	for _, e := range Experiments() {
		if PaperOf(e.Name).Citation == "" {
			t.Errorf("%s: of no paper in Papers", e.Name)
		}
		if e.Seconds == 0 {
			t.Errorf("%s: no time", e.Name)
		}
		if (e.SlowSeconds > 0) != (e.Slow != "") {
			t.Errorf("%s: %v s more with Slow, for %q", e.Name, e.SlowSeconds, e.Slow)
		}
		if few, all := e.About(RunOptions{Runs: 2}), e.About(RunOptions{}); few > all ||
			e.Runs > 2 && few == all {
			t.Errorf("%s: %g s with two runs, %g with all", e.Name, few, all)
		}
	}
}
