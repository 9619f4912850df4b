package training

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Codes of warnings beside those of package eval.
const (
	UnknownFeatures = "unknown-features" // that training never had
	UnknownLabels   = "unknown-labels"   // that training never had
	OneLabel        = "one-label"        // all examples of training have the same
	Restarted       = "restarted"        // a run that was cut, gone on from elsewhere
	OddData         = "odd-data"         // such as padding behind packed data; see Observer.Odd
	PassedOver      = "passed-over"      // examples that the posterior could not take up
	Diverged        = "diverged"         // one of several that are compared; see Compare
)

// leastOneLabel is from how many examples of one label, and none of another, there is a warning: a
// few of one label are no wonder at the beginning of a stream.
const leastOneLabel = 20

// Warning says that a result may not be what it seems, and what is known of it that helps to say
// what to do.
type Warning struct {
	Code string
	Text string

	Config     learner.Config // of the learner
	Bias       bool           // the hypothesis has one
	Unscaled   bool           // a feature was found far larger than the others
	Sparse     bool           // of eval.Uncentred: rows may lack features
	Predicting bool           // it is of data that are predicted, not learned
	Base       bool           // of UnknownFeatures: the indices look as if they counted from 1
}

// NewUnknown returns the warning of non-zeros whose features training never had; where begins its
// text. ok is false if there are none.
func NewUnknown(info dataset.Info, o dataset.Options, where string) (w Warning, ok bool) {
	if info.Unknown == 0 {
		return w, false
	}
	appended := 0
	if o.Bias == "append" {
		appended = 1
	}
	rows, values := "rows have", "non-zeros"
	if info.UnknownRows == 1 {
		rows = "row has"
	}
	if info.Unknown == 1 {
		values = "non-zero"
	}
	return Warning{Code: UnknownFeatures, Predicting: true,
		Text: fmt.Sprintf(
			"%s%d %s %d %s of features beyond the %d of training, of which nothing was learned",
			where, info.UnknownRows, rows, info.Unknown, values, o.Dim),
		Base: format.Lookup(info.Kind).HasIndices() && info.IndexBase == 0 &&
			info.Dim-appended == o.Dim+1,
	}, true
}

// NewForeign returns the warning of rows whose labels training never had; where begins its text. ok
// is false if there are none.
func NewForeign(info dataset.Info, where string) (w Warning, ok bool) {
	if info.Foreign == 0 {
		return w, false
	}
	names, more := info.ForeignLabels, ""
	if len(names) > 5 {
		names, more = names[:5], ", ..."
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strconv.Quote(name)
	}
	rows, them := "rows have labels", "them"
	if info.Foreign == 1 {
		rows, them = "row has a label", "it"
	}
	return Warning{Code: UnknownLabels, Predicting: true,
		Text: fmt.Sprintf("%s%d %s that training never had (%s%s): what is predicted of %s "+
			"is an error", where, info.Foreign, rows, strings.Join(list, ", "), more, them)}, true
}

// WarningText says what is odd about a result. name is that of the feature of eval.Unscaled, or of
// the warning's classes.
func WarningText(x eval.Warning, name string) string {
	if x.Classes > 0 {
		return classesText(x, name)
	}
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
		times := "times"
		if c.Changes == 1 {
			times = "time"
		}
		return fmt.Sprintf("the labels come in long runs: they change %d %s, where mixed they "+
			"would about %.0f times; to repeat the last label is right nearly always, "+
			"so the progressive error says little", c.Changes, times, x.Expected)
	case eval.Unscaled:
		return fmt.Sprintf("%s is %s times as large as the typical one, so it alone decides",
			name, times(x.Ratio))
	case eval.Uncentred:
		return fmt.Sprintf("the values lie to one side of 0 (%.0f %% of their squares is their "+
			"mean's), and only hyperplanes through 0 are learned", 100*x.Ratio)
	}
	return x.Code
}

// classesText is WarningText of classes of those names.
func classesText(x eval.Warning, names string) string {
	c := x.Count
	is, each := "class "+names+" is", ""
	if x.Classes > 1 {
		is, each = "classes "+names+" are", " each"
	}
	switch x.Code {
	case eval.OneClass:
		return fmt.Sprintf("all %d examples are predicted as %s, though %d are of other classes",
			c.Examples, names, c.Errors)
	case eval.Worse:
		return fmt.Sprintf("the error, %.2f %%, is above that of always guessing %s, %.2f %%",
			100*c.Error(), names, 100*float64(c.Examples-c.Positives)/float64(c.Examples))
	case eval.NeverPredicted:
		return is + " never predicted, though there are 10 examples or more" + each
	case eval.RareClass:
		return fmt.Sprintf("%s of fewer than 5 of the %d examples%s", is, c.Examples, each)
	}
	return x.Code
}

// classNames names the classes that a warning is about.
func classNames(x eval.Warning, info dataset.Info) string {
	names := info.Classes
	if names == nil {
		names = []string{info.Labels.Negative, info.Labels.Positive}
	}
	name := fmt.Sprintf("number %d", x.Class)
	if x.Class < len(names) && names[x.Class] != "" {
		name = strconv.Quote(names[x.Class])
	}
	if x.Classes > 1 {
		name += fmt.Sprintf(" and %d more", x.Classes-1)
	}
	return name
}

// warnRestart warns that a run that was cut wasn't gone on where it stopped.
func (j *Job) warnRestart(res eval.Result) {
	if j.wasCut && j.o.UntilConverged && !res.Resumed {
		j.observer.Warn(Warning{Code: Restarted, Config: j.config,
			Text: "the model is one of a run that was cut over other examples, or with other " +
				"options"})
	}
}

// warn warns of what may be wrong with what was learned. measured are the scores of the final
// hypothesis on the training set, where these were taken: they are worth more than those on the
// way; those of the test are worth most.
func (j *Job) warn(r *Result, measured *eval.Count, biased bool) {
	res, info := r.Counts, r.Info
	known := Warning{Config: j.config, Bias: r.Bias || biased, Unscaled: r.Unscaled}
	tell := func(code, text string) {
		w := known
		w.Code, w.Text = code, text
		j.observer.Warn(w)
	}
	say := func(where string, x eval.Warning) {
		feature := ""
		if x.Code == eval.Unscaled {
			feature = featureName(x.Feature, j.data, info)
		} else if x.Classes > 0 {
			feature = classNames(x, info)
		}
		tell(x.Code, where+WarningText(x, feature))
	}
	one := info.Classes == nil && (info.Positives == 0 || info.Positives == info.Rows)
	if one && info.Rows >= leastOneLabel && j.before == nil {
		label := info.Labels.Negative
		if info.Positives > 0 {
			label = info.Labels.Positive
		}
		tell(OneLabel, fmt.Sprintf(
			"all %d examples have the label %q, so there are no two classes", info.Rows, label))
	}
	var scores []eval.Warning
	for _, x := range res.Warnings {
		switch x.Code {
		case eval.LabelRuns:
			say("", x)
		case eval.Unscaled:
			if !j.traits.ScaleFree {
				say("", x)
			}
		case eval.Uncentred: // unless it was asked for, or the model is so
			if !one && j.asFound(known.Bias) {
				known.Sparse = x.Sparse
				say("", x)
			}
		default:
			scores = append(scores, x)
		}
	}
	where := "in the later half of training "
	switch diverging := res.NotFinite > 0; {
	case diverging:
		where = "in training "
	case r.Test != nil:
		scores = nil
	case measured != nil:
		where, scores = "on the training set ", measured.Warnings()
	}
	for _, x := range scores {
		say(where, x)
	}
	warnClasses(r, say)
	if r.Test != nil {
		known.Predicting = r.Test.Count.NotFinite > 0 // it is the test that is odd
		for _, x := range r.Test.Count.Warnings() {
			say("in the test ", x)
		}
		if w, ok := NewUnknown(r.Test.Info, alike(j.data, info), "in the test "); ok {
			j.observer.Warn(w)
		}
		if w, ok := NewForeign(r.Test.Info, "in the test "); ok {
			j.observer.Warn(w)
		}
	}
}

// asFound reports whether a linear learner has no bias, and nobody has said anything about one.
func (j *Job) asFound(bias bool) bool {
	return j.traits.Linear && !bias && j.o.From == "" && j.o.Rho == 0 &&
		(j.o.Bias == "" || j.o.Bias == "auto")
}

// warnClasses says of which classes there may be something wrong.
func warnClasses(r *Result, say func(where string, x eval.Warning)) {
	if m := r.Counts.Metrics; m != nil {
		for _, x := range m.Rare() {
			say("", x)
		}
		if r.Test == nil && r.Counts.Epochs <= 1 { // of more the first says little of the end
			for _, x := range m.Warnings() {
				if x.Code != eval.Worse { // as long as little was learned it is no wonder
					say("in training ", x)
				}
			}
		}
	}
	if r.Test == nil || r.Test.Metrics == nil {
		return
	}
	for _, x := range r.Test.Metrics.Warnings() {
		say("in the test ", x)
	}
}

// warnPassed warns of more than one example in a hundred that the posterior skipped or dropped
// since met.
func (j *Job) warnPassed(r *Result, met *learner.PosteriorReport) {
	p, of := r.Posterior, r.Counts.Presented
	if p == nil {
		return
	}
	n := p.Passed + p.Lost
	if r.Counts.Fit != nil { // which begins anew, and counts once
		of, n = r.Counts.Examples, max(p.Passed, p.Lost) // an example may be among both
	} else if met != nil {
		n -= met.Passed + met.Lost
	}
	if n <= of/100 {
		return
	}
	j.observer.Warn(Warning{Code: PassedOver, Config: j.config, Unscaled: r.Unscaled,
		Text: fmt.Sprintf("%d of %d examples, %.1f %%, were passed over or dropped, and nothing "+
			"was learned of them", n, of, 100*float64(n)/float64(of))})
}

// unscaled reports whether a feature was found far larger than the others.
func unscaled(res eval.Result) bool {
	return slices.ContainsFunc(res.Warnings, func(w eval.Warning) bool {
		return w.Code == eval.Unscaled
	})
}

// featureName names a feature as the data do.
func featureName(f int, o dataset.Options, info dataset.Info) string {
	if o.Bias == "append" {
		if f--; f < 0 {
			return "the bias feature"
		}
	}
	p := model.Prep{Kinds: info.Kinds, Columns: info.Header, LabelCol: info.LabelCol,
		Names: info.Names, Dim: info.Dim}
	named, columns := p.FeatureNames(), format.Lookup(info.Kind).HasColumns()
	switch {
	case columns && f < p.Numbers() && f < len(named) && named[f] != "":
		return fmt.Sprintf("column %q", named[f])
	case f < len(named) && named[f] != "":
		return fmt.Sprintf("feature %q", named[f])
	case !columns || info.Kinds != "":
		return fmt.Sprintf("feature %d", f+info.IndexBase)
	case info.LabelCol > 0 && f >= info.LabelCol-1:
		f++
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
