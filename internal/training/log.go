package training

import (
	"context"
	"log/slog"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// BadRowsLogged is how many skipped rows Env.Logger has a record of at level Warn; those behind
// them are at level Debug, since a file may have millions.
const BadRowsLogged = 10

// observer is what follows the run: the caller's, its logger, both, or nothing.
func (e Env) observer() Observer {
	o := e.Observer
	if o == nil {
		o = Silent{}
	}
	if e.Logger == nil {
		return o
	}
	return &logged{Observer: o, log: e.Logger}
}

// logged writes records of what an Observer is called with, and calls that.
type logged struct {
	Observer
	log     *slog.Logger
	badRows int
}

func (l *logged) Progress() eval.Progress { return &loggedProgress{l.Observer.Progress(), l.log} }

func (l *logged) Planned(p *Plan) {
	l.log.Info("planned", "files", p.Files, "format", p.Format, "features", p.Features,
		"examples", p.Examples, "learner", p.Learner, "config", p.Config,
		"precision", p.Precision, "seed", p.Seed, "threads", p.Threads, "way", string(p.Way))
	l.Observer.Planned(p)
}

func (l *logged) Needs(n Need) {
	l.log.Warn("much memory", "learner", n.Learner, "of", n.What, "bytes", n.Held)
	l.Observer.Needs(n)
}

func (l *logged) BadRow(err error) {
	level := slog.LevelWarn
	if l.badRows++; l.badRows > BadRowsLogged {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, "row skipped", "error", err.Error())
	l.Observer.BadRow(err)
}

func (l *logged) Odd(text string) {
	l.log.Warn("odd data", "text", text)
	l.Observer.Odd(text)
}

func (l *logged) Saved(s Saved) {
	l.log.Info("model written", "path", s.Path, "sha256", s.SHA256, "examples", s.Presented)
	l.Observer.Saved(s)
}

func (l *logged) Drifted(d eval.Drift) {
	l.log.Warn("drift", "example", d.Example, "error", d.Error)
	l.Observer.Drifted(d)
}

func (l *logged) Learned(i dataset.Info) {
	l.log.Info("data read", "rows", i.Rows, "bad_rows", i.BadRows, "features", i.Dim,
		"bytes", i.Bytes)
	l.Observer.Learned(i)
}

func (l *logged) Warn(w Warning) {
	l.log.Warn("result", "code", w.Code, "text", w.Text)
	l.Observer.Warn(w)
}

// loggedProgress writes lines at level Debug and the end at Info, and calls next, which may be nil.
type loggedProgress struct {
	next eval.Progress
	log  *slog.Logger
}

func (p *loggedProgress) Line(s eval.Status) {
	p.log.Debug("learning", statusOf(s)...)
	if p.next != nil {
		p.next.Line(s)
	}
}

func (p *loggedProgress) Step(s eval.Status) {
	if p.next != nil {
		p.next.Step(s)
	}
}

func (p *loggedProgress) Fit(s learner.FitStatus, elapsed time.Duration) {
	p.log.Debug("fitting", "updates", s.Updates, "epochs", s.Epochs, "violators", s.Violators,
		"seconds", elapsed.Seconds())
	if p.next != nil {
		p.next.Fit(s, elapsed)
	}
}

func (p *loggedProgress) End(s eval.Status) {
	p.log.Info("learned", statusOf(s)...)
	if p.next != nil {
		p.next.End(s)
	}
}

func statusOf(s eval.Status) []any {
	return []any{"examples", s.Examples, "errors", s.Errors, "updates", s.Updates,
		"epoch", s.Epoch, "seconds", s.Elapsed.Seconds()}
}
