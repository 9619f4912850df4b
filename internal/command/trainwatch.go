package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// watcher writes on stderr how a run goes.
type watcher struct {
	training.Silent
	t       *trainer
	badRow  func(error)
	planned func() // called when the run is about to learn; nil: nothing
}

// Progress is training.Observer's.
func (w *watcher) Progress() eval.Progress {
	stderr := w.t.cmd.ErrOrStderr()
	mode := w.t.output.progress.value
	if w.t.output.quiet {
		mode = "none"
	}
	if mode == "auto" {
		mode = "lines"
		if IsTerminal(stderr) {
			mode = "bar"
		}
	}
	switch mode {
	case "bar":
		return &progressBar{bar: bar{w: stderr}}
	case "json":
		return newProgressJSON(stderr)
	case "lines":
		return &progressLines{w: stderr, recent: recentName(&w.t.o),
			metrics: w.t.metrics.columns()}
	}
	return nil
}

// Timed is training.Observer's.
func (w *watcher) Timed(d time.Duration) { w.t.latency.add(d) }

// Planned is training.Observer's.
func (w *watcher) Planned(p *training.Plan) {
	w.t.plan = p
	if m := p.Memory; m != nil && !w.t.output.quiet {
		fmt.Fprintf(w.t.cmd.ErrOrStderr(), "memory: %s of %s: %s\n", inMiB(m.Planned()),
			&w.t.memory, m)
	}
	for line := range strings.Lines(p.String()) {
		w.t.output.note(w.t.cmd, "%s", strings.TrimSuffix(line, "\n"))
	}
	if w.planned != nil {
		w.planned()
	}
}

// passBytes is about how many bytes of memory a core goes over in a second.
const passBytes = 6e9

// Needs is training.Observer's.
func (w *watcher) Needs(n training.Need) {
	if w.t.output.quiet {
		return
	}
	each := ""
	if n.Each > 0 {
		each = fmt.Sprintf("; each example goes over %s of it, which takes some %.1f s",
			inMiB(n.Each), float64(n.Each)/passBytes)
	}
	fmt.Fprintf(w.t.cmd.ErrOrStderr(), "memory: %s with %s takes %s at most%s\n", n.Learner, n.What,
		inMiB(n.Held), each)
}

// BadRow is training.Observer's.
func (w *watcher) BadRow(err error) {
	if w.badRow == nil {
		w.badRow = warnBadRows(w.t.cmd.ErrOrStderr())
	}
	w.badRow(err)
}

// Odd is training.Observer's.
func (w *watcher) Odd(what string) {
	w.t.told.note(w.t.cmd.ErrOrStderr(), training.OddData, withFlags(what))
}

// Saved is training.Observer's.
func (w *watcher) Saved(s training.Saved) { w.t.saved = &s }

// Drifted is training.Observer's.
func (w *watcher) Drifted(d eval.Drift) {
	if w.t.output.quiet {
		return
	}
	what := map[string]string{training.DriftReset: "; the learner restarts",
		training.DriftForget: "; the learner forgets"}[w.t.o.OnDrift]
	fmt.Fprintf(w.t.cmd.ErrOrStderr(), "drift after %d examples: errors have risen (%.2f %% since "+
		"the last drift or the beginning)%s\n", d.Example, 100*d.Error, what)
}

// Learned is training.Observer's: with -v it says what was found in the data.
func (w *watcher) Learned(info dataset.Info) {
	note := func(format string, args ...any) { w.t.output.note(w.t.cmd, format, args...) }
	note("%s: %d examples, %d features, %d non-zeros, %d bytes of text", info.Format, info.Rows,
		info.Dim, info.NonZeros, info.Bytes)
	if format.Lookup(info.Kind).HasIndices() {
		note("features are numbered from %d (%s)", info.IndexBase, info.BaseFound)
	}
	switch {
	case len(info.Names) > 0:
		note("features have names: %s", someOf(info.Names))
	case w.t.o.HashBits > 0:
		note("names of features are hashed; %d features have several names", info.Shared)
	}
	if n := len(info.Classes); n > 0 {
		note("%d classes: %s", n, someOf(info.Classes))
	} else {
		note("label %q is -1, label %q is +1", orRest(info.Labels.Negative), info.Labels.Positive)
	}
	note("the longest example has length %g before normalising", info.MaxNorm)
}

// Warn is training.Observer's.
func (w *watcher) Warn(x training.Warning) {
	w.t.told.tell(w.t.cmd.ErrOrStderr(), x.Code, x.Text,
		nextOf(x, slices.Contains(w.t.o.Files, "-")))
}
