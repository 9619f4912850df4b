// Command libhalfspace is a library for programs that are not in Go: halfspace.h says what it does.
//
//	go build -buildmode=c-shared -o libhalfspace.so .
//
// Each function is a call of package halfspace with the caller's arrays.
package main

/*
#include <stdlib.h>
#define HALFSPACE_NO_FUNCTIONS
#include "halfspace.h"

void halfspace_keep_error(const char *text);
const char *halfspace_kept_error(void);
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime/cgo"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/training"
)

func main() {}

// reserve is never touched, and so takes no memory. It counts as used where the collector decides
// when to begin: in a process whose models are small it would begin within each call, at a
// millisecond of processor time. The price is that up to as much more may wait to be collected.
var reserve = make([]byte, 12<<20)

// model is what a handle stands for.
type model struct {
	mu      sync.RWMutex // learning and saving have it for themselves
	asked                // what scores: learns or a snapshot
	learn   *halfspace.Model
	trained                // of a model that was trained here
	about   map[string]any // of a snapshot, what Describe says that only a Model knows
	names   []string       // of the classes, where labels are numbers of these
}

// trained is what training said.
type trained struct {
	counts    *eval.Result
	converged bool
	warnings  []string
}

// asked is what models and snapshots have in common.
type asked interface {
	ScoreRows(*halfspace.Rows, []float64) error
	ProbaRows(*halfspace.Rows, []float64) error
	LabelRows(*halfspace.Rows, []int32) error
	Row() *halfspace.Row
	Scores(*halfspace.Row, []float64) ([]float64, error)
	Probas(*halfspace.Row, []float64) ([]float64, error)
	Predicted([]float64) (string, float64)
	Scales() (shift, factor []float64)
	FeatureNames() []string
	Outputs() int
	Classes() []string
	Weights() ([][]float64, []float64, bool)
	Features() int
	Encode(w io.Writer) error
	Save(path string) error
}

var (
	errModel    = errors.New("not a model: it was freed, or never made")
	errSnapshot = errors.New("a snapshot learns no more")
	errStopped  = errors.New("training was stopped")
)

// try does what a function does, keeps its error for the caller, and lets no panic out.
func try(do func() error) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			keep(fmt.Errorf("an error of the library itself: %v", p))
			ok = false
		}
	}()
	C.halfspace_keep_error(nil)
	if err := do(); err != nil {
		keep(err)
		return false
	}
	return true
}

func keep(err error) {
	text := C.CString(err.Error())
	defer C.free(unsafe.Pointer(text))
	C.halfspace_keep_error(text)
}

// find returns what a handle stands for.
func find(id C.halfspace_model) (m *model, err error) {
	defer func() {
		if recover() != nil {
			m, err = nil, errModel
		}
	}()
	return cgo.Handle(id).Value().(*model), nil
}

// with does something with a model, which others may use meanwhile, or alone.
func with(id C.halfspace_model, alone bool, do func(m *model) error) (ok bool) {
	return try(func() error {
		m, err := find(id)
		if err != nil {
			return err
		}
		if alone {
			m.mu.Lock()
			defer m.mu.Unlock()
		} else {
			m.mu.RLock()
			defer m.mu.RUnlock()
		}
		return do(m)
	})
}

// made returns a handle of what make makes; 0 and an error where it fails.
func made(make func() (*model, error)) (id C.halfspace_model) {
	try(func() error {
		m, err := make()
		if err == nil {
			id = C.halfspace_model(cgo.NewHandle(m))
		}
		return err
	})
	return id
}

func learning(m *halfspace.Model, err error) (*model, error) {
	if err != nil {
		return nil, err
	}
	return &model{asked: m, learn: m}, nil
}

// count is what a function returns that counts something: -1 where it fails.
func count(id C.halfspace_model, alone bool, of func(m *model) (int, error)) (n C.int64_t) {
	if !with(id, alone, func(m *model) error {
		counted, err := of(m)
		n = C.int64_t(counted)
		return err
	}) {
		return -1
	}
	return n
}

// result is what a function returns that has nothing else to say.
func result(ok bool) C.int32_t {
	if ok {
		return 0
	}
	return -1
}

//export halfspace_abi
func halfspace_abi() C.int32_t { return C.HALFSPACE_ABI }

//export halfspace_error
func halfspace_error() *C.char { return (*C.char)(unsafe.Pointer(C.halfspace_kept_error())) }

//export halfspace_new
func halfspace_new(options *C.char) C.halfspace_model {
	return made(func() (*model, error) {
		o, err := optionsOf(options)
		if err != nil {
			return nil, err
		}
		return learning(halfspace.New(o))
	})
}

//export halfspace_train
func halfspace_train(options *C.char, rows *C.halfspace_rows, names **C.char,
	n C.int32_t) C.halfspace_model {
	return halfspace_train_until(options, rows, names, n, nil)
}

//export halfspace_train_until
func halfspace_train_until(options *C.char, rows *C.halfspace_rows, names **C.char, n C.int32_t,
	stop *C.int32_t) C.halfspace_model {
	return made(func() (*model, error) {
		o, err := optionsOf(options)
		if err != nil {
			return nil, err
		}
		r, err := rowsOf(rows)
		if err != nil {
			return nil, err
		}
		if r.Names, err = textsOf(names, n); err != nil {
			return nil, err
		}
		r.Texts = true
		ctx, done := until((*int32)(unsafe.Pointer(stop)))
		defer done()
		var told warnings
		m, err := halfspace.TrainRows(halfspace.WithLogger(ctx, slog.New(&told)), o, r)
		if ctx.Err() != nil {
			return nil, errStopped
		}
		converged := !errors.Is(err, training.ErrNotConverged)
		if m != nil { // as far as it came
			err = nil
		}
		made, err := learning(m, err)
		if made != nil {
			made.trained = trained{&m.Result().Counts, converged, told.texts}
		}
		return made, err
	})
}

// until returns a context that ends when *stop becomes other than 0; nil never does. done ends the
// watching, after which *stop is not read any more.
func until(stop *int32) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(context.Background())
	if stop == nil {
		return ctx, cancel
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-ticker.C:
				if atomic.LoadInt32(stop) != 0 {
					cancel()
				}
			}
		}
	}()
	return ctx, func() { cancel(); <-ended }
}

// warnings keeps what is logged at level Warn: each as CODE: TEXT.
type warnings struct{ texts []string }

// Enabled reports whether it is a warning.
func (*warnings) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle keeps a warning.
func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	code, text := strings.ReplaceAll(r.Message, " ", "-"), ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "code":
			code = a.Value.String()
		case "text":
			text = a.Value.String()
		default:
			text += fmt.Sprintf(" %s %v", a.Key, a.Value)
		}
		return true
	})
	w.texts = append(w.texts, code+": "+strings.TrimSpace(text))
	return nil
}

// WithAttrs and WithGroup are not called by training.
func (w *warnings) WithAttrs([]slog.Attr) slog.Handler { return w }
func (w *warnings) WithGroup(string) slog.Handler      { return w }

//export halfspace_learn
func halfspace_learn(id C.halfspace_model, rows *C.halfspace_rows, names **C.char,
	n C.int32_t) C.int64_t {
	return count(id, true, func(m *model) (mistakes int, err error) {
		if m.learn == nil {
			return 0, errSnapshot
		}
		r, err := rowsOf(rows)
		if err != nil {
			return 0, err
		}
		if names != nil {
			if r.Names, err = textsOf(names, n); err != nil {
				return 0, err
			}
			r.Texts = true
		} else {
			if m.names == nil {
				m.names = m.Classes()
			}
			r.Names = m.names
		}
		wrong, err := m.learn.LearnRows(context.Background(), r)
		if names != nil {
			m.names = nil // there may be new ones
		}
		return int(wrong), err
	})
}

//export halfspace_outputs
func halfspace_outputs(id C.halfspace_model) C.int32_t {
	return C.int32_t(count(id, false, func(m *model) (int, error) { return m.Outputs(), nil }))
}

//export halfspace_classes
func halfspace_classes(id C.halfspace_model, to *C.char, size C.int64_t) C.int64_t {
	return given(id, false, to, size, func(m *model) ([]byte, error) {
		return []byte(strings.Join(m.Classes(), "\x00") + "\x00"), nil
	})
}

//export halfspace_describe
func halfspace_describe(id C.halfspace_model, to *C.char, size C.int64_t) C.int64_t {
	return given(id, false, to, size, func(m *model) ([]byte, error) {
		about := m.about
		if about == nil {
			about = describe(m.learn)
			if t := m.trained; t.counts != nil {
				about["examples"], about["errors"] = t.counts.Examples, t.counts.Errors
				about["converged"], about["warnings"] = t.converged, t.warnings
			}
		}
		text, err := json.Marshal(about)
		return append(text, 0), err
	})
}

func describe(m *halfspace.Model) map[string]any {
	name, settings := m.Learner()
	_, _, weights := m.Weights()
	proba := m.ProbaRows(&halfspace.Rows{Dim: m.Features()}, nil)
	return map[string]any{"learner": name, "config": json.RawMessage(settings),
		"features": m.Features(), "presented": m.Presented(), "weights": weights,
		"proba": !errors.Is(proba, halfspace.ErrProba), "threshold": m.From(), "snapshot": false,
		"options": m.Options(), "names": m.FeatureNames(), "calibrated": m.Calibrated()}
}

//export halfspace_score
func halfspace_score(id C.halfspace_model, rows *C.halfspace_rows, to *C.double,
	places C.int64_t) C.int32_t {
	return ask(id, asked.ScoreRows, rows, to, places)
}

//export halfspace_proba
func halfspace_proba(id C.halfspace_model, rows *C.halfspace_rows, to *C.double,
	places C.int64_t) C.int32_t {
	return ask(id, asked.ProbaRows, rows, to, places)
}

//export halfspace_predict
func halfspace_predict(id C.halfspace_model, rows *C.halfspace_rows, to *C.int32_t,
	places C.int64_t) C.int32_t {
	return ask(id, asked.LabelRows, rows, to, places)
}

//export halfspace_ask_json
func halfspace_ask_json(id C.halfspace_model, rows *C.char, what C.int32_t, to *C.double,
	places C.int64_t) C.int64_t {
	return count(id, false, func(m *model) (int, error) {
		if rows == nil {
			return 0, errors.New("the rows are NULL")
		}
		dst, err := slice[float64](unsafe.Pointer(to), int64(places))
		if err != nil {
			return 0, err
		}
		out, n, err := m.askJSON(strings.NewReader(C.GoString(rows)), int32(what))
		if err == nil && len(out) <= len(dst) {
			copy(dst, out)
		}
		return n, err
	})
}

// What halfspace_ask_json is asked for, as the header has it.
const (
	askScores = iota
	askProbabilities
	askLabels
)

// askJSON asks the model about rows that are JSON objects, one behind another.
func (m *model) askJSON(in io.Reader, what int32) (out []float64, n int, err error) {
	ask := m.Scores
	switch what {
	case askScores, askLabels:
	case askProbabilities:
		ask = m.Probas
	default:
		return nil, 0, fmt.Errorf("asked for %d, want 0 to %d", what, askLabels)
	}
	classes := m.Classes()
	row := m.Row()
	for d := json.NewDecoder(in); ; n++ {
		var fields map[string]any
		if err := d.Decode(&fields); err == io.EOF {
			return out, n, nil
		} else if err != nil {
			return nil, 0, fmt.Errorf("row %d: %w", n+1, err)
		}
		row.Reset()
		for name, value := range fields {
			switch v := value.(type) {
			case nil:
			case float64:
				row.Set(name, v)
			case string:
				row.SetText(name, v)
			default:
				return nil, 0, fmt.Errorf("row %d: %q is %v, want a number or a text", n+1, name,
					v)
			}
		}
		had := len(out)
		if out, err = ask(row, out); err != nil {
			return nil, 0, fmt.Errorf("row %d: %w", n+1, err)
		}
		if what == askLabels {
			label, _ := m.Predicted(out[had:])
			out = append(out[:had], float64(slices.Index(classes, label)))
		}
	}
}

//export halfspace_scales
func halfspace_scales(id C.halfspace_model, shift, factor *C.double, dim C.int64_t) C.int32_t {
	return result(with(id, false, func(m *model) error {
		shifts, err := slice[float64](unsafe.Pointer(shift), int64(dim))
		if err != nil {
			return err
		}
		factors, err := slice[float64](unsafe.Pointer(factor), int64(dim))
		if err != nil {
			return err
		}
		s, f := m.Scales()
		clear(shifts)
		copy(shifts, s)
		for j := copy(factors, f); j < len(factors); j++ {
			factors[j] = 1
		}
		return nil
	}))
}

//export halfspace_set_note
func halfspace_set_note(id C.halfspace_model, note *C.char) C.int32_t {
	return result(with(id, true, func(m *model) error {
		switch {
		case m.learn == nil:
			return errSnapshot
		case note == nil:
			return errors.New("the note is NULL")
		}
		m.learn.SetNote(C.GoString(note))
		return nil
	}))
}

//export halfspace_note
func halfspace_note(id C.halfspace_model, to *C.char, size C.int64_t) C.int64_t {
	return given(id, false, to, size, func(m *model) ([]byte, error) {
		if m.learn == nil {
			return nil, errSnapshot
		}
		return append([]byte(m.learn.Note()), 0), nil
	})
}

//export halfspace_weights
func halfspace_weights(id C.halfspace_model, output C.int32_t, to *C.double, dim C.int64_t,
	bias *C.double) C.int32_t {
	return result(with(id, false, func(m *model) error {
		weights, biases, ok := m.Weights()
		switch k := int(output); {
		case !ok:
			return errors.New("the model has no weights: its scores are no sums over features")
		case k < 0 || k >= len(weights):
			return fmt.Errorf("output %d of %d", k, len(weights))
		case bias == nil:
			return errors.New("there is no place for the bias")
		}
		dst, err := slice[float64](unsafe.Pointer(to), int64(dim))
		if err != nil {
			return err
		}
		clear(dst)
		copy(dst, weights[output])
		*bias = C.double(biases[output])
		return nil
	}))
}

//export halfspace_snapshot
func halfspace_snapshot(id C.halfspace_model) (snapshot C.halfspace_model) {
	with(id, true, func(m *model) error {
		if m.learn == nil {
			return errSnapshot
		}
		s := &model{asked: m.learn.Snapshot(), about: describe(m.learn)}
		s.about["snapshot"] = true
		snapshot = C.halfspace_model(cgo.NewHandle(s))
		return nil
	})
	return snapshot
}

//export halfspace_encode
func halfspace_encode(id C.halfspace_model, to unsafe.Pointer, size C.int64_t) C.int64_t {
	return given(id, true, (*C.char)(to), size, func(m *model) ([]byte, error) {
		var b bytes.Buffer
		err := m.Encode(&b)
		return b.Bytes(), err
	})
}

//export halfspace_decode
func halfspace_decode(data unsafe.Pointer, size C.int64_t) C.halfspace_model {
	return made(func() (*model, error) {
		bytes, err := slice[byte](data, int64(size))
		if err != nil {
			return nil, err
		}
		return learning(halfspace.Decode(bytes))
	})
}

//export halfspace_save
func halfspace_save(id C.halfspace_model, path *C.char) C.int32_t {
	return result(with(id, true, func(m *model) error {
		if path == nil {
			return errors.New("the path is NULL")
		}
		return m.Save(C.GoString(path))
	}))
}

//export halfspace_load
func halfspace_load(path *C.char) C.halfspace_model {
	return made(func() (*model, error) {
		if path == nil {
			return nil, errors.New("the path is NULL")
		}
		return learning(halfspace.Load(C.GoString(path)))
	})
}

//export halfspace_free
func halfspace_free(id C.halfspace_model) C.int32_t {
	return result(id == 0 || with(id, true, func(*model) error { // those that use it end first
		cgo.Handle(id).Delete()
		return nil
	}))
}

// given copies what of returns into the caller's memory, if that is large enough, and returns its
// length.
func given(id C.halfspace_model, alone bool, to *C.char, size C.int64_t,
	of func(m *model) ([]byte, error)) C.int64_t {
	return count(id, alone, func(m *model) (int, error) {
		b, err := of(m)
		if err == nil && to != nil && int64(size) >= int64(len(b)) {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(to)), size), b)
		}
		return len(b), err
	})
}

// ask has a model say something of rows into the caller's memory: E is what C's T is in Go.
func ask[T, E any](id C.halfspace_model, of func(asked, *halfspace.Rows, []E) error,
	rows *C.halfspace_rows, to *T, places C.int64_t) C.int32_t {
	return result(with(id, false, func(m *model) error {
		r, err := rowsOf(rows)
		if err != nil {
			return err
		}
		dst, err := slice[E](unsafe.Pointer(to), int64(places))
		if err != nil {
			return err
		}
		return of(m, r, dst)
	}))
}

// optionsOf reads the options.
func optionsOf(text *C.char) (o halfspace.Options, err error) {
	if text == nil {
		return o, errors.New("the options are NULL")
	}
	d := json.NewDecoder(strings.NewReader(C.GoString(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return o, fmt.Errorf("options: %w", err)
	}
	return o, nil
}

// textsOf returns names that C has.
func textsOf(names **C.char, n C.int32_t) ([]string, error) {
	list, err := slice[*C.char](unsafe.Pointer(names), int64(n))
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(list))
	for i, name := range list {
		if name == nil {
			return nil, fmt.Errorf("name %d is NULL", i)
		}
		texts[i] = C.GoString(name)
	}
	return texts, nil
}

// rowsOf returns rows that C has.
func rowsOf(c *C.halfspace_rows) (r *halfspace.Rows, err error) {
	if c == nil {
		return nil, errors.New("the rows are NULL")
	}
	n, dim, stride := int64(c.n), int64(c.dim), int64(c.stride)
	if n < 0 || n >= math.MaxInt32<<20 || dim < 0 || dim > math.MaxInt32 || stride < 0 {
		return nil, fmt.Errorf("%d rows of %d features, %d apart", n, dim, stride)
	}
	r = &halfspace.Rows{N: int(n), Dim: int(dim), Stride: int(stride)}
	values := int64(0)
	if c.ptr != nil {
		if r.Ptr, err = slice[int](unsafe.Pointer(c.ptr), n+1); err != nil {
			return nil, err
		}
		values = int64(r.Ptr[n])
		if r.Idx, err = slice[int32](unsafe.Pointer(c.idx), values); err != nil {
			return nil, fmt.Errorf("indices: %w", err)
		}
	} else if n > 0 {
		if values = max(stride, dim); values > 0 && n > math.MaxInt64/values {
			return nil, fmt.Errorf("%d rows of %d features, %d apart", n, dim, stride)
		}
		values = (n-1)*values + dim
	}
	if c.f64 != nil && c.f32 == nil {
		r.F64, err = slice[float64](unsafe.Pointer(c.f64), values)
	} else if r.F32, err = slice[float32](unsafe.Pointer(c.f32), values); c.f64 != nil {
		return nil, errors.New("values in both precisions")
	}
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	if c.labels != nil {
		r.Labels, _ = slice[int32](unsafe.Pointer(c.labels), n)
	}
	if c.weights != nil {
		r.Weights, _ = slice[float64](unsafe.Pointer(c.weights), n)
	}
	return r, nil
}

// slice returns n elements that C has.
func slice[E any](p unsafe.Pointer, n int64) ([]E, error) {
	switch {
	case n < 0 || n > math.MaxInt64/16:
		return nil, fmt.Errorf("%d elements", n)
	case p == nil && n > 0:
		return nil, fmt.Errorf("NULL, want %d elements", n)
	case n == 0:
		return []E{}, nil
	}
	return unsafe.Slice((*E)(p), n), nil
}
