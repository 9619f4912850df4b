package dataset

// placed is a place in the source of a text: so many good rows lie before it.
type placed struct {
	rows int64
	at   string
}

// Place returns where the rows can be read again that follow those returned, but for the last back
// of them, which are of the block that Next returned last: from the place at, of Options.Placed,
// with the first rows of it left out. Without Options.Placed, and before the first whole piece of
// text, at is "", the beginning.
func (s *Stream[T]) Place(back int) (at string, rows int64) {
	n := int64(s.info.Rows - back)
	for _, p := range s.places {
		if p.rows > n {
			break
		}
		at, rows = p.at, p.rows
	}
	return at, n - rows
}

// addPlace takes the place behind a chunk, whose rows are counted; err is what is wrong with them.
func (s *Stream[T]) addPlace(c *chunk[T], err error) {
	if s.cfg.Placed == nil || s.info.Compression != "" || c.fail != nil || err != nil {
		return
	}
	k := 0 // those before the last view are not asked for any more
	for k+1 < len(s.places) && s.places[k+1].rows <= int64(s.info.Rows-s.view.Len()) {
		k++
	}
	s.places = append(s.places[:0], s.places[k:]...)
	s.places = append(s.places, placed{s.good, s.cfg.Placed(c.Offset + int64(c.N))})
}
