package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/training"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// trainReport is what train prints with --json.
type trainReport struct {
	Schema           string          `json:"schema"`
	Learner          string          `json:"learner"`
	Config           learners.Config `json:"config"`
	Precision        string          `json:"precision"`
	Examples         int64           `json:"examples"`
	Presented        int64           `json:"presented"`
	Epochs           int             `json:"epochs"`
	Updates          int64           `json:"updates"`
	Mistakes         int64           `json:"mistakes"`
	ProgressiveError *float64        `json:"progressive_error"` // null where nothing was predicted
	Proba            *probaReport    `json:"proba"`             // with --proba, of the first epoch; null else
	Support          *int64          `json:"support"`           // kept examples; null for learners that keep none
	Margin           *float64        `json:"margin"`
	Converged        bool            `json:"converged"`
	// Of learners with members, after a pass without an update: examples that a member or all
	// together get wrong still; null else.
	Mistaken     *int              `json:"mistaken"`
	Fit          *fitReport        `json:"fit"` // of --until-converged on the whole data set; null else
	Margins      *training.Margins `json:"margins"`
	Stopped      bool              `json:"stopped"`
	Format       string            `json:"format"`
	Features     int               `json:"features"`
	BadRows      int               `json:"bad_rows"`
	Bytes        int64             `json:"bytes"`
	Impl         string            `json:"impl"`
	Threads      int               `json:"threads"`
	Seed         uint64            `json:"seed"`
	Labels       model.Labels      `json:"labels"`
	Seconds      trainSeconds      `json:"seconds"`
	NsPerExample float64           `json:"ns_per_example"`
	// Of learning one example; null unless they were learned one by one.
	Latency     *latencyReport  `json:"latency"`
	Memory      *training.Split `json:"memory"` // of --mem-budget; null without it
	Test        *testReport     `json:"test"`
	Model       *string         `json:"model"`
	ModelSHA256 *string         `json:"model_sha256"`

	Posterior *learners.PosteriorReport `json:"posterior"`  // null for learners without one
	NotFinite int64                     `json:"not_finite"` // scores of all epochs that are NaN or infinite
	Warnings  warnings                  `json:"warnings"`   // in which the result may not be what it seems
}

// fitReport is what a run on a whole data set tells. Margins are in the units of the examples as
// prepared.
type fitReport struct {
	Updates    int64    `json:"updates"`
	Counter    int64    `json:"counter"` // t or k of the papers: all the learner's updates + 1
	Violators  int      `json:"violators"`
	Margin     *float64 `json:"margin"` // least margin, with the coordinates of the slacks where there are any
	Bound      *float64 `json:"bound"`  // no hypothesis has a larger margin; null where the learner doesn't know
	ScoreSpace bool     `json:"score_space"`
	// Soft margin by --soft-delta: the margin of the weights, beyond which deviations count.
	Gamma  *float64 `json:"gamma"`
	Excess *float64 `json:"excess"` // D'/D - 1
	Gap    *float64 `json:"gap"`    // svm: duality gap, relative
}

type trainSeconds struct {
	Read  float64 `json:"read"`
	Learn float64 `json:"learn"`
	Total float64 `json:"total"`
}

type testReport struct {
	Examples int64        `json:"examples"`
	Errors   int64        `json:"errors"`
	Error    float64      `json:"error"`
	Proba    *probaReport `json:"proba"` // with --proba; null else

	NotFinite int64 `json:"not_finite"`        // scores that are NaN or infinite
	Unknown   int64 `json:"unknown_non_zeros"` // of features that training never had
}

// reportOf makes the report of what came of a run.
func (t *trainer) reportOf(res *training.Result) *trainReport {
	counts, info, plan := res.Counts, res.Info, res.Plan
	r := &trainReport{Schema: schema, Learner: plan.Learner, Config: plan.Config,
		Precision: plan.Precision, Examples: counts.Examples, Presented: counts.Presented,
		Epochs: counts.Epochs, Updates: counts.Updates, Mistakes: counts.Mistakes,
		Support: res.Support, Margin: res.Margin, Converged: counts.Converged,
		Mistaken: counts.Mistaken, Margins: res.Margins, Stopped: res.Stopped,
		Format: info.Format, Features: info.Dim, BadRows: info.BadRows, Bytes: res.Bytes,
		Impl: vecmath.Active().String(), Threads: t.machine.threads, Seed: plan.Seed,
		Labels: model.Labels{Negative: info.Labels.Negative,
			Positive: info.Labels.Positive},
		NsPerExample: counts.NsPerExample(), Latency: t.latency.report(), Memory: res.Memory,
		Posterior: res.Posterior, NotFinite: counts.NotFinite, Warnings: t.told,
		Fit: fitReportOf(res, t.o.SoftDelta > 0)}
	if counts.Fit == nil {
		e := counts.ProgressiveError()
		r.ProgressiveError = &e
		r.Proba = describeProba(counts.Proba)
	}
	if test := res.Test; test != nil {
		c := test.Count
		r.Test = &testReport{c.Examples, c.Errors, c.Error(), describeProba(test.Proba),
			c.NotFinite, test.Info.Unknown}
	}
	if res.Saved != nil {
		r.Model, r.ModelSHA256 = &res.Saved.Path, &res.Saved.SHA256
	}
	r.Seconds = trainSeconds{Read: res.Read.Seconds(), Learn: counts.Learn.Seconds(),
		Total: time.Since(t.started).Seconds()}
	return r
}

// fitReportOf tells of a run on a whole data set; nil of another.
func fitReportOf(res *training.Result, soft bool) *fitReport {
	f := res.Counts.Fit
	if f == nil {
		return nil
	}
	finite := func(v float64) *float64 {
		if v-v != 0 {
			return nil
		}
		return &v
	}
	r := &fitReport{Updates: f.Updates, Counter: f.Counter, Violators: f.Violators,
		Margin: finite(f.Margin), Bound: finite(f.Bound), ScoreSpace: f.ScoreSpace, Gap: res.Gap}
	if soft {
		r.Gamma, r.Excess = finite(f.Gamma0), finite(f.Excess())
	}
	return r
}

// print shows what came of a run.
func (t *trainer) print(res *training.Result) error {
	w, r := stdout(t.cmd), t.reportOf(res)
	if t.output.json {
		return printJSON(w, r)
	}
	if t.output.quiet {
		return nil
	}
	return r.summary(w, res)
}

// summary prints the report for people.
func (r *trainReport) summary(w io.Writer, res *training.Result) error {
	rows := [][2]string{
		{"learner", r.Learner + " " + describeConfig(r.Learner, r.Config) + ", " + r.Precision},
		{"data", fmt.Sprintf("%s, %s; label %q is -1, %q is +1", r.Format, featuresOf(res),
			orRest(r.Labels.Negative), r.Labels.Positive)},
		{"examples", fmt.Sprintf("%d (%s, %d presented)", r.Examples,
			epochs(r.Epochs, r.Presented%max(r.Examples, 1) != 0), r.Presented)},
		{"updates", fmt.Sprint(r.Updates)},
	}
	if r.Fit != nil && r.Fit.Gap != nil {
		rows[2][1] = fmt.Sprint(r.Examples)
		rows[3] = [2]string{"steps", fmt.Sprint(r.Updates)}
	}
	if r.Support != nil {
		rows = append(rows, [2]string{"support", plural(int(*r.Support), "support vector")})
	}
	if p := r.Posterior; p != nil {
		if text := describePosterior(p); text != "" {
			rows = append(rows, [2]string{"posterior", text})
		}
	}
	if r.ProgressiveError != nil {
		rows = append(rows, [2]string{"progressive", fmt.Sprintf("%.3f %% error in the first epoch", 100**r.ProgressiveError)})
	}
	probabilities := func(p *probaReport, where string) {
		if p != nil {
			rows = append(rows, [2]string{"probabilities", fmt.Sprintf("log-loss %.4f, Brier score %.4f, calibration error %.4f %s", p.LogLoss, p.Brier, p.CalibrationError, where)})
		}
	}
	probabilities(r.Proba, "in the first epoch")
	if r.BadRows > 0 {
		rows = append(rows, [2]string{"bad rows", fmt.Sprintf("%d passed over", r.BadRows)})
	}
	if r.Test != nil {
		rows = append(rows, [2]string{"test", fmt.Sprintf("%.3f %% error (%d of %d)", 100*r.Test.Error, r.Test.Errors, r.Test.Examples)})
		probabilities(r.Test.Proba, "in the test")
	}
	if r.Margin != nil {
		rows = append(rows, [2]string{"margin", fmt.Sprintf("%.6g", *r.Margin)})
	}
	rows = append(rows, r.marginRows()...)
	switch {
	case r.Fit != nil && r.Fit.Gap != nil:
		rows = append(rows, [2]string{"converged", fmt.Sprintf("%v, duality gap %.3g of the objective", r.Converged, *r.Fit.Gap)})
	case r.Converged && r.Mistaken != nil:
		rows = append(rows, [2]string{"converged", "the last epoch made no update, and no member " +
			"makes a mistake"})
	case r.Converged:
		rows = append(rows, [2]string{"converged", "the last epoch made no update"})
	case r.Fit != nil:
		rows = append(rows, [2]string{"converged", fmt.Sprintf("no, %s left", plural(r.Fit.Violators, "violator"))})
	}
	rows = append(rows,
		[2]string{"seconds", fmt.Sprintf("%.3f read, %.3f learn, %.3f total", r.Seconds.Read, r.Seconds.Learn, r.Seconds.Total)},
		[2]string{"speed", fmt.Sprintf("%.0f ns an example (%s, %s)", r.NsPerExample, r.Impl, plural(r.Threads, "thread"))})
	if l := r.Latency; l != nil {
		rows = append(rows, [2]string{"latency", fmt.Sprintf("median %v, 99 %% within %v, longest %v", time.Duration(l.P50), time.Duration(l.P99), time.Duration(l.Max))})
	}
	if m := r.Memory; m != nil && m.Peak > 0 {
		rows = append(rows, [2]string{"memory", fmt.Sprintf("%s at most, %s planned", inMiB(m.Peak), inMiB(m.Planned()))})
	}
	if r.Model != nil {
		rows = append(rows, [2]string{"model", *r.Model + " (sha256 " + *r.ModelSHA256 + ")"})
	}
	return twoColumns(w, rows)
}

// featuresOf says how many there are.
func featuresOf(res *training.Result) string {
	if res.Bias {
		return plural(res.Info.Dim-1, "feature") + " and the bias"
	}
	return plural(res.Info.Dim, "feature")
}

// epochs tells of complete passes, and of one that was cut short.
func epochs(n int, part bool) string {
	switch {
	case n == 0:
		return "the first epoch was not finished"
	case part:
		return plural(n, "epoch") + " and a part"
	}
	return plural(n, "epoch")
}

// marginRows tells of margins besides the geometric one.
func (r *trainReport) marginRows() (rows [][2]string) {
	if m := r.Margins; m != nil {
		if m.Geometric != m.Directional {
			rows = append(rows, [2]string{"without bias", fmt.Sprintf("%.6g, over the length of the weights without the bias feature's", m.Geometric)})
		}
		if m.P != nil && *m.P != 2 {
			rows = append(rows, [2]string{"p-norm margin", fmt.Sprintf("%.6g, p = %.6g", m.PNorm, *m.P)})
		}
		if m.OfMax != nil {
			rows = append(rows, [2]string{"of the maximum", fmt.Sprintf("%.4f, the svm reaches %.6g", *m.OfMax, *m.Max)})
		}
	}
	if f := r.Fit; f != nil {
		if f.Bound != nil {
			rows = append(rows, [2]string{"margin's bound", fmt.Sprintf("%.6g, no hyperplane reaches more", *f.Bound)})
		}
		if f.Gamma != nil && f.Margin != nil {
			rows = append(rows, [2]string{"soft margin", fmt.Sprintf("Gamma %.6g in the extended space, gamma %.6g", *f.Margin, *f.Gamma)})
		}
		if f.Excess != nil {
			rows = append(rows, [2]string{"D'/D - 1", fmt.Sprintf("%.3g", *f.Excess)})
		}
	}
	return rows
}

// describeConfig writes settings as the flags that give them. Left out are zeros that are defaults, and what has no effect.
func describeConfig(learner string, c learners.Config) string {
	var s []string
	var defaults []field
	if e, err := learners.Lookup(learner); err == nil {
		defaults = settingsOf(e.Config())
	}
	all := settingsOf(c)
	for i, f := range all {
		if f.value.IsZero() && (defaults == nil || defaults[i].value.IsZero()) {
			continue
		}
		if _, idle := f.idle(all); idle {
			continue
		}
		if f.value.Kind() == reflect.Bool {
			s = append(s, fmt.Sprintf("--%s=%v", f.flag, f.value.Interface()))
		} else {
			s = append(s, fmt.Sprintf("--%s %s", f.flag, f.text()))
		}
	}
	if name, config, ok := base(c); ok {
		if bc, _ := config.Interface().(learners.Config); bc != nil {
			if text := describeConfig(name.String(), bc); text != "" {
				s = append(s, text)
			}
		}
	}
	return strings.Join(s, " ")
}

func orRest(label string) string {
	if label == "" {
		return "(any other)"
	}
	return label
}
