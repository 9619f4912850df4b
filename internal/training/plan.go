package training

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// Way is how a run learns.
type Way string

// The ways of learning.
const (
	Stream Way = "stream" // once, as the examples come, whatever their number
	Passes Way = "passes" // one example after another, over examples in memory
	Whole  Way = "whole"  // over all examples in memory at once, until convergence
)

// Plan is what a run has found before it learns its first example, and what it will do.
type Plan struct {
	// What was found. Of a stream, so far: in its head, or with MemBudget in its first block.
	Files    []string         `json:"files"`
	Format   string           `json:"format"`
	Features int              `json:"features"`          // an appended one included; 0: not known
	Examples int              `json:"examples"`          // 0: not known
	Labels   dataset.LabelMap `json:"labels"`            // zero: not known, or more than two
	Classes  []string         `json:"classes,omitempty"` // so far, where there are more than two

	// What is resolved: settings without open ends.
	Learner   string         `json:"learner"`
	Config    learner.Config `json:"config"`
	Precision string         `json:"precision"`
	Seed      uint64         `json:"seed"`
	Threads   int            `json:"threads"`

	// How examples are prepared, and what of it the format of the data decided.
	Prepared Prepared `json:"prepared"`

	// How it learns.
	Way       Way    `json:"way"`
	Epochs    int    `json:"epochs"` // 0: until converged
	Shuffle   bool   `json:"shuffle"`
	Few       bool   `json:"few"`       // Epochs and Shuffle were left to the data: see FewEpochs
	From      string `json:"from"`      // model that is gone on from; "": none
	Presented uint64 `json:"presented"` // examples that it has learned

	// What memory goes where; nil without MemBudget.
	Memory *Split `json:"memory"`
}

// Prepared says how examples are prepared: see Data.
type Prepared struct {
	Scale     string `json:"scale"`
	Bias      string `json:"bias"`
	Normalize string `json:"normalize"`
	// Auto are the names of those that were left to the format, and that it set to something else
	// than "none", in this order; none where there are none.
	Auto []string `json:"auto"`
}

// String says it in words: "scale std, bias append, normalize unit".
func (p Prepared) String() string {
	return fmt.Sprintf("scale %s, bias %s, normalize %s", p.Scale, p.Bias, p.Normalize)
}

// preparedBy is how the run prepares examples, and what of it was left to their format.
func (j *Job) preparedBy() Prepared {
	or := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	p := Prepared{Scale: or(j.data.Scaling), Bias: or(j.data.Bias), Normalize: or(j.data.Normalize),
		Auto: slices.Clone(j.auto)}
	if k := j.data.Scaled; k != nil {
		p.Scale = k.Method
	}
	return p
}

// String is the plan in lines for people: data, what the format decided of how
// they are prepared, learner, way, from, memory.
func (p *Plan) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-8s %s\n", name, fmt.Sprintf(format, args...))
	}
	found := p.Format
	if p.Features > 0 {
		found += fmt.Sprintf(", %d features", p.Features)
	}
	if p.Examples > 0 {
		found += fmt.Sprintf(", %d examples", p.Examples)
	}
	if n := len(p.Classes); n > 0 {
		found += fmt.Sprintf("; %d classes", n)
	}
	if p.Labels.Positive != "" {
		found += fmt.Sprintf("; label %q is -1, %q is +1", p.Labels.Negative, p.Labels.Positive)
	}
	line("data", "%s: %s", strings.Join(p.Files, " "), found)
	if len(p.Prepared.Auto) > 0 {
		line("prepared", "%s, where nothing else is said of %s", p.Prepared, p.Format)
	}
	config, err := json.Marshal(p.Config)
	if err != nil {
		config = []byte(err.Error())
	}
	line("learner", "%s %s, %s, seed %d", p.Learner, config, p.Precision, p.Seed)
	way := "until a pass makes no update"
	switch {
	case p.Epochs == 1:
		way = "1 pass"
	case p.Epochs > 1:
		way = fmt.Sprintf("%d passes", p.Epochs)
	}
	if p.Shuffle {
		way += ", shuffled"
	}
	if p.Few {
		way += fmt.Sprintf(", as of %s of fewer than %d rows", p.Format, FewRows)
	}
	line("way", "%s: %s, %d threads", p.Way, way, p.Threads)
	if p.From != "" {
		line("from", "%s, after %d examples", p.From, p.Presented)
	}
	if m := p.Memory; m != nil {
		line("memory", "%s of %s: %s", inMiB(m.Planned()), Bytes(m.Budget), m)
	}
	return b.String()
}

// InMemory reports whether the run needs all examples in memory: to pass over them again, to change
// their order, or because something is relative to all of them (settings, the longest example)
// before the first can be learned.
func (j *Job) InMemory() bool {
	if j.at != nil { // as it did: its settings are relative to nothing any more
		return j.at.standing.Examples > 0
	}
	return j.o.Epochs > 1 || j.o.UntilConverged || j.o.Shuffle || j.traits.Relative ||
		j.data.Normalize == "max" && j.data.Scale == 0
}

// packs reports whether examples in memory may be kept as bytes: not where a learner wants them as
// a whole, nor where what it keeps of them is sized by the first ones and by the memory left.
func (j *Job) packs() bool {
	return !j.Whole() && !j.o.MarginSVM && (j.o.MemBudget == 0 || j.traits.Keeps == 0)
}

// memoryOf is a source of what was read.
func memoryOf[T engine.Float](data *dataset.Data[T]) *eval.Memory[T] {
	if data.Bytes != nil {
		return eval.NewBytes(data.Bytes)
	}
	return eval.NewMemory(&data.Block, data.Gather)
}

// plan describes the run, once the settings are resolved.
func (j *Job) plan(info dataset.Info, inMemory bool) *Plan {
	p := &Plan{Files: j.o.Files, Format: info.Format, Features: info.Dim, Labels: info.Labels,
		Classes: info.Classes, Prepared: j.preparedBy(),
		Learner: j.name, Config: j.config, Precision: j.precision, Seed: j.seed,
		Threads: j.pool.Workers(), Way: Stream, Epochs: max(1, j.o.Epochs), Shuffle: j.o.Shuffle,
		Few: j.few, From: j.o.From, Memory: j.split}
	if inMemory {
		p.Way, p.Examples = Passes, info.Rows
	}
	if j.Whole() {
		p.Way = Whole
	}
	if j.o.UntilConverged {
		p.Epochs = 0
	}
	if j.before != nil {
		p.Presented = j.before.Presented
	}
	if j.at != nil {
		p.From, p.Presented = j.o.Model, p.Presented+uint64(j.at.standing.Presented())
	}
	return p
}

// factsOf returns what settings may be relative to: the soft margin's Delta, the number of
// features, and the largest squared length. Normalised examples have the length that they were
// normalised to, whatever it was rounded to, so that R is 1 with unit, and not 1 and some ulps on
// one data set.
func factsOf[T engine.Float](j *Job, data *dataset.Data[T], mem *eval.Memory[T]) learner.Facts {
	f := learner.Facts{Delta: j.o.SoftDelta, Features: data.Info.Dim}
	switch j.data.Normalize {
	case "unit":
		f.SumSq = min(data.Info.MaxNorm, 1) // 0 if all examples are
	case "max":
		longest := data.Info.MaxNorm / data.Info.Scale
		f.SumSq = float64(longest * longest)
	default:
		for b := range mem.Blocks() {
			f.SumSq = max(f.SumSq, learner.MaxSumSq(b, 0))
		}
	}
	return f
}
