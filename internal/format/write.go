package format

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
)

// ErrNoPlace: a format that is written has no place for something that the examples have.
var ErrNoPlace = errors.New("the format has no place for it")

// About describes the features of examples for a [Writer]; the fields are those of [Layout].
type About struct {
	Kind      string
	IndexBase int
	LabelCol  int
	Header    []string
	Kinds     string
	Lead      int
	Words     bool
	// TextLabel reports whether a label is a text where it comes from, as ndjson keeps it; nil: no.
	TextLabel func(label string) bool
}

// Writer writes examples as a file of some format, which reads back as the same examples. What a
// format has no place for is an ErrNoPlace, or, where the examples serve without it, in Lost.
// Not safe for concurrent use.
type Writer struct {
	of    writerOf
	e     written
	calls int
}

// written is what writers of all formats know.
type written struct {
	about   About
	out     *bufio.Writer
	labels  io.Writer // npy
	texts   []string  // of the classes
	held    int       // of these that were looked at, which are in
	index   LabelIndex
	names   []string // of the features that have some
	columns []string // those of About that are features
	lost    []string
	to      string
	line    []byte // memory that calls use again

	word int8     // svmlight: whether labels are words (1) or numbers (-1); 0: not yet known
	keys [][]byte // ndjson: those of the features, quoted
}

// writerOf is a format that is written.
type writerOf struct {
	format *Format
	whole  bool // all examples at once
	begin  func(e *written) error
	write  func(e *written, b *engine.Block[float64]) error
}

// writers lists them, in the order of the table.
func writers() []writerOf {
	return []writerOf{
		{SVMLight, false, (*written).beginSVMLight, (*written).svmlight},
		{CSV, true, nil, (*written).csv},
		{NDJSON, false, (*written).beginNDJSON, (*written).ndjson},
		{VW, false, nil, (*written).vw},
		{NPY, true, (*written).beginNPY, (*written).npy},
		{NPZ, true, (*written).beginNPZ, (*written).npz},
	}
}

// Written lists the names of the formats that a Writer writes.
func Written() (names []string) {
	for _, w := range writers() {
		names = append(names, w.format.Name)
	}
	return names
}

// WrittenWhole reports whether a Writer of that format takes all examples in one call of Write.
func WrittenWhole(name string) bool {
	for _, w := range writers() {
		if w.format.Name == name {
			return w.whole
		}
	}
	return false
}

// NewWriter returns a Writer of the format of that name (see [Written]) to w. labels is where those
// of npy go, an array of their own; other formats have them in the file. about says what the
// features are: Kind and, where they are columns, their names. Errors wrap ErrOption.
func NewWriter(w, labels io.Writer, to string, about About) (*Writer, error) {
	if about.Kind == "" {
		about.Kind = SVMLight.Name
	}
	if Lookup(about.Kind) == nil {
		return nil, fmt.Errorf("kind %q: expected %s: %w", about.Kind, Or(Names(nil)), ErrOption)
	}
	for _, f := range writers() {
		if f.format.Name != to {
			continue
		}
		out := &Writer{of: f, e: written{about: about, labels: labels, to: to,
			columns: about.columns(), out: bufio.NewWriterSize(w, 1<<16)}}
		if f.begin == nil {
			return out, nil
		}
		return out, f.begin(&out.e)
	}
	return nil, fmt.Errorf("format %q: expected %s: %w", to, Or(Written()), ErrOption)
}

// Write adds the examples of b, without a bias. Their labels are texts of classes, by b.Class, or
// where b has none classes[0] of -1 and classes[1] of +1. names are those of the features, behind
// About.Lead, where features have names that are no columns'. Both may grow from call to call, and
// keep what they had. csv, npy and npz take all examples in one call.
func (w *Writer) Write(b *engine.Block[float64], classes, names []string) error {
	if w.calls++; w.of.whole && w.calls > 1 {
		return fmt.Errorf("%s: all examples in one call of Write: %w", w.e.to, ErrOption)
	}
	most := int32(-1)
	for _, c := range b.Class {
		most = max(most, c)
	}
	if int(most) >= len(classes) || b.Class == nil && len(classes) != 2 {
		return fmt.Errorf("%d classes, and examples of others: %w", len(classes), ErrOption)
	}
	if err := w.e.holds(classes); err != nil {
		return err
	}
	w.e.texts, w.e.names = classes, names
	return w.of.write(&w.e, b)
}

// holds refuses labels that the format would not give back as the same classes.
func (e *written) holds(classes []string) error {
	if e.to == NDJSON.Name {
		return nil // it has texts
	}
	for ; e.held < len(classes); e.held++ {
		l := MakeLabel(classes[e.held])
		if i := e.index.Find(l); i >= 0 && e.to != NPY.Name && e.to != NPZ.Name {
			return e.noPlace(fmt.Sprintf("the labels %q and %q, which are not the same",
				e.index.List[i].Text, l.Text), "ndjson")
		}
		if l.Text != "" && IsMissingLabel(l.Text) {
			return e.noPlace(fmt.Sprintf("the label %q, which stands for none", l.Text),
				"ndjson")
		}
		e.index.Add(l)
	}
	return nil
}

// Close writes what is left. It doesn't close what is written to.
func (w *Writer) Close() error { return w.e.out.Flush() }

// Lost says in words what of the examples is not in the file.
func (w *Writer) Lost() []string { return w.e.lost }

// lose notes what is lost, once.
func (e *written) lose(what string) {
	if !slices.Contains(e.lost, what) {
		e.lost = append(e.lost, what)
	}
}

// noPlace is the error of what the format can't have.
func (e *written) noPlace(what, others string) error {
	return fmt.Errorf("%s has no place for %s: write %s: %w", e.to, what, others, ErrNoPlace)
}

// text returns the label of example i.
func (e *written) text(b *engine.Block[float64], i int) string {
	switch {
	case b.Class != nil:
		return e.texts[b.Class[i]]
	case b.Y[i] > 0:
		return e.texts[1]
	}
	return e.texts[0]
}

// weight returns the weight of example i.
func weight(b *engine.Block[float64], i int) float64 {
	if len(b.W) == 0 {
		return 1
	}
	return b.W[i]
}

// number appends a value by its shortest exact decimal.
func number(b []byte, v float64) []byte {
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// columns returns the names of the columns that are features, nil if they have none.
func (a *About) columns() []string {
	if len(a.Header) == 0 {
		return nil
	}
	names := slices.Clone(a.Header)
	if a.LabelCol > 0 {
		names = slices.Delete(names, a.LabelCol-1, a.LabelCol)
	}
	if a.Words { // those of numbers stand first
		k := 0
		for i, name := range names {
			if i < len(a.Kinds) && a.Kinds[i] == 'n' {
				names[k] = name
				k++
			}
		}
		names = names[:k]
	}
	return names
}

// name returns the name of a feature, "" if it has none.
func (e *written) name(j int) string {
	switch {
	case !e.about.Words || j < e.about.Lead:
		if j < len(e.columns) {
			return e.columns[j]
		}
	case j-e.about.Lead < len(e.names):
		return e.names[j-e.about.Lead]
	}
	return ""
}

// named reports whether features have names.
func (e *written) named() bool { return e.about.Words || len(e.about.Header) > 0 }

// eachValue calls do with the features of example i that are stored, zeros of dense ones left out.
func eachValue(b *engine.Block[float64], i int, do func(j int, v float64) error) error {
	idx, val := b.Example(i)
	for k, v := range val {
		j := k
		if idx != nil {
			j = int(idx[k])
		} else if v == 0 {
			continue
		}
		if err := do(j, v); err != nil {
			return err
		}
	}
	return nil
}

func (e *written) beginSVMLight() error {
	if e.named() {
		e.lose("the names of features: they are numbered")
	}
	return nil
}

func (e *written) svmlight(b *engine.Block[float64]) error {
	for i := range b.Len() {
		if weight(b, i) != 1 {
			return e.noPlace("weights", "vw, csv or npz")
		}
		label := e.text(b, i)
		kind := int8(-1)
		if !MakeLabel(label).Numeric {
			if kind = 1; !plainWord([]byte(label)) || strings.ContainsAny(label, " \t") {
				return e.noPlace(fmt.Sprintf("the label %q", label), "csv or ndjson")
			}
		}
		if e.word == 0 {
			e.word = kind
		}
		if kind != e.word {
			return e.noPlace(fmt.Sprintf("labels that are numbers and words, such as %q", label),
				"csv or ndjson")
		}
		e.line = append(e.line[:0], label...)
		eachValue(b, i, func(j int, v float64) error {
			e.line = append(e.line, ' ')
			e.line = strconv.AppendInt(e.line, int64(j+e.about.base()), 10)
			e.line = append(e.line, ':')
			e.line = number(e.line, v)
			return nil
		})
		if _, err := e.out.Write(append(e.line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// base is the number of the first feature in text.
func (a *About) base() int {
	if a.Words || !Lookup(a.Kind).Indexed {
		return 1
	}
	return a.IndexBase
}

func (e *written) vw(b *engine.Block[float64]) error {
	for i := range b.Len() {
		label := e.text(b, i)
		if !vwLabel(label) {
			return e.noPlace(fmt.Sprintf("the label %q", label), "csv or ndjson")
		}
		e.line = append(e.line[:0], label...)
		if v := weight(b, i); v != 1 {
			e.line = number(append(e.line, ' '), v)
		}
		space := "" // the namespace that the line stands in
		e.line = append(e.line, " |"...)
		err := eachValue(b, i, func(j int, v float64) error {
			own, name := "", strconv.Itoa(j+e.about.base())
			if e.named() {
				name = e.name(j)
				if ns, rest, ok := strings.Cut(name, "^"); ok {
					own, name = ns, rest
				}
				if name == "" || own == "" && allDigits([]byte(name)) ||
					strings.ContainsAny(own+name, " \t|:\r\n") {
					return e.noPlace(fmt.Sprintf("the name %q", e.name(j)),
						"ndjson")
				}
			}
			if own != space {
				e.line = append(append(e.line, " |"...), own...)
				space = own
			}
			e.line = append(append(e.line, ' '), name...)
			if v != 1 {
				e.line = number(append(e.line, ':'), v)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if _, err := e.out.Write(append(e.line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// vwLabel reports whether a label is read from VW's text as it is written there.
func vwLabel(label string) bool {
	return MakeLabel(label).Numeric || plainWord([]byte(label)) &&
		!strings.ContainsAny(label, " \t|'")
}

func (e *written) beginNDJSON() error {
	if slices.ContainsFunc(e.columns, isLabelName) {
		return e.noPlace("a feature called label, class, target or y", "csv")
	}
	return nil
}

func isLabelName(name string) bool {
	return slices.ContainsFunc(labelNames, func(l string) bool {
		return strings.EqualFold(l, name)
	})
}

func (e *written) ndjson(b *engine.Block[float64]) error {
	for _, name := range e.names {
		if isLabelName(name) {
			return e.noPlace("a feature called label, class, target or y", "vw")
		}
	}
	for i := range b.Len() {
		if weight(b, i) != 1 {
			return e.noPlace("weights", "vw, csv or npz")
		}
		e.line = e.jsonLabel(append(e.line[:0], `{"label":`...), e.text(b, i))
		if !e.named() {
			e.line = append(e.line, `,"x":{`...)
		}
		first := !e.named()
		eachValue(b, i, func(j int, v float64) error {
			if !first {
				e.line = append(e.line, ',')
			}
			first = false
			if e.named() {
				for len(e.keys) <= j {
					e.keys = append(e.keys, jsonString(nil, e.name(len(e.keys))))
				}
				e.line = append(e.line, e.keys[j]...)
			} else {
				e.line = append(e.line, '"')
				e.line = strconv.AppendInt(e.line, int64(j+e.about.base()), 10)
				e.line = append(e.line, '"')
			}
			e.line = number(append(e.line, ':'), v)
			return nil
		})
		if !e.named() {
			e.line = append(e.line, '}')
		}
		if _, err := e.out.Write(append(e.line, "}\n"...)); err != nil {
			return err
		}
	}
	return nil
}

// jsonLabel appends a label as JSON has it: a plain numeral as a number, if it is no text where it
// comes from. JSON's numbers have no plus.
func (e *written) jsonLabel(b []byte, label string) []byte {
	_, plain := plainValue(label)
	if !plain || e.about.TextLabel != nil && e.about.TextLabel(label) {
		return jsonString(b, label)
	}
	if label[0] == '+' {
		e.lose("the plus of labels")
		label = label[1:]
	}
	return append(b, label...)
}

// jsonString appends a text as JSON has it.
func jsonString(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range text { // what is no UTF-8 becomes U+FFFD
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

// mostColumns is how many columns of csv are written: more are nearly all zeros.
const mostColumns = 1 << 16

// csv writes columns, the label's last.
func (e *written) csv(b *engine.Block[float64]) error {
	if b.Dim > mostColumns {
		return e.noPlace(fmt.Sprintf("%d features (%d columns at most)", b.Dim, mostColumns),
			"svmlight, ndjson, vw or npz")
	}
	var line []byte
	if e.named() {
		for j := range b.Dim {
			name := e.name(j)
			if name == "" {
				name = strconv.Itoa(j + 1)
			}
			line = append(quotedField(line, name), ',')
		}
		if len(b.W) > 0 {
			line = append(line, "weight,"...)
		}
		line = append(line, "label\n"...)
	}
	if len(b.W) > 0 {
		e.lose("which column has the weights: it is the last but one")
	}
	e.out.Write(line)
	row := make([]float64, b.Dim)
	for i := range b.Len() {
		clear(row)
		eachValue(b, i, func(j int, v float64) error { row[j] = v; return nil })
		line = line[:0]
		for _, v := range row {
			line = append(number(line, v), ',')
		}
		if len(b.W) > 0 {
			line = append(number(line, b.W[i]), ',')
		}
		label := e.text(b, i)
		if strings.ContainsAny(label, "\r\n") || label == "" || label == "?" {
			return e.noPlace(fmt.Sprintf("the label %q", label), "ndjson")
		}
		if _, err := e.out.Write(append(quotedField(line, label), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// quotedField appends a text, in quotes where it needs some.
func quotedField(b []byte, text string) []byte {
	if !strings.ContainsAny(text, "\",;\t #\r\n") && text != "" {
		return append(b, text...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}
