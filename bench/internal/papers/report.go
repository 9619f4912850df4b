package papers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/report"
)

// Paper is one whose tables and figures are run again.
type Paper struct {
	Name     string // the first part of its experiments' names
	Citation string
	Hardware string // what its times were taken on
}

// Papers in the order in which reports tell of them.
var Papers = []Paper{
	{"obpm",
		`E. Harrington, R. Herbrich, J. Kivinen, J. C. Platt, R. C. Williamson, "Online Bayes Point Machines", PAKDD 2003`,
		"an Alpha of 1 GHz"},
	{"pumma",
		`K. Ishibashi, K. Hatano, M. Takeda, "Online Learning of Approximate Maximum p-Norm Margin Classifiers with Bias", COLT 2008`,
		"section 5.1: MATLAB on an Intel Xeon of 3.8 GHz; tables: C on an Intel Xeon of 3.0 GHz"},
	{"vvm",
		`T. P. Minka, R. Xiang, Y. Qi, "Virtual Vector Machine for Bayesian Online Classification", UAI 2009`, "not stated"},
	{"tbp",
		`J. Weston, A. Bordes, L. Bottou, "Online (and Offline) on an Even Tighter Budget", AISTATS 2005`, "not stated"},
	{"cramma",
		`P. Tsampouka, J. Shawe-Taylor, "Constant Rate Approximate Maximum Margin Algorithms", ECML 2006`, "not stated"},
}

// PaperOf returns the paper of an experiment.
func PaperOf(experiment string) Paper {
	name, _, _ := strings.Cut(experiment, "/")
	for _, p := range Papers {
		if p.Name == name {
			return p
		}
	}
	return Paper{Name: name}
}

// About returns roughly how many seconds an experiment takes with these options.
func (e Experiment) About(o RunOptions) float64 {
	s := cmp.Or(e.Seconds, 30)
	if o.Runs > 0 && e.Runs > 1 {
		s *= float64(o.Runs) / float64(e.Runs)
	}
	if o.Slow {
		s += e.SlowSeconds
	}
	return s
}

// Outcome is what came of an experiment.
type Outcome struct {
	Name    string          `json:"name"`
	Summary string          `json:"summary"`
	Command string          `json:"-"` // that runs it again
	Rows    []Row           `json:"rows"`
	Figures []report.Figure `json:"figures"`
	Seconds float64         `json:"seconds"` // of the whole experiment, when it was run
	Date    string          `json:"date"`    // when that was
	Cached  bool            `json:"-"`       // taken from an earlier run
	Skipped string          `json:"-"`       // why it was not run; then there is nothing else
	NoData  bool            `json:"-"`       // it was not run because data are missing
	LeftOut int             `json:"-"`       // rows that only RunOptions.Slow includes
	Slow    string          `json:"-"`       // what only it includes
}

// Verdicts counts the rows' verdicts.
func (o Outcome) Verdicts() map[Verdict]int {
	n := map[Verdict]int{}
	for _, r := range o.Rows {
		n[r.Verdict]++
	}
	return n
}

// Report is the outcomes of some experiments.
type Report struct {
	Command  string // of the run
	Date     string // of the report
	Machine  string
	Version  string
	Seed     uint64
	Outcomes []Outcome
}

// Notes is the notes of a table's rows, for a list below the table with what they share put
// together.
type Notes struct {
	Below []string // parts of several rows, and long ones
	Marks [][]int  // of each row: which of them, from 0
	Own   []string // of each row: short parts that no other row has
}

// Footnotes takes the rows' notes apart at "; ".
func Footnotes(rows []Row) Notes {
	const short = 32 // bytes
	n := Notes{Marks: make([][]int, len(rows)), Own: make([]string, len(rows))}
	var parts []string
	in := map[string][]int{}
	for i, r := range rows {
		for _, part := range strings.Split(r.Note, "; ") {
			if part == "" || slices.Contains(in[part], i) {
				continue
			}
			if in[part] == nil {
				parts = append(parts, part)
			}
			in[part] = append(in[part], i)
		}
	}
	at := map[string]int{} // in Below, by the rows: what stands in the same rows stays together
	for _, part := range parts {
		if of := in[part]; len(of) == 1 && len(part) <= short || strings.HasSuffix(part, toDecide) {
			for _, i := range of {
				n.Own[i] = joined(n.Own[i], part)
			}
		} else if k, ok := at[fmt.Sprint(of)]; ok {
			n.Below[k] = joined(n.Below[k], part)
		} else {
			at[fmt.Sprint(of)] = len(n.Below)
			for _, i := range of {
				n.Marks[i] = append(n.Marks[i], len(n.Below))
			}
			n.Below = append(n.Below, part)
		}
	}
	return n
}

// joined puts two notes together.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
