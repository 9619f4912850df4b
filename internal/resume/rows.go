package resume

import (
	"crypto/sha256"
	"fmt"
)

// Rows says which part of the rows of a data set a model has learned, where several were trained,
// each on one, to be merged: see package shard.
type Rows struct {
	// Shard is the number of the part, from 1, and Of how many there are.
	Shard int `json:"shard"`
	Of    int `json:"of"`
	// Data is a fingerprint of the data set and of how it was cut, and Run of the options that
	// decide what is learned of a part, each of at most 53 bits. All parts have the same.
	Data uint64 `json:"data"`
	Run  uint64 `json:"run"`
	// From is the Sum of the model that the run went on from; "" is none.
	From string `json:"from,omitempty"`
	// Examples is how many the run has learned, repetitions counted, and Mistakes how many of
	// these it had wrong before.
	Examples uint64 `json:"examples"`
	Mistakes uint64 `json:"mistakes"`
}

// String names the part: "row shard 2 of 4".
func (r *Rows) String() string { return fmt.Sprintf("row shard %d of %d", r.Shard, r.Of) }

// maxRowShards is far above what data are cut into.
const maxRowShards = 1 << 16

// Check names the first bad field, of a model that has learned so many examples, with so many
// mistakes.
func (r *Rows) Check(examples, mistakes uint64) error {
	switch {
	case r.Shard < 1 || r.Shard > r.Of || r.Of > maxRowShards:
		return fmt.Errorf("rows: shard is %d of %d", r.Shard, r.Of)
	case r.Data >= 1<<53 || r.Run >= 1<<53:
		return fmt.Errorf("rows: data is %d and run %d, want less than 2^53", r.Data, r.Run)
	case r.From != "" && len(r.From) != 2*sha256.Size:
		return fmt.Errorf("rows: from is %q, want the 64 digits of a SHA-256", r.From)
	case r.Examples > examples || r.Mistakes > mistakes:
		return fmt.Errorf("rows: %d examples and %d mistakes of %d and %d", r.Examples, r.Mistakes,
			examples, mistakes)
	}
	return nil
}
