package training_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/model"
)

// feed makes Messages of texts, some a time, whose numbers are 10, 12, 14 ...
func feed(from training.Place, texts []string, end error) *training.Messages {
	k := 0
	return training.NewMessages(from, func() (list []training.Message, err error) {
		for ; k < len(texts) && len(list) < 3; k++ {
			if at := int64(10 + 2*k); at >= from.At {
				list = append(list, training.Message{At: at, Text: []byte(texts[k]),
					Data: texts[k]})
			}
		}
		if len(list) == 0 {
			err = end
		}
		return list, err
	})
}

// TestMessages: the text of messages, the places and names in it; each place is gone on at.
func TestMessages(t *testing.T) {
	t.Parallel()
	texts := []string{"a\n", "bb", "", "c\nd\n", "\ufeffe\nff\r\nggg", "\n", "h"}
	const want = "a\nbb\nc\nd\ne\nff\r\nggg\n\nh\n"
	names := []string{"s@10:1", "s@12:1", "s@16:1", "s@16:2", "s@18:1", "s@18:2", "s@18:3",
		"s@20:1", "s@22:1"}
	whole := feed(training.Place{Name: "s"}, texts, io.EOF)
	got, err := io.ReadAll(iotest.OneByteReader(whole))
	if err != nil || string(got) != want {
		t.Fatalf("%q (%v), want %q", got, err, want)
	}
	for i, name := range names {
		if s, line := whole.Located(i + 1); fmt.Sprint(s, ":", line) != name {
			t.Errorf("line %d is %s:%d, want %s", i+1, s, line, name)
		}
	}
	if s, _ := whole.Located(len(names) + 1); s != "" {
		t.Errorf("a line behind the last: %s", s)
	}
	for n := range len(want) + 1 {
		if n > 0 && want[n-1] != '\n' { // no place is asked for there
			continue
		}
		at := whole.Place(int64(n))
		p := must(training.ParsePlace("s", at))(t)
		rest := feed(p, texts, io.EOF)
		got, err := io.ReadAll(rest)
		if err != nil || string(got) != want[n:] {
			t.Errorf("from %s: %q (%v), want %q", at, got, err, want[n:])
		}
		before := strings.Count(want[:n], "\n")
		for i, name := range names[before:] {
			if s, line := rest.Located(i + 1); fmt.Sprint(s, ":", line) != name {
				t.Errorf("from %s line %d is %s:%d, want %s", at, i+1, s, line, name)
			}
		}
		if end := rest.Place(int64(len(want) - n)); end != "s@23" && n < len(want) {
			t.Errorf("from %s the end is %s", at, end)
		}
	}
	// a message that has become shorter
	rest, err := io.ReadAll(feed(training.Place{Name: "s", At: 12, Skip: 100}, texts, io.EOF))
	if err != nil || string(rest) != want[len("a\nbb\n"):] {
		t.Errorf("from behind the end of a message: %q (%v)", rest, err)
	}
	answers := feed(training.Place{Name: "s"}, texts, io.EOF)
	io.Copy(io.Discard, answers)
	for _, line := range []int{1, 3, 4, 6, 9} {
		_, data, last := answers.Of(line)
		name, _, _ := strings.Cut(names[line-1], ":")
		end := line
		for end < len(names) && strings.HasPrefix(names[end], name+":") {
			end++
		}
		if s, _ := data.(string); !strings.Contains(want, strings.TrimPrefix(s, "\ufeff")) ||
			last != end || name != fmt.Sprint("s@", 10+2*slices.Index(texts, s)) {
			t.Errorf("line %d is of %q, which ends with line %d", line, data, last)
		}
	}
	for at, kind := range map[string]error{"": training.ErrModel, "s": training.ErrModel,
		"s@": training.ErrModel, "s@-1": training.ErrModel, "s@1+": training.ErrModel,
		"s@1+-1": training.ErrModel, "s@1+1+1": training.ErrModel,
		"s@99999999999999999999": training.ErrModel, "other@1": training.ErrChanged} {
		if _, err := training.ParsePlace("s", at); !errors.Is(err, kind) {
			t.Errorf("%q: %v, want %v", at, err, kind)
		}
	}
}

// TestResumeMessages: a run that ends where there is no more for now goes on there, also from the
// end of the stream, and errors name messages.
func TestResumeMessages(t *testing.T) {
	t.Parallel()
	rows := strings.SplitAfter(string(content(t, examples(t, 0, 3000))), "\n")
	rows = rows[:len(rows)-1]
	var texts []string // of 1 to 4 rows
	for i := 0; i < len(rows); {
		n := min(1+i%4, len(rows)-i)
		texts = append(texts, strings.Join(rows[i:i+n], ""))
		i += n
	}
	env := func(texts []string, end error) training.Env {
		return training.Env{Open: func(_ context.Context, at string) (training.Source, error) {
			p := training.Place{Name: "s"}
			if at != "" {
				var err error
				if p, err = training.ParsePlace("s", at); err != nil {
					return training.Source{}, err
				}
			}
			return feed(p, texts, end).Source(nil), nil
		}}
	}
	dir := t.TempDir()
	o := training.Options{Learner: "pa", Files: []string{"s"}, Model: filepath.Join(dir, "whole")}
	must(training.Run(t.Context(), o, env(texts, io.EOF)))(t)
	want := content(t, o.Model)
	o.Model = filepath.Join(dir, "parts")
	for i, n := range []int{0, 0, 200, 200, 201, 700, len(texts), len(texts)} {
		res, err := training.Run(t.Context(), o, env(texts[:n], training.ErrPaused))
		switch {
		case n == 0 && !errors.Is(err, training.ErrPaused):
			t.Fatalf("nothing there: %v", err)
		case n == 0:
			continue
		case err != nil:
			t.Fatalf("part %d: %v", i, err)
		}
		m := must(model.Load(o.Model))(t)
		if m.Position == nil || int64(m.Presented) != res.Counts.Presented {
			t.Errorf("part %d: %d examples, and %d in the model, at %+v", i, res.Counts.Presented,
				m.Presented, m.Position)
		}
		o = training.Options{Files: o.Files, Model: o.Model, Resume: true}
	}
	must(training.Run(t.Context(), o, env(texts, io.EOF)))(t)
	if !bytes.Equal(content(t, o.Model), want) {
		t.Error("the end is another")
	}
	bad := slices.Insert(slices.Clone(texts[:500]), 400, "+1 1:1\n+1 2:x 3:1\n")
	_, err := training.Run(t.Context(), training.Options{Learner: "pa", Files: o.Files},
		env(bad, io.EOF))
	if row := (*dataset.RowError)(nil); !errors.As(err, &row) || row.File != "s@810" ||
		row.Line != 2 {
		t.Errorf("a bad row: %v", err)
	}
}
