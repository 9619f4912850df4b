package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/model"
)

// examples are rows as they were read: their features have numbers, from 0, or else the numbers of
// names, which resolve turns into the model's.
type examples struct {
	n    int
	ptr  []int
	idx  []int32
	f32  []float32 // the values, one of the two
	f64  []float64
	wide bool // f64

	words bool
	names [][]byte
	known map[string]int32 // of those, their places; nil where nothing was added to them

	code    []int32 // of each row its label's number
	labels  []string
	numbers []bool    // of each label: it is no text where it comes from
	texts   bool      // they are as the model has them: see hosted.spell
	weights []float64 // nil: all are 1
	ids     []string  // "" is none, and so it is behind the last

	dim int // features of the model and of the rows, once resolved
}

// reset empties e for rows of a model.
func (e *examples) reset(wide, words bool) {
	*e = examples{wide: wide, words: words, ptr: append(e.ptr[:0], 0), idx: e.idx[:0],
		f32: e.f32[:0], f64: e.f64[:0], names: e.names[:0], code: e.code[:0],
		labels: e.labels[:0], numbers: e.numbers[:0], ids: e.ids[:0]}
}

// id returns what a row is called, "" if nothing.
func (e *examples) id(i int) string {
	if i < len(e.ids) {
		return e.ids[i]
	}
	return ""
}

// value returns the p-th value.
func (e *examples) value(p int) float64 {
	if e.wide {
		return e.f64[p]
	}
	return float64(e.f32[p])
}

// label returns the label of a row, "" if it has none.
func (e *examples) label(i int) string { return e.labels[e.code[i]] }

// rows are the examples as package halfspace takes them.
func (e *examples) rows(learn bool) halfspace.Rows {
	r := halfspace.Rows{N: e.n, Dim: e.dim, Ptr: e.ptr, Idx: e.idx}
	if e.wide {
		r.F64 = e.f64
	} else {
		r.F32 = e.f32
	}
	if learn {
		r.Labels, r.Names, r.Weights, r.Texts = e.code, e.labels, e.weights, e.texts
	}
	return r
}

// cut leaves the first n rows, if there are more.
func (e *examples) cut(n uint64) {
	if n >= uint64(e.n) {
		return
	}
	e.n = int(n)
	e.ptr, e.code = e.ptr[:n+1], e.code[:n]
	e.idx = e.idx[:e.ptr[n]]
	if e.weights != nil {
		e.weights = e.weights[:n]
	}
}

// squared returns the squared length of row i.
func (e *examples) squared(i int) (sum float64) {
	for p := e.ptr[i]; p < e.ptr[i+1]; p++ {
		v := 0.0
		if e.wide {
			v = e.f64[p]
		} else {
			v = float64(e.f32[p])
		}
		sum += v * v
	}
	return sum
}

// lengths refuses rows so long that no learner of that precision can learn them: the square of
// their length is infinite. Where rows are scaled they may have any length.
func (e *examples) lengths(p *model.Prep) *Error {
	most := math.MaxFloat32
	if e.wide {
		most = math.MaxFloat64
	}
	if p.Normalize != "" && p.Normalize != "none" || p.Scaling != nil {
		return nil
	}
	for i := range e.n {
		if !(e.squared(i) <= most) {
			return unfit(i+1, "Scale the features, in training or before they are sent.",
				"row %d is too long: the square of its length is more than %g", i+1, most)
		}
	}
	return nil
}

// unusual reports whether a row is so long, or so short, that steps on it may leave the range of
// numbers: after it is learned, the weights are looked at. With others steps would have to be more
// than a model ever learns.
func (e *examples) unusual() bool {
	for i := range e.n {
		if s := e.squared(i); s > 1<<64 || s > 0 && s < 1.0/(1<<64) {
			return true
		}
	}
	return false
}

// sort brings the features of row i in order, and adds up those that come twice.
func (e *examples) sort(lo, hi int) (n int) {
	if e.wide {
		return format.SortFeatures(e.idx[lo:hi], e.f64[lo:hi])
	}
	return format.SortFeatures(e.idx[lo:hi], e.f32[lo:hi])
}

// move copies n features from one place to an earlier one.
func (e *examples) move(to, from, n int) {
	copy(e.idx[to:], e.idx[from:from+n])
	if e.wide {
		copy(e.f64[to:], e.f64[from:from+n])
	} else {
		copy(e.f32[to:], e.f32[from:from+n])
	}
}

// Flags of the encoded form.
const (
	encodedWide = 1 << iota
	encodedWords
	encodedWeights
	encodedTexts // labels are texts; logs of versions before have them as they came
)

// encode appends the form that a log keeps of rows lo to hi: it depends on nothing but what they
// are.
//
//	flags; the labels; names, if the features have such; rows: label's number, weight, features
//
// Numbers are varints, values and weights little-endian, texts have their length before them.
func (e *examples) encode(dst []byte, lo, hi int) []byte {
	flags := byte(0)
	if e.wide {
		flags |= encodedWide
	}
	if e.words {
		flags |= encodedWords
	}
	if e.weights != nil {
		flags |= encodedWeights
	}
	if e.texts {
		flags |= encodedTexts
	}
	text := func(s []byte) { dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...) }
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(len(e.labels)))
	for _, s := range e.labels {
		text([]byte(s))
	}
	number := func(i int32) int32 { return i }
	if e.words {
		used, order := e.used(lo, hi)
		dst = binary.AppendUvarint(dst, uint64(len(order)))
		for _, i := range order {
			text(e.names[i])
		}
		number = func(i int32) int32 { return used[i] }
	}
	dst = binary.AppendUvarint(dst, uint64(hi-lo))
	for i := lo; i < hi; i++ {
		dst = binary.AppendUvarint(dst, uint64(e.code[i]))
		if e.weights != nil {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(e.weights[i]))
		}
		dst = binary.AppendUvarint(dst, uint64(e.ptr[i+1]-e.ptr[i]))
		for p := e.ptr[i]; p < e.ptr[i+1]; p++ {
			dst = binary.AppendUvarint(dst, uint64(number(e.idx[p])))
			if e.wide {
				dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(e.f64[p]))
			} else {
				dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(e.f32[p]))
			}
		}
	}
	return dst
}

// used returns the names of rows lo to hi, in the order in which they come, and the number of each
// of them in that.
func (e *examples) used(lo, hi int) (number map[int32]int32, order []int32) {
	number = map[int32]int32{}
	for _, i := range e.idx[e.ptr[lo]:e.ptr[hi]] {
		if _, met := number[i]; !met {
			number[i] = int32(len(order))
			order = append(order, i)
		}
	}
	return number, order
}

// errEncoded is the error of bytes that encode has not written.
var errEncoded = errors.New("not the form of examples")

// decodeExamples is the inverse of encode; it believes nothing. What it returns refers to b.
func decodeExamples(b []byte) (e *examples, err error) {
	in := encoded{b: b}
	flags := in.byte()
	e = &examples{wide: flags&encodedWide != 0, words: flags&encodedWords != 0,
		texts: flags&encodedTexts != 0, ptr: []int{0}}
	if flags&^(encodedWide|encodedWords|encodedWeights|encodedTexts) != 0 {
		in.bad = true
	}
	for range in.count(1) {
		e.labels = append(e.labels, string(in.text()))
	}
	if e.words {
		for range in.count(1) {
			n := len(e.names)
			in.bad = int(e.named(in.text())) != n || in.bad // each comes once
		}
	}
	e.n = in.count(2)
	value := 4
	if e.wide {
		value = 8
	}
	for range e.n {
		code := in.number()
		in.bad = in.bad || code >= uint64(len(e.labels))
		e.code = append(e.code, int32(code))
		if flags&encodedWeights != 0 {
			w := math.Float64frombits(in.fixed(8))
			in.bad = in.bad || !(w >= 0) || math.IsInf(w, 0)
			e.weights = append(e.weights, w)
		}
		last := int64(-1)
		for range in.count(1 + value) {
			i, v := in.number(), in.fixed(value)
			in.bad = in.bad || i >= math.MaxInt32-1 || e.words && i >= uint64(len(e.names)) ||
				!e.words && int64(i) <= last
			last = int64(i)
			e.idx = append(e.idx, int32(i))
			f := float64(math.Float32frombits(uint32(v)))
			if e.wide {
				f = math.Float64frombits(v)
				e.f64 = append(e.f64, f)
			} else {
				e.f32 = append(e.f32, float32(f))
			}
			in.bad = in.bad || math.IsInf(f, 0) // NaN is a value that is missing
		}
		e.ptr = append(e.ptr, len(e.idx))
	}
	if in.bad || len(in.b) > 0 {
		return nil, errEncoded
	}
	return e, nil
}

// encoded reads the encoded form.
type encoded struct {
	b   []byte
	bad bool
}

func (in *encoded) byte() byte { return byte(in.fixed(1)) }

func (in *encoded) number() uint64 {
	v, n := binary.Uvarint(in.b)
	if n <= 0 || in.bad {
		in.b, in.bad = nil, true
		return 0
	}
	in.b = in.b[n:]
	return v
}

// count reads how many of something follow, of which each takes so many bytes or more.
func (in *encoded) count(least int) int {
	n := in.number()
	if n > uint64(len(in.b)/least) {
		in.b, in.bad = nil, true
		return 0
	}
	return int(n)
}

func (in *encoded) fixed(n int) (v uint64) {
	if len(in.b) < n {
		in.b, in.bad = nil, true
		return 0
	}
	for i := range n {
		v |= uint64(in.b[i]) << (8 * i)
	}
	in.b = in.b[n:]
	return v
}

func (in *encoded) text() []byte {
	n := in.count(1)
	s := in.b[:n:n]
	in.b = in.b[n:]
	in.bad = in.bad || !utf8.Valid(s)
	return s
}

// addRow adds the one row of x, which decodeExamples gave, in the place of a row that came without
// features.
func (e *examples) addRow(x *examples, code int32, weight float64, weighs bool) error {
	if x.n != 1 || x.wide != e.wide || x.words != e.words {
		return fmt.Errorf("serve: a row that waited: %w", errEncoded)
	}
	for _, i := range x.idx {
		if x.words {
			i = e.named(x.names[i])
		}
		e.idx = append(e.idx, i)
	}
	e.f32, e.f64 = append(e.f32, x.f32...), append(e.f64, x.f64...)
	e.addLabel(code, weight, weighs)
	return nil
}

// named returns the place of a name among e.names, to which it is added if it is not there.
func (e *examples) named(name []byte) int32 {
	if e.known == nil {
		e.known = map[string]int32{}
		for i, name := range e.names {
			e.known[string(name)] = int32(i)
		}
	}
	i, ok := e.known[string(name)]
	if !ok {
		i = int32(len(e.names))
		e.known[string(name)] = i
		e.names = append(e.names, name)
	}
	return i
}

// addLabel ends a row whose features were added, with a label of e.labels.
func (e *examples) addLabel(code int32, weight float64, weighs bool) {
	e.ptr = append(e.ptr, len(e.idx))
	e.code = append(e.code, code)
	if weighs {
		e.weights = append(e.weights, weight)
	}
	e.n++
}
