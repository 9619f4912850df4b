package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
)

// Codes of warnings beside those of package eval.
const (
	unknownFeatures = "unknown-features" // that training never had
	oneLabel        = "one-label"        // all examples of training have the same
	restarted       = "restarted"        // a run that was cut, gone on from elsewhere
	oddData         = "odd-data"         // such as padding behind packed data
	passedOver      = "passed-over"      // examples that the posterior could not take up
)

// warnings are what a result is told with where it may not be what it seems: a line each on
// stderr, and a list in JSON. They concern the result's truth, so -q doesn't silence them.
type warnings []warning

// warning is a code for programs and a text for people.
type warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// leastOneLabel is how many examples of one label, and none of another, are told of.
const leastOneLabel = 20

// tell adds one: what is so, and what to do next.
func (ws *warnings) tell(w io.Writer, code, what, next string) {
	ws.note(w, code, what+"; "+next)
}

// note adds one that says all there is to say.
func (ws *warnings) note(w io.Writer, code, text string) {
	fmt.Fprintf(w, "halfspace: warning: %s\n", text)
	*ws = append(*ws, warning{code, text})
}

// tellUnknown tells of non-zeros whose features training never had.
func (ws *warnings) tellUnknown(w io.Writer, info dataset.Info, o dataset.Options, where string) {
	if info.Unknown == 0 {
		return
	}
	next := "check that these are the data you mean"
	appended := 0
	if o.Bias == "append" {
		appended = 1
	}
	if format.Lookup(info.Format).HasIndices() && info.IndexBase == 0 &&
		info.Dim-appended == o.Dim+1 {
		next = "if the indices count from 1 here, give --index-base 1"
	}
	rows := "rows have"
	if info.UnknownRows == 1 {
		rows = "row has"
	}
	ws.tell(w, unknownFeatures, fmt.Sprintf(
		"%s%d %s %s of features beyond the %d of training, of which nothing was learned",
		where, info.UnknownRows, rows, plural(int(info.Unknown), "non-zero"), o.Dim), next)
}

// tellRestart tells that a run that was cut wasn't gone on where it stopped.
func (t *trainer) tellRestart(res eval.Result) {
	if !t.wasCut || !t.untilConverged || res.Resumed {
		return
	}
	t.report.Warnings.tell(t.cmd.ErrOrStderr(), restarted,
		"the model is one of a run that was cut over other examples, or with other options",
		"it goes on from its weights, at the first example")
}

// warningText says what is odd about a result. feature names one of eval.Unscaled.
func warningText(x eval.Warning, feature string) string {
	c := x.Count
	switch x.Code {
	case eval.NotFinite:
		return fmt.Sprintf("%d of %d scores are not finite numbers", c.NotFinite, c.Examples)
	case eval.OneClass:
		missed := c.Examples - c.Positives
		if c.Predicted == 0 {
			missed = c.Positives
		}
		return fmt.Sprintf("all %d examples are predicted as one class, though %d are of the other",
			c.Examples, missed)
	case eval.Worse:
		return fmt.Sprintf("the error, %.2f %%, is above the rarer class's share, %.2f %%: "+
			"always guessing the other would do better",
			100*c.Error(), 100*float64(c.Rarer())/float64(c.Examples))
	case eval.LabelRuns:
		return fmt.Sprintf("the labels come in long runs: they change %s, where mixed they would "+
			"about %.0f times; to repeat the last label is right nearly always, "+
			"so the progressive error says little", plural(int(c.Changes), "time"), x.Expected)
	case eval.Unscaled:
		return fmt.Sprintf("%s is %s times as large as the typical one, so it alone decides",
			feature, times(x.Ratio))
	}
	return x.Code
}

// adviser knows what helps a learner.
type adviser struct {
	config   learners.Config
	bias     bool // there is one
	unscaled bool // a feature is far larger than the others
	stdin    bool // the examples came from there

	predicting bool // nothing is learned any more
}

// next is what to do about a warning.
func (a adviser) next(code string) string {
	switch code {
	case eval.NotFinite:
		if a.predicting {
			return "check that the features are of the size that training's were"
		}
		return "take a smaller step, smaller features, or --normalize unit"
	case eval.LabelRuns:
		if a.stdin {
			return "mix the rows, or read them from a file with --shuffle"
		}
		return "add --shuffle"
	case eval.Unscaled:
		return "bring the columns to one scale, or take a learner that minds it less: " +
			scaleFree()
	}
	if a.predicting {
		return "check the labels, and that these are data like training's"
	}
	// The hypothesis is no better than none.
	switch settings := settingsOf(a.config); {
	case a.unscaled && !a.config.Traits().ScaleFree:
		return "the features' scale may be why"
	case !a.bias:
		return "give it a bias (--bias append), or check the labels"
	case slices.ContainsFunc(settings, func(f field) bool { return f.flag == "kernel" }):
		return "try other settings (--kernel, --shuffle, --epochs), or check the labels"
	}
	return "try a kernel (as -a tbp --kernel rbf --sigma 1, or --rff 200), --shuffle or more " +
		"--epochs, or check the labels"
}

// scaleFree names the learners of streams that don't mind the features' sizes.
func scaleFree() string {
	var names []string
	for _, name := range learners.Names() {
		if e, err := learners.Lookup(name); err == nil {
			if c := e.Config(); c.Traits().ScaleFree && c.Traits().Stream {
				names = append(names, "-a "+name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// featureName names a feature as the data do.
func featureName(f int, o dataset.Options, info dataset.Info) string {
	if o.Bias == "append" {
		if f--; f < 0 {
			return "the bias feature"
		}
	}
	if !format.Lookup(info.Format).HasColumns() {
		return fmt.Sprintf("feature %d", f+info.IndexBase)
	}
	if info.LabelCol > 0 && f >= info.LabelCol-1 {
		f++
	}
	if f < len(info.Header) && info.Header[f] != "" {
		return fmt.Sprintf("column %q", info.Header[f])
	}
	return fmt.Sprintf("column %d", f+1)
}

// times is a large ratio for people: two digits that mean something.
func times(ratio float64) string {
	if ratio >= 1e7 {
		return fmt.Sprintf("%.1e", ratio)
	}
	unit := math.Pow(10, math.Floor(math.Log10(ratio))-1)
	return fmt.Sprintf("%.0f", math.Round(ratio/unit)*unit)
}

// warn tells what may be wrong with what was learned. measured are the scores of the final
// hypothesis on the training set, where these were taken: they are worth more than those on the
// way; those of the test are worth most.
func (t *trainer) warn(res eval.Result, info dataset.Info, measured *eval.Count, biased bool) {
	w := t.cmd.ErrOrStderr()
	a := adviser{config: t.config, stdin: slices.Contains(t.files, "-"),
		bias: t.opts.Bias == "append" || biased, unscaled: unscaled(res)}
	list := &t.report.Warnings
	one := info.Positives == 0 || info.Positives == info.Rows
	if one && info.Rows >= leastOneLabel && t.before == nil {
		label := info.Labels.Negative
		if info.Positives > 0 {
			label = info.Labels.Positive
		}
		list.tell(w, oneLabel, fmt.Sprintf(
			"all %d examples have the label %q, so nothing was told apart", info.Rows, label),
			"learn examples of the other one too, or check the labels")
	}
	tell := func(where string, ws []eval.Warning) {
		for _, x := range ws {
			feature := ""
			if x.Code == eval.Unscaled {
				feature = featureName(x.Feature, t.opts, info)
			}
			list.tell(w, x.Code, where+warningText(x, feature), a.next(x.Code))
		}
	}
	var scores []eval.Warning
	for _, x := range res.Warnings {
		switch x.Code {
		case eval.LabelRuns:
			tell("", []eval.Warning{x})
		case eval.Unscaled:
			if !t.config.Traits().ScaleFree {
				tell("", []eval.Warning{x})
			}
		default:
			scores = append(scores, x)
		}
	}
	switch diverging := res.NotFinite > 0; {
	case diverging:
		tell("in training ", scores)
	case t.tested != nil:
	case measured != nil:
		tell("on the training set ", measured.Warnings())
	default:
		tell("in the later half of training ", scores)
	}
	if t.tested != nil {
		a.predicting = t.tested.count.NotFinite > 0 // it is the test that is odd
		tell("in the test ", t.tested.count.Warnings())
		o := fixed(t.opts, info)
		list.tellUnknown(w, t.tested.info, o, "in the test ")
	}
}

// unscaled reports whether a feature was found far larger than the others.
func unscaled(res eval.Result) bool {
	return slices.ContainsFunc(res.Warnings, func(w eval.Warning) bool {
		return w.Code == eval.Unscaled
	})
}

// tested is what was counted in --test.
type tested struct {
	count eval.Count
	info  dataset.Info
}

// diverged is the error of a learner whose state is no longer finite, whether or not it is to be
// saved. The state is looked at only where a score or a weight says that it may be so.
func diverged[T engine.Float](t *trainer, l learners.Learner[T], res eval.Result) error {
	if odd := func(w float64) bool { return w-w != 0 }; res.NotFinite == 0 &&
		!slices.ContainsFunc(l.Weights(), odd) {
		return nil
	}
	err := model.Diverged(t.learner, l)
	if err == nil {
		return nil
	}
	what, next := splitNext(err.Error())
	if t.model != "" {
		what = t.model + ": " + what
	}
	return &fail{codeFailed, &explained{what, err}, strings.TrimSpace(upper(t.kept()) + ". " +
		next)}
}

// useless is the error of a result that says nothing at all.
func useless(where string, c eval.Count) error {
	if c.Examples == 0 || c.NotFinite < c.Examples {
		return nil
	}
	return &fail{codeFailed, fmt.Errorf("%sno score is a finite number", where),
		"The features are too large for the weights: bring them to the size of training's, " +
			"or train with --precision f64."}
}

// toConverge says what to do about a run that did not.
func (t *trainer) toConverge(res eval.Result) string {
	var s []string
	why := ""
	if unscaled(res) && !t.config.Traits().ScaleFree {
		s = append(s, "bring the columns to one scale")
	}
	if t.maxUpdates > 0 && res.Updates >= t.maxUpdates {
		s = append(s, "raise --max-updates")
	} else if res.Mistaken != nil {
		s = append(s, "raise --tau, the share of the examples that a member sees")
	} else if t.config.Traits().Stream {
		why = "The examples can't be separated, " +
			"or not before their features are of one scale (--normalize unit). "
	}
	switch known := remedies(t.config); {
	case known != nil:
		s = append(s, known...)
	case t.config.Traits().SoftDelta:
		s = append(s, "make the margin soft (--soft-delta)")
	}
	if t.config.Traits().ScaleFree {
		s = append(s, "take a learner that passes once: "+scaleFree())
	} else if t.config.Traits().Stream {
		s = append(s, "take a learner for data that can't be separated "+
			"(obpm for some epochs, pa --variant 1, svm)")
	}
	if len(s) == 1 {
		return why + upper(s[0]) + "."
	}
	return why + upper(strings.Join(s[:len(s)-1], ", ")) + ", or " + s[len(s)-1] + "."
}

// remedies are the changes of settings that a Config names, as flags; nil if it names none.
func remedies(c learners.Config) (changes []string) {
	for _, r := range c.Traits().Remedies {
		changes = append(changes, r.Change+" --"+r.Setting)
	}
	return changes
}

// warnPassed tells of more than one example in a hundred that were passed over or dropped since
// before.
func (t *trainer) warnPassed(res eval.Result, before *learners.PosteriorReport) {
	p, of := t.report.Posterior, res.Presented
	if p == nil {
		return
	}
	n := p.Passed + p.Lost
	if res.Fit != nil { // which begins anew, and counts once
		of = res.Examples
	} else if before != nil {
		n -= before.Passed + before.Lost
	}
	if n <= of/100 {
		return
	}
	c := t.config
	if _, inner, ok := base(c); ok {
		c, _ = inner.Interface().(learners.Config)
	}
	next := remedies(c)
	settings := settingsOf(c)
	i := slices.IndexFunc(settings, func(f field) bool { return f.auto.IsValid() })
	if i >= 0 && c.Traits().Stream {
		next = append(next, "let it be estimated: --"+settings[i].flag+" auto")
	}
	if len(next) == 0 || unscaled(res) {
		next = append([]string{"bring the columns to one scale"}, next...)
	}
	what := fmt.Sprintf("%d of %d examples, %.1f %%, were passed over or dropped, "+
		"and nothing was learned of them", n, of, 100*float64(n)/float64(of))
	t.report.Warnings.tell(t.cmd.ErrOrStderr(), passedOver, what, strings.Join(next, ", or "))
}
