package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// warnings come with a result that may not be what it seems: a line each on stderr, and a list in
// JSON. They concern the result's truth, so -q doesn't silence them.
type warnings []warning

// warning is a code for programs and a text for people.
type warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// tell adds one: what is so, and what to do next.
func (ws *warnings) tell(w io.Writer, code, what, next string) {
	ws.note(w, code, what+"; "+next)
}

// note adds one that says all there is to say.
func (ws *warnings) note(w io.Writer, code, text string) {
	fmt.Fprintf(w, "halfspace: warning: %s\n", text)
	*ws = append(*ws, warning{code, text})
}

// nextOf is what to do about a warning; stdin says that the examples came from there.
func nextOf(w training.Warning, stdin bool) string {
	switch w.Code {
	case training.UnknownFeatures:
		if w.Base {
			return "if the indices count from 1 here, give --index-base 1"
		}
		return "check that these are the data you mean"
	case training.UnknownLabels:
		return "check how the labels are written"
	case training.OneLabel:
		return "learn examples of the other one too, or check the labels"
	case training.Restarted:
		return "it goes on from its weights, at the first example"
	case training.PassedOver:
		return nextOfPassed(w)
	case training.Diverged:
		return "take a smaller step, smaller features, or --normalize unit"
	case eval.NotFinite:
		if w.Predicting {
			return "check that the features are of the size that training's were"
		}
		return "take a smaller step, smaller features, or --normalize unit"
	case eval.LabelRuns:
		if stdin {
			return "mix the rows, or read them from a file with --shuffle"
		}
		return "add --shuffle"
	case eval.RareClass:
		return "learn more of it, check the labels for misspelt ones, or name the classes that " +
			"there are (--classes)"
	case eval.NeverPredicted:
		return "let rare classes weigh more (--class-weight balanced), take more --epochs, or " +
			"check their labels"
	case eval.Unscaled:
		if !w.Config.Traits().Linear {
			return "bring the columns to one scale (--scale std)"
		}
		return "bring the columns to one scale (" + asColumns + "), or take a learner that minds " +
			"it less: " + scaleFree()
	case eval.Uncentred:
		next := "take them as columns of csv are taken (" + asColumns + ")"
		if w.Config.Traits().ScaleFree {
			next = "give it a bias (--bias append)"
		} else if w.Sparse { // their means stay
			next = "write them as csv (halfspace convert), whose columns are scaled and get a bias"
		}
		return next + ", or say that this is meant (--bias none)"
	}
	if w.Predicting {
		return "check the labels, and that these are data like training's"
	}
	// The hypothesis is no better than none.
	switch settings := settingsOf(w.Config); {
	case w.Unscaled && !w.Config.Traits().ScaleFree:
		return "the features' scale may be why"
	case !w.Bias:
		return "give it a bias (--bias append), or check the labels"
	case slices.ContainsFunc(settings, func(f field) bool { return f.flag == "kernel" }):
		return "try other settings (--kernel, --shuffle, --epochs), or check the labels"
	}
	if !w.Config.Traits().Linear { // a kernel's, or on features made from the data's
		return "try other settings (the learner's, --shuffle, --epochs), or check the labels"
	}
	return "try a kernel (as -a " + learner.Default() + " --kernel rbf --sigma 1, or --rff 200), " +
		"--shuffle or more --epochs, or check the labels"
}

// asColumns is what "auto" stands for where the rows are columns of csv: of three steps that help
// together where the first alone helps little.
const asColumns = "--scale std --bias append --normalize unit"

// nextOfPassed is what to do about examples that the posterior could not take up.
func nextOfPassed(w training.Warning) string {
	c := w.Config
	if _, inner, ok := base(c); ok {
		c, _ = inner.Interface().(learner.Config)
	}
	traits := c.Traits()
	next := remedies(traits)
	settings := settingsOf(c)
	i := slices.IndexFunc(settings, func(f field) bool { return f.auto.IsValid() })
	if i >= 0 && traits.Stream {
		next = append(next, "let it be estimated: --"+settings[i].flag+" auto")
	}
	if len(next) == 0 || w.Unscaled {
		next = append([]string{"bring the columns to one scale (--scale std)"}, next...)
	}
	return strings.Join(next, ", or ")
}

// scaleFree names the learners of streams that don't mind the features' sizes.
func scaleFree() string {
	return "-a " + strings.Join(learnersThat(func(t learner.Traits) bool {
		return t.ScaleFree && t.Stream
	}), ", -a ")
}

// useless is the error of a result that says nothing at all.
func useless(where string, c eval.Count) error {
	if c.Examples == 0 || c.NotFinite < c.Examples {
		return nil
	}
	return &fail{CodeFailed, fmt.Errorf("%sno score is a finite number", where),
		"The features are too large for the weights: bring them to the size of training's, " +
			"or train with --precision f64."}
}

// remedies are the changes of settings that a learner names, as flags; nil if it names none.
func remedies(t learner.Traits) (changes []string) {
	for _, r := range t.Remedies {
		changes = append(changes, r.Change+" --"+r.Setting)
	}
	return changes
}
