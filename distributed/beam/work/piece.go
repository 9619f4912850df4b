package work

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
	Do     []byte // what to do, as the Way has it, in JSON
	With   []byte // a Plain, in JSON

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

// What is sent begins with a letter that says what it is; numbers are varints, texts have their
// length before them. A Done is of some hundred bytes, whatever was learned.
const (
	pieceKind = 'P'
	loadKind  = 'L'
	doneKind  = 'D'
	maxText   = 64 << 20
	maxFiles  = 1 << 10
	maxPieces = 1 << 20
)

// Encode writes p.
func (p Piece) Encode() []byte {
	b := []byte{pieceKind}
	for _, s := range []string{p.Way, p.State, p.Key, p.After, string(p.Do), string(p.With)} {
		b = appendText(b, s)
	}
	for _, n := range []int{p.Number, p.Parts, p.Round} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// DecodePiece reads what Encode wrote. Errors wrap ErrEncoding.
func DecodePiece(b []byte) (Piece, error) {
	r := &decoder{in: bytes.NewReader(b)}
	r.kind(pieceKind)
	p := Piece{Way: r.text(), State: r.text(), Key: r.text(), After: r.text(), Do: []byte(r.text()),
		With: []byte(r.text()), Number: r.count(1 << 30), Parts: r.count(1 << 30),
		Round: r.count(1 << 30)}
	if r.end(); r.err == nil && p.Number > p.Parts {
		r.err = fmt.Errorf("part %d of %d: %w", p.Number, p.Parts, ErrEncoding)
	}
	if r.err != nil {
		return Piece{}, r.err
	}
	return p, nil
}

// Encode writes l.
func (l Load) Encode() []byte {
	b := binary.AppendUvarint([]byte{loadKind}, uint64(len(l.Pieces)))
	for _, p := range l.Pieces {
		b = appendText(b, string(p.Encode()))
	}
	return b
}

// DecodeLoad reads what Encode wrote. Errors wrap ErrEncoding.
func DecodeLoad(b []byte) (l Load, err error) {
	r := &decoder{in: bytes.NewReader(b)}
	r.kind(loadKind)
	for n := r.count(maxPieces); n > 0 && r.err == nil; n-- {
		if text := r.text(); r.err == nil {
			p, err := DecodePiece([]byte(text))
			if err != nil {
				return Load{}, err
			}
			l.Pieces = append(l.Pieces, p)
		}
	}
	if r.end(); r.err != nil {
		return Load{}, r.err
	}
	return l, nil
}

// Encode writes d.
func (d Done) Encode() []byte {
	b := appendText(binary.AppendUvarint([]byte{doneKind}, uint64(d.Number)), d.Folder)
	b = binary.AppendUvarint(b, uint64(len(d.Files)))
	for _, f := range d.Files {
		b = appendText(binary.AppendUvarint(appendText(b, f.Name), uint64(f.Size)), f.SHA256)
	}
	return b
}

// DecodeDone reads what Encode wrote. Errors wrap ErrEncoding.
func DecodeDone(b []byte) (Done, error) {
	r := &decoder{in: bytes.NewReader(b)}
	r.kind(doneKind)
	d := Done{Number: r.count(1 << 30), Folder: r.text()}
	for n := r.count(maxFiles); n > 0 && r.err == nil; n-- {
		d.Files = append(d.Files, File{Name: r.text(), Size: int64(r.count(1 << 62)),
			SHA256: r.text()})
	}
	if r.end(); r.err != nil {
		return Done{}, r.err
	}
	return d, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads numbers and texts until something is wrong.
type decoder struct {
	in  *bytes.Reader
	err error
}

func (r *decoder) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %w", fmt.Errorf(format, args...), ErrEncoding)
	}
}

func (r *decoder) kind(want byte) {
	if got, err := r.in.ReadByte(); err != nil || got != want {
		r.fail("it begins with %q, want %q", got, want)
	}
}

func (r *decoder) count(most uint64) int {
	n, err := binary.ReadUvarint(r.in)
	if err != nil || n > most {
		r.fail("a number of %d (%v)", n, err)
		return 0
	}
	return int(n)
}

func (r *decoder) text() string {
	n := r.count(maxText)
	if n > r.in.Len() {
		r.fail("a text of %d bytes, and %d are there", n, r.in.Len())
	}
	if r.err != nil {
		return ""
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r.in, b); err != nil {
		r.fail("%w", err)
	}
	return string(b)
}

func (r *decoder) end() {
	if n := r.in.Len(); n > 0 {
		r.fail("%d bytes behind its end", n)
	}
}
