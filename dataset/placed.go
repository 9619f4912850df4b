package dataset

import "errors"

// placed is a place in the source of a text: so many good rows lie before it.
type placed struct {
	rows int64
	at   string
}

// Place returns where the rows can be read again that follow those returned, but for the last back
// of them, which are of the block that Next returned last: from the place at, of Options.Placed,
// with the first rows of it left out: at least one where there is any, so that what is read again
// is never without rows. Without Options.Placed, and before the first whole piece of text, at is
// "", the beginning.
func (s *Stream[T]) Place(back int) (at string, rows int64) {
	n := int64(s.info.Rows - back)
	for _, p := range s.places {
		if p.rows >= n {
			break
		}
		at, rows = p.at, p.rows
	}
	return at, n - rows
}

// addPlace takes the lines of a chunk's rows, which are counted, and the place behind it; err is
// what is wrong with them.
func (s *Stream[T]) addPlace(c *chunk[T], err error) {
	for i := range c.rows.Line { // they count from the file's begin on
		c.rows.Line[i] += s.line
	}
	if s.cfg.Placed == nil || s.info.Compression != "" || c.fail != nil || err != nil {
		return
	}
	k := 0 // those before the last view are not asked for any more
	for k+1 < len(s.places) && s.places[k+1].rows < int64(s.info.Rows-s.view.Len()) {
		k++
	}
	s.places = append(s.places[:0], s.places[k:]...)
	s.places = append(s.places, placed{s.good, s.cfg.Placed(c.Offset + int64(c.N))})
}

// locate gives an error in a line the name that Options.Located has for it.
func (s *Stream[T]) locate(err error) error {
	e := (*RowError)(nil)
	if s.cfg.Located == nil || !errors.As(err, &e) || e.Line == 0 {
		return err
	}
	if name, line := s.cfg.Located(e.Line); name != "" {
		e.File, e.Read, e.Line = name, e.Line, line
	}
	return err
}

// Line returns in which line of its file, from 1, the row of example i begins, of the block that
// Next returned last. It is for streams with Options.Lines.
func (s *Stream[T]) Line(i int) int {
	return s.cur.Line[s.pos-s.view.Len()+i] + 1
}
