// Package dataset reads examples from files and streams into blocks, and generates synthetic ones.
//
// Text (svmlight, csv, fasta) is cut at line ends into chunks of about 1 MiB, which workers parse side by side; what comes out is in
// file order and the same for any number of workers and any chunk size. Whether a file is compressed (gzip, bzip2, zstd) and
// which format it has is recognised from its content, never from its name.
//
// # Rules
//
//   - Feature numbers inside are file index - base + 1 if a bias is appended; the bias is feature 0, of value 1 (or BiasValue), added before
//     normalising. Dense rows (csv, idx) get it as column 0.
//   - svmlight: indices ascend within a row, each once; index 0 only where the base is 0. "# ..." at a line's begin or behind a
//     blank is a comment, "qid:N" is passed over. A row without features is good.
//   - NaN and Inf are bad values, and so is a number that is not finite in the element type. Values are the correctly rounded
//     float32 or float64 of the decimal.
//   - Numbers compare as numbers: 1, 1.0 and +1 are one label. Of two labels the larger number, or of texts the later in byte
//     order, is +1, whatever comes first. With Positive that label is +1 and all others are -1.
//   - A stream returns rows labelled -1, 0 or +1 (with its sign) at once: the first two are -1 then, and the other label must lie on the
//     other side. Rows with another label, a plain 1 among them (it is -1 beside 2), wait for a second one, up to 2^20 rows or 512
//     MiB (less with Options.Memory); then 1 is taken for +1, and another label is an error.
//   - A quoted csv field ends on its line.
//   - fasta: splice sites. Of the middle 51 letters of a sequence the 49 trimers are 49 * 125 one-hot attributes; the header has label=VALUE.
package dataset

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Errors of this package. Those about the data come in a [RowError] that knows the place.
var (
	ErrOption    = errors.New("bad option")            // an Options field or a generator's parameter has no such value
	ErrFormat    = errors.New("format not recognised") // also: damaged compression, headers that do not fit
	ErrColumns   = fmt.Errorf("columns other than in training: %w", ErrFormat)
	ErrForeign   = errors.New("not of the kind of the training data") // another format than Options.Trained
	ErrBadRow    = errors.New("bad row")                              // a row that breaks the rules of its format
	ErrEmpty     = errors.New("no examples")                          // a file without rows
	ErrLabels    = errors.New("labels can't be used")                 // a third label, one label only, a label the model does not know
	ErrMemory    = errors.New("no room in memory")                    // what doesn't fit into Options.Memory
	ErrStopped   = errors.New("reading was stopped")                  // by Stream.Stop
	ErrTruncated = errors.New("the data end too early")               // compressed or idx data that stop in the middle
	ErrScale     = errors.New("longest example unknown")              // Normalize "max" on a stream without Scale
)

// LabelMap holds the texts of the two labels as they stand in the data. Negative is "" when Positive was chosen by
// Options.Positive: then all other labels are the negative class.
type LabelMap struct {
	Negative string `json:"negative"`
	Positive string `json:"positive"`
}

// Options says how files are read. The zero value reads any file with the defaults.
type Options struct {
	Format    string      // "" or "auto": by content; "svmlight", "csv", "idx", "fasta"
	IndexBase string      // svmlight: "" or "auto": 0 if an index 0 occurs, else 1; "0", "1"
	LabelCol  string      // csv: header name, or number from 1, or from the end if negative; "": header label/class/target/y, else the last
	Positive  string      // the label that is +1; all others are -1
	OnError   string      // bad rows: "" or "stop", "skip", "limit=N" (N are passed over). A third label always stops
	OnBad     func(error) // told of each row passed over, in order, by the goroutine that calls Next or Load
	Bias      string      // "" or "none", "append"
	BiasValue float64     // of the appended feature; 0 is 1
	Normalize string      // "" or "none", "unit" (each row by its 2-norm), "max" (all rows by the longest)

	// What a model or the training set has fixed; the zero value of each means: find it.
	Trained   string // format; another is refused with ErrForeign, as are idx images of another size,
	AnyFormat bool   // unless this is set
	Dim       int    // features, without an appended bias; Info.Unknown counts the values of others
	Labels    *LabelMap
	Base      *int     // svmlight index base, where IndexBase is auto
	Scale     float64  // Normalize "max": divide by this
	Columns   int      // csv: columns of a row, the label included
	Header    []string // csv: names of the columns, the label's too. A file with a header has the same, in any order
	Label     int      // csv: number of the label's column among them, from 1; 0: found as in training

	// LabelsOptional reads data to be predicted: rows whose label is missing or is neither of Labels count in Info.Unlabelled
	// and get +1; csv rows may lack the label column (Columns must be given).
	LabelsOptional bool

	Workers int // parsing goroutines; 0: one a processor

	// MaxLine is the longest line that is read (of fasta: the longest record), in bytes; a longer
	// one is an error, whatever OnError says. 0 is DefaultMaxLine; more than 1 GiB counts as that.
	MaxLine int64

	// Memory bounds what reading takes, in bytes: the head by which the format is decided, the text
	// on its way and the rows made of it, the longest line, rows that wait for a second label, the
	// texts of labels, what unpacking takes. What doesn't fit is an error (ErrMemory) that names
	// it. At least LeastMemory; MemoryBase may come on top. The examples that Load keeps don't
	// count.
	//
	// 0 is the built-in limits: a head of 1 MiB, Workers+3 pieces of 256 KiB of text with their
	// rows (some MiB each at most), one line of MaxLine with its rows (up to 7 times its length
	// while it is read), 512 MiB or 2^20 rows that wait, 128 MiB to unpack zstd.
	Memory int64

	// OnWarn is told of what is odd but stops nothing, such as padding behind packed data, by the
	// goroutine that calls Next or Load.
	OnWarn func(string)

	chunk int // bytes of text a worker parses at a time; 0: chunkSize
}

// Info tells what was found and how much was read. On a Stream it speaks of the blocks returned so far.
type Info struct {
	Format      string   // svmlight, csv, idx, fasta
	Compression string   // of the first file: "", gzip, bzip2, zstd
	IndexBase   int      // svmlight; 1 for the others, whose columns count from 1
	BaseFound   string   // how the base was found
	Labels      LabelMap // zero until decided
	Seen        []string // the labels met, in order of first occurrence; of many only some
	Rest        []string // where one label is told from all others: those met of the others; of many only some
	Rows        int      // good rows
	BadRows     int      // rows passed over
	Unlabelled  int      // rows without a known label (LabelsOptional)
	Positives   int
	Dim         int // features, the bias included
	NonZeros    int64
	Unknown     int64    // non-zeros of features beyond Options.Dim, where that is given
	UnknownRows int64    // rows that have such
	Bytes       int64    // uncompressed
	MaxNorm     float64  // the longest example, bias included, before normalising; it may already count rows not yet returned
	Scale       float64  // all values were divided by this ("max"); else 1
	InputRead   int64    // bytes taken from the files so far, compressed as they are
	InputSize   int64    // size of all files; 0 if one of them has none (a pipe)
	Columns     int      // csv: columns of a row, the label included
	LabelCol    int      // csv: number of the label column, from 1, in training's order; 0 if there is none
	Header      []string // csv: names of the columns, in training's order; nil if there are none
}

// RowError is an error in the data with its place. errors.Is finds the sentinel in it.
type RowError struct {
	File      string
	Line, Col int   // from 1; Col counts bytes. Line is 0 in a binary file
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

// excerpt returns the line, or the part of it around byte col (from 0) if it is long.
func excerpt(line []byte, col int) string {
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

// config is Options, checked.
type config struct {
	Options
	base      int // -1: to be found
	baseFound string
	maxBad    int // bad rows passed over; math.MaxInt: all
	bias      int // 0 or 1
	positive  *label
}

func (o Options) resolve() (*config, error) {
	c := &config{Options: o, base: -1}
	bad := func(field, value, want string) error {
		return fmt.Errorf("%s %q: expected %s: %w", field, value, want, ErrOption)
	}
	switch o.Format {
	case "auto":
		c.Format = ""
	case "", "svmlight", "csv", "idx", "fasta":
	default:
		return nil, bad("format", o.Format, "auto, svmlight, csv, idx or fasta")
	}
	switch o.IndexBase {
	case "", "auto":
		if o.Base != nil {
			if *o.Base != 0 && *o.Base != 1 {
				return nil, bad("index base", strconv.Itoa(*o.Base), "0 or 1")
			}
			c.base, c.baseFound = *o.Base, "as in training"
		}
	case "0":
		c.base, c.baseFound = 0, "given"
	case "1":
		c.base, c.baseFound = 1, "given"
	default:
		return nil, bad("index base", o.IndexBase, "auto, 0 or 1")
	}
	switch rest, limited := strings.CutPrefix(o.OnError, "limit="); {
	case limited:
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return nil, bad("on-error", o.OnError, "limit= and a number of rows")
		}
		c.maxBad = n
	case o.OnError == "skip":
		c.maxBad = math.MaxInt
	case o.OnError != "" && o.OnError != "stop":
		return nil, bad("on-error", o.OnError, "stop, skip or limit=N")
	}
	if !(o.BiasValue >= 0) || math.IsInf(o.BiasValue, 0) || o.BiasValue > math.MaxFloat32 {
		return nil, bad("bias value", strconv.FormatFloat(o.BiasValue, 'g', -1, 64), "a positive number")
	}
	if o.BiasValue != 0 && o.Bias != "append" {
		return nil, bad("bias value", strconv.FormatFloat(o.BiasValue, 'g', -1, 64), "none without the bias append")
	}
	switch o.Bias {
	case "append":
		c.bias = 1
		if c.BiasValue == 0 {
			c.BiasValue = 1
		}
	case "", "none":
	default:
		return nil, bad("bias", o.Bias, "none or append")
	}
	switch o.Normalize {
	case "none":
		c.Normalize = ""
	case "", "unit", "max":
	default:
		return nil, bad("normalize", o.Normalize, "none, unit or max")
	}
	if o.Scale < 0 || o.Scale-o.Scale != 0 {
		return nil, bad("scale", strconv.FormatFloat(o.Scale, 'g', -1, 64), "a positive number")
	}
	if o.Positive != "" {
		p := makeLabel(o.Positive)
		c.positive = &p
		if o.Labels != nil && !p.equal(makeLabel(o.Labels.Positive)) {
			return nil, bad("positive", o.Positive, strconv.Quote(o.Labels.Positive)+", as in training")
		}
	}
	if o.LabelsOptional && o.Labels == nil {
		return nil, fmt.Errorf("labels may be missing only where a model has fixed them: %w", ErrOption)
	}
	if o.Columns < 0 || o.Columns == 1 {
		return nil, bad("columns", strconv.Itoa(o.Columns), "at least 2")
	}
	if len(o.Header) > 0 {
		if o.Columns == 0 {
			c.Columns = len(o.Header)
		} else if o.Columns != len(o.Header) {
			return nil, bad("columns", strconv.Itoa(o.Columns), fmt.Sprintf("%d, the names in the header", len(o.Header)))
		}
	}
	if o.Dim < 0 {
		return nil, bad("dim", strconv.Itoa(o.Dim), "a number of features")
	}
	if o.Label < 0 || o.Label > c.Columns {
		return nil, bad("label", strconv.Itoa(o.Label), "the number of a column")
	}
	if o.MaxLine < 0 {
		return nil, bad("max line", strconv.FormatInt(o.MaxLine, 10), "a number of bytes")
	}
	if o.Memory < 0 {
		return nil, bad("memory", strconv.FormatInt(o.Memory, 10), "a number of bytes")
	}
	if o.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if o.chunk <= 0 {
		c.chunk = chunkSize
	}
	return c, nil
}
