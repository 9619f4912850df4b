package halfspace

import "math"

// missing returns the columns of numbers, by their features, of which a row lacks a value and that
// have a feature for that, NAME=?; nil where none does.
func (h *hypothesis) missing(r *Rows) (columns []string) {
	if !h.fields.Indicates {
		return nil
	}
	for i := range r.N {
		idx, from, to := r.row(i)
		for k := range to - from {
			j := k
			if idx != nil {
				j = int(idx[k])
			}
			if v := r.value(from + k); j < h.lead && v != v {
				if columns == nil {
					columns = make([]string, h.lead)
				}
				columns[j] = "?"
			}
		}
	}
	for c, column := range h.fields.Columns {
		if columns != nil && !column.Text && columns[column.Feature] != "" {
			_, columns[column.Feature], _ = h.fields.Missing(c)
		}
	}
	return columns
}

// value returns the k-th value.
func (r *Rows) value(k int) float64 {
	if r.F32 != nil {
		return float64(r.F32[k])
	}
	return r.F64[k]
}

// indicate returns the rows with the features for numbers that they lack, as files of such rows
// have them; the rows themselves where they lack none. A feature that the model has not says
// nothing.
func (h *hypothesis) indicate(r *Rows) *Rows {
	names := h.missing(r)
	if names == nil {
		return r
	}
	s := *r
	s.Ptr, s.Idx, s.F32, s.F64, s.Stride = []int{0}, nil, nil, nil, 0
	s.Dim = max(r.Dim, h.prep.Dim)
	f32 := r.F32 != nil
	var row Row
	for i := range r.N {
		row.idx, row.val = row.idx[:0], row.val[:0]
		idx, from, to := r.row(i)
		for k := range to - from {
			j := k
			if idx != nil {
				j = int(idx[k])
			}
			v := r.value(from + k)
			if v == 0 && j >= h.lead {
				continue
			}
			row.put(int32(j), v)
			if j >= h.lead || v == v {
				continue
			}
			if word, ok := h.names[names[j]]; ok {
				row.put(int32(word), 1)
			} else if h.fields.HashBits > 0 {
				row.add(h.fields.Hash([]byte(names[j])), 1)
			}
		}
		s.Idx = append(s.Idx, row.idx...)
		for _, v := range row.val {
			if f32 {
				s.F32 = append(s.F32, float32(v))
			} else {
				s.F64 = append(s.F64, v)
			}
		}
		s.Ptr = append(s.Ptr, len(s.Idx))
	}
	return &s
}

// learnMissing makes features of that numbers are missing, where the rows are the first that lack
// them.
func (m *Model) learnMissing(r *Rows) error {
	if m.fields.HashBits > 0 {
		return nil
	}
	for _, name := range m.missing(r) {
		if name == "" {
			continue
		}
		if err := m.AddFeatures(name); err != nil {
			return err
		}
	}
	return nil
}

// nothing makes numbers that are not set of columns ones that are missing, where training took
// their mean for these.
func nothing[T float32 | float64](h *hypothesis, columns []T) {
	if h.fields.Fills {
		for i := range columns {
			columns[i] = T(math.NaN())
		}
	}
}
