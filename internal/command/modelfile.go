package command

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/model"
)

// loadModel reads a model file; every error is one of exit code 4.
func loadModel(name string) (*model.Model, error) {
	m, err := training.Load(name, machine.This(0))
	if err != nil {
		return nil, loadError(name, err)
	}
	return m, nil
}

// loadError gives an error of loading a model, or of going on from it, its exit code.
func loadError(name string, err error) error {
	e := (*training.Error)(nil)
	if errors.Is(err, fs.ErrNotExist) {
		return &fail{CodeModel, fmt.Errorf("%s: no such file", name),
			"Check the name; train -m FILE writes a model."}
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return &fail{CodeModel, fmt.Errorf("%s: %w", name, path.Err),
			"Check the name and its permissions."}
	}
	if errors.As(err, &e) {
		bare := func(field string) string { return field }
		if next := e.Next(bare); next != "" {
			return &fail{CodeModel, &explained{e.Text(bare), e}, next}
		}
		err = e.Err
	}
	return modelError(name, err)
}

// modelError gives an error of a model its exit code.
func modelError(name string, err error) error {
	what, next := splitNext(err.Error())
	if !strings.HasPrefix(what, name) {
		what = name + ": " + what
	}
	if next == "" {
		next = "Train it anew, or get the file again."
	}
	return &fail{CodeModel, &explained{what, err}, next}
}

// saveError gives an error of making or writing a model for that file its exit code. kept says what
// became of the file.
func saveError(path, kept string, err error) error {
	what, next := splitNext(strings.TrimSuffix(err.Error(), "; nothing was saved"))
	if !strings.HasPrefix(what, path) {
		what = path + ": " + what
	}
	return &fail{CodeFailed, &explained{what, err}, strings.TrimSpace(upper(kept) + ". " + next)}
}

// splitNext cuts the next step off the text of an error of package model, which says it behind a
// semicolon.
func splitNext(text string) (what, next string) {
	if i := strings.LastIndex(text, "; "); i >= 0 {
		return text[:i], upper(text[i+2:]) + "."
	}
	return text, ""
}

// explained is an error under another text.
type explained struct {
	text string
	error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.error }

// shownLabel returns a label as it is printed in a line of columns: as the data wrote it, or as a
// quoted string of Go where it begins with a quote or holds what could be taken for a column's or
// line's end or for a terminal's command.
func shownLabel(text string) string {
	if !strings.HasPrefix(text, `"`) && !strings.ContainsFunc(text, func(r rune) bool {
		return !strconv.IsPrint(r)
	}) {
		return text
	}
	return strconv.Quote(text)
}
