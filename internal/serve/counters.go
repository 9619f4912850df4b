package serve

import (
	"encoding/json"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// Stats are what is known of a model that is served, at one moment.
type Stats struct {
	Name      string          `json:"name"`
	Learner   string          `json:"learner"`
	Settings  json.RawMessage `json:"settings"`
	Precision string          `json:"precision"`
	Features  int             `json:"features"`
	Labels    []string        `json:"labels"`   // in the order of scores; of two -1 first
	Learns    bool            `json:"learns"`   // or predicts only
	Columns   []string        `json:"columns"`  // features that each row must have; else null
	Snapshot  uint64          `json:"snapshot"` // number of the one that predicts
	Age       float64         `json:"age"`      // seconds since it was published
	Examples  uint64          `json:"examples"` // learned in all, before the server began, too
	Saved     uint64          `json:"saved"`    // number of examples that the file has

	Predicted int64 `json:"predicted"` // rows
	Learned   int64 `json:"learned"`
	Mistakes  int64 `json:"mistakes"`
	// Error is the share of mistakes before learning, and Curve that of the first n learned.
	Error   float64   `json:"progressive_error"`
	Curve   []Point   `json:"curve"`
	Unknown int64     `json:"unknown_features"` // values of features that the model had not
	BadRows int64     `json:"bad_requests"`     // refused for what is in them
	Busy    int64     `json:"busy_requests"`    // refused since the queue was full
	LastBad []Refusal `json:"last_bad"`         // the last of them, newest last
	Read    int64     `json:"bytes_read"`
	Written int64     `json:"bytes_written"`

	Queue     int `json:"queue"` // requests that wait to be learned
	QueueMost int `json:"queue_most"`

	Waiting      int   `json:"waiting"` // rows that wait for their labels
	WaitingBytes int64 `json:"waiting_bytes"`
	WaitDropped  int64 `json:"waiting_dropped"` // that had no room
	WaitUnknown  int64 `json:"waiting_unknown"` // labels whose row didn't wait

	Predict Latency `json:"predict"` // of requests
	Learn   Latency `json:"learn"`

	Bytes int64  `json:"bytes"` // of the log
	Fault string `json:"fault"` // why nothing is learned any more; ""
	// SaveError is why the model's file could not be written the last time; "".
	SaveError string `json:"save_error"`
}

// Point is the share of mistakes among the first Examples that were learned.
type Point struct {
	Examples int64   `json:"examples"`
	Error    float64 `json:"error"`
}

// Refusal is a request that was refused for what is in it.
type Refusal struct {
	Time    time.Time `json:"time"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
}

// Latency is how long requests took, in seconds: quantiles to an eighth of their value.
type Latency struct {
	Count int64   `json:"count"`
	Sum   float64 `json:"sum"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	// Buckets are how many took at most a time; the last has them all.
	Buckets []Bucket `json:"-"`
}

// Bucket is how many requests took at most so many seconds.
type Bucket struct {
	Seconds float64
	Count   int64
}

// counters are those of a model.
type counters struct {
	predicted, learned, mistakes, unknown, bad, busy atomic.Int64
	read, written, waitUnknown                       atomic.Int64
	predict, learn                                   histogram

	mu    sync.Mutex
	last  []Refusal
	curve curve
}

// mostRefusals is how many refusals are kept.
const mostRefusals = 20

// refused counts a refusal.
func (c *counters) refused(e *Error) {
	switch {
	case e.Status == 429:
		c.busy.Add(1)
		return
	case e.Status >= 500:
		return
	}
	c.bad.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) == mostRefusals {
		c.last = append(c.last[:0], c.last[1:]...)
	}
	c.last = append(c.last, Refusal{time.Now(), e.Code, e.Message})
}

// curve is a progressive error, in points that are the rarer the more there are.
type curve struct {
	points []Point
	step   int64
	n, bad int64
}

// mostPoints is the largest number of points of a curve; then every second one goes.
const mostPoints = 256

// add counts examples of which so many were mistakes.
func (c *curve) add(n, mistakes int64) {
	c.step = max(c.step, 1)
	c.n, c.bad = c.n+n, c.bad+mistakes
	if k := len(c.points); k > 0 && c.n < c.points[k-1].Examples+c.step {
		return
	}
	c.points = append(c.points, Point{c.n, float64(c.bad) / float64(c.n)})
	if len(c.points) < mostPoints {
		return
	}
	for i := range mostPoints / 2 {
		c.points[i] = c.points[2*i+1]
	}
	c.points = c.points[:mostPoints/2]
	c.step *= 2
}

// histogram counts times in buckets of an eighth of their value.
type histogram struct {
	buckets [64 * 8]atomic.Int64
	count   atomic.Int64
	sum     atomic.Int64
	max     atomic.Int64
}

func bucketOf(ns int64) int {
	if ns < 16 {
		return int(max(ns, 0))
	}
	e := bits.Len64(uint64(ns)) - 4 // so that ns>>e is 8 to 15
	return (e+1)*8 + int(ns>>e) - 8
}

// upTo is the longest time in ns of a bucket.
func upTo(bucket int) int64 {
	if bucket < 16 {
		return int64(bucket)
	}
	e := bucket/8 - 1
	return int64(bucket%8+8+1)<<e - 1
}

func (h *histogram) add(d time.Duration) {
	ns := int64(d)
	h.buckets[bucketOf(ns)].Add(1)
	h.count.Add(1)
	h.sum.Add(ns)
	for {
		most := h.max.Load()
		if ns <= most || h.max.CompareAndSwap(most, ns) {
			return
		}
	}
}

// latency is what was counted so far.
func (h *histogram) latency() Latency {
	l := Latency{Sum: float64(h.sum.Load()) / 1e9, Max: float64(h.max.Load()) / 1e9}
	var counts [64 * 8]int64
	for i := range h.buckets {
		counts[i] = h.buckets[i].Load()
		l.Count += counts[i]
	}
	at := func(q float64) float64 {
		rank, seen := int64(q*float64(l.Count)), int64(0)
		for i, n := range counts {
			if seen += n; n > 0 && seen > rank {
				return min(float64(upTo(i))/1e9, l.Max)
			}
		}
		return l.Max
	}
	l.P50, l.P99 = at(0.5), at(0.99)
	seen, next := int64(0), 0
	for ns := int64(10_000); ns <= 10_000_000_000; ns *= 10 {
		for _, k := range []int64{1, 2, 5} {
			for next < len(counts) && upTo(next) <= k*ns {
				seen += counts[next]
				next++
			}
			l.Buckets = append(l.Buckets, Bucket{float64(k*ns) / 1e9, seen})
		}
	}
	return l
}
