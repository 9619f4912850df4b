package training

import (
	"context"
	"io"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// Options.Epochs of 0 stands for FewEpochs passes, shuffled, over files of columns
// that have fewer than FewRows rows and FewFields values at most: one pass leaves too much of few
// examples unlearned. It stands for one pass over all else, and over streams.
const (
	FewEpochs = 5
	FewRows   = 10_000
	FewFields = 4_000_000
)

// leavesPasses reports whether how often the examples are gone through is left to what they are.
// It isn't where they come but once or are a part of all, where the run is about their order, or
// goes on from another one, where passes over them are another problem, and where a posterior would
// count each of them several times.
func (j *Job) leavesPasses() bool {
	o := j.o
	if o.Epochs != 0 || o.UntilConverged || o.From != "" || o.Resume || o.Rows != "" ||
		j.env.Open != nil || o.Delay > 0 || o.IDCol != "" || o.Drift != "" || o.Window > 0 ||
		o.Fading > 0 || !j.traits.Stream || j.traits.Posterior || !j.regular() {
		return false
	}
	o.Epochs = FewEpochs
	return !o.needsWhole(j.traits)
}

// settlePasses gives Options.Epochs and Shuffle the values that they are left to. Of the files no
// more is read than FewRows rows, and where they are not of columns their beginning.
func (j *Job) settlePasses() {
	if !j.leavesPasses() {
		return
	}
	known := j.env.few
	if known == nil {
		known = &fewness{}
	}
	if !known.counted {
		known.counted = true
		o := j.data
		if j.o.MemBudget > 0 { // what can't be read within it, the run can't either
			j.env.Machine.limit(int64(j.o.MemBudget))
			o.Memory = j.o.readingShare(&j.env.Machine, 1) - dataset.MemoryBase
		}
		if j.precision == "f64" {
			known.few = isFew[float64](j.o.Files, o)
		} else {
			known.few = isFew[float32](j.o.Files, o)
		}
	}
	if j.few = known.few; j.few {
		j.o.Epochs, j.o.Shuffle = FewEpochs, true
	}
}

// fewness is whether files have few rows, once they were counted.
type fewness struct{ counted, few bool }

// isFew reports whether the files are of columns, and have few rows. Bad rows and what else is
// wrong with them are found, and told, when they are read to be learned.
func isFew[T engine.Float](files []string, o dataset.Options) bool {
	o.OnBad, o.OnWarn = nil, nil
	o.Scaling, o.Bias, o.Normalize = "none", "none", "none"
	if o.AnyClasses && o.Classes == nil {
		o.Classes = []string{} // however late a third one comes
	}
	s, err := dataset.Open[T](context.Background(), files, o)
	if err != nil {
		return false
	}
	defer s.Close()
	if !format.Lookup(s.Info().Kind).HasColumns() {
		return false
	}
	for {
		_, err := s.Next()
		in := s.Info()
		switch {
		case in.Rows >= FewRows || in.Rows*max(1, in.Columns) > FewFields:
			return false
		case err == io.EOF:
			return true
		case err != nil:
			return false
		}
	}
}
