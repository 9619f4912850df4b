package format

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
)

// NDJSON is text of rows that are JSON objects: a label, and features by names or by numbers.
var NDJSON = &Format{
	Name: "ndjson", Cut: "\n", Kinds: []string{"svmlight", "vw"},
	Options: []Option{
		{"LabelCol", ""}, {"IDCol", ""},
		{"IndexBase", ""}, {"Base", ""}, {"HashBits", ""},
	},
	Sniff: sniffNDJSON, Layout: headNDJSON,
	Parse32: parseNDJSON[float32], Parse64: parseNDJSON[float64],
}

// ndjsonLayout is how rows are laid out.
type ndjsonLayout struct {
	indexed        // where features have numbers
	label   string // the key of the label
	id      string // the key of the id; "": none
	numbers bool
	like    string      // numbers: where they were found
	within  string      // numbers: the key of what has the features; "": the row itself
	kind    jsonKind    // numbers: of that; jsonSparse or jsonDense
	keys    *ObjectKeys // of rows for a model; nil: of files
}

// sniffNDJSON goes by the first line, which begins an object.
func sniffNDJSON(h *Head) int {
	if l := h.Lines(1); len(l) > 0 && bytes.TrimSpace(l[0])[0] == '{' {
		return 0
	}
	return No
}

// headNDJSON finds the label's key, and whether features have numbers: if all rows of the head have
// besides the label nothing but an array of numbers, or an object whose keys are numbers, or keys
// that are numbers. Further files are as the first one.
func headNDJSON(h *Head, o *Options, first *Layout) (*Layout, error) {
	if first != nil {
		return first, nil
	}
	lay := &ndjsonLayout{like: "the begin of the data", id: o.IDCol}
	lines := h.Lines(sniffedRows)
	var rows [][]jsonKey
	for _, l := range lines {
		z := jsonText{cursor{b: append(bytes.Clone(l), '\n', '\n')}}
		if keys, ok := z.keys(0); ok {
			rows = append(rows, keys)
		}
	}
	if len(rows) == 0 { // what is wrong is said where rows are parsed
		rows = [][]jsonKey{{}}
	}
	if err := lay.findLabel(rows, o); err != nil {
		return nil, h.Bad(lines[0], 0, err.Error(), ErrFormat)
	}
	if o.Naming != Words {
		lay.findNumbers(rows)
	}
	if o.Naming == Numbers {
		lay.like = "training"
	}
	if !lay.numbers && o.Naming == Numbers { // rows are judged one by one
		lay.numbers, lay.within, lay.kind = true, "", jsonSparse
	}
	if !lay.numbers {
		l := &Layout{IndexBase: 1, BaseFound: byNames, Words: true, LabelKey: lay.named(o),
			IDKey: lay.id, Own: lay}
		if o.Trained == "" {
			l.Odd = oddKeys(l, lines)
		}
		return l, nil
	}
	l := &Layout{Kind: SVMLight.Name, LabelKey: lay.named(o), IDKey: lay.id, Own: lay}
	if lay.kind == jsonDense {
		lay.indexed = indexed{shift: int64(o.Bias) - 1, least: 1, most: maxIndex - uint64(o.Bias)}
		l.IndexBase, l.BaseFound = 1, byColumns
		return l, nil
	}
	h.base(o, l, &lay.indexed, func() bool { return zeroIn(h, l, o, parseNDJSON[float64]) })
	return l, nil
}

// oddKeys says which keys have texts in the first rows that may be meant otherwise.
func oddKeys(l *Layout, lines [][]byte) []string {
	text := append(bytes.Join(lines, []byte{'\n'}), '\n')
	rows := rowsOfText(text, l, &Settings{Optional: true}, parseNDJSON[float64])
	times := make([]int, rows.Names.Len())
	for _, j := range rows.Idx {
		times[j]++
	}
	numbers, seen := map[string]bool{}, map[string]*inColumn{}
	var keys []string
	var buf []byte
	for i := range times {
		key, value, text := bytes.Cut(rows.Names.Name(i), []byte{'='})
		if !text {
			numbers[string(key)] = true
			continue
		}
		x := seen[string(key)]
		if x == nil {
			x = &inColumn{}
			seen[string(key)] = x
			keys = append(keys, string(key))
		}
		if x.texts += times[i]; isNumber(value, &buf) {
			x.numbers++ // in quotes
			x.example = string(value)
		}
		x.note(value, notation(value) && !isNumber(value, &buf))
	}
	var odd []string
	for _, key := range keys {
		x := seen[key]
		what := x.oddTexts()
		if numbers[key] && x.numbers > 0 {
			what = fmt.Sprintf("has numbers in some rows and numbers in quotes, as %q, in others, "+
				"each of which becomes a feature: write them without quotes", x.example)
		}
		if what != "" {
			odd = append(odd, fmt.Sprintf("column %q %s", key, what))
		}
	}
	return someOdd(odd)
}

// sniffedRows is how many rows of the head are looked at for numbers and names of features.
const sniffedRows = 1000

// byNames is how features are numbered that have names.
const byNames = "names count from 1 as they first come"

// findLabel finds the key of the label by the first row.
func (lay *ndjsonLayout) findLabel(rows [][]jsonKey, o *Options) error {
	wanted := labelNames
	if named := cmp.Or(o.LabelCol, o.LabelKey); named != "" {
		wanted = []string{named}
	}
	first := rows[0]
	if o.IDs { // labels may come later
		first = slices.Concat(rows...)
	}
	for _, fold := range []bool{false, true} {
		for _, name := range wanted {
			for _, k := range first {
				if k.name == name || fold && strings.EqualFold(k.name, name) {
					lay.label = k.name
					return nil
				}
			}
		}
	}
	lay.label = wanted[0]
	if o.Optional || lay.named(o) != "" || len(rows[0]) == 0 { // rows are judged one by one
		return nil
	}
	return fmt.Errorf("no key %s: name the label's by Options.LabelCol", Or(wanted))
}

// named is the label's key where the options name it, or first rows may lack it, or it isn't one of
// the names as they are looked for.
func (lay *ndjsonLayout) named(o *Options) string {
	if o.LabelCol == "" && o.LabelKey == "" && !o.IDs && slices.Contains(labelNames, lay.label) {
		return ""
	}
	return lay.label
}

// findNumbers decides whether features have numbers, and where these stand.
func (lay *ndjsonLayout) findNumbers(rows [][]jsonKey) {
	decided := false
	for _, keys := range rows {
		within, kind, n := "", jsonSparse, 0
		for _, k := range keys {
			if k.name == lay.label || k.name == lay.id && lay.id != "" {
				continue
			}
			n++
			switch {
			case k.kind == jsonSparse || k.kind == jsonDense:
				within, kind = k.name, k.kind
			case k.kind != jsonPlain || !allDigits([]byte(k.name)):
				return
			}
		}
		if n == 0 {
			continue // a row without features is of any kind
		}
		if within != "" && n > 1 || decided && (within != lay.within || kind != lay.kind) {
			lay.numbers = false
			return
		}
		lay.within, lay.kind, lay.numbers, decided = within, kind, true, true
	}
	if !decided { // labels alone
		lay.numbers, lay.kind = true, jsonSparse
	}
}

// ndjsonRow is the row that is parsed.
type ndjsonRow[T engine.Float] struct {
	jsonText
	textRow[T]
	lay   *ndjsonLayout
	found bool     // the label
	buf   []byte   // of a text
	keys  []uint64 // hashes of those of the objects that are open
	own   ownKeys[T]
}

// parseNDJSON reads rows that are objects, a line each. Numbers are the values of features; a text
// is a feature of its own, NAME=TEXT, of value 1; true is 1; false and null are nothing. Names of
// objects in objects are joined by a point, and elements of arrays are numbered from 1.
func parseNDJSON[T engine.Float](c *Chunk[T], s *Settings) {
	r := c.Out
	j := &ndjsonRow[T]{textRow: textRow[T]{Chunk: c, s: s}, lay: c.Layout.Own.(*ndjsonLayout)}
	j.b = c.Text[:c.N+Stops]
	if j.numbers = &j.lay.indexed; !j.lay.numbers {
		j.numbers = nil
		c.names()
	}
	for pos := 0; pos < c.N; r.Lines++ {
		j.start = pos
		p := j.blank(pos)
		if ch := j.b[p]; ch == '\n' || ch == '\r' {
			pos = c.NextLine(p)
			continue
		}
		pos = c.NextLine(pos)
		if !j.parse(p) && !c.Bad(s, j.start, j.at, j.bad) {
			return
		}
	}
}

// parse adds the row at p, or nothing if it is bad.
func (j *ndjsonRow[T]) parse(p int) bool {
	j.found, j.bad, j.keys, j.own = false, "", j.keys[:0], ownKeys[T]{}
	j.begin()
	end := j.whole(p)
	if end >= 0 && !j.found {
		if j.s.Optional {
			j.code = j.NoLabel(j.start, p)
		} else {
			end = j.fail(p, "the row has no label: no key %q", j.lay.label)
		}
	}
	if end >= 0 {
		if j.own.hasWeight {
			j.Out.Weigh(j.own.weight)
		}
		j.at, j.bad = p, j.end(false, j.s.IDs || j.lay.keys != nil && j.lay.id != "")
	}
	if j.bad != "" {
		j.drop()
	}
	return j.bad == ""
}

// whole reads the object at p, which must be all of the line.
func (j *ndjsonRow[T]) whole(p int) int {
	if j.b[p] != '{' {
		return j.fail(p, "expected an object, which begins with {, found %s", j.token(p))
	}
	end := j.object(p, 1)
	if end < 0 {
		return -1
	}
	if end = j.blank(end); j.b[end] != '\n' && j.b[end] != '\r' {
		return j.fail(end, "expected the end of the line behind the object, found %s", j.token(end))
	}
	return end
}

// object reads the object at p.
func (j *ndjsonRow[T]) object(p, depth int) int {
	if depth > jsonDepth {
		return j.fail(p, "deeper than %d objects and arrays in each other", jsonDepth)
	}
	begin := p
	p = j.blank(p + 1)
	name, keys := len(j.name), len(j.keys)
	for first := true; j.b[p] != '}'; first = false {
		if !first {
			if j.b[p] != ',' {
				return j.fail(p, "expected a comma or }, found %s", j.token(p))
			}
			p = j.blank(p + 1)
		}
		if j.b[p] != '"' {
			whole := ""
			if j.b[p] == '\n' {
				whole = ": an object is one line, as jq -c . writes it"
			}
			return j.fail(p, "expected a key in quotes, found %s%s", j.token(p), whole)
		}
		at := p
		if name > 0 {
			j.name = append(j.name, '.')
		}
		key := len(j.name)
		if j.name, p = j.text(j.name, p); p < 0 {
			return -1
		}
		if p = j.blank(p); j.b[p] != ':' {
			return j.fail(p, "expected a colon behind the key, found %s", j.token(p))
		}
		p = j.blank(p + 1)
		if !j.lay.numbers {
			j.keys = append(j.keys, maphash.Bytes(nameSeed, j.name[key:]))
		}
		switch {
		case j.lay.isLabel(j.name, key, depth):
			p = j.label(at, p)
		case depth == 1 && j.lay.keys.has(j.name[key:]):
			p = j.besides(at, p, string(j.name[key:]))
		case depth == 1 && j.lay.id != "" && string(j.name[key:]) == j.lay.id:
			p = j.rowID(at, p)
		case j.lay.numbers:
			p = j.numbered(at, p, j.name[key:], depth)
		default:
			p = j.value(at, p, depth)
		}
		if p < 0 {
			return -1
		}
		j.name = j.name[:name]
		p = j.blank(p)
	}
	if twice(j.keys[keys:]) {
		return j.fail(begin, "a key comes twice in the object")
	}
	j.keys = j.keys[:keys]
	return p + 1
}

// twice reports whether a hash of a key is there twice: hashes of 64 bits of other keys are others.
func twice(keys []uint64) bool {
	const many = 32
	if len(keys) > many {
		slices.Sort(keys)
		return len(slices.Compact(keys)) < len(keys)
	}
	for i, k := range keys {
		if slices.Contains(keys[:i], k) {
			return true
		}
	}
	return false
}

// numbered reads the value at p of the key at byte at, where features have numbers.
func (j *ndjsonRow[T]) numbered(at, p int, key []byte, depth int) int {
	if depth == 1 && j.lay.within != "" {
		if string(key) != j.lay.within {
			return j.fail(at, "expected the keys %q and %q alone, as in the first row, found %s",
				j.lay.label, j.lay.within, j.token(at))
		}
		open, what := byte('{'), "an object"
		if j.lay.kind == jsonDense {
			open, what = '[', "an array"
		}
		if j.b[p] != open {
			return j.fail(p, "expected %s of features, as in the first row, found %s", what,
				j.token(p))
		}
		j.name = j.name[:0]
		if j.lay.kind == jsonDense {
			return j.dense(p)
		}
		return j.object(p, depth+1)
	}
	if !allDigits(key) {
		return j.fail(at, "expected the number of a feature, as %s has numbers alone, found %s",
			j.lay.like, j.token(at))
	}
	x, bad := j.numbers.number(key)
	if bad != "" {
		return j.fail(at, "%s", bad)
	}
	return j.number(p, x)
}

// dense reads the array of numbers at p, whose zeros are left out.
func (j *ndjsonRow[T]) dense(p int) int {
	p = j.blank(p + 1)
	for x := j.lay.least; j.b[p] != ']'; x++ {
		if x > j.lay.least {
			if j.b[p] != ',' {
				return j.fail(p, "expected a comma or ], found %s", j.token(p))
			}
			p = j.blank(p + 1)
		}
		n := len(j.Out.Idx)
		if p = j.number(p, x); p < 0 {
			return -1
		}
		if j.Out.Val[n] == 0 {
			j.Out.Idx, j.Out.Val = j.Out.Idx[:n], j.Out.Val[:n]
		}
		p = j.blank(p)
	}
	return p + 1
}

// number reads the value at p of feature x.
func (j *ndjsonRow[T]) number(p int, x uint64) int {
	v, end, nothing := j.plain(p)
	switch {
	case nothing:
		return j.fail(p, "expected a number, found %s", j.token(p))
	case end >= 0:
		j.addNumber(x, v)
	}
	return end
}

// plain reads the number, or true, false or null, at p; nothing is true for the latter two.
func (j *ndjsonRow[T]) plain(p int) (v T, end int, nothing bool) {
	if d := j.b[p] - '0'; d <= 9 { // a digit alone
		if ch := j.b[p+1]; ch == ',' || ch == '}' || ch == ']' {
			return T(d), p + 1, false
		}
	}
	v, end, st := parseNumber[T](j.b, p)
	switch {
	case st == numRange && j.plainNumber(p, end):
		return 0, j.fail(p, "%s", tooLarge[T](j.Token(p, j.b[end]))), false
	case st == numOK && j.plainNumber(p, end):
		return v, end, false
	}
	if end = j.word(p); end >= 0 {
		if j.b[p] == 't' {
			return 1, end, false
		}
		return 0, end, true
	}
	return 0, j.fail(p, "expected a number, found %s", j.token(p)), false
}

// value reads the value at p of the feature j.name, whose key is at byte at.
func (j *ndjsonRow[T]) value(at, p, depth int) int {
	switch j.b[p] {
	case '{':
		return j.object(p, depth+1)
	case '[':
		return j.array(at, p, depth+1)
	case '"':
		return j.oneOf(at, p, false)
	}
	v, end, nothing := j.plain(p)
	if end < 0 || nothing {
		return end
	}
	once, bad := j.add(at, v, nil)
	switch {
	case bad != "":
		return j.fail(at, "%s", bad)
	case !once:
		return j.fail(at, "the feature %q comes twice in the row", j.name)
	}
	return end
}

// oneOf reads the text at p: a feature of its own, which may come again among several.
func (j *ndjsonRow[T]) oneOf(at, p int, several bool) int {
	name := len(j.name)
	j.name = append(j.name, '=')
	if j.name, p = j.text(j.name, p); p < 0 {
		return -1
	}
	once, bad := j.add(at, 1, nil)
	switch {
	case bad != "":
		return j.fail(at, "%s", bad)
	case !once && !several:
		return j.fail(at, "the feature %q comes twice in the row", j.name)
	}
	j.name = j.name[:name]
	return p
}

// array reads the array at p: texts are features of their own, as often as they come, and other
// elements are numbered.
func (j *ndjsonRow[T]) array(at, p, depth int) int {
	if depth > jsonDepth {
		return j.fail(p, "deeper than %d objects and arrays in each other", jsonDepth)
	}
	name := len(j.name)
	p = j.blank(p + 1)
	for i := 1; j.b[p] != ']'; i++ {
		if i > 1 {
			if j.b[p] != ',' {
				return j.fail(p, "expected a comma or ], found %s", j.token(p))
			}
			p = j.blank(p + 1)
		}
		if j.b[p] == '"' {
			p = j.oneOf(at, p, true)
		} else {
			j.name = strconv.AppendInt(append(j.name, '.'), int64(i), 10)
			p = j.value(at, p, depth)
			if p >= 0 {
				j.name = j.name[:name]
			}
		}
		if p < 0 {
			return -1
		}
		p = j.blank(p)
	}
	return p + 1
}

// label reads the label at p, whose key is at byte at.
func (j *ndjsonRow[T]) label(at, p int) int {
	if j.found {
		return j.fail(at, "the label %q comes twice in the row", j.lay.label)
	}
	j.found = true
	end, word := p, j.b[p] == '"'
	text, bad := j.buf[:0], ""
	if word {
		if text, end = j.text(text, p); end < 0 {
			return -1
		}
		j.buf = text
	} else if end = j.word(p); end >= 0 {
		if j.b[p] != 'n' {
			text = append(text, j.b[p:end]...)
		}
	} else {
		_, number, st := parseNumber[float64](j.b, p)
		switch {
		case st == numSyntax || !j.plainNumber(p, number):
			return j.fail(p, "expected a label (a number, a text, true or false), found %s",
				j.token(p))
		case st == numRange:
			return j.fail(p, "label %s is too large", j.Token(p, j.b[number]))
		}
		text, end = j.b[p:number], number
	}
	if j.code, bad = j.Chunk.label(j.s, text, word, j.start, p); bad != "" {
		return j.fail(p, "%s", bad)
	}
	return end
}

// rowID reads the id at p, whose key is at byte at: a text, or a number as it stands there.
func (j *ndjsonRow[T]) rowID(at, p int) int {
	if len(j.id) > 0 {
		return j.fail(at, "the id %q comes twice in the row", j.lay.id)
	}
	if j.b[p] == '"' {
		id, end := j.text(j.id, p)
		if end >= 0 {
			j.id = id
		}
		return end
	}
	if end := j.word(p); end >= 0 {
		if j.b[p] != 'n' {
			j.id = append(j.id, j.b[p:end]...)
		}
		return end
	}
	_, end, st := parseNumber[float64](j.b, p)
	if st == numSyntax || !j.plainNumber(p, end) {
		return j.fail(p, "expected an id (a text or a number), found %s", j.token(p))
	}
	j.id = append(j.id, j.b[p:end]...)
	return end
}

// base decides the number of the first feature, as far as the head shows it; zero looks whether a
// row of the head has an index 0.
func (h *Head) base(o *Options, l *Layout, x *indexed, zero func() bool) {
	x.most = maxIndex - uint64(o.Bias)
	x.zeroHint = "index 0, but indices count from 1 here: set Options.IndexBase to 0 if they " +
		"count from 0"
	if o.BaseTrained {
		x.zeroHint = "index 0, but indices counted from 1 in training: set Options.IndexBase to " +
			"0 if they count from 0 here"
	}
	base, found := o.Base, o.BaseFound
	if base < 0 && o.Whole { // base 1, until an index 0 turns up
		x.shift, x.least = int64(o.Bias)-1, 0
		l.IndexBase, l.BaseFound, l.BaseOpen = 1, "no index 0 in the data", true
		return
	}
	if base < 0 {
		base, found = 1, "no index 0 in "+h.Part
		x.shift, x.least = -1, 0
		x.zeroHint = "index 0, though " + h.Part + " has none: set Options.IndexBase to 0"
		if zero() {
			base, found = 0, "index 0 occurs in "+h.Part
		}
	}
	x.shift, x.least = int64(o.Bias-base), uint64(base)
	l.IndexBase, l.BaseFound = base, found
}

// zeroIn reports whether a good row of a format, within the bytes that a stream may decide by, has
// an index 0. The layout must be that of features with numbers.
func zeroIn[T engine.Float](h *Head, l *Layout, o *Options,
	parse func(*Chunk[T], *Settings)) bool {
	head := h.Text[:min(len(h.Text), h.Most)]
	n := bytes.LastIndexByte(head, '\n') + 1
	if n == 0 || h.Whole {
		n = len(head)
	}
	return rowsOfText(head[:n], l, &Settings{Optional: o.Optional}, parse).Zero
}

// rowsOfText returns the rows of a text that is no stream's.
func rowsOfText[T engine.Float](text []byte, l *Layout, s *Settings,
	parse func(*Chunk[T], *Settings)) *Rows[T] {
	c := Chunk[T]{N: len(text), Out: &Rows[T]{}, Layout: l}
	c.Text = append(bytes.Clone(text), make([]byte, Stops)...)
	EndText(c.Text[c.N:])
	c.Out.Reset(false)
	parse(&c, s)
	return c.Out
}

// beginRow begins a sparse row, with the bias.
func (r *Rows[T]) beginRow(s *Settings) {
	if s.Bias != 0 {
		r.Idx, r.Val = append(r.Idx, 0), append(r.Val, T(s.One))
	}
}

// endRow ends the sparse row that begins at lo: where features have numbers they are sorted, and
// those that come twice are added up, or bad if that is not meant. It returns what is bad.
func (r *Rows[T]) endRow(s *Settings, lo int, code int32, numbers *indexed,
	adds bool) (bad string) {
	if numbers != nil {
		at := lo + s.Bias
		idx, val := r.Idx[at:], r.Val[at:]
		n := len(idx)
		if !ascending(idx) {
			n = sortPairs(idx, val)
		}
		if n < len(idx) && !adds {
			return "a feature comes twice in the row"
		}
		r.Idx, r.Val = r.Idx[:at+n], r.Val[:at+n]
		if n > 0 && int64(idx[0]) == numbers.shift {
			r.Zero = true
		}
	}
	for _, v := range r.Val[lo:] {
		if v-v != 0 {
			return "the values of a feature that comes several times are too large together"
		}
	}
	r.Finish(r.Val[lo:], Squares(r.Val[lo:]), s)
	r.Ptr, r.Code = append(r.Ptr, len(r.Idx)), append(r.Code, code)
	return ""
}

// ascending reports whether each index is above the one before.
func ascending(idx []int32) bool {
	for i := 1; i < len(idx); i++ {
		if idx[i] <= idx[i-1] {
			return false
		}
	}
	return true
}
