// Package dataset reads examples from files and streams into blocks, and generates synthetic ones.
//
// Formats are a table, package format. Text (svmlight, csv, fasta) is cut at line ends into chunks
// of 128 KiB, which workers parse side by side; what comes out is in file order and the same for
// any number of workers and any chunk size. [RowShard] divides files between machines. What a
// program has in memory comes the same way by [OpenBlocks]. Whether a file is compressed (gzip,
// bzip2, xz, zstd) and which format it has is recognised from its content, never from its name.
//
// # Rules
//
//   - Feature numbers inside are file index - base + 1 if a bias is appended; the bias is feature
//     0, of value 1 (or BiasValue), added before normalising. Dense rows (csv, idx) get it as
//     column 0.
//   - svmlight: indices ascend within a row, each once; index 0 only where the base is 0. "# ..."
//     at a line's begin or behind a blank is a comment, "qid:N" is ignored. A row without
//     features is good.
//   - NaN and Inf are bad values, and so is a number that is not finite in the element type. Values
//     are the correctly rounded float32 or float64 of the decimal.
//   - Numbers compare as numbers: 1, 1.0 and +1 are one label. Of two labels the larger number, or
//     of texts the later in byte order, is +1, whatever comes first. With Positive that label is +1
//     and all others are -1.
//   - A stream returns rows labelled -1, 0 or +1 (with its sign) at once: the first two are -1
//     then, and the other label must lie on the other side. Rows with another label, a plain 1
//     among them (it is -1 beside 2), wait for a second one, up to 2^20 rows or 512 MiB (less with
//     Options.Memory); then 1 is taken for +1, and another label is an error.
//   - A quoted csv field ends on its line.
//   - fasta: splice sites. Of the middle 51 letters of a sequence the 49 trimers are 49 * 125
//     one-hot attributes; the header has label=VALUE.
package dataset

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// Errors of this package. Those about the data come in a [RowError] that knows the place.
var (
	// ErrOption: a field of Options or a generator's parameter has no such value.
	ErrOption = format.ErrOption
	// ErrFormat: the format is not recognised; also damaged compression, headers that do not fit.
	ErrFormat = format.ErrFormat
	// ErrColumns: csv files have not the columns that training had.
	ErrColumns = format.ErrColumns
	// ErrForeign: the format is another than Options.Trained.
	ErrForeign = format.ErrForeign
	// ErrClosed: a label that is none of Options.Classes. It is an ErrLabels.
	ErrClosed = fmt.Errorf("none of the classes: %w", ErrLabels)
	// ErrBadRow: a row breaks the rules of its format.
	ErrBadRow = format.ErrBadRow
	// ErrEmpty: a file has no rows.
	ErrEmpty = format.ErrEmpty
	// ErrLabels: a third label, one label only, or a label that the model does not know.
	ErrLabels = format.ErrLabels
	// ErrMemory: something doesn't fit into Options.Memory.
	ErrMemory = format.ErrMemory
	// ErrStopped: by Stream.Stop.
	ErrStopped = errors.New("reading was stopped")
	// ErrThird: a third label where there can be two. It is an ErrLabels.
	ErrThird = fmt.Errorf("a third label: %w", ErrLabels)
	// ErrTruncated: compressed or binary data stop in the middle.
	ErrTruncated = format.ErrTruncated
	// ErrScale: Normalize is "max" on a stream without Scale.
	ErrScale = errors.New("longest example unknown")
)

// RowError is an error in the data with its place.
type RowError = format.RowError

// LabelMap holds the texts of the two labels as they stand in the data. Negative is "" when
// Positive was chosen by Options.Positive: then all other labels are the negative class.
type LabelMap struct {
	Negative string `json:"negative"`
	Positive string `json:"positive"`
}

// Options says how examples are read. The zero value reads any file with the defaults.
type Options struct {
	// Format is the name of a format: "svmlight", "csv", "idx", "fasta", or one that was registered
	// with package format. "" and "auto" go by the content.
	Format string
	// IndexBase is the number of the first feature in svmlight: "0", "1", or "" and "auto": 0 if an
	// index 0 occurs, else 1.
	IndexBase string
	// LabelCol is the column of the labels in csv: a name of the header, or a number from 1, or
	// from the end if negative. "" takes the one named label, class, target or y, else the last.
	LabelCol string
	// WeightCol is the column of the weights in csv, a name or a number as in LabelCol: numbers of
	// 0 or more that become Block.W, and no feature. "" is none.
	WeightCol string
	// WeightOptional takes files without that column: their weights are 1.
	WeightOptional bool
	// IDCol is where the id of a row is, which is no feature: the column of csv as LabelCol names
	// one, the key of ndjson, and "tag" for the tags of vw. "" is none.
	IDCol string
	// LabelsLater lets rows of a Stream lack the label that have an id: it may come in a later row
	// of that id, in csv with nothing in the other columns; see [Stream.ID].
	LabelsLater bool
	// TextCols are columns of csv that hold texts, as LabelCol names one. Each text of each is a
	// feature of its own, COLUMN=TEXT (see Info.Names and HashBits), of value 1 in the rows that
	// have it. NumberCols hold numbers, and IgnoreCols are left out. Of other columns those hold
	// texts in which, of the first thousand rows that are in the head, more have a text than a
	// number.
	TextCols, NumberCols, IgnoreCols []string
	// HeaderRow says whether the first row of csv names the columns: "yes", "no", or "" and "auto"
	// by its text and Header; a file whose text leaves it open is refused.
	HeaderRow string
	// Missing says what a csv value that is missing stands for (nothing, ?, NA, N/A, NaN, null, \N
	// or a point alone).
	// "mean": of numbers their column's mean, as far as seen (see Scaling), of texts none.
	// "indicator": that mean, beside a further feature COLUMN=?, of texts this alone. "error": the
	// row is bad. "": of numbers the row is bad, of texts it is COLUMN=?.
	Missing string
	// Positive is the label that is +1; all others are -1. "": of two labels the larger one.
	Positive string
	// AnyClasses takes any number of labels up to MaxClasses. Of more than two, blocks have Class,
	// and Info.Classes their texts in the order in which they first came; Y is +1 then. In a stream
	// they are as many as there are in the text before the first block, or no more than two: a
	// later third label is an ErrThird then. Beside Labels, rows of others have Y = 0, and
	// Info.Foreign counts them.
	AnyClasses bool
	// Classes are the texts of the classes, whose numbers are their places; other labels are
	// errors,
	// or missing with LabelsOptional, or with AnyClasses further classes. nil: see AnyClasses, with
	// which an empty list stands for classes even where there are two.
	Classes []string
	// OnError says what becomes of bad rows: "" and "stop" end the reading, "skip" leaves them
	// out, "limit=N" at most N of them. A third label always stops.
	OnError string
	// OnBad is called with the error of each skipped row, in order, by the goroutine that calls
	// Next or Load; nil: none.
	OnBad func(error)
	// Bias "append" adds a feature 0 of value BiasValue; "" and "none" don't; "auto" goes by the
	// format, see Options.For. So do Scaling and Normalize.
	Bias string
	// BiasValue is the value of the appended feature, above 0; 0 is 1.
	BiasValue float64
	// Scaling brings features to one scale, before the bias is appended and rows are normalised:
	// "std" columns to mean 0 and standard deviation 1, and features that rows may lack to a mean
	// square of 1 where they are; "maxabs" divides by the largest absolute value. A Stream scales
	// each row by what was seen up to and with it; Load all rows by all of them. "" and "none"
	// don't, "auto" goes by the format. See [Scaling].
	Scaling string
	// Normalize "unit" divides each row by its 2-norm, "max" all rows by the longest one's (bias
	// included); "" and "none" don't, "auto" goes by the format.
	Normalize string

	// Rows is the part of the rows of files that is read; see [RowShard]. The zero value is all.
	Rows RowShard

	// HashBits hashes the names of features, where they have names, into so many bits, 1 to
	// format.MaxHashBits: memory is bounded whatever names come, and some share a feature (see
	// Info.Shared). 0: a dictionary numbers names by their first occurrence; Info.Names has it.
	HashBits int
	// Interactions are pairs of namespaces, as in "ab": each feature of a namespace that begins
	// with the first letter is multiplied by each of one that begins with the second, which makes
	// further features. Of one letter twice, as in "aa", each pair is taken once, squares included.
	Interactions []string

	// The rest is what a model or the training set has fixed; the zero value of each means: find
	// it.

	// Trained is the name of a format. Another is refused (ErrForeign), as are idx images of
	// another size than Dim, unless AnyFormat is set.
	Trained   string
	AnyFormat bool
	// Names are the names of features 0 and so on, without a bias, where features have names. New
	// ones are numbered behind them, in the order in which they come, or with FixedNames in each
	// example anew, so that a stream of any length can be scored.
	Names      []string
	FixedNames bool
	// Dim is the number of features, without an appended bias. More are read all the same, and
	// Info.Unknown counts them.
	Dim int
	// Labels are the two labels; others are errors, or missing with LabelsOptional, or with
	// AnyClasses such as are neither.
	Labels *LabelMap
	// Base is the number of the first feature in svmlight, 0 or 1, where IndexBase is auto.
	Base *int
	// Scale is what Normalize "max" divides by, above 0. Streams need it.
	Scale float64
	// Scaled is the scale of the features so far, from which Scaling goes on; without that all rows
	// are scaled by it. nil: none.
	Scaled *Scaling
	// PrepareByHand leaves it to the caller of Stream.Next to call Stream.Prepare, so that Info
	// knows no more than the rows that were used; or it leaves scaling, and missing values, which
	// are NaN until then, to a [Preparer], or of Load to [Data.Prepared].
	PrepareByHand bool
	// Columns is the number of columns of a csv row, the label included, at least 2.
	Columns int
	// Header are the names of the columns of csv, the label's too. A file with a header has the
	// same, in any order.
	Header []string
	// Kinds are the kinds of the columns of csv, as Info has them; "" with Columns: all numbers.
	Kinds string
	// LabelKey is the key of the labels in ndjson where LabelCol is "".
	LabelKey string
	// Label is the number of the label's column among Columns, from 1; 0: found by LabelCol.
	Label int

	// LabelsOptional reads data to be predicted: rows whose label is missing or is neither of
	// Labels count in Info.Unlabelled, with Y = +1 and 0; csv rows may lack the label column
	// (Columns must be given).
	LabelsOptional bool

	// Bytes has Load keep dense examples whose values are whole numbers from 0 to 255 (before they
	// are divided, bias aside) as bytes, in Data.Bytes: a quarter of the memory, or an eighth. They
	// must have LeastBytes features.
	Bytes bool

	// Placed returns, of text that OpenReader reads, where the text behind the first n bytes that
	// the reader gave lies, for [Stream.Place]: what can be begun at again, such as the offsets of
	// a topic's partitions. n is the end of whole lines, and never less than the time before, so
	// what is known of less can be dropped. It is called by the goroutine of Next, maybe while
	// another one reads. A byte order mark doesn't count. nil: nowhere.
	Placed func(n int64) string

	// Located returns, of text that OpenReader reads, how errors name its line n, from 1: which
	// line it is of what, such as of a topic's message. It is called as Placed is, also of lines
	// that Placed was called behind; "" keeps the name and n. nil: as with "".
	Located func(n int) (name string, line int)

	// Lines has streams keep which line each row begins in, for [Stream.Line].
	Lines bool

	// Sums has streams sum up what they return, for [Stream.Sum].
	Sums bool

	// OpenFile opens files by their names, for what no file system has, such as objects of a
	// bucket. Any goroutine may call it. "-" stays standard input. nil: as os.Open does.
	OpenFile func(name string) (File, error)

	Workers int // parsing goroutines, at most MaxWorkers; 0: one a processor

	// MaxLine is the longest line that is read (of fasta: the longest record), in bytes; a longer
	// one is an error, whatever OnError says. 0 is DefaultMaxLine; more than 1 GiB counts as that.
	MaxLine int64

	// Memory bounds what reading takes, in bytes: the head by which the format is decided, the text
	// on its way and the rows made of it, the longest line, rows that wait for a second label, the
	// texts of labels, what unpacking takes. What doesn't fit is an error (ErrMemory) that names
	// it. At least LeastMemory; MemoryBase may come on top. The examples that Load keeps don't
	// count.
	//
	// 0 is the built-in limits: a head of 1 MiB, Workers+3 pieces of 128 KiB of text with their
	// rows (up to 12 times as much), one line of MaxLine with its rows (up to 7 times its length
	// while it is read), 512 MiB or 2^20 rows that wait, 128 MiB to unpack zstd and xz.
	Memory int64

	// Fits, if there, is called by Load before it keeps more rows, with the bytes that all up to
	// these take; they are there twice while they are put together. An error ends the reading.
	Fits func(bytes int64) error

	// OnWarn is called with what is odd but stops nothing, such as padding behind packed data, by
	// the goroutine that calls Open, Next or Load; nil: none.
	OnWarn func(string)

	chunk int // bytes of text a worker parses at a time; 0: chunkSize
}

// Info says what was found and how much was read. On a Stream it covers the blocks returned so
// far.
type Info struct {
	Format      string // name of the format; "blocks" of a program's own, a generator's
	Compression string // of the first file: "", gzip, bzip2, xz, zstd
	// Kind is the format whose features these are: svmlight where they have numbers, though the
	// file is none; else the file's own. A model keeps it.
	Kind      string
	IndexBase int    // svmlight; 1 for the others, whose columns count from 1
	BaseFound string // how the base was found

	Labels LabelMap // zero until decided
	Seen   []string // the labels met, in order of first occurrence; of many only some
	Rest   []string // labels met that are -1 in one against the rest; of many only some
	// ForeignLabels are labels met of rows that Foreign counts; of many only some.
	ForeignLabels []string
	// Classes are the texts of all classes so far, by number; nil where there are two labels, which
	// Labels has.
	Classes []string

	Rows       int // good rows
	BadRows    int // rows skipped
	Unlabelled int // rows without a known label (LabelsOptional)
	Foreign    int // rows with a label that is none of Options.Labels or Classes
	Positives  int // rows labelled +1

	Dim         int   // features, the bias included
	NonZeros    int64 // values stored, the bias included
	Unknown     int64 // non-zeros of features beyond Options.Dim, where that is given
	UnknownRows int64 // rows that have such

	// MaxNorm is the length of the longest example, bias included, before normalising. It may count
	// rows already that have not been returned.
	MaxNorm float64
	Scale   float64 // all values were divided by this ("max"); else 1
	// Scaling is what is known of the features' scale, nil if nothing is asked. It is the caller's.
	Scaling *Scaling
	// Words says that features have names that are no columns', as texts have, and Lead how many
	// columns of numbers stand before these.
	Words bool
	Lead  int

	Bytes     int64 // uncompressed
	InputRead int64 // bytes taken from the files so far, compressed as they are
	InputSize int64 // size of all files; 0 if one of them has none (a pipe)

	// Cut is a fingerprint of the files, and of how they were cut, with Options.Rows: the same for
	// all parts. It is no protection against somebody who wants to deceive.
	Cut uint64

	Columns  int      // csv: columns of a row, the label included
	LabelCol int      // csv: number of the label's column, from 1, in training's order; 0: none
	LabelKey string   // ndjson: key of the label, where the options name it
	IDKey    string   // ndjson: key of the id; "": none
	Header   []string // csv: names of the columns, in training's order; nil if there are none
	// Decided says how the first rows of csv were understood; nil of other formats.
	Decided *format.Decided
	// Kinds has a letter for each column of csv beside the label's: n a number, t texts, - left
	// out; "" if all are numbers.
	Kinds string

	// WeightCol is the column of csv that had the weights, as Options named it.
	WeightCol string

	Names  []string // of the features so far, without a bias; nil: they have none, or are hashed
	Shared int      // features that have several names, which are hashed to the same
}

// config is Options, checked.
type config struct {
	Options
	format    *format.Format // that was chosen; nil: by content
	base      int            // -1: to be found
	baseFound string
	maxBad    int // bad rows that may be skipped; math.MaxInt: all
	bias      int // 0 or 1
	positive  *format.Label
	names     *format.Dictionary
	method    string // of scaling, where it goes on with the data; "": it doesn't
	pairs     []format.Pair
}

// resolve checks the options and settles what follows from them alone.
func (o Options) resolve() (*config, error) {
	c := &config{Options: o, base: -1}
	for _, step := range []func(*config) error{
		(*config).setFormat, (*config).setBase, (*config).setOnError, (*config).setBias,
		(*config).setScale, (*config).setLabels, (*config).setColumns, (*config).setNames,
		(*config).checkSizes, (*config).checkRows,
	} {
		if err := step(c); err != nil {
			return nil, err
		}
	}
	if o.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if o.chunk <= 0 {
		c.chunk = chunkSize
	}
	return c, nil
}

// badOption refuses the value of a field.
func badOption(field, value, want string) error {
	return fmt.Errorf("%s %q: expected %s: %w", field, value, want, ErrOption)
}

// shown is a number as it is shown in errors.
func shown(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (c *config) setFormat() error {
	if c.Format == "auto" {
		c.Format = ""
	}
	if c.Format == "" {
		return nil
	}
	if c.format = format.Lookup(c.Format); c.format == nil {
		return badOption("format", c.Format, format.Or(append([]string{"auto"},
			format.Names(nil)...)))
	}
	return nil
}

func (c *config) setBase() error {
	switch c.IndexBase {
	case "", "auto":
		if c.Base == nil {
			return nil
		}
		if *c.Base != 0 && *c.Base != 1 {
			return badOption("index base", strconv.Itoa(*c.Base), "0 or 1")
		}
		c.base, c.baseFound = *c.Base, "as in training"
	case "0":
		c.base, c.baseFound = 0, "given"
	case "1":
		c.base, c.baseFound = 1, "given"
	default:
		return badOption("index base", c.IndexBase, "auto, 0 or 1")
	}
	return nil
}

func (c *config) setOnError() error {
	rest, limited := strings.CutPrefix(c.OnError, "limit=")
	switch {
	case limited:
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return badOption("on-error", c.OnError, "limit= and a number of rows")
		}
		c.maxBad = n
	case c.OnError == "skip":
		c.maxBad = math.MaxInt
	case c.OnError != "" && c.OnError != "stop":
		return badOption("on-error", c.OnError, "stop, skip or limit=N")
	}
	return nil
}

func (c *config) setBias() error {
	v := c.BiasValue
	switch {
	case !(v >= 0) || math.IsInf(v, 0) || v > math.MaxFloat32:
		return badOption("bias value", shown(v), "a positive number")
	case v != 0 && c.Bias != "append":
		return badOption("bias value", shown(v), "none without the bias append")
	case c.Bias == "append":
		c.bias = 1
		if v == 0 {
			c.BiasValue = 1
		}
	case !slices.Contains([]string{"", "none", "auto"}, c.Bias):
		return badOption("bias", c.Bias, "none, append or auto")
	}
	return nil
}

func (c *config) setScale() error {
	switch c.Normalize {
	case "none":
		c.Normalize = ""
	case "", "unit", "max", "auto":
	default:
		return badOption("normalize", c.Normalize, "none, unit, max or auto")
	}
	if c.Scaling != "" && !slices.Contains(scalings, c.Scaling) {
		return badOption("scaling", c.Scaling, "none, std, maxabs or auto")
	}
	if k := c.Scaled; k != nil {
		if err := k.Check(); err != nil {
			return fmt.Errorf("scaled: %w: %w", err, ErrOption)
		}
		if c.Scaling == "auto" {
			c.Scaling = k.Method
		}
		if c.Scaling != "" && c.Scaling != k.Method {
			return badOption("scaling", c.Scaling, k.Method+", as in training")
		}
	}
	if !slices.Contains([]string{"", "error", "mean", "indicator"}, c.Missing) {
		return badOption("missing", c.Missing, "error, mean or indicator")
	}
	if c.Scale < 0 || c.Scale-c.Scale != 0 {
		return badOption("scale", shown(c.Scale), "a positive number")
	}
	return nil
}

func (c *config) setLabels() error {
	if c.Positive != "" {
		p := format.MakeLabel(c.Positive)
		c.positive = &p
		if c.Labels != nil && !p.Equal(format.MakeLabel(c.Labels.Positive)) {
			return badOption("positive", c.Positive,
				strconv.Quote(c.Labels.Positive)+", as in training")
		}
	}
	switch n := len(c.Classes); {
	case n == 0:
	case n == 1 || n > MaxClasses:
		return badOption("classes", strings.Join(c.Classes[:1], ","),
			fmt.Sprintf("2 to %d labels", MaxClasses))
	case c.Labels != nil || c.positive != nil:
		return badOption("classes", strings.Join(c.Classes, ","),
			"none beside the label that is +1")
	}
	met := map[string]bool{} // "1" and "1.0" are two where the data have texts
	for _, name := range c.Classes {
		if met[name] {
			return badOption("classes", name, "each label once")
		}
		met[name] = true
	}
	if c.LabelsLater && (c.IDCol == "" || c.LabelsOptional) {
		return fmt.Errorf("labels may come later only where rows have ids, and are wanted: %w",
			ErrOption)
	}
	if c.LabelsOptional && c.Labels == nil && c.Classes == nil {
		return fmt.Errorf("labels may be missing only where a model has fixed them: %w", ErrOption)
	}
	return nil
}

func (c *config) setColumns() error {
	if k := c.Kinds; k != "" && (len(k) != c.Columns-1 || strings.Trim(k, "nt-") != "") {
		return badOption("kinds", k, fmt.Sprintf("n, t or - for each of %d columns", c.Columns-1))
	}
	if c.Columns < 0 || c.Columns == 1 {
		return badOption("columns", strconv.Itoa(c.Columns), "at least 2")
	}
	if n := len(c.Header); n > 0 {
		if c.Columns == 0 {
			c.Columns = n
		} else if c.Columns != n {
			return badOption("columns", strconv.Itoa(c.Columns),
				fmt.Sprintf("%d, the names in the header", n))
		}
	}
	return nil
}

func (c *config) setNames() (err error) {
	if c.names, err = format.NewDictionary(c.Names, c.HashBits); err != nil {
		return err
	}
	c.pairs, err = format.Pairs(c.Interactions)
	return err
}

func (c *config) checkSizes() error {
	switch {
	case c.Dim < 0:
		return badOption("dim", strconv.Itoa(c.Dim), "a number of features")
	case c.Label < 0 || c.Label > c.Columns:
		return badOption("label", strconv.Itoa(c.Label), "the number of a column")
	case c.Workers < 0 || c.Workers > MaxWorkers:
		return badOption("workers", strconv.Itoa(c.Workers), "0 to "+strconv.Itoa(MaxWorkers))
	case c.MaxLine < 0:
		return badOption("max line", strconv.FormatInt(c.MaxLine, 10), "a number of bytes")
	case !slices.Contains([]string{"", "auto", "yes", "no"}, c.HeaderRow):
		return badOption("header", c.HeaderRow, "yes, no or auto")
	case c.Memory < 0:
		return badOption("memory", strconv.FormatInt(c.Memory, 10), "a number of bytes")
	}
	return nil
}
