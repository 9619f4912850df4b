package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
)

// loadModel reads a model file; every error is one of exit code 4.
func loadModel(name string) (*model.Model, error) {
	m, err := model.Load(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fail{codeModel, fmt.Errorf("%s: no such file", name), "Check the name; train -m FILE writes a model."}
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return nil, &fail{codeModel, fmt.Errorf("%s: %w", name, path.Err), "Check the name and its permissions."}
	}
	if err != nil {
		return nil, modelError(name, err)
	}
	_, config, err := m.Settings()
	if err != nil {
		return nil, modelError(name, err)
	}
	if limit, by := memoryLimit("/", addressSpace()); limit > 0 {
		if err := modelFits(name, m, config, limit/4*3); err != nil {
			return nil, &fail{codeModel, err,
				fmt.Sprintf("%s %s; three quarters of that are for a model.", upper(by.grants()),
					inMiB(limit))}
		}
	}
	return m, nil
}

// modelFits refuses a model whose learner takes more than that many bytes for its settings and up
// to the last of its features, before it is made.
func modelFits(name string, m *model.Model, c learners.Config, most int64) error {
	x := learners.Extent{Elem: 4, Longest: 1}
	if m.Precision == "f64" {
		x.Elem = 8
	}
	what := "the settings"
	for _, t := range m.State.Tensors {
		if idx, ok := t.Data.([]int32); ok && (t.Name == "features" ||
			strings.HasSuffix(t.Name, "_idx")) {
			for _, j := range idx {
				if n := int64(j) + 1; n > x.Features {
					x.Features, what = n, fmt.Sprintf("the tensor %s, whose last feature is %d",
						t.Name, j)
				}
			}
		}
	}
	need := c.Memory(x).Held()
	// a row of all features is made of an example that is kept
	if kept := 8 * x.Features; need < kept {
		need = kept
	}
	if need > most {
		return fmt.Errorf("%s: %s takes %s for %s", name, m.Learner, inMiB(need), what)
	}
	return nil
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
	return &fail{codeModel, &explained{what, err}, next}
}

// saveError gives an error of making or writing a model for that file its exit code. kept says what
// became of the file.
func saveError(path, kept string, err error) error {
	what, next := splitNext(strings.TrimSuffix(err.Error(), "; nothing was saved"))
	if !strings.HasPrefix(what, path) {
		what = path + ": " + what
	}
	return &fail{codeFailed, &explained{what, err}, strings.TrimSpace(upper(kept) + ". " + next)}
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

// asTrained makes options prepare examples as the model's training set was. A flag that contradicts
// the model is an error.
func asTrained(o *dataset.Options, m *model.Model, fs *pflag.FlagSet) error {
	p := &m.Prep
	for _, f := range []struct{ flag, have string }{
		{"learner", m.Learner},
		{"precision", m.Precision},
		{"seed", strconv.FormatUint(m.Seed, 10)},
		{"bias", p.Bias},
		{"rho", strconv.FormatFloat(p.BiasValue, 'g', -1, 64)},
		{"normalize", p.Normalize},
	} {
		flag := fs.Lookup(f.flag)
		if flag != nil && flag.Changed && flag.Value.String() != f.have {
			return usage("Leave the flag out: the model brings its settings.",
				"%s %s contradicts the model, which has %s", given(fs, f.flag), flag.Value, f.have)
		}
	}
	labels := p.Labels.OrDefault()
	o.Labels = &dataset.LabelMap{Negative: labels.Negative, Positive: labels.Positive}
	o.Bias, o.BiasValue, o.Normalize = p.Bias, p.BiasValue, p.Normalize
	o.Trained, o.Dim = p.Format, p.Dim
	f := format.Lookup(p.Format)
	if f.HasIndices() {
		o.Base = &p.IndexBase // a flag says how other files count
	}
	if p.Normalize == "max" {
		o.Scale = p.Scale
	}
	if f.HasColumns() {
		o.Columns, o.Header, o.Label = p.Dim+1, p.Columns, p.LabelCol
	}
	return nil
}

// prep tells a model how its examples were prepared. before is the model that was gone on from, or
// nil.
func prep(o dataset.Options, info dataset.Info, before *model.Model) model.Prep {
	p := model.Prep{
		Labels: model.Labels{Negative: info.Labels.Negative, Positive: info.Labels.Positive},
		Bias:   o.Bias, Normalize: o.Normalize, Scale: info.Scale, Format: info.Format, IndexBase: info.IndexBase,
		Dim: info.Dim, Columns: info.Header, LabelCol: info.LabelCol,
	}
	if p.Labels.Negative == "" && len(info.Rest) == 1 && utf8.ValidString(info.Rest[0]) {
		p.Rest = info.Rest[0]
	}
	if o.Bias == "append" {
		p.Dim--
		if o.BiasValue != 1 {
			p.BiasValue = o.BiasValue
		}
	}
	if before != nil {
		if len(info.Rest) == 0 {
			p.Rest = before.Prep.Rest
		} else if p.Rest != before.Prep.Rest {
			p.Rest = "" // there are several
		}
		if p.Dim = max(p.Dim, before.Prep.Dim); format.Lookup(before.Prep.Format).HasColumns() {
			p.Dim = before.Prep.Dim // its columns, whatever --any-format brought
		}
		p.Format, p.Columns, p.LabelCol = before.Prep.Format, before.Prep.Columns, before.Prep.LabelCol
		p.IndexBase = before.Prep.IndexBase
	}
	return p
}

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

// await runs f, which may be waiting for input that never comes, and gives it up when ctx ends.
func await[R any](ctx context.Context, f func() (R, error)) (R, error) {
	type outcome struct {
		r   R
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := f()
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.r, o.err
	case <-ctx.Done():
		var none R
		return none, context.Cause(ctx)
	}
}
