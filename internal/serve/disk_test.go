package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfspace-ml/halfspace"
)

// TestForeign: a file that somebody else has put in the model's place stays, whichever way it came
// there, and what was learned is beside it; the server says so, once. One that is deployed is
// served after Reload, with a log of its own.
func TestForeign(t *testing.T) {
	pa := content(t, newModel(t, halfspace.Options{Learner: "pa"}))
	arow := content(t, newModel(t, halfspace.Options{Learner: "arow"}, "x", "y"))
	for how, put := range map[string]func(path string) error{
		"renamed": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", arow, 0o666), os.Rename(path+".new", path))
		},
		"copied over it": func(path string) error { return os.WriteFile(path, arow, 0o666) },
		"linked": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", arow, 0o666), os.Remove(path),
				os.Symlink(path+".new", path))
		},
	} {
		for _, logs := range []bool{false, true} {
			t.Run(fmt.Sprint(how, ", log ", logs), func(t *testing.T) {
				replaced(t, pa, arow, logs, put)
			})
		}
	}
}

// replaced serves the model pa, has put bring arow in its place, and looks at what stays.
func replaced(t *testing.T, pa, arow []byte, logs bool, put func(path string) error) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("m"), pa, 0o666); err != nil {
		t.Fatal(err)
	}
	model := Model{Name: "a", Path: at("m")}
	if logs {
		model.Log = at("log")
	}
	var said bytes.Buffer
	s := start(t, Options{Models: []Model{model},
		Logger: slog.New(slog.NewTextHandler(&said, nil))})
	ask := func(op, body string, want int) {
		t.Helper()
		asks(t, s, op, mediaJSON, body, want, "")
	}
	ask(Learn, `{"label":1,"0":1}`, 200)
	ask(Save, "", 200)
	ask(Learn, `{"label":1,"0":1}`, 200)
	ask(Predict, `{"id":"q","0":1}`, 200)
	h := s.models["a"]
	d := h.decoder(h.shape) // of a request that is learned after the model is another
	if bad := d.read(mediaJSON, []byte(`{"label":1,"0":1}`), 1); bad != nil {
		t.Fatal(bad)
	}
	d.task.d, d.task.x = d, &d.x
	if err := put(at("m")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ask(Save, "", 200)
		ask(Learn, `{"label":-1,"0":1}`, 200)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(at("m")); err != nil || !bytes.Equal(b, arow) {
		t.Errorf("the deployed model is another (%v)", err)
	}
	aside, err := halfspace.Load(at("m.unsaved"))
	if err != nil || aside.Presented() != 24 {
		t.Errorf("beside it: %v", err)
	}
	if n := strings.Count(said.String(), "another file has the model's name"); n != 1 {
		t.Errorf("said %d times:\n%s", n, said.String())
	}
	if st := s.Stats()[0]; st.Learner != "arow" || st.Examples != 20 || st.Saved != 20 {
		t.Errorf("%+v", st)
	}
	if bad := h.enqueue(&d.task); bad != nil {
		t.Fatal(bad)
	}
	if <-d.task.done; d.task.bad == nil || !strings.Contains(d.task.bad.Error(), "replaced") {
		t.Errorf("a row of the model before: %v", d.task.bad)
	}
	ask(Learn, `{"id":"q","label":1}`, 422) // it waited for the model before
	ask(Predict, `{"x":1,"y":2}`, 200)
	ask(Learn, `{"x":1,"y":2,"label":1}`, 200)
	if err := s.Reload(); err != nil { // nothing is new
		t.Fatal(err)
	}
	closing(t, s)
	if m, err := halfspace.Load(at("m")); err != nil || m.Presented() != 21 {
		t.Errorf("the model that was served: %v", err)
	}
	if !logs {
		return
	}
	for log, want := range map[string]uint64{"log.old": 24, "log": 21} {
		m, _, err := Replay(context.Background(), at(log), nil, 0)
		if err != nil || m.Presented() != want {
			t.Errorf("%s: %v", log, err)
		}
	}
}

// TestReloadWrong: a file that is no model changes nothing.
func TestReloadWrong(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	s := serving(t, path, "")
	if err := os.WriteFile(path, []byte("no model"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err == nil {
		t.Error("reloaded")
	}
	asks(t, s, Learn, mediaJSON, `{"label":1,"0":1}`, 200, "")
	closing(t, s)
	if b, err := os.ReadFile(path); err != nil || string(b) != "no model" {
		t.Errorf("%q, %v", b, err)
	}
	if m, err := halfspace.Load(path + ".unsaved"); err != nil || m.Presented() != 21 {
		t.Error(err)
	}
}

// TestSame: a file that was only touched, or put there again, is the server's own.
func TestSame(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	s := serving(t, path, "")
	data, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(os.Remove(path), os.WriteFile(path, data, 0o666),
			os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
	}
	if err != nil {
		t.Fatal(err)
	}
	do(s, Learn, mediaJSON, `{"label":1,"0":1}`)
	closing(t, s)
	if m, err := halfspace.Load(path); err != nil || m.Presented() != 21 {
		t.Error(err)
	}
}

// TestInUse: one file is served once, by whatever name, in one server or two; to predict it may be
// served any number of times.
func TestInUse(t *testing.T) {
	path := newModel(t, halfspace.Options{Learner: "pa"})
	dir := filepath.Dir(path)
	hard, soft := filepath.Join(dir, "hard"), filepath.Join(dir, "soft")
	if err := errors.Join(os.Link(path, hard), os.Symlink(path, soft)); err != nil {
		t.Skip(err)
	}
	names := []string{path, dir + "/./a.model", hard, soft}
	for _, name := range names {
		two := []Model{{Name: "a", Path: path}, {Name: "b", Path: name}}
		if _, err := New(Options{Models: two}); !errors.Is(err, ErrOption) {
			t.Errorf("%s twice: %v", name, err)
		}
		two[1] = Model{Name: "b", Path: newModel(t, halfspace.Options{Learner: "pa"}), Log: name}
		if _, err := New(Options{Models: two}); !errors.Is(err, ErrOption) {
			t.Errorf("%s as a log: %v", name, err)
		}
	}
	log := filepath.Join(dir, "log")
	two := []Model{{Name: "a", Path: path, Log: log}, {Name: "b", Path: newModel(t,
		halfspace.Options{Learner: "pa"}), Log: dir + "/./log"}}
	if _, err := New(Options{Models: two}); !errors.Is(err, ErrOption) {
		t.Errorf("one log: %v", err)
	}
	s := start(t, Options{Models: two[:1]})
	do(s, Learn, mediaJSON, `{"label":1,"0":1}`)
	for _, saved := range []bool{false, true} {
		if saved { // by a file of its own
			do(s, Save, "", "")
			names = slices.DeleteFunc(names, func(name string) bool { return name == hard })
		}
		for _, name := range names {
			o := Options{Models: []Model{{Name: "a", Path: name}}}
			if _, err := New(o); !errors.Is(err, ErrInUse) {
				t.Errorf("%s in a second server: %v", name, err)
			}
			o.ReadOnly = true
			start(t, o)
		}
	}
	data, err := os.ReadFile(path)
	twin := filepath.Join(dir, "twin")
	if err == nil {
		err = os.WriteFile(twin, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Models: []Model{{Name: "a", Path: twin, Log: log}}}); !errors.Is(err,
		ErrInUse) {
		t.Errorf("the log of another server, for a copy of its model: %v", err)
	}
}

// sharedLog is a log that one goroutine reads while another writes it.
type sharedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *sharedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *sharedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestNotSaved: a server that can't save is not ready until it can, and says why, once as long as
// it is the same; it tries again each second, though it saves at no time of its own.
func TestNotSaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(newModel(t, halfspace.Options{Learner: "pa"}))
	path := filepath.Join(dir, "m")
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var said sharedLog
		s := start(t, Options{Models: []Model{{Name: "a", Path: path}},
			Logger: slog.New(slog.NewTextHandler(&said, nil))})
		do(s, Learn, mediaJSON, `{"label":1,"0":1}`)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		fails := func(want int) {
			t.Helper()
			asks(t, s, Save, "", "", 500, "not_saved")
			if s.Ready() == nil || s.Stats()[0].SaveError == "" {
				t.Error("ready")
			}
			if n := strings.Count(said.String(), "not saved"); n != want {
				t.Errorf("said %d times, want %d:\n%s", n, want, said.String())
			}
		}
		fails(1)
		fails(1)
		if err := os.WriteFile(dir, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		fails(2)
		if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if s.Ready() != nil || s.Stats()[0].SaveError != "" || s.Stats()[0].Saved != 21 {
			t.Errorf("a second later: %v, %+v", s.Ready(), s.Stats()[0])
		}
	})
}

// TestSynced: with SyncAlways a request is answered when the log is on the disk, and a model's file
// never has what the log on the disk has not.
func TestSynced(t *testing.T) {
	defer func() { fsync = (*os.File).Sync }()
	path, log := newModel(t, halfspace.Options{Learner: "pa"}), filepath.Join(t.TempDir(), "log")
	var synced []int64 // lengths of the log
	failing := error(nil)
	fsync = func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			t.Error(err)
		}
		if m, err := halfspace.Load(path); err != nil || m.Presented() != 20 {
			t.Errorf("the file was there before the log: %v", err)
		}
		synced = append(synced, info.Size())
		return failing
	}
	length := func() int64 {
		info, err := os.Stat(log)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	s := start(t, Options{Sync: SyncAlways, Models: []Model{{Name: "a", Path: path, Log: log}}})
	for _, op := range []string{Learn, Save} {
		asks(t, s, op, mediaJSON, `{"label":1,"0":1}`, 200, "")
		if n := length(); synced[len(synced)-1] != n {
			t.Errorf("%s: %d bytes, on the disk %v", op, n, synced)
		}
	}
	failing = errors.New("no disk")
	fsync = func(*os.File) error { return failing }
	asks(t, s, Learn, mediaJSON, `{"label":1,"0":1}`, 503, "")
	if s.Ready() == nil {
		t.Error("ready")
	}
}
