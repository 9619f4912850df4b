package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/halfspace-ml/halfspace/learner"
)

// TestPrepRefused: what a model says of its data is checked where it is read, and the error names
// the field.
func TestPrepRefused(t *testing.T) {
	t.Parallel()
	good :=
		`{"labels":{"negative":"no","positive":"yes"},"bias":"none","normalize":"none","scale":1,` +
			`"format":"csv","index_base":0,"dim":2,"columns":["a","b","y"],"label_col":3}`
	file := func(prep string) []byte {
		return container(
			`{`+meta(`{"learner":"lms","precision":"f64","config":{},"prep":`+prep+`}`)+`}`, nil)
	}
	must(Decode(file(good)))(t)
	for _, c := range []struct{ from, to, field string }{
		{`"none","normalize"`, `"direct","normalize"`, "bias"},
		{`"bias":"none"`, `"bias":"none","bias_value":2`, "bias_value"},
		{`"bias":"none"`, `"bias":"append","bias_value":-2`, "bias_value"},
		{`"bias":"none"`, `"bias":"append","bias_value":-0.5`, "bias_value"},
		{`"bias":"none"`, `"bias":"append","bias_value":1e300`, "bias_value"},
		{`"normalize":"none"`, `"normalize":"l2"`, "normalize"},
		{`"scale":1`, `"scale":2`, "scale"},
		{`"scale":1`, `"scale":-1`, "scale"},
		{`"normalize":"none","scale":1`, `"normalize":"max","scale":0`, "scale"},
		{`"normalize":"none","scale":1`, `"normalize":"max","scale":1e-310`, "scale"},
		{`"format":"csv"`, `"format":"zzz"`, "format"},
		{`"format":"csv"`, `"format":"svmlight"`, "label_col"},
		{`"format":"csv"`, `"format":3`, "format"},
		{`"index_base":0`, `"index_base":2`, "index_base"},
		{`"dim":2`, `"dim":-1`, "dim"},
		{`"dim":2`, `"dim":1099511627776`, "dim"},
		{`"dim":2`, `"dim":3`, "columns"},
		{`"label_col":3`, `"label_col":4`, "label_col"},
		{`"label_col":3`, `"label_col":-1`, "label_col"},
		{`"label_col":3`, `"label_col":1000000000`, "label_col"},
		{`["a","b","y"]`, `["a","b"]`, "columns"},
		{`"negative":"no"`, `"negative":"yes"`, "labels"},
		{`"dim":2`, `"dim":2,"names":["a","a"]`, "names"},
		{`"dim":2`, `"dim":2,"names":["a","b","c"]`, "names"},
		{`"dim":2`, `"dim":2,"hash_bits":29`, "names"},
		{`"dim":2`, `"dim":2,"hash_bits":3,"names":["a"]`, "names"},
		{`"dim":2`, `"dim":2,"interactions":["abc"]`, "interactions"},
		{`"negative":"no","positive":"yes"`, `"negative":"+1","positive":"+1"`, "labels"},
		{`"positive":"yes"`, `"positive":""`, "labels"},
		{`"no","positive":"yes"}`, `"","positive":"yes"},"rest":"yes"`, "rest"},
		{`"positive":"yes"}`, `"positive":"yes"},"rest":"maybe"`, "rest"},
		{`"dim":2`, `"dim":2,"kinds":"nn","names":["a"]`, "names"},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		if bad == good {
			t.Fatalf("%s is not there", c.from)
		}
		if _, err := Decode(file(bad)); !errors.Is(err, ErrDamaged) ||
			!strings.Contains(err.Error(), "prep: "+c.field) && !strings.Contains(err.Error(),
				"prep."+c.field) {
			t.Errorf("%s: %v, want one that names %s", c.to, err, c.field)
		}
	}
	for _, also := range []string{
		// of a library without a Prep
		`{"labels":{"negative":"","positive":""},"bias":"","normalize":"","scale":0,"format":"",` +
			`"index_base":0,"dim":0}`,
		`{"labels":{"negative":"","positive":"x"},"bias":"append","bias_value":0.5,` +
			`"normalize":"max","scale":1e-300,"format":"idx","index_base":1,"dim":2147483647}`,
		`{"labels":{"negative":"inf","positive":"Infinity"},"bias":"none",` +
			`"normalize":"unit","scale":1,"format":"csv","index_base":1,"dim":2}`,
	} {
		if _, err := Decode(file(also)); err != nil {
			t.Errorf("%s: %v", also, err)
		}
	}
}

// TestLoadTakesNoMore: a file that is longer than its header says is refused before what is too
// much is read, and memory follows what is there.
func TestLoadTakesNoMore(t *testing.T) {
	data := encode(t, sample())
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	load := func(name string, want error) {
		t.Helper()
		before := allocated()
		m, err := Load(path)
		if !errors.Is(err, want) || (m != nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if took := allocated() - before; took > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, took)
		}
	}
	ok(t, os.WriteFile(path, data, 0o600))
	load("the good one", nil)
	for _, size := range []int64{int64(len(data)) + 1, 20 << 30} { // the tail is sparse
		if err := os.Truncate(path, size); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
		load(fmt.Sprintf("%d bytes", size), ErrDamaged)
	}
	header := append(append([]byte{}, 0, 0xe1, 0xf5, 5, 0, 0, 0, 0), '{') // of 99,999,999 bytes
	ok(t, os.WriteFile(path, header, 0o600))
	load("a header's beginning", ErrTruncated)
}

// TestReadStream: from a pipe no more is taken than the header says there is, and nothing may
// follow.
func TestReadStream(t *testing.T) {
	t.Parallel()
	data := encode(t, sample())
	for _, r := range []io.Reader{bytes.NewReader(data),
		iotest.OneByteReader(bytes.NewReader(data)), iotest.DataErrReader(bytes.NewReader(data))} {
		m := must(read(r, -1))(t)
		if !bytes.Equal(encode(t, m), data) {
			t.Error("read from a stream it is another model")
		}
	}
	after := bytes.NewReader(make([]byte, 1<<20))
	if _, err := read(io.MultiReader(bytes.NewReader(data), after), -1); !errors.Is(err,
		ErrDamaged) || after.Len() < 1<<20-1 {
		t.Errorf("with more behind it: %v, and %d bytes of that were read", err, 1<<20-after.Len())
	}
	for n := range data {
		want := ErrTruncated
		if 0 < n && n < 8 {
			want = ErrForeign
		}
		if _, err := read(bytes.NewReader(data[:n]), -1); !errors.Is(err, want) {
			t.Fatalf("a stream of the first %d bytes: %v", n, err)
		}
		// cut off since its size was asked for
		if _, err := read(bytes.NewReader(data[:n]), int64(len(data))); !errors.Is(err, want) {
			t.Fatalf("a file of %d bytes that became %d: %v", len(data), n, err)
		}
	}
	broken := errors.New("the cable was pulled")
	for n := range data {
		if _, err := read(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)),
			-1); !errors.Is(err, broken) && !errors.Is(err, ErrForeign) {
			t.Fatalf("a stream that breaks after %d bytes: %v", n, err)
		}
	}
}

// TestManyTensors: a model of thousands of classes has tens of thousands of tensors. It is written
// and read back, and reading allocates in proportion to the file.
func TestManyTensors(t *testing.T) {
	m := sample()
	for i := range 60_000 {
		m.State.Tensors = append(m.State.Tensors, learner.Tensor{Name: fmt.Sprintf("t%06d", i),
			Shape: []int{1}, Data: []float64{float64(i)}})
	}
	var b bytes.Buffer
	ok(t, Encode(&b, m))
	data := b.Bytes()
	before := allocated()
	got, err := Decode(data)
	if err != nil || len(got.State.Tensors) != len(m.State.Tensors) {
		t.Fatalf("%v, %d tensors, want %d", err, len(got.State.Tensors), len(m.State.Tensors))
	}
	// A line of the header is decoded twice: at most some 30 bytes are allocated for each of it.
	if took := allocated() - before; took > 30*uint64(len(data)) {
		t.Errorf("%d bytes allocated for a file of %d", took, len(data))
	}
	if d := got.State.Tensor("t059999").Data; !slices.Equal(d.([]float64), []float64{59999}) {
		t.Errorf("the last tensor is %v", d)
	}
}

// TestSettingsExact: the settings' keys are taken letter for letter, once, and in the base's
// settings too.
func TestSettingsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ learner, config string }{
		{"perceptron", `{"eta":1,"ETA":2}`},
		{"perceptron", `{"Eta":1}`},
		{"perceptron", `{"eta":1,"eta":1}`},
		{"svm", `{"c":3}`},
		{"obpm", `{"members":3,"base":"pa","base_config":{"c":1}}`},
		{"obpm", `{"members":3,"Kernel":"linear"}`},
		{"rff", `{"D":4,"base":"pa","base_config":{"C":1,"C":2}}`},
	} {
		m := &Model{Learner: c.learner, Precision: "f64", Config: json.RawMessage(c.config)}
		if _, _, err := m.Settings(); !errors.Is(err, ErrNewer) {
			t.Errorf("%s %s: %v", c.learner, c.config, err)
		}
	}
}
