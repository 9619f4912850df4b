package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Head is the beginning of a file.
type Head struct {
	File  string // its name in errors
	Text  []byte // as long as what was read
	Whole bool   // that is all there is
	Ended bool   // nothing more comes: the file is whole, or broken behind Text
	Most  int    // bytes of Text that a stream may decide by
	Part  string // what these are called
}

// Lines returns the first n lines of the head that are neither blank nor a comment, as far as they
// are whole.
func (h *Head) Lines(n int) [][]byte {
	var out [][]byte
	b := h.Text
	for len(out) < n && len(b) > 0 {
		l := b
		i := bytes.IndexByte(b, '\n')
		if i >= 0 {
			l, b = b[:i], b[i+1:]
		} else if b = nil; !h.Whole {
			break
		}
		if t := bytes.TrimSpace(l); len(t) > 0 && t[0] != '#' {
			out = append(out, l)
		}
	}
	return out
}

// Offset returns where a line of Lines begins in the head.
func (h *Head) Offset(line []byte) int { return cap(h.Text) - cap(line) }

// Bad is an error in a line of Lines, at byte col of it (from 0).
func (h *Head) Bad(line []byte, col int, what string, err error) *RowError {
	return &RowError{File: h.File, Line: 1 + bytes.Count(h.Text[:h.Offset(line)], []byte{'\n'}),
		Col: col + 1, What: what, Excerpt: Excerpt(line, col), Err: err}
}

// Sniffed is how many bytes of the head are looked at for what no text has (see BinaryAt):
// files that are not text show it in their first bytes.
const Sniffed = 4096

// BinaryAt returns where the first byte stands that no text has, -1 if there is none: control codes
// but tab, line ends and their like (9 to 13), and escape (27), which terminals' colours begin
// with.
func BinaryAt(b []byte) int {
	return bytes.IndexFunc(b, func(r rune) bool { return r < 9 || r > 13 && r < 32 && r != 27 })
}

// BinaryByte is the error of the byte at offset of a file, which no text has.
func BinaryByte(file string, offset int64, ch byte) error {
	text := Names(func(f *Format) bool { return f.Sniff != nil && !f.Binary })
	binary := Names(func(f *Format) bool { return f.Sniff != nil && f.Binary })
	return &RowError{File: file, Offset: offset,
		What: fmt.Sprintf("expected text (%s) or an %s file, found the byte %#02x",
			Or(text), Or(binary), ch), Err: ErrFormat}
}

// strangers are formats to name when they are met, by what stands at a byte of them. What is packed
// once is unpacked before.
var strangers = []struct {
	at          int
	magic, name string
}{
	{0, "PK\x03\x04", "a zip archive: unpack it first"},
	{0, "PK\x05\x06", "an empty zip archive"},
	{0, "7z\xbc\xaf", "a 7z archive: unpack it first"},
	{257, "ustar", "a tar archive: unpack it first, as with tar -xf"},
	{0, "\x1f\x8b", "packed twice, by gzip too: unpack it once"},
	{0, "BZh91AY&SY", "packed twice, by bzip2 too: unpack it once"},
	{0, "\xfd7zXZ\x00", "packed twice, by xz too: unpack it once"},
	{0, "\x28\xb5\x2f\xfd", "packed twice, by zstd too: unpack it once"},
	{0, "\x04\x22\x4d\x18", "packed by lz4: unpack it first"},
	{0, "\xff\xfe", "text in UTF-16" + asUTF8},
	{0, "\xfe\xff", "text in UTF-16" + asUTF8},
	{0, "\x8dHSB", "an hsb file, which is no longer read: convert the original examples to npz"},
	{0, "\x89HDF", "an HDF5 file: write it as csv or svmlight"},
	{0, "MATLAB 5.0 MAT-file", "a file of MATLAB: write it as csv or svmlight"},
	{0, "SQLite format 3\x00", "a database of SQLite: write a table of it as csv"},
	{0, "\x80\x03", asPickle}, {0, "\x80\x04", asPickle}, {0, "\x80\x05", asPickle},
	{8, `{"__metadata__"`, "a model, or another file of tensors: name a file of examples"},
	{0, "<!DOCTYPE", asPage}, {0, "<!doctype", asPage}, {0, "<html", asPage}, {0, "<?xml", asPage},
	{0, "PAR1", "a Parquet file" + asArrow},
	{0, "ARROW1", "an Arrow file" + asArrow},
	{0, "\xff\xff\xff\xff", "an Arrow stream" + asArrow},
}

// asUTF8 says what to do with other text, and the others what else is no file of examples.
const (
	asUTF8   = ": convert it, as with iconv -f UTF-16 -t UTF-8"
	asPickle = "a pickle of Python: save arrays by numpy.save, tables as csv"
	asPage   = "a page of HTML or XML: check where it was got from"
)

// asArrow says what to do with columns that another module reads.
const asArrow = ": the command halfspace-arrow reads it (ext/arrow); or write it as csv"

// Begins reports whether the head is known to be of a binary format by how it begins, whatever
// comes.
func Begins(h *Head) bool {
	_, at := sniff(h, true)
	return at == 0
}

// Recognise returns the format of a file by its head; errors are of kind ErrFormat. trained is the
// name of the one that a model was trained on, which is taken where the head leaves it open; "":
// any.
func Recognise(h *Head, trained string) (*Format, error) {
	if f, at := sniff(h, true); at == 0 {
		return f, nil
	}
	for _, s := range strangers {
		if bytes.HasPrefix(h.Text[min(s.at, len(h.Text)):], []byte(s.magic)) {
			return nil, &RowError{File: h.File, What: "this is " + s.name, Err: ErrFormat}
		}
	}
	if i := BinaryAt(h.Text[:min(len(h.Text), Sniffed)]); i >= 0 {
		return nil, BinaryByte(h.File, int64(i), h.Text[i])
	}
	f, at := sniff(h, false)
	lines := h.Lines(1)
	if at > 0 && len(lines) > 0 {
		if err := h.strange(lines[0]); err != nil {
			return nil, err
		}
	}
	known := Lookup(trained)
	switch {
	case known == nil || !known.HasColumns() || known.Sniff == nil || known.Binary:
		if at > 0 && at != Maybe {
			return f, h.eitherPairs()
		}
	case at == Maybe: // a column alone
		return known, nil
	}
	return f, nil
}

// sniff asks the binary formats, or those of text, and returns the one that knows by the earliest
// line; of several that do one that was registered, whose author knows of ours.
func sniff(h *Head, binary bool) (best *Format, line int) {
	line = No
	for _, f := range append(slices.Clone(registered), table()...) {
		if f.Sniff == nil || f.Binary != binary {
			continue
		}
		if at := f.Sniff(h); at != No && (best == nil || at < line) {
			best, line = f, at
		}
	}
	return best, line
}

// bareReturn is what is wrong with a carriage return inside a line.
const bareReturn = `found a carriage return (\r) inside the line: ` +
	`lines end in \n or \r\n; make others \n, as tr '\r' '\n' does`

// strange names a text format that is not read, by its first line, and line ends that are none.
func (h *Head) strange(line []byte) error {
	t := bytes.TrimSpace(line)
	switch i := bytes.IndexByte(t, '\r'); {
	case i >= 0:
		return h.Bad(line, i+bytes.Index(line, t), bareReturn, ErrFormat)
	case len(t) > 9 && strings.EqualFold(string(t[:9]), "@relation"):
		return h.Bad(line, 0, "this is an ARFF file of Weka: write it as csv", ErrFormat)
	case t[0] == '[':
		return h.Bad(line, 0, "this is an array of JSON: write an object a line, as jq -c '.[]' "+
			"does", ErrFormat)
	}
	return nil
}

// eitherPairs is an error where lines have pairs INDEX:VALUE, and commas or semicolons, too: they
// may be svmlight of another program, or csv with such texts.
func (h *Head) eitherPairs() error {
	lines := h.Lines(100)
	var found []byte
	at, times := -1, true
	for i, l := range lines {
		pair, time := pairIn(l)
		if pair == nil {
			continue
		}
		if times = times && time; at < 0 || !time {
			at, found = i, pair
		}
		if !times {
			break
		}
	}
	if at < 0 || times || !bytes.ContainsAny(lines[at], ",;") {
		return nil
	}
	if i := bytes.IndexFunc(lines[0], unicode.IsLetter); at > 0 && i >= 0 {
		return nil // below names, or texts
	}
	return h.Bad(lines[at], max(0, bytes.Index(lines[at], found)), fmt.Sprintf("expected svmlight "+
		"(one label, blanks between pairs, a decimal point) or csv, found %q and commas or "+
		"semicolons: if columns hold such texts, set Options.Format to csv", found), ErrFormat)
}

// pairIn returns the first pair INDEX:VALUE of a line outside quotes, nil if it has none, and
// whether all of them may be times, such as 12:30.
func pairIn(line []byte) (pair []byte, times bool) {
	times = true
	for len(line) > 0 {
		end := bytes.IndexAny(line, " \t,;\"")
		if end < 0 {
			end = len(line)
		}
		word := bytes.TrimSpace(line[:end])
		index, value, ok := bytes.Cut(word, []byte{':'})
		if ok && allDigits(index) && MakeLabel(string(value)).Numeric {
			time := len(index) <= 2 && len(value) == 2 && allDigits(value) && string(value) < "60"
			if times = times && time; pair == nil || !time {
				pair = word
			}
		}
		if end < len(line) && line[end] == '"' {
			if n := bytes.IndexByte(line[end+1:], '"'); n >= 0 {
				end += n + 1
			}
		}
		line = line[min(end+1, len(line)):]
	}
	return pair, times
}

// pairsOrColumns looks for the first line that distinguishes pairs INDEX:VALUE from columns, and
// returns its number, 0 if there is none: columns have a comma or semicolon in it, or two words of
// which none is a pair.
func pairsOrColumns(h *Head) (line int, pairs bool) {
	// rows of a label alone say nothing: so many are looked through
	for i, l := range h.Lines(100) {
		t, _, _ := bytes.Cut(l, []byte{'#'})
		switch first, second := words(t); {
		case bytes.ContainsAny(t, ",;") || bytes.HasPrefix(first, []byte{'"'}):
			return i + 1, false
		case bytes.IndexByte(first, ':') >= 0 || bytes.IndexByte(second, ':') >= 0:
			return i + 1, true
		case len(second) > 0:
			return i + 1, false
		}
	}
	return 0, false
}

// words returns the first two words of a line.
func words(line []byte) (first, second []byte) {
	line = bytes.TrimSpace(line)
	i := bytes.IndexFunc(line, unicode.IsSpace)
	if i < 0 {
		return line, nil
	}
	line, first = bytes.TrimSpace(line[i:]), line[:i]
	if i = bytes.IndexFunc(line, unicode.IsSpace); i >= 0 {
		line = line[:i]
	}
	return first, line
}
