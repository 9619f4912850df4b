package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// Exit codes; halfspace help exit-codes explains them.
const (
	CodeGood         = 0
	CodeFailed       = 1
	CodeUsage        = 2
	CodeData         = 3
	CodeModel        = 4
	CodeGate         = 5
	CodeNotConverged = 6
	CodeStopped      = 130
)

// fail is an error with its exit code and what to do next.
type fail struct {
	code int
	err  error
	next string
}

func (f *fail) Error() string { return f.err.Error() }
func (f *fail) Unwrap() error { return f.err }

// Usage is an error of the command line.
func Usage(next, format string, args ...any) error {
	return &fail{CodeUsage, fmt.Errorf(format, args...), next}
}

// ErrStopped says that an interrupt ended the work.
var ErrStopped = errors.New("stopped")

// explain returns the exit code of an error and the next step.
func explain(err error) (code int, next string) {
	if f := (*fail)(nil); errors.As(err, &f) {
		return f.code, f.next
	}
	switch {
	case errors.Is(err, ErrStopped), errors.Is(err, context.Canceled):
		return CodeStopped, ""
	}
	return CodeFailed, ""
}

// kinds are errors whose texts tell programs what went wrong. At the end of a text that says so to
// people they tell nothing.
var kinds = []error{learner.ErrConfig, engine.ErrKernel, dataset.ErrOption, eval.ErrOptions}

// errorText is the text of an error without such ends.
func errorText(err error) string {
	text := withFlags(err.Error())
	for cut := true; cut; {
		cut = false
		for _, kind := range kinds {
			if rest, ok := strings.CutSuffix(text, ": "+kind.Error()); ok {
				text, cut = rest, true
			}
		}
	}
	return text
}

// flagsOf are the flags that set what errors of the packages below name: fields of options and of
// settings, or a method. TestFlagsInErrors holds that each stands in an error, and that those name
// nothing else.
var flagsOf = strings.NewReplacer(
	"Env.Seed", "--seed",
	"FitOptions.ActiveSet", "--active-set",
	"FitOptions.Halving", "--halving",
	"Fitter.Fit", "--until-converged",
	"Model.Precision", "--precision",
	"Options.Normalize", "--normalize",
	"RFFConfig.D", "--rff",
	"RFFConfig.Sigma", "--sigma",
	"set Options.IndexBase to ", "pass --index-base ",
	"set Options.Positive to ", "pass --positive ",
	"Options.IndexBase", "--index-base",
	"set Options.Format to ", "pass --format ",
	"set Options.HeaderRow to ", "pass --header ",
	"Replay until ", "train --replay LOG --until ",
	"Options.Format", "--format",
	"Options.HeaderRow", "--header",
	"Options.HashBits", "--hash-bits",
	"Options.IgnoreCols", "--ignore-col",
	"Options.LabelCol", "--label-col",
	"Options.IDCol", "--id-col",
	"Options.WeightCol", "--weight-col",
	"Options.Missing", "--missing",
	"Options.NumberCols", "--number-col",
	"Options.TextCols", "--text-col",
	"Options.MaxLine", "--max-line",
	"Options.Memory", "--mem-budget",
	"Options.Positive", "--positive",
	"Options.Classes", "--classes",
)

// withFlags is a text of a package below for people at a command line.
func withFlags(text string) string { return flagsOf.Replace(text) }

// findInput returns the name of a file that is there: the name itself, or the one of that name in
// the folder HALFSPACE_DATA.
func findInput(name string) (string, error) {
	if err := noStream(name); err != nil {
		return "", err
	}
	info, err := os.Stat(name)
	dir := os.Getenv("HALFSPACE_DATA")
	if errors.Is(err, fs.ErrNotExist) && dir != "" && !filepath.IsAbs(name) {
		in := filepath.Join(dir, name)
		if info, err2 := os.Stat(in); err2 == nil && !info.IsDir() {
			return in, nil
		}
		return "", &fail{CodeData, fmt.Errorf("%s: no such file, nor in %s (HALFSPACE_DATA)", name,
			dir), "Check the name; - reads stdin."}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &fail{CodeData, fmt.Errorf("%s: no such file", name), "Check the name; - " +
			"reads stdin; HALFSPACE_DATA may name a folder of data files."}
	case err != nil:
		return "", &fail{CodeData, fmt.Errorf("%s: %w", name, PathCause(err)),
			"Check the name and its permissions."}
	case info.IsDir():
		return "", &fail{CodeData, fmt.Errorf("%s: is a folder", name), "Name the files in it: " +
			filepath.Join(name, "*") + "."}
	}
	return name, nil
}

// PathCause is the reason of an error of package os without operation and name.
func PathCause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if p := (*os.LinkError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// plainNumber is the reason of an error of package strconv without function and text.
func plainNumber(err error) error {
	n := (*strconv.NumError)(nil)
	if !errors.As(err, &n) {
		return err
	}
	if errors.Is(n.Err, strconv.ErrRange) {
		return errors.New("out of range")
	}
	switch n.Func {
	case "ParseInt", "Atoi":
		return errors.New("not a whole number")
	case "ParseUint":
		return errors.New("not a whole number of 0 or more")
	case "ParseBool":
		return errors.New("neither true nor false")
	}
	return errors.New("not a number")
}
