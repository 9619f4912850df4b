package dataset

import (
	"bytes"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// BenchmarkParseChunk parses the first chunk of a9a over and over; best-MB/s is the fastest run,
// which other jobs on the machine disturb least.
func BenchmarkParseChunk(b *testing.B) {
	b.Run("f32", benchmarkParseChunk[float32])
	b.Run("f64", benchmarkParseChunk[float64])
}

func benchmarkParseChunk[T float32 | float64](b *testing.B) {
	text := inflated(b, "a9a.gz")[:chunkSize]
	c := chunkOf[T](b, text[:bytes.LastIndexByte(text, '\n')+1])
	p := &format.Settings{Format: format.SVMLight, Stop: true}
	b.SetBytes(int64(c.N))
	b.ReportAllocs()
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		c.Parse(p)
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(c.N)/1e6/best.Seconds(), "best-MB/s")
}

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
