package papers

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/halfspace-ml/halfspace/internal/schema"
)

// Verdict says how our value stands to the paper's.
type Verdict string

// Verdicts of a row.
const (
	// an integer, equal; or a value that rounds to the printed digits
	Exact Verdict = "exact"
	// the 95 % intervals overlap; or as near as the note says
	Inside        Verdict = "inside"
	Outside       Verdict = "outside"        // they do not; the note says why
	NotComparable Verdict = "not-comparable" // the data differ from the paper's
)

// Row is one published value beside ours. Intervals are the half-widths of 95 % confidence
// intervals of the mean.
type Row struct {
	Schema       string   `json:"schema"`
	Experiment   string   `json:"experiment"` // paper/name
	Row          string   `json:"row"`        // data set, learner, parameters
	Quantity     string   `json:"quantity"`
	Paper        *float64 `json:"paper"`
	PaperPM      float64  `json:"paper_pm"`
	Ours         float64  `json:"ours"`
	OursPM       float64  `json:"ours_pm"`
	Runs         int      `json:"runs"`
	Verdict      Verdict  `json:"verdict"`
	Note         string   `json:"note"`
	Seconds      float64  `json:"seconds"`                 // learning, all runs
	PaperSeconds *float64 `json:"paper_seconds,omitempty"` // where the paper gives it, of one run
	// as Seconds, of the learner's plain form (internal/naive) in the same run: its time of the
	// first run, times Runs
	NaiveSeconds *float64 `json:"naive_seconds,omitempty"`
}

// meanPM returns the mean and the half-width of its 95 % confidence interval, by Student's t as in
// the OBPM paper.
func meanPM(v []float64) (mean, pm float64) {
	mean = stat.Mean(v, nil)
	if len(v) < 2 {
		return mean, math.Inf(1)
	}
	return mean, halfWidth(stat.StdDev(v, nil), len(v))
}

// halfWidth returns that of the interval of the mean of n values with standard deviation sd.
func halfWidth(sd float64, n int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975) * sd /
		math.Sqrt(float64(n))
}

// fill sets ours from the runs' values, and the verdict by the overlap of intervals unless one
// stands already.
func (r *Row) fill(v []float64) {
	r.Schema = schema.Name
	r.Ours, r.OursPM = meanPM(v)
	r.Runs = len(v)
	switch {
	case r.Verdict != "":
	case r.Paper == nil:
		r.Verdict = NotComparable
	case math.Abs(r.Ours-*r.Paper) <= r.OursPM+r.PaperPM:
		r.Verdict = Inside
	default:
		r.Verdict = Outside
	}
}

// fillAbove is fill where the paper says no more than that the value is above its own: inside
// unless our interval rules that out.
func (r *Row) fillAbove(v []float64) {
	r.fill(v)
	if r.Verdict != NotComparable {
		r.Verdict = Inside
		if r.Ours+r.OursPM <= *r.Paper {
			r.Verdict = Outside
		}
	}
}

// fillOrder is fillAbove for differences, one a run, that are above 0 in the paper; where they are
// not, the note goes on with why.
func (r *Row) fillOrder(diff []float64, why string) {
	r.Paper = at(0)
	r.fillAbove(diff)
	if r.Verdict == Outside {
		r.Note += "; " + why
	}
}

// fillCount sets ours from an integer of a run without draws: exact if equal, inside if within a
// share of the paper's.
func (r *Row) fillCount(v int64, within float64) {
	r.Schema, r.Runs, r.Ours = schema.Name, 1, float64(v)
	switch diff := math.Abs(r.Ours - *r.Paper); {
	case diff == 0:
		r.Verdict = Exact
	case diff <= within**r.Paper:
		r.Verdict = Inside
	default:
		r.Verdict = Outside
	}
}

// fillDigits sets ours from a value of a run without draws: exact if it rounds to the paper's,
// whose last digit counts unit; inside if within so many units of it.
func (r *Row) fillDigits(v, unit, within float64) {
	r.Schema, r.Runs, r.Ours = schema.Name, 1, v
	switch {
	case math.Round(v/unit) == math.Round(*r.Paper/unit):
		r.Verdict = Exact
	case math.Abs(v-*r.Paper) <= within*unit:
		r.Verdict = Inside
	default:
		r.Verdict = Outside
	}
}

// beside times the learner's plain form, which must come to as many updates as the first of the
// row's runs; where it does not, rounding being another, the note says so.
func (r *Row) beside(updates int64, plain func() int64) {
	began := time.Now()
	n := plain()
	if took := time.Since(began).Seconds(); n == updates {
		r.NaiveSeconds = at(took * float64(r.Runs))
		return
	}
	r.Note = strings.TrimPrefix(fmt.Sprintf("%s; the plain form makes %d updates in the first "+
		"run, not %d", r.Note, n, updates), "; ")
}

// PaperText returns the paper's value with its interval, "-" where it has none.
func (r Row) PaperText() string {
	if r.Paper == nil {
		return "-"
	}
	return plusMinus(*r.Paper, r.PaperPM)
}

// OursText returns our value with its interval.
func (r Row) OursText() string { return plusMinus(r.Ours, r.OursPM) }

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
