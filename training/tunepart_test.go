package training_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/training"
)

// tunedIn is Tune in n parts, whose results are sent as JSON.
func tunedIn(t *testing.T, settings []training.Options, o training.TuneOptions, n int) (
	[]training.TunePart, [][]byte) {
	t.Helper()
	parts, logs := make([]training.TunePart, n), make([][]byte, n)
	for k := range n {
		var only []int
		for i := k; i < len(settings); i += n {
			only = append(only, i)
		}
		var log bytes.Buffer
		p, err := training.RunTunePart(context.Background(), settings, o, only, &log,
			training.Env{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(p)
		if err == nil {
			err = json.Unmarshal(text, &parts[k])
		}
		if err != nil {
			t.Fatal(err)
		}
		logs[k] = log.Bytes()
	}
	return parts, logs
}

// reading has parts read their logs.
func reading(parts []training.TunePart, logs [][]byte) []training.TunePart {
	for k := range parts {
		parts[k].Log = bytes.NewReader(logs[k])
	}
	return parts
}

// TestTuneParts: settings that are tried in parts have the errors, tests and drops, and the best
// the model, that they have on one machine; those that fail among them, with a third label that
// comes late, and by folds.
func TestTuneParts(t *testing.T) {
	ctx, file := context.Background(), examples(t, 0, 2000)
	late := filepath.Join(t.TempDir(), "late.svm")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = append(bytes.Repeat(text, 20), "3 1:1\n3 2:1\n"...)
	if err := os.WriteFile(late, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		file string
		fail bool
		o    training.TuneOptions
	}{
		{"all", file, false, training.TuneOptions{}},
		{"race", file, false, training.TuneOptions{Alpha: 0.05}},
		{"fails", file, true, training.TuneOptions{}},
		{"race and fails", file, true, training.TuneOptions{Alpha: 0.05}},
		{"folds", file, false, training.TuneOptions{By: training.ByFolds}},
		{"race of folds", file, false, training.TuneOptions{By: training.ByFolds, Alpha: 0.2,
			Folds: training.Folds{Folds: 4, Repeats: 2}}},
		{"third label", late, false, training.TuneOptions{Alpha: 0.05}},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := gridOf(c.file)
			if c.fail {
				settings = append(settings, training.Options{Learner: "lms",
					Files: []string{c.file}, Settings: map[string]any{"eta": 1e30}})
			}
			one := filepath.Join(t.TempDir(), "one")
			settings[0].Model = one
			want, err := training.Tune(ctx, settings, c.o, training.Env{})
			if err != nil {
				t.Fatal(err)
			}
			lost := 0
			for _, tried := range want.Tried {
				if tried.Dropped || tried.Failed != "" {
					lost++
				}
			}
			if lost == 0 && (c.fail || c.o.Alpha > 0) {
				t.Error("no setting left or failed: nothing is tested")
			}
			for _, n := range []int{1, 2, 5} {
				all := filepath.Join(t.TempDir(), "all")
				settings[0].Model = all
				parts, logs := tunedIn(t, settings, c.o, n)
				got, err := training.JoinTune(ctx, settings, c.o, reading(parts, logs),
					training.Env{})
				if err != nil {
					t.Fatal(err)
				}
				a, b := untimed(got), untimed(want)
				if a.Info.Dim != b.Info.Dim || !reflect.DeepEqual(a.Info.Classes, b.Info.Classes) {
					t.Errorf("%d parts: %+v, want %+v", n, a.Info, b.Info)
				}
				a.Info = b.Info
				a.Saved, b.Saved = nil, nil
				if x, y := asText(t, a), asText(t, b); x != y {
					t.Errorf("%d parts:\n%s\nwant\n%s", n, x, y)
				}
				if !bytes.Equal(read(t, all), read(t, one)) {
					t.Errorf("%d parts: another model", n)
				}
			}
		})
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTunePartsWrong: parts that are missing, of other examples or damaged are refused; where all
// settings fail the reason is told.
func TestTunePartsWrong(t *testing.T) {
	ctx, file := context.Background(), examples(t, 0, 700)
	settings := gridOf(file)
	parts, logs := tunedIn(t, settings, training.TuneOptions{}, 3)
	join := func(parts []training.TunePart, logs [][]byte) error {
		_, err := training.JoinTune(ctx, settings, training.TuneOptions{}, reading(parts, logs),
			training.Env{})
		return err
	}
	if err := join(parts[:2], logs[:2]); !errors.Is(err, learner.ErrParts) {
		t.Errorf("a part is missing: %v", err)
	}
	if err := join(append(parts[:3:3], parts[0]), append(logs[:3:3], logs[0])); !errors.Is(err,
		learner.ErrParts) {
		t.Errorf("a part comes twice: %v", err)
	}
	_, changed := tunedIn(t, gridOf(examples(t, 1, 700)), training.TuneOptions{}, 3)
	err := join(parts, [][]byte{logs[0], changed[1], logs[2]})
	if !errors.Is(err, learner.ErrTrace) || !strings.Contains(err.Error(), "other examples") {
		t.Errorf("other examples: %v", err)
	}
	for cut := range logs[1] {
		err := join(parts, [][]byte{logs[0], logs[1][:cut], logs[2]})
		if !errors.Is(err, learner.ErrTrace) {
			t.Fatalf("%d of %d bytes: %v", cut, len(logs[1]), err)
		}
		odd := bytes.Clone(logs[1])
		odd[cut] ^= 0x55
		join(parts, [][]byte{logs[0], odd, logs[2]}) // no matter what: it ends
	}
	settings = nil
	for _, eta := range []float64{1e30, 1e31} {
		settings = append(settings, training.Options{Learner: "lms", Files: []string{file},
			Settings: map[string]any{"eta": eta}})
	}
	_, want := training.Tune(ctx, settings, training.TuneOptions{}, training.Env{})
	parts, logs = tunedIn(t, settings, training.TuneOptions{}, 2)
	if err := join(parts, logs); err == nil || want == nil || err.Error() != want.Error() ||
		!errors.Is(err, training.ErrDiverged) {
		t.Errorf("%v, want %v", err, want)
	}
}
