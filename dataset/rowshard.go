package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// RowShard is one of several parts into which the rows of files are cut: part K of Of, K from 1.
// The zero value is all rows. How rows are cut depends on the files, their order and Of alone:
//
//   - The bytes of all files, one behind another, are cut into Of parts of the same size. Each cut
//     then moves on to the first place behind it where an example may begin.
//   - A file that can't be cut, as it is compressed or read in one piece, is of the part in which
//     its first byte is.
//   - Examples that all take as many bytes, as in idx, are cut by their number: example i of n is
//     of part i*Of/n, rounded down, + 1.
//
// So the parts, in order, have the examples that one reader of all files gets, each of them once. A
// part may have none, which is an error (ErrEmpty) where it is read: of so many parts there is one
// too many.
//
// Format, columns and index base are found by the head of the first file, so that all parts go by
// the same, and what depends on all examples must be given: Labels or Positive unless all parts
// have both labels, and a Scale to Normalize "max". Files are regular ones. Lines in errors count
// from the begin of a part; the file's name then says where that is.
type RowShard struct{ K, Of int }

// MaxRowShards is the most that RowShard.Of may be.
const MaxRowShards = 1 << 16

// ParseRowShard reads "2/4", the second one of four; "" is all rows. Errors wrap ErrOption.
func ParseRowShard(text string) (r RowShard, err error) {
	if text == "" {
		return r, nil
	}
	k, of, ok := strings.Cut(text, "/")
	if ok {
		if r.K, err = strconv.Atoi(k); err == nil {
			r.Of, err = strconv.Atoi(of)
		}
	}
	if !ok || err != nil || r.Of == 0 || r.check() != nil {
		return RowShard{}, badOption("rows", text, fmt.Sprintf("K/N, the K-th of N parts, 1 to %d",
			MaxRowShards))
	}
	return r, nil
}

// String is what ParseRowShard reads.
func (r RowShard) String() string {
	if r == (RowShard{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", r.K, r.Of)
}

func (r RowShard) check() error {
	if r != (RowShard{}) && (r.K < 1 || r.K > r.Of || r.Of > MaxRowShards) {
		return badOption("rows", r.String(), fmt.Sprintf("one of 1 to %d parts", MaxRowShards))
	}
	return nil
}

// share returns where part k of n ends, of so much, without a product that may be too large.
func share(size int64, k, n int) int64 {
	return size/int64(n)*int64(k) + size%int64(n)*int64(k)/int64(n)
}

// divided refuses Options.Rows of what can't be read again from any place.
func (s *Stream[T]) divided() error {
	if s.cfg.Rows.Of == 0 {
		return nil
	}
	for _, name := range s.files {
		st, err := s.cfg.Stat(name)
		if s.from.reader != nil || s.foreign || name == "-" ||
			err == nil && !st.Mode().IsRegular() {
			return badOption("rows", s.cfg.Rows.String(), "none, as "+name+" is no regular file")
		}
	}
	return nil
}

// rowCut is a cut: what is before it are the files before that one, and bytes of it.
type rowCut struct {
	file int
	at   int64
}

// byteRange is the part of a file that is read.
type byteRange struct{ from, to int64 }

// cutRows leaves of the files, of which the first is open, the rows of Options.Rows.
func (s *Stream[T]) cutRows() error {
	r := s.cfg.Rows
	if r.Of == 0 {
		return nil
	}
	sizes, total := make([]int64, len(s.files)), int64(0)
	for i, name := range s.files {
		st, err := s.cfg.Stat(name)
		if err != nil {
			return err
		}
		sizes[i] = st.Size()
		total += sizes[i]
	}
	var err error
	if s.info.Cut, err = cutSum(s.from, s.files, sizes, r.Of); err != nil {
		return err
	}
	if len(s.parts) > 0 {
		s.cutParts()
		return nil
	}
	c := rowCutter[T]{s: s, sizes: sizes}
	defer func() {
		c.close()
		s.from.current.Store(&s.first.file)
	}()
	from, err := c.next(share(total, r.K-1, r.Of))
	if err != nil {
		return err
	}
	to, err := c.next(share(total, r.K, r.Of))
	if err != nil {
		return err
	}
	s.some, s.info.InputSize = make([]byteRange, len(s.files)), 0
	for i := range s.some {
		p := &s.some[i]
		if i == from.file {
			p.from = from.at
		}
		switch {
		case i == to.file:
			p.to = to.at
		case i >= from.file && i < to.file:
			p.to = sizes[i]
		}
		s.info.InputSize += max(0, p.to-p.from)
	}
	s.narrowTo(s.first, s.some[0])
	return nil
}

// rowCutter finds the cuts of text, which come in order.
type rowCutter[T engine.Float] struct {
	s     *Stream[T]
	sizes []int64
	open  *input // the file of the last cut, nil: none
	file  int
	find  func(at int64) (int64, error) // nil: it can't be cut
}

// next returns the cut at or behind byte at of all files.
func (c *rowCutter[T]) next(at int64) (rowCut, error) {
	i := 0
	for i < len(c.sizes) && at >= c.sizes[i] {
		at -= c.sizes[i]
		i++
	}
	if at == 0 || i == len(c.sizes) {
		return rowCut{i, 0}, nil
	}
	if err := c.enter(i); err != nil {
		return rowCut{}, err
	}
	if c.find == nil {
		return rowCut{i + 1, 0}, nil
	}
	to, err := c.find(at)
	if err != nil || to >= c.sizes[i] {
		return rowCut{i + 1, 0}, err
	}
	return rowCut{i, to}, nil
}

// enter opens file i, unless it is.
func (c *rowCutter[T]) enter(i int) error {
	if c.open != nil && c.file == i {
		return nil
	}
	c.close()
	s := c.s
	if c.file, c.open = i, s.first; i > 0 {
		in, err := s.from.open(s.files[i])
		if err != nil {
			return err
		}
		c.open = in
		if err := s.checkNext(in); err != nil {
			return err
		}
	}
	c.find = nil
	if c.open.packed == "" && c.open.runs == nil {
		c.find = s.cuts(c.open, c.sizes[i])
	}
	return nil
}

// close closes what enter has opened.
func (c *rowCutter[T]) close() {
	if c.open != nil && c.open != c.s.first {
		c.open.Close()
		c.open.read.Store(c.open.before)
	}
	c.open = nil
}

// cuts returns what finds the first cut from a byte of the text of a file on, in order: its size if
// there is none.
func (s *Stream[T]) cuts(in *input, size int64) func(at int64) (int64, error) {
	if last := s.p.Format.Last; last != nil {
		w := walker{in: in.file, at: in.mark, size: size, most: s.lim.Line,
			last: func(text []byte) int { end, _ := last(in.layout, text); return end }}
		return w.next
	}
	return func(at int64) (int64, error) { return nextCut(in.file, s.p.Format.Cut, at, size) }
}

// nextCut returns the first place from byte at on where text may be cut, size if there is none.
func nextCut(f io.ReaderAt, cut format.Cut, at, size int64) (int64, error) {
	const piece = 16 << 10
	buf := make([]byte, piece)
	keep := int64(len(cut) - 1) // of a cut's text in two pieces
	for at--; at < size; at += piece - keep {
		n, err := f.ReadAt(buf, at)
		if i := cut.First(buf[:n]); i >= 0 {
			return min(at+int64(i), size), nil
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	return size, nil
}

// walker goes through a file from cut to cut, where only what stands before says where they are.
type walker struct {
	in   io.ReaderAt
	last func(text []byte) int // cut of text that begins at one
	at   int64                 // a cut
	size int64                 // of the file
	most int                   // bytes from one cut to the next, at most
	buf  []byte
}

// next returns the first cut from byte to on, the file's size if there is none. Calls come in
// order.
func (w *walker) next(to int64) (int64, error) {
	const piece = 1 << 20
	for piece := piece; w.at < to; {
		n := int(min(int64(piece), w.size-w.at))
		w.buf = slices.Grow(w.buf[:0], n)[:n]
		if _, err := w.in.ReadAt(w.buf, w.at); err != nil && err != io.EOF {
			return 0, err
		}
		end := w.last(w.buf)
		switch near := min(int64(n), to-w.at); {
		case end == 0 && (w.at+int64(n) == w.size || piece > w.most):
			w.at = w.size
		case end == 0:
			piece *= 2
		case int64(end) < to-w.at:
			w.at += int64(end)
		default: // the cut is in the text: the last one before to, then line by line
			end = w.last(w.buf[:near])
			for from := end; int64(end) < to-w.at; {
				i := bytes.IndexByte(w.buf[from:], '\n')
				if from += i + 1; i < 0 {
					return w.size, nil
				}
				end += w.last(w.buf[end:from])
			}
			w.at += int64(end)
		}
	}
	return w.at, nil
}

// narrowTo has in, which is at its begin, read that part of its file alone, if it is a part.
func (s *Stream[T]) narrowTo(in *input, r byteRange) {
	from := max(r.from, in.mark)
	if st, err := in.file.Stat(); err == nil && from == in.mark && r.to == st.Size() {
		return
	}
	in.seek(from, max(from, r.to))
	if in.from = from - in.mark; in.from > 0 {
		in.name = fmt.Sprintf("%s from byte %d", in.name, from)
	}
}

// seek makes in read those bytes of its file, which is a regular one and not packed.
func (in *input) seek(from, to int64) {
	in.read.Store(in.before) // the head has been read for its layout alone
	in.file.Seek(0, io.SeekStart)
	in.head, in.err, in.ended = nil, nil, false
	r := meter{io.NewSectionReader(in.file, from, to-from), in.read}
	in.r = bufio.NewReaderSize(r, 1<<16)
}

// cutParts leaves of files that are no text the examples of Options.Rows.
func (s *Stream[T]) cutParts() {
	r, n := s.cfg.Rows, int64(0)
	weight := func(p *part) int64 { return max(1, int64(p.layout.Rows)) }
	for i := range s.parts {
		n += weight(&s.parts[i])
	}
	lo, hi := share(n, r.K-1, r.Of), share(n, r.K, r.Of)
	before := int64(0)
	for i := range s.parts {
		p := &s.parts[i]
		from, to := max(lo-before, 0), min(hi-before, int64(p.layout.Rows))
		switch l := p.layout; {
		case !p.divisible() || p.in.packed != "":
			p.skip = lo > before || before >= hi
		case from >= to:
			p.skip = true
		default:
			p.lo, p.hi = int(from), int(to)
			p.in.seek(l.Start+from*int64(l.Size), l.Start+to*int64(l.Size))
		}
		if p.skip {
			p.lo, p.hi = 0, 0
		}
		before += weight(p)
	}
}

// cutSum is a fingerprint of how files are cut into n: of their sizes, and of some text at each
// cut, where they are cut before examples are looked for. It has 53 bits, which JSON's numbers
// hold.
func cutSum(from *opener, files []string, sizes []int64, n int) (uint64, error) {
	const some = 256
	h, total := fnv.New64a(), int64(0)
	var b [some]byte
	put := func(v int64) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v))) }
	put(int64(n))
	for _, size := range sizes {
		put(size)
		total += size
	}
	before, k := int64(0), 0
	for i, name := range files {
		f, err := from.openFile(name)
		if err != nil {
			return 0, err
		}
		for ; k < n; k++ {
			at := share(total, k, n) - before
			if at >= sizes[i] {
				break
			}
			m, err := f.ReadAt(b[:], at)
			if err != nil && err != io.EOF {
				f.Close()
				return 0, err
			}
			h.Write(b[:m])
		}
		f.Close()
		before += sizes[i]
	}
	return h.Sum64() >> 11, nil
}

func (c *config) checkRows() error { return c.Rows.check() }
