package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	"github.com/halfspace-ml/halfspace/model"
)

// Every flag that names a file says what becomes of it, and every verb what its arguments are. So
// all that a command line reads and writes is known before any of it is opened, and an output that
// would destroy an input, or another output, is refused.

// placeKey annotates a flag with the use of the file that it names, and a command with that of its
// arguments.
const placeKey = "place"

// Uses of a file.
const (
	UseExamples = "examples" // read by package dataset, if need be from the folder HALFSPACE_DATA
	UseRead     = "read"
	UseWritten  = "written"  // in place, as it grows
	UseReplaced = "replaced" // by a file that appears whole; a device or a pipe is written to
	UseModel    = "model"    // replaced, and can be no device
	UseServed   = "served"   // NAME=FILE: read, and written as it learns, but with --read-only
	UseOutput   = "output"   // replaced; it takes what else goes to stdout, and - is stdout
	UseFigures  = "figures"  // a folder, in which figures are replaced
	UseFolder   = "folder"   // in which nothing is written under a name that somebody chose
	UseSuites   = "suites"   // arguments that name what reads the public data files
)

// Names says that flags name files of a use.
func Names(fs *pflag.FlagSet, use string, flags ...string) {
	for _, flag := range flags {
		fs.SetAnnotation(flag, placeKey, []string{use})
	}
}

// args says what the arguments of a command name.
func args(use string) map[string]string { return map[string]string{placeKey: use} }

// place is a file, or a folder, that a command reads or writes.
type place struct {
	what string // as errors name it
	name string // as it was given; "" for the standard streams
	use  string
	flag string      // that names it; "" for arguments and the standard streams
	info os.FileInfo // nil: not there yet

	// The folder in which its name leads to a file, and that file's name there. nil for the
	// standard streams, and where there is no such folder.
	dir  os.FileInfo
	base string
}

func (p *place) writes() bool {
	switch p.use {
	case UseWritten, UseReplaced, UseModel, UseServed, UseOutput, UseFigures:
		return true
	}
	return false
}

// newPlace looks what is there.
func newPlace(what, use, flag, name string) *place {
	p := &place{what: what, name: name, use: use, flag: flag}
	if info, err := os.Stat(name); err == nil {
		p.info = info
	}
	if target, err := atomicfile.Target(name); err == nil {
		if info, err := os.Stat(filepath.Dir(target)); err == nil {
			p.dir, p.base = info, filepath.Base(target)
		}
	}
	return p
}

// newStream is the place of a standard stream.
func newStream(what, use string, f *os.File) *place {
	p := &place{what: what, use: use}
	if info, err := f.Stat(); err == nil {
		p.info = info
	}
	return p
}

// one reports whether two places are one file. Devices and pipes may serve many times.
func (p *place) one(q *place) bool {
	switch {
	case p.use == UseFigures:
		return q.use != UseFigures && p.holds(q)
	case q.use == UseFigures:
		return q.holds(p)
	case p.info != nil && q.info != nil:
		return p.info.Mode().IsRegular() && os.SameFile(p.info, q.info)
	case p.info != nil || q.info != nil || p.dir == nil || q.dir == nil:
		return false
	}
	same := p.base == q.base
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		// Their file systems mostly know no case.
		same = strings.EqualFold(p.base, q.base)
	}
	return same && os.SameFile(p.dir, q.dir)
}

// holds reports whether a file is one that may be replaced by a figure in the folder p.
func (p *place) holds(q *place) bool {
	if p.info == nil || q.dir == nil || !os.SameFile(p.info, q.dir) {
		return false
	}
	return filepath.Ext(q.base) == ".svg"
}

// filesOf returns the files that a flag of that use names.
func filesOf(f *pflag.Flag, use string) (names []string) {
	values := []string{f.Value.String()}
	if s, ok := f.Value.(pflag.SliceValue); ok {
		values = s.GetSlice()
	}
	for _, name := range values {
		if use == UseServed {
			_, name = namedFile(name)
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// placesOf lists what a command line reads and writes.
func placesOf(cmd *cobra.Command, arguments []string) (list []*place) {
	stdin, toStdout := false, true
	add := func(flag, use, name string) {
		what := name
		if flag != "" {
			what = Given(cmd.Flags(), flag) + " " + name
		}
		switch use {
		case UseFigures:
			what += "'s figures"
		case UseOutput:
			if name == "-" {
				return // stdout is in the list anyway
			}
			toStdout = jsonToo(cmd)
		}
		if use == UseExamples {
			if name == "-" {
				stdin = true
				return
			}
			if found, err := findInput(name); err == nil {
				name = found
			}
			if beside := dataset.Beside(name); beside != "" {
				list = append(list, newPlace(what+"'s "+filepath.Base(beside), use, flag, beside))
			}
		}
		list = append(list, newPlace(what, use, flag, name))
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		a := f.Annotations[placeKey]
		if len(a) == 0 {
			return
		}
		use := a[0]
		only := cmd.Flags().Lookup("read-only")
		if use == UseServed && only.Value.String() == "true" {
			use = UseRead
		}
		for _, name := range filesOf(f, a[0]) {
			add(f.Name, use, name)
		}
		if use == UseModel {
			list = append(list, checkpointsOf(cmd, f)...)
		}
	})
	switch use := cmd.Annotations[placeKey]; use {
	case "":
	case UseSuites:
		for name := range strings.SplitSeq(cmd.Annotations[UseSuites], "\n") {
			add("", UseRead, name)
		}
		if f := cmd.Flags().Lookup("compare"); f != nil && f.Changed {
			for _, name := range arguments {
				add("", UseRead, name)
			}
		}
	default:
		for _, name := range arguments {
			add("", use, name)
		}
	}
	if stdin {
		list = append(list, newStream("stdin", UseExamples, os.Stdin))
	}
	if toStdout {
		list = append(list, newStream("stdout", UseWritten, os.Stdout))
	}
	// First, since errors go there.
	return slices.Insert(list, 0, newStream("stderr", UseWritten, os.Stderr))
}

// checkpointsOf returns the place of the checkpoint before the last, if the flag's model has any.
func checkpointsOf(cmd *cobra.Command, f *pflag.Flag) []*place {
	every := cmd.Flags().Lookup("checkpoint-every")
	if every == nil || every.Value.String() == "" || f.Value.String() == "" {
		return nil
	}
	last := model.Kept(f.Value.String())
	return []*place{newPlace(last+", the checkpoint before the last,", UseModel, f.Name, last)}
}

// jsonToo reports whether a command that was given --output prints a document on stdout beside it.
func jsonToo(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("json")
	return f != nil && f.Value.String() == "true"
}

// checkPlaces refuses a command line of which an output is an input or another output, by whatever
// names and links, or can't be written.
func checkPlaces(cmd *cobra.Command, arguments []string) error {
	if err := checkNamed(cmd); err != nil {
		return err
	}
	list := placesOf(cmd, arguments)
	for i, out := range list {
		if !out.writes() {
			continue
		}
		for j, other := range list {
			if i == j || !out.one(other) || mayBeOne(out, other) {
				continue
			}
			if out.what == "stderr" && !other.writes() { // where this error must not go
				muffle(cmd, list)
			}
			if other.writes() {
				return Usage("Each output needs a file of its own: name another.",
					"%s: the same file as %s", out.what, other.what)
			}
			return Usage("It would be destroyed: name another file for what is written.",
				"%s: the same file as %s, which is read", out.what, other.what)
		}
	}
	for _, p := range list {
		if p.flag != "" {
			if err := checkTarget(Given(cmd.Flags(), p.flag), p.use, p.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkNamed refuses a flag for a file that names none, as -m "$MODEL" does where nothing set the
// variable: what was learned would be lost.
func checkNamed(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && len(f.Annotations[placeKey]) > 0 && f.Value.String() == "" {
			err = Usage("Name a file, or leave the flag out.", "%s: no name is given",
				Given(cmd.Flags(), f.Name))
		}
	})
	return err
}

// muffle has errors printed on stdout, if that isn't read either.
func muffle(cmd *cobra.Command, list []*place) {
	out := newStream("stdout", UseWritten, os.Stdout)
	cmd.Root().SetErr(stdout(cmd))
	if slices.ContainsFunc(list, func(p *place) bool { return !p.writes() && p.one(out) }) {
		cmd.Root().SetErr(io.Discard)
	}
}

// mayBeOne reports whether two places may be one file: the model that is gone on from is replaced
// by what it became, a model and the checkpoint before it are one until the next is written, and
// what a shell sends into one file is printed in turn.
func mayBeOne(out, other *place) bool {
	if out.flag == "" && other.flag == "" {
		return out.writes() && other.writes()
	}
	return out.use == UseModel && (other.flag == "from" || other.flag == out.flag)
}

// checkTarget finds out before the work that a file can't be written after it.
func checkTarget(flag, use, name string) error {
	switch use {
	case UseOutput, UseWritten, UseReplaced, UseModel:
		if use == UseOutput && sourceOf(name) != nil {
			return nil // newOutput refuses it where the verb doesn't take it
		}
		if err := noStream(name); err != nil {
			return err
		}
	}
	switch use {
	case UseWritten, UseReplaced, UseModel:
		if name == "-" {
			return Usage("Name a file.", "%s -: can't go to stdout", flag)
		}
	case UseOutput:
		if name == "-" {
			return nil
		}
	default:
		return nil
	}
	switch info, err := os.Stat(name); {
	case err != nil:
	case info.IsDir():
		next := "Name a file in it: " + filepath.Join(name, "FILE") + "."
		return Usage(next, "%s %s: is a folder", flag, name)
	case !info.Mode().IsRegular() && use == UseModel:
		const next = "A model is put in its place whole: name a file."
		return Usage(next, "%s %s: is no regular file", flag, name)
	case !info.Mode().IsRegular():
		return nil // a device or a pipe: nothing is made beside it
	}
	target, err := atomicfile.Target(name)
	if err != nil {
		return Usage("Name a file.", "%s %s: %w", flag, name, PathCause(err))
	}
	dir := filepath.Dir(target)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return Usage("Make it first: mkdir -p "+dir+".", "%s %s: no folder %s", flag, name, dir)
	case !info.IsDir():
		return Usage("Choose another place.", "%s %s: %s is not a folder", flag, name, dir)
	case use == UseWritten:
		return nil
	}
	f, err := atomicfile.Create(name, 0o666)
	if err != nil {
		err = fmt.Errorf("%s %s: %w", flag, name, PathCause(err))
		return &fail{CodeFailed, err, "Choose a folder that can be written."}
	}
	f.Discard()
	return nil
}
