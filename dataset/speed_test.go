package dataset

import (
	"bytes"
	"testing"
	"time"
)

// BenchmarkParseChunk parses the first chunk of a9a over and over; best-MB/s is the fastest run, which other jobs on the machine disturb
// least.
func BenchmarkParseChunk(b *testing.B) {
	b.Run("f32", benchmarkParseChunk[float32])
	b.Run("f64", benchmarkParseChunk[float64])
}

func benchmarkParseChunk[T float32 | float64](b *testing.B) {
	text := inflated(b, "a9a.gz")[:chunkSize]
	c := &chunk[T]{n: bytes.LastIndexByte(text, '\n') + 1, out: &rows[T]{}}
	c.text = append(text[:c.n:c.n], make([]byte, stops)...)
	endText(c.text[c.n:])
	p := &parsing{format: "svmlight", shift: -1, least: 1, most: maxIndex, stop: true}
	b.SetBytes(int64(c.n))
	b.ReportAllocs()
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		c.parse(p)
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(c.n)/1e6/best.Seconds(), "best-MB/s")
}
