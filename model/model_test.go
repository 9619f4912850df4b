package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/halfspace-ml/halfspace/engine"
	formats "github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// sample is a small model with every type of tensor.
func sample() *Model {
	return &Model{
		Learner: "perceptron", Precision: "f64", Config: json.RawMessage(`{"margin":0.5,"eta":1}`),
		Seed: math.MaxUint64,
		Prep: Prep{
			Labels: Labels{"no", `"yes" <é>`}, Bias: "append", Normalize: "unit", Scale: 1,
			Format: "csv", IndexBase: 1, Dim: 3,
			Columns: []string{"a", "b", `"sha256":"`},
		},
		Presented: 12, Mistakes: 5,
		State: learner.State{
			Counters: map[string]uint64{"updates": 1<<63 + 1, "a": 0},
			Scalars: map[string]float64{"scale": 0.1, "minus": math.Copysign(0, -1),
				"tiny": 5e-324},
			Tensors: []learner.Tensor{
				{Name: "flags", Shape: []int{3}, Data: []uint8{1, 2, 255}},
				{Name: "w", Shape: []int{3}, Data: []float64{1, -2.5, math.Copysign(0, -1)}},
				{Name: "ids", Shape: []int{2, 1}, Data: []int32{-1, math.MaxInt32}},
				{Name: "W", Shape: []int{1, 3}, Data: []float32{1e-45, 3, -math.MaxFloat32}},
				{Name: "at", Shape: []int{}, Data: []int64{math.MinInt64}},
				{Name: "bits", Shape: []int{1}, Data: []uint64{math.MaxUint64}},
				{Name: "none", Shape: []int{0, 5}, Data: []float64{}},
			},
		},
	}
}

func encode(t testing.TB, m *Model) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Encode(&buf, m); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// byName sorts tensors, whose order in a file is that of the file.
func byName(m *Model) *Model {
	c := *m
	c.State.Tensors = slices.SortedFunc(slices.Values(m.State.Tensors),
		func(a, b learner.Tensor) int { return strings.Compare(a.Name, b.Name) })
	return &c
}

// sameBits makes cmp tell -0 from 0.
var sameBits = cmp.Options{
	cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
	cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }),
}

// checkLayout verifies what the safetensors format demands, from its description alone.
func checkLayout(t testing.TB, data []byte, version string) {
	t.Helper()
	n := binary.LittleEndian.Uint64(data)
	if n%8 != 0 {
		t.Errorf("the header has %d bytes, no multiple of 8", n)
	}
	text, body := data[8:8+n], data[8+n:]
	if text[0] != '{' || bytes.Trim(text, " ")[len(bytes.Trim(text, " "))-1] != '}' {
		t.Errorf("the header is not one object padded with blanks: %q", text)
	}
	var header map[string]struct {
		DType   string   `json:"dtype"`
		Shape   []uint64 `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	var meta struct {
		Strings map[string]string `json:"__metadata__"`
	}
	if err := errors.Join(json.Unmarshal(text, &header), json.Unmarshal(text, &meta)); err != nil {
		t.Fatal(err)
	}
	if meta.Strings["format"] != "halfspace" || meta.Strings["version"] != version ||
		!json.Valid([]byte(meta.Strings["halfspace"])) {
		t.Errorf("metadata %v", meta.Strings)
	}
	sizes := map[string]uint64{"F32": 4, "F64": 8, "I64": 8, "U64": 8, "I32": 4, "U8": 1}
	covered := make([]int, len(body))
	for name, e := range header {
		if name == "__metadata__" {
			continue
		}
		bytes := sizes[e.DType]
		for _, s := range e.Shape {
			bytes *= s
		}
		if sizes[e.DType] == 0 || len(e.Offsets) != 2 || e.Offsets[1]-e.Offsets[0] != bytes ||
			e.Offsets[0]%sizes[e.DType] != 0 || e.Shape == nil {
			t.Errorf("tensor %q: %+v", name, e)
			continue
		}
		for i := e.Offsets[0]; i < e.Offsets[1]; i++ {
			covered[i]++
		}
	}
	for i, c := range covered {
		if c != 1 {
			t.Fatalf("byte %d belongs to %d tensors", i, c)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	m := sample()
	data := encode(t, m)
	checkLayout(t, data, "1")
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(byName(m), byName(got), sameBits); d != "" {
		t.Errorf("after Encode and Decode (-want +got):\n%s", d)
	}
	if !bytes.Equal(encode(t, got), data) {
		t.Error("encoding what was decoded gives other bytes")
	}
	// The format is fixed: version 1 files must stay readable, and equal models must stay equal
	// files.
	const want = "4b65abbf"
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:4]) != want {
		t.Errorf("the sample's file has SHA-256 %x..., want %s...: a change of the format needs "+
			"a new version", sum[:4], want)
	}
}

func drawTensor(t *rapid.T, name string) learner.Tensor {
	shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 3).Draw(t, "shape")
	n := 1
	for _, s := range shape {
		n *= s
	}
	finite64 := rapid.Float64().Filter(func(v float64) bool { return v-v == 0 })
	finite32 := rapid.Float32().Filter(func(v float32) bool { return v-v == 0 })
	x := learner.Tensor{Name: name, Shape: shape}
	switch rapid.IntRange(0, 5).Draw(t, "type") {
	case 0:
		x.Data = rapid.SliceOfN(finite64, n, n).Draw(t, "data")
	case 1:
		x.Data = rapid.SliceOfN(finite32, n, n).Draw(t, "data")
	case 2:
		x.Data = rapid.SliceOfN(rapid.Int64(), n, n).Draw(t, "data")
	case 3:
		x.Data = rapid.SliceOfN(rapid.Uint64(), n, n).Draw(t, "data")
	case 4:
		x.Data = rapid.SliceOfN(rapid.Int32(), n, n).Draw(t, "data")
	case 5:
		x.Data = rapid.SliceOfN(rapid.Uint8(), n, n).Draw(t, "data")
	}
	return x
}

func TestRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Filter(func(s string) bool {
			return s != "" && s != metadataKey &&
				strings.ToValidUTF8(s, "") == s
		})
		finite := rapid.Float64().Filter(func(v float64) bool { return v-v == 0 })
		m := &Model{
			Learner:   name.Draw(t, "learner"),
			Precision: rapid.SampledFrom([]string{"f32", "f64"}).Draw(t, "precision"),
			Config:    json.RawMessage(`{"a":[1,2]}`),
			Seed:      rapid.Uint64().Draw(t, "seed"),
			Prep: Prep{Format: "csv", Normalize: "max",
				Scale:   rapid.Float64Range(1e-300, 1e300).Draw(t, "scale"),
				Columns: rapid.SliceOfN(name, 1, 3).Draw(t, "columns")},
			Presented: rapid.Uint64Range(0, MaxCount).Draw(t, "presented"),
			State: learner.State{
				Counters: rapid.MapOf(name, rapid.Uint64()).Draw(t, "counters"),
				Scalars:  rapid.MapOf(name, finite).Draw(t, "scalars"),
				Tensors:  []learner.Tensor{},
			},
		}
		m.Prep.Dim = len(m.Prep.Columns)
		m.Prep.Labels = Labels{"a" + name.Draw(t, "no"), "b" + name.Draw(t, "yes")}
		for _, n := range rapid.SliceOfNDistinct(name, 0, 5,
			func(s string) string { return s }).Draw(t, "tensors") {
			m.State.Tensors = append(m.State.Tensors, drawTensor(t, n))
		}
		var buf, again bytes.Buffer
		if err := Encode(&buf, m); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(buf.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(byName(m), byName(got), sameBits); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
		if err := Encode(&again, got); err != nil || !bytes.Equal(again.Bytes(), buf.Bytes()) {
			t.Fatalf("encoding what was decoded gives other bytes (%v)", err)
		}
	})
}

// examples are n rows of d features with labels by a fixed target.
func examples[T learner.Float](n, d int) *engine.Block[T] {
	b := &engine.Block[T]{Dim: d, Stride: d}
	state := uint64(1)
	for range n {
		var f float64
		for j := range d {
			state = state*6364136223846793005 + 1442695040888963407
			v := float64(state>>40)/(1<<24) - 0.5
			f += v * float64(j%3-1)
			b.X = append(b.X, T(v))
		}
		b.Y = append(b.Y, T(math.Copysign(1, f)))
	}
	return b
}

func TestTrainOn(t *testing.T) {
	for _, name := range learner.Names() {
		if e, err := learner.Lookup(name); err != nil {
			t.Fatal(err)
		} else if !e.Config().Traits().Stream {
			continue // it starts anew each time
		}
		t.Run(name+"/f32", func(t *testing.T) { trainOn[float32](t, name, nil) })
		t.Run(name+"/f64", func(t *testing.T) { trainOn[float64](t, name, nil) })
	}
	t.Run("alma/p=3", func(t *testing.T) {
		trainOn[float32](t, "alma",
			&learners.ALMAConfig{P: 3})
	})
}

// trainOn: training A then B gives the bytes of training A, saving, loading and training B, for any
// implementation, threads and blocks.
func trainOn[T learner.Float](t *testing.T, name string, c learner.Config) {
	const seed = 3
	e, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		c = e.Config()
	}
	b := examples[T](200, 20)
	for _, y := range b.Y {
		b.Class = append(b.Class, int32(1+y)/2)
	}
	dir := t.TempDir()
	learn := func(l learner.Learner[T], lo, hi, size int) {
		t.Helper()
		for ; lo < hi; lo += size {
			v := b.Slice(lo, min(lo+size, hi))
			if err := l.Learn(&v, make([]learner.Round, v.Len())); err != nil {
				t.Fatal(err)
			}
		}
	}
	save := func(l learner.Learner[T], file string) string {
		t.Helper()
		m, err := Capture(name, c, seed, l)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := Save(filepath.Join(dir, file), m)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	whole, err := learner.New[T](e, c, learner.Env{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	learn(whole, 0, 200, 200)
	want := save(whole, "whole")

	pool := engine.NewPool(3)
	defer pool.Close()
	defer vecmath.Use(vecmath.Active().String())
	if err := vecmath.Use("generic"); err != nil {
		t.Fatal(err)
	}
	part, err := learner.New[T](e, c, learner.Env{Seed: seed, Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	learn(part, 0, 90, 7)
	save(part, "part")
	m, err := Load(filepath.Join(dir, "part"))
	if err != nil {
		t.Fatal(err)
	}
	rest, err := Restore[T](m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := vecmath.Use("auto"); err != nil {
		t.Fatal(err)
	}
	learn(rest, 90, 200, 50)
	if got := save(rest, "rest"); got != want {
		t.Errorf("trained on after loading: SHA-256 %s, in one go %s", got, want)
	}
	data, err := os.ReadFile(filepath.Join(dir, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
		t.Errorf("Save says SHA-256 %s, the file has %x", want, sum)
	}
	checkLayout(t, data, "1")

	wrong := func() error { _, err := Restore[float64](m, nil); return err }
	if m.Precision == "f64" {
		wrong = func() error { _, err := Restore[float32](m, nil); return err }
	}
	if err := wrong(); !errors.Is(err, ErrPrecision) {
		t.Errorf("another precision: %v", err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	e, err := learner.Lookup("perceptron")
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.New64(e.Config(), learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(m *Model)
		want   error
	}{
		{"unknown learner", func(m *Model) { m.Learner = "oracle" }, ErrNewer},
		{"unknown setting", func(m *Model) { m.Config = json.RawMessage(`{"eta":1,"depth":3}`) },
			ErrNewer},
		{"bad setting", func(m *Model) { m.Config = json.RawMessage(`{"eta":-1}`) }, ErrDamaged},
		{"unresolved setting", func(m *Model) {
			m.Config = json.RawMessage(
				`{"eta":1,"margin_rel":1}`)
		}, ErrDamaged},
		{"no weights", func(m *Model) { m.State.Tensors = nil }, ErrDamaged},
		{"f32 weights", func(m *Model) { m.State.Tensors[0].Data = []float32{} }, ErrDamaged},
	} {
		m, err := Capture("perceptron", e.Config(), 0, l)
		if err != nil {
			t.Fatal(err)
		}
		c.change(m)
		if _, err := Restore[float64](m, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// refusals are the errors that Decode may give.
var refusals = []error{ErrForeign, ErrTruncated, ErrDamaged, ErrNewer, ErrNotFinite}

func refused(err error) bool {
	return slices.ContainsFunc(refusals, func(e error) bool { return errors.Is(err, e) })
}

func TestEveryByteMatters(t *testing.T) {
	data := encode(t, sample())
	for i := range data {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(data)
			bad[i] ^= flip
			if _, err := Decode(bad); !refused(err) {
				t.Fatalf("byte %d (%q) ^ %#x: %v", i, data[i], flip, err)
			}
		}
	}
	body := int(8 + binary.LittleEndian.Uint64(data))
	for n := range data {
		_, err := Decode(data[:n])
		if want := ErrTruncated; n > 0 && n < 8 {
			if !errors.Is(err, ErrForeign) {
				t.Fatalf("the first %d bytes: %v", n, err)
			}
		} else if !errors.Is(err, want) {
			t.Fatalf("the first %d of %d bytes (header to %d): %v", n, len(data), body, err)
		}
	}
	if _, err := Decode(append(slices.Clone(data), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("one byte more: %v", err)
	}
}

// container makes a file of a header and a body, with the right checksum where the header has a
// place for one.
func container(header string, body []byte) []byte {
	data := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	return seal(append(data, body...))
}

// seal puts the right checksum into a file that has one, so that what lies behind the check is
// reached.
func seal(data []byte) []byte {
	head := []byte(sumField("")[:len(sumField(""))-1])
	at := bytes.Index(data, head)
	if at < 0 || at+len(head)+64 > len(data) {
		return data
	}
	data = slices.Clone(data)
	digits := data[at+len(head):][:64]
	copy(digits, blankSum)
	sum := sha256.Sum256(data)
	hex.Encode(digits, sum[:])
	return data
}

func meta(doc string) string { return metaOf(doc, "1") }

func metaOf(doc, version string) string {
	quoted, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return `"__metadata__":{"format":"halfspace","halfspace":` + string(quoted) + `,` +
		sumField(blankSum) + `,"version":"` + version + `"}`
}

const goodDoc = `{"learner":"lms","precision":"f64","config":{}}`

// allocated returns the bytes allocated so far, to within what the allocator's caches hold back.
// Unlike ReadMemStats it does not stop the world, which would make fuzzing slow.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestRefused(t *testing.T) {
	line := func(l string) string { return `{` + meta(goodDoc) + `,` + l + `}` }
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	if _, err := Decode(container(line(`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}`),
		make([]byte, 8))); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, ErrTruncated},
		{"three bytes", []byte("+1 "), ErrForeign},
		{"text", []byte("+1 3:0.5 7:1\n-1 2:1\n"), ErrForeign},
		{"json", []byte(`{"learner":"lms","weights":[1,2]}`), ErrForeign},
		{"gzip", append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}, make([]byte, 30)...),
			ErrForeign},
		{"zeros", make([]byte, 64), ErrForeign},
		{"absurd header length", append(binary.LittleEndian.AppendUint64(nil, 1<<62), "{}"...),
			ErrForeign},
		{"header a byte too long", append(binary.LittleEndian.AppendUint64(nil, 1<<30+1),
			`{"a`...), ErrForeign},
		{"header as long as can be", append(binary.LittleEndian.AppendUint64(nil, 1<<30),
			`{"a`...), ErrTruncated},
		{"header longer than the file", append(binary.LittleEndian.AppendUint64(nil, 99_999_999),
			`{"a`...), ErrTruncated},
		{"another safetensors file", container(
			`{"w":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}}`, make([]byte, 4)), ErrForeign},
		{"another format",
			container(
				`{"__metadata__":{"format":"pt"},"w":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}}`, make([]byte, 4)), ErrForeign},
		{"metadata of numbers", container(`{"__metadata__":{"format":1}}`, nil), ErrForeign},
		{"header is no JSON", container(`{]`, nil), ErrForeign},
		{"newer", container(`{`+metaOf(`{"learner":"lms","new":1}`, "3")+`}`, nil), ErrNewer},
		{"much newer", container(`{`+metaOf(goodDoc, "10")+`}`, nil), ErrNewer},
		{"version 2 with more", container(
			`{`+metaOf(`{"learner":"lms","precision":"f64","more":1}`, "2")+`}`, nil), ErrDamaged},
		{"version 2 with a class twice", container(`{`+metaOf(`{"learner":"lms",`+
			`"precision":"f64","config":{},"prep":{"classes":["a","b","a"]}}`, "2")+`}`, nil),
			ErrDamaged},
		{"version 2 with classes and two labels", container(`{`+metaOf(`{"learner":"lms",`+
			`"precision":"f64","config":{},"prep":{"labels":{"positive":"a"},`+
			`"classes":["a","b"]}}`, "2")+`}`, nil), ErrDamaged},
		{"no version", container(`{"__metadata__":{"format":"halfspace"}}`, nil), ErrNewer},
		{"no checksum", container(`{"__metadata__":{"format":"halfspace","version":"1"}}`, nil),
			ErrDamaged},
		{"no document", container(`{"__metadata__":{"format":"halfspace",`+sumField(
			blankSum)+`,"version":"1"}}`, nil), ErrDamaged},
		{"document with more", container(
			`{`+meta(`{"learner":"lms","precision":"f64","more":1}`)+`}`, nil), ErrDamaged},
		{"precision", container(`{`+meta(`{"learner":"lms","precision":"f16"}`)+`}`, nil),
			ErrDamaged},
		{"no settings", container(`{`+meta(`{"learner":"lms","precision":"f64"}`)+`}`, nil),
			ErrDamaged},
		{"unknown type", container(line(`"w":{"data_offsets":[0,2],"dtype":"BF16","shape":[1]}`),
			make([]byte, 2)), ErrDamaged},
		{"gap", container(line(`"w":{"data_offsets":[8,16],"dtype":"F64","shape":[1]}`),
			make([]byte, 16)), ErrDamaged},
		{"another beginning, the right end", container(
			line(`"w":{"data_offsets":[1,8],"dtype":"F64","shape":[1]}`), make([]byte, 8)),
			ErrDamaged},
		{"tensor's line with more", container(
			line(`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1],"DType":"F64"}`),
			make([]byte, 8)), ErrDamaged},
		{"tensor twice", container(line(
			`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1]},"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}`), make([]byte, 8)), ErrDamaged},
		{"metadata twice", container(`{`+meta(goodDoc)+`,`+meta(goodDoc)+`}`, nil), ErrDamaged},
		{"document twice", container(strings.Replace(`{`+meta(goodDoc)+`}`, `"halfspace":"{`,
			`"halfspace":"{}","halfspace":"{`, 1), nil), ErrDamaged},
		{"text behind the document", container(`{`+meta(goodDoc+` x`)+`}`, nil), ErrDamaged},
		{"key of the document twice", container(
			`{`+meta(`{"learner":"lms","precision":"f64","precision":"f32","config":{}}`)+`}`, nil),
			ErrDamaged},
		{"key in other letters", container(`{`+meta(
			`{"learner":"lms","precision":"f64","PRECISION":"f32","config":{}}`)+`}`, nil),
			ErrDamaged},
		{"key of prep in other letters", container(
			`{`+meta(`{"learner":"lms","precision":"f64","config":{},"prep":{"Dim":3}}`)+`}`, nil),
			ErrDamaged},
		{"key of labels twice", container(`{`+meta(
			`{"learner":"lms","precision":"f64","config":{},"prep":{"labels":{"positive":"a","positive":"b"}}}`)+`}`, nil), ErrDamaged},
		{"counter twice", container(`{`+meta(
			`{"learner":"lms","precision":"f64","config":{},"counters":{"updates":1,"updates":2}}`)+`}`, nil), ErrDamaged},
		{"endless count", container(`{`+meta(
			`{"learner":"lms","precision":"f64","config":{},"presented":9223372036854775808}`)+`}`,
			nil), ErrDamaged},
		{"endless mistakes", container(`{`+meta(
			`{"learner":"lms","precision":"f64","config":{},"mistakes":9223372036854775808}`)+`}`,
			nil), ErrDamaged},
		{"overlap",
			container(
				line(
					`"v":{"data_offsets":[0,8],"dtype":"F64","shape":[1]},"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}`), make([]byte, 8)), ErrDamaged},
		{"more bytes than tensors", container(
			line(`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}`), make([]byte, 16)),
			ErrDamaged},
		{"fewer bytes than tensors", container(
			line(`"w":{"data_offsets":[0,16],"dtype":"F64","shape":[2]}`), make([]byte, 8)),
			ErrDamaged},
		{"shape against offsets", container(
			line(`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[2]}`), make([]byte, 8)),
			ErrDamaged},
		{"huge shape",
			container(
				line(
					`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1099511627776,1099511627776]}`), make([]byte, 8)), ErrDamaged},
		{"shape that wraps to 1", container(
			line(`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[6148914691236517205,3]}`),
			make([]byte, 8)), ErrDamaged},
		{"huge empty shape", container(line(
			`"w":{"data_offsets":[0,0],"dtype":"F64","shape":[0,18446744073709551615]}`), nil),
			ErrDamaged},
		{"negative shape", container(line(`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[-1]}`),
			make([]byte, 8)), ErrDamaged},
		{"wrapping offsets", container(line(
			`"w":{"data_offsets":[0,18446744073709551615],"dtype":"U8","shape":[18446744073709551615]}`), make([]byte, 8)), ErrDamaged},
		{"three offsets", container(line(`"w":{"data_offsets":"x","dtype":"F64","shape":[1]}`),
			make([]byte, 8)), ErrDamaged},
		{"NaN", container(line(`"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}`), nan),
			ErrNotFinite},
	} {
		before := allocated()
		m, err := Decode(c.data)
		took := allocated() - before
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v; want %v", c.name, m, err, c.want)
		}
		if took > 1<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", c.name, took, len(c.data))
		}
		path := filepath.Join(t.TempDir(), "model")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(),
			path+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Load says %v, want one line with the path, and %v", c.name, err, c.want)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *Model)
		want   error
	}{
		{"NaN weight", func(m *Model) { m.State.Tensors[1].Data.([]float64)[1] = math.NaN() },
			ErrNotFinite},
		{"infinite weight", func(m *Model) {
			m.State.Tensors[3].Data.([]float32)[2] = float32(
				math.Inf(-1))
		}, ErrNotFinite},
		{"infinite scalar", func(m *Model) { m.State.Scalars["scale"] = math.Inf(1) },
			ErrNotFinite},
		{"precision", func(m *Model) { m.Precision = "double" }, ErrInvalid},
		{"settings", func(m *Model) { m.Config = json.RawMessage(`{`) }, ErrInvalid},
		{"no settings", func(m *Model) { m.Config = nil }, ErrInvalid},
		{"scale", func(m *Model) { m.Prep.Scale = math.NaN() }, ErrInvalid},
		{"no name", func(m *Model) { m.State.Tensors[0].Name = "" }, ErrInvalid},
		{"reserved name", func(m *Model) { m.State.Tensors[0].Name = metadataKey }, ErrInvalid},
		{"label that is no text", func(m *Model) { m.Prep.Labels.Negative = "caf\xe9" },
			ErrInvalid},
		{"column that is no text", func(m *Model) { m.Prep.Columns[1] = "caf\xe9" }, ErrInvalid},
		{"name twice", func(m *Model) { m.State.Tensors[0].Name = "w" }, ErrInvalid},
		{"type", func(m *Model) { m.State.Tensors[0].Data = []string{"a", "b", "c"} }, ErrInvalid},
		{"shape", func(m *Model) { m.State.Tensors[0].Shape = []int{4} }, ErrInvalid},
		{"negative shape", func(m *Model) { m.State.Tensors[0].Shape = []int{-1, -3} }, ErrInvalid},
		{"a mistake too many", func(m *Model) { m.Mistakes = MaxCount + 1 }, ErrInvalid},
		{"an example too many", func(m *Model) { m.Presented = MaxCount + 1 }, ErrInvalid},
		{"pass of what only predicts", func(m *Model) {
			m.Pass, m.PredictOnly = &learner.Pass{Examples: 3}, true
		}, ErrInvalid},
		{"pass behind its end", func(m *Model) { m.Pass = &learner.Pass{Examples: 3, At: 4} },
			ErrInvalid},
		{"calibration of two classes", func(m *Model) {
			m.Prep.Labels, m.Prep.Classes = Labels{}, []string{"a", "b", "c"}
			m.Calibration = &learner.Calibration{Slope: 1}
		}, ErrInvalid},
		{"threshold of three classes", func(m *Model) {
			m.Prep.Labels, m.Prep.Classes = Labels{}, []string{"a", "b", "c"}
			m.Threshold = &learner.Threshold{Score: 1, Target: "recall=0.5", High: 1}
		}, ErrInvalid},
		{"scaling of more features than there are", func(m *Model) {
			m.Prep.Scaling = &formats.Scaling{Method: "maxabs", Known: make([]float64, 3*4)}
		}, ErrInvalid},
		{"classes beside a rest", func(m *Model) {
			m.Prep.Labels, m.Prep.Classes, m.Prep.Rest = Labels{}, []string{"a", "b"}, "c"
		}, ErrInvalid},
		{"long note", func(m *Model) { m.Note = strings.Repeat("x", MaxNote+1) }, ErrInvalid},
		{"note that is no text", func(m *Model) { m.Note = "caf\xe9" }, ErrInvalid},
	} {
		m := sample()
		m.Pass = &learner.Pass{Examples: 3, At: 3}
		m.Threshold = &learner.Threshold{Score: 1, Target: "recall=0.5", High: 1}
		if err := Encode(io.Discard, m); err != nil {
			t.Fatal(err)
		}
		m.Pass, m.Threshold = nil, nil
		c.change(m)
		var buf bytes.Buffer
		if err := Encode(&buf, m); !errors.Is(err, c.want) || buf.Len() != 0 {
			t.Errorf("%s: %v after %d bytes, want %v", c.name, err, buf.Len(), c.want)
		}
	}
}

// TestCaptureCounts: a counter that has come to its end by updates is written as its most.
func TestCaptureCounts(t *testing.T) {
	e, err := learner.Lookup("perceptron")
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New[float64](e, e.Config(), learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	s := l.State()
	s.Counters["updates"] = MaxCount
	if err := l.SetState(s); err != nil {
		t.Fatal(err)
	}
	b := &engine.Block[float64]{Dim: 1, Y: []float64{1}, Ptr: []int{0, 1}, Idx: []int32{0},
		Val: []float64{1}}
	if err := l.Learn(b, make([]learner.Round, 1)); err != nil {
		t.Fatal(err)
	}
	m, err := Capture("perceptron", e.Config(), 1, l)
	if err != nil || m.State.Counters["updates"] != MaxCount {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := Restore[float64](m, nil); err != nil {
		t.Error(err)
	}
}

// TestFeatureNames: features have the names of their columns, wherever the label stands among
// these, and none stands for columns that are left out.
func TestFeatureNames(t *testing.T) {
	columns := []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		p    Prep
		want []string
	}{
		{Prep{Dim: 3}, nil},
		{Prep{Dim: 4, Columns: columns}, columns},
		{Prep{Dim: 3, Columns: columns, LabelCol: 1}, []string{"b", "c", "d"}},
		{Prep{Dim: 3, Columns: columns, LabelCol: 2}, []string{"a", "c", "d"}},
		{Prep{Dim: 3, Columns: columns, LabelCol: 4}, []string{"a", "b", "c"}},
		{Prep{Dim: 3, Columns: columns, LabelCol: 2, Kinds: "-tn", Names: []string{"c=x", "c=y"}},
			[]string{"d", "c=x", "c=y"}},
		{Prep{Dim: 3, LabelCol: 4, Kinds: "nnn"}, nil},
	} {
		if got := c.p.FeatureNames(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// brokenWriter fails after n bytes.
type brokenWriter struct{ n int }

var errBroken = errors.New("disk full")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if len(p) > w.n {
		return w.n, errBroken
	}
	w.n -= len(p)
	return len(p), nil
}

var _ io.Writer = (*brokenWriter)(nil)

func TestEncodeBrokenWriter(t *testing.T) {
	m := sample()
	for n := range len(encode(t, m)) {
		if err := Encode(&brokenWriter{n}, m); !errors.Is(err, errBroken) {
			t.Fatalf("a writer that breaks after %d bytes: %v", n, err)
		}
	}
}

func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.hs")
	if _, err := Save(path, sample()); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	bad := sample()
	bad.State.Scalars["scale"] = math.NaN()
	if _, err := Save(path, bad); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(),
		path) {
		t.Errorf("a diverged model: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		t.Errorf("a failed Save touched the old file (%v)", err)
	}
	if _, err := Save(filepath.Join(dir, "new"), bad); !errors.Is(err, ErrNotFinite) {
		t.Errorf("a diverged model: %v", err)
	}
	if _, err := Save(dir, sample()); !errors.Is(err, ErrTarget) {
		t.Errorf("onto a folder: %v", err)
	}
	if _, err := Save(filepath.Join(dir, "none", "m.hs"), sample()); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
	if got := listing(t, dir); !slices.Equal(got, []string{"m.hs"}) {
		t.Errorf("left behind: %v", got)
	}

	// What a run that was killed left behind is not in the way, and goes.
	stale := fmt.Sprintf("%s.%d-0.part", path, os.Getpid())
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	changed := sample()
	changed.Seed = 1
	if _, err := Save(path, changed); err != nil {
		t.Fatal(err)
	}
	if m, err := Load(path); err != nil || m.Seed != 1 {
		t.Errorf("after a second Save: %+v, %v", m, err)
	}
	if got := listing(t, dir); !slices.Equal(got, []string{"m.hs"}) {
		t.Errorf("left behind: %v", got)
	}
}

func TestSaveOntoLinksAndDevices(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatalf("no symbolic links here: %v", err)
	}
	if _, err := Save(link, sample()); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", fi, err)
	}
	if _, err := Load(file); err != nil {
		t.Error(err)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("permissions were not kept: %v, %v", fi.Mode(), err)
	}
	if _, err := Save(os.DevNull, sample()); !errors.Is(err, ErrTarget) {
		t.Errorf("onto %s: %v", os.DevNull, err)
	}
}

// FuzzDecode: no input panics or takes memory out of proportion, and what is accepted is what
// Encode writes of it. Each input is tried as it is and with its checksum put right.
func FuzzDecode(f *testing.F) {
	good := encode(f, sample())
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte("+1 3:0.5"))
	f.Add(container(`{`+meta(goodDoc)+`,"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}}`,
		make([]byte, 8)))
	f.Add(encode(f, standing()))
	f.Add(container(`{`+metaOf(`{"learner":"lms","precision":"f64","config":{},`+
		`"prep":{"classes":["a","b","c"]}}`, "2")+`}`, nil))
	f.Add(container(
		`{`+meta(
			goodDoc)+`,"w":{"data_offsets":[0,8],"dtype":"U8","shape":[4,2]},"x":{"data_offsets":[8,8],"dtype":"F32","shape":[0]}}`, make([]byte, 8)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range [][]byte{data, seal(data)} {
			before := allocated()
			m, err := Decode(d)
			if took := allocated() - before; took > uint64(1<<20+200*len(d)) {
				t.Fatalf("%d bytes allocated for a file of %d", took, len(d))
			}
			if err != nil {
				if !refused(err) {
					t.Fatalf("an error of no kind: %v", err)
				}
				continue
			}
			var buf bytes.Buffer
			if err := Encode(&buf, m); err != nil {
				t.Fatalf("what was decoded can't be encoded: %v", err)
			}
			again, err := Decode(buf.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encode(t, again), buf.Bytes()) {
				t.Fatalf("%+v became %+v", m, again)
			}
		}
	})
}
