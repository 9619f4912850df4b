package main

/*
#define HALFSPACE_NO_FUNCTIONS
#include "halfspace_arrow.h"

void halfspace_release_schema(struct ArrowSchema *s);
void halfspace_release_array(struct ArrowArray *a);
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/halfspace-ml/halfspace"
)

// Arrow's C data interface (Columnar Format 1.5) is read here by its structures alone: a library
// for all of Arrow would be several times as large as this one.

//export halfspace_learn_arrow
func halfspace_learn_arrow(id C.halfspace_model, schema *C.struct_ArrowSchema,
	batch *C.struct_ArrowArray, label *C.char) C.int64_t {
	defer C.halfspace_release_schema(schema)
	defer C.halfspace_release_array(batch)
	return count(id, true, func(m *model) (int, error) {
		if m.learn == nil {
			return 0, errSnapshot
		}
		if label == nil {
			return 0, errors.New("the name of the labels' column is NULL")
		}
		rows, err := rowsOfArrow(schema, batch, C.GoString(label), true)
		if err != nil {
			return 0, err
		}
		wrong, err := m.learn.LearnRows(context.Background(), rows)
		m.names = nil // there may be new ones
		return int(wrong), err
	})
}

//export halfspace_score_arrow
func halfspace_score_arrow(id C.halfspace_model, schema *C.struct_ArrowSchema,
	batch *C.struct_ArrowArray, label *C.char, to *C.double, places C.int64_t) C.int32_t {
	defer C.halfspace_release_schema(schema)
	defer C.halfspace_release_array(batch)
	return result(with(id, false, func(m *model) error {
		name := ""
		if label != nil {
			name = C.GoString(label)
		}
		rows, err := rowsOfArrow(schema, batch, name, false)
		if err != nil {
			return err
		}
		dst, err := slice[float64](unsafe.Pointer(to), int64(places))
		if err != nil {
			return err
		}
		return m.ScoreRows(rows, dst)
	}))
}

// column is one of a batch, and which of its elements the first row has.
type column struct {
	name, format string
	array        *C.struct_ArrowArray
	from         int
}

// rowsOfArrow copies a batch's columns; the one called label has the labels, where they are wanted,
// and is left out of the features.
func rowsOfArrow(schema *C.struct_ArrowSchema, batch *C.struct_ArrowArray, label string,
	labels bool) (*halfspace.Rows, error) {
	columns, n, err := columnsOf(schema, batch)
	if err != nil {
		return nil, err
	}
	var features []column
	var from *column
	wide := false
	for i, c := range columns {
		switch {
		case label != "" && c.name == label && from == nil:
			from = &columns[i]
		case width(c.format) == 0:
			return nil, fmt.Errorf("column %q has the format %q, want numbers", c.name, c.format)
		default:
			wide = wide || c.format == "g" || c.format != "f" && width(c.format) > 2
			features = append(features, c)
		}
	}
	rows := &halfspace.Rows{N: n, Dim: len(features)}
	if labels {
		if from == nil {
			return nil, fmt.Errorf("the batch has no column %q", label)
		}
		rows.Texts = from.format == "u" || from.format == "U"
		if rows.Labels, rows.Names, err = labelsOf(*from, n); err != nil {
			return nil, err
		}
	}
	if n > 0 && len(features) > math.MaxInt/8/n {
		return nil, errors.New("the batch is too large")
	}
	if wide {
		rows.F64 = transposed[float64](features, n)
	} else {
		rows.F32 = transposed[float32](features, n)
	}
	return rows, nil
}

// columnsOf looks at the structures; the lengths of buffers the interface doesn't tell.
func columnsOf(schema *C.struct_ArrowSchema, batch *C.struct_ArrowArray) ([]column, int, error) {
	switch {
	case schema == nil || batch == nil:
		return nil, 0, errors.New("the schema or the batch is NULL")
	case schema.release == nil || batch.release == nil:
		return nil, 0, errors.New("the schema or the batch was released before")
	case schema.format == nil || C.GoString(schema.format) != "+s":
		return nil, 0, errors.New(`the schema is not that of a record batch, whose format is "+s"`)
	case schema.n_children != batch.n_children || !small(batch.n_children):
		return nil, 0, errors.New("schema and batch have other numbers of columns")
	case batch.n_children > 0 && (schema.children == nil || batch.children == nil):
		return nil, 0, errors.New("the columns are NULL")
	case !small(batch.length) || !small(batch.offset):
		return nil, 0, errors.New("the batch's length or offset is negative or above 2^31")
	}
	n, k := int(batch.length), int(batch.n_children)
	if nulls(batch, int(batch.offset), n) {
		return nil, 0, errors.New("the batch has rows that are null")
	}
	columns := make([]column, k)
	types, arrays := unsafe.Slice(schema.children, k), unsafe.Slice(batch.children, k)
	for i := range columns {
		s, a := types[i], arrays[i]
		if s == nil || a == nil || s.format == nil {
			return nil, 0, fmt.Errorf("column %d is NULL", i)
		}
		c := column{format: C.GoString(s.format), array: a,
			from: int(batch.offset) + int(a.offset)}
		if s.name != nil {
			c.name = C.GoString(s.name)
		}
		if why := c.fault(s, batch); why != "" {
			return nil, 0, fmt.Errorf("column %q %s", c.name, why)
		}
		columns[i] = c
	}
	return columns, n, nil
}

func small(n C.int64_t) bool { return n >= 0 && n <= math.MaxInt32 }

// fault is why a column of a batch can't be read, "" if it can.
func (c column) fault(s *C.struct_ArrowSchema, batch *C.struct_ArrowArray) string {
	a, text := c.array, c.format == "u" || c.format == "U"
	buffers := C.int64_t(2)
	if text {
		buffers = 3
	}
	switch {
	case s.dictionary != nil || !text && width(c.format) == 0:
		return fmt.Sprintf("is of a type that is not read here (format %q)", c.format)
	case !small(a.offset) || a.length < batch.offset+batch.length:
		return "is shorter than the batch"
	case a.n_buffers != buffers || a.buffers == nil || batch.length > 0 && c.buffer(1) == nil:
		return "has no values"
	case nulls(a, c.from, int(batch.length)):
		return "has nulls"
	}
	return ""
}

// width is the bytes of a number of that format, 0 of others.
func width(format string) int {
	return map[string]int{"c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "f": 4, "l": 8, "L": 8,
		"g": 8}[format]
}

func (c column) buffer(i int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.Slice(c.array.buffers, c.array.n_buffers)[i])
}

// nulls reports whether any of n elements from that one on is null.
func nulls(a *C.struct_ArrowArray, from, n int) bool {
	if a.null_count == 0 || a.n_buffers < 1 || a.buffers == nil || *a.buffers == nil {
		return false
	}
	valid := unsafe.Slice((*byte)(unsafe.Pointer(*a.buffers)), (from+n+7)/8)
	for i := from; i < from+n; i++ {
		if valid[i/8]>>(i%8)&1 == 0 {
			return true
		}
	}
	return false
}

// transposed copies the columns' numbers to rows.
func transposed[T float32 | float64](columns []column, n int) []T {
	dst := make([]T, n*len(columns))
	for j, c := range columns {
		to, k := dst[min(j, len(dst)):], len(columns)
		switch p := c.buffer(1); c.format {
		case "c":
			put[T, int8](to, k, p, c.from, n)
		case "C":
			put[T, uint8](to, k, p, c.from, n)
		case "s":
			put[T, int16](to, k, p, c.from, n)
		case "S":
			put[T, uint16](to, k, p, c.from, n)
		case "i":
			put[T, int32](to, k, p, c.from, n)
		case "I":
			put[T, uint32](to, k, p, c.from, n)
		case "l":
			put[T, int64](to, k, p, c.from, n)
		case "L":
			put[T, uint64](to, k, p, c.from, n)
		case "f":
			put[T, float32](to, k, p, c.from, n)
		case "g":
			put[T, float64](to, k, p, c.from, n)
		}
	}
	return dst
}

type number interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// put copies n numbers to every k-th place.
func put[T float32 | float64, E number](to []T, k int, p unsafe.Pointer, from, n int) {
	for i, v := range unsafe.Slice((*E)(p), from+n)[from:] {
		to[i*k] = T(v)
	}
}

// labelsOf numbers the texts of a column.
func labelsOf(c column, n int) (labels []int32, names []string, err error) {
	text, err := texts(c, n)
	if err != nil {
		return nil, nil, err
	}
	numbers := map[string]int32{}
	labels = make([]int32, n)
	for i := range labels {
		t, err := text(c.from + i)
		if err != nil {
			return nil, nil, fmt.Errorf("column %q, row %d: %w", c.name, i, err)
		}
		k, known := numbers[t]
		if !known {
			k = int32(len(names))
			numbers[t], names = k, append(names, t)
		}
		labels[i] = k
	}
	return labels, names, nil
}

// texts returns what makes element i of a column a label.
func texts(c column, n int) (func(i int) (string, error), error) {
	switch c.format {
	case "u":
		return utf8[int32](c, n), nil
	case "U":
		return utf8[int64](c, n), nil
	case "f", "g":
		return nil, fmt.Errorf("column %q has fractions: labels are texts or whole numbers",
			c.name)
	}
	values := transposed[float64]([]column{c}, n)
	return func(i int) (string, error) {
		v := values[i-c.from]
		if math.Abs(v) >= 1<<53 {
			return "", errors.New("a label of 2^53 or more")
		}
		return strconv.FormatInt(int64(v), 10), nil
	}, nil
}

// utf8 reads the texts between offsets, copied.
func utf8[O int32 | int64](c column, n int) func(i int) (string, error) {
	ends := unsafe.Slice((*O)(c.buffer(1)), c.from+n+1)
	data := c.buffer(2)
	return func(i int) (string, error) {
		lo, hi := ends[i], ends[i+1]
		if lo < 0 || hi < lo || hi > lo && data == nil {
			return "", errors.New("offsets that do not ascend")
		}
		if hi == lo {
			return "", nil
		}
		return string(unsafe.Slice((*byte)(unsafe.Add(data, lo)), hi-lo)), nil
	}
}
