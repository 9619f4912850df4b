package command

import (
	"io"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// trainReport is what train prints with --json.
type trainReport struct {
	Schema    string         `json:"schema"`
	Learner   string         `json:"learner"`
	Config    learner.Config `json:"config"`
	Precision string         `json:"precision"`
	Examples  int64          `json:"examples"`
	Presented int64          `json:"presented"`
	Epochs    int            `json:"epochs"`
	Updates   int64          `json:"updates"`
	Mistakes  int64          `json:"mistakes"`
	// Null where nothing was predicted.
	ProgressiveError *float64 `json:"progressive_error"`
	// With --proba, of the first epoch; null else.
	Proba *probaReport `json:"proba"`
	// Of --calibrate: P(+1) = 1/(1 + exp(-(slope f + intercept))) of a score f, or what is of more
	// classes; null else.
	Calibration *learner.Calibration `json:"calibration"`
	Threshold   *learner.Threshold   `json:"threshold"` // of --threshold; null else
	// Of the first epoch; null where nothing was predicted.
	Metrics *metricsReport `json:"metrics"`
	// Of the last examples, with --window or --fading; null else.
	Recent *metricsReport `json:"recent"`
	// With --drift: where it was found, the first 1000; null without.
	Drifts []eval.Drift `json:"drifts"`
	// With --id-col: what became of rows whose labels came by their ids, and how many still wait;
	// null without.
	Late    *eval.Late `json:"late"`
	Waiting int64      `json:"waiting"` // predicted, and not learned
	// Kept examples; null for learners that keep none.
	Support   *int64   `json:"support"`
	Margin    *float64 `json:"margin"`
	Converged bool     `json:"converged"`
	// Of learners with members, after a pass without an update: examples that a member or all
	// together get wrong still; null else.
	Mistaken *int `json:"mistaken"`
	// Of --until-converged on the whole data set; null else.
	Fit     *fitReport        `json:"fit"`
	Margins *training.Margins `json:"margins"`
	Stopped bool              `json:"stopped"`
	Format  string            `json:"format"`
	// How the first rows of csv were understood; null of other formats.
	Layout   *format.Decided   `json:"layout"`
	Features int               `json:"features"`
	Prepared training.Prepared `json:"prepared"`
	// Whether the number of epochs was left to the data, which are few.
	Few     bool         `json:"few"`
	BadRows int          `json:"bad_rows"`
	Bytes   int64        `json:"bytes"`
	Impl    string       `json:"impl"`
	Threads int          `json:"threads"`
	Seed    uint64       `json:"seed"`
	Labels  model.Labels `json:"labels"`
	// Of all classes, where there are more than two; else null.
	Classes      []string     `json:"classes"`
	Seconds      trainSeconds `json:"seconds"`
	NsPerExample float64      `json:"ns_per_example"`
	// Of learning one example; null unless they were learned one by one.
	Latency *latencyReport `json:"latency"`
	// Of --mem-budget; null without it.
	Memory      *training.Split `json:"memory"`
	Test        *testReport     `json:"test"`
	Model       *string         `json:"model"`
	ModelSHA256 *string         `json:"model_sha256"`
	// Null for learners without one.
	Posterior *learner.PosteriorReport `json:"posterior"`
	// Scores of all epochs that are NaN or infinite.
	NotFinite int64 `json:"not_finite"`
	// In which the result may not be what it seems.
	Warnings warnings `json:"warnings"`
}

// fitReport is what a run on a whole data set reports. Margins are in the units of the examples as
// prepared.
type fitReport struct {
	Updates   int64 `json:"updates"`
	Counter   int64 `json:"counter"` // t or k of the papers: all the learner's updates + 1
	Violators int   `json:"violators"`
	// Least margin, with the coordinates of the slacks where there are any.
	Margin *float64 `json:"margin"`
	// No hypothesis has a larger margin; null where the learner doesn't know.
	Bound      *float64 `json:"bound"`
	ScoreSpace bool     `json:"score_space"`
	// Soft margin by --soft-delta: the margin of the weights, beyond which deviations count.
	Gamma  *float64 `json:"gamma"`
	Excess *float64 `json:"excess"` // D'/D - 1
	Gap    *float64 `json:"gap"`    // svm: duality gap, relative
	// Of learners that went over kernel values; null else.
	KernelRows *rowsReport `json:"kernel_rows"`
}

// rowsReport counts the rows of kernel values that a run asked for.
type rowsReport struct {
	Hits      uint64  `json:"hits"`
	Misses    uint64  `json:"misses"` // a part of the row was computed, or all
	HitRate   float64 `json:"hit_rate"`
	Evictions uint64  `json:"evictions"`
	Rows      int     `json:"rows"`  // kept at the end
	Bytes     int64   `json:"bytes"` // of those
	Limit     int64   `json:"limit"` // of bytes
}

// rowsReportOf is nil of a run that asked for none.
func rowsReportOf(s engine.RowStats) *rowsReport {
	all := s.Hits + s.Misses
	if all == 0 {
		return nil
	}
	return &rowsReport{s.Hits, s.Misses, float64(s.Hits) / float64(all), s.Evictions, s.Rows,
		s.Bytes, s.Limit}
}

type trainSeconds struct {
	Read  float64 `json:"read"`
	Learn float64 `json:"learn"`
	Total float64 `json:"total"`
}

type testReport struct {
	Examples int64          `json:"examples"`
	Errors   int64          `json:"errors"`
	Error    float64        `json:"error"`
	Proba    *probaReport   `json:"proba"` // with --proba; null else
	Metrics  *metricsReport `json:"metrics"`

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
		Format: info.Format, Layout: info.Decided, Features: info.Dim,
		Prepared: res.Plan.Prepared, Few: res.Plan.Few,
		BadRows: info.BadRows, Bytes: res.Bytes,
		Impl: vecmath.Active().String(), Threads: t.machine.threads, Seed: plan.Seed,
		Labels: model.Labels{Negative: info.Labels.Negative,
			Positive: info.Labels.Positive},
		Classes:      info.Classes,
		NsPerExample: counts.NsPerExample(), Latency: t.latency.report(), Memory: res.Memory,
		Late: counts.Late, Waiting: counts.Waiting, Posterior: res.Posterior,
		NotFinite: counts.NotFinite, Warnings: t.told,
		Fit: fitReportOf(res, t.o.SoftDelta > 0)}
	if counts.Fit == nil {
		e := counts.ProgressiveError()
		r.ProgressiveError = &e
		r.Proba = describeProba(counts.Proba)
		labels := shownClasses(info)
		r.Metrics = describeMetrics(counts.Metrics, labels)
		r.Recent = describeMetrics(counts.Recent, labels)
	}
	r.Calibration, r.Threshold = counts.Calibration, counts.Threshold
	if t.o.Drift != "" {
		r.Drifts = append([]eval.Drift{}, counts.Drifts...)
	}
	if test := res.Test; test != nil {
		c := test.Count
		r.Test = &testReport{c.Examples, c.Errors, c.Error(), describeProba(test.Proba),
			describeMetrics(test.Metrics, shownClasses(info)), c.NotFinite, test.Info.Unknown}
	}
	if res.Saved != nil {
		r.Model, r.ModelSHA256 = &res.Saved.Path, &res.Saved.SHA256
	}
	r.Seconds = trainSeconds{Read: res.Read.Seconds(), Learn: counts.Learn.Seconds(),
		Total: time.Since(t.started).Seconds()}
	return r
}

// fitReportOf is the report of a run on a whole data set; nil after another run.
func fitReportOf(res *training.Result, soft bool) *fitReport {
	f := res.Counts.Fit
	if f == nil {
		return nil
	}
	r := &fitReport{Updates: f.Updates, Counter: f.Counter, Violators: f.Violators,
		Margin: finite(f.Margin), Bound: finite(f.Bound), ScoreSpace: f.ScoreSpace, Gap: res.Gap,
		KernelRows: rowsReportOf(f.KernelRows)}
	if soft && f.Gamma0 != 0 { // of several classes each has its own
		r.Gamma, r.Excess = finite(f.Gamma0), finite(f.Excess())
	}
	return r
}

// noteRows says with -v what became of the kernel rows that were asked for, if any were.
func (t *trainer) noteRows(k *rowsReport) {
	if k != nil {
		t.output.note(t.cmd, "kernel rows: %.1f %% of %d were there, %d evicted; %s of %s kept",
			100*k.HitRate, k.Hits+k.Misses, k.Evictions, inMiB(k.Bytes), inMiB(k.Limit))
	}
}

// print shows what came of a run.
func (t *trainer) print(res *training.Result) error {
	r := t.reportOf(res)
	if r.Fit != nil {
		t.noteRows(r.Fit.KernelRows)
	}
	if t.html != "" {
		if err := t.writeHTML(r, res); err != nil {
			return err
		}
	}
	return t.output.print(t.cmd, r, func(w io.Writer) error {
		if t.dry {
			var rows summaryRows
			dryRow(&rows, res)
			if err := rows.write(w); err != nil {
				return err
			}
		}
		return r.summary(w, res, &t.metrics, recentName(&t.o))
	})
}
