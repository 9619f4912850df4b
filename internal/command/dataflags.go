package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// readFlags say how files are read.
type readFlags struct {
	format    choice
	indexBase choice
	header    choice
	labelCol  string
	weightCol string
	anyFormat bool
	onError   string
	maxLine   byteSize
}

func (d *readFlags) flags(fs *pflag.FlagSet) {
	choose(fs, &d.format, "format", "format of the examples; see halfspace help formats",
		append([]string{"auto"}, format.Names(nil)...)...)
	choose(fs, &d.indexBase, "index-base", format.Help("IndexBase"), "auto", "0", "1")
	choose(fs, &d.header, "header", format.Help("HeaderRow"), "auto", "yes", "no")
	fs.StringVar(&d.labelCol, "label-col", "", format.Help("LabelCol"))
	fs.StringVar(&d.weightCol, "weight-col", "", format.Help("WeightCol"))
	fs.StringVar(&d.onError, "on-error", "stop", "at a bad row: stop, skip, or limit=N")
	d.maxLine = dataset.DefaultMaxLine
	fs.Var(&d.maxLine, "max-line", "refuse longer lines (fasta: records), at most 1GiB")
}

// anyFormatFlag adds the flag of verbs that a model or a training set tells the format.
func (d *readFlags) anyFormatFlag(fs *pflag.FlagSet) {
	fs.BoolVar(&d.anyFormat, "any-format", false, "accept another format than that of the "+
		"model or training set, matching features by index")
}

// columnFlags adds the flags that say what columns are taken for.
func columnFlags(fs *pflag.FlagSet, d *training.Data) {
	fs.StringArrayVar(&d.TextCols, "text-col", nil, format.Help("TextCols"))
	fs.StringArrayVar(&d.NumberCols, "number-col", nil, format.Help("NumberCols"))
	fs.StringArrayVar(&d.IgnoreCols, "ignore-col", nil, format.Help("IgnoreCols"))
}

// data returns what the flags say.
func (d *readFlags) data(fs *pflag.FlagSet) training.Data {
	r := training.Data{Format: d.format.value, IndexBase: d.indexBase.value,
		Header: d.header.value, LabelCol: d.labelCol,
		WeightCol: d.weightCol,
		AnyFormat: d.anyFormat, OnError: d.onError}
	if fs.Changed("max-line") {
		r.MaxLine = training.Bytes(d.maxLine)
	}
	return r
}

// warnBadRows returns a function that writes a line on each of the first bad rows.
func warnBadRows(w io.Writer) func(error) {
	const most = 10
	n := 0
	return func(err error) {
		if n++; n <= most {
			fmt.Fprintf(w, "halfspace: warning: passed over: %s\n", errorText(err))
		} else if n == most+1 {
			fmt.Fprintln(w, "halfspace: warning: more bad rows are passed over silently; the "+
				"summary counts them")
		}
	}
}

// machineFlags say what to compute with.
type machineFlags struct {
	threads int
	impl    string
}

func (m *machineFlags) flags(fs *pflag.FlagSet) {
	fs.IntVar(&m.threads, "threads", 0, "worker threads, 0: one per processor; results do not "+
		"depend on it")
	fs.StringVar(&m.impl, "impl", "auto", "kernel implementation `NAME`: auto, generic, avx2, "+
		"avx512 or neon; results do not depend on it")
}

// start chooses the implementation and starts the workers; the caller closes the pool.
func (m *machineFlags) start(fs *pflag.FlagSet) (*engine.Pool, error) {
	if err := m.use(fs); err != nil {
		return nil, err
	}
	return engine.NewPool(m.threads), nil
}

// use checks and settles what was asked for, without a pool.
func (m *machineFlags) use(fs *pflag.FlagSet) error {
	if m.threads < 0 || m.threads > training.MaxThreads {
		return Usage("0 takes one a processor.", "%s %d: not a number of threads", Given(fs,
			"threads"), m.threads)
	}
	if m.threads == 0 {
		m.threads = runtime.GOMAXPROCS(0)
	}
	// vecmath has read the variable itself
	if flag := fs.Lookup("impl"); flag.Changed && envName("impl") != source(flag) {
		if err := vecmath.Use(m.impl); err != nil {
			var can []string
			for _, im := range vecmath.Implementations() {
				if im.Supported {
					can = append(can, im.Name)
				}
			}
			return Usage("This machine can use: auto, "+strings.Join(can,
				", ")+". More: halfspace doctor.", "%s %s: %w", Given(fs, "impl"), m.impl, err)
		}
	}
	return nil
}

// source returns where a flag's value came from, "" for the command line.
func source(f *pflag.Flag) string {
	if s := f.Annotations[sourceKey]; len(s) > 0 {
		return s[0]
	}
	return ""
}

// outputFlags say how a verb talks.
type outputFlags struct {
	printFlags
	progress choice
	verbose  bool
}

func (o *outputFlags) flags(fs *pflag.FlagSet) {
	o.jsonFlag(fs)
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "no progress and no summary")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "say what was found in the data and what is "+
		"computed with")
}

// note writes a line to stderr if -v was given.
func (o *outputFlags) note(cmd *cobra.Command, format string, args ...any) {
	if o.verbose {
		fmt.Fprintf(cmd.ErrOrStderr(), "halfspace: "+format+"\n", args...)
	}
}

// decided says with -v how the first rows of a table were understood.
func (o *outputFlags) decided(cmd *cobra.Command, info dataset.Info) {
	if info.Decided != nil {
		o.note(cmd, "%s: %s", info.Format, info.Decided)
	}
}

// labelPlace says where the label of a row was looked for, if something else may have been taken
// for it; it is of csv, as its excerpt shows.
func labelPlace(row *dataset.RowError) string {
	if strings.ContainsAny(row.Excerpt, ",;") && !strings.HasPrefix(row.Excerpt, "{") {
		return labelColumn
	}
	return ""
}

const labelColumn = "\nIn csv the label is taken from a column named label, class, target or y, " +
	"or else from the last; --label-col chooses."

// dataError gives an error of reading data its exit code and next step. kept says what became of
// the model.
func dataError(err error, kept string) error {
	if err == nil {
		return nil
	}
	var next string
	row, path := (*dataset.RowError)(nil), (*fs.PathError)(nil)
	switch {
	case errors.Is(err, dataset.ErrOption):
		return &fail{CodeUsage, err, "See: halfspace help formats."}
	case errors.Is(err, dataset.ErrBadRow) && errors.As(err, &row):
		ones := "ones"
		if row.Good == 1 {
			ones = "one"
		}
		next = fmt.Sprintf("1 bad row after %d good %s; %s. To skip bad rows: --on-error "+
			"skip (or limit=100).", row.Good, ones, kept)
		if row.Good == 0 {
			next += labelPlace(row)
		}
	case errors.Is(err, dataset.ErrMemory):
		return &fail{CodeFailed, err, upper(kept) + ". What may be read into how much memory: " +
			"halfspace help formats."}
	case errors.Is(err, dataset.ErrClosed):
		next = upper(kept) + ". Only the classes that are named are learned: leave --classes " +
			"out, or name all of them."
	case errors.Is(err, dataset.ErrLabels):
		next = upper(kept) + ". Two labels are learned; --positive LABEL tells one from all others."
		if errors.As(err, &row) {
			next += labelPlace(row)
		}
	case errors.Is(err, dataset.ErrForeign):
		return &fail{CodeModel, err, upper(kept) + ". If the features are the same, number by " +
			"number: --any-format."}
	case errors.Is(err, dataset.ErrColumns):
		next = upper(kept) + ". Columns are matched by name, or by their place where one side " +
			"has no header: halfspace help formats."
	case errors.Is(err, dataset.ErrFormat):
		next = upper(kept) + ". Formats and how to name one: halfspace help formats."
	case errors.Is(err, dataset.ErrEmpty):
		next = upper(kept) + ". Check that this is the file you mean."
		if !errors.As(err, &row) { // a part of the rows
			next = upper(kept) + ". Cut the rows into fewer parts; unpack what is compressed."
		}
	case errors.Is(err, dataset.ErrTruncated):
		next = upper(kept) + ". Get the file again; this copy is not whole."
	case errors.As(err, &path) && path.Op == "write":
		return &fail{CodeFailed, fmt.Errorf("%s: %w", path.Path, path.Err), upper(kept) +
			". Write where there is room."}
	case errors.As(err, &path):
		return &fail{CodeData, fmt.Errorf("%s: %w", path.Path, path.Err), upper(kept) +
			". Check the name and its permissions."}
	default:
		return err
	}
	return &fail{CodeData, err, next}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
