package serve

import (
	"net/http"

	"github.com/halfspace-ml/halfspace/internal/waiting"
)

// encodeIDs returns the rows that have an id, in the form in which they wait for their labels.
func (h *hosted) encodeIDs(d *decoder) (rows [][]byte) {
	if len(d.x.ids) == 0 || h.o.WaitRows < 0 || !h.now.Load().about.Learns {
		return nil
	}
	x := d.x // without what is the label's
	x.labels, x.weights = []string{""}, nil
	x.code = make([]int32, x.n)
	for i := range d.x.ids {
		var b []byte
		if d.x.id(i) != "" {
			b = x.encode(nil, i, i+1)
		}
		rows = append(rows, b)
	}
	return rows
}

// keep keeps rows that were predicted until their labels come.
func (h *hosted) keep(x *examples, rows [][]byte) {
	if len(rows) == 0 {
		return
	}
	h.waits.Lock()
	defer h.waits.Unlock()
	for i, b := range rows {
		if b != nil {
			h.rows.Add(x.ids[i], b, int64(len(b)), nil)
		}
	}
}

// waited is a row that was taken from those that wait.
type waited struct {
	id  string
	row []byte
}

// labelled returns the examples of a request to learn: its rows, and in the place of those that
// have an id and no features the ones that waited, which taken lists.
func (h *hosted) labelled(d *decoder) (x *examples, taken []waited, bad *Error) {
	x = &d.x
	late := false
	for i := range x.n {
		if x.label(i) == "" {
			return nil, nil, unfit(i+1, "Rows to be learned have one.", "row %d has no label", i+1)
		}
		late = late || x.id(i) != "" && x.ptr[i] == x.ptr[i+1]
	}
	if !late && len(x.ids) == 0 {
		return x, nil, nil
	}
	if taken, bad = h.takeWaiting(x); bad != nil || !late {
		return x, nil, bad
	}
	merged := &examples{}
	merged.reset(x.wide, x.words)
	merged.labels, merged.numbers = x.labels, x.numbers
	for _, name := range x.names {
		merged.named(name)
	}
	next := 0
	for i := range x.n {
		weight := 1.0
		if x.weights != nil {
			weight = x.weights[i]
		}
		lo, hi := x.ptr[i], x.ptr[i+1]
		if x.id(i) != "" && lo == hi {
			row, err := decodeExamples(taken[next].row)
			if err == nil {
				err = merged.addRow(row, x.code[i], weight, x.weights != nil)
			}
			if err != nil {
				h.putBack(taken)
				return nil, nil, refuse(500, "internal", i+1, "", "%v", err)
			}
			next++
			continue
		}
		merged.idx = append(merged.idx, x.idx[lo:hi]...)
		if x.wide {
			merged.f64 = append(merged.f64, x.f64[lo:hi]...)
		} else {
			merged.f32 = append(merged.f32, x.f32[lo:hi]...)
		}
		merged.addLabel(x.code[i], weight, x.weights != nil)
	}
	return merged, taken, nil
}

// takeWaiting takes the rows that are learned by their id alone, all of them or none. What has
// waited and comes with its features again waits no more.
func (h *hosted) takeWaiting(x *examples) (taken []waited, bad *Error) {
	h.waits.Lock()
	defer h.waits.Unlock()
	for i := range x.n {
		id := x.id(i)
		if id == "" {
			continue
		}
		row, ok := h.rows.Take(id)
		if x.ptr[i] < x.ptr[i+1] {
			continue
		}
		if !ok {
			h.count.waitUnknown.Add(1)
			put(h.rows, taken)
			return nil, refuse(http.StatusUnprocessableEntity, "unknown_id", i+1,
				"Send the row with its features.", "row %d: no row of the id %q waits for its "+
					"label: it was never predicted, was learned, or had no room any more", i+1, id)
		}
		taken = append(taken, waited{id, row})
	}
	return taken, nil
}

// putBack has rows wait again that were not learned.
func (h *hosted) putBack(taken []waited) {
	h.waits.Lock()
	defer h.waits.Unlock()
	put(h.rows, taken)
}

func put(q *waiting.List[[]byte], taken []waited) {
	for _, t := range taken {
		q.Add(t.id, t.row, int64(len(t.row)), nil)
	}
}
