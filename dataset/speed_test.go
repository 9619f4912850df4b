package dataset

import (
	"testing"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// chunkOf is a chunk of svmlight whose indices count from 1.
func chunkOf[T float32 | float64](t testing.TB, text []byte) *format.Chunk[T] {
	t.Helper()
	h := &format.Head{Text: text, Whole: true, Ended: true}
	lay, err := format.SVMLight.Layout(h, &format.Options{Base: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &format.Chunk[T]{N: len(text), Layout: lay, Out: &format.Rows[T]{}}
	c.Text = append(text[:c.N:c.N], make([]byte, format.Stops)...)
	format.EndText(c.Text[c.N:])
	return c
}
