package halfspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/fields"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Options say what is learned, from what and how: see training.Options. JSON and TOML hold them.
type Options = training.Options

// Data is the part of Options that says how rows of files become examples.
type Data = training.Data

// Errors of this package, wrapped with what was found. Others are those of packages training,
// dataset, model and learner.
var (
	ErrFeature = errors.New("no such feature")  // a Row was given one that the model has not
	ErrLabel   = errors.New("no such label")    // LearnOne was given one that the model has not
	ErrProba   = errors.New("no probabilities") // of a learner that has none
	ErrMembers = errors.New("no members with weights of their own")
)

// Model is a learner with all that it needs to learn and to predict: how rows become examples, the
// names of features and labels, counts. [Train], [New] and [Load] make one.
//
// Any number of goroutines may call Row, Score, Label, Proba, Predict and Test at once, as long as
// nothing else is called; LearnOne, Interval, Save and Snapshot need the Model for themselves. To
// score while the Model learns, score with a [Snapshot].
//
// Score, Label, Proba and LearnOne allocate nothing once they have seen rows as large, as often at
// the same time.
//
// A Model is what these three return without an error. The methods of a nil *Model, and of one that
// a program makes itself, panic; so it is with a [Snapshot].
type Model struct {
	*hypothesis
	file   model.Model // all but the State
	config learner.Config
	learn  teacher
	result *training.Result
	signs  []int32 // scratch of LearnRows
	shared bool    // snapshots have the table of names
}

// Snapshot is what a Model knew when [Model.Snapshot] was called. It never changes: any number of
// goroutines may use it, whatever the Model does.
type Snapshot struct {
	*hypothesis
	file   model.Model // all but the State
	config learner.Config
}

// Train learns from files as o says, in addition to o.Files, and returns what was learned; o.Model
// is written, if there is one. What stderr shows of a run at the command line, training.Run shows
// an Observer.
//
// With training.ErrNotConverged and training.ErrStopped (ctx ended) the Model is there, too; with
// other errors it is nil. Cost beside learning: what was learned is copied once.
//
// Where ctx ends, Train does so after the block that it learns: in a tenth of a second, or after
// one example that takes longer. What a pipe has brought it learns before that, for up to two
// seconds.
func Train(ctx context.Context, o Options, files ...string) (*Model, error) {
	o.Files = slices.Concat(o.Files, files)
	res, err := training.Run(ctx, o, training.Env{Logger: loggerOf(ctx)})
	return trained(res, err)
}

// WithLogger returns ctx with a logger for [Train] and [TrainRows], which write nothing without
// one: the plan, what was read, written and counted at level Info, skipped rows and warnings at
// Warn, counts in between at Debug. training.Env.Logger has the details.
func WithLogger(ctx context.Context, l *slog.Logger) context.Context {
	return context.WithValue(ctx, loggerKey{}, l)
}

type loggerKey struct{}

// loggerOf returns the logger of ctx, nil if there is none.
func loggerOf(ctx context.Context) *slog.Logger {
	l, _ := ctx.Value(loggerKey{}).(*slog.Logger)
	return l
}

// trained makes the Model of what a run gave.
func trained(res *training.Result, err error) (*Model, error) {
	if res == nil || err != nil && !errors.Is(err, training.ErrNotConverged) &&
		!errors.Is(err, training.ErrStopped) {
		return nil, err
	}
	file, failed := res.Model()
	if failed != nil {
		return nil, failed
	}
	m, failed := open(file)
	if failed != nil {
		return nil, failed
	}
	m.result = res
	return m, err
}

// New returns a model that has learned nothing, for LearnOne. Of o it takes Learner, Config or
// Settings, Precision, Seed, Rho, Bias, Normalize (but max, which is relative to a data set), Scale
// (none, std or maxabs, by the examples so far) and Positive, or Classes and Pairs; fields that ask
// for something else are an error. The labels are -1 and +1; with Positive they are that one and
// all others, and with Classes these. With two Classes and Positive, which is one of them, they are
// two labels, not two classes. A learner of classes (Traits.Classes) has no Positive; without
// Classes its classes are the labels that come.
//
// Features that are named are those, in this order: files with a header have them as columns. A
// name that is empty or comes twice is ErrFeature.
// Without names, features have numbers from 0, as many as come: those of svmlight files that count
// from 0.
func New(o Options, features ...string) (*Model, error) {
	entry, config, err := o.Entry()
	if err != nil {
		return nil, err
	}
	if err := fresh(o, config); err != nil {
		return nil, err
	}
	two, err := twoLabels(o, config)
	if err != nil {
		return nil, err
	}
	if len(o.Classes) > 0 && o.Positive == "" {
		if entry, config, err = learner.ForClasses(entry, config, learner.OverName(o.Pairs),
			len(o.Classes)); err != nil {
			return nil, err
		}
	}
	file := model.Model{Learner: entry.Name, Precision: o.Precision, Seed: training.DefaultSeed,
		Prep: model.Prep{Labels: model.Labels{Negative: "-1", Positive: "+1"}, Bias: o.Bias,
			Normalize: o.Normalize, Scale: 1, Format: "svmlight"}}
	if file.Precision == "" {
		file.Precision = "f32"
	}
	if o.Seed != nil {
		file.Seed = *o.Seed
	}
	p := &file.Prep
	if o.Rho != 0 {
		p.Bias, p.BiasValue = "append", o.Rho
	}
	if o.Scale == "std" || o.Scale == "maxabs" {
		p.Scaling = &format.Scaling{Method: o.Scale, Columns: len(features) > 0}
	}
	switch {
	case o.Positive != "":
		p.Labels = two
	case config.Traits().Classes:
		p.Labels, p.Classes = model.Labels{}, slices.Clone(o.Classes)
		for i, name := range o.Classes {
			if name == "" || slices.Contains(o.Classes[:i], name) {
				return nil, fmt.Errorf("halfspace: class %q: want labels, each of them once: %w",
					name, ErrLabel)
			}
		}
	}
	if len(features) > 0 {
		p.Format, p.IndexBase, p.Dim = "csv", 1, len(features)
		if p.Columns, err = columns(features); err != nil {
			return nil, err
		}
		p.LabelCol = len(features) + 1
	}
	if file.Precision == "f64" {
		return begin[float64](entry, config, file)
	}
	return begin[float32](entry, config, file)
}

// fresh refuses what New doesn't take: fields that it would have to pass over, and values that no
// model has.
func fresh(o Options, c learner.Config) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("halfspace: "+format+": %w", append(args, training.ErrOption)...)
	}
	switch {
	case o.Normalize == "max":
		return bad("normalize max is for Train, not for New")
	case !slices.Contains([]string{"", "f32", "f64"}, o.Precision):
		return bad("precision is %q, want f32 or f64", o.Precision)
	case !slices.Contains([]string{"", "none", "append"}, o.Bias):
		return bad("bias is %q, want none or append", o.Bias)
	case !slices.Contains([]string{"", "none", "unit"}, o.Normalize):
		return bad("normalize is %q, want none or unit", o.Normalize)
	case o.Rho != 0 && !(o.Rho > 0 && o.Rho <= math.MaxFloat32):
		return bad("rho is %v, want a positive number", o.Rho)
	case len(o.Classes) == 1:
		return bad("classes are %q, want two or more", o.Classes)
	case o.Rho != 0 && o.Bias != "":
		return bad("rho and bias exclude each other: rho 1 is bias append")
	case o.Rho != 0 && !c.Traits().Origin:
		return bad("%s has no rho: take bias append", o.Learner)
	}
	// What is left of o when that is taken out is for Train. JSON knows which fields are set.
	if slices.Contains([]string{"none", "std", "maxabs"}, o.Scale) {
		o.Scale = ""
	}
	o.Learner, o.Config, o.Settings, o.Precision = "", nil, nil, ""
	o.Seed, o.Rho, o.Bias, o.Normalize, o.Positive, o.Classes = nil, 0, "", "", "", nil
	o.Pairs = false
	text, err := json.Marshal(o)
	if err != nil {
		return bad("options: %w", err)
	}
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(text, &rest); err != nil {
		return bad("options: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		return bad("%s is for Train, not for New", name)
	}
	return nil
}

// twoLabels returns the two labels that o.Positive and o.Classes name; none without Positive.
func twoLabels(o Options, c learner.Config) (l model.Labels, err error) {
	if o.Positive == "" {
		return l, nil
	}
	l.Positive = o.Positive
	if c.Traits().Classes {
		return l, fmt.Errorf("halfspace: %s learns any number of classes, and has no positive "+
			"label: name them by classes: %w", o.Learner, training.ErrOption)
	}
	if len(o.Classes) == 0 {
		return l, nil
	}
	at := slices.Index(o.Classes, o.Positive)
	if len(o.Classes) != 2 || at < 0 || o.Classes[1-at] == "" ||
		format.FindLabel(o.Classes[:1], o.Classes[1], false) >= 0 {
		return l, fmt.Errorf("halfspace: classes are %q beside the positive label %q, want two, "+
			"one of them that: %w", o.Classes, o.Positive, training.ErrOption)
	}
	l.Negative = o.Classes[1-at]
	return l, nil
}

// columns returns what a header of files has for features of these names, and a label's behind
// them.
func columns(features []string) ([]string, error) {
	seen := map[string]bool{}
	for _, name := range features {
		if name == "" || seen[name] {
			return nil, fmt.Errorf("halfspace: feature %q: want names, each of them once: %w", name,
				ErrFeature)
		}
		seen[name] = true
	}
	label := "label"
	for seen[label] {
		label += "_"
	}
	return append(slices.Clone(features), label), nil
}

// Load reads a model file, which Save or the command has written. Errors are those of package
// model.
func Load(path string) (*Model, error) {
	file, err := training.Load(path, training.Machine{})
	if err != nil {
		return nil, err
	}
	return open(file)
}

// Decode reads the bytes of a model file, which Encode, Save or the command has written, and keeps
// none of them. Errors are those of package model.
func Decode(data []byte) (*Model, error) {
	file, err := model.Decode(data)
	if err != nil {
		return nil, err
	}
	return open(file)
}

// open makes the Model of what was captured, whose State it takes.
func open(file *model.Model) (*Model, error) {
	if file.Precision == "f64" {
		return restore[float64](file)
	}
	return restore[float32](file)
}

// Save writes the model file, which Load and the command read. It appears whole or not at all. A
// learner that has diverged is not saved: model.ErrNotFinite.
func (m *Model) Save(path string) error { return save(path, m.file, m.config, m.hypothesis) }

// Save writes a model file that only predicts: smaller, where learning on needs more than scores
// do. LearnOne of what is loaded from it returns model.ErrPredictOnly.
func (s *Snapshot) Save(path string) error { return save(path, s.file, s.config, s.hypothesis) }

// Encode writes the bytes of the model file, those of Save. Errors are those of package model, and
// the writer's.
func (m *Model) Encode(w io.Writer) error {
	file, err := whole(m.file, m.config, m.hypothesis)
	if err != nil {
		return err
	}
	return model.Encode(w, file)
}

// Encode writes the bytes of the model file, those of Save.
func (s *Snapshot) Encode(w io.Writer) error {
	file, err := whole(s.file, s.config, s.hypothesis)
	if err != nil {
		return err
	}
	return model.Encode(w, file)
}

func save(path string, file model.Model, c learner.Config, h *hypothesis) error {
	saved, err := whole(file, c, h)
	if err != nil {
		return err
	}
	_, err = model.Save(path, saved)
	return err
}

// whole returns the model with what the learner knows.
func whole(file model.Model, c learner.Config, h *hypothesis) (*model.Model, error) {
	h.check()
	state, err := h.score.capture(file.Learner, c, file.Seed)
	if err != nil {
		return nil, err
	}
	file.Config, file.State, file.PredictOnly = state.Config, state.State, state.PredictOnly
	if file.PredictOnly {
		file.Pass, file.Position = nil, nil
	}
	return &file, nil
}

// Learner returns the learner's name, and its settings in JSON.
func (m *Model) Learner() (name, settings string) { return m.file.Learner, string(m.file.Config) }

// Options returns the options by which New makes a model of the same learner and the same
// preparation of rows, without its labels.
func (m *Model) Options() Options {
	p := &m.file.Prep
	o := Options{Learner: m.file.Learner, Precision: m.file.Precision, Seed: new(m.file.Seed)}
	_ = json.Unmarshal(m.file.Config, &o.Settings) // the model file's, an object
	o.Bias, o.Normalize, o.Scale = p.Bias, p.Normalize, p.ScaledBy()
	if h := m.hypothesis; h.bias > 0 && h.value != 1 {
		o.Bias, o.Rho = "", h.value
	}
	return o
}

// Calibrated reports whether Proba is of probabilities that training has fitted to scores.
func (m *Model) Calibrated() bool { return m.file.Calibration != nil }

// Note returns the text that SetNote has put into the model file; "" if there is none.
func (m *Model) Note() string { return m.file.Note }

// SetNote has Save and Encode write a text into the model file, for the program's own use. At most
// model.MaxNote bytes of UTF-8; others are an error of Save.
func (m *Model) SetNote(text string) { m.file.Note = text }

// Presented returns how many examples were learned, repetitions counted.
func (m *Model) Presented() uint64 { return m.file.Presented }

// Bytes returns the memory that the learner's state holds.
func (m *Model) Bytes() int64 { return m.learn.bytes() }

// Result is what [Train] counted; nil for a Model from elsewhere.
func (m *Model) Result() *training.Result { return m.result }

// Snapshot returns what the Model knows now. It copies what scoring needs.
func (m *Model) Snapshot() *Snapshot {
	m.hypothesis.check()
	h := *m.hypothesis
	m.shared = true
	s := &Snapshot{&h, m.file, m.config}
	s.file.Prep.Scaling = m.file.Prep.Scaling.Clone() // LearnOne changes the Model's
	h.score, h.prep = m.learn.snapshot(), &s.file.Prep
	return s
}

// LearnOne learns one example and returns its score before; with classes, that of its class less
// the largest of the others, see learner.ClassScore. The label is one of the model's, of which
// numbers compare as numbers; see ErrLabel. A label that is new becomes a class, where there are
// classes and Options.Classes didn't name them. With a soft margin whose slacks belong to examples
// (Traits.Soft) each call is a new example with a slack of its own, one that was learned before,
// too. Learners of whole data sets only return learner.ErrBatch, models that were saved to predict
// only model.ErrPredictOnly.
func (m *Model) LearnOne(r *Row, label string) (score float64, err error) {
	y, class := 1.0, -1
	if m.many {
		class, err = m.classOf(label, false)
	} else {
		y, err = m.sign(label, false)
	}
	if err == nil {
		err = r.check(m.hypothesis)
	}
	if err == nil {
		_, _, err = r.weightOf(m.hypothesis)
	}
	if err == nil {
		err = m.learnWords(r)
	}
	if err != nil {
		return 0, err
	}
	if score, err = m.learn.one(m.hypothesis, r, y, class); err != nil {
		return 0, err
	}
	if p := &m.file.Prep; class == len(p.Classes) {
		p.Classes = append(p.Classes[:class:class], label) // snapshots have the others
	}
	if n := len(r.idx); n > 0 && !m.dense {
		m.file.Prep.Dim = max(m.file.Prep.Dim, int(r.idx[n-1])+1)
	}
	m.file.Pass, m.file.Position = nil, nil // they were in other examples
	m.file.Presented = min(m.file.Presented+1, model.MaxCount)
	if !(y*score > 0) {
		m.file.Mistakes = min(m.file.Mistakes+1, model.MaxCount)
	}
	return score, nil
}

// hypothesis is what predicts: it has no precision of its own.
type hypothesis struct {
	score   scorer
	prep    *model.Prep // that of the file
	names   map[string]int
	many    bool    // classes, not two labels
	from    float64 // score of two labels from which on the positive one is predicted
	closed  bool    // and no others come
	weights bool    // the learner takes examples' weights
	rooms   *scratch.Stack[places]
	fields  *fields.Fields
	family  *int // a Model's, and its Snapshots'
	lead    int  // columns of numbers that stand first in sparse examples
	dense   bool // examples are dense rows, of Prep.Dim features
	bias    int  // 1 if a feature is appended
	value   float64
}

// newHypothesis says how rows become examples of a model.
func newHypothesis(p *model.Prep) *hypothesis {
	h := &hypothesis{prep: p, rooms: new(scratch.Stack[places]), fields: fields.Of(p),
		family: new(int)}
	if f := format.Lookup(p.Format); f != nil {
		h.dense = f.Dense && !p.Words()
	}
	if p.Words() {
		h.lead = p.Numbers()
	}
	if p.Bias == "append" {
		h.bias, h.value = 1, 1
		if p.BiasValue != 0 {
			h.value = p.BiasValue
		}
	}
	for f, name := range h.fields.Names() {
		if name == "" {
			continue
		}
		if h.names == nil {
			h.names = make(map[string]int, p.Dim)
		}
		h.names[name] = f
	}
	return h
}

// columns reports whether each example has all features: as its format has, or as those had that
// its features were scaled by, where 0 is a value like others and no feature that is missing.
func (h *hypothesis) columns() bool {
	k := h.prep.Scaling
	return h.dense || k != nil && k.Columns && !h.prep.Words()
}

// check panics where there is no model.
func (h *hypothesis) check() {
	if h == nil {
		panic("halfspace: a Model that is not of Train, New or Load")
	}
}

// Classes returns the names of the classes, as the training data wrote them, in the order of
// Scores; of a model of two labels the negative and the positive one.
func (h *hypothesis) Classes() []string {
	if h.check(); !h.many {
		negative, positive := h.Labels()
		return []string{negative, positive}
	}
	return slices.Clone(h.prep.Classes)
}

// classOf returns the number of a class; that of the next one for a label that is new. text: the
// label is one where it comes from, see Rows.Texts.
func (h *hypothesis) classOf(label string, text bool) (int, error) {
	h.check()
	p := h.prep
	if i := format.FindLabel(p.Classes, label, text); i >= 0 {
		return i, nil
	}
	if h.closed || label == "" {
		return 0, fmt.Errorf("halfspace: label is %q, want one of %d classes: %w", label,
			len(p.Classes), ErrLabel)
	}
	return len(p.Classes), nil
}

// Labels returns the names of the two labels, as the training data wrote them; "" with classes,
// which Classes has. Where one label was
// learned against the rest, negative is the one that training met of the rest, or not-POSITIVE.
func (h *hypothesis) Labels() (negative, positive string) {
	if h.check(); h.many {
		return "", ""
	}
	l := h.prep.Shown()
	return l.Negative, l.Positive
}

// sign returns the number of a label; text as classOf has it.
func (h *hypothesis) sign(label string, text bool) (float64, error) {
	h.check()
	l := h.prep.Labels.OrDefault()
	names := []string{l.Positive, l.Negative}
	if l.Negative == "" {
		names = names[:1]
	}
	switch i := format.FindLabel(names, label, text); {
	case i == 0:
		return 1, nil
	case i == 1 || l.Negative == "":
		return -1, nil
	}
	return 0, fmt.Errorf("halfspace: label is %q, want %q or %q: %w", label, l.Negative, l.Positive,
		ErrLabel)
}

// Score returns f(x): its sign is the label's, and larger scores are more certain. It has no unit.
// With classes it is the largest of Scores, NaN before there is one.
func (h *hypothesis) Score(r *Row) (float64, error) {
	_, f, err := h.best(r)
	return f, err
}

// best returns the label that is predicted and its score.
func (h *hypothesis) best(r *Row) (label string, score float64, err error) {
	h.check()
	room := h.rooms.Take()
	defer h.rooms.Give(room)
	if room.f, err = h.Scores(r, room.f[:0]); err != nil {
		return "", 0, err
	}
	label, score = h.says(room.f)
	return label, score, nil
}

// places is scratch for a row's outputs.
type places struct{ f []float64 }

// Scores appends the row's scores to dst: one for each of Classes, and Score of two labels.
func (h *hypothesis) Scores(r *Row, dst []float64) ([]float64, error) {
	if err := r.check(h); err != nil {
		return dst, err
	}
	return h.score.outputs(h, r, dst)
}

// Label returns the label that is predicted, as the training data wrote it: the positive one for a
// score of 0 or more, or of the threshold that Options.Threshold had found, which LearnOne doesn't
// renew; of classes the first one of the largest score. A score that is NaN predicts none: "".
func (h *hypothesis) Label(r *Row) (string, error) {
	label, _, err := h.best(r)
	return label, err
}

// From returns the score of two labels from which on Label says the positive one: 0, or what
// Options.Threshold had found.
func (h *hypothesis) From() float64 { return h.from }

// says returns the label that scores predict, and the score of that.
func (h *hypothesis) says(outputs []float64) (label string, score float64) {
	if !h.many {
		return h.label(outputs[0] - h.from), outputs[0]
	}
	best := h.predicted(outputs)
	if best < 0 {
		return "", math.NaN()
	}
	return h.prep.Classes[best], outputs[best]
}

// predicted returns the number, in Classes, of the label that scores predict; -1 of none.
func (h *hypothesis) predicted(outputs []float64) int {
	if h.many {
		return learner.Predicted(outputs)
	}
	switch f := outputs[0]; {
	case f >= h.from:
		return 1
	case f < h.from:
		return 0
	}
	return -1
}

func (h *hypothesis) label(f float64) string {
	negative, positive := h.Labels()
	switch {
	case f >= 0:
		return positive
	case f < 0:
		return negative
	}
	return ""
}

// Proba returns the probability of the positive label, or of the most probable class: that of the
// calibration, where training had Options.Calibrate, which LearnOne doesn't renew; ErrProba if
// the learner has none.
func (h *hypothesis) Proba(r *Row) (float64, error) {
	h.check()
	room := h.rooms.Take()
	defer h.rooms.Give(room)
	var err error
	if room.f, err = h.Probas(r, room.f[:0]); err != nil {
		return 0, err
	}
	return largest(room.f), nil
}

// Probas appends the row's probabilities to dst: one for each of Classes, and Proba of two labels;
// ErrProba if the learner has none.
func (h *hypothesis) Probas(r *Row, dst []float64) ([]float64, error) {
	if err := r.check(h); err != nil {
		return dst, err
	}
	return h.score.proba(h, r, dst)
}

// largest returns the largest of some probabilities; NaN of none.
func largest(p []float64) float64 {
	if len(p) == 0 {
		return math.NaN()
	}
	return slices.Max(p)
}

// Weights returns, for each of Outputs, the weights of the features, those of Row.At in their
// order, and what is added to their sum; ok is false where scores are not such sums (kernels,
// votes, random features). They are of features as the learner has them: scaled and normalised as
// the model says. Cost: a copy.
func (h *hypothesis) Weights() (weights [][]float64, biases []float64, ok bool) {
	h.check()
	of, ok := h.score.hypothesis()
	if !ok || of.Fourier != nil || of.Pairs {
		return nil, nil, false
	}
	for _, o := range of.Outputs {
		if o.Weights == nil {
			return nil, nil, false
		}
		w, bias := o.Weights, o.Bias
		if h.bias > 0 && len(w) > 0 {
			bias, w = bias+w[0]*(h.value/h.divisor()), w[1:]
		}
		for j := range w {
			w[j] /= o.Divisor
		}
		weights, biases = append(weights, w), append(biases, bias/o.Divisor)
	}
	return weights, biases, true
}

// divisor is what all examples are divided by, the appended feature included.
func (h *hypothesis) divisor() float64 {
	if h.prep.Normalize == "max" {
		return h.prep.Scale
	}
	return 1
}

// Scales returns, for each of the Features, what brings a value x to the learner's scale:
// (x - shift) factor, up to rounding. Rows of Normalize unit are divided by their length then.
func (h *hypothesis) Scales() (shift, factor []float64) {
	h.check()
	shift, factor = make([]float64, h.prep.Dim), make([]float64, h.prep.Dim)
	for j := range factor {
		factor[j] = 1
		if k := h.prep.Scaling; k != nil {
			shift[j], factor[j] = k.Affine(j)
		}
		factor[j] /= h.divisor()
	}
	return shift, factor
}

// FeatureNames returns the names of features in the order of their numbers, "" for one without; nil
// where features have numbers only. There may be fewer than Features.
func (h *hypothesis) FeatureNames() []string {
	h.check()
	return h.prep.FeatureNames()
}

// Features returns the number of features, a bias not counted: of a model without named features
// the largest number so far.
func (h *hypothesis) Features() int {
	h.check()
	return h.prep.Dim
}

// Prediction is what is predicted of a row of a file.
type Prediction struct {
	Label  string  // as Label returns it
	Score  float64 // as Score
	Proba  float64 // as Proba; NaN where the learner has none
	Actual string  // the row's own label, if it has one that the model knows; "" else
}

// Predict predicts the rows of files, which are prepared as the training set was; labels are not
// needed. The first error ends it, and so does ctx, within 256 rows. Files are read in parallel
// with what is done with predictions.
func (h *hypothesis) Predict(ctx context.Context, files ...string) iter.Seq2[Prediction, error] {
	reading := h.reading()
	return func(yield func(Prediction, error) bool) {
		err := h.score.each(ctx, reading, files, func(row *said) bool {
			next := Prediction{Proba: largest(row.proba)}
			next.Label, next.Score = h.says(row.outputs)
			switch {
			case !row.labelled:
			case h.many:
				next.Actual = h.prep.Classes[row.class]
			default:
				next.Actual = h.label(row.y)
			}
			return yield(next, nil)
		})
		if err != nil {
			yield(Prediction{}, err)
		}
	}
}

// Test predicts the rows of files and counts the errors among those that have a label. One that the
// model doesn't know is an error, and so is a score that is NaN.
func (h *hypothesis) Test(ctx context.Context, files ...string) (examples, errors int64,
	err error) {
	reading := h.reading()
	err = h.score.each(ctx, reading, files, func(row *said) bool {
		if !row.labelled && !row.foreign {
			return true
		}
		f := row.outputs
		right := row.labelled && h.many && learner.Predicted(f) == row.class
		if row.labelled && !h.many {
			right = f[0] >= h.from && row.y > 0 || f[0] < h.from && row.y < 0
		}
		if examples++; !right {
			errors++
		}
		return true
	})
	return examples, errors, err
}

// reading says how files to be predicted are read.
func (h *hypothesis) reading() dataset.Options {
	h.check()
	o := (&Data{}).Reading()
	training.AsTrained(&o, &model.Model{Prep: *h.prep})
	o.LabelsOptional = true
	return o
}

// eof takes io.EOF for no error.
func eof(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
