package command

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// progressLines writes a table with a row at each doubling of the examples and one at the end, in
// the style of Vowpal Wabbit. Errors of w are not reported: progress is not worth ending a run for.
type progressLines struct {
	w      io.Writer
	last   int64 // examples of the last row
	fitted bool  // the header of Fit is written

	recent  string   // of what eval.Status.Recent is; "": there is none
	metrics []metric // beside the error; of Recent where it is there
}

func (p *progressLines) Fit(s learner.FitStatus, elapsed time.Duration) {
	if !p.fitted {
		fmt.Fprintf(p.w, "%14s %12s %10s %14s %14s %10s\n",
			"updates", "epochs", "violators", "margin", "bound", "seconds")
		p.fitted = true
	}
	fmt.Fprintf(p.w, "%14d %12d %10d %14.6g %14.6g %10.1f\n",
		s.Updates, s.Epochs, s.Violators, s.Margin, s.Bound, elapsed.Seconds())
}

func (p *progressLines) Line(s eval.Status) {
	head, units, values := "", "", ""
	of, name, late := s.Metrics, "", s.ErrorSince()
	if s.Recent != nil {
		of, name, late = s.Recent, p.recent, s.Recent.Error()
	}
	for _, k := range p.metrics {
		value := "-"
		if of != nil {
			value = k.number(of)
		}
		width := max(10, len(name))
		head += fmt.Sprintf(" %*s", width, k.column)
		units += fmt.Sprintf(" %*s", width, name)
		values += fmt.Sprintf(" %*s", width, value)
	}
	if q := s.Proba; q != nil {
		head += fmt.Sprintf(" %10s %10s %11s", "log-loss", "Brier", "calibration")
		units += fmt.Sprintf(" %10s %10s %11s", "", "", "error")
		values += fmt.Sprintf(" %10.6f %10.6f %11.6f", q.LogLoss(), q.Brier(), q.CalibrationError())
	}
	if p.last == 0 {
		if name == "" {
			name = "since last"
		}
		if units != "" {
			units = fmt.Sprintf(" %12s %12s%s", "", "", units)
		}
		fmt.Fprintf(p.w, "%12s %10s %*s %12s %12s%s\n%12s %10s %*s%s\n",
			"examples", "error", max(10, len(name)), "error", "updates", "examples/s", head,
			"", "so far", max(10, len(name)), name, units)
	}
	p.last = s.Examples
	fmt.Fprintf(p.w, "%12d %10.6f %*.6f %12d %12s%s\n",
		s.Examples, s.Error(), max(10, len(p.recent)), late, s.Updates, rate(s), values)
}

func (p *progressLines) Step(eval.Status) {}

func (p *progressLines) End(s eval.Status) {
	if s.Examples > p.last {
		p.Line(s)
	}
}

// rate returns the examples per second, with a unit.
func rate(s eval.Status) string {
	if s.Elapsed <= 0 {
		return "-"
	}
	r := float64(s.Examples) / s.Elapsed.Seconds()
	switch {
	case r >= 1e6:
		return fmt.Sprintf("%.2fM", r/1e6)
	case r >= 1e3:
		return fmt.Sprintf("%.1fk", r/1e3)
	}
	return fmt.Sprintf("%.0f", r)
}

// progressJSON writes the rows of progressLines as JSON objects, one a line.
type progressJSON struct {
	enc  *json.Encoder
	last int64
}

func newProgressJSON(w io.Writer) *progressJSON { return &progressJSON{enc: json.NewEncoder(w)} }

// fitLine is a row of a run on a whole data set.
type fitLine struct {
	Schema    string   `json:"schema"`
	Type      string   `json:"type"`
	Updates   int64    `json:"updates"`
	Epochs    int64    `json:"epochs"`
	Violators int      `json:"violators"`
	Margin    *float64 `json:"margin"` // null as long as there is none
	Bound     *float64 `json:"bound"`
	Seconds   float64  `json:"seconds"`
}

// progressLine is a row of a run over examples.
type progressLine struct {
	Schema           string   `json:"schema"`
	Type             string   `json:"type"`
	Examples         int64    `json:"examples"`
	Error            float64  `json:"error"`
	ErrorSince       float64  `json:"error_since"`
	Updates          int64    `json:"updates"`
	Epoch            int      `json:"epoch"`
	Seconds          float64  `json:"seconds"`
	LogLoss          *float64 `json:"log_loss,omitempty"` // these three with probabilities only
	Brier            *float64 `json:"brier,omitempty"`
	CalibrationError *float64 `json:"calibration_error,omitempty"`
	// With --window or --fading, and with --metrics.
	Recent  *lineMetrics `json:"recent,omitempty"`
	Metrics *lineMetrics `json:"metrics,omitempty"`
}

func (p *progressJSON) Fit(s learner.FitStatus, elapsed time.Duration) {
	p.enc.Encode(fitLine{schema, "fit", s.Updates, s.Epochs, s.Violators, finite(s.Margin),
		finite(s.Bound), elapsed.Seconds()})
}

func (p *progressJSON) Line(s eval.Status) {
	p.last = s.Examples
	l := progressLine{Schema: schema, Type: "progress", Examples: s.Examples, Error: s.Error(),
		ErrorSince: s.ErrorSince(), Updates: s.Updates, Epoch: s.Epoch,
		Seconds: s.Elapsed.Seconds()}
	if q := s.Proba; q != nil {
		v := [3]float64{q.LogLoss(), q.Brier(), q.CalibrationError()}
		l.LogLoss, l.Brier, l.CalibrationError = &v[0], &v[1], &v[2]
	}
	l.Recent, l.Metrics = lineMetricsOf(s.Recent), lineMetricsOf(s.Metrics)
	p.enc.Encode(l)
}

func (p *progressJSON) Step(eval.Status) {}

func (p *progressJSON) End(s eval.Status) {
	if s.Examples > p.last {
		p.Line(s)
	}
}

// progressBar draws a bar, or a spinner where the total is not known, and takes it away at the end.
type progressBar struct {
	bar   bar
	drawn time.Duration // since the start
}

func (p *progressBar) Line(eval.Status) {}

func (p *progressBar) Fit(s learner.FitStatus, _ time.Duration) {
	p.bar.draw(-1, s.Updates, "updates", fmt.Sprintf("%d violators, margin %.4g, at most %.4g",
		s.Violators, s.Margin, s.Bound))
}

func (p *progressBar) Step(s eval.Status) {
	if p.bar.shown() && s.Elapsed-p.drawn < 100*time.Millisecond {
		return
	}
	p.drawn = s.Elapsed
	total := s.Total
	if total == 0 {
		total = -1
	}
	p.bar.draw(total, s.Examples, "examples", fmt.Sprintf("error %.4f", s.Error()))
}

func (p *progressBar) End(eval.Status) { p.bar.clear() }
