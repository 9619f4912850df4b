// Package resume has what a model file says of the run that wrote it, for a program that goes on
// with that run or merges several: where it stood, and which part of the rows it has learned.
package resume

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/learner"
)

// Position is where a run stood, between two examples, when the model was written on its way: what
// package training needs to go on there as if the run had not been stopped. The models of runs that
// came to their end have none, so their bytes don't depend on where examples came from.
type Position struct {
	// Sources are what the examples came from, in order.
	Sources []Source `json:"sources"`
	// Epoch is the number of complete passes over the examples.
	Epoch uint64 `json:"epoch"`
	// Example is how many examples of the next pass, in its order, are behind the place. Bad rows
	// that were left out don't count.
	Example uint64 `json:"example"`
	// Examples is how many examples a pass has, 0 for a stream, which passes once.
	Examples uint64 `json:"examples,omitempty"`
	// Data is a fingerprint, of at most 53 bits: of all examples where Examples is given, else of
	// those behind the place.
	Data uint64 `json:"data"`
	// Options are the fields of training.Options, in JSON, that decide the result and are not in
	// the rest of the model.
	Options json.RawMessage `json:"options"`
	// Counts is what was counted, in JSON: an eval.Standing.
	Counts json.RawMessage `json:"counts"`
	// Passed is how many examples the learner's posterior had left out before the run began.
	Passed uint64 `json:"passed,omitempty"`
	// ClassCounts has how many examples of each class are behind the place, of a source that does
	// not give them again, where classes are weighed by that; else nil.
	ClassCounts []uint64 `json:"class_counts,omitempty"`
	// Tallies is what was tallied besides, in the form of an eval.Standing's: a tensor of the file,
	// of 3 KiB as a rule. nil: nothing.
	Tallies []byte `json:"-"`
}

// Source is what examples came from, and where a run stood in it.
type Source struct {
	// Name is that of a file as it was given, "-" for standard input; or of another source, which
	// says by it what it is, such as "kafka:topic".
	Name string `json:"name"`
	// Size is that of the file in bytes; 0 where it has none.
	Size uint64 `json:"size,omitempty"`
	// At is where to begin: what a source that is no file has said itself (see Source of package
	// training). With "" it is read from its beginning.
	At string `json:"at,omitempty"`
	// Rows is how many good rows from At on are behind the place, too.
	Rows uint64 `json:"rows,omitempty"`
}

// maxSources is far more than a command line holds, and maxAt than an offset for each of many
// partitions takes.
const (
	maxSources = 1 << 20
	maxAt      = 1 << 20
)

// Check names the first bad field.
func (p *Position) Check() error {
	count := func(field string, n uint64) error {
		if n > learner.MaxCount {
			return fmt.Errorf("position: %s is %d, want at most %d", field, n,
				uint64(learner.MaxCount))
		}
		return nil
	}
	for _, c := range []struct {
		field string
		n     uint64
	}{{"epoch", p.Epoch}, {"example", p.Example}, {"examples", p.Examples},
		{"passed", p.Passed}} {
		if err := count(c.field, c.n); err != nil {
			return err
		}
	}
	switch {
	case p.Data >= 1<<53:
		return fmt.Errorf("position: data is %d, want less than 2^53", p.Data)
	case p.Examples > 0 && p.Example > p.Examples:
		return fmt.Errorf("position: example is %d of %d", p.Example, p.Examples)
	case p.Examples == 0 && p.Epoch > 0:
		return fmt.Errorf("position: epoch is %d, want 0 for a stream", p.Epoch)
	case len(p.Sources) == 0 || len(p.Sources) > maxSources:
		return fmt.Errorf("position: %d sources, want 1 to %d", len(p.Sources), maxSources)
	}
	for i, n := range p.ClassCounts {
		if err := count(fmt.Sprintf("class_counts[%d]", i), n); err != nil {
			return err
		}
	}
	for i, s := range p.Sources {
		if s.Name == "" || !utf8.ValidString(s.Name) {
			return fmt.Errorf("position: sources[%d]: name is %s, want text in UTF-8", i,
				strconv.Quote(s.Name))
		}
		if len(s.At) > maxAt || !utf8.ValidString(s.At) {
			return fmt.Errorf("position: sources[%d]: at is no text of up to %d bytes", i, maxAt)
		}
		if err := count(fmt.Sprintf("sources[%d]: size", i), s.Size); err != nil {
			return err
		}
		if err := count(fmt.Sprintf("sources[%d]: rows", i), s.Rows); err != nil {
			return err
		}
	}
	for _, o := range []struct {
		field string
		text  json.RawMessage
	}{{"options", p.Options}, {"counts", p.Counts}} {
		if !bytes.HasPrefix(o.text, []byte("{")) {
			return fmt.Errorf("position: %s are %q, want a JSON object", o.field, o.text)
		}
	}
	return nil
}
