package serve

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/halfspace-ml/halfspace"
)

// FuzzReplay: whatever is asked of a server, what it has answered is in its file, the log gives
// that file again, to the byte, and a server begins again with both. A byte of how says for each
// body between bytes of 0xfe what is done with it.
func FuzzReplay(f *testing.F) {
	var files [][]byte
	for _, path := range []string{newModel(f, halfspace.Options{Learner: "pa"}),
		newModel(f, halfspace.Options{Learner: "perceptron"}, "x", "y"),
		trained(f, halfspace.Options{Learner: "obpm", Settings: map[string]any{"members": 5}},
			`{"y":"no","age":3}`+"\n"+`{"y":"yes","b":5}`),
		newModel(f, halfspace.Options{Learner: "perceptron", Data: halfspace.Data{
			Classes: []string{"a", "b", "c"}}}),
		newModel(f, halfspace.Options{Learner: "fragile"}),
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, data)
	}
	const andSave, andPredict, again = 4, 8, 16
	for i := range files {
		model := byte(i)
		for _, body := range []string{
			`{"features":[1,2],"label":1}` + "\xfe" +
				`{"x":1,"y":"z","label":"+1","id":"q","weight":2}` + "\xfe" + `{"id":"q","label":1}`,
			`{"label":"yes","new":1,"":1}` + "\xfe" + `{"label":"no","a":1}`,
			`{"label":"yes","c":1e30,"d":-3e38}` + "\xfe" + `{"label":"b","5":3e38,"id":4}`,
			`{"label":1,"0":13}` + "\xfe" + `{"label":1,"0":2}`,
			`{"label":1,"0":1e-30}` + "\xfe" + `{"label":1,"0":2}`,
			`{"label":1,"0":-1}` + "\xfe" + `[{"label":-1,"0":2},{"label":"x"}]`,
			`{"a":[{"b":"\u00e9"}]}` + "\xfe" + `{"label":1,"0":1e-400}` + "\xfe[\xfe{}{}\xfe{\"a\n\":1}",
		} {
			f.Add([]byte{model, andSave, andPredict, again}, []byte(body))
		}
		f.Add([]byte{model, 2, 2}, []byte("+1 0:1 3:2\n-1 # no\n\xfe1 400:3\n-1 0:1e-20"))
	}
	f.Fuzz(func(t *testing.T, how, text []byte) {
		at := func(i int) byte {
			if i < len(how) {
				return how[i]
			}
			return 0
		}
		dir := t.TempDir()
		path, log := filepath.Join(dir, "m"), filepath.Join(dir, "l")
		if err := os.WriteFile(path, files[int(at(0))%len(files)], 0o600); err != nil {
			t.Fatal(err)
		}
		o := Options{Models: []Model{{Name: "a", Path: path, Log: log}}, MaxFeatures: 500,
			MaxClasses: 8, Sync: SyncNone}
		begin := func() *Server {
			s, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := begin()
		answered := uint64(20)
		if at(0)%5 == 2 {
			answered = 2
		}
		faulty := false
		for i, body := range bytes.Split(text, []byte{0xfe}) {
			if i == 12 {
				break
			}
			k := at(i + 1)
			ask := func(op string) int {
				return s.Do(&Request{Op: op, Model: "a", Body: bytes.Clone(body),
					Media: []string{mediaJSON, mediaNDJSON, mediaSVM}[(k&3)%3]}, nil).Status
			}
			if k&andPredict != 0 {
				ask(Predict)
			}
			before := s.models["a"].count.learned.Load()
			status := ask(Learn)
			learned := s.models["a"].count.learned.Load() - before
			if (status == 200) != (learned > 0) {
				t.Fatalf("%q: %d, and %d were learned", body, status, learned)
			}
			answered += uint64(learned)
			if status >= 500 {
				if learner := s.Stats()[0].Learner; learner != "fragile" {
					t.Fatalf("%q: %s answers %d", body, learner, status)
				}
				faulty = true
				break
			}
			if k&andSave != 0 && ask(Save) != 200 {
				t.Fatal("not saved")
			}
			if k&again != 0 {
				if err := s.Close(context.Background()); err != nil {
					t.Fatal(err)
				}
				s = begin()
			}
		}
		if err := s.Close(context.Background()); (err != nil) != faulty {
			t.Fatal(err)
		}
		m, _, err := Replay(context.Background(), log, nil, 0)
		if err != nil || m.Presented() != answered {
			t.Fatalf("%d examples were answered: %v", answered, err)
		}
		s = begin()
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if saved, err := os.ReadFile(path); err != nil || !bytes.Equal(encodedBy(t, m), saved) {
			t.Fatalf("the log gives another model (%v)", err)
		}
	})
}
