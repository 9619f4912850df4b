package work

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
)

// Piece is a piece of work, as it is sent to whoever does it.
type Piece struct {
	Way    string // the Way's name
	State  string // the folder that all processes see
	Key    string // name of its own folder there
	Number int    // of a part, from 1; 0 is the whole
	Parts  int    // how many there are
	Round  int    // from 1, of work that is done in rounds; else 0
	After  string // Key of the whole of the round before, which is gone on from; "" is none

	Do   json.RawMessage `json:",omitempty"` // what to do, as the Way has it
	With json.RawMessage `json:",omitempty"` // a Plain

	// of local names by those of buckets, in what is said; nil: none
	shown  *strings.Replacer
	before string // folder of what After names, if it was brought here

	open func(name string) (dataset.File, error) // Plain.open
}

// Load are pieces that one worker does, one after another.
type Load struct{ Pieces []Piece }

// Done is what came of a piece.
type Done struct {
	Number int    // of the Piece
	Folder string // in the folder of state
	Files  []File
}

// File is one of a piece that is done.
type File struct {
	Name   string
	Size   int64
	SHA256 string // of its bytes, in hexadecimal
}

// ErrEncoding is returned for bytes that no Piece or Done was written as.
var ErrEncoding = errors.New("no piece of work")

// maxText is the longest object of a bucket's state that is read whole, in bytes.
const maxText = 64 << 20

// encode writes what is sent, as JSON.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts, and Do and With, which are JSON already
	}
	return text
}

// decode reads what encode wrote, and nothing after it.
func decode[T any](b []byte) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err = d.Decode(&v); err == nil && d.InputOffset() != int64(len(b)) {
		err = fmt.Errorf("%d bytes after its end", int64(len(b))-d.InputOffset())
	}
	if err != nil {
		return *new(T), fmt.Errorf("%w: %w", err, ErrEncoding)
	}
	return v, nil
}

// Encode writes p.
func (p Piece) Encode() []byte { return encode(p) }

// DecodePiece reads what Encode wrote. Errors wrap ErrEncoding.
func DecodePiece(b []byte) (Piece, error) { return decode[Piece](b) }

// Encode writes l.
func (l Load) Encode() []byte { return encode(l) }

// DecodeLoad reads what Encode wrote. Errors wrap ErrEncoding.
func DecodeLoad(b []byte) (Load, error) { return decode[Load](b) }

// Encode writes d.
func (d Done) Encode() []byte { return encode(d) }

// DecodeDone reads what Encode wrote. Errors wrap ErrEncoding.
func DecodeDone(b []byte) (Done, error) { return decode[Done](b) }
