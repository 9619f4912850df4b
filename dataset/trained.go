package dataset

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
)

// foreign refuses a format, or idx images of a size, other than training had.
func (c *config) foreign(in *input, format string, pixels int) error {
	if c.Trained == "" || c.AnyFormat {
		return nil
	}
	e := &RowError{File: in.name, Line: 1, Col: 1, Err: ErrForeign}
	switch {
	case format != c.Trained:
		e.What = fmt.Sprintf("expected %s as in training, found %s", c.Trained, format)
	case pixels > 0 && c.Dim > 0 && pixels != c.Dim:
		e.What = fmt.Sprintf("expected images of %d pixels as in training, found %d", c.Dim, pixels)
	default:
		return nil
	}
	if format == "idx" {
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
