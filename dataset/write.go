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
	for i, y := range b.Y {
		buf = append(buf[:0], m.Positive...)
		if y < 0 {
			buf = append(buf[:0], m.Negative...)
		}
		idx, val := b.Example(i)
		for k, v := range val {
			if v == 0 {
				continue
			}
			if idx != nil {
				k = int(idx[k])
			}
			buf = append(strconv.AppendInt(append(buf, ' '), int64(k)+1, 10), ':')
			buf = strconv.AppendFloat(buf, float64(v), 'g', -1, size)
		}
		buf = append(buf, '\n')
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Flush()
}
