package training

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/learner"
)

// Kinds of errors. All but ErrStopped, ErrPaused and
// ErrNotConverged come as an [Error].
var (
	// ErrOption: a field of Options, or two together.
	ErrOption = errors.New("bad option")
	// ErrMemory: Options.MemBudget, or the machine, has no room.
	ErrMemory = errors.New("not enough memory")
	// ErrModel: Options.From names no model that can be gone on from.
	ErrModel = errors.New("can't go on from the model")
	// ErrSave: the model can't be written to Options.Model.
	ErrSave = errors.New("the model can't be written")
	// ErrDiverged: there are weights that are not finite; nothing is saved.
	ErrDiverged = learner.ErrDiverged
	// ErrUseless: of the scores of the test sets none is finite.
	ErrUseless = errors.New("no score is a finite number")
	// ErrChanged: with Options.Resume, the examples are not those that the run stood at.
	ErrChanged = errors.New("not the examples that the model was taught")
	// ErrSource: a Source can't be opened, or read on.
	ErrSource = errors.New("the source can't be read")
	// ErrPaused: what the Reader of a Source returns where there is no more for now. The run ends
	// there as at io.EOF, but its model can be gone on with by Options.Resume. Run returns it where
	// no row has come.
	ErrPaused = errors.New("there is no more for now")
	// ErrFinished: with Options.Resume, of a model whose run came to its end.
	ErrFinished = errors.New("finished: there is nothing to go on with")
	// ErrStopped: the context ended.
	ErrStopped = errors.New("stopped")
	// ErrNotConverged: not within Options.MaxUpdates.
	ErrNotConverged = errors.New("not converged")
)

// Error is what is wrong with a run, and what to do about it, in words that name fields of Options.
type Error struct {
	Kind error // one of those above
	Err  error // what it comes from; may be nil
	Late bool  // learning may have begun, so it matters what was saved before

	text, next string // with marked fields
}

// Error is Text with the fields named as JSON has them.
func (e *Error) Error() string {
	text := e.Text(func(field string) string { return field })
	return "training: " + strings.TrimSuffix(text, ": "+e.Kind.Error()) + ": " + e.Kind.Error()
}

// Unwrap returns Kind and Err.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// Text says what is wrong. name returns what a field of Options, or a setting of the learner, which
// is given as JSON has it, is called by whoever reads the text.
func (e *Error) Text(name func(field string) string) string { return render(e.text, name) }

// Next says what to do about it, in sentences; "" where there is nothing to say.
func (e *Error) Next(name func(field string) string) string { return render(e.next, name) }

// In format strings a field stands in braces, in what is made of them between zero bytes: what a
// user wrote, file names say, may have braces.
func mark(text string) string {
	return fields(text, '{', '}', func(field string) string { return "\x00" + field + "\x00" })
}

// render puts in the names of fields.
func render(text string, name func(field string) string) string { return fields(text, 0, 0, name) }

// fields replaces each word of letters and _ between the two bytes.
func fields(text string, first, last byte, by func(field string) string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, first)
		if i < 0 {
			break
		}
		rest := text[i+1:]
		n := 0
		for n < len(rest) && (rest[n] == '_' || rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z') {
			n++
		}
		if b.WriteString(text[:i]); n > 0 && n < len(rest) && rest[n] == last {
			b.WriteString(by(rest[:n]))
			n++
		} else {
			b.WriteByte(first)
			n = 0
		}
		text = rest[n:]
	}
	return b.String() + text
}

// newError makes an Error; next and format have fields in braces.
func newError(kind error, next, format string, args ...any) *Error {
	err := fmt.Errorf(mark(format), args...)
	return &Error{Kind: kind, Err: errors.Unwrap(err), text: err.Error(), next: mark(next)}
}

// NewError makes an Error for a Source to return. next says what to do about it, in sentences;
// format is that of [fmt.Errorf]. Fields of Options stand in braces in both.
func NewError(kind error, next, format string, args ...any) *Error {
	return newError(kind, next, format, args...)
}

// badOption is an Error of Options.
func badOption(next, format string, args ...any) *Error {
	return newError(ErrOption, next, format, args...)
}

// wrapped is an Error that says no more than err.
func wrapped(kind, err error) *Error { return &Error{Kind: kind, Err: err, text: err.Error()} }

// Interrupted reports whether err is that ctx ended the work.
func Interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) ||
		errors.Is(err, context.Cause(ctx)) || errors.Is(err, dataset.ErrStopped))
}
