package format

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// csvTable is what the head of a csv file shows before its columns are arranged.
type csvTable struct {
	delim    byte
	alike    bool     // the delimiter cuts the first rows into equally many fields
	rows     [][]byte // the first rows, the header included
	cols     int      // fields of a row
	short    bool     // the first row has one field fewer than all others, as R writes names
	from     int64    // byte where the first row begins; what stands before is no row
	comments int      // lines before it that begin with #
}

// kindLines is how many rows of the head decide what a column holds, headLines how many decide
// whether the first one names the columns, and fewLines how many decide about the delimiter.
const (
	kindLines = 1000
	headLines = 200
	fewLines  = 20
)

// delimiters are the candidates. Blanks are last: they stand next to the other delimiters, too.
var delimiters = []byte{',', ';', '\t', ' '}

// readTable finds the rows and the first delimiter that cuts them into equally many fields, more
// than one; else the first that cuts the first row, so that errors name row and column. For a
// model of one feature, rows without a label are of one field. Without any whole row there are no
// rows.
func readTable(h *Head, o *Options) *csvTable {
	text, candidates := h.Text, delimiters
	one := o.Columns == 2 && o.Optional
	if one && o.Kinds == string(kindText) { // a text may have blanks
		candidates = delimiters[:3]
	}
	for len(text) > 0 {
		line, rest, ended := bytes.Cut(text, []byte{'\n'})
		t := bytes.TrimSpace(line)
		if len(t) > 0 {
			// Excel's first line may name the delimiter
			if len(t) == 5 && strings.EqualFold(string(t[:4]), "sep=") &&
				bytes.IndexByte(delimiters, t[4]) >= 0 {
				candidates, text = t[4:5], rest
			} else if string(bytes.ToLower(bytes.TrimRight(line, "\r"))) == "sep=\t" {
				candidates, text = []byte{'\t'}, rest
			}
			break
		}
		if !ended {
			break
		}
		text = rest
	}
	var whole *csvTable
	good := []func(t *csvTable) bool{
		func(t *csvTable) bool { return t.alike && !t.short },
		func(t *csvTable) bool { return t.short },
		func(t *csvTable) bool { return true },
	}
	for _, good := range good {
		for _, d := range candidates {
			t := &csvTable{delim: d}
			t.read(h, text)
			if len(t.rows) == 0 {
				return t
			}
			if whole == nil {
				whole = t
			}
			if t.cols > 1 && good(t) {
				return t
			}
		}
	}
	whole.alike = whole.alike && one
	return whole
}

// read finds the rows of the text, which is the end of the head. Lines at its beginning that begin
// with # are rows only where they look like those that follow.
func (t *csvTable) read(h *Head, text []byte) {
	var lead [][]byte
	for len(text) > 0 {
		line, rest, ended := bytes.Cut(text, []byte{'\n'})
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) > 0 && trimmed[0] != '#' || !ended && !h.Whole {
			break
		}
		if len(trimmed) > 0 {
			lead = append(lead, line)
		}
		text = rest
	}
	t.rows = records(text, kindLines, t.delim, h.Whole)
	if len(t.rows) == 0 {
		t.rows, lead = lead, nil
	}
	if len(t.rows) == 0 {
		return
	}
	few := t.rows[:min(len(t.rows), fewLines)]
	count := func(row []byte) int { return len(appendCells(nil, row, t.delim)) }
	t.cols, t.alike = count(few[0]), true
	if more := t.cols + 1; len(few) > 2 && t.cols > 1 {
		t.short = !slices.ContainsFunc(few[1:], func(row []byte) bool { return count(row) != more })
	}
	if t.short {
		t.cols++
	} else {
		t.alike = !slices.ContainsFunc(few, func(row []byte) bool { return count(row) != t.cols })
	}
	if t.cols > 1 && !t.short {
		t.uncomment(lead, count)
	} else {
		t.comments = len(lead)
	}
	t.from = int64(h.Offset(t.rows[0]))
}

// uncomment takes lines that begin with # for rows, where they are: the last one may be the header,
// or several be like the rows below.
func (t *csvTable) uncomment(lead [][]byte, count func([]byte) int) {
	t.comments = len(lead)
	if len(lead) == 0 || t.header(nil) >= surely {
		return
	}
	with := *t
	for n := len(lead); n > 0 && count(lead[n-1]) == t.cols; n-- {
		with.rows = slices.Concat(lead[n-1:], t.rows)
		switch about := with.header(nil); {
		case about >= surely && n == len(lead):
			t.rows, t.comments = with.rows, n-1
			return
		case about >= surely || !hashed(lead[n-1]):
			return
		}
		t.rows, t.comments = with.rows, n-1
	}
}

// hashed reports whether a line begins with a word that begins with #, as a comment seldom does.
func hashed(line []byte) bool {
	t := bytes.TrimSpace(line)
	return len(t) > 1 && t[1] > ' ' && t[1] != '#' && t[1] != '!'
}

// firstCells are the fields of the first row.
func (t *csvTable) firstCells() []cell {
	first := appendCells(nil, t.rows[0], t.delim)
	if t.short {
		first = slices.Insert(first, 0, cell{})
	}
	return first
}

// names are the fields of the first row as names of columns. A # that begins it is no part of them.
func (t *csvTable) names() []string {
	var names []string
	for _, c := range t.firstCells() {
		names = append(names, string(c.text))
	}
	if rest := strings.TrimLeft(names[0], "# "); rest != "" && strings.HasPrefix(names[0], "#") {
		names[0] = rest
	}
	return names
}

// fieldKind is what a field looks like.
type fieldKind int

const (
	noValue  fieldKind = iota
	aText              // has a letter
	aCode              // other text: a date, a number in another notation
	aYear              // 1900 to 2100
	aWhole             // another number of digits alone
	aNumber            // another number
	allKinds = iota
)

// kindOf returns the kind of a field. buf is memory.
func kindOf(f []byte, buf *[]byte) fieldKind {
	if IsMissing(f) || isNotFinite(string(f)) {
		return noValue
	}
	if isNumber(f, buf) {
		switch {
		case !allDigits(f):
			return aNumber
		case len(f) == 4 && string(f) >= "1900" && string(f) <= "2100":
			return aYear
		}
		return aWhole
	}
	if notation(f) {
		return aCode
	}
	for _, ch := range f {
		if ch|0x20-'a' < 26 || ch >= 0x80 {
			return aText
		}
	}
	return aCode
}

// isNumber reports whether all of a field is a number as csv has them. buf is memory.
func isNumber(f []byte, buf *[]byte) bool {
	*buf = append(append((*buf)[:0], f...), '\n') // no number has it
	_, end, st := parseNumber[float64](*buf, 0)
	return st == numOK && end == len(f)
}

// column is what the rows below the first one have in a column.
type column struct {
	kinds  [allKinds]int
	quoted int            // numbers in quotes
	times  map[string]int // how often a text or a number comes
	once   int            // those that come once
}

// of returns how many fields of a column have a value.
func (c *column) values() int {
	n := 0
	for _, k := range c.kinds[1:] {
		n += k
	}
	return n
}

// numbers returns how many fields are numbers.
func (c *column) numbers() int { return c.kinds[aYear] + c.kinds[aWhole] + c.kinds[aNumber] }

// labelled are the names that mean the label, and others that no value is.
var decisive = append([]string{"outcome", "response"}, labelNames...)

// What header answers: from where on the first row names the columns, and up to where it is a row
// like the others. Between the two nothing tells.
const (
	surely    = 2
	surelyNot = -1
)

// header weighs whether the first row names the columns. The sum is that of the binary
// logarithms of how much likelier each of its fields is as a name than as one more value of its
// column, as far as these can be guessed. known are names that options give to columns.
func (t *csvTable) header(known []string) float64 {
	first := t.firstCells()
	for _, f := range first {
		if len(f.text) > 0 && slices.Contains(known, string(f.text)) {
			return 10 * surely
		}
	}
	cols := t.columns()
	repeats := map[string]int{}
	for _, f := range first {
		repeats[string(f.text)]++
	}
	var buf []byte
	kinds := make([]fieldKind, len(first))
	for i, f := range first {
		kinds[i] = kindOf(f.text, &buf)
	}
	from, ranged := columnRange(first, kinds)
	ranged = ranged && len(t.rows) > 1
	sum, decided := 0.0, false
	for i, f := range first {
		if i >= len(cols) {
			break
		}
		c, text := &cols[i], string(f.text)
		comes := c.times[text]
		if comes == 0 && slices.Contains(decisive, strings.ToLower(text)) &&
			(len(text) > 1 || len(repeats) == len(first)) && (len(text) > 1 || c.numbers() > 0) {
			decided = true
		}
		sum += nameOrValue(f, kinds[i], c, i)
		switch {
		case kinds[i] < aYear:
			if kinds[i] != noValue && repeats[text] > 1 { // names differ
				sum -= 2
			}
		case ranged:
			sum += 3 - float64(from)
		case kinds[i] == aYear && c.kinds[aYear] == 0 && c.numbers() > 0:
			sum += 2
		}
	}
	if decided {
		sum = max(sum, 0) + 10*surely
	}
	return sum
}

// columnRange reports whether the numbers among the fields of the first row are 0, 1, 2, ... or 1,
// 2, 3, ..., as programs name columns that have no names, and the first of them.
func columnRange(first []cell, kinds []fieldKind) (from int, ranged bool) {
	numbers := 0
	for i, f := range first {
		if kinds[i] < aYear {
			continue
		}
		n, err := strconv.Atoi(string(f.text))
		if numbers == 0 {
			from = n
		}
		if err != nil || n != numbers+from || from != 0 && from != 1 {
			return 0, false
		}
		numbers++
	}
	return from, numbers > 2
}

// nameOrValue weighs a field of the first row, at place i, as header does.
func nameOrValue(f cell, kind fieldKind, c *column, i int) float64 {
	n, comes := c.values(), c.times[string(f.text)]
	// of a value like the others: its kind, and its being another one, are as likely as seen
	unlike := math.Log2(float64(n+1) / float64(c.kinds[kind]+1))
	other := math.Log2(float64(n+1) / float64(c.once+1))
	numbers := 2*c.numbers() > n
	switch kind {
	case noValue:
		switch {
		case len(f.text) > 0: // a word for a missing value is no name
			return -3
		case i == 0 && n > 0 && len(c.times) == n: // names of rows have none
			return 1
		}
		return -1
	case aText, aCode:
		less := 0.0
		switch {
		case kind == aCode:
			less = 4
		case f.text[0]-'0' <= 9:
			less = 1
		}
		switch {
		case n == 0:
			return -less
		case comes > 0:
			return -8
		case numbers && n == 1:
			return 3 - less
		case numbers:
			return 5 - less
		case kind == aText && 2*c.kinds[aCode] > n:
			return 3
		}
		return min(other, 8) - less
	}
	if f.quoted && c.quoted == 0 && c.numbers() > 0 {
		return 5
	}
	name := 3.0
	if kind == aNumber { // such as 5.1
		name = 6
	}
	switch {
	case n == 0:
		return -name
	case !numbers && c.numbers() == 0:
		return min(unlike, 6) - name
	case comes > 0:
		return -name
	}
	return min(max(unlike, other), 3) - name
}

// columns looks through the rows below the first.
func (t *csvTable) columns() []column {
	cols := make([]column, t.cols)
	most := min(len(t.rows), max(fewLines, min(headLines, 1<<16/t.cols)))
	var cells []cell
	var buf []byte
	for _, row := range t.rows[1:most] {
		cells = appendCells(cells[:0], row, t.delim)
		if len(cells) != t.cols {
			continue
		}
		for i, f := range cells {
			c := &cols[i]
			kind := kindOf(f.text, &buf)
			if c.kinds[kind]++; kind == noValue {
				continue
			}
			if f.quoted && kind >= aYear {
				c.quoted++
			}
			if c.times == nil {
				c.times = make(map[string]int)
			}
			switch c.times[string(f.text)]++; c.times[string(f.text)] {
			case 1:
				c.once++
			case 2:
				c.once--
			}
		}
	}
	return cols
}

// namesTraining reports whether a first row holds names of training's columns: so it is known where
// its text alone doesn't tell, as in a file of one row, or one whose columns have numbers for
// names.
func namesTraining(first, header []string) bool {
	names := make(map[string]bool, len(header))
	for _, name := range header {
		names[name] = true
	}
	known, numbers := 0, 0
	for _, f := range first {
		if names[f] {
			known++
		}
		if MakeLabel(f).Numeric {
			numbers++
		}
	}
	_, twice := repeated(first)
	// A row of names: some are training's and none is a number, or all are, none twice, and at most
	// the label's is missing.
	return known > 0 && numbers == 0 || known == len(first) && known >= len(header)-1 && !twice
}

// currencies are signs and codes that stand next to sums.
var currencies = []string{"$", "€", "£", "¥", "₹", "EUR", "USD", "GBP", "CHF", "JPY", "CNY",
	"INR", "Fr.", "kr", "zł", "R$", "A$", "C$", "US$", "Kč", "₽", "₩", "руб"}

// notation reports whether a text is a number in a notation that csv doesn't have: with a decimal
// comma, thousands set apart, a currency, a percent sign, a bound or in brackets.
func notation(text []byte) bool {
	s := strings.TrimSpace(string(text))
	if len(s) == 0 || len(s) > 40 {
		return false
	}
	trim := func(what string) {
		s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(s, what), what))
	}
	for range 2 {
		for _, c := range currencies {
			trim(c)
		}
		for _, c := range []string{"%", "‰", "+", "-", "−", "<", ">", "≤", "≥", "~", "*"} {
			trim(c)
		}
		if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
			s = strings.TrimSpace(s[1 : len(s)-1])
		}
	}
	digits, last := 0, ' '
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case strings.ContainsRune(".,'’_ \u00a0\u202f\u2009", r):
		case (r == 'e' || r == 'E') && last >= '0' && last <= '9' && i+1 < len(s):
		case (r == '-' || r == '+') && (last == 'e' || last == 'E'):
		default:
			return false
		}
		last = r
	}
	return digits > 0
}
