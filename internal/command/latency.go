package command

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// latencyReport is how long learning one example took, in nanoseconds.
type latencyReport struct {
	P50 int64 `json:"p50_ns"`
	P99 int64 `json:"p99_ns"`
	Max int64 `json:"max_ns"`
}

// latency counts times of up to a minute, to three digits.
type latency struct{ h *hdrhistogram.Histogram }

func newLatency() latency { return latency{hdrhistogram.New(1, int64(time.Minute), 3)} }

// add counts a time; a longer one as a minute.
func (l latency) add(d time.Duration) {
	l.h.RecordValue(min(d.Nanoseconds(), l.h.HighestTrackableValue())) // never out of range
}

// report is nil if no time was counted.
func (l latency) report() *latencyReport {
	if l.h.TotalCount() == 0 {
		return nil
	}
	return &latencyReport{P50: l.h.ValueAtQuantile(50), P99: l.h.ValueAtQuantile(99),
		Max: l.h.Max()}
}
