package training

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// resumed is where the run stood that is gone on with.
type resumed struct {
	position *model.Position
	standing *eval.Standing
	older    bool // tallies are in the form of an earlier version, and left out
}

// placed reports whether the source begins where the run stood, or some rows before.
func (r *resumed) placed() bool { return r != nil && r.position.Sources[0].At != "" }

// toSkip returns how many examples of the source are behind the place where the run stood.
func (r *resumed) toSkip() int64 {
	if r.placed() {
		return int64(r.position.Sources[0].Rows)
	}
	return r.standing.At
}

// trained is the model by which rows become examples; nil where the data say that. A run that is
// gone on with reads them again from their beginning, as it did the first time.
func (j *Job) trained() *model.Model {
	if j.o.Resume && j.o.From == "" && !j.at.placed() {
		return nil
	}
	return j.before
}

// resume takes up the run of Options.Model: its options, and the model as what is gone on from.
func (j *Job) resume() error {
	given := j.o
	if err := given.validResume(); err != nil {
		return err
	}
	from := given
	from.From = given.Model
	if err := from.roomForModel(&j.env.Machine); err != nil {
		return err
	}
	m, err := j.load(given.Model)
	if err != nil {
		return err
	}
	if err := m.Learnable(); err != nil {
		return wrapped(ErrModel, err)
	}
	p := m.Position
	if p == nil {
		if m.Pass != nil || learner.WasCut(m.State) {
			return newError(ErrModel, "To go on with its pass: {from} and {until_converged}.",
				"%s was cut without its position", given.Model)
		}
		return newError(ErrFinished, "To learn other examples, too: {from}.",
			"%s: its run came to its end", given.Model)
	}
	j.at = &resumed{position: p, standing: &eval.Standing{}}
	if j.at.placed() && j.env.Open == nil {
		return wrapped(ErrModel, fmt.Errorf("%s: its run stood in %s at %s, which is no file; "+
			"go on with a program that reads it", given.Model, p.Sources[0].Name,
			p.Sources[0].At))
	}
	if err := j.at.read(m); err != nil {
		return wrapped(ErrModel, fmt.Errorf("%s: position: %w; restore a copy, or train anew",
			given.Model, err))
	}
	if j.at.older {
		j.observer.Odd("an earlier version wrote the model: its counts go on, metrics, curve, " +
			"calibration and drift begin again here")
	}
	if j.o, err = given.again(m); err != nil {
		return err
	}
	m.Presented -= uint64(j.at.standing.Presented()) // of the runs before
	m.Mistakes -= uint64(j.at.standing.Mistakes)
	j.before = m
	return nil
}

// validResume looks at what must be given to go on with a run.
func (o *Options) validResume() error {
	switch {
	case o.Model == "":
		return badOption("Name the model file: {model}.", "{resume} without a model file")
	case o.From != "":
		return badOption("{resume} goes on with the run that wrote {model}, {from} begins another.",
			"{resume} and {from} exclude each other")
	case len(o.Files) == 0:
		return badOption("Name those of the run; - is standard input.", "{files}: none is given")
	}
	return nil
}

// read reads the counts, which must be those of the position and of the model.
func (r *resumed) read(m *model.Model) error {
	p, s := r.position, r.standing
	if err := strict(p.Counts, s); err != nil {
		return fmt.Errorf("counts: %v: %w", err, model.ErrDamaged)
	}
	whole := p.Examples > 0
	if !s.Valid() || uint64(s.Epochs) != p.Epoch || uint64(s.At) != p.Example ||
		uint64(s.Examples) != p.Examples || whole && s.Data != p.Data || !whole && s.Data != 0 ||
		p.Sources[0].Rows > p.Example || uint64(s.Presented()) > m.Presented ||
		uint64(s.Mistakes) > m.Mistakes {
		return fmt.Errorf("counts %s are not those of the model: %w", p.Counts, model.ErrDamaged)
	}
	counted := uint64(0)
	for _, n := range p.ClassCounts {
		counted += min(n, p.Example+1)
	}
	if p.ClassCounts != nil && counted != p.Example {
		return fmt.Errorf("the examples of classes %v are not %d: %w", p.ClassCounts, p.Example,
			model.ErrDamaged)
	}
	if len(p.Tallies) == 0 || p.Tallies[0] == '{' {
		s.Tallies = p.Tallies
		return nil
	}
	if s.Waiting > 0 {
		return fmt.Errorf("an earlier version kept %d examples that wait for their labels in "+
			"another form: %w", s.Waiting, model.ErrNewer)
	}
	r.older = true
	return nil
}

// strict decodes JSON without unknown keys.
func strict(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// free are the fields of Options that a position does not have: those that are in the rest of the
// model, files, measurements, and what is computed with. A field that is not among them is the
// run's for ever, and can't be given another value when it is gone on with.
var free = []string{"Learner", "Precision", "Seed", "Config", "Literal", "Settings", "Files",
	"Model", "Resume", "PredictOnly", "Test", "MarginReport", "MarginSVM", "Latency",
	"Threads", "MemBudget", "KeepSizes"}

// tallied are the fields of what is tallied on the way: a run that is gone on with tallies what it
// did, and may tally more.
var tallied = []string{"Proba", "AUC", "Window", "Fading", "Curve"}

// setFree gives the free fields of o the values of from.
func (o *Options) setFree(from Options) { o.set(free, from) }

// set gives fields of o the values of from.
func (o *Options) set(fields []string, from Options) {
	to, v := reflect.ValueOf(o).Elem(), reflect.ValueOf(from)
	for _, name := range fields {
		to.FieldByName(name).Set(v.FieldByName(name))
	}
}

// setTallied gives the fields of what is tallied the values of given, where they have some. There
// is a window, or there is fading.
func (o *Options) setTallied(given Options) {
	if given.Window > 0 || given.Fading > 0 {
		o.Window, o.Fading = 0, 0
	}
	v := reflect.ValueOf(given)
	for _, name := range tallied {
		if !v.FieldByName(name).IsZero() {
			o.set([]string{name}, given)
		}
	}
}

// Kept returns the options that decide a run's result and are not in the rest of its model: without
// those of the learner, files, measurements, and what is computed with.
func (o Options) Kept() Options {
	o.setFree(Options{})
	if !o.UntilConverged {
		o.Epochs = max(1, o.Epochs)
	}
	return o
}

// again returns the options of the run that wrote m, with those that are given where these don't
// change its result. What is given besides must be as it was.
func (o Options) again(m *model.Model) (Options, error) {
	var r Options
	if err := strict(m.Position.Options, &r); err != nil {
		return o, wrapped(ErrModel, fmt.Errorf("%s: position: options: %v: %w; use the version "+
			"that wrote it", o.Model, err, model.ErrNewer))
	}
	if err := o.repeats(m); err != nil {
		return o, err
	}
	if err := o.agree(r); err != nil {
		return o, err
	}
	if o.OnError != "" { // rows before the place are compared all the same
		r.OnError = o.OnError
	}
	if o.MaxLine != 0 {
		r.MaxLine = o.MaxLine
	}
	r.setFree(o)
	r.setTallied(o)
	if o.CheckpointEvery != "" {
		if r.CheckpointEvery == "" && r.UntilConverged && !r.Shuffle && !r.ofWhole() {
			return o, badOption("Leave it out.", "{checkpoint_every} %s would change how the run "+
				"of the model passes over its examples, which has none", o.CheckpointEvery)
		}
		r.CheckpointEvery = o.CheckpointEvery
	}
	return r, nil
}

// basesOf returns the names of the learners that m's gives its examples to: of several classes that
// of two, of random features that on them. They were named when it was trained, and not it.
func basesOf(m *model.Model) (names []string) {
	type config struct {
		Base   string          `json:"base"`
		Config json.RawMessage `json:"base_config"`
	}
	for text := m.Config; len(names) < 4; {
		var c config
		if json.Unmarshal(text, &c) != nil || c.Base == "" {
			break
		}
		names, text = append(names, c.Base), c.Config
	}
	return names
}

// agree refuses fields that are not as in the run of those options.
func (o Options) agree(run Options) error {
	have, err := run.fields()
	if err != nil {
		return err
	}
	want, err := o.fields()
	if err != nil {
		return err
	}
	if o.Epochs == 0 {
		delete(want, "epochs")
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		was, there := have[key]
		if !there {
			was = "none"
		}
		if was != want[key] {
			value := " " + want[key]
			if value == " true" {
				value = ""
			}
			return badOption("Leave it out: the model brings its settings.",
				"{"+key+"}%s contradicts the run of the model, which has %s", value, was)
		}
	}
	return nil
}

// fields are the options that decide a result and were given, as texts, but for those that repeats
// compares with the model, and those that may change between two rows.
func (o Options) fields() (map[string]string, error) {
	o = o.Kept()
	o.set(tallied, Options{})
	o.From, o.CheckpointEvery, o.Bias, o.Normalize, o.Scale = "", "", "", "", ""
	o.OnError, o.MaxLine, o.Rho = "", 0, 0
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var list map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for key, value := range list {
		s := strings.Trim(string(value), `"`)
		if s != "auto" && s != "none" && s != "stop" { // as where none is given
			fields[key] = s
		}
	}
	return fields, nil
}

// position is where the run stands, for its model.
func (j *Job) position(s *eval.Standing) (*model.Position, error) {
	counts, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	options, err := json.Marshal(j.o.Kept())
	if err != nil {
		return nil, err
	}
	p := &model.Position{Epoch: uint64(s.Epochs), Example: uint64(s.At),
		Examples: uint64(s.Examples), Data: s.Data, Options: options, Counts: counts,
		Passed: j.passed, Tallies: s.Tallies}
	if s.Examples == 0 && j.sum != nil && !j.at.placed() {
		p.Data = j.sum(s.At)
	}
	for _, name := range j.o.Files {
		from := model.SourcePosition{Name: strings.ToValidUTF8(name, "?")}
		if j.env.Open != nil && j.place == nil { // data in memory have no place
			p.Sources = append(p.Sources, from)
			continue
		}
		if j.env.Open != nil {
			at, rows := j.place(s.At)
			if at == "" && j.at.placed() {
				at = j.at.position.Sources[0].At
			}
			if from.At = strings.ToValidUTF8(at, "?"); at != "" {
				from.Rows, p.Data = uint64(rows), 0
				p.ClassCounts = j.classCounts(s.At)
			}
		} else if st, err := j.data.Stat(name); err == nil && st.Mode().IsRegular() {
			from.Size = uint64(st.Size())
		}
		p.Sources = append(p.Sources, from)
	}
	return p, nil
}

// changed is the error of other examples than those of the run; how says what is seen of it.
func (j *Job) changed(how string) error {
	p := j.at.position
	if how == "" {
		how = fmt.Sprintf("the examples are not those of its run (%d in a pass)", p.Examples)
	}
	var list []string
	for _, s := range p.Sources {
		text := s.Name
		if s.Size > 0 {
			text += fmt.Sprintf(" (%d bytes)", s.Size)
		}
		list = append(list, text)
	}
	return newError(ErrChanged, "Give the examples as they were, from their beginning: "+
		strings.Join(list, ", ")+". To learn others on top of the model: {from}.",
		"%s: %s", j.o.Model, how)
}

// nowhere makes an error of a place that is none of the run's one that says what is wrong with it.
func (j *Job) nowhere(err error) error {
	switch {
	case errors.Is(err, eval.ErrStanding):
		return j.changed("")
	case errors.Is(err, eval.ErrTallies):
		return wrapped(ErrModel, fmt.Errorf("%s: position: %w: %w; restore a copy, or train anew",
			j.o.Model, err, model.ErrDamaged))
	}
	return err
}

// behind is a source without its first examples, which the learner knows; it looks whether they are
// those.
type behind[T engine.Float] struct {
	src  eval.Source[T]
	j    *Job
	left int64 // to be left out
	view engine.Block[T]

	stream *dataset.Stream[T]
	lo     int // where view begins in the stream's block
}

func (s *behind[T]) Next() (*engine.Block[T], error) {
	s.lo = 0
	if s.left == 0 {
		return s.src.Next()
	}
	at := uint64(s.j.at.toSkip())
	for {
		b, err := s.src.Next()
		if err == io.EOF || errors.Is(err, ErrPaused) {
			return nil, s.j.changed(fmt.Sprintf("it stood after %d examples, and there are %d",
				at, at-uint64(s.left)))
		}
		if err != nil {
			return nil, err
		}
		n := min(s.left, int64(b.Len()))
		if s.j.trained() == nil { // else the model's scale has them
			s.learnScale(int(n))
		}
		if s.left -= n; s.left > 0 {
			continue
		}
		if !s.j.at.placed() && s.j.sum(int64(at)) != s.j.at.position.Data {
			return nil, s.j.changed(fmt.Sprintf("the first %d examples are not those that it was "+
				"taught", at))
		}
		if s.view = b.Slice(int(n), b.Len()); s.view.Len() > 0 {
			s.lo = int(n)
			return &s.view, nil
		}
		return s.src.Next()
	}
}

// learnScale has the scale know the first n rows of the stream's block, bare ones left out.
func (s *behind[T]) learnScale(n int) {
	if s.j.o.IDCol == "" {
		s.stream.Prepare(0, n)
		return
	}
	for i := range n {
		if _, bare := s.stream.ID(i); !bare {
			s.stream.Prepare(i, i+1)
		}
	}
}

// prepare is eval.Options.Prepare.
func (s *behind[T]) prepare(lo, hi int) { s.stream.Prepare(s.lo+lo, s.lo+hi) }

// Wait is eval.Waiter's.
func (s *behind[T]) Wait(d time.Duration) bool { return s.left > 0 || eval.Wait(s.src, d) }
