// Package model is the model file: one open container for every learner, with all that predicting
// and training on need.
//
// # The file
//
// The layout is that of safetensors, so any safetensors library reads the tensors:
//
//	8 bytes     length n of the header, little-endian
//	n bytes     the header: JSON, keys sorted, padded with blanks to a multiple of 8
//	the rest    the tensors, little-endian, row-major, without gaps; larger elements first, then
//	            by name, so all are aligned
//
// The header maps a tensor's name to {"data_offsets": [from, to], "dtype": ..., "shape": [...]}
// with dtype F32, F64, I64, U64, I32 or U8, and "__metadata__" to strings, as safetensors demands:
//
//	format      "halfspace"
//	version     "1", or "2" where the document has keys that programs of version 1 can't read
//	halfspace   a JSON document: learner, precision, config, seed, prep, counters and
//	            scalars; see Model
//	sha256      SHA-256 of the whole file with these 64 digits taken as 0
//
// Nothing in it depends on threads, implementation, block size or time: equal training gives equal
// bytes.
//
// # Errors
//
// All errors of reading wrap one of the Err values, name the field, and say what was found and what
// to do. A file is checked before memory is taken for what it claims to hold, so reading takes
// memory in proportion to the file's length; keys of its JSON stand there once and letter for
// letter. Restore takes what the settings take, and what learners of sparse examples have for
// features up to the last of the state: [learner.Config] says by Memory how much. Restore looks
// learners up by name, so a program that restores imports package learners. What Restore would
// refuse is not captured, so what training has saved can be loaded.
//
// # Models that only predict
//
// A model made by CapturePredictor holds what scores and probabilities are made of
// and not what learning on needs: "predict_only" in the document is true, and the counters, scalars
// and tensors are those of a learner.Predictor. RestorePredictor takes models of both kinds,
// Restore refuses it with ErrPredictOnly.
package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Errors of this package, wrapped with what was found.
var (
	ErrForeign   = errors.New("not a halfspace model")     // another kind of file
	ErrTruncated = errors.New("the model file ends early") // cut off
	ErrDamaged   = errors.New("the model file is damaged") // checksum or structure is wrong
	// another format version, or a learner that is not known here
	ErrNewer = errors.New("written by a newer halfspace")
	// Restore was asked for the other type
	ErrPrecision = errors.New("model of another precision")
	// a NaN or an infinity among tensors or scalars
	ErrNotFinite = errors.New("weights are not finite numbers")
	// Encode was given names or shapes that the container can't hold
	ErrInvalid = errors.New("not a model that can be written")
	// Save was given a folder, a device or the like
	ErrTarget = errors.New("not a place for a model file")

	// ErrPredictOnly is returned where a model was asked to learn on that holds only what predicts.
	ErrPredictOnly = errors.New("the model can only predict")
)

// Model is what a file holds.
type Model struct {
	Learner   string          // as registered
	Precision string          // of the examples and weights: "f32" or "f64"
	Config    json.RawMessage // the learner's settings
	Seed      uint64          // of the draws
	Prep      Prep
	Presented uint64        // examples learned, repetitions counted
	Mistakes  uint64        // y f <= 0 before learning, over all presented
	Pass      *learner.Pass // where passes until convergence were stopped; nil: nowhere
	Position  *Position     // where a run stood that was not at its end; nil: it was, or none did
	State     learner.State // tensors by falling element size, then by name, after Decode

	// Calibration has the probabilities that scores of two classes stand for; nil: none was fitted.
	Calibration *learner.Calibration

	// Threshold is the score of two classes from which on the label is +1; nil: 0.
	Threshold *learner.Threshold

	// Rows says which part of the rows the run has learned that wrote the model; nil: all.
	Rows *Rows

	PredictOnly bool // State is of a learner.Predictor, which can't learn on; no Pass or Position

	// Note is a text that the program that saved the model keeps in it for its own use. Nothing in
	// this module reads it. At most MaxNote bytes; "": none.
	Note string
}

// MaxNote is the largest length of a Note, in bytes.
const MaxNote = 1 << 24

// document is the JSON document in the metadata. Its order of fields is the order in the file.
type document struct {
	Learner   string             `json:"learner"`
	Precision string             `json:"precision"`
	Config    json.RawMessage    `json:"config"`
	Seed      uint64             `json:"seed"`
	Prep      Prep               `json:"prep"`
	Presented uint64             `json:"presented"`
	Mistakes  uint64             `json:"mistakes"`
	Counters  map[string]uint64  `json:"counters"`
	Scalars   map[string]float64 `json:"scalars"`
	Pass      *learner.Pass      `json:"pass,omitempty"`
	Position  *Position          `json:"position,omitempty"`

	Calibration *learner.Calibration `json:"calibration,omitempty"`
	Threshold   *learner.Threshold   `json:"threshold,omitempty"`

	Rows *Rows `json:"rows,omitempty"`

	PredictOnly bool `json:"predict_only,omitempty"`

	Note string `json:"note,omitempty"`
}

// precision names T as Model.Precision does.
func precision[T learner.Float]() string {
	if _, ok := any(T(0)).(float32); ok {
		return "f32"
	}
	return "f64"
}

// Capture returns a Model of a learner: its name, settings, seed and state. The other fields are
// the caller's to fill; of Prep, the labels are -1 and +1 until then, and examples need no
// preparation. What Restore would refuse is refused: ErrNotFinite where learning has diverged, else
// ErrInvalid with the learner's error (for learners that have CheckState, as all of this module
// do). Cost: the state is copied, and gone over twice.
func Capture[T learner.Float](name string, c learner.Config, seed uint64, l learner.Learner[T]) (
	*Model, error) {
	m, err := captured[T](name, c, seed, l.State())
	if err != nil {
		return nil, err
	}
	if err := l.CheckState(m.State); err != nil {
		return nil, fmt.Errorf("%w, so it could not be loaded again: %w", err, ErrInvalid)
	}
	return m, nil
}

// captured returns a model of a State, whose settings are valid and whose numbers are finite.
func captured[T learner.Float](name string, c learner.Config, seed uint64,
	s learner.State) (*Model, error) {
	config, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("settings of %s: %v: %w", name, err, ErrInvalid)
	}
	m := &Model{Learner: name, Precision: precision[T](), Config: config, Seed: seed,
		Prep: Prep{Labels: defaultLabels}, State: s}
	for k, n := range m.State.Counters {
		m.State.Counters[k] = min(n, MaxCount)
	}
	if _, _, err := m.Settings(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrInvalid)
	}
	return m, m.finite()
}

// Settings returns the entry of the model's learner and its settings, decoded and validated.
func (m *Model) Settings() (learner.Entry, learner.Config, error) {
	e, err := learner.Lookup(m.Learner)
	if err != nil {
		return e, nil, fmt.Errorf("%v: %w; use the version that wrote it", err, ErrNewer)
	}
	c := e.Config()
	err = json.Unmarshal(m.Config, c)
	if err == nil {
		err = exactKeys(m.Config, reflect.ValueOf(c))
	}
	if err != nil {
		return e, nil, fmt.Errorf("settings of %s: %v: %w; use the version that wrote it",
			m.Learner, err, ErrNewer)
	}
	if err := c.Validate(); err != nil {
		return e, nil, fmt.Errorf("settings: %w: %w", err, ErrDamaged)
	}
	return e, c, nil
}

// Learnable returns ErrPredictOnly, with what to do, for a model that can't be learned on.
func (m *Model) Learnable() error {
	if m.PredictOnly {
		return fmt.Errorf("%w: it was saved without what learning on needs; take the model of the "+
			"whole learner, or train anew", ErrPredictOnly)
	}
	return nil
}

// settingsFor is Settings of a model that must be of that precision.
func (m *Model) settingsFor(want string) (learner.Entry, learner.Config, error) {
	if m.Precision != want {
		return learner.Entry{}, nil, fmt.Errorf("the model is %s, asked for %s: %w; "+
			"ask for Model.Precision %s", m.Precision, want, ErrPrecision, m.Precision)
	}
	return m.Settings()
}

// Restore returns a learner that goes on where the captured one stopped. T must be the model's
// Precision; the pool may be nil.
func Restore[T learner.Float](m *Model, pool *engine.Pool) (learner.Learner[T], error) {
	e, c, err := m.settingsFor(precision[T]())
	if err != nil {
		return nil, err
	}
	if err := m.Learnable(); err != nil {
		return nil, err
	}
	l, err := learner.New[T](e, c, learner.Env{Seed: m.Seed, Pool: pool, Restored: true})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	if err := l.SetState(m.State); err != nil {
		return nil, fmt.Errorf("%w: %w; train anew", err, ErrDamaged)
	}
	return l, nil
}

// MaxCount is the most that a counter of examples, updates and the like may be. Nothing reaches it
// by counting; Capture writes it for what is beyond, so that a file with counters made up can be
// learned on.
const MaxCount = learner.MaxCount

// written names the first part besides the state that is not as files have it.
func (m *Model) written() error {
	switch {
	case m.Precision != "f32" && m.Precision != "f64":
		return fmt.Errorf("precision is %q, want f32 or f64", m.Precision)
	case !bytes.HasPrefix(m.Config, []byte("{")):
		return fmt.Errorf("settings are %q, want a JSON object", m.Config)
	case m.Presented > MaxCount:
		return fmt.Errorf("counter presented is %d, want at most %d", m.Presented, uint64(MaxCount))
	case m.Pass != nil && m.PredictOnly:
		return errors.New("pass is where training goes on, and the model can only predict")
	case m.Pass != nil && !m.Pass.Valid():
		return fmt.Errorf("pass is %+v, which is no place in a data set", *m.Pass)
	case m.Mistakes > MaxCount:
		return fmt.Errorf("counter mistakes is %d, want at most %d", m.Mistakes, uint64(MaxCount))
	case m.Position != nil && m.PredictOnly:
		return errors.New("position is where training goes on, and the model can only predict")
	case m.Position != nil:
		if err := m.Position.Check(); err != nil {
			return err
		}
	}
	if m.Calibration != nil {
		if err := m.Calibration.Check(max(1, len(m.Prep.Classes))); err != nil {
			return err
		}
	}
	if m.Threshold != nil {
		if err := m.Threshold.Check(); err != nil {
			return err
		}
		if len(m.Prep.Classes) > 0 {
			return errors.New("threshold is of two classes, and the model tells more")
		}
	}
	if m.Rows != nil {
		if err := m.Rows.Check(m.Presented, m.Mistakes); err != nil {
			return err
		}
	}
	if len(m.Note) > MaxNote || !utf8.ValidString(m.Note) {
		return fmt.Errorf("note has %d bytes, want at most %d of UTF-8", len(m.Note), MaxNote)
	}
	return m.Prep.check()
}

// finite refuses NaN and infinities: a learner that diverged is no model.
func (m *Model) finite() error {
	if err := m.State.CheckFinite(); err != nil {
		return fmt.Errorf("%s: %w: %w; %s", m.Learner, err, ErrNotFinite, learner.WhyDiverged)
	}
	return nil
}
