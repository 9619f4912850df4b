package model

import (
	"crypto/sha256"

	"github.com/halfspace-ml/halfspace/internal/resume"
)

type (
	// Position is where a run stood, between two examples, when the model was written on its way.
	Position = resume.Position
	// SourcePosition is what examples came from, and where a run stood in it.
	SourcePosition = resume.Source
	// Rows says which part of the rows of a data set a model has learned.
	Rows = resume.Rows
)

// Sum returns the SHA-256, in hex, of the file that m is written as: what Save returns. Cost: that
// of Encode.
func (m *Model) Sum() (string, error) {
	h := sha256.New()
	if err := Encode(h, m); err != nil {
		return "", err
	}
	return hexSum(h), nil
}
