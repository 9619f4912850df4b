package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	form "github.com/halfspace-ml/halfspace/internal/schema"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// schema names the form of all JSON that the command prints.
const schema = form.Name

// PrintJSON writes one document.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printFlags say in what form a verb prints what came of it.
type printFlags struct{ json, quiet bool }

func (p *printFlags) flags(fs *pflag.FlagSet) {
	p.jsonFlag(fs)
	fs.BoolVarP(&p.quiet, "quiet", "q", false, "no summary")
}

func (p *printFlags) jsonFlag(fs *pflag.FlagSet) {
	fs.BoolVar(&p.json, "json", false, "print one JSON document instead of text")
}

// print prints a report on stdout: as JSON, by text, or with -q not at all.
func (p *printFlags) print(cmd *cobra.Command, report any, text func(io.Writer) error) error {
	switch {
	case p.json:
		return PrintJSON(stdout(cmd), report)
	case p.quiet:
		return nil
	}
	return text(stdout(cmd))
}

// summaryRows are lines of a text: what it is, and what is said of it.
type summaryRows [][2]string

func (s *summaryRows) add(name, format string, args ...any) {
	*s = append(*s, [2]string{name, fmt.Sprintf(format, args...)})
}

// write writes the lines, aligned.
func (s summaryRows) write(w io.Writer) error {
	width := 0
	for _, r := range s {
		width = max(width, len(r[0]))
	}
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, "%-*s  %s\n", width, r[0], r[1])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// finite is a number for JSON, which has none that are not finite: nil for these.
func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// output is where a verb writes its text: stdout, or a file that appears whole or not at all.
type output struct {
	*bufio.Writer
	file   *atomicfile.File // nil: stdout, a device or a pipe
	device io.Closer        // nil: stdout or a file
}

// newOutput opens the output; an empty name is w. A device or a pipe is written to; a link stays
// one to the new file.
func newOutput(w io.Writer, name string) (*output, error) {
	if name == "" || name == "-" {
		return &output{Writer: bufio.NewWriterSize(w, 1<<16)}, nil
	}
	if err := noStream(name); err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if out, e := os.Stdout.Stat(); err == nil && e == nil && os.SameFile(info, out) { // /dev/stdout
		return &output{Writer: bufio.NewWriterSize(w, 1<<16)}, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, &fail{CodeFailed, fmt.Errorf("-o %s: %w", name, PathCause(err)),
				"Name a file that can be written."}
		}
		return &output{Writer: bufio.NewWriterSize(f, 1<<16), device: f}, nil
	}
	f, err := atomicfile.Create(name, 0o666)
	if err != nil {
		return nil, &fail{CodeFailed, fmt.Errorf("-o %s: %w", name, PathCause(err)),
			"Choose a folder that can be written."}
	}
	return &output{Writer: bufio.NewWriterSize(f, 1<<16), file: f}, nil
}

// finish puts the file in its place, or with an error of the work takes it away. It returns the
// first error of both. What goes elsewhere is good up to the error.
func (o *output) finish(err error) error {
	if err == nil || o.file == nil {
		if e := o.Flush(); err == nil {
			err = e
		}
	}
	switch {
	case o.device != nil:
		if e := o.device.Close(); err == nil {
			err = e
		}
	case o.file != nil && err == nil:
		err = o.file.Commit()
	case o.file != nil:
		o.file.Discard()
	}
	return err
}

// replaceFile writes a file that appears whole or not at all. Errors name it as what.
func replaceFile(what, name string, write func(io.Writer) error) error {
	file, err := atomicfile.Create(name, 0o666)
	if err == nil {
		defer file.Discard()
		if err = write(file); err == nil {
			err = file.Commit()
		}
	}
	if err != nil {
		return &fail{CodeFailed, fmt.Errorf("%s: %w", what, PathCause(err)),
			"Choose a folder that can be written."}
	}
	return nil
}

// watched is a writer that keeps its first error, for those who write to it and don't look.
type watched struct {
	io.Writer
	err error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// choice is a flag with a few possible values, the first of them the default.
type choice struct {
	value   string
	options []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.options, "|") }
func (c *choice) Set(s string) error {
	for _, o := range c.options {
		if o == s {
			c.value = s
			return nil
		}
	}
	return fmt.Errorf("not one of %s", strings.Join(c.options, ", "))
}

// choose adds a flag with a few possible values.
func choose(fs *pflag.FlagSet, c *choice, name, help string, options ...string) {
	c.value, c.options = options[0], options
	fs.Var(c, name, help)
}

// byteSize is a flag for an amount of memory; 0 is none given.
type byteSize training.Bytes

func (b *byteSize) Type() string          { return "SIZE" }
func (b *byteSize) String() string        { return training.Bytes(*b).String() }
func (b *byteSize) Set(text string) error { return (*training.Bytes)(b).Set(text) }

// inMiB is an amount of memory for people.
func inMiB(bytes int64) string { return training.Bytes(bytes).MiB() }

// IsTerminal reports whether somebody looks at what is written.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
