package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// Source is a kind of streams that a command reads and answers on besides files, by names that
// begin with Scheme://. The command halfspace has none; a module of its own that brings a broker's
// client calls Run with one.
type Source struct {
	Scheme  string
	Summary string // of the topic Scheme of help, whose text Help is
	Help    string

	// Name returns what a stream is called in models and errors: the name as it was given, without
	// passwords. It looks at all that can be known without the broker; its errors are those of
	// training.NewError.
	Name func(url string) (string, error)
	// Open begins to read a stream at the place that Messages of it has given, "" being where the
	// name says. answers has them keep what an answer needs. warn is called, by any goroutine, with
	// what goes wrong meanwhile. end makes the reading return.
	Open func(ctx context.Context, url, at string, answers bool, warn func(string)) (
		m *training.Messages, end func() error, err error)
	// Answer opens a stream for answers; from is the one that is answered, "" where files are.
	Answer func(ctx context.Context, url, from string) (Answers, error)
}

// Answers takes lines that answer messages.
type Answers interface {
	// Answer sends what answers a message, of that number and data of training.Message: whole
	// lines, which are the caller's again when it returns. Of files the number is that of the line,
	// and data are nil.
	Answer(at int64, data any, lines []byte) error
	// Flush waits until the broker has all that was sent.
	Flush() error
	Close() error
}

// sources are what Run was given.
var sources []Source

// brokers are schemes for which there is a command of another module.
var brokers = map[string]string{"nats": "NATS", "kafka": "Kafka"}

// sourceOf returns the source that reads a name; nil for a file.
func sourceOf(name string) *Source {
	for i := range sources {
		if strings.HasPrefix(name, sources[i].Scheme+"://") {
			return &sources[i]
		}
	}
	return nil
}

// noStream refuses the name of a broker's stream where files are read and written.
func noStream(name string) error {
	scheme, _, _ := strings.Cut(name, "://")
	broker := brokers[scheme]
	switch {
	case !strings.Contains(name, "://") || broker == "" && sourceOf(name) == nil:
		return nil
	case sourceOf(name) != nil:
		return Usage("A stream comes once and in its order: train, predict and evaluate -i read "+
			"one, and predict -o answers on one.", "%s: a stream, where a file is needed",
			withoutUser(name))
	}
	return Usage("halfspace-"+scheme+" is this command with streams of "+broker+": go install "+
		"github.com/halfspace-ml/halfspace/ext/"+scheme+"/cmd/halfspace-"+scheme+"@latest",
		"%s: a stream of %s, which this command doesn't read", withoutUser(name), broker)
}

// withoutUser is a stream's name without user and password.
func withoutUser(name string) string {
	scheme, rest, _ := strings.Cut(name, "://")
	host, path, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if slash {
		path = "/" + path
	}
	return scheme + "://" + host + path
}

// streamInput is the stream that a verb reads instead of files.
type streamInput struct {
	*Source
	url, name string
	warn      func(string)
}

// streamOr is inputs of a verb that reads a stream, too: it is nil for files.
func streamOr(cmd *cobra.Command, args []string) (files []string, in *streamInput, err error) {
	if len(args) != 1 || sourceOf(args[0]) == nil {
		files, err = inputs(args)
		return files, nil, err
	}
	in = &streamInput{Source: sourceOf(args[0]), url: args[0]}
	if in.name, err = in.Name(in.url); err != nil {
		return nil, nil, optionError(cmd.Flags(), err)
	}
	w := cmd.ErrOrStderr()
	in.warn = func(what string) { fmt.Fprintf(w, "halfspace: warning: %s\n", what) }
	return []string{in.name}, in, nil
}

// open is training.Env.Open.
func (in *streamInput) open(ctx context.Context, at string) (training.Source, error) {
	m, end, err := in.Open(ctx, in.url, at, false, in.warn)
	if err != nil {
		return training.Source{}, err
	}
	return m.Source(end), nil
}

// openFiles is training.Open of files, or of a stream instead. answers keeps what is needed to
// answer the messages that are returned.
func openFiles[T engine.Float](ctx context.Context, files []string, in *streamInput, answers bool,
	o dataset.Options) (s *dataset.Stream[T], work context.Context, done func(),
	m *training.Messages, err error) {
	o.Lines = answers
	if in == nil {
		s, work, done, err = training.Open[T](ctx, files, o)
		return s, work, done, nil, err
	}
	m, end, err := in.Open(ctx, in.url, "", answers, in.warn)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	src := m.Source(end)
	if answers { // their places are asked for behind the parsers
		src.Place = nil
	}
	s, work, done, err = training.OpenSource[T](ctx, in.name, src, o)
	return s, work, done, m, err
}

// sourceError gives an error of a stream its exit code and next step; false for other errors. kept
// says what became of the work.
func sourceError(cmd *cobra.Command, err error, kept string) (error, bool) {
	e := (*training.Error)(nil)
	if errors.As(err, &e) && slices.Contains([]error{training.ErrOption, training.ErrChanged,
		training.ErrSource}, e.Kind) {
		return trainingError(cmd.Flags(), e, kept), true
	}
	return err, false
}

// unread gives an error of reading files or a stream its exit code and next step. kept says what
// became of the work.
func unread(ctx context.Context, cmd *cobra.Command, err error, kept string) error {
	if training.Interrupted(ctx, err) {
		return &fail{CodeStopped, ErrStopped, ""}
	}
	if err, is := sourceError(cmd, err, kept); is {
		return err
	}
	return dataError(err, kept)
}

// answering sends the lines of a verb to a stream, those of a message together.
type answering struct {
	to      Answers
	m       *training.Messages // nil: files
	pending []byte             // lines of a message
	at      int64
	data    any
	last    int // line of the text that the message ends with
	line    int // of the last one that is pending
	sent    bool
}

// openAnswers opens the stream that a verb answers on.
func openAnswers(ctx context.Context, cmd *cobra.Command, url string, in *streamInput) (
	*answering, error) {
	from := ""
	if in != nil {
		from = in.url
	}
	to, err := sourceOf(url).Answer(ctx, url, from)
	if e, is := sourceError(cmd, err, "nothing was predicted"); is {
		err = e
	}
	return &answering{to: to}, err
}

// add takes the lines of rows, one each, and where each of these was read.
func (a *answering) add(lines []byte, read []int) error {
	for i := 0; len(lines) > 0; i++ {
		end := bytes.IndexByte(lines, '\n') + 1
		a.line = read[i]
		at, data, last := int64(a.line), any(nil), a.line
		if a.m != nil {
			at, data, last = a.m.Of(a.line)
		}
		if len(a.pending) > 0 && at != a.at {
			if err := a.send(); err != nil {
				return err
			}
		}
		a.pending = append(a.pending, lines[:end]...)
		a.at, a.data, a.last = at, data, last
		lines = lines[end:]
	}
	return nil
}

// send sends what is pending.
func (a *answering) send() error {
	if len(a.pending) == 0 {
		return nil
	}
	a.sent = true
	err := a.to.Answer(a.at, a.data, a.pending)
	a.pending = a.pending[:0]
	return err
}

// whole reports whether the message of what is pending has no more lines.
func (a *answering) whole() bool { return a.line >= a.last }

// waiting reports whether there is something that the broker may not have yet.
func (a *answering) waiting() bool { return a.sent || len(a.pending) > 0 }

// flush sends all.
func (a *answering) flush() error {
	if err := a.send(); err != nil {
		return err
	}
	a.sent = false
	return a.to.Flush()
}

// finish sends all, and closes the stream; it returns the first error, that of the work before.
// After one a message is not answered of which not all rows were predicted.
func (a *answering) finish(err error) error {
	if err != nil && !a.whole() {
		a.pending = nil
	}
	if e := a.flush(); err == nil {
		err = e
	}
	if e := a.to.Close(); err == nil {
		err = e
	}
	return err
}
