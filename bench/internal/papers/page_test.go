package papers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/realdata"
)

// TestUpdatePage: an experiment's rows come between its marks, those that take long between marks
// of their own, and the counts follow; all else stays.
func TestUpdatePage(t *testing.T) {
	page := "by hand\n" +
		"<!-- repro counts -->\n| `gone` | 7 | | | | | | | | |\n<!-- end -->\n" +
		"<!-- repro tbp/banana -->\nold\n<!-- end -->\nand more\n" +
		"<!-- repro tbp/usps -->\n<!-- end -->\n<!-- repro tbp/usps slow -->\n<!-- end -->"
	o := sample()
	o.Rows[0].Row, o.Rows[0].Note = "svm <best> a|b", "why & how, in more than 32 bytes * 2"
	o.Rows[1].Kind, o.Date = Number, "2026-11-22"
	r := Report{Machine: "a machine", Seed: 1, Outcomes: []Outcome{o,
		{Name: "tbp/usps", Skipped: "no data"}}}
	text, err := UpdatePage(page+"\n", r, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"by hand\n<!-- repro counts -->\n\n| experiment | exact |",
		"\n| `tbp/banana` | 1 | 1 | | | | | | | |\n| all | 1 | 1 | | | | | | | |\n",
		"Error & size. `halfspace repro tbp/banana` took 2.50 s on 2026-11-22, on a machine; 0 " +
			"to 3 runs a\nrow from seed 1.",
		"| number | paper | ours | verdict | CPU s a run | paper's s | times as long | notes |",
		`| svm \<best> a\|b, test error % | 1.5 | 2.0 ± 2.5 | inside | 0.67 | 10 | 15 | 1 |`,
		`1. why & how, in more than 32 bytes \* 2`,
		"<!-- end -->\nand more\n<!-- repro tbp/usps -->\n<!-- end -->\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "old") || strings.Contains(text, "gone") {
		t.Errorf("what stood there before is still there:\n%s", text)
	}
	if again, err := UpdatePage(text, r, false); err != nil || again != text {
		t.Errorf("not the same again (%v):\n%s", err, again)
	}

	long := Row{Experiment: "tbp/usps", Row: "long", Quantity: "errors_made"}
	long.fill([]float64{1, 2})
	long.Slow = true
	short := long
	short.Row, short.Slow = "short", false
	r.Outcomes = []Outcome{{Name: "tbp/usps", Rows: []Row{short, long}}}
	if text, err = UpdatePage(text, r, true); err != nil {
		t.Fatal(err)
	}
	_, slow, _ := strings.Cut(text, "<!-- repro tbp/usps slow -->")
	if !strings.Contains(slow, "| long, errors made | 1.5") || strings.Contains(text, "short") ||
		!strings.Contains(text, "| `tbp/usps slow` | | | | | | | | | 1 |\n| all | 1 | 1 | | | | | "+
			"| | 1 |\n") {
		t.Errorf("with slow:\n%s", text)
	}
	for _, bad := range []string{"<!-- end -->\n", "<!-- repro a -->\n",
		"<!-- repro a -->\n<!-- repro b -->\n<!-- end -->\n",
		"<!-- repro a -->\n<!-- end -->\n<!-- repro a -->\n<!-- end -->\n",
		"nothing of tbp/usps\n"} {
		if _, err := UpdatePage(bad, r, false); !errors.Is(err, ErrPage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestPapersPage: docs/papers.md has each experiment in a part of its own, the rows of which are
// those that are made now, as far as that is quick, in the order of the table of verdicts. What
// `halfspace repro all --page docs/papers.md` writes may differ in numbers alone.
func TestPapersPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := pageParts(string(text))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	var names, want []string
	for _, p := range parts {
		if p.name != "" {
			shown[p.name] = p.text
			names = append(names, p.name)
		}
	}
	for _, e := range Experiments() {
		if want = append(want, e.Name); e.Slow != "" {
			want = append(want, e.Name+slowPart)
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(names)); !slices.Equal(got, slices.Sorted(slices.Values(
		append(want, pageCounts)))) {
		t.Errorf("the parts are %q, want %q and %s", got, want, pageCounts)
	}
	counts := map[string]string{}
	for _, name := range want {
		n := map[Verdict]int{}
		for _, row := range pageNames(shown[name]) {
			for _, v := range Verdicts {
				if strings.HasSuffix(row, " "+string(v)) {
					n[v]++
				}
			}
		}
		if counts[name] = pageLine(name, n); len(n) == 0 {
			t.Errorf("%s: no rows", name)
		}
	}
	if want := pageTable(parts, counts); shown[pageCounts] != want {
		t.Errorf("the verdicts are\n%swant\n%s", shown[pageCounts], want)
	}

	quick := []string{"obpm/table1", "vvm/figure1"}
	if !testing.Short() {
		quick = append(quick, "vvm/table1", "obpm/sensitivity", "obpm/bayespoint")
	}
	for _, name := range quick {
		t.Run(name, func(t *testing.T) {
			e, dir := experiments[name], ""
			for _, file := range e.Needs {
				dir = filepath.Dir(realdata.File(t, file))
			}
			rows, err := Repro(context.Background(), e, RunOptions{Runs: min(2, e.Runs), Seed: 1,
				DataDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			var now []string
			for _, kind := range Kinds {
				for _, r := range OfKind(rows, kind) {
					now = append(now, escaped(r.name()))
				}
			}
			have := pageNames(shown[name])
			for i := range have {
				have[i] = have[i][:strings.LastIndex(have[i], " ")]
			}
			if !slices.Equal(have, now) {
				t.Errorf("docs/papers.md has the rows\n%s\nwant\n%s\n(halfspace repro %s --page "+
					"docs/papers.md)", strings.Join(have, "\n"), strings.Join(now, "\n"), name)
			}
		})
	}
}

// TestPapersTests: the tests that docs/papers.md names are there.
func TestPapersTests(t *testing.T) {
	text, err := os.ReadFile("../../../docs/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, dir := range []string{".", "../../../learners", "../../../internal/naive",
		"../../../internal/margins"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(src)
		}
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1)
	for _, name := range named {
		if !strings.Contains(tests.String(), "\nfunc "+name[1]+"(") {
			t.Errorf("there is no %s", name[1])
		}
	}
	if len(named) < 30 {
		t.Errorf("only %d tests are named", len(named))
	}
}

// pageNames returns the rows of a part, each with its verdict behind it.
func pageNames(part string) (rows []string) {
	at := -1
	for _, line := range strings.Split(part, "\n") {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		switch {
		case !strings.HasPrefix(line, "| "):
		case cells[0] == "number" || cells[0] == "claim" || cells[0] == "row":
			at = slices.Index(cells, "verdict")
		case at < 0:
			rows = append(rows, cells[0]+" "+string(Measured))
		default:
			rows = append(rows, cells[0]+" "+cells[at])
		}
	}
	return rows
}
