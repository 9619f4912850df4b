package shard

import (
	"bytes"
	"encoding/json"

	"github.com/halfspace-ml/halfspace/internal/schema"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// Cut is how the training of a model is cut into parts.
type Cut struct {
	Way     string // of the way that work is cut
	Workers int    // that learn at a time; of ways without Shards there are as many parts
	State   string // the folder, or place in a bucket, that they share
	Shards  int    // of the rows; else 0
	Mix     string // how their weights are averaged: Merging.Mix; "" merges posteriors
	Rounds  int    // of mixing; else 0
}

// Failure is an error of a worker in a form that can be sent: what the command prints of it, and
// its exit code.
type Failure struct {
	Code int    `json:"code"`
	Text string `json:"text"`
	Next string `json:"next"`
}

// Error is the text.
func (f *Failure) Error() string { return f.Text }

// Report is what is said of a model that was made of parts, or of models of different examples.
type Report struct {
	Schema    string                   `json:"schema"`
	Learner   string                   `json:"learner"`
	Config    learner.Config           `json:"config"`
	Precision string                   `json:"precision"`
	Merged    []string                 `json:"merged"` // the files, in the order of merging
	Shards    int                      `json:"row_shards,omitempty"`
	Features  int                      `json:"features"`
	Presented uint64                   `json:"presented"` // examples, over all
	Updates   int64                    `json:"updates"`
	Posterior *learner.PosteriorReport `json:"posterior"` // null of parts
	// of parts: of the whole ensemble in the first epoch, each before the example was learned
	Examples    int64   `json:"examples,omitempty"`
	Errors      int64   `json:"errors,omitempty"`
	Progressive float64 `json:"progressive_error,omitempty"`
	Model       string  `json:"model"`
	SHA256      string  `json:"model_sha256"`
}

// Report reports what Merge has made of models of these names, and written there.
func (m *Merged) Report(names []string, to string) *Report {
	whole := m.Model
	return &Report{Schema: schema.Name, Learner: whole.Learner, Config: m.Config,
		Precision: whole.Precision, Merged: names, Shards: m.Shards, Features: whole.Prep.Dim,
		Presented: whole.Presented, Updates: m.Updates, Posterior: m.Posterior, Model: to,
		SHA256: m.SHA256}
}

// JoinedReport reports what Join has made of parts.
func JoinedReport(res *training.Result, parts []string) *Report {
	p, c := res.Plan, res.Counts
	return &Report{Schema: schema.Name, Learner: p.Learner, Config: p.Config,
		Precision: p.Precision, Merged: parts, Features: res.Info.Dim,
		Presented: uint64(c.Presented), Updates: c.Updates, Examples: c.Examples, Errors: c.Errors,
		Progressive: c.ProgressiveError(), Model: res.Saved.Path, SHA256: res.Saved.SHA256}
}

// UnmarshalJSON reads a report, with the settings of its learner.
func (r *Report) UnmarshalJSON(data []byte) error {
	type plain Report // without this method
	raw := struct {
		*plain
		Config json.RawMessage `json:"config"` // hides the field of that name
	}{plain: (*plain)(r)}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&raw); err != nil {
		return err
	}
	e, err := learner.Lookup(r.Learner)
	if err != nil {
		return err
	}
	c := e.Config()
	if err := json.Unmarshal(raw.Config, c); err != nil {
		return err
	}
	r.Config = c
	return c.Validate()
}
