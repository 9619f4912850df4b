package training

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/calibration"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/spelling"
	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners" // which Options.Learner names
	"github.com/halfspace-ml/halfspace/model"
)

// DefaultMaxUpdates is Options.MaxUpdates where that is nil: it ends runs that would never
// converge, after some seconds on inner products, minutes on weights.
const DefaultMaxUpdates = 100_000_000

// DefaultSeed is Options.Seed where that is nil.
const DefaultSeed = 1

// MaxThreads is the most that Options.Threads may be.
const MaxThreads = dataset.MaxWorkers

// MaxWindow is the most that Options.Window and Options.Delay may be.
const MaxWindow = 1 << 28

// Defaults of Options.WaitMax and WaitBytes.
const (
	DefaultWaitMax   = 100_000
	DefaultWaitBytes = 64 << 20
)

// maxCurve is the most that Options.Curve may be.
const maxCurve = 100_000

// Options are all that decides a run's result. The zero value of a field is its default; Files must
// be there, and Learner or From. JSON and TOML hold them; see the tags.
type Options struct {
	// Learner is the name of the learner; "" with From stands for the model's. Default ""; one of
	// learner.Names, without From not "".
	Learner string `json:"learner,omitempty" toml:"learner,omitempty"`
	// Precision is that of weights and examples; "" stands for f32, or with From for the model's.
	// Default ""; "f32" or "f64".
	Precision string `json:"precision,omitempty" toml:"precision,omitempty"`
	// Seed is that of all draws; nil stands for DefaultSeed, or with From for the model's. Default
	// nil; any number.
	Seed *uint64 `json:"seed,omitempty" toml:"seed,omitempty"`

	// Config is the learner's settings, fields that are 0 where 0 is no value of them standing for
	// their defaults (learner.WithDefaults); nil stands for all defaults with Settings put in. With
	// From it may repeat the model's, and not change them. Default nil; any that are valid.
	Config learner.Config `json:"-" toml:"-"`
	// Literal takes Config as it is, zeros for values. Default false.
	Literal bool `json:"-" toml:"-"`
	// Settings are what is put into the learner's defaults where Config is nil. Keys are those of
	// the Config in JSON ("tau", "base_config", ...). With From they may repeat the model's, and
	// not change them. Default nil; what makes a valid Config.
	Settings map[string]any `json:"config,omitempty" toml:"config,omitempty"`

	// Files are those of the examples, read one after another; "-" is standard input. Default nil;
	// one or more.
	Files []string `json:"files,omitempty" toml:"files,omitempty"`
	Data

	// How the examples are gone through. One pass in the order of the data reads a stream of any
	// length; all else reads them into memory first.

	// Epochs is the number of passes. 0 stands for 1, and for FewEpochs with Shuffle where the
	// files are of columns, as csv is, and have fewer than FewRows rows (of FewFields values at
	// most in all): of small files one pass leaves too much unlearned. Not so with From, Rows,
	// Delay, IDCol, Drift, Window or Fading, nor of standard input or another source, nor with
	// learners of a posterior, which counts each example once, or of a soft margin (Traits.Soft).
	// Default 0; 0 or more.
	Epochs int `json:"epochs,omitempty" toml:"epochs,omitempty"`
	// UntilConverged passes until a whole pass makes no update; it excludes Epochs. Default false.
	UntilConverged bool `json:"until_converged,omitempty" toml:"until_converged,omitempty"`
	// Pairs has the learner, where it is one of two classes and there are more, learn each two of
	// them apart, and vote, not each against the rest. Default false.
	Pairs bool `json:"pairs,omitempty" toml:"pairs,omitempty"`
	// ClassWeight multiplies the weight of each example by a factor of its label: "a=2,b=0.5", of
	// labels as they stand in the data, 1 for others; or "balanced", n/(K n_k) for each of K
	// labels, n_k of n examples having it. In memory these are counted beforehand, in a stream up
	// to and with the example. A weight scales the step, where Traits.Weights says so. "" is none.
	// The model doesn't keep it. Default ""; "balanced", or factors of 0 or more.
	ClassWeight string `json:"class_weight,omitempty" toml:"class_weight,omitempty"`

	// MaxUpdates is the number of updates that ends a run UntilConverged, which else ends when it
	// was presented 10^9 examples, or so many if that is more; 0 is no limit, nil stands for
	// DefaultMaxUpdates, or for none with learners that have a limit of their own. Default nil;
	// 0 or more.
	MaxUpdates *int64 `json:"max_updates,omitempty" toml:"max_updates,omitempty"`
	// Shuffle draws a fresh order for each pass from Seed. Default false.
	Shuffle bool `json:"shuffle,omitempty" toml:"shuffle,omitempty"`

	// Shard is the part of an ensemble's members, or of the classes, that the run learns: "2/4" is
	// the second of four. Parts that see the same examples learn, together, what the whole would,
	// to the bit: see package shard, and Traits.Shard for the learners that can. "" is the whole.
	// Default ""; K/N, 1 <= K <= N, at most one part for each 64 members, or for each class.
	Shard string `json:"shard,omitempty" toml:"shard,omitempty"`
	// ShardBy says what Shard cuts: ShardMembers, or ShardClasses, of which each is learned against
	// all others: of three or more. Default ShardMembers; ShardMembers or ShardClasses.
	ShardBy string `json:"shard_by,omitempty" toml:"shard_by,omitempty"`

	// Rows is the part of the rows of Files that the run learns: "2/4" is the second of four, cut
	// as dataset.RowShard says. Models of all parts can be merged: see package shard. Test is read
	// whole. "" is all rows. Default ""; K/N, 1 <= K <= N, at most dataset.MaxRowShards.
	Rows string `json:"rows,omitempty" toml:"rows,omitempty"`

	// Options of learners that pass over a whole data set, with UntilConverged; which take them,
	// their Traits say.

	// SoftDelta above 0 makes the margin soft: it is the size, in units of the examples' length, of
	// a coordinate that each example has of its own. Default 0; 0 or more.
	SoftDelta float64 `json:"soft_delta,omitempty" toml:"soft_delta,omitempty"`
	// ActiveSet passes over the examples that were updates until they make none, before the next
	// pass over all; see learner.FitOptions. Default false.
	ActiveSet bool `json:"active_set,omitempty" toml:"active_set,omitempty"`
	// Halving begins with an accuracy of 1 and halves it after each pass without updates, down to
	// the learner's; see learner.FitOptions. Default false.
	Halving bool `json:"halving,omitempty" toml:"halving,omitempty"`

	// Drift names what watches the errors that are made before examples are learned, and finds
	// where they rise: see eval.DriftDetectors. With "" nothing does. Default ""; one of
	// eval.DriftDetectors.
	Drift string `json:"drift,omitempty" toml:"drift,omitempty"`
	// OnDrift is what to do where drift is found: DriftReport says so, and the others change the
	// learner, too, and have the detector begin anew. DriftReset makes it a new one; DriftForget
	// has it forget but for DriftKeep (learner.Forgetter): which learners can, Traits.Forgets says;
	// others are refused. "" stands for DriftReport. It goes with Drift. Default ""; one of
	// DriftPolicies.
	OnDrift string `json:"on_drift,omitempty" toml:"on_drift,omitempty"`
	// DriftKeep is the share of what was learned that DriftForget keeps; 0 stands for
	// DefaultDriftKeep. Default 0; 0 to 1.
	DriftKeep float64 `json:"drift_keep,omitempty" toml:"drift_keep,omitempty"`

	// Rho above 0 is the value, in units of the features, of a feature that is appended to each
	// example. Its weight is the bias of learners of hyperplanes through the origin. It excludes a
	// Bias of "append". Default 0; 0 to the largest float32.
	Rho float64 `json:"rho,omitempty" toml:"rho,omitempty"`

	// Model is the file to which the model is written; "" is none. Default ""; any name.
	Model string `json:"model,omitempty" toml:"model,omitempty"`
	// From is the file of a model that the run goes on from, with its settings and its preparation
	// of examples; with "" the run begins anew. Default ""; the name of a model file.
	From string `json:"from,omitempty" toml:"from,omitempty"`
	// Resume goes on where the run that wrote Model was stopped or killed, with its settings: at
	// the next example of the same pass, in the same order, with all that was counted, so that the
	// model at the end is, to the byte, the one of a run that wasn't stopped. Files must give the
	// examples again from their beginning: what was learned is read and compared, and not learned,
	// so it takes the time of reading. They may be longer by then where they are a stream. Fields
	// that decide the result may repeat the run's, and not change them; OnError and MaxLine may be
	// others for what follows. What is tallied (Proba, AUC, Window, Fading, Curve) is the run's;
	// more of it, or a window of another size, counts from here. ErrFinished of a model whose run
	// came to its end, ErrChanged for other examples. It excludes From. Default false.
	Resume bool `json:"resume,omitempty" toml:"resume,omitempty"`
	// PredictOnly writes to Model what predicts, and not what learning on needs. Default false.
	PredictOnly bool `json:"predict_only,omitempty" toml:"predict_only,omitempty"`
	// CheckpointEvery is how often Model is written on the way: "100000" is in examples, "60s" in
	// time (see time.ParseDuration); "" is never. The file that it replaces is kept as Model with
	// ".1" behind the name. Default ""; above 0.
	CheckpointEvery string `json:"checkpoint_every,omitempty" toml:"checkpoint_every,omitempty"`

	// Test are files on which the errors are counted afterwards, prepared as the training set.
	// Default nil; any number of files, none of them standard input.
	Test []string `json:"test,omitempty" toml:"test,omitempty"`
	// Proba tallies probabilities, too: each example's before it is learned. Default false.
	Proba bool `json:"proba,omitempty" toml:"proba,omitempty"`
	// AUC tallies the scores of two classes, too, so that the area under the ROC curve is known:
	// some 10 ns an example, 128 KiB. Default false.
	AUC bool `json:"auc,omitempty" toml:"auc,omitempty"`
	// Window is the number of last examples of which metrics are kept beside those of all; 0 keeps
	// none. It takes 56 bytes for each. Default 0; 0 to MaxWindow.
	Window int `json:"window,omitempty" toml:"window,omitempty"`
	// Fading keeps metrics in which the weight of each example is multiplied by it with each one
	// that follows: about 1/(1-Fading) of them count. It excludes Window; 0 keeps none. Default 0;
	// 0 or more, below 1.
	Fading float64 `json:"fading,omitempty" toml:"fading,omitempty"`
	// Delay is how many more examples are predicted before the label of one comes: each is
	// predicted by what was learned of labels that had come. What is learned in the end is the
	// same. The examples that wait are in memory. One pass only. Default 0; 0 to MaxWindow.
	Delay int `json:"delay,omitempty" toml:"delay,omitempty"`
	// IDCol is where the id of a row is, as dataset.Options.IDCol says it: the column of csv, the
	// key of ndjson, "tag" of vw. A row with an id and without a label is predicted, and waits; a
	// later row with that id and a label, with features or without, has it learned, counted by what
	// was predicted first. Others are learned as they come; see eval.IDs. One pass over a stream;
	// it excludes Delay, and balanced ClassWeight. What still waits at the end is left out. ""
	// is none. Default ""; a column or key that is there.
	IDCol string `json:"id_col,omitempty" toml:"id_col,omitempty"`
	// WaitMax is how many rows of IDCol wait for their labels at most: the oldest make room. 0
	// stands for DefaultWaitMax. Default 0; 0 to MaxWindow.
	WaitMax int `json:"wait_max,omitempty" toml:"wait_max,omitempty"`
	// WaitBytes is the memory that rows of IDCol take at most; 0 stands for DefaultWaitBytes.
	// Default 0; 0 or more.
	WaitBytes Bytes `json:"wait_bytes,omitempty" toml:"wait_bytes,omitempty"`
	// Curve is how many points of a learning curve are kept, at most; 0 keeps none. Default 0; 0 to
	// 100000.
	Curve int `json:"curve,omitempty" toml:"curve,omitempty"`
	// Calibrate has the probabilities found that scores stand for, of any learner: "platt" fits
	// 1/(1 + exp(-(a f + b))) to the scores of the first pass, each of an example not learned yet
	// (see Platt, 1999), and "temperature" the same without b; the model keeps it. Of more than
	// two classes "platt" makes probabilities of the classes' sigmoids,
	// "temperature" takes the softmax of a f, which fits better as a rule; one example in four is
	// scored once more for it. Runs on a whole data set at once predict nothing before they learn:
	// theirs are the scores of five folds, each by what is learned of the others, drawn from Seed,
	// with the settings that are resolved for all, and scaled as all; this takes some four times as
	// long as the run, and memory for the examples once more. They exclude From. A run that goes on
	// from such a model calibrates anew, by its own examples. With Test, probabilities are tallied
	// there. Default ""; "platt" or "temperature".
	Calibrate string `json:"calibrate,omitempty" toml:"calibrate,omitempty"`
	// Threshold is what a score is to be found for from which on the label is +1, of two classes:
	// "precision=0.9" or "recall=0.9", or "cost=1:5" for the least cost of errors where a false
	// negative costs five times a false positive, on the same scores as Calibrate (see
	// learner.Threshold). The model keeps the threshold, and predicts by it; errors that
	// training counts are those of 0. A run that goes on from such a model finds it anew. Default
	// ""; shares above 0 and below 1, costs above 0.
	Threshold string `json:"threshold,omitempty" toml:"threshold,omitempty"`
	// MarginReport measures margins over the training set, if need be in a pass of its own. Default
	// false.
	MarginReport bool `json:"margin_report,omitempty" toml:"margin_report,omitempty"`
	// MarginSVM finds, with MarginReport, the largest margin there is, too. Default false.
	MarginSVM bool `json:"margin_svm,omitempty" toml:"margin_svm,omitempty"`
	// Latency learns examples one by one and gives the Observer the time that each took; with
	// learners that keep examples that is always so. Default false.
	Latency bool `json:"latency,omitempty" toml:"latency,omitempty"`

	// What is computed with. None of it changes a result, but that MemBudget decides how many
	// examples are kept where that is left open.

	// Threads is the number of workers; 0 stands for one a processor. Where Env has a pool, it is
	// that of the goroutines that parse only. Default 0; 0 to MaxThreads.
	Threads int `json:"threads,omitempty" toml:"threads,omitempty"`
	// MemBudget is the memory, in bytes, that the run keeps within, the program included; 0 stands
	// for three quarters of Env.Machine's. Default 0; 0 or more.
	MemBudget Bytes `json:"mem_budget,omitempty" toml:"mem_budget,omitempty"`
	// KeepSizes keeps, with MemBudget, as many examples as the settings say, not as many as there
	// is room for. Default false.
	KeepSizes bool `json:"keep_sizes,omitempty" toml:"keep_sizes,omitempty"`
}

// Data says how rows of files become examples. It is the part of dataset.Options that a user
// chooses; see there.
type Data struct {
	// Format is a name of package internal/format; with "" and "auto" it is found by content.
	// Default ""; "auto" or one of format.Names.
	Format string `json:"format,omitempty" toml:"format,omitempty"`
	// IndexBase is the number of the first feature, where features have numbers; with "" and "auto"
	// it is found. Default ""; "auto", "0" or "1".
	IndexBase string `json:"index_base,omitempty" toml:"index_base,omitempty"`
	// LabelCol is the labels' column of csv, by name, or by number from 1, or from the end if
	// negative, or the key of ndjson; "" takes the one named label, class, target or y, else, of
	// csv, the last. Default ""; a column or key that is there.
	LabelCol string `json:"label_col,omitempty" toml:"label_col,omitempty"`
	// Header says whether the first row of csv names the columns; with "" and "auto" its text does.
	// Default ""; "auto", "yes" or "no".
	Header string `json:"header,omitempty" toml:"header,omitempty"`
	// TextCols are columns of csv that hold texts, each as LabelCol; of columns in neither list the
	// first rows decide. Each text of a column is a feature of its own. Default none; columns that
	// are there.
	TextCols []string `json:"text_cols,omitempty" toml:"text_cols,omitempty"`
	// NumberCols are columns of csv that hold numbers; see TextCols. Default none; columns that are
	// there.
	NumberCols []string `json:"number_cols,omitempty" toml:"number_cols,omitempty"`
	// IgnoreCols are columns of csv that are left out. Default none; columns that are there.
	IgnoreCols []string `json:"ignore_cols,omitempty" toml:"ignore_cols,omitempty"`
	// Missing says what a value of csv stands for that is missing: "error" ends at it, "mean" takes
	// the column's, and of texts none, "indicator" that mean and a feature that says so; "" is an
	// error among numbers, and such a feature among texts. Default ""; "error", "mean" or
	// "indicator".
	Missing string `json:"missing,omitempty" toml:"missing,omitempty"`
	// Positive is the label that is +1, as all others are -1; with "" there are two, and the larger
	// one is. Default ""; a label that is there.
	Positive string `json:"positive,omitempty" toml:"positive,omitempty"`
	// Classes are the labels of all classes, in the order of the model's outputs; others are
	// errors. With none, any labels are taken; there are two classes where there are two, -1 and
	// +1, else one for each label. It excludes Positive. Default none; two or more.
	Classes []string `json:"classes,omitempty" toml:"classes,omitempty"`
	// WeightCol is the column of the examples' weights in csv, by name, or by number as LabelCol;
	// "" is none. It is no feature, and predicting does without it. Default ""; a column that is
	// there.
	WeightCol string `json:"weight_col,omitempty" toml:"weight_col,omitempty"`
	// Bias is "append" for a feature of 1, added before normalising; "" stands for "auto". Where
	// features are columns, as in csv, "auto" of Bias, Scale and Normalize is "append", "std" and
	// "unit", since columns may be of any units; elsewhere, and beside Rho, it is "none": see
	// dataset.Options.For. Default ""; "append", "none" or "auto".
	Bias string `json:"bias,omitempty" toml:"bias,omitempty"`
	// Scale brings features to one scale: "std" columns to mean 0 and standard deviation 1, and
	// features that examples may lack to a mean square of 1 where they are; "maxabs" divides by the
	// largest absolute value; see dataset.Options. "" stands for "auto", see Bias. Default
	// ""; "std", "maxabs", "none" or "auto".
	Scale string `json:"scale,omitempty" toml:"scale,omitempty"`
	// Normalize is "unit" to bring each example to length 1, "max" to divide all by the longest's
	// length; "" stands for "auto", see Bias. Default ""; "unit", "max", "none" or "auto".
	Normalize string `json:"normalize,omitempty" toml:"normalize,omitempty"`
	// AnyFormat takes examples of another format than the model's or the training set's. Default
	// false.
	AnyFormat bool `json:"any_format,omitempty" toml:"any_format,omitempty"`
	// OnError is what to do at a bad row: "stop", "skip" it, or "limit=N" to skip N of them at
	// most; "" stands for "stop". Default ""; "stop", "skip" or "limit=N" with N of 0 or more.
	OnError string `json:"on_error,omitempty" toml:"on_error,omitempty"`
	// HashBits hashes the names of features, where these have names and no numbers, into so many
	// bits; 0 numbers them by a dictionary, which the model keeps. Default 0; 0 to 28.
	HashBits int `json:"hash_bits,omitempty" toml:"hash_bits,omitempty"`
	// Interactions are pairs of first letters of namespaces, as in "ab", whose features are
	// multiplied. Default none; two letters each.
	Interactions []string `json:"interactions,omitempty" toml:"interactions,omitempty"`
	// MaxLine is the longest line that is read, in bytes; 0 stands for dataset.DefaultMaxLine, and
	// more than 1 GiB for that. Default 0; 0 or more.
	MaxLine Bytes `json:"max_line,omitempty" toml:"max_line,omitempty"`
}

// Reading returns the options of package dataset that say the same.
func (d *Data) Reading() dataset.Options {
	or := func(value, rest string) string {
		if value == "" {
			return rest
		}
		return value
	}
	return dataset.Options{Format: or(d.Format, "auto"), IndexBase: or(d.IndexBase, "auto"),
		HeaderRow: or(d.Header, "auto"),
		LabelCol:  d.LabelCol, WeightCol: d.WeightCol, Positive: d.Positive, Classes: d.Classes,
		Bias:     or(d.Bias, "auto"),
		TextCols: d.TextCols, NumberCols: d.NumberCols, IgnoreCols: d.IgnoreCols,
		Missing:   d.Missing,
		Scaling:   or(d.Scale, "auto"),
		Normalize: or(d.Normalize, "auto"), AnyFormat: d.AnyFormat, OnError: d.OnError,
		HashBits: d.HashBits, Interactions: d.Interactions, MaxLine: int64(d.MaxLine)}
}

// Idle refuses fields that have no effect on examples of the format that was found.
func (d *Data) Idle(found string) error {
	f := format.Lookup(found)
	for _, o := range []struct{ field, value, unset, option, next string }{
		{"label_col", d.LabelCol, "", "LabelCol",
			"Leave it out: the label has a place of its own."},
		{"weight_col", d.WeightCol, "", "WeightCol", "Leave it out."},
		{"index_base", d.IndexBase, "auto", "IndexBase", "Leave it out."},
		{"header", d.Header, "auto", "HeaderRow", "Leave it out."},
		{"text_col", strings.Join(d.TextCols, ","), "", "TextCols", "Leave it out."},
		{"number_col", strings.Join(d.NumberCols, ","), "", "NumberCols", "Leave it out."},
		{"ignore_col", strings.Join(d.IgnoreCols, ","), "", "IgnoreCols", "Leave it out."},
		{"missing", d.Missing, "", "Missing", "Leave it out."},
		{"hash_bits", count(d.HashBits), "", "HashBits", "Leave it out: features have numbers."},
		{"interactions", strings.Join(d.Interactions, ","), "", "Interactions",
			"Leave it out: there are no namespaces."},
	} {
		if o.value != "" && o.value != o.unset && !f.Takes(o.option) {
			return badOption(o.next, "{"+o.field+"} %s has no effect: the examples are %s, not %s",
				o.value, found, format.Or(format.Taking(o.option)))
		}
	}
	return nil
}

// count is a number that is given if it isn't 0.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// MarshalJSON writes Config, if there is one, as Settings.
func (o Options) MarshalJSON() ([]byte, error) {
	type plain Options
	p, err := o.Plain()
	if err != nil {
		return nil, err
	}
	return json.Marshal(plain(p))
}

// Plain returns the same Options without Config, which is in Settings: so TOML can hold them.
func (o Options) Plain() (Options, error) {
	if o.Config == nil {
		return o, nil
	}
	text, err := json.Marshal(o.Config)
	if err != nil {
		return o, err
	}
	o.Config, o.Settings = nil, nil
	return o, json.Unmarshal(text, &o.Settings)
}

// Validate names the first field that is bad, or that goes with no other, as an Error of kind
// ErrOption; errors of the learner's settings wrap learner.ErrConfig. No file is looked at, so what
// goes with the model of From, or with the run that Resume goes on with, is looked at by New.
func (o *Options) Validate() error {
	if o.Resume {
		return o.validResume()
	}
	if err := o.validate(); err != nil || o.From != "" {
		return err
	}
	_, c, err := o.Entry()
	if err != nil {
		return err
	}
	return o.suits(o.Learner, c)
}

// validate looks at all but what depends on the learner.
func (o *Options) validate() error {
	for _, check := range []func() error{o.validPasses, o.validData, o.validFiles,
		o.validMetrics, o.validShard, o.validRows} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) validPasses() error {
	switch {
	case o.Epochs < 0:
		return badOption("1 is one pass over the examples.", "{epochs} %d: not a number of epochs",
			o.Epochs)
	case o.UntilConverged && o.Epochs != 0:
		return badOption("Choose one of them.", "{epochs} and {until_converged} exclude each other")
	case o.MaxUpdates != nil && !o.UntilConverged:
		return badOption("It limits {until_converged}.", "{max_updates} without {until_converged}")
	case o.ActiveSet && !o.UntilConverged:
		return badOption("Add {until_converged}.", "{active_set} without {until_converged}")
	case o.Halving && !o.UntilConverged:
		return badOption("Add {until_converged}.", "{halving} without {until_converged}")
	case o.MarginSVM && !o.MarginReport:
		return badOption("Add {margin_report}.", "{margin_svm} without {margin_report}")
	case o.MaxUpdates != nil && *o.MaxUpdates < 0:
		return badOption("0 is no limit.", "{max_updates} %d: negative", *o.MaxUpdates)
	}
	return nil
}

func (o *Options) validMetrics() error {
	switch {
	case o.Window < 0 || o.Window > MaxWindow:
		return badOption("It is a number of examples, as 1000.",
			"{window} %d: not a number from 0 to %d", o.Window, MaxWindow)
	case !(o.Fading >= 0 && o.Fading < 1):
		return badOption("0.999 is about the last 1000 examples.",
			"{fading} %v: not a number from 0 to below 1", o.Fading)
	case o.Window > 0 && o.Fading > 0:
		return badOption("Leave one of them out.", "{window} and {fading} exclude each other")
	case o.Delay < 0 || o.Delay > MaxWindow:
		return badOption("It is a number of examples, as 1000.",
			"{delay} %d: not a number from 0 to %d", o.Delay, MaxWindow)
	case o.Delay > 0 && (o.Epochs > 1 || o.UntilConverged):
		return badOption("Take one pass: later ones have seen all labels.",
			"{delay} is for one pass over the examples")
	case o.Curve < 0 || o.Curve > maxCurve:
		return badOption("", "{curve} %d: not a number of points, 0 to %d", o.Curve, maxCurve)
	}
	if err := o.validIDs(); err != nil {
		return err
	}
	return o.validDrift()
}

// validIDs checks the options of labels that come by ids.
func (o *Options) validIDs() error {
	switch {
	case o.IDCol == "" && (o.WaitMax != 0 || o.WaitBytes != 0):
		return badOption("It bounds what waits for labels: {id_col}.",
			"{wait_max} or {wait_bytes} without {id_col}")
	case o.IDCol == "":
	case o.WaitMax < 0 || o.WaitMax > MaxWindow:
		return badOption("It is a number of rows, as 100000.",
			"{wait_max} %d: not a number from 0 to %d", o.WaitMax, MaxWindow)
	case o.WaitBytes < 0:
		return badOption("As 64MiB.", "{wait_bytes} %d: negative", int64(o.WaitBytes))
	case o.Delay > 0:
		return badOption("Labels come by ids, or after a number of rows.",
			"{id_col} and {delay} exclude each other")
	case o.Epochs > 1 || o.UntilConverged || o.Shuffle:
		return badOption("Take one pass: {epochs} 1.",
			"{id_col} is for one pass over the rows, in their order")
	case o.ClassWeight == balanced:
		return badOption("Give factors, as a=2.",
			"{id_col} and {class_weight} %s exclude each other: rows may have no label", balanced)
	}
	return nil
}

// waits is how much waits for labels at most.
func (o *Options) waits() (rows int, bytes int64) {
	if rows, bytes = o.WaitMax, int64(o.WaitBytes); rows == 0 {
		rows = DefaultWaitMax
	}
	if bytes == 0 {
		bytes = DefaultWaitBytes
	}
	return rows, bytes
}

func (o *Options) validData() error {
	if _, err := o.classFactors(); err != nil {
		return err
	}
	if o.Calibrate != "" && o.Calibrate != calibration.Platt &&
		o.Calibrate != calibration.Temperature {
		return badOption("", "{calibrate} %q: want platt or temperature", o.Calibrate)
	}
	if _, err := calibration.ParseTarget(o.Threshold); err != nil {
		return badOption("As precision=0.9, or cost=1:5, where a false negative costs five "+
			"times a false positive.", "{threshold} %w", err)
	}
	if err := o.validClasses(); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]string{"", "f32", "f64"}, o.Precision):
		return badOption("", "{precision} %q: want f32 or f64", o.Precision)
	case o.HashBits < 0 || o.HashBits > format.MaxHashBits:
		return badOption("18 makes 262144 features.", "{hash_bits} %d: not a number from 1 to %d",
			o.HashBits, format.MaxHashBits)
	case o.Rho != 0 && !(o.Rho > 0 && o.Rho <= math.MaxFloat32):
		return badOption("It is the value of a feature, as 1.", "{rho} %v: not a positive number",
			o.Rho)
	case o.Rho != 0 && o.Bias == "append":
		return badOption("Leave one of them out: {rho} 1 is {bias} append.",
			"{rho} and {bias} exclude each other")
	case o.AnyFormat && o.From == "" && len(o.Test) == 0:
		return badOption("It goes with {from} and {test}: training takes any format.",
			"{any_format} without a model or a test set")
	case o.Threads < 0 || o.Threads > MaxThreads:
		return badOption("0 takes one a processor.",
			"{threads} %d: not a number of threads, 0 to %d", o.Threads, MaxThreads)
	case o.MemBudget < 0:
		return badOption("0 is what the machine has room for.", "{mem_budget} %d: negative",
			int64(o.MemBudget))
	case !(o.SoftDelta >= 0) || math.IsInf(o.SoftDelta, 0):
		return fmt.Errorf("soft-delta is %v, want a number of 0 or more: %w", o.SoftDelta,
			learner.ErrConfig)
	}
	return nil
}

// validClasses checks the options of classes.
func (o *Options) validClasses() error {
	switch {
	case len(o.Classes) > 0 && o.Positive != "":
		return badOption("Leave one of them out.", "{classes} and {positive} exclude each other")
	case o.Pairs && o.Positive != "":
		return badOption("Leave one of them out.", "{pairs} and {positive} exclude each other")
	case o.Pairs && o.From != "":
		return badOption("Leave it out: the model says.", "{pairs} and {from} exclude each other")
	case len(o.Classes) == 1:
		return badOption("Name all of them.", "{classes} %s: one class", o.Classes[0])
	case slices.Contains(o.Classes, ""):
		return badOption("A comma stands between two.", "{classes} %s: a label without text",
			strings.Join(o.Classes, ","))
	}
	return nil
}

func (o *Options) validFiles() error {
	if len(o.Files) == 0 {
		return badOption("Name one; - is standard input.", "{files}: none is given")
	}
	switch {
	case o.PredictOnly && o.Model == "":
		return badOption("Name the model file: {model}.", "{predict_only} without a model file")
	case o.PredictOnly && o.CheckpointEvery != "":
		return badOption("Leave one of them out: a checkpoint is there to go on from.",
			"{predict_only} and {checkpoint_every} exclude each other")
	}
	if o.CheckpointEvery != "" {
		if o.Model == "" {
			return badOption("Name the model file: {model}.",
				"{checkpoint_every} without a model file")
		}
		if _, _, err := checkpointMarks(o.CheckpointEvery); err != nil {
			return badOption("Give a number of examples (100000) or a time (60s, 5m).",
				"{checkpoint_every} %s: %w", o.CheckpointEvery, err)
		}
	}
	if slices.Contains(o.Test, "-") {
		return badOption("Name a file.", "{test} -: test examples can't come from stdin")
	}
	return nil
}

// checkpointMarks reads a number of examples or a time.
func checkpointMarks(text string) (every int64, after time.Duration, err error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 1 {
			return 0, 0, errors.New("not a positive number")
		}
		return n, 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, 0, errors.New("neither a number of examples nor a time")
	}
	return 0, d, nil
}

// Entry returns the learner that o names, and its settings: valid, without fields left to defaults,
// and a copy that is the caller's unless they are o.Config. From is not looked at.
func (o *Options) Entry() (learner.Entry, learner.Config, error) {
	e, err := learner.Lookup(o.Learner)
	if err != nil {
		return e, nil, noLearner(o.Learner)
	}
	c := e.Config()
	if o.Config != nil {
		c, err = o.config(e)
	} else {
		err = o.put(c, e.Config())
	}
	if err != nil {
		return e, nil, err
	}
	return e, c, c.Validate()
}

// config returns Config with what it leaves to defaults.
func (o *Options) config(e learner.Entry) (learner.Config, error) {
	if o.Literal {
		return o.Config, nil
	}
	return learner.WithDefaults(e, o.Config)
}

// noLearner names the learner that was meant, or all there are.
func noLearner(name string) *Error {
	names := learner.Names()
	all := strings.Join(names, ", ")
	switch near := spelling.Nearest(name, names); {
	case name == "":
		return badOption("The learners: "+all+".", "{learner}: none is given; there are %s", all)
	case near != "":
		return badOption("The learners: "+all+".",
			"{learner} %s: no such learner; did you mean %s?", name, near)
	}
	return badOption("", "{learner} %s: no such learner; there are %s", name, all)
}

// put puts Settings into c. Keys that are not there leave its fields as those of defaults.
func (o *Options) put(c, defaults learner.Config) error {
	if len(o.Settings) == 0 {
		return nil
	}
	text, err := json.Marshal(o.Settings)
	if err != nil {
		return badOption("", "{config}: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return badOption("Its keys are those of the learner's Config in JSON.", "{config}: %w", err)
	}
	// Settings of a model file that lack a key are of a program that did not know it yet, and so
	// decode to what that did. These here lack it for the default.
	to, from := reflect.ValueOf(c), reflect.ValueOf(defaults)
	if to.Kind() != reflect.Pointer || to.Elem().Kind() != reflect.Struct {
		return nil
	}
	named := func(key string) bool {
		for name := range o.Settings {
			if strings.EqualFold(name, key) { // as JSON has it
				return true
			}
		}
		return false
	}
	for _, f := range reflect.VisibleFields(to.Elem().Type()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" || named(key) || !f.IsExported() ||
			f.Type.Kind() == reflect.Interface && named("base") {
			continue
		}
		to.Elem().FieldByIndex(f.Index).Set(from.Elem().FieldByIndex(f.Index))
	}
	return nil
}

// keeps returns the entry and settings of the model that is gone on from, which Options may repeat.
func (o *Options) keeps(m *model.Model) (learner.Entry, learner.Config, error) {
	e, c, err := m.Settings()
	if err != nil {
		return e, nil, wrapped(ErrModel, err)
	}
	// what was trained had settings without open ends, unless the learner goes without
	if c.Traits().Relative {
		if _, err := e.New64(c, learner.Env{}); err != nil {
			return e, nil, wrapped(ErrModel, err)
		}
	}
	if err := o.repeats(m); err != nil {
		return e, nil, err
	}
	if o.Config == nil && len(o.Settings) == 0 {
		return e, c, nil
	}
	var want learner.Config
	if o.Config != nil {
		want, err = o.config(e)
	} else if _, want, err = m.Settings(); err == nil {
		err = o.put(want, c)
	}
	if err != nil {
		return e, nil, err
	}
	have, errHave := json.Marshal(c)
	text, errText := json.Marshal(want)
	if err := errors.Join(errHave, errText); err != nil {
		return e, nil, fmt.Errorf("settings of %s: %w", m.Learner, err)
	}
	if !bytes.Equal(have, text) {
		return e, nil, badOption("Leave it out: with {from} it comes from the model.",
			"{config} would change the settings of the model, which are %s", have)
	}
	return e, c, nil
}

// repeats refuses fields that contradict the model.
func (o *Options) repeats(m *model.Model) error {
	p := &m.Prep
	type fact struct{ field, want, have string }
	name := o.Learner
	if slices.Contains(basesOf(m), name) {
		name = ""
	}
	facts := []fact{
		{"learner", name, m.Learner},
		{"precision", o.Precision, m.Precision},
		{"bias", o.Bias, p.Bias},
		{"normalize", o.Normalize, p.Normalize},
		{"scale", o.Scale, p.ScaledBy()},
		{"missing", o.Missing, p.Missing},
		{"hash_bits", count(o.HashBits), strconv.Itoa(p.HashBits)},
		{"interactions", strings.Join(o.Interactions, ","), strings.Join(p.Interactions, ",")},
	}
	if o.Seed != nil {
		facts = append(facts, fact{"seed", strconv.FormatUint(*o.Seed, 10),
			strconv.FormatUint(m.Seed, 10)})
	}
	if o.Rho != 0 {
		facts = append(facts, fact{"rho", number(o.Rho), number(p.BiasValue)})
	}
	for _, f := range facts {
		if f.want != "" && f.want != "auto" && f.want != f.have {
			return badOption("Leave it out: the model brings its settings.",
				"{"+f.field+"} %s contradicts the model, which has %s", f.want, f.have)
		}
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// suits refuses what doesn't go with the learner.
func (o *Options) suits(name string, c learner.Config) error {
	t := c.Traits()
	if o.Rho > 0 && !t.Origin {
		return badOption("It goes with "+those(func(t learner.Traits) bool { return t.Origin })+
			"; else take {bias} append.", "%s has no {rho}", name)
	}
	if o.Positive != "" && t.Classes && o.From == "" && !o.Resume {
		return badOption("Leave it out, or name all labels by {classes}.",
			"{positive}: %s learns any number of classes, and has no positive label", name)
	}
	if o.Proba && !t.Proba {
		return NoProbabilities("proba", name, c)
	}
	if err := o.suitsWeights(name, t); err != nil {
		return err
	}
	if err := o.suitsCalibration(name, t); err != nil {
		return err
	}
	if err := o.suitsThreshold(name, t); err != nil {
		return err
	}
	if o.needsWhole(t) {
		if err := o.suitsWhole(name, c, t); err != nil {
			return err
		}
	}
	switch whole := o.whole(t); {
	case whole && o.Drift != "":
		return badOption("Leave it out, or take one pass.", "{drift}: %s learns the whole data "+
			"set at once, so that nothing is predicted before it", name)
	case o.suitsDrift(name, t) != nil:
		return o.suitsDrift(name, t)
	case whole && o.Proba && len(o.Test) == 0:
		return badOption("Name examples with {test}, or leave it out.", "{proba}: %s learns the "+
			"whole data set at once, so there is nothing to predict before it", name)
	case !whole && o.ActiveSet:
		return o.passesOverAll("active_set", name, t)
	case !whole && o.Halving:
		return o.passesOverAll("halving", name, t)
	}
	return nil
}

// passesOverAll is the error of a field of Fit in a run that isn't one of it.
func (o *Options) passesOverAll(field, name string, t learner.Traits) error {
	other := "{shuffle}"
	if !o.Shuffle {
		other = "{checkpoint_every}"
	}
	if t.Whole && o.UntilConverged {
		return badOption("Leave one of them out.", "{"+field+"}: with "+other+" all passes are "+
			"over all examples")
	}
	return badOption("Leave it out.",
		"%s passes over all examples each time: it has no {"+field+"}", name)
}

// suitsWhole refuses what doesn't go with a learner that must see the data set as a whole.
func (o *Options) suitsWhole(name string, c learner.Config, t learner.Traits) error {
	soft := "{soft_delta}"
	if o.SoftDelta == 0 {
		soft = "{" + strings.ReplaceAll(t.SoftBy, "-", "_") + "}"
	}
	what, or := soft, ""
	switch {
	case o.SoftDelta != 0:
	case t.Stream && t.Soft: // each pass would give the examples other slacks
		what, or = name+" with "+soft, ", or take one pass, or leave out "+soft
		if !o.UntilConverged {
			what += " in several passes"
		}
	default:
		what = name + " with these settings"
	}
	switch {
	case !t.Whole:
		return badOption("Leave out "+soft+": the slacks of a soft margin belong to the places of "+
			"a whole data set.",
			what+" needs a whole data set at once, and %s learns one example after another",
			describe(name, c))
	case o.SoftDelta != 0 && !t.SoftDelta:
		return badOption("Learners that can: "+
			those(func(t learner.Traits) bool { return t.SoftDelta })+".",
			"%s has no soft margin by {soft_delta}", name)
	case !o.UntilConverged:
		return badOption("Add {until_converged}"+or+".",
			what+" learns from a whole data set only")
	case o.Shuffle:
		return badOption("Leave one of them out.",
			what+" keeps the order of the data, {shuffle} changes it")
	case o.From != "" && (!t.Cut || t.Anew):
		return badOption("Leave out {from}.", what+" starts anew each time")
	case o.CheckpointEvery != "" && !t.Cut:
		return badOption("Leave out {checkpoint_every}.",
			what+" has no state to save before its end")
	}
	return nil
}

// NoProbabilities is the Error for a field that a learner of these settings, without probabilities,
// can't serve.
func NoProbabilities(field, name string, c learner.Config) *Error {
	return badOption("Leave {"+field+"} out: larger scores are more certain. Learners that have "+
		"probabilities: "+those(func(t learner.Traits) bool { return t.Proba })+".",
		"{"+field+"}: %s has no probabilities: its scores are margins, in no unit of certainty",
		describe(name, c))
}

// needsWhole reports whether the learner must see the data set as a whole: to learn at all, or for
// the soft margin that was asked for. In one pass each example comes once, and has a slack of its
// own whoever learns it; another pass would give it a second one.
func (o *Options) needsWhole(t learner.Traits) bool {
	return !t.Stream || t.Soft && (o.UntilConverged || o.Epochs > 1) || o.SoftDelta != 0
}

// whole reports whether the run is one of Fit: on the whole data set, in its order. Several classes
// learn side by side, as a stream, unless something is asked for that only Fit has.
func (o *Options) whole(t learner.Traits) bool {
	return t.Whole && (o.needsWhole(t) || o.UntilConverged && !o.Shuffle &&
		(o.CheckpointEvery == "" && !t.Classes || t.Cut && o.ofWhole()))
}

// ofWhole reports whether something was asked for that only a run of Fit has, so that checkpoints
// are those of Fit; else they make the run one of eval.Run.
func (o *Options) ofWhole() bool { return o.ActiveSet || o.Halving || o.SoftDelta > 0 }
