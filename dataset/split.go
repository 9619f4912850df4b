package dataset

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/engine"
)

// Range is a part of a file that begins with an example and ends behind one: what one of many
// workers reads. The ranges of [Split] are all of the file, in its order.
type Range struct {
	File string `json:"file"`
	From int64  `json:"from"`         // byte where it begins
	To   int64  `json:"to,omitempty"` // byte behind it; 0: the end of the file
}

// Split cuts a file into at most n ranges of about the same number of bytes, which can be read by
// as many programs on as many machines, each with [OpenRange] and the same options: together, in
// order, they give the examples that one reader gets of the file. The cuts depend on the file, n
// and the format alone.
//
// Compressed data, what is read in runs, and what is no regular file, are one range. Of images in
// idx the labels' file stands beside them, see [Beside]. Errors are those of [Open]. The cost is
// that of opening, and of one read of some KiB a cut, more where lines are longer; of csv, where a
// quote may hide line ends, of a look through all of the text before the last cut.
func Split(file string, n int, o Options) ([]Range, error) {
	if n < 1 {
		return nil, badOption("ranges", fmt.Sprint(n), "at least 1")
	}
	files := []string{file}
	size, err := o.checkFiles(files)
	if err != nil {
		return nil, err
	}
	if o.Normalize == "max" && o.Scale == 0 { // which cuts nothing
		o.Normalize = ""
	}
	s, err := newStream[float64](files, &opener{}, o, false)
	if err != nil {
		return nil, err
	}
	defer s.closeFiles()
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if s.info.Compression != "" || size == 0 || s.first != nil && s.first.runs != nil ||
		len(s.parts) > 0 && !s.parts[0].divisible() {
		return []Range{{File: file}}, nil
	}
	if len(s.parts) > 0 {
		return splitRows(file, s.parts[0].layout, n), nil
	}
	return splitText(file, s.cuts(s.first, size), size, n)
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

// splitRows cuts a file whose examples all take as many bytes.
func splitRows(file string, l *format.Layout, n int) []Range {
	n = min(n, l.Rows)
	at := func(k int) int64 {
		return l.Start + int64(l.Rows)*int64(k)/int64(n)*int64(l.Size)
	}
	ranges := make([]Range, n)
	for k := range ranges {
		ranges[k] = Range{file, at(k), at(k + 1)}
	}
	return ranges
}

// splitText cuts a file of text at the first place behind each n-th part of it where that may be.
func splitText(file string, next func(at int64) (int64, error), size int64, n int) (
	ranges []Range, err error) {
	from := int64(0)
	for k := 1; k <= n && from < size; k++ {
		to := size
		if k < n {
			at := share(size, k, n)
			if at <= from {
				continue
			}
			if to, err = next(at); err != nil {
				return nil, err
			}
		}
		if to > from {
			ranges = append(ranges, Range{file, from, to})
			from = to
		}
	}
	return ranges, nil
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

// OpenRange is [Open] of a part of a file. The format, the columns and the index base are found by
// the head of the whole file, so that they are the same for all ranges of it. What depends on all
// examples is not: give Options.Labels or Positive unless the labels are -1 and +1, and a Scale to
// Normalize "max". A range may have no examples. Lines in errors count from the range's begin; the
// file's name then says where that is.
//
// A Range whose ends are not between examples is refused (ErrOption): the file is another one now.
func OpenRange[T engine.Float](ctx context.Context, r Range, o Options) (*Stream[T], error) {
	files := []string{r.File}
	size, err := o.checkFiles(files)
	if err != nil {
		return nil, err
	}
	if r.To == 0 && r.From == 0 {
		r.To = size
	}
	s, err := newStream[T](files, &opener{}, o, false)
	if err != nil {
		return nil, err
	}
	s.some, s.piece = []Range{r}, true
	return s.begin(ctx, func() error {
		if err := s.prepare(); err != nil {
			return err
		}
		return s.narrow(size)
	})
}

// narrow leaves of the file that is open the part that is to be read.
func (s *Stream[T]) narrow(size int64) error {
	r, in := &s.some[0], s.first
	if len(s.parts) > 0 {
		in = s.parts[0].in
	}
	bad := func(want string) error {
		return fmt.Errorf("range %d to %d of %s: expected %s: %w", r.From, r.To, r.File, want,
			ErrOption)
	}
	if r.To == 0 {
		r.To = size
	}
	s.info.InputSize = r.To - r.From
	switch {
	case in.packed != "" || size == 0 || in.runs != nil ||
		len(s.parts) > 0 && !s.parts[0].divisible():
		if r.From != 0 || r.To != size {
			return bad("all of it, since it is packed, no regular file, or read in one piece")
		}
		return nil
	case r.From < 0 || r.From > r.To || r.To > size:
		return bad(fmt.Sprintf("bytes of 0 to %d", size))
	case len(s.parts) > 0:
		return s.narrowRows(bad)
	}
	cut := s.p.Format.Cut
	for _, at := range []int64{r.From, r.To} {
		if at == 0 || at == size {
			continue
		}
		text := make([]byte, len(cut))
		if _, err := in.file.ReadAt(text, at-1); err != nil || string(text) != string(cut) {
			return bad("places between examples")
		}
	}
	s.narrowTo(in, *r)
	return nil
}

// narrowTo has in, which is at its begin, read that part of its file alone, if it is a part.
func (s *Stream[T]) narrowTo(in *input, r Range) {
	from := max(r.From, in.mark)
	if st, err := in.file.Stat(); err == nil && from == in.mark && r.To == st.Size() {
		return
	}
	in.seek(from, max(from, r.To))
	if in.from = from - in.mark; in.from > 0 {
		in.name = fmt.Sprintf("%s from byte %d", in.name, from)
	}
}

// narrowRows is narrow for a file whose examples all take as many bytes.
func (s *Stream[T]) narrowRows(bad func(want string) error) error {
	r, p := &s.some[0], &s.parts[0]
	l := p.layout
	end := l.Start + int64(l.Rows)*int64(l.Size)
	from, to := max(r.From, l.Start), min(r.To, end)
	if (from-l.Start)%int64(l.Size) != 0 || (to-l.Start)%int64(l.Size) != 0 || from > to {
		return bad("places between examples")
	}
	p.lo, p.hi = int((from-l.Start)/int64(l.Size)), int((to-l.Start)/int64(l.Size))
	p.in.seek(from, to)
	return nil
}

// seek makes in read those bytes of its file, which is a regular one and not packed.
func (in *input) seek(from, to int64) {
	in.read.Store(in.before) // the head has been read for its layout alone
	in.file.Seek(0, io.SeekStart)
	in.head, in.err, in.ended = nil, nil, false
	r := meter{io.NewSectionReader(in.file, from, to-from), in.read}
	in.r = bufio.NewReaderSize(r, 1<<16)
}
