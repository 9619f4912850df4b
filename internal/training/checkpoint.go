package training

import (
	"fmt"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Saved is a model file that was written.
type Saved struct {
	Path      string `json:"path"`
	SHA256    string `json:"sha256"`    // of the file's bytes, in hex
	Presented int64  `json:"presented"` // examples of this run until then
}

// capture makes the model of what was learned so far. Its counters go on from those of the model of
// Options.From, up to model.MaxCount, where they stay. A model that only predicts has no Pass, as
// nothing goes on from it.
func capture[T engine.Float](j *Job, l learner.Learner[T], info dataset.Info,
	r eval.Result) (*model.Model, error) {
	var m *model.Model
	var err error
	if j.o.PredictOnly {
		m, err = model.CapturePredictor(j.name, j.config, j.seed, learner.ViewOf(l))
	} else {
		m, err = model.Capture(j.name, j.config, j.seed, l)
	}
	if err != nil {
		return nil, err
	}
	m.Prep = prepOf(j.data, info, j.trained())
	m.Presented, m.Mistakes, m.Pass = uint64(r.Presented), uint64(r.Mistakes), r.Pass
	if j.o.PredictOnly {
		m.Pass = nil
	} else if r.Standing != nil {
		if m.Position, err = j.position(r.Standing); err != nil {
			return nil, err
		}
	}
	if m.Calibration = r.Calibration; m.Calibration == nil && j.before != nil {
		m.Calibration = j.before.Calibration // the first pass, whose scores it was of, is over
	}
	if m.Threshold = r.Threshold; m.Threshold == nil && j.before != nil {
		m.Threshold = j.before.Threshold
	}
	if m.Calibration != nil {
		c := m.Calibration.ForOutputs(len(m.Prep.Classes))
		m.Calibration = &c
	}
	if j.before != nil {
		m.Note = j.before.Note
		m.Presented = min(m.Presented+j.before.Presented, model.MaxCount)
		m.Mistakes = min(m.Mistakes+j.before.Mistakes, model.MaxCount)
	}
	m.Rows, err = j.rows(info, r)
	return m, err
}

// save writes the model of what was learned so far. Garbage is collected first: the State is a copy
// of the learner's tables, so this is where a run takes most.
func save[T engine.Float](j *Job, l learner.Learner[T], info dataset.Info, r eval.Result) error {
	j.collect()
	if t := j.env.Trace; t != nil && t.Flush != nil {
		if err := t.Flush(); err != nil {
			return wrapped(ErrSave, err)
		}
	}
	m, err := capture(j, l, info, r)
	if err != nil {
		return wrapped(ErrSave, err)
	}
	sum, err := model.Save(j.o.Model, m)
	if err != nil {
		return wrapped(ErrSave, err)
	}
	j.saved = &Saved{Path: j.o.Model, SHA256: sum, Presented: r.Presented}
	j.observer.Saved(*j.saved)
	return nil
}

// Load reads a model file to predict with or to go on from, and refuses one that takes more than
// three quarters of the machine's memory for its settings and up to the last of its features,
// before a learner is made of it: an Error of kind ErrModel. Other errors are those of package
// model.
func Load(path string, machine Machine) (*model.Model, error) {
	m, err := model.Load(path)
	if err != nil {
		return nil, err
	}
	_, config, err := m.Settings()
	if err != nil {
		return nil, err
	}
	if machine.Bytes > 0 {
		if err := modelFits(path, m, config, machine.Bytes/4*3); err != nil {
			e := wrapped(ErrModel, err)
			by := machine.says()
			e.next = fmt.Sprintf("%s %s; three quarters of that are for a model.",
				strings.ToUpper(by[:1])+by[1:], inMiB(machine.Bytes))
			return nil, e
		}
	}
	return m, nil
}

// modelFits refuses a model whose learner takes more than most bytes. A small file can ask for
// much: by its settings (the number of members, a buffer), or by one feature of a large index, as
// tables are as long as the largest one.
func modelFits(name string, m *model.Model, c learner.Config, most int64) error {
	x := learner.Extent{Elem: 4, Longest: 1} // bytes of a float32; no example need be longer
	if m.Precision == "f64" {
		x.Elem = 8
	}
	what := "the settings"
	for _, t := range m.State.Tensors {
		if idx, ok := t.Data.([]int32); ok && (t.Name == "features" ||
			strings.HasSuffix(t.Name, "_idx")) {
			for _, j := range idx {
				if n := int64(j) + 1; n > x.Features {
					x.Features, what = n, fmt.Sprintf("the tensor %s, whose last feature is %d",
						t.Name, j)
				}
			}
		}
	}
	need := c.Traits().Memory(x).Held()
	// a row of all features is made of an example that is kept
	if kept := 8 * x.Features; need < kept {
		need = kept
	}
	if need > most {
		return fmt.Errorf("%s: %s takes %s for %s", name, m.Learner, inMiB(need), what)
	}
	return nil
}
