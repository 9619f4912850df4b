package dataset

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

// WriteSVMLight writes the examples of b as svmlight text, indices from 1, values by their shortest
// exact decimals; zeros are left out. The labels are written as m's texts, or -1 and +1 where m is
// zero.
func WriteSVMLight[T engine.Float](w io.Writer, b *engine.Block[T], m LabelMap) error {
	if m == (LabelMap{}) {
		m = LabelMap{Negative: "-1", Positive: "+1"}
	}
	if m.Negative == "" || m.Positive == "" {
		return fmt.Errorf("svmlight: labels %q and %q: both need a text: %w", m.Negative,
			m.Positive, ErrLabels)
	}
	var v T
	size := int(unsafe.Sizeof(v)) * 8
	out := bufio.NewWriterSize(w, 1<<16)
	var buf []byte
	put := func(i int, v T) {
		buf = append(buf, ' ')
		buf = strconv.AppendInt(buf, int64(i)+1, 10)
		buf = append(buf, ':')
		buf = strconv.AppendFloat(buf, float64(v), 'g', -1, size)
	}
	for i, y := range b.Y {
		buf = append(buf[:0], m.Positive...)
		if y < 0 {
			buf = append(buf[:0], m.Negative...)
		}
		if b.Dense() {
			for j, v := range b.Row(i) {
				if v != 0 {
					put(j, v)
				}
			}
		} else {
			idx, val := b.Sparse(i)
			for k, j := range idx {
				if val[k] != 0 {
					put(int(j), val[k])
				}
			}
		}
		buf = append(buf, '\n')
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Flush()
}
