package dataset

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// trained returns the format that training had, "" where any goes with it.
func (c *config) trained() string {
	if c.AnyFormat {
		return ""
	}
	return c.Trained
}

// foreign refuses a format other than training had.
func (c *config) foreign(file string, f *format.Format) error {
	if c.Trained == "" || c.AnyFormat || f.Serves(c.Trained) {
		return nil
	}
	e := &RowError{File: file, Line: 1, Col: 1, Err: ErrForeign,
		What: fmt.Sprintf("expected %s as in training, found %s", c.Trained, f.Name)}
	if f.Binary {
		e.Line = 0
	}
	return e
}

// countUnknown tallies the non-zeros of rows lo to hi of b whose features training never had.
func (s *Stream[T]) countUnknown(b *engine.Block[T], lo, hi int) {
	known := s.cfg.Dim + s.cfg.bias
	if s.cfg.Dim == 0 || b.Dense() && b.Dim <= known {
		return
	}
	in := &s.info
	for i := lo; i < hi; i++ {
		n := in.Unknown
		if b.Dense() {
			for _, v := range b.Row(i)[known:] {
				if v != 0 {
					in.Unknown++
				}
			}
		} else {
			for p := b.Ptr[i+1]; p > b.Ptr[i] && int(b.Idx[p-1]) >= known; p-- { // indices ascend
				if b.Val[p-1] != 0 {
					in.Unknown++
				}
			}
		}
		if in.Unknown > n {
			in.UnknownRows++
		}
	}
}
