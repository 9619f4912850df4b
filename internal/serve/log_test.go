package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/frames"
)

// logged serves a model with a log that learns some requests, and returns the folder, in which
// start.model is the model as it was, a.model as it ended and a.log the log.
func logged(t testing.TB, path string, bodies ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	data := content(t, path)
	for _, name := range []string{"start.model", "a.model"} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, Options{Models: []Model{{Name: "a", Path: filepath.Join(dir, "a.model"),
		Log: filepath.Join(dir, "a.log")}}})
	for i, body := range bodies {
		asks(t, s, Learn, mediaNDJSON, body, 200, "")
		if i == len(bodies)/2 {
			do(s, Save, "", "")
		}
	}
	closing(t, s)
	return dir
}

// encodedBy is the file of a model.
func encodedBy(t testing.TB, m *halfspace.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// logCases are models with requests to learn.
func logCases(t testing.TB) map[string][]string {
	numbers := []string{}
	words := []string{}
	for i := range 12 {
		label := []string{"-1", "1"}[i%2]
		numbers = append(numbers, fmt.Sprintf(`{"label":%s,"0":%d,"%d":-0.5}`+"\n"+
			`{"label":1,"features":[1,0.25]}`, label, i%5-2, i+3))
		words = append(words, fmt.Sprintf(`{"y":"%s","w%d":1,"age":%d,"v":["a%d","b"]}`,
			[]string{"no", "yes"}[i%2], i, i%7, i/2))
	}
	weighted := make([]string, len(numbers))
	for i, body := range numbers {
		weighted[i] = strings.Replace(body, "{", fmt.Sprintf(`{"weight":%d,`, i%3), 1)
	}
	return map[string][]string{
		newModel(t, halfspace.Options{Learner: "obpm"}):                                              numbers,
		newModel(t, halfspace.Options{Learner: "pa", Precision: "f64"}):                              weighted,
		newModel(t, halfspace.Options{Learner: "budget"}):                                            numbers,
		trained(t, halfspace.Options{Learner: "pa"}, `{"y":"no","age":3}`+"\n"+`{"y":"yes","w1":5}`): words,
		trained(t, halfspace.Options{Learner: "adf", Data: halfspace.Data{HashBits: 6}},
			`{"y":"no","age":3}`+"\n"+`{"y":"yes","w1":5}`): words,
		trained(t, halfspace.Options{Learner: "perceptron", Data: halfspace.Data{Scale: "std"}},
			"-1 0:1 1:2\n+1 1:3\n"): numbers,
	}
}

// TestReplay: the log makes the model anew, to the byte, of what it begins with, and of the model
// that was saved on the way; a server that goes on with any of them has it, too.
func TestReplay(t *testing.T) {
	for path, bodies := range logCases(t) {
		dir := logged(t, path, bodies...)
		at := func(name string) string { return filepath.Join(dir, name) }
		want := content(t, at("a.model"))
		begun := content(t, at("start.model"))
		for _, start := range [][]byte{nil, begun, want} {
			m, r, err := Replay(context.Background(), at("a.log"), start, 0)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if !bytes.Equal(encodedBy(t, m), want) {
				t.Errorf("%s: another model than was served", path)
			}
			all := int64(len(bodies))
			if bytes.Equal(start, want) {
				all = 0
			}
			if r.Requests != all || r.Torn != 0 || r.Model != "a" {
				t.Errorf("%s: %+v", path, r)
			}
		}
		// a server that begins with the first model and the log
		if err := os.WriteFile(at("a.model"), begun, 0o666); err != nil {
			t.Fatal(err)
		}
		s := start(t, Options{Models: []Model{{Name: "a", Path: at("a.model"),
			Log: at("a.log")}}})
		closing(t, s)
		if got, err := os.ReadFile(at("a.model")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: a server that went on has another model (%v)", path, err)
		}
		// another model is refused
		if _, err := New(Options{Models: []Model{{Name: "a", Path: newModel(t,
			halfspace.Options{Learner: "alma"}), Log: at("a.log")}}}); !errors.Is(err, ErrModel) {
			t.Errorf("another model: %v", err)
		}
	}
}

// shortLog makes a log of six requests in a folder, and what reads another text as one.
func shortLog(t *testing.T) (dir string, text []byte, read func(text []byte) (Replayed, error)) {
	t.Helper()
	var bodies []string
	for i := range 6 {
		bodies = append(bodies, fmt.Sprintf(`{"label":1,"0":%d}`, i))
	}
	dir = logged(t, newModel(t, halfspace.Options{Learner: "pa"}), bodies...)
	text = content(t, filepath.Join(dir, "a.log"))
	begun := content(t, filepath.Join(dir, "start.model"))
	return dir, text, func(text []byte) (Replayed, error) {
		log := filepath.Join(dir, "cut.log")
		if err := os.WriteFile(log, text, 0o666); err != nil {
			t.Fatal(err)
		}
		_, r, err := Replay(context.Background(), log, begun, 0)
		return r, err
	}
}

// TestTornLog: wherever a log ends, what is whole of it is read, and a server goes on behind it.
func TestTornLog(t *testing.T) {
	dir, text, read := shortLog(t)
	begun := content(t, filepath.Join(dir, "start.model"))
	whole, last := 0, int64(-1)
	behind := len(logBegins) + frames.Begins + frames.Ends + len(begun) // and more
	for n := 0; n < len(text); n++ {
		if n < len(text)-250 {
			n += 20
		}
		r, err := read(text[:n])
		if n < behind {
			if !errors.Is(err, ErrLog) {
				t.Fatalf("%d bytes of the beginning: %v", n, err)
			}
			continue
		}
		switch {
		case last < 0 && errors.Is(err, ErrLog): // in the header
		case err != nil:
			t.Fatalf("%d bytes: %v", n, err)
		case r.Requests < last:
			t.Fatalf("%d bytes: %d requests after %d", n, r.Requests, last)
		default:
			if last = r.Requests; r.Torn == 0 {
				whole++
			}
		}
	}
	if last != 6 || whole < 6 {
		t.Errorf("%d requests, %d whole logs", last, whole)
	}
}

// TestDamagedLog: zeros behind a log are no part of it; a byte that is another is found, with its
// place.
func TestDamagedLog(t *testing.T) {
	dir, text, read := shortLog(t)
	if r, err := read(append(slices.Clone(text), make([]byte, 4096)...)); err != nil ||
		r.Torn != 4096 {
		t.Errorf("zeros behind the log: %+v, %v", r, err)
	}
	for at := len(logBegins); at < len(text)-150; at += 31 { // the last frames may be torn
		bad := slices.Clone(text)
		bad[at] ^= 4
		if _, err := read(bad); !errors.Is(err, ErrLog) || !strings.Contains(err.Error(), "byte") {
			t.Fatalf("byte %d changed: %v", at, err)
		}
	}
	// goes on behind a part of a request
	log := filepath.Join(dir, "cut.log")
	if err := os.WriteFile(log, text[:len(text)-7], 0o666); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "start.model")
	s := serving(t, path, log)
	if _, err := New(Options{Models: []Model{{Name: "a", Path: path, Log: log}}}); err == nil ||
		!strings.Contains(err.Error(), "another server") {
		t.Errorf("two servers of one log: %v", err)
	}
	asks(t, s, Learn, mediaJSON, `{"label":1,"0":2}`, 200, "")
	closing(t, s)
	want := content(t, path)
	if m, r, err := Replay(context.Background(), log, nil, 0); err != nil || r.Torn != 0 ||
		!bytes.Equal(encodedBy(t, m), want) {
		t.Errorf("a log that was gone on with: %+v, %v", r, err)
	}
}

// TestEncode: what is encoded is decoded to the same, and nothing else is taken.
func TestEncode(t *testing.T) {
	x := &examples{wide: true, words: true, texts: true, labels: []string{"l0", "l1"}}
	x.ptr = []int{0}
	for i, row := range [][]string{{"a", "b"}, {}, {"b", "c"}} {
		for _, name := range row {
			x.idx = append(x.idx, x.named([]byte(name)))
			x.f64 = append(x.f64, float64(i)+0.5)
		}
		x.addLabel(int32(i%2), float64(i), true)
	}
	b := x.encode(nil, 0, 3)
	y, err := decodeExamples(b)
	if err != nil {
		t.Fatal(err)
	}
	if again := y.encode(nil, 0, 3); !bytes.Equal(again, b) {
		t.Errorf("%x is decoded and encoded as %x", b, again)
	}
	for n := range b {
		if _, err := decodeExamples(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(b))
		}
	}
}

// FuzzExamples: whatever bytes come are refused, or are those of examples.
func FuzzExamples(f *testing.F) {
	x := &examples{ptr: []int{0, 2}, idx: []int32{1, 5}, f32: []float32{1, 2}, n: 1,
		code: []int32{0}, labels: []string{"yes"}}
	f.Add(x.encode(nil, 0, 1))
	x.weights = []float64{2}
	f.Add(x.encode(nil, 0, 1))
	x.words, x.names = true, [][]byte{nil, []byte("b"), nil, nil, nil, []byte("f")}
	f.Add(x.encode(nil, 0, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decodeExamples(b)
		if err != nil {
			return
		}
		if len(x.ptr) != x.n+1 || len(x.code) != x.n || x.ptr[x.n] != len(x.idx) {
			t.Fatalf("%d rows of %d features", x.n, len(x.idx))
		}
		y, err := decodeExamples(x.encode(nil, 0, x.n))
		if err != nil || y.n != x.n || !slices.Equal(y.ptr, x.ptr) {
			t.Fatalf("encoded again: %v", err)
		}
	})
}
