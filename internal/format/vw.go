package format

import (
	"bytes"
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
)

// VW is text of Vowpal Wabbit: `[label] [importance] [base] ['tag]|namespace[:weight] f[:v] f ...`.
var VW = &Format{
	Name: "vw", Cut: "\n", Kinds: []string{"svmlight", "ndjson"},
	Options: []Option{
		{"IDCol", ""}, {"IndexBase", ""}, {"Base", ""}, {"HashBits", ""},
		{"Interactions", "vw: multiply features of namespaces, by `PAIRS` of first letters, as " +
			"ab,aa"},
	},
	Sniff: sniffVW, Layout: headVW,
	Parse32: parseVW[float32], Parse64: parseVW[float64],
}

// vwID is what Options.IDCol calls the tags.
const vwID = "tag"

// mostProducts bounds the features that interactions make of one row.
const mostProducts = 1 << 20

// vwLayout is how features are called.
type vwLayout struct {
	indexed
	numbers bool
	like    string // numbers: where they were found
}

// sniffVW goes by the first bar of the first line, before any comma: it begins the line, or stands
// behind a blank, or behind a tag, which no blank sets apart from it.
func sniffVW(h *Head) int {
	lines := h.Lines(1)
	if len(lines) == 0 || lines[0][0] == '>' {
		return No
	}
	t, _, _ := bytes.Cut(lines[0], []byte{'#'})
	t, _, _ = bytes.Cut(t, []byte{','})
	bar := bytes.IndexByte(t, '|')
	if bar == 0 || bar > 0 && t[bar-1] <= ' ' || bar > 0 && tagged(t[:bar], lines[0][bar+1:]) {
		return 0
	}
	return No
}

// tagged reports whether a bar stands behind `[LABEL [IMPORTANCE [BASE]]] TAG`, and not between
// columns.
func tagged(before, behind []byte) bool {
	words := bytes.Fields(before)
	if len(words) == 1 {
		return words[0][0] == '\'' || bytes.IndexByte(behind, '|') < 0 &&
			bytes.ContainsAny(behind, " :") && !bytes.ContainsAny(behind, ",;")
	}
	for _, w := range words[1 : len(words)-1] {
		if !MakeLabel(string(w)).Numeric {
			return false
		}
	}
	return len(words) <= 4 && (bytes.ContainsAny(behind, " :") || !bytes.ContainsAny(behind, ",;"))
}

// headVW finds whether features have numbers: if all of the head are numbers in the namespace
// without a name. Further files are as the first one.
func headVW(h *Head, o *Options, first *Layout) (*Layout, error) {
	if first != nil {
		return first, nil
	}
	if o.IDs && o.IDCol != vwID {
		return nil, fmt.Errorf("%s: expected tag for Options.IDCol, as the ids of vw are its "+
			"tags, found %q: %w", h.File, o.IDCol, ErrOption)
	}
	lay := &vwLayout{numbers: o.Naming != Words, like: "the begin of the data"}
	if o.Naming == Numbers {
		lay.like = "training"
	} else if lay.numbers {
		for _, line := range h.Lines(sniffedRows) {
			lay.numbers = lay.numbers && numbersOnly(line)
		}
	}
	if !lay.numbers {
		return &Layout{IndexBase: 1, BaseFound: byNames, Words: true, Own: lay}, nil
	}
	l := &Layout{Kind: SVMLight.Name, Own: lay}
	h.base(o, l, &lay.indexed, func() bool { return zeroIn(h, l, o, parseVW[float64]) })
	return l, nil
}

// numbersOnly reports whether the features of a line are numbers without a namespace.
func numbersOnly(line []byte) bool {
	bar := bytes.IndexByte(line, '|')
	if bar < 0 {
		return true
	}
	for _, part := range bytes.Split(line[bar+1:], []byte{'|'}) {
		if len(part) > 0 && part[0] > ' ' {
			return false
		}
		for _, f := range bytes.Fields(part) {
			if name, _, _ := bytes.Cut(f, []byte{':'}); !allDigits(name) {
				return false
			}
		}
	}
	return true
}

// vwRow is the row that is parsed.
type vwRow[T engine.Float] struct {
	cursor
	textRow[T]
	lay   *vwLayout
	label bool
	w     T      // importance
	texts []byte // names of the features in met
	met   []vwFeature[T]
}

// vwFeature is a feature that may be multiplied by others.
type vwFeature[T engine.Float] struct {
	letter  byte // of its namespace
	at, end int  // of its name in texts
	hash    uint32
	v       T
}

// parseVW reads rows of namespaces. A feature in namespace s is called s^f; of those that come
// twice in a row the values are added up, as VW has it.
func parseVW[T engine.Float](c *Chunk[T], s *Settings) {
	r := c.Out
	j := &vwRow[T]{cursor: cursor{b: c.Text[:c.N+Stops]}, textRow: textRow[T]{Chunk: c, s: s},
		lay: c.Layout.Own.(*vwLayout)}
	if j.numbers = &j.lay.indexed; !j.lay.numbers {
		j.numbers = nil
		c.names()
	}
	for pos := 0; pos < c.N; r.Lines++ {
		p := j.blank(pos)
		j.start, pos = pos, c.NextLine(p)
		if ch := j.b[p]; ch == '\n' || ch == '\r' || ch == '#' {
			continue
		}
		if !j.parse(p) && !c.Bad(s, j.start, j.at, j.bad) {
			return
		}
	}
	r.WeighRest()
}

// blank returns the place of the next byte that is no blank.
func (j *vwRow[T]) blank(p int) int {
	for j.b[p] == ' ' || j.b[p] == '\t' {
		p++
	}
	return p
}

// word returns the end of the word at p: a blank, a bar, a line end, or a colon if it ends words.
func (j *vwRow[T]) word(p int, colon bool) int {
	for j.b[p] > ' ' && j.b[p] != '|' && (j.b[p] != ':' || !colon) {
		p++
	}
	return p
}

// parse adds the row at p, or nothing if it is bad.
func (j *vwRow[T]) parse(p int) bool {
	j.label, j.w, j.bad, j.met, j.texts = false, 1, "", j.met[:0], j.texts[:0]
	j.begin()
	at := p
	if p = j.before(p); p >= 0 {
		p = j.namespaces(p)
	}
	if p >= 0 {
		p = j.products()
	}
	if p >= 0 {
		j.Out.Weigh(j.w)
		j.at, j.bad = at, j.end(true, j.s.IDs)
	}
	if j.bad != "" {
		j.drop()
	}
	return j.bad == ""
}

// before reads what stands before the first bar, at p, and returns its place.
func (j *vwRow[T]) before(p int) int {
	at := p
	for words := 0; j.b[p] != '|'; p = j.blank(p) {
		end := j.word(p, false)
		switch {
		case end == p:
			return j.fail(p, "expected | and features")
		case j.b[p] == '\'' || j.b[end] == '|': // a tag
			j.id = append(j.id[:0], bytes.TrimPrefix(j.b[p:end], []byte("'"))...)
		case words == 0:
			words = 1
			if !j.readLabel(p, end) {
				return -1
			}
		case words < 3:
			words++
			v, stop, st := parseNumber[float64](j.b, p)
			if st != numOK || stop != end {
				return j.fail(p, "expected a number, the importance, found %q", j.Token(p, '|'))
			}
			if words == 3 {
				if v != 0 {
					return j.fail(p, "expected no prediction to begin with but 0, found %q",
						j.Token(p, '|'))
				}
			} else if j.w, j.bad = WeightOf[T](v); j.bad != "" {
				j.at = p
				return -1
			}
		default:
			return j.fail(p, "expected | and features, found %q", j.Token(p, '|'))
		}
		p = end
	}
	if !j.label {
		if !j.s.Optional {
			return j.fail(at, "the label is missing (a word right before | is a tag)")
		}
		j.code = j.NoLabel(j.start, at)
	}
	return p
}

// readLabel reads the label b[p:end].
func (j *vwRow[T]) readLabel(p, end int) bool {
	j.label = true
	text := j.b[p:end]
	if code, ok := j.Out.Labels.Find(text, false); ok {
		j.code = code
		return true
	}
	if _, stop, st := parseNumber[float64](j.b, p); (st != numOK || stop != end) &&
		!plainWord(text) && !j.Out.missing(text, false) {
		j.fail(p, "expected a label (a number or a word), found %q", j.Token(p, '|'))
		return false
	}
	if j.code, j.bad = j.Label(j.s, text, j.start, p); j.bad != "" {
		j.at = p
		return false
	}
	return true
}

// value reads the number behind the colon at p.
func (j *vwRow[T]) value(p int) (v float64, end int) {
	v, end, st := parseNumber[float64](j.b, p+1)
	if ch := j.b[end]; st == numOK && (ch <= ' ' || ch == '|') {
		return v, end
	}
	return 0, j.fail(p+1, "expected a finite number behind the colon, found %q", j.Token(p+1, '|'))
}

// namespaces reads the namespaces from the bar at p on.
func (j *vwRow[T]) namespaces(p int) int {
	for j.b[p] == '|' {
		p++
		end := j.word(p, true)
		space, scale := j.b[p:end], 1.0
		if j.b[end] == ':' {
			if scale, end = j.value(end); end < 0 {
				return -1
			}
		}
		if len(space) > 0 && j.lay.numbers {
			return j.fail(p, "expected features without a namespace, as %s has numbers alone, "+
				"found %q", j.lay.like, space)
		}
		j.name = append(j.name[:0], space...)
		if len(space) > 0 {
			j.name = append(j.name, '^')
		}
		if p = j.features(end, space, scale); p < 0 {
			return -1
		}
	}
	return p
}

// features reads the features of a namespace from p on.
func (j *vwRow[T]) features(p int, space []byte, scale float64) int {
	prefix := len(j.name)
	for {
		if p = j.blank(p); j.b[p] == '|' || j.b[p] == '\n' || j.b[p] == '\r' && j.b[p+1] == '\n' {
			return p
		}
		end := j.word(p, true)
		name, v, next := j.b[p:end], scale, end
		if len(name) == 0 {
			return j.fail(p, "expected the name of a feature, found %q", j.Token(p, '|'))
		}
		if j.b[end] == ':' {
			if v, next = j.value(end); next < 0 {
				return -1
			}
			v *= scale
		}
		x := T(v)
		if x-x != 0 {
			return j.fail(p, "%s", tooLarge[T](j.Token(p, '|')))
		}
		if j.lay.numbers {
			if !j.number(p, name, x) {
				return -1
			}
		} else {
			j.name = append(j.name[:prefix], name...)
			if !j.named(p, space, name, x) {
				return -1
			}
		}
		p = next
	}
}

// number adds the feature whose number is the name at p.
func (j *vwRow[T]) number(p int, name []byte, v T) bool {
	if !allDigits(name) {
		j.fail(p, "expected the number of a feature, as %s has numbers alone, found %q",
			j.lay.like, j.Token(p, '|'))
		return false
	}
	x, bad := j.numbers.number(name)
	if bad != "" {
		j.fail(p, "%s", bad)
		return false
	}
	j.addNumber(x, v)
	return true
}

// named adds the feature j.name, of that name in its namespace.
func (j *vwRow[T]) named(p int, space, name []byte, v T) bool {
	if len(j.s.Pairs) > 0 && len(space) > 0 {
		f := vwFeature[T]{letter: space[0], at: len(j.texts), v: v}
		if j.s.HashBits > 0 {
			f.hash = HashName(space, name)
		}
		j.texts = append(j.texts, j.name...)
		f.end = len(j.texts)
		j.met = append(j.met, f)
	}
	_, j.bad = j.add(p, v, func() uint32 { return HashName(space, name) })
	j.at = p
	return j.bad == ""
}

// products adds the products of features whose namespaces interact, called s^f*t^g. Of a namespace
// with itself each pair is taken once.
func (j *vwRow[T]) products() int {
	made := 0
	for _, pair := range j.s.Pairs {
		for i, f := range j.met {
			if f.letter != pair[0] {
				continue
			}
			from := 0
			if pair[0] == pair[1] {
				from = i
			}
			for _, g := range j.met[from:] {
				if g.letter != pair[1] {
					continue
				}
				if made++; made > mostProducts {
					return j.fail(j.start, "the interactions make more than %d features of the row",
						mostProducts)
				}
				v := f.v * g.v
				if v-v != 0 {
					return j.fail(j.start, "a product of features is too large")
				}
				j.name = append(j.name[:0], j.texts[f.at:f.end]...)
				j.name = append(append(j.name, '*'), j.texts[g.at:g.end]...)
				// VW's, of the hashes that it has for the two
				hash := func() uint32 { return f.hash*16777619 ^ g.hash }
				if _, j.bad = j.add(j.start, v, hash); j.bad != "" {
					j.at = j.start
					return -1
				}
			}
		}
	}
	return 0
}
