package training_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestLogger: a record for each thing that an Observer hears, which hears it, too; of bad rows some
// at level Warn. A run without a logger writes nothing.
func TestLogger(t *testing.T) {
	dir := t.TempDir()
	file, m := filepath.Join(dir, "a.svm"), filepath.Join(dir, "a.model")
	text := strings.Repeat("+1 1:1\n-1 2:1\n", 40) + strings.Repeat("+1 1:x\n", 12)
	ok(t, os.WriteFile(file, []byte(text), 0o600))
	var before, out bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&before, nil)))
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string,
		a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "seconds" {
			return slog.Attr{}
		}
		return a
	}}))
	o := training.Options{Learner: "pa", Files: []string{file}, Model: m,
		Data: training.Data{OnError: "skip"}}
	heard := &followed{}
	env := training.Env{Logger: log, Observer: heard}
	must(training.Run(t.Context(), o, env))(t)
	if heard.bad != 12 || heard.planned != 1 {
		t.Errorf("the observer heard of %d bad rows and %d plans", heard.bad, heard.planned)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		level, rest, _ := strings.Cut(strings.TrimPrefix(line, "level="), " msg=")
		msg, _, _ := strings.Cut(rest, " ")
		if strings.HasPrefix(rest, `"`) {
			msg = rest[:strings.Index(rest[1:], `"`)+2]
		}
		got = append(got, level+" "+msg)
	}
	want := slices.Concat([]string{"INFO planned"},
		slices.Repeat([]string{`WARN "row skipped"`}, training.BadRowsLogged),
		[]string{"INFO learned", `INFO "data read"`, `INFO "model written"`})
	slices.Sort(got)
	slices.Sort(want)
	if kept := slices.Compact(slices.Clone(got)); !slices.Equal(got, want) {
		t.Errorf("records %q\nof\n%s", kept, &out)
	}
	for _, part := range []string{"examples=80", "errors=", "bad_rows=12", "learner=pa"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %s in\n%s", part, &out)
		}
	}
	o.Model = ""
	if _, err := training.Run(t.Context(), o, training.Env{}); err != nil || before.Len() > 0 {
		t.Errorf("%v; without a logger: %s", err, &before)
	}
}

type followed struct {
	training.Silent
	bad, planned int
}

func (f *followed) BadRow(error)           { f.bad++ }
func (f *followed) Planned(*training.Plan) { f.planned++ }

// TestStopAtOnce: a run on examples that can be read again ends after the block that it learns,
// however many more were read.
func TestStopAtOnce(t *testing.T) {
	const n = 20_000
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all := &oneBatch{n: n}
	res, err := training.Run(ctx, training.Options{Learner: "pa", Files: []string{"rows"}},
		training.Env{Repeats: true, Observer: stopping{cancel: cancel},
			Open: func(context.Context, string) (training.Source, error) {
				return training.Source{Blocks32: all}, nil
			}})
	if !errors.Is(err, training.ErrStopped) {
		t.Fatal(err)
	}
	if learned := res.Counts.Presented; learned == 0 || learned > eval.DefaultBlock {
		t.Errorf("%d examples learned, want %d at most", learned, eval.DefaultBlock)
	}
}

// stopping ends the run at the first block.
type stopping struct {
	training.Silent
	cancel func()
}

func (s stopping) Progress() eval.Progress { return stopAtBlock{s.cancel} }

type stopAtBlock struct{ cancel func() }

func (s stopAtBlock) Line(eval.Status) {}
func (s stopAtBlock) Step(eval.Status) { s.cancel() }
func (s stopAtBlock) End(eval.Status)  {}

func (s stopAtBlock) Fit(learner.FitStatus, time.Duration) {}

// oneBatch gives n rows at once.
type oneBatch struct{ n int }

func (o *oneBatch) Next() (*dataset.Batch[float32], error) {
	if o.n == 0 {
		return nil, io.EOF
	}
	b := &dataset.Batch[float32]{Labels: []string{"-1", "+1"}, Codes: make([]int32, o.n),
		F32: make([]float32, o.n)}
	b.Block.Dim, b.Block.Stride = 1, 1
	for i := range o.n {
		b.Codes[i], b.F32[i] = int32(i%2), float32(i%7)-3
	}
	o.n = 0
	return b, nil
}
