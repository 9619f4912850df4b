// Package format knows the formats that package dataset reads, one file each, in one table.
//
// A [Format] says by which text it is recognised (Sniff), where the text may be cut so that each
// piece holds whole examples (Cut), what the head of a file says about the rest (Layout, or Open
// where files go together), how a piece becomes rows of a block (Parse32, Parse64), and where an
// error is that has no line (Place). Everything else is done for all formats alike by package
// dataset: opening and unpacking, reading side by side, which label is +1, bad rows, bounds on
// memory, the order of what comes out.
//
// A format of another module is added by [Register].
package format

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Format is one row of the table. Its functions are called by many goroutines at once.
type Format struct {
	Name string

	// Binary: the files are no text. Errors name the byte, not line and column, and the head
	// needs no line.
	Binary bool

	// Dense: examples are rows of Block.X; else of Ptr, Idx and Val.
	Dense bool

	// Named: a feature is a column of the file, which may have a name and then stand at any place,
	// and the label is a column among them.
	Named bool

	// Indexed: a feature has a number, and no name, in the files that models of this format were
	// trained on.
	Indexed bool

	// Kinds are the formats, beside its own, whose models a file of this format may meet, since
	// its features are of the same numbers or names: see Layout.Kind.
	Kinds []string

	// Options are the fields of dataset.Options that this format takes and not every one does.
	Options []Option

	// Sniff says whether a head is of this format: the number of the line, from 1, by which it is
	// known; 0 if it is known by how the file begins, whatever else is there; Maybe if nothing
	// speaks against it; No. Of several formats that say yes the one is taken that says so by the
	// earliest line. nil: never recognised, only chosen by its name.
	Sniff func(h *Head) int

	// Enough reports whether the whole lines of the head decide what more of them would, where the
	// input pauses in the middle of a head. nil: two lines are enough.
	Enough func(h *Head) bool

	// Layout returns what the head says about the file: first is the layout of the first of several
	// files, nil for that itself. Its error is a *RowError. nil: nothing is to be found out.
	Layout func(h *Head, o *Options, first *Layout) (*Layout, error)

	// Open opens files that go together, such as images and labels, and returns those that hold
	// the examples, each at its first one, with its layout (Size is set). It closes what it opened
	// if it fails. nil: every file is read for itself, as text.
	Open func(files []string, o *Options, open func(name string) (File, error)) ([]Part, error)

	// Runs opens a file whose examples are neither text nor all of as many bytes: it reads what the
	// file says of itself, and returns the layout and the examples in runs. first is the layout of
	// the first of several files, nil for that itself. nil: the format is another way.
	Runs func(in File, o *Options, first *Layout) (Runs, *Layout, error)

	// Beside returns the file that is read beside one when it is not named itself; "" where there
	// is none. nil: there never is.
	Beside func(name string) string

	// Cut is where the text may be cut. "" where Layout.Size says it, or Runs does it.
	Cut Cut

	// Last returns where the last cut is of text that begins with an example, 0 if there is none,
	// where that depends on what stands before it: as of line ends, of which those between quotes
	// end no row. open is where a quote stands that may hide others, -1 if none does. nil: Cut is
	// all that there is to say.
	Last func(l *Layout, text []byte) (end, open int)

	// Parse32 and Parse64 fill c.Out from c.Text: the same generic function of this signature,
	// for both element types. A bad row goes to c.Bad.
	Parse32 func(c *Chunk[float32], s *Settings)
	Parse64 func(c *Chunk[float64], s *Settings)

	// Place says in e where the label of an example is, which begins at byte at of its file, or
	// the file's labels where at is Layout.Start. nil: by line and column.
	Place func(e *RowError, l *Layout, at int64)
}

// What Sniff answers beside the number of a line.
const (
	No    = -1
	Maybe = math.MaxInt
)

// Option is a field of dataset.Options that not all formats take, and a line of help on it, which
// one of them has for all.
type Option struct{ Field, Help string }

// Options are what formats may want to know of dataset.Options and the files.
type Options struct {
	Whole  bool // all is read before any of it is used
	Files  int  // how many files there are
	Bias   int  // 1 if a feature 0 goes before the data's, else 0
	Single bool // values are float32, else float64

	Workers int // goroutines that parse, as many as may decode

	Base        int    // number of the first feature; -1: to be found
	BaseFound   string // how it was found, where Base is not -1
	BaseTrained bool   // training says so, not the caller

	WeightCol      string // as in dataset.Options
	WeightOptional bool   // rows may be without that column

	IDCol string // as in dataset.Options
	IDs   bool   // labels may come later, by the rows' ids

	LabelKey string   // of ndjson, in training, where LabelCol doesn't name it
	LabelCol string   // as in dataset.Options; so the three below
	Columns  int      //
	Header   []string //
	Label    int      //

	HeaderRow string // as in dataset.Options

	Kinds      string   // of csv columns in training, see Layout
	TextCols   []string // as in dataset.Options; so the three below
	NumberCols []string //
	IgnoreCols []string //
	Missing    string   //

	Naming Naming // of the features, where the format leaves it to the data

	Optional   bool // labels may be missing
	TrainedDim int  // features that each example must have, where it matters; 0: any number

	Trained string // the format that a model's features are of; "": any
	Hashed  bool   // names are hashed, or features multiplied

	Lookup  func(name string) *Format // the function of that name, which a format can't call itself
	Inflate func(io.Reader) io.Reader // unpacks what is deflated, as in a zip; nil: can't

	Limits *Limits
}

// Naming is what stands for a feature where a format may have numbers or names.
type Naming int

// The ways features are named.
const (
	Found   Naming = iota // numbers if the head of the file has nothing else, or else names
	Numbers               // as in svmlight
	Words                 // a Dictionary numbers them
)

// Layout is what the head of a file says about the rest of it.
type Layout struct {
	// Kind is the format whose features these are, which a model remembers: svmlight where features
	// have numbers, whatever the file is. "" is the file's own.
	Kind  string
	Words bool // features have names, see Rows.Names

	IndexBase int    // number of the first feature in the file; 0 is a number like another
	BaseFound string // how it was found
	BaseOpen  bool   // it is 1, unless an index 0 turns up: then it was 0 all the time

	Columns  int      // columns of a row, the label included; 0 where that is no word of the format
	LabelCol int      // number of the label's column, from 1; 0 if there is none
	LabelKey string   // key of the label, where rows have keys and the options name it; else ""
	IDKey    string   // key of the id, where rows have keys; "": none
	Header   []string // names of the columns, nil if they have none
	// Kinds has a letter for each column beside the label's, in training's order: n a number, t
	// text, - one that is left out; "" if all are numbers and rows have nothing beside them.
	Kinds string
	// Lead is how many features stand first in each row, before those that have names (Words); they
	// are columns of numbers.
	Lead int

	Dim int // features, without an appended bias, where they are known beforehand; else 0
	// where the labels were found, if that was a guess; said when they can't be used
	LabelNote string
	// Decided says how the first rows of a table were understood; nil of other formats. Odd is what
	// may not be meant so, a sentence each.
	Decided *Decided
	Odd     []string
	NoRows  string // what a file without examples holds; "" is blank lines and comments

	// Of a format whose examples all take as many bytes:
	Size  int    // bytes of an example; 0 elsewhere
	Rows  int    // examples in the file
	Start int64  // byte where the first one begins
	Unit  string // what an example is called

	Run bool // the text of chunks is Run.Text, whose rows have no places of their own

	Own any // the format's own
}

// byColumns is how the features of files are numbered that give them no numbers.
const byColumns = "columns count from 1"

// Part is a file that holds examples, standing at the first one.
type Part struct {
	File   File
	Layout *Layout

	// Data is what the examples are read from, if that is not File itself; nil: it is.
	Data File

	// Runs gives examples that don't all take as many bytes. nil: Layout.Size bytes are an example.
	Runs Runs
}

// File is an open file, unpacked while it is read.
type File interface {
	io.Reader
	Name() string
	// Broken is the error of a file that goes wrong at a byte, where wanted was expected.
	Broken(offset int64, wanted string, err error) error
	// At gives the bytes of the file by their place, and how many these are; nil of one that is
	// packed or no regular file. They are read by this, or else by Read.
	At() (r io.ReaderAt, size int64)
	Close()
}

// AtEnd is the error of a file that goes on at a byte, behind the rows that its header counts, or
// whose packing is damaged there; nil if it ends.
func AtEnd(in File, at int64, rows int) error {
	var one [1]byte
	n, err := io.ReadFull(in, one[:])
	switch {
	case n > 0:
		return &RowError{File: in.Name(), Offset: at, Err: ErrFormat,
			What: fmt.Sprintf("expected the file's end behind %d rows, as the header says, "+
				"found more", rows)}
	case err != io.EOF:
		return in.Broken(at, "the file's end", err)
	}
	return nil
}

// Settings are what all chunks of a stream are parsed by. Parsers only read them.
type Settings struct {
	Format   *Format
	Bias     int     // 1: feature 0 of each row is One, and the data's begin at 1
	One      float64 // value of the bias
	Unit     bool    // divide each row by its length, bias included
	Scale    float64 // divide all values by this; 0: don't
	KeepDiv  bool    // note in Rows.Div what each row was divided by
	Lines    bool    // note in Rows.Line where each row stands
	Optional bool    // labels may be missing
	IDs      bool    // rows have ids, see Rows.RowID; those without one have a label
	HashBits int     // names of features are hashed; 0: they aren't
	Pairs    []Pair  // of namespaces whose features are multiplied
	Known    []Label // labels that options name
	Labels   int     // others that are told apart, of a chunk; 0: SomeLabels
	KeepBad  int     // bad rows kept for a report; the rest are counted only
	Stop     bool    // at the first bad row
}

// Cut is text between examples: "\n" where each ends with its line, "\n>" where the next one begins
// by a > at a line's begin. A cut goes behind the first byte of it. So any text can be cut anywhere
// near, by whoever has but a part of it, and examples stay whole; but for a Format with Last.
type Cut string

// Last returns where the last cut of text is, 0 if there is none.
func (c Cut) Last(text []byte) int { return bytes.LastIndex(text, []byte(c)) + 1 }

// First returns where the first cut of text is, -1 if there is none.
func (c Cut) First(text []byte) int {
	if i := bytes.Index(text, []byte(c)); i >= 0 {
		return i + 1
	}
	return -1
}

// registered are the formats of other modules.
var registered []*Format

// table lists the formats, in the order in which they are named to people. It is a function, not a
// variable, so that the linker leaves the formats out of a program that reads none.
func table() []*Format {
	return append([]*Format{SVMLight, CSV, NDJSON, VW, NPY, NPZ, IDX, Fasta, Blocks},
		registered...)
}

// Register adds a format to the table; from then on it is recognised and may be chosen by its name.
// It is for init functions: nothing may be read meanwhile. A name that is taken panics.
func Register(f *Format) {
	if Lookup(f.Name) != nil || f.Name == "" || f.Name == "auto" {
		panic(fmt.Sprintf("format: the name %q is taken", f.Name))
	}
	registered = append(registered, f)
}

// Lookup returns the format of that name, nil if there is none.
func Lookup(name string) *Format {
	for _, f := range table() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Beside returns the file that is read beside one when it is not named itself, such as the labels
// of images: by its name and what is there. It is "" where there is none.
func Beside(name string) string {
	for _, f := range table() {
		if f.Beside == nil {
			continue
		}
		if beside := f.Beside(name); beside != "" {
			return beside
		}
	}
	return ""
}

// Files reports whether files can be of this format.
func (f *Format) Files() bool { return f.Cut != "" || f.Open != nil || f.Runs != nil }

// Names lists the formats of files for which want is true, nil for all.
func Names(want func(*Format) bool) (names []string) {
	for _, f := range table() {
		if !f.Files() {
			continue
		}
		if want == nil || want(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Takes reports whether the format takes a field of dataset.Options that not every one does. No
// format, nil, takes none.
func (f *Format) Takes(field string) bool {
	return f != nil && slices.ContainsFunc(f.Options, func(o Option) bool {
		return o.Field == field
	})
}

// HasColumns reports whether a feature is a column that may have a name: false for no format, nil.
func (f *Format) HasColumns() bool { return f != nil && f.Named }

// HasIndices reports whether features of a model of the format have numbers: false for no format,
// nil.
func (f *Format) HasIndices() bool { return f != nil && f.Indexed }

// Taking lists the formats that take a field of dataset.Options.
func Taking(field string) []string {
	return Names(func(f *Format) bool { return f.Takes(field) })
}

// Help is the line of help on a field of dataset.Options that not all formats take.
func Help(field string) string {
	for _, f := range table() {
		for _, o := range f.Options {
			if o.Field == field {
				return o.Help
			}
		}
	}
	return ""
}

// Serves reports whether a file of the format may meet a model of that one.
func (f *Format) Serves(trained string) bool {
	return f.Name == trained || slices.Contains(f.Kinds, trained)
}

// Or joins words as in "a, b or c".
func Or(words []string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " or " + words[n]
}

// Parse fills c.Out from c.Text by the format's parser.
func (c *Chunk[T]) Parse(s *Settings) {
	c.Out.Reset(s.Format.Dense && !(c.Layout != nil && c.Layout.Words))
	c.Out.known, c.Out.most = s.Known, s.Labels
	if s.Labels == 0 {
		c.Out.most = SomeLabels
	}
	switch c := any(c).(type) {
	case *Chunk[float32]:
		s.Format.Parse32(c, s)
	case *Chunk[float64]:
		s.Format.Parse64(c, s)
	}
	c.Out.Y = slices.Grow(c.Out.Y[:0], c.Out.N)[:c.Out.N]
}
