// Package papers runs the tables and figures of the papers again, beside their published values:
// one file a paper, and what they share (experiments and series of them, rows, figures, reports).
//
// A [Row] is a published value beside ours, with a verdict. It has nothing in common with a
// measure.Result, which is a time beside a peer's, with a ratio.
package papers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/report"
)

// Experiment is a published table or figure that can be run again.
type Experiment struct {
	Name    string   // paper/name
	Summary string   // one line
	Runs    int      // the paper's, or more to decide its claims; 1 where nothing is drawn
	Needs   []string // public data files
	// published figures it makes that have no experiment of their own, as paper/name: names for it,
	// too
	Draws []string
	Run   func(ctx context.Context, o RunOptions) error

	// Seconds are those that it takes without what needs Slow, on two cores of an AMD EPYC (Zen
	// 4), 2026-11-22; they decide what fits into a time budget. SlowSeconds are so many more with
	// Slow, from the CPU seconds of docs/papers.md.
	Seconds, SlowSeconds float64

	Slow     string // what only RunOptions.Slow includes; "" where that is nothing
	SlowRows int    // so many rows more; 0 where it makes the same ones otherwise
	// which rows, by their names, there are only with RunOptions.Slow, or are others with it
	slowRow func(row string) bool
}

// files returns the data files that the experiment needs, in dir.
func (e Experiment) files(dir string) []string {
	var out []string
	for _, name := range e.Needs {
		out = append(out, filepath.Join(dir, name))
	}
	return out
}

// DataFiles returns the public data files that anything here reads, in dir; none if that is "".
func DataFiles(dir string) []string {
	var out []string
	if dir == "" {
		return nil
	}
	for _, e := range Experiments() {
		for _, name := range e.files(dir) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Missing returns the names of the data files that the experiment needs and dir doesn't have.
func (e Experiment) Missing(dir string) []string {
	var out []string
	for i, name := range e.files(dir) {
		if _, err := os.Stat(name); dir == "" || err != nil {
			out = append(out, e.Needs[i])
		}
	}
	return out
}

// RunOptions of an experiment. Runs, Seed and Slow decide its values, nothing else does. Rows
// decides which of them there are.
type RunOptions struct {
	// 0: the experiment's; at least 2, since a row is a mean with its interval, but 1 where
	// nothing is drawn
	Runs    int
	Seed    uint64 // of the first run; the others count on from it
	Slow    bool   // also the rows that take longer than all others together
	Rows    string // only rows that have all of these words, slow ones too; "" is all
	DataDir string
	Pool    *engine.Pool
	Done    func(Row)           // called with each row as it is finished; may be nil
	Drawn   func(report.Figure) // called with each figure; may be nil

	more bool   // claims that take more runs than the experiment's get them: Runs was 0
	name string // the experiment's
	rows *[]Row // those that it has made
}

// wants reports whether a row of that name is wanted. Experiments whose rows take long ask before
// they make one; of the others' rows those that are not wanted are dropped.
func (o RunOptions) wants(row string) bool { return hasWords(row, o.Rows) }

// slow reports whether a row of that name is wanted, although it takes long.
func (o RunOptions) slow(row string) bool { return (o.Slow || o.Rows != "") && o.wants(row) }

// hasWords reports whether a text has all words of another. They end at spaces and commas.
func hasWords(text, of string) bool {
	cut := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	}
	words := cut(text)
	for _, w := range cut(of) {
		if !slices.Contains(words, w) {
			return false
		}
	}
	return true
}

func (o RunOptions) drawn(figures ...report.Figure) {
	for _, f := range figures {
		if o.Drawn != nil {
			o.Drawn(f)
		}
	}
}

func (o RunOptions) done(r Row) {
	if o.Done != nil {
		o.Done(r)
	}
}

// collect runs an experiment, or a part of one, and returns the rows that it makes.
func collect(name string, o RunOptions, run func(o RunOptions) error) (rows []Row, err error) {
	o.name, o.rows = name, &rows
	err = run(o)
	return rows, err
}

// put adds finished rows to the experiment's.
func (o RunOptions) put(rows ...Row) {
	for _, r := range rows {
		*o.rows = append(*o.rows, r)
		o.done(r)
	}
}

// add puts a row of the runs' values.
func (o RunOptions) add(r Row, values ...float64) Row {
	r.Experiment = o.name
	r.fill(values)
	o.put(r)
	return r
}

// addAll puts a claim of several differences, each one a run. note, if not nil, says which one is
// the least sure.
func (o RunOptions) addAll(r Row, diffs [][]float64, note func(least int) string) {
	r.Experiment = o.name
	if least := r.fillAll(diffs); note != nil {
		r.Note = joined(r.Note, note(least))
	}
	o.put(r)
}

// claim puts what the paper says: the differences, one a run, are above 0 where it holds.
func (o RunOptions) claim(text, quantity, says string, diff []float64) {
	o.add(Row{Kind: Claim, Row: text, Quantity: quantity + "_difference",
		Note: "the paper: " + says}, diff...)
}

var experiments = map[string]Experiment{}

func register(e Experiment) { experiments[e.Name] = e }

// Experiments returns all of them, by name.
func Experiments() []Experiment {
	var out []Experiment
	for _, e := range experiments {
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Repro runs an experiment. The data files that it needs must be in o.DataDir.
func Repro(ctx context.Context, e Experiment, o RunOptions) ([]Row, error) {
	if o.Runs == 0 {
		o.Runs, o.more = e.Runs, true
	}
	if e.Runs == 1 && o.Runs != 1 {
		return nil, fmt.Errorf("bench: %s: %d runs, want 1: nothing is drawn, and all would be "+
			"equal", e.Name, o.Runs)
	}
	if e.Runs > 1 && o.Runs < 2 {
		return nil, fmt.Errorf("bench: %s: %d runs, want at least 2: a row is a mean with its "+
			"interval", e.Name, o.Runs)
	}
	if names := e.Missing(o.DataDir); names != nil {
		return nil, fmt.Errorf("bench: %s needs %s: %w", e.Name, strings.Join(names, ", "),
			fs.ErrNotExist)
	}
	if done := o.Done; done != nil { // of rows that are finished side by side, too
		var one sync.Mutex
		o.Done = func(r Row) {
			one.Lock()
			defer one.Unlock()
			if o.wants(r.Row) {
				done(r)
			}
		}
	}
	rows, err := collect(e.Name, o, func(o RunOptions) (err error) {
		pprof.Do(ctx, pprof.Labels("experiment", e.Name), func(ctx context.Context) {
			err = e.Run(ctx, o)
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", e.Name, err)
	}
	for i := range rows {
		rows[i].Slow = o.Slow && e.slowRow != nil && e.slowRow(rows[i].Row)
	}
	return slices.DeleteFunc(rows, func(r Row) bool { return !o.wants(r.Row) }), nil
}

// withWords returns whether a row's name has all of these words.
func withWords(words string) func(row string) bool {
	return func(row string) bool { return hasWords(row, words) }
}

// drawRuns draws what the runs from lo to hi begin with, each from its seed alone, on the pool: the
// same for any number of workers. It is for what is not timed.
func drawRuns[D any](ctx context.Context, o RunOptions, lo, hi int, draw func(seed uint64) (D,
	error)) ([]D, error) {
	drawn := make([]D, hi-lo)
	err := sideBySide(ctx, o, hi-lo, func(_ RunOptions, i int) (err error) {
		drawn[i], err = draw(o.Seed + uint64(lo+i))
		return err
	})
	return drawn, err
}

// perRun returns the values that part returns for each run, [value][run]. Runs go side by side.
func perRun(ctx context.Context, o RunOptions, part func(o RunOptions, run int) ([]float64,
	error)) ([][]float64, error) {
	byRun := make([][]float64, o.Runs)
	err := sideBySide(ctx, o, o.Runs, func(o RunOptions, run int) (err error) {
		byRun[run], err = part(o, run)
		return err
	})
	if err != nil {
		return nil, err
	}
	values := make([][]float64, len(byRun[0]))
	for _, of := range byRun {
		for k, v := range of {
			values[k] = append(values[k], v)
		}
	}
	return values, nil
}

// sideBySide calls part for 0 to n-1, each once, on as many workers as the pool has: runs, or lines
// of a table, that need nothing of each other. A part is on one thread, so that measure.ThreadTime
// is its CPU time, and its learners get no pool. Where the result goes must not depend on their
// order.
func sideBySide(ctx context.Context, o RunOptions, n int, part func(o RunOptions,
	i int) error) error {
	s := &parts{ctx: ctx, o: o, part: part, errs: make([]error, n)}
	s.o.Pool = nil
	pprof.SetGoroutineLabels(ctx) // which workers that start now get, too
	if err := o.Pool.Run(ctx, n, s); err != nil {
		return context.Cause(ctx)
	}
	return errors.Join(s.errs...)
}

// parts is the job of sideBySide.
type parts struct {
	ctx    context.Context
	o      RunOptions
	part   func(o RunOptions, i int) error
	errs   []error
	failed atomic.Bool
}

// Part is engine.Job's. After an error nothing is begun.
func (s *parts) Part(i int) {
	if s.failed.Load() {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pprof.SetGoroutineLabels(s.ctx)
	defer pprof.SetGoroutineLabels(s.ctx)
	if s.errs[i] = s.part(s.o, i); s.errs[i] != nil {
		s.failed.Store(true)
	}
}
