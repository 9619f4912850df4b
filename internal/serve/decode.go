package serve

import (
	"bytes"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/fields"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/model"
)

// Media types of bodies.
const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
	mediaSVM    = "text/x-svmlight"
)

// shape is how the rows of a model are read.
type shape struct {
	*fields.Fields
	prep  *model.Prep // as the model came; names may have been added
	wide  bool        // values are float64
	words bool        // features have names

	layout   *format.Layout // of objects
	settings format.Settings
}

// newShape says how the rows of a model are read.
func newShape(m *model.Model) (*shape, error) {
	p := &m.Prep
	s := &shape{Fields: fields.Of(p), prep: p, wide: m.Precision == "f64"}
	if len(p.Interactions) > 0 {
		return nil, refuse(0, "", 0, "", "features of namespaces are multiplied (%q), which rows "+
			"of requests have not", p.Interactions)
	}
	names := s.Names()
	s.words = len(names) > 0 || p.HashBits > 0
	keys := &format.ObjectKeys{Label: []string{"label", "class", "target", "y"}, ID: "id",
		Weight: "weight", Features: "features", Words: s.words, Base: p.IndexBase}
	if p.LabelKey != "" {
		keys.Label = []string{p.LabelKey}
	} else if at := p.LabelCol - 1; at >= 0 && at < len(p.Columns) {
		keys.Label = append(keys.Label, p.Columns[at]) // as the file's rows have it
	}
	if s.words {
		s.ownNames(keys, names)
	}
	s.layout = keys.Layout()
	s.settings = format.Settings{Format: format.NDJSON, Optional: true, Stop: true, KeepBad: 1,
		Labels: mostLabels}
	labels := p.Labels.OrDefault()
	for _, name := range slices.Concat(p.Classes, []string{labels.Negative, labels.Positive}) {
		if name != "" {
			s.settings.Known = append(s.settings.Known, format.MakeLabel(name))
		}
	}
	return s, nil
}

// mostLabels is how many labels of a request are told apart.
const mostLabels = 1 << 12

// ownNames leaves out of the keys what is a feature's name in training.
func (s *shape) ownNames(keys *format.ObjectKeys, names []string) {
	if s.Lead == len(names) {
		keys.Columns = names
	}
	within := func(name, key string) bool {
		rest, ok := strings.CutPrefix(name, key)
		return ok && key != "" && (rest == "" || rest[0] == '.' || rest[0] == '=')
	}
	for _, c := range s.Columns {
		names = append(names[:len(names):len(names)], c.Name)
	}
	for _, name := range names {
		if within(name, keys.Features) || s.HashBits > 0 {
			keys.Features = ""
		}
		if within(name, keys.ID) {
			keys.ID = ""
		}
		if within(name, keys.Weight) {
			keys.Weight = ""
		}
		keys.Label = slices.DeleteFunc(keys.Label, func(key string) bool {
			return within(name, key) && s.prep.LabelKey == ""
		})
	}
	if s.HashBits > 0 {
		keys.Features = "" // names are not known: rows are as in training
	}
}

// decoder is what one request is read with, and then learned or scored.
type decoder struct {
	shape *shape
	x     examples
	rows  rowsOf[float32]
	wide  rowsOf[float64]
	json  bool // the body was one document,
	array bool // an array
	final []int32
	text  []byte // a copy of the body where that has no room behind it

	replays bool // of a log: rows were taken before

	scores, proba []float64
	fresh         []string // names that become features
	task          task
	record        []byte
}

// rowsOf are rows in a precision.
type rowsOf[T engine.Float] struct {
	chunk format.Chunk[T]
	out   format.Rows[T]
}

// read reads the body of a request, which it may change, into d.x, whose parts are good until the
// next call.
func (d *decoder) read(media string, body []byte, mostRows int) *Error {
	kind := media
	if media != mediaJSON && media != mediaNDJSON && media != mediaSVM {
		kind, _, _ = mime.ParseMediaType(media) // "" of none
	}
	s := d.shape
	set, layout := s.settings, s.layout
	d.json, d.array = kind == mediaJSON, false
	switch kind {
	case mediaJSON:
		at, what := 0, ""
		if d.array, at, what = objects(body); what != "" {
			return malformed(0, "byte %d: %s", at, what)
		}
	case mediaNDJSON:
	case mediaSVM:
		if s.words {
			return unfit(0, "Send objects, as "+mediaJSON+".",
				"the features of the model have names, and those of svmlight have numbers")
		}
		var err error
		if layout, err = svmlight(body, s); err != nil {
			return malformed(0, "%v", err)
		}
		set.Format = format.SVMLight
	default:
		return refuse(http.StatusUnsupportedMediaType, "media_type", 0, "Send "+mediaJSON+", "+
			mediaNDJSON+" or "+mediaSVM+" as the Content-Type.", "bodies of type %q are not read",
			media)
	}
	n := len(body)
	if cap(body)-n < format.Stops {
		d.text = append(d.text[:0], body...)
		body = d.text
	}
	body = append(body, "\n\n"[:format.Stops]...)
	d.x.reset(s.wide, s.words)
	var bad *Error
	if s.wide {
		bad = take(d, &d.wide, layout, &set, body, n, mostRows)
		d.x.idx, d.x.f64 = d.wide.out.Idx, d.wide.out.Val
	} else {
		bad = take(d, &d.rows, layout, &set, body, n, mostRows)
		d.x.idx, d.x.f32 = d.rows.out.Idx, d.rows.out.Val
	}
	if bad == nil && (s.Fills || s.Texts()) && (s.words || !s.Texts()) {
		bad = d.fill()
	}
	return bad
}

// filling gives rows what values that are missing stand for.
type filling struct {
	*shape
	x      *examples
	to     examples // the rows as they become
	column []int    // of each name: its column, from 1; 0: none
	absent []bool   // of each name: it says that the column has no value
	kept   []bool   // of those: it is a feature all the same
	row    []int    // of each column: the last row that has it, from 1
}

// fill gives the rows what values that are missing stand for, as reading files does: those of
// columns that a row has not, or for which it has a text that says so.
func (d *decoder) fill() *Error {
	s, x := d.shape, &d.x
	f := filling{shape: s, x: x, to: examples{wide: x.wide, ptr: []int{0}},
		column: make([]int, len(x.names)), absent: make([]bool, len(x.names)),
		kept: make([]bool, len(x.names)), row: make([]int, len(s.Columns))}
	for i, name := range x.names {
		if c, text, ok := s.Find(name); ok {
			f.column[i] = c + 1
			_, word, _ := s.Missing(c)
			f.absent[i] = text != nil && s.Word(c, text) == "" &&
				!(s.Columns[c].Text && word == string(name))
		}
	}
	if f.whole() {
		return nil
	}
	clear(f.row)
	for i := range x.n {
		if bad := f.take(i); bad != nil {
			return bad
		}
	}
	x.idx, x.ptr, x.f32, x.f64 = f.to.idx, f.to.ptr, f.to.f32, f.to.f64
	for i, absent := range f.absent {
		if absent && !f.kept[i] {
			x.names[i] = nil // no row has it any more
		}
	}
	return nil
}

// whole reports whether all rows have a value for each column.
func (f *filling) whole() bool {
	for i := range f.x.n {
		for p := f.x.ptr[i]; p < f.x.ptr[i+1]; p++ {
			if !f.has(i, p) {
				return false
			}
		}
		if slices.ContainsFunc(f.row, func(last int) bool { return last != i+1 }) {
			return false
		}
	}
	return true
}

// has notes the column of the p-th value, which row i has; false where it says that there is none.
func (f *filling) has(i, p int) bool {
	switch j := f.x.idx[p]; {
	case !f.x.words:
		if int(j) < len(f.row) {
			f.row[j] = i + 1
		}
	case f.absent[j]:
		return false
	case f.column[j] > 0:
		f.row[f.column[j]-1] = i + 1
	}
	return true
}

// take adds row i with all that it lacks.
func (f *filling) take(i int) *Error {
	x, lo := f.x, len(f.to.idx)
	for p := x.ptr[i]; p < x.ptr[i+1]; p++ {
		if f.has(i, p) {
			f.add(x.idx[p], x.value(p))
		}
	}
	for c, last := range f.row {
		if last == i+1 {
			continue
		}
		fills, word, ok := f.Missing(c)
		if !ok {
			return f.lacks(i, f.Columns[c].Name)
		}
		if fills && x.words {
			f.add(f.named(f.Columns[c].Name), math.NaN())
		} else if fills {
			f.add(int32(c), math.NaN())
		}
		if word != "" {
			f.add(f.named(word), 1)
		}
	}
	if !x.words {
		f.to.sort(lo, len(f.to.idx))
	}
	f.to.ptr = append(f.to.ptr, len(f.to.idx))
	return nil
}

// named returns the place of a name, which rows keep.
func (f *filling) named(name string) int32 {
	j := f.x.named([]byte(name))
	if int(j) < len(f.kept) {
		f.kept[j] = true
	}
	return j
}

func (f *filling) add(i int32, v float64) {
	if f.to.idx = append(f.to.idx, i); f.to.wide {
		f.to.f64 = append(f.to.f64, v)
	} else {
		f.to.f32 = append(f.to.f32, float32(v))
	}
}

// svmlight is the layout of rows of svmlight.
func svmlight(body []byte, s *shape) (*format.Layout, error) {
	return format.SVMLight.Layout(&format.Head{File: "body", Text: body, Whole: true, Ended: true,
		Most: len(body), Part: "the body"}, &format.Options{Base: s.prep.IndexBase,
		BaseFound: "as in training", BaseTrained: true, Optional: true}, nil)
}

// take parses a body of n bytes, behind which line ends stand.
func take[T engine.Float](d *decoder, r *rowsOf[T], layout *format.Layout, set *format.Settings,
	body []byte, n, mostRows int) *Error {
	c := &r.chunk
	names := r.out.Names
	*c = format.Chunk[T]{File: "body", Text: body, N: n, Layout: layout, Out: &r.out}
	r.out.Names = names
	c.Parse(set)
	out := &r.out
	if out.NBad > 0 {
		bad := c.BadAt(0, set).Err
		return malformed(bad.Line+1, "row %d, column %d: %s in %q", bad.Line+1, bad.Col, bad.What,
			bad.Excerpt)
	}
	if out.N == 0 {
		return malformed(0, "expected rows, found none")
	}
	if out.N > mostRows {
		return refuse(http.StatusRequestEntityTooLarge, "too_many_rows", 0,
			"Send them in several requests.", "%d rows, and at most %d are taken at once", out.N,
			mostRows)
	}
	x := &d.x
	x.n, x.ptr, x.code = out.N, out.Ptr, out.Code
	for _, l := range out.Labels.List {
		x.labels, x.numbers = append(x.labels, l.Text), append(x.numbers, !l.Word)
	}
	for i := range x.n {
		if id, _ := out.RowID(i); len(id) > 0 {
			x.ids = append(append(x.ids, make([]string, i-len(x.ids))...), string(id))
		}
	}
	if len(out.W) > 0 {
		out.WeighRest()
		x.weights = make([]float64, out.N)
		for i, w := range out.W {
			x.weights[i] = float64(w)
		}
	}
	if x.words {
		for i := range out.Names.Len() {
			x.names = append(x.names, out.Names.Name(i))
		}
	}
	return nil
}

// heavy reports whether scratch has grown so much that it is not to be kept.
func (d *decoder) heavy() bool {
	const most = 1 << 18
	return cap(d.text) > 1<<20 || cap(d.x.idx) > most || cap(d.x.names) > most>>2 ||
		d.rows.heavy() || d.wide.heavy() || cap(d.scores) > most
}

func (r *rowsOf[T]) heavy() bool {
	return r.out.Bytes() > 4<<20 || r.out.Names != nil && r.out.Names.Cap() > 1<<14
}

// objects makes lines of a JSON document, in its place: of one object, or of an array of objects.
// Objects themselves are not looked at. What is wrong, and at which byte, is returned, or "".
func objects(b []byte) (array bool, at int, what string) {
	p := blanks(b, 0)
	if array = p < len(b) && b[p] == '['; array {
		b[p] = ' '
		p = blanks(b, p+1)
	}
	if p == len(b) || b[p] != '{' {
		return array, p, "expected an object or an array of objects"
	}
	for {
		if p = object(b, p); p == len(b) && !array {
			return array, 0, "" // what is missing is found where it is parsed
		}
		p = blanks(b, p)
		if !array || p == len(b) || b[p] != ',' {
			break
		}
		b[p] = '\n'
		if p = blanks(b, p+1); p == len(b) || b[p] != '{' {
			return array, p, "expected an object behind the comma"
		}
	}
	if array {
		if p == len(b) || b[p] != ']' {
			return array, p, "expected a comma or ] behind the object"
		}
		b[p] = ' '
		p = blanks(b, p+1)
	}
	if p < len(b) {
		return array, p, "expected nothing behind the document; send rows that are a line each " +
			"as " + mediaNDJSON
	}
	return array, 0, ""
}

// blanks returns the place of the next byte that is no blank, and makes spaces of line ends.
func blanks(b []byte, p int) int {
	for ; p < len(b); p++ {
		switch b[p] {
		case '\n', '\r':
			b[p] = ' '
		case ' ', '\t':
		default:
			return p
		}
	}
	return p
}

// object returns the place behind the object at p, and makes spaces of the line ends in it that are
// in no text.
func object(b []byte, p int) int {
	depth := 0
	for ; p < len(b); p++ {
		switch b[p] {
		case '\n', '\r':
			b[p] = ' '
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return p + 1
			}
		case '"':
			for p++; p < len(b) && b[p] != '"' && b[p] != '\n'; p++ {
				if b[p] == '\\' {
					p++
				}
			}
		}
	}
	return len(b)
}

// dictionary has the features of names. What was published of it is never changed.
type dictionary struct {
	base, more map[string]int32
	shared     bool            // more is
	texts      map[string]bool // keys that have had a text: those of names KEY=TEXT
}

func newDictionary(names []string) *dictionary {
	d := &dictionary{base: make(map[string]int32, len(names))}
	for i, name := range names {
		if name != "" {
			d.base[name] = int32(i)
			d.note(name)
		}
	}
	return d
}

// note takes the key of a name KEY=TEXT. What was published of these stays as it is, too.
func (d *dictionary) note(name string) {
	if key, _, text := strings.Cut(name, "="); text && !d.texts[key] {
		if d.texts = maps.Clone(d.texts); d.texts == nil {
			d.texts = map[string]bool{}
		}
		d.texts[key] = true
	}
}

// numeric reports whether a name KEY=TEXT is of a key that has had numbers, and never a text.
func (d *dictionary) numeric(name []byte) bool {
	key, _, text := bytes.Cut(name, []byte("="))
	if !text || d.texts[string(key)] {
		return false
	}
	_, known := d.find(key)
	return known
}

func (d *dictionary) find(name []byte) (int32, bool) {
	i, ok := d.base[string(name)]
	if !ok && len(d.more) > 0 {
		i, ok = d.more[string(name)]
	}
	return i, ok
}

// add takes a name that is not there.
func (d *dictionary) add(name string, i int32) {
	d.note(name)
	if d.shared || d.more == nil {
		to, all := make(map[string]int32, len(d.more)+1), 4*len(d.more) > len(d.base)+4096
		if all {
			for name, i := range d.base {
				to[name] = i
			}
		}
		for name, i := range d.more {
			to[name] = i
		}
		if d.shared = false; all {
			d.base, to = to, map[string]int32{}
		}
		d.more = to
	}
	d.more[name] = i
}

// publish returns a copy that stays as it is.
func (d *dictionary) publish() *dictionary {
	d.shared = true
	return &dictionary{base: d.base, more: d.more, texts: d.texts}
}

// resolve gives the features of x the numbers that a model of so many features has for them, and
// refuses rows that are none of its; most bounds the features of a row, and their numbers. Names
// that the model has not are numbered behind its features in each row anew; where they are to
// become features, in d.fresh and from next on. unknown says how many values they had.
func (d *decoder) resolve(x *examples, names *dictionary, dim, next, most int, learn bool) (
	unknown int, bad *Error) {
	s := d.shape
	if d.fresh = d.fresh[:0]; x.words {
		if bad = d.number(x, names, next, learn && s.Grows); bad != nil {
			return 0, bad
		}
		unknown = d.renumber(x, dim)
	}
	x.dim = dim
	numbers := s.numbers(dim, most)
	if most = max(most, dim); x.words && !learn {
		numbers = math.MaxInt32 - 1 // names that are not known have numbers in their row alone
	}
	for i := range x.n {
		idx := x.idx[x.ptr[i]:x.ptr[i+1]]
		if bad := s.fits(i, idx, dim, most, numbers); bad != nil {
			return 0, bad
		}
		if n := len(idx); n > 0 {
			x.dim = max(x.dim, int(idx[n-1])+1)
		}
		for k := len(idx) - 1; k >= 0 && int(idx[k]) >= dim && !x.words; k-- {
			unknown++
		}
	}
	return unknown, nil
}

// renumber puts the features that d.final has in the place of names, in order in each row.
func (d *decoder) renumber(x *examples, dim int) (unknown int) {
	lo, to := 0, 0
	for i := range x.n {
		hi, n := x.ptr[i+1], int32(0)
		for p := lo; p < hi; p++ {
			j := d.final[x.idx[p]]
			if j < 0 {
				j = int32(dim) + n
				n++
			}
			x.idx[p] = j
		}
		unknown += int(n)
		left := x.sort(lo, hi)
		if to < lo {
			x.move(to, lo, left)
		}
		to, lo = to+left, hi
		x.ptr[i+1] = to
	}
	return unknown
}

// number finds the feature of each name, in d.final; -1 is none. With grow new ones get numbers.
func (d *decoder) number(x *examples, names *dictionary, next int, grow bool) *Error {
	s := d.shape
	d.final = slices.Grow(d.final[:0], len(x.names))
	for _, name := range x.names {
		j, ok := names.find(name)
		switch {
		case ok:
		case name == nil:
			j = -1
		case !d.replays && s.HashBits == 0 && s.Columns == nil && names.numeric(name):
			key, text, _ := bytes.Cut(name, []byte("="))
			return unfit(0, "Send it as a number.", "the value of %q is the text %q, and it was a "+
				"number in training", key, text)
		case !s.Possible(name):
			return unfit(0, "The model's description names them.",
				"no feature of the model is named %q", name)
		case s.HashBits > 0:
			j = s.Hash(name)
		case grow:
			j = int32(next + len(d.fresh))
			d.fresh = append(d.fresh, string(name))
		default:
			j = -1
		}
		d.final = append(d.final, j)
	}
	return nil
}

// numbers returns how many features a model that has dim may come to have.
func (s *shape) numbers(dim, most int) int {
	if s.HashBits > 0 {
		most = max(most, s.Lead+(1<<s.HashBits))
	}
	return max(dim, most)
}

// fits refuses a row that is none of the model's: of more than most features, or of one whose
// number is not below numbers.
func (s *shape) fits(i int, idx []int32, dim, most, numbers int) *Error {
	if n := len(idx); n > most || n > 0 && int(idx[n-1]) >= numbers && !s.Closed {
		return refuse(http.StatusUnprocessableEntity, "too_many_features", i+1,
			"Raise the server's bound on features, or hash their names in training.",
			"row %d has %d features, the last is number %d, and the model may have %d", i+1,
			n, int(idx[n-1])+s.prep.IndexBase, min(most, numbers))
	}
	if n := len(idx); s.Closed && n > 0 && int(idx[n-1]) >= dim {
		return unfit(i+1, "", "row %d has a feature %d, and the model has %d to %d", i+1,
			int(idx[n-1])+s.prep.IndexBase, s.prep.IndexBase, dim-1+s.prep.IndexBase)
	}
	for k := range s.Lead {
		if k >= len(idx) || int(idx[k]) != k {
			name := s.Names()
			if k < len(name) && name[k] != "" {
				return s.lacks(i, name[k])
			}
			return unfit(i+1, "Give each row a value for each column.",
				"row %d lacks the column of number %d", i+1, k+s.prep.IndexBase)
		}
	}
	return nil
}

func (s *shape) lacks(i int, column string) *Error {
	return unfit(i+1, "Give each row a value for each column.", "row %d lacks the column %q", i+1,
		column)
}
