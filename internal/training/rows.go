package training

import (
	"encoding/json"
	"hash/fnv"
	"slices"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/model"
)

// validRows refuses what isn't a part of the rows.
func (o *Options) validRows() error {
	if o.Rows == "" {
		return nil
	}
	if _, err := dataset.ParseRowShard(o.Rows); err != nil {
		return badOption("2/4 is the second one of four.",
			"{rows} %q: not the number of a part of the rows and how many there are, at most %d",
			o.Rows, dataset.MaxRowShards)
	}
	switch {
	case o.Shard != "":
		return badOption("Parts of an ensemble see all rows, parts of the rows the whole ensemble.",
			"{rows} and {shard} exclude each other")
	case o.PredictOnly:
		return badOption("Leave it out: what is merged must be whole.",
			"{rows} and {predict_only} exclude each other")
	case slices.Contains(o.Files, "-"):
		return badOption("Put the examples into a file.", "{rows}: standard input can't be cut")
	}
	return nil
}

// begunFrom returns the Sum of m, of whose model a run of a part of the rows begins.
func (j *Job) begunFrom(m *model.Model) (string, error) {
	switch {
	case j.o.Rows == "":
		return "", nil
	case j.o.Resume && m.Rows != nil:
		return m.Rows.From, nil
	case j.o.Resume:
		return "", nil
	}
	sum, err := m.Sum()
	if err != nil {
		return "", wrapped(ErrModel, err)
	}
	return sum, nil
}

// rows says, for the run's model, which part of the rows it has learned; nil: all.
func (j *Job) rows(info dataset.Info, r eval.Result) (*model.Rows, error) {
	if j.o.Rows == "" {
		return nil, nil
	}
	k := j.o.Kept()
	k.Rows, k.From, k.CheckpointEvery = "", "", ""
	text, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write(text)
	return &model.Rows{Shard: j.data.Rows.K, Of: j.data.Rows.Of, Data: info.Cut,
		Run: h.Sum64() >> 11, From: j.from, Examples: uint64(r.Presented),
		Mistakes: uint64(r.Mistakes)}, nil
}
