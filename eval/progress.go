package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/halfspace-ml/halfspace/learners"
)

// Status is how far a run is.
type Status struct {
	Examples, Errors           int64 // presented so far, and wrong predictions among them, all passes
	SinceExamples, SinceErrors int64 // the same since the last line
	Updates                    int64
	Proba                      *Probabilities // so far, all passes; nil if not asked for
	Epoch                      int            // the present pass, from 1
	Total                      int64          // examples there will be; 0 if not known
	Elapsed                    time.Duration  // since the start, reading included
}

// Progress shows how a run goes. Line is called after example 1, 2, 4, 8, ..., Step after every block, End once. A run on a whole data set
// calls Fit instead, each second or so and at its end.
type Progress interface {
	Line(Status)
	Step(Status)
	Fit(s learners.FitStatus, elapsed time.Duration)
	End(Status)
}

// Lines writes a table with a row at each doubling of the examples and one at the end, in the style of Vowpal Wabbit.
// Errors of w are not reported: progress is not worth ending a run for.
func Lines(w io.Writer) Progress { return &lines{w: w} }

type lines struct {
	w      io.Writer
	last   int64
	fitted bool // the header of Fit is written
}

func (p *lines) Fit(s learners.FitStatus, elapsed time.Duration) {
	if !p.fitted {
		fmt.Fprintf(p.w, "%14s %12s %10s %14s %14s %10s\n", "updates", "epochs", "violators", "margin", "bound", "seconds")
		p.fitted = true
	}
	fmt.Fprintf(p.w, "%14d %12d %10d %14.6g %14.6g %10.1f\n", s.Updates, s.Epochs, s.Violators, s.Margin, s.Bound, elapsed.Seconds())
}

func (p *lines) Line(s Status) {
	head, units, values := "", "", ""
	if q := s.Proba; q != nil {
		head, units = fmt.Sprintf(" %10s %10s %11s", "log-loss", "Brier", "calibration"), fmt.Sprintf(" %12s %12s %10s %10s %11s", "", "", "", "", "error")
		values = fmt.Sprintf(" %10.6f %10.6f %11.6f", q.LogLoss(), q.Brier(), q.CalibrationError())
	}
	if p.last == 0 {
		fmt.Fprintf(p.w, "%12s %10s %10s %12s %12s%s\n%12s %10s %10s%s\n",
			"examples", "error", "error", "updates", "examples/s", head, "", "so far", "since last", units)
	}
	p.last = s.Examples
	fmt.Fprintf(p.w, "%12d %10.6f %10.6f %12d %12s%s\n", s.Examples, share(s.Errors, s.Examples), share(s.SinceErrors, s.SinceExamples), s.Updates, rate(s), values)
}

func (p *lines) Step(Status) {}

func (p *lines) End(s Status) {
	if s.Examples > p.last {
		p.Line(s)
	}
}

// NDJSON writes the rows of Lines as JSON objects, one a line.
func NDJSON(w io.Writer) Progress { return &ndjson{enc: json.NewEncoder(w)} }

type ndjson struct {
	enc  *json.Encoder
	last int64
}

func (p *ndjson) Fit(s learners.FitStatus, elapsed time.Duration) {
	finite := func(v float64) *float64 {
		if v-v != 0 {
			return nil
		}
		return &v
	}
	p.enc.Encode(struct {
		Schema    string   `json:"schema"`
		Type      string   `json:"type"`
		Updates   int64    `json:"updates"`
		Epochs    int64    `json:"epochs"`
		Violators int      `json:"violators"`
		Margin    *float64 `json:"margin"` // null as long as there is none
		Bound     *float64 `json:"bound"`
		Seconds   float64  `json:"seconds"`
	}{"halfspace/1", "fit", s.Updates, s.Epochs, s.Violators, finite(s.Margin), finite(s.Bound), elapsed.Seconds()})
}

func (p *ndjson) Line(s Status) {
	p.last = s.Examples
	var logLoss, brier, calibration *float64
	if q := s.Proba; q != nil {
		v := [3]float64{q.LogLoss(), q.Brier(), q.CalibrationError()}
		logLoss, brier, calibration = &v[0], &v[1], &v[2]
	}
	p.enc.Encode(struct {
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
	}{"halfspace/1", "progress", s.Examples, share(s.Errors, s.Examples), share(s.SinceErrors, s.SinceExamples), s.Updates, s.Epoch, s.Elapsed.Seconds(),
		logLoss, brier, calibration})
}

func (p *ndjson) Step(Status) {}

func (p *ndjson) End(s Status) {
	if s.Examples > p.last {
		p.Line(s)
	}
}

// Bar draws a bar (a spinner where the total is not known), for terminals. It clears itself at the end.
func Bar(w io.Writer) Progress { return &bar{w: w} }

type bar struct {
	w     io.Writer
	bar   *progressbar.ProgressBar
	drawn time.Duration
}

func (p *bar) Line(Status) {}

func (p *bar) Fit(s learners.FitStatus, _ time.Duration) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(p.w), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("updates"), progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(fmt.Sprintf("%d violators, margin %.4g, at most %.4g", s.Violators, s.Margin, s.Bound))
	p.bar.Set64(s.Updates)
}

func (p *bar) Step(s Status) {
	if p.bar != nil && s.Elapsed-p.drawn < 100*time.Millisecond {
		return
	}
	p.drawn = s.Elapsed
	if p.bar == nil {
		total := s.Total
		if total == 0 {
			total = -1
		}
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("examples"),
			progressbar.OptionClearOnFinish())
	}
	p.bar.Set64(s.Examples)
	p.bar.Describe(fmt.Sprintf("error %.4f", share(s.Errors, s.Examples)))
}

func (p *bar) End(Status) {
	if p.bar != nil {
		p.bar.Exit()
		p.bar.Clear()
	}
}

func share(part, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// rate returns the examples per second, with a unit.
func rate(s Status) string {
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
