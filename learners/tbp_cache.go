package learners

import (
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// errorCache is the error cache Q of [TBPConfig] that is not the kept examples themselves.
type errorCache[T learner.Float] struct {
	kept.ErrorSet // margins, and the kernel values with the kept examples
	list          *engine.Points[T]
	hash          []uint64         // of the examples and their labels
	place         map[uint64]int32 // place of a hash, the first one
	flips         []int64          // flips: how often the sign of y f has changed
	since         []int64          // number of the example presented that came
	before        []bool           // y f > 0 before the update
	row           []T              // scratch: kernel values of an example, also as float64
	wide          []float64
	reserved      [2]int // examples of the cache and kept ones, whose memory is taken at once; or 0
}

func newErrorCache[T learner.Float](k engine.Kernel, reserved [2]int) (*errorCache[T], error) {
	list, err := engine.NewPoints[T](k)
	q := &errorCache[T]{list: list, place: map[uint64]int32{}, reserved: reserved}
	if reserved[0] > 0 {
		q.Reserve(reserved[0], reserved[1])
	}
	return q, err
}

// find returns where the example in hand, of hash h, is in the cache, or -1.
func (q *errorCache[T]) find(s *kept.Set[T], h uint64) int {
	if k, ok := q.place[h]; ok && s.Equals(q.list, int(k)) {
		return int(k)
	}
	return -1
}

// put makes the example in hand, of label y and hash h, example k of the cache, the next one or in
// the place of another. It is number seen of those presented.
func (q *errorCache[T]) put(k int, s *kept.Set[T], y float64, h uint64, seen int64) {
	if k == q.list.Len() {
		q.list.Append(&s.Example, 0, 1)
		q.hash, q.flips, q.since, q.before = append(q.hash, h), append(q.flips, 0),
			append(q.since, seen), append(q.before, false)
	} else {
		delete(q.place, q.hash[k])
		q.list.Replace(k, &s.Example, 0)
		q.hash[k], q.flips[k], q.since[k] = h, 0, seen
	}
	if _, taken := q.place[h]; !taken {
		q.place[h] = int32(k)
	}
	q.SetPoint(k, y, s.CurrentScore, s.Wide)
}

// stale returns the example to drop, figure 5: that of the fewest flips s_i/(t - t_i) for the
// examples presented since it came, or with most of the most flips. The oldest of equals.
func (q *errorCache[T]) stale(seen int64, most bool) int {
	rate := func(k int) float64 {
		r := float64(q.flips[k]) / float64(max(1, seen-q.since[k]))
		if most {
			return -r
		}
		return r
	}
	best := 0
	for k := 1; k < q.list.Len(); k++ {
		a, b := rate(k), rate(best)
		if a < b || a == b && q.since[k] < q.since[best] {
			best = k
		}
	}
	return best
}

// noteSigns notes the signs before an update, for countFlips after it.
func (q *errorCache[T]) noteSigns() {
	for k, m := range q.Margins {
		q.before[k] = float64(q.Y[k]*m) > 0
	}
}

func (q *errorCache[T]) countFlips() {
	for k, m := range q.Margins {
		if float64(q.Y[k]*m) > 0 != q.before[k] {
			q.flips[k]++
		}
	}
}

// setRow takes the kernel values of the example in hand, kept in slot j, and the cache.
func (q *errorCache[T]) setRow(j int, s *kept.Set[T]) {
	q.row, q.wide = s.Values(q.list, q.row, q.wide)
	q.SetRow(j, q.wide)
}

// bytes returns the memory of the cache.
func (q *errorCache[T]) bytes() int64 {
	return q.ErrorSet.Bytes() + 8*int64(cap(q.hash)+cap(q.flips)+cap(q.since)) +
		int64(cap(q.before)) + primal.BytesOf(q.row) + primal.BytesOf(q.wide) + q.list.Bytes() +
		16*int64(len(q.place))
}

// fields walks the cache of at most limit examples, 0 for any number. s are the kept examples,
// which have been walked; seen counts the examples presented.
func (q *errorCache[T]) fields(c *learner.Codec, s *kept.Set[T], limit int, seen int64) {
	var y []int32
	var m []float64
	var flips, since []int64
	if c.Writing() {
		y, m, flips, since = kept.Signs(q.Y), slices.Clone(q.Margins), slices.Clone(q.flips),
			slices.Clone(q.since)
	}
	y, m = learner.View(c, "cache_y", y), learner.View(c, "cache_margin", m)
	flips, since = learner.View(c, "cache_flips", flips), learner.View(c, "cache_since", since)
	b := kept.ExampleFields(c, "cache", q.list, -1)
	times := timesField(c, "cache_times", q.Times, b.Len())
	n := b.Len()
	if !c.Reading() || !c.Want(len(y) == n && len(m) == n && len(flips) == n && len(since) == n &&
		(limit == 0 || n <= limit),
		"error cache of %d examples, %d labels, %d margins, %d and %d counts", n, len(y), len(m),
		len(flips), len(since)) {
		return
	}
	for i, y := range y {
		if y != 1 && y != -1 || m[i]-m[i] != 0 || flips[i] < 0 || flips[i] > learner.MaxCount ||
			!kept.Presented(since[i], seen) {
			c.Want(false,
				"error cache: example %d has label %d, margin %v, %d flips since %d of %d", i, y,
				m[i], flips[i], since[i], seen)
			return
		}
	}
	c.Then(func() {
		fresh, err := newErrorCache[T](q.list.Kernel(), q.reserved)
		if err != nil {
			panic(err) // the kernel is valid: it was before
		}
		*q = *fresh
		s.CurrentScore, s.Row, s.Wide = 0, nil, nil // margins and kernel values follow
		for k, y := range y {
			s.SetExample(b.Sparse(k))
			q.put(k, s, float64(y), s.HashExample(float64(y)), since[k])
		}
		copy(q.Margins, m)
		copy(q.Times, times)
		copy(q.flips, flips)
		q.restoreRows(s)
	})
}

// restoreRows takes the kernel values of kept examples and cache: a value is of the row of
// whichever came later, and if both came with one example, of the kept one's row over the cache.
func (q *errorCache[T]) restoreRows(s *kept.Set[T]) {
	for j := range s.List.Len() {
		s.TakeListed(s.List, j)
		q.setRow(j, s)
	}
	row := make([]T, s.List.Len())
	for k := range q.list.Len() {
		s.TakeListed(q.list, k)
		s.List.RowOf(row, &s.Example, 0, 0, len(row))
		for j, v := range row {
			if s.Born[j] < q.since[k] {
				q.Rows[j][k] = float64(q.Y[k] * float64(v))
			}
		}
	}
}

// timesField walks how often each of n examples was seen. A State in which none was seen twice, as
// all states of version 1.0, has no such part.
func timesField(c *learner.Codec, name string, times []int64, n int) []int64 {
	repeated := slices.ContainsFunc(times, func(t int64) bool { return t > 1 })
	if !c.Optional(name, repeated) {
		return slices.Repeat([]int64{1}, n)
	}
	times = learner.View(c, name, slices.Clone(times))
	if c.Reading() {
		c.Want(len(times) == n, "%s has %d counts of %d examples", name, len(times), n)
		c.Want(!slices.ContainsFunc(times, func(t int64) bool {
			return t < 1 || t > learner.MaxCount
		}), "%s has a count that is not from 1 to %d", name, int64(learner.MaxCount))
	}
	return times
}
