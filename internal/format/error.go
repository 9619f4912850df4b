package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Errors of reading. Those about the data come in a [RowError] that knows the place.
var (
	// ErrOption: a field of dataset.Options or a generator's parameter has no such value.
	ErrOption = errors.New("bad option")
	// ErrFormat: the format is not recognised; also damaged compression, headers that do not fit.
	ErrFormat = errors.New("format not recognised")
	// ErrColumns: csv files have not the columns that training had.
	ErrColumns = fmt.Errorf("columns other than in training: %w", ErrFormat)
	// ErrForeign: the format is another than Options.Trained.
	ErrForeign = errors.New("not of the kind of the training data")
	// ErrBadRow: a row breaks the rules of its format.
	ErrBadRow = errors.New("bad row")
	// ErrEmpty: a file has no rows.
	ErrEmpty = errors.New("no examples")
	// ErrLabels: a third label, one label only, or a label that the model does not know.
	ErrLabels = errors.New("labels can't be used")
	// ErrMemory: something doesn't fit into Options.Memory.
	ErrMemory = errors.New("no room in memory")
	// ErrTruncated: compressed or binary data stop in the middle.
	ErrTruncated = errors.New("the data end too early")
)

// RowError is an error in the data with its place. errors.Is finds the sentinel in it.
type RowError struct {
	File      string
	Line, Col int   // from 1; Col counts bytes. Line is 0 in a binary file
	Read      int   // where Line is one of a message, the line in all that was read; else 0
	Offset    int64 // byte offset in the uncompressed data of a binary file
	Good      int64 // good rows before it
	What      string
	Excerpt   string // part of the line; "" in a binary file
	Err       error  // sentinel
}

// Error reads FILE:LINE:COL: what was expected in "excerpt", or FILE:byte N: what was expected.
func (e *RowError) Error() string {
	var s strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&s, "%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
	} else {
		fmt.Fprintf(&s, "%s:byte %d: %s", e.File, e.Offset, e.What)
	}
	if e.Excerpt != "" {
		s.WriteString(" in ")
		s.WriteString(strconv.Quote(e.Excerpt))
	}
	return s.String()
}

// Unwrap returns the sentinel.
func (e *RowError) Unwrap() error { return e.Err }

// Excerpt returns the line, or the part of it around byte col (from 0) if it is long.
func Excerpt(line []byte, col int) string {
	const before, most = 30, 60
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	if len(line) <= most {
		return string(line)
	}
	lo := max(0, min(col-before, len(line)-most))
	hi := lo + most
	for lo > 0 && !utf8.RuneStart(line[lo]) && lo < hi {
		lo++
	}
	for hi < len(line) && !utf8.RuneStart(line[hi]) && hi > lo {
		hi--
	}
	s := string(line[lo:hi])
	if lo > 0 {
		s = "..." + s
	}
	if hi < len(line) {
		s += "..."
	}
	return s
}
