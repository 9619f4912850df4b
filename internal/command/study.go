package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// A study trains several times what train does once. It has train's flags that say what is learned
// and from what, by the trainer that reads them.

// oneRun are the flags of train that are about one run and its model, which no study has.
var oneRun = []string{"from", "checkpoint-every", "predict-only", "test", "proba", "margin-report",
	"margin-svm", "latency", "mem-budget", "any-format", "model", "drift", "on-drift",
	"drift-keep", "resume",
	"metrics", "window", "fading", "delay", "id-col", "wait-max", "wait-bytes", "calibrate",
	"html", "threshold", "shard", "shard-by", "trace", "rows", "replay"}

// notRepeated are flags that say nothing of what is learned: a command line that repeats a setting
// has none of them.
var notRepeated = []string{"threads", "impl", "json", "quiet", "verbose", "progress", "config",
	"profile"}

// studyFlags gives cmd the flags of train, except those that without leaves out and, unless with
// names them, those of one run. It returns what they fill.
func studyFlags(cmd *cobra.Command, without func(*pflag.Flag) bool,
	with ...string) *trainer {
	t := &trainer{}
	fs := cmd.Flags()
	fs.SortFlags = false
	trainCmd(t).Flags().VisitAll(func(f *pflag.Flag) {
		if (!slices.Contains(oneRun, f.Name) || slices.Contains(with, f.Name)) &&
			(without == nil || !without(f)) {
			fs.AddFlag(f)
		}
	})
	helpAllFlag(cmd)
	t.cmd = cmd
	return t
}

// studyReport is what all studies print with --json.
type studyReport struct {
	Features int          `json:"features"`
	Classes  []string     `json:"classes"` // null where there are two
	BadRows  int          `json:"bad_rows"`
	Threads  int          `json:"threads"`
	Seconds  totalSeconds `json:"seconds"`
	Warnings warnings     `json:"warnings"`
}

// totalSeconds is the time that a study took.
type totalSeconds struct {
	Total float64 `json:"total"`
}

// studied reports what was found in the data, and how long the study took.
func (t *trainer) studied(info dataset.Info, total time.Duration) studyReport {
	return studyReport{info.Dim, info.Classes, info.BadRows, t.machine.threads,
		totalSeconds{total.Seconds()}, t.told}
}

// begin reads what the flags say of the machine and of one run.
func (t *trainer) begin(cmd *cobra.Command, args []string) error {
	t.started, t.told = time.Now(), warnings{}
	fs := cmd.Flags()
	if err := t.options(fs, args); err != nil {
		return err
	}
	if err := t.machine.use(fs); err != nil {
		return err
	}
	t.o.Threads = t.machine.threads
	t.plan = &training.Plan{Config: t.o.Config}
	return nil
}

// mixesFolds has folds shuffled, where the flags don't say: else data that are sorted by label, as
// published sets often are, would be learned one label after another. Runs until convergence, many
// of which need the order of the data, keep it.
func (t *trainer) mixesFolds(fs *pflag.FlagSet) bool {
	if fs.Changed("shuffle") || t.o.UntilConverged {
		return false
	}
	t.o.Shuffle = true
	return true
}

// studyEnv is what a study is given: it says what is odd about the data.
func (t *trainer) studyEnv() training.Env {
	return training.Env{Observer: &watcher{t: t}, Machine: machine.This(0)}
}

// studyError gives an error of a study its exit code and next step.
func (t *trainer) studyError(err error) error {
	e := (*training.Error)(nil)
	switch {
	case errors.Is(err, training.ErrStopped):
		return &fail{CodeStopped, ErrStopped, "Nothing was written."}
	case errors.Is(err, training.ErrDiverged) && errors.As(err, &e):
		what, next := splitNext(e.Text(fieldFlags(t.cmd.Flags())))
		return &fail{CodeFailed, &explained{what, err}, next}
	}
	return t.explain(err)
}

// studyProgress shows how far a study is.
type studyProgress struct {
	w     io.Writer
	mode  string
	score string // what is judged; "": errors
	bar   bar
	next  float64 // share at which the next line is due
	last  time.Duration
}

// newStudyProgress is that of the flag --progress, of a study that judges by a score.
func (t *trainer) newStudyProgress(score string) *studyProgress {
	p := &studyProgress{w: t.cmd.ErrOrStderr(), mode: t.output.progress.value, score: score}
	switch {
	case t.output.quiet:
		p.mode = "none"
	case p.mode == "auto" && IsTerminal(p.w):
		p.mode = "bar"
	case p.mode == "auto":
		p.mode = "lines"
	}
	p.bar.w = p.w
	return p
}

// studyLine is a line of progress for programs.
type studyLine struct {
	Schema   string   `json:"schema"`
	Type     string   `json:"type"`
	Done     int64    `json:"done"`  // examples, or folds
	Share    *float64 `json:"share"` // of all the work; null where it is not known
	Settings int      `json:"settings"`
	Error    float64  `json:"error"`
	Metric   string   `json:"metric,omitempty"`
	Score    *float64 `json:"score,omitempty"`
	Seconds  float64  `json:"seconds"`
	Left     *float64 `json:"seconds_left"`
}

// show tells how far it is: a bar on terminals, lines at each tenth, or where the share isn't known
// at each doubling of the time. score is what is judged, where that isn't errors.
func (p *studyProgress) show(done int64, unit string, share float64, settings int, errors,
	score float64, elapsed, left time.Duration) {
	text := fmt.Sprintf("error %.4f", errors)
	if p.score != "" {
		text = fmt.Sprintf("%s %.4f", scoreName(p.score), score)
	}
	if settings > 0 {
		text = Plural(settings, "setting") + ", best " + text
	}
	if left > 0 {
		text += ", " + shortTime(left) + " left"
	}
	switch p.mode {
	case "none":
		return
	case "bar":
		if !p.bar.shown() || elapsed-p.last >= 100*time.Millisecond {
			p.last = elapsed
			p.bar.drawShare(share, text)
		}
		return
	}
	if share > 0 && share < p.next || share <= 0 && elapsed < 2*p.last {
		return
	}
	p.next, p.last = float64(int(share*10)+1)/10, elapsed
	if p.mode == "json" {
		l := studyLine{Schema: schema, Type: "study", Done: done, Settings: settings,
			Error: errors, Seconds: elapsed.Seconds()}
		if p.score != "" {
			l.Metric, l.Score = p.score, &score
		}
		if share > 0 {
			s := left.Seconds()
			l.Share, l.Left = &share, &s
		}
		json.NewEncoder(p.w).Encode(l)
		return
	}
	fmt.Fprintf(p.w, "%d %s: %s\n", done, unit, text)
}

// end takes the bar away.
func (p *studyProgress) end() { p.bar.clear() }

// shortTime is a time for people, to a tenth of its unit.
func shortTime(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// repeated is the command line of train that does what flags say: those that were given, without
// those that change nothing, those in also as they are there, and the files.
func (t *trainer) repeated(also [][2]string, args []string) string {
	words := []string{"halfspace", "train"}
	add := func(name, value string) {
		switch {
		case name == "learner":
			words = slices.Insert(words, 2, "-a", quoted(value))
		case value == "true" && t.cmd.Flags().Lookup(name).NoOptDefVal != "":
			words = append(words, "--"+name)
		default:
			words = append(words, "--"+name, quoted(value))
		}
	}
	named := func(name string) bool {
		return slices.ContainsFunc(also, func(a [2]string) bool { return a[0] == name })
	}
	trainCmd(&trainer{}).Flags().VisitAll(func(f *pflag.Flag) {
		here := t.cmd.Flags().Lookup(f.Name)
		if here == nil || !here.Changed || slices.Contains(oneRun, f.Name) ||
			slices.Contains(notRepeated, f.Name) || named(f.Name) {
			return
		}
		for _, value := range texts(here) {
			add(f.Name, value)
		}
	})
	for _, a := range also {
		add(a[0], a[1])
	}
	for _, name := range args {
		words = append(words, quoted(name))
	}
	return strings.Join(words, " ")
}

// texts are what was given for a flag, as often as it must be given again.
func texts(f *pflag.Flag) []string {
	switch v := f.Value.(type) {
	case *setting:
		return v.given()
	case pflag.SliceValue:
		if strings.HasSuffix(v.(pflag.Value).Type(), "Array") { // whose texts may have commas
			return v.GetSlice()
		}
		return []string{strings.Join(v.GetSlice(), ",")}
	}
	return []string{f.Value.String()}
}

// quoted is a word of a shell's command line.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:=,+@%", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
