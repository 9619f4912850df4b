package papers

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/internal/schema"
)

// Kind is what a row is. Every row is one of the three, and is counted as that alone.
type Kind string

// Kinds of rows.
const (
	// a value that the paper prints, beside ours
	Number Kind = "number"
	// what the paper says in words or by an order of curves: ours is a difference, paired over the
	// runs, that is above 0 where the claim holds
	Claim Kind = "claim"
	// ours alone: the paper has no number for it
	Measurement Kind = "measurement"
)

// Kinds in the order of reports.
var Kinds = []Kind{Number, Claim, Measurement}

// Verdict says how our value stands to the paper's. (*Row).judge gives it, from the row's numbers.
type Verdict string

// Verdicts of a row.
const (
	// of numbers
	Exact   Verdict = "exact"   // of a run without draws, equal in all printed digits
	Inside  Verdict = "inside"  // the 95 % interval of the difference has 0 in it
	Outside Verdict = "outside" // it has not; the note says why
	// the data differ from the paper's
	NotComparable Verdict = "not-comparable"

	// of numbers and claims: it follows from how the run is set up, whatever learners do
	ByConstruction Verdict = "by-construction"

	// of claims, by the 95 % interval of the difference
	Supported    Verdict = "supported"    // above 0
	Undecided    Verdict = "undecided"    // 0 is in it
	Contradicted Verdict = "contradicted" // below 0

	// of measurements
	Measured Verdict = "measured"
)

// Verdicts in the order of reports.
var Verdicts = []Verdict{Exact, Inside, Outside, NotComparable, Supported, Undecided, Contradicted,
	ByConstruction, Measured}

// Row is one published value or claim beside ours, or one of ours alone. Intervals are the
// half-widths of 95 % confidence intervals of the mean.
type Row struct {
	Schema     string   `json:"schema"`
	Experiment string   `json:"experiment"` // paper/name
	Row        string   `json:"row"`        // data set, learner, parameters; or the claim
	Kind       Kind     `json:"kind"`
	Quantity   string   `json:"quantity"`
	Paper      *float64 `json:"paper"` // what it prints; nil unless the row is a number
	PaperPM    float64  `json:"paper_pm"`
	Ours       float64  `json:"ours"`
	OursPM     float64  `json:"ours_pm"`
	Runs       int      `json:"runs"`
	Verdict    Verdict  `json:"verdict"`
	// by how much more than the intervals say a value may differ to be inside, which the note says,
	// too; 0: not at all
	Tolerance float64 `json:"tolerance"`
	Note      string  `json:"note"`
	// why this row is known to be outside or contradicted; "": it is not known to be
	Known        string   `json:"known"`
	Slow         bool     `json:"slow,omitempty"`          // it takes RunOptions.Slow
	Seconds      float64  `json:"seconds"`                 // learning, all runs: CPU time
	PaperSeconds *float64 `json:"paper_seconds,omitempty"` // where the paper gives it, of one run
	// as Seconds, of the learner's plain form (internal/naive) in the same run: its time of the
	// first run, times Runs
	NaiveSeconds *float64 `json:"naive_seconds,omitempty"`

	unit    float64 // what the last printed digit counts, of runs without draws; 0: with draws
	differs bool    // the data differ from the paper's
	given   string  // from what the value follows by construction; "": it is measured
	// a claim of "no difference", which a test can contradict, and not support by not rejecting it
	nullHypothesis bool
}

// meanPM returns the mean and the half-width of its 95 % confidence interval, by Student's t as in
// the OBPM paper.
func meanPM(v []float64) (mean, pm float64) {
	mean = stat.Mean(v, nil)
	if len(v) < 2 {
		return mean, math.Inf(1)
	}
	return mean, halfWidth(stat.StdDev(v, nil), len(v), 0.05)
}

// halfWidth returns that of the interval of the mean of n values with standard deviation sd, which
// lacks the mean with probability level.
func halfWidth(sd float64, n int, level float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1-level/2) * sd /
		math.Sqrt(float64(n))
}

// fill sets ours from the runs' values, and what follows from them.
func (r *Row) fill(v []float64) {
	r.Ours, r.OursPM = v[0], 0
	if r.Runs = len(v); r.Runs > 1 {
		r.Ours, r.OursPM = meanPM(v)
	}
	r.judge()
}

// fillOne is fill of a run without draws: unit is what the last printed digit counts.
func (r *Row) fillOne(v, unit float64) {
	r.unit = unit
	r.fill([]float64{v})
}

// fillAll is fill of several claims in one: it holds where all of the differences, each one a run,
// are above 0. The one shown is the least sure, with an interval that holds for all at once (C. E.
// Bonferroni). Its index is returned.
func (r *Row) fillAll(diffs [][]float64) (least int) {
	level, worst := 0.05/float64(len(diffs)), math.Inf(1)
	for i, v := range diffs {
		m, sd := stat.MeanStdDev(v, nil)
		pm := halfWidth(sd, len(v), level)
		sure := m / pm
		if pm == 0 {
			if sure = 0; m != 0 {
				sure = math.Copysign(math.Inf(1), m)
			}
		}
		if sure < worst {
			worst, least, r.Ours, r.OursPM = sure, i, m, pm
		}
	}
	r.Runs = len(diffs[0])
	if r.judge(); len(diffs) > 1 {
		r.Note = joined(r.Note, "the least sure of several differences, with an interval that "+
			"holds for all at once")
	}
	return least
}

// judge sets the row's kind and its verdict, and puts into its note what the verdict hinges on:
// tolerances, how many runs would decide it, and what is known of why it is not so.
func (r *Row) judge() {
	r.Schema = schema.Name
	if r.Kind == "" {
		r.Kind = Measurement
		if r.Paper != nil {
			r.Kind = Number
		}
	}
	switch r.Kind {
	case Measurement:
		r.Verdict = Measured
	case Claim:
		if r.Verdict = claimVerdict(r.Ours, r.OursPM); r.nullHypothesis && r.Verdict == Supported {
			r.Verdict = Undecided
		}
	default:
		r.Verdict = r.numberVerdict()
	}
	if r.given != "" {
		r.Verdict, r.Note = ByConstruction, joined(r.Note, r.given)
	}
	switch {
	case r.Verdict == Undecided && r.Runs > 1:
		r.Note = joined(r.Note, runsText(r.Ours, r.OursPM, r.Runs))
	case r.Tolerance > 0 && r.Verdict != Exact && r.Verdict != NotComparable &&
		r.Verdict != ByConstruction:
		r.Note = joined(r.Note, "tolerance "+plusMinus(r.Tolerance, 0))
	}
	r.Known = ""
	if r.Verdict == Outside || r.Verdict == Contradicted {
		if r.Known = known(*r); r.Known != "" {
			r.Note = joined(r.Note, "known: "+r.Known)
		}
	}
}

func (r *Row) numberVerdict() Verdict {
	diff := math.Abs(r.Ours - *r.Paper)
	switch {
	case r.differs:
		return NotComparable
	case r.unit > 0 && math.Round(r.Ours/r.unit) == math.Round(*r.Paper/r.unit):
		return Exact
	case diff <= math.Hypot(r.OursPM, r.PaperPM)+r.Tolerance:
		return Inside
	}
	return Outside
}

// claimVerdict is that of a difference which should be above 0, with its interval.
func claimVerdict(diff, pm float64) Verdict {
	switch {
	case diff > pm:
		return Supported
	case diff < -pm:
		return Contradicted
	}
	return Undecided
}

// toDecide ends what runsText says.
const toDecide = " runs to decide"

// runsText says how many runs would leave 0 out of the interval of such a difference with a
// probability of 80 %, if it stays what it is: the interval must then be narrower by 1.96/(1.96 +
// 0.84), normal quantiles.
func runsText(diff, pm float64, runs int) string {
	const chance = (1.96 + 0.84) / 1.96
	n := float64(runs) * math.Pow(chance*pm/diff, 2)
	if !(n < 1e5) {
		return "more than 100000" + toDecide
	}
	digits := math.Pow10(max(0, int(math.Log10(n))-1)) // all but two of them
	return fmt.Sprintf("some %.0f%s", math.Ceil(n/digits)*digits, toDecide)
}

// beside times the learner's plain form, which must come to as many updates as the first of the
// row's runs; where it does not, rounding being another, the note says so.
func (r *Row) beside(ctx context.Context, learner string, updates int64, plain func() int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer ofPlain(ctx, learner)()
	began := measure.ThreadTime()
	n := plain()
	if took := (measure.ThreadTime() - began).Seconds(); n == updates {
		r.NaiveSeconds = at(took * float64(r.Runs))
		return
	}
	r.Note = strings.TrimPrefix(fmt.Sprintf("%s; the plain form makes %d updates in the first "+
		"run, not %d", r.Note, n, updates), "; ")
}

// OfKind returns the rows of a kind.
func OfKind(rows []Row, kind Kind) (of []Row) {
	for _, r := range rows {
		if r.Kind == kind {
			of = append(of, r)
		}
	}
	return of
}

// PaperText returns the paper's value with its interval, "-" where it has none.
func (r Row) PaperText() string {
	if r.Paper == nil {
		return "-"
	}
	return plusMinus(*r.Paper, r.PaperPM)
}

// OursText returns our value with its interval; a difference with its sign.
func (r Row) OursText() string {
	text := plusMinus(r.Ours, r.OursPM)
	if r.Kind == Claim && r.Ours > 0 {
		return "+" + text
	}
	return text
}

// QuantityText returns the quantity in words; that a claim's is a difference is left to its table.
func (r Row) QuantityText() string {
	return strings.NewReplacer("_percent", " %", "_", " ").Replace(strings.TrimSuffix(r.Quantity,
		"_difference"))
}

// difference returns a - b, one a run.
func difference(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

func plusMinus(v, pm float64) string {
	if pm < 1e-12*math.Abs(v) {
		pm = 0 // rounding errors of equal values
	}
	if pm == 0 && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	if pm == 0 {
		return fmt.Sprintf("%.4g", v)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(pm)))) // two digits of the interval
	if math.Abs(v) < 0.5*math.Pow10(-digits) {
		v = 0 // and not -0
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, v, digits, pm)
}
