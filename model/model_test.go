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
	ok(t, Encode(&buf, m))
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
	ok(t, errors.Join(json.Unmarshal(text, &header), json.Unmarshal(text, &meta)))
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
	got := must(Decode(data))(t)
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

func TestRestoreRefuses(t *testing.T) {
	e := must(learner.Lookup("perceptron"))(t)
	l := must(e.New64(e.Config(), learner.Env{}))(t)
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
		{"precision", func(m *Model) { m.Precision = "f32" }, ErrPrecision},
	} {
		m := must(Capture("perceptron", e.Config(), 0, l))(t)
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

// refusal is a file that is refused, and the error.
type refusal struct {
	name string
	data []byte
	want error
}

// refusedFiles are files of which something is wrong.
func refusedFiles() []refusal {
	const w8, doc = `"w":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}`, `{"learner":"lms",` +
		`"precision":"f64"`
	const most = "18446744073709551615" // 2^64 - 1
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	length := func(n uint64, text string) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, n), text...)
	}
	list := []refusal{
		{"empty", nil, ErrTruncated},
		{"three bytes", []byte("+1 "), ErrForeign},
		{"text", []byte("+1 3:0.5 7:1\n-1 2:1\n"), ErrForeign},
		{"json", []byte(`{"learner":"lms","weights":[1,2]}`), ErrForeign},
		{"gzip", append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}, make([]byte, 30)...),
			ErrForeign},
		{"zeros", make([]byte, 64), ErrForeign},
		{"absurd header length", length(1<<62, "{}"), ErrForeign},
		{"header a byte too long", length(1<<30+1, `{"a`), ErrForeign},
		{"header as long as can be", length(1<<30, `{"a`), ErrTruncated},
		{"header longer than the file", length(99_999_999, `{"a`), ErrTruncated},
		{"NaN", container(`{`+meta(goodDoc)+`,`+w8+`}`, nan), ErrNotFinite},
	}
	for name, header := range map[string]string{
		"another safetensors file": `{"w":{"data_offsets":[0,0],"dtype":"F32","shape":[0]}}`,
		"another format":           `{"__metadata__":{"format":"pt"}}`,
		"metadata of numbers":      `{"__metadata__":{"format":1}}`,
		"header is no JSON":        `{]`,
	} {
		list = append(list, refusal{name, container(header, nil), ErrForeign})
	}
	for name, header := range map[string]string{
		"newer":      `{` + metaOf(`{"learner":"lms","new":1}`, "3") + `}`,
		"much newer": `{` + metaOf(goodDoc, "10") + `}`,
		"no version": `{"__metadata__":{"format":"halfspace"}}`,
	} {
		list = append(list, refusal{name, container(header, nil), ErrNewer})
	}
	for name, header := range map[string]string{
		"no checksum": `{"__metadata__":{"format":"halfspace","version":"1"}}`,
		"no document": `{"__metadata__":{"format":"halfspace",` + sumField(blankSum) +
			`,"version":"1"}}`,
		"metadata twice": `{` + meta(goodDoc) + `,` + meta(goodDoc) + `}`,
		"document twice": strings.Replace(`{`+meta(goodDoc)+`}`, `"halfspace":"{`,
			`"halfspace":"{}","halfspace":"{`, 1),
		"version 2 with more": `{` + metaOf(doc+`,"more":1}`, "2") + `}`,
		"version 2 with a class twice": `{` + metaOf(doc+`,"config":{},`+
			`"prep":{"classes":["a","b","a"]}}`, "2") + `}`,
		"version 2 with classes and two labels": `{` + metaOf(doc+`,"config":{},`+
			`"prep":{"labels":{"positive":"a"},"classes":["a","b"]}}`, "2") + `}`,
	} {
		list = append(list, refusal{name, container(header, nil), ErrDamaged})
	}
	for name, text := range map[string]string{
		"document with more":         doc + `,"more":1}`,
		"precision":                  `{"learner":"lms","precision":"f16"}`,
		"no settings":                doc + `}`,
		"text behind the document":   goodDoc + ` x`,
		"key of the document twice":  doc + `,"precision":"f32","config":{}}`,
		"key in other letters":       doc + `,"PRECISION":"f32","config":{}}`,
		"key of prep, other letters": doc + `,"config":{},"prep":{"Dim":3}}`,
		"counter twice":              doc + `,"config":{},"counters":{"updates":1,"updates":2}}`,
		"endless count":              doc + `,"config":{},"presented":9223372036854775808}`,
		"endless mistakes":           doc + `,"config":{},"mistakes":9223372036854775808}`,
		"key of labels twice": doc + `,"config":{},"prep":{"labels":{"positive":"a",` +
			`"positive":"b"}}}`,
	} {
		list = append(list, refusal{name, container(`{`+meta(text)+`}`, nil), ErrDamaged})
	}
	w := func(offsets, dtype, shape string) string {
		return `"w":{"data_offsets":` + offsets + `,"dtype":"` + dtype + `","shape":` + shape + `}`
	}
	for name, c := range map[string]struct {
		lines string
		bytes int
	}{
		"unknown type":                     {w("[0,2]", "BF16", "[1]"), 2},
		"gap":                              {w("[8,16]", "F64", "[1]"), 16},
		"another beginning, the right end": {w("[1,8]", "F64", "[1]"), 8},
		"tensor's line with more":          {w("[0,8]", "F64", `[1],"DType":"F64"`), 8},
		"tensor twice":                     {w8 + `,` + w8, 8},
		"overlap":                          {strings.Replace(w8, `"w"`, `"v"`, 1) + `,` + w8, 8},
		"more bytes than tensors":          {w8, 16},
		"fewer bytes than tensors":         {w("[0,16]", "F64", "[2]"), 8},
		"shape against offsets":            {w("[0,8]", "F64", "[2]"), 8},
		"huge shape":                       {w("[0,8]", "F64", "[1099511627776,1099511627776]"), 8},
		"shape that wraps to 1":            {w("[0,8]", "F64", "[6148914691236517205,3]"), 8},
		"huge empty shape":                 {w("[0,0]", "F64", "[0,"+most+"]"), 0},
		"negative shape":                   {w("[0,8]", "F64", "[-1]"), 8},
		"wrapping offsets":                 {w("[0,"+most+"]", "U8", "["+most+"]"), 8},
		"three offsets":                    {w(`"x"`, "F64", "[1]"), 8},
	} {
		list = append(list, refusal{name, container(`{`+meta(goodDoc)+`,`+c.lines+`}`,
			make([]byte, c.bytes)), ErrDamaged})
	}
	return list
}

func TestRefused(t *testing.T) {
	must(Decode(container(`{`+meta(goodDoc)+`,"w":{"data_offsets":[0,8],"dtype":"F64",`+
		`"shape":[1]}}`, make([]byte, 8))))(t)
	for _, c := range refusedFiles() {
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
		ok(t, os.WriteFile(path, c.data, 0o600))
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
		ok(t, Encode(io.Discard, m))
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
	e := must(learner.Lookup("perceptron"))(t)
	l := must(learner.New[float64](e, e.Config(), learner.Env{}))(t)
	s := l.State()
	s.Counters["updates"] = MaxCount
	ok(t, l.SetState(s))
	b := &engine.Block[float64]{Dim: 1, Y: []float64{1}, Ptr: []int{0, 1}, Idx: []int32{0},
		Val: []float64{1}}
	ok(t, l.Learn(b, make([]learner.Round, 1)))
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
	list := must(os.ReadDir(dir))(t)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.hs")
	must(Save(path, sample()))(t)
	old := must(os.ReadFile(path))(t)

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
	ok(t, os.WriteFile(stale, nil, 0o600))
	changed := sample()
	changed.Seed = 1
	must(Save(path, changed))(t)
	if m, err := Load(path); err != nil || m.Seed != 1 {
		t.Errorf("after a second Save: %+v, %v", m, err)
	}
	if got := listing(t, dir); !slices.Equal(got, []string{"m.hs"}) {
		t.Errorf("left behind: %v", got)
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
	f.Add(container(`{`+meta(goodDoc)+`,"w":{"data_offsets":[0,8],"dtype":"U8","shape":[4,2]},`+
		`"x":{"data_offsets":[8,8],"dtype":"F32","shape":[0]}}`, make([]byte, 8)))
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
			ok(t, Encode(&buf, m))
			again := must(Decode(buf.Bytes()))(t)
			if !bytes.Equal(encode(t, again), buf.Bytes()) {
				t.Fatalf("%+v became %+v", m, again)
			}
		}
	})
}

// must returns what a call gave that does not fail here.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ok ends the test where a call fails that does not here.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
