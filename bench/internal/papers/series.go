package papers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/internal/report"
)

// Series is experiments run one after the other. What each gave is kept in a cache at once, so that
// a run that was interrupted goes on where it was.
type Series struct {
	Experiments []Experiment
	Options     RunOptions // among several experiments, Runs is for those that draw
	Cache       Cache      // without a Dir nothing is kept
	Fresh       bool       // take nothing from the cache

	// Among several, an experiment that would probably take longer than what is left of Budget is
	// left out; 0 is no limit.
	Budget time.Duration

	// Say is called with each line of progress, in the form of fmt.Printf; may be nil.
	Say func(format string, args ...any)

	// Show is called with how far the series is, four times a second while an experiment runs, from
	// a goroutine of its own; the lines that this makes needless then don't go to Say. Hide is
	// called after each experiment, when there is nothing to be shown any more. Both may be nil.
	Show func(Standing)
	Hide func()
}

// Run hands the outcome of each experiment to done as it comes. Among several, one whose data are
// missing is left out, with the reason in its outcome. It ends with the first error, of an
// experiment, of done, or ctx's.
func (s *Series) Run(ctx context.Context, done func(Outcome) error) error {
	several := len(s.Experiments) > 1
	jobs := make([]job, len(s.Experiments))
	bar := &progress{show: s.Show, should: make([]float64, len(jobs)), now: time.Now}
	for i, e := range s.Experiments {
		j := s.plan(e, several)
		if jobs[i] = j; j.out.Skipped == "" && !j.out.Cached {
			bar.should[i] = e.About(j.o)
		}
	}
	started := time.Now()
	for i, j := range jobs {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		place := fmt.Sprintf("[%d/%d] %s", i+1, len(jobs), j.out.Name)
		left := s.Budget - time.Since(started)
		switch {
		case j.out.Skipped != "":
		case j.out.Cached:
			s.say("%s: as before (%.1f s then)", place, j.out.Seconds)
		case s.Budget > 0 && several && bar.should[i] > left.Seconds():
			j.out.Skipped = fmt.Sprintf("it takes about %.0f s, and %.0f s of the time budget "+
				"of %v are left", bar.should[i], max(0, left.Seconds()), s.Budget)
			bar.should[i] = 0
		default:
			if err := s.run(ctx, &j, bar, i, place); err != nil {
				return err
			}
		}
		if err := done(j.out); err != nil {
			return err
		}
	}
	return nil
}

// job is an experiment of a Series and what is known of its outcome.
type job struct {
	e   Experiment
	o   RunOptions
	key string // in the cache; "": it isn't kept
	out Outcome
}

// plan finds out what can be known before anything is run.
func (s *Series) plan(e Experiment, several bool) job {
	j := job{e: e, o: s.Options}
	if several && e.Runs == 1 {
		j.o.Runs = 0 // nothing is drawn
	}
	j.out = j.blank()
	if names := e.Missing(j.o.DataDir); several && names != nil {
		j.out.NoData, j.out.Skipped = true, "data are missing: "+strings.Join(names, ", ")
		return j
	}
	if s.Cache.Dir == "" {
		return j
	}
	var err error
	if j.key, err = Key(e, j.o); err != nil {
		s.say("%s is not kept: %v", e.Name, err)
		return j
	}
	if s.Fresh {
		return j
	}
	switch have, err := s.Cache.Load(j.key); {
	case err == nil:
		known := j.blank()
		j.out, j.out.LeftOut, j.out.Slow = have, known.LeftOut, known.Slow
	case !errors.Is(err, fs.ErrNotExist):
		s.say("%s is run again: %v", e.Name, err)
	}
	return j
}

// blank returns the outcome before it is known.
func (j *job) blank() Outcome {
	out := Outcome{Name: j.e.Name, Summary: j.e.Summary}
	if !j.o.Slow && j.o.Rows == "" {
		out.LeftOut, out.Slow = j.e.SlowRows, j.e.Slow
	}
	return out
}

// run runs experiment i and keeps what it gave.
func (s *Series) run(ctx context.Context, j *job, bar *progress, i int, place string) error {
	o, began, last, n := j.o, time.Now(), time.Now(), 0
	if s.Show == nil {
		s.say("%s: about %.0f s", place, math.Ceil(bar.should[i]))
	}
	o.Done = func(row Row) {
		j.o.done(row)
		n++
		bar.row()
		if s.Show == nil && time.Since(last) > 5*time.Second {
			last = time.Now()
			rows := "rows"
			if n == 1 {
				rows = "row"
			}
			s.say("%s: %d %s in %.0f s: %s %s %s, %s", place, n, rows, time.Since(began).Seconds(),
				row.Row, row.Quantity, row.OursText(), row.Verdict)
		}
	}
	o.Drawn = func(f report.Figure) {
		j.o.drawn(f)
		j.out.Figures = append(j.out.Figures, f)
	}
	bar.begin(i, j.out.Name)
	var err error
	j.out.Rows, err = Repro(ctx, j.e, o)
	j.out.Seconds, j.out.Date = time.Since(began).Seconds(), began.Format(time.DateOnly)
	bar.end()
	if s.Hide != nil {
		s.Hide()
	}
	if err != nil {
		return err
	}
	if j.key != "" {
		if err := s.Cache.Save(j.key, j.out); err != nil {
			s.say("%s is not kept: %v", j.out.Name, err)
		}
	}
	return nil
}

func (s *Series) say(format string, args ...any) {
	if s.Say != nil {
		s.Say(format, args...)
	}
}
