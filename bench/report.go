package bench

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Paper is one whose tables and figures are run again.
type Paper struct {
	Name     string // the first part of its experiments' names
	Citation string
	Hardware string // what its times were taken on
}

// Papers in the order in which reports tell of them.
var Papers = []Paper{
	{"obpm", `E. Harrington, R. Herbrich, J. Kivinen, J. C. Platt, R. C. Williamson, "Online Bayes Point Machines", PAKDD 2003`, "an Alpha of 1 GHz"},
	{"pumma", `K. Ishibashi, K. Hatano, M. Takeda, "Online Learning of Approximate Maximum p-Norm Margin Classifiers with Bias", COLT 2008`,
		"section 5.1: MATLAB on an Intel Xeon of 3.8 GHz; tables: C++ on an Intel Xeon of 3.0 GHz"},
	{"vvm", `T. P. Minka, R. Xiang, Y. Qi, "Virtual Vector Machine for Bayesian Online Classification", UAI 2009`, "not told"},
	{"tbp", `J. Weston, A. Bordes, L. Bottou, "Online (and Offline) on an Even Tighter Budget", AISTATS 2005`, "not told"},
	{"cramma", `P. Tsampouka, J. Shawe-Taylor, "Constant Rate Approximate Maximum Margin Algorithms", ECML 2006`, "not told"},
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

// about is how many seconds an experiment takes, without what needs Slow, on two cores of an AMD EPYC (Zen 3), 2026-11-21. It decides what fits into a time budget.
var about = map[string]float64{
	"obpm/table1": 6, "obpm/table2": 15, "obpm/kernel": 12,
	"pumma/section5.1": 5, "pumma/table1": 60, "pumma/table2": 50,
	"vvm/figure1": 5, "vvm/table1": 8, "vvm/figures2-4": 12,
	"tbp/figure6": 4, "tbp/figure7": 8, "tbp/figure8": 3, "tbp/waveform": 11, "tbp/banana": 11, "tbp/usps": 60, "tbp/usps-noise": 70, "tbp/figure13": 110,
	"cramma/table1": 35, "cramma/table2": 8, "cramma/table3": 12, "cramma/table4": 12,
}

// About returns roughly how many seconds an experiment takes.
func (e Experiment) About() float64 {
	if s, ok := about[e.Name]; ok {
		return s
	}
	return 30
}

// Outcome is what came of an experiment.
type Outcome struct {
	Name    string   `json:"name"`
	Summary string   `json:"summary"`
	Command string   `json:"command"` // that runs it again
	Rows    []Row    `json:"rows"`
	Figures []Figure `json:"figures"`
	Seconds float64  `json:"seconds"` // of the whole experiment, when it was run
	Cached  bool     `json:"-"`       // taken from an earlier run
	Skipped string   `json:"-"`       // why it was not run; then there is nothing else
}

// Verdicts counts the rows' verdicts.
func (o Outcome) Verdicts() map[Verdict]int {
	n := map[Verdict]int{}
	for _, r := range o.Rows {
		n[r.Verdict]++
	}
	return n
}

// verdicts in the order of reports.
var verdicts = []Verdict{Exact, Inside, Outside, NotComparable}

// Report is the outcomes of some experiments.
type Report struct {
	Machine  string
	Version  string
	Seed     uint64
	Outcomes []Outcome
}

//go:embed report.html
var reportHTML string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"picture": func(f Figure) (template.URL, error) {
		var b bytes.Buffer
		if err := f.Write(&b, "png"); err != nil { // not svg, whose letters are those of the reader's machine
			return "", err
		}
		return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
	},
	"seconds": func(v float64) string {
		switch {
		case v >= 100:
			return fmt.Sprintf("%.0f", v)
		case v >= 0.1:
			return fmt.Sprintf("%.2f", v)
		}
		return fmt.Sprintf("%.4f", v)
	},
	"timed": func(o Outcome) bool {
		for _, r := range o.Rows {
			if r.PaperSeconds != nil {
				return true
			}
		}
		return false
	},
	"anchor": func(name string) string { return strings.ReplaceAll(name, "/", "-") },
	"faster": func(r Row) string {
		if r.PaperSeconds == nil || r.Seconds == 0 {
			return ""
		}
		return fmt.Sprintf("%.3g", *r.PaperSeconds/r.Seconds*float64(max(1, r.Runs)))
	},
}).Parse(reportHTML))

// section is a paper's part of a report.
type section struct {
	Paper    Paper
	Outcomes []Outcome
}

// WriteHTML writes the report as one page that needs no other file.
func (r Report) WriteHTML(w io.Writer) error {
	data := struct {
		Report
		Sections []section
		Verdicts []Verdict
		Counts   map[Verdict]int
		Rows     int
		Skipped  int
		Total    float64
	}{Report: r, Verdicts: verdicts, Counts: map[Verdict]int{}}
	for _, p := range Papers {
		s := section{Paper: p}
		for _, o := range r.Outcomes {
			if PaperOf(o.Name).Name != p.Name {
				continue
			}
			s.Outcomes = append(s.Outcomes, o)
			for v, n := range o.Verdicts() {
				data.Counts[v] += n
				data.Rows += n
			}
			data.Total += o.Seconds
			if o.Skipped != "" {
				data.Skipped++
			}
		}
		if len(s.Outcomes) > 0 {
			data.Sections = append(data.Sections, s)
		}
	}
	return reportTemplate.Execute(w, data)
}

// Cache keeps outcomes in a folder, each under a key of all that decides it.
type Cache struct{ Dir string }

// Load returns the outcome of a key, if it is there and whole.
func (c Cache) Load(key string) (Outcome, bool) {
	var o Outcome
	text, err := os.ReadFile(c.file(key))
	if err != nil || json.Unmarshal(text, &o) != nil || o.Name == "" {
		return Outcome{}, false
	}
	o.Cached = true
	return o, true
}

// Save keeps an outcome; the file appears whole or not at all.
func (c Cache) Save(key string, o Outcome) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.Dir, ".outcome-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.file(key))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func (c Cache) file(key string) string { return filepath.Join(c.Dir, key+".json") }
