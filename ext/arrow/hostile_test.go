package arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	arr "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/dataset/format"
)

// held is a file in memory.
type held struct{ *bytes.Reader }

func (held) Name() string                      { return "held" }
func (held) Close()                            {}
func (h held) At() (r io.ReaderAt, size int64) { return h.Reader, h.Size() }
func (held) Broken(offset int64, wanted string, err error) error {
	e := dataset.ErrFormat
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		e = dataset.ErrTruncated
	}
	return &format.RowError{File: "held", Offset: offset, What: "expected " + wanted, Err: e}
}

// readHeld reads a file in memory, and returns how many good rows it has.
func readHeld(f *format.Format, data []byte, o dataset.Options) (rows int, err error) {
	s, err := dataset.OpenRuns[float32](context.Background(), "held", f,
		func(o *format.Options) (format.Runs, *format.Layout, error) {
			return f.Runs(held{bytes.NewReader(data)}, o, nil)
		}, o)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for {
		b, err := s.Next()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return rows, err
		}
		rows += b.Len()
		for i := range b.Len() {
			if b.Dense() {
				if v := b.Row(i); len(v) > 0 && v[0]-v[0] != 0 {
					return rows, errors.New("a value that is no number was let through")
				}
				continue
			}
			for _, j := range b.Idx[b.Ptr[i]:b.Ptr[i+1]] {
				if j < 0 {
					return rows, errors.New("an index below 0 was let through")
				}
			}
		}
	}
}

// small are tables of all forms, three rows each.
func small(t testing.TB) map[string][]arr.RecordBatch {
	dict := &arr.DictionaryType{IndexType: arr.PrimitiveTypes.Int8, ValueType: utf8}
	return map[string][]arr.RecordBatch{
		"columns": table(t, fields("a", f32, "s", utf8, "d", dict, "n", i64, "y", i32),
			`{"a":1,"s":"u","d":"p","n":null,"y":-1},{"a":2,"s":null,"d":"q","n":7,"y":1},
			{"a":3,"s":"u","d":"p","n":8,"y":1}`),
		"pairs": table(t, fields("y", utf8, "x", arr.ListOf(pair)),
			`{"y":"no","x":[{"index":1,"value":2},{"index":7,"value":0.5}]},{"y":"yes","x":[]}`,
			`{"y":"yes","x":[{"index":3,"value":1}]}`),
		"lists": table(t, fields("y", i32, "indices", arr.ListOf(i64), "values", arr.ListOf(f64)),
			`{"y":-1,"indices":[0,2],"values":[1.5,-1]},{"y":1,"indices":[1],"values":[3]}`,
			`{"y":1,"indices":[],"values":[]}`),
		"dense": table(t, fields("y", i32, "v", arr.FixedSizeListOf(2, f32)),
			`{"y":-1,"v":[1,2]},{"y":1,"v":[3,4]}`, `{"y":1,"v":[5,6]}`),
	}
}

// damaged are options under which nothing stops at a bad row.
var damaged = dataset.Options{Workers: 1, Memory: 8 << 20, OnError: "skip", Missing: "mean"}

// TestFooterSchema: a file whose schema stands in its footer alone, as apache-arrow of JavaScript
// writes it, is read as one that begins with it, and one that comes through a pipe says why not.
func TestFooterSchema(t *testing.T) {
	for name, recs := range small(t) {
		data := asFile(t, recs)
		want, err := readHeld(IPC, data, damaged)
		if err != nil {
			t.Fatal(err)
		}
		first := 8 + 8 + int(binary.LittleEndian.Uint32(data[12:])) // magic, mark, length, schema
		data = append([]byte(magic+"\x00\x00"), data[first:]...)
		if rows, err := readHeld(IPC, data, damaged); rows != want || err != nil {
			t.Errorf("%s: %d rows, %v, want %d", name, rows, err, want)
		}
		for n := len(data) - 200; n < len(data); n++ {
			if _, err := readHeld(IPC, data[:n], damaged); err == nil {
				t.Errorf("%s: cut at %d of %d: no error", name, n, len(data))
			}
		}
		_, _, err = openIPC(piped{held{bytes.NewReader(data)}}, &format.Options{
			Limits: &format.Limits{Decode: 1 << 20}}, nil)
		if err == nil || !strings.Contains(err.Error(), errBehind.Error()) {
			t.Errorf("%s, piped: %v", name, err)
		}
	}
}

// piped is a file that is read from its beginning on alone.
type piped struct{ held }

func (piped) At() (io.ReaderAt, int64) { return nil, 0 }

// TestCut: a file that was cut is an error, wherever the cut is; a stream that was cut between two
// batches may be one that ended there.
func TestCut(t *testing.T) {
	for name, recs := range small(t) {
		for _, f := range []struct {
			name string
			f    *format.Format
			data []byte
		}{{"parquet", Parquet, asParquet(t, recs)}, {"file", IPC, asFile(t, recs)},
			{"stream", IPC, asStream(t, recs)}} {
			if rows, err := readHeld(f.f, f.data, damaged); rows != 3 || err != nil {
				t.Errorf("%s, %s: %d rows, %v", name, f.name, rows, err)
			}
			for n := 0; n < len(f.data); n += 1 + len(f.data)/150 {
				rows, err := readHeld(f.f, f.data[:n], damaged)
				switch {
				case err == nil && f.name == "stream" && rows < 4:
				case !errors.Is(err, dataset.ErrTruncated) && !errors.Is(err, dataset.ErrFormat) &&
					!errors.Is(err, dataset.ErrEmpty) && !errors.Is(err, dataset.ErrLabels):
					t.Errorf("%s, %s: %d of %d bytes: %d rows, %v", name, f.name, n, len(f.data),
						rows, err)
				}
			}
		}
	}
}

// TestFlipped: of files with a wrong byte, each is read or refused, and none ends the program.
func TestFlipped(t *testing.T) {
	for _, recs := range small(t) {
		for f, data := range map[*format.Format][]byte{Parquet: asParquet(t, recs),
			IPC: asStream(t, recs)} {
			for at := 0; at < len(data); at += 1 + len(data)/200 {
				for _, by := range []byte{0x01, 0x80, 0xff} {
					bad := bytes.Clone(data)
					bad[at] ^= by
					readHeld(f, bad, damaged)
				}
			}
		}
	}
}

// TestClaims: lengths that a file claims are not believed, and what has no room is said.
func TestClaims(t *testing.T) {
	recs := small(t)["pairs"]
	stream, file := asStream(t, recs), asParquet(t, recs)
	set := func(data []byte, at int, v uint32) []byte {
		data = bytes.Clone(data)
		binary.LittleEndian.PutUint32(data[at:], v)
		return data
	}
	var large strings.Builder
	for i := range 300000 {
		fmt.Fprintf(&large, `{"a":%d,"y":%d},`, i%2, i%2)
	}
	wide := table(t, fields("a", f64, "y", i32), strings.TrimSuffix(large.String(), ","))
	for _, tc := range []struct {
		name string
		f    *format.Format
		data []byte
		want string
		err  error
	}{
		{"a long message", IPC, set(stream, 4, 1<<30), "its length is 1073741824",
			dataset.ErrFormat},
		{"a short message", IPC, set(stream, 4, 3), "its length is 3", dataset.ErrFormat},
		{"no schema", IPC, []byte("\xff\xff\xff\xff\x00\x00\x00\x00"), "", dataset.ErrTruncated},
		{"a batch without room", IPC, asStream(t, wide), "a record batch takes more than the 2 MiB",
			dataset.ErrMemory},
		{"a packed one", IPC, asStream(t, wide, ipc.WithZstd()), "a record batch takes more than the " +
			"2 MiB", dataset.ErrMemory},
		{"another stream behind", IPC, append(bytes.Clone(stream), stream...), "expected the end of " +
			"the stream", dataset.ErrFormat},
		{"a long footer", Parquet, set(file, len(file)-8, 1<<31), "the description of the file takes",
			dataset.ErrFormat},
		{"an encrypted file", Parquet, append(bytes.Clone(file[:len(file)-1]), 'E'), "encrypted",
			dataset.ErrFormat},
		{"no end", Parquet, append(bytes.Clone(file), 'x'), "expected PAR1 at the end",
			dataset.ErrTruncated},
		{"a magic alone", Parquet, []byte("PAR1"), "", dataset.ErrTruncated},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := damaged
			o.Memory = 4 << 20
			rows, err := readHeld(tc.f, tc.data, o)
			if !errors.Is(err, tc.err) || !strings.Contains(fmt.Sprint(err), tc.want) {
				t.Errorf("%d rows, %v; want %q", rows, err, tc.want)
			}
		})
	}
	// packed, and from a pipe
	o := dataset.Options{}
	_, err := dataset.LoadReader[float32](context.Background(), "in", bytes.NewReader(file), o)
	if err == nil || !strings.Contains(err.Error(), "Parquet is read from its end: name the file") {
		t.Error(err)
	}
	d, err := dataset.LoadReader[float32](context.Background(), "in", bytes.NewReader(stream), o)
	if err != nil || d.Block.Len() != 3 {
		t.Error(d, err)
	}
}

// TestFiles: further files have the columns of the first, in any order, or are refused by name.
func TestFiles(t *testing.T) {
	a := write(t, "a", asParquet(t, table(t, fields("p", f32, "q", f32, "y", i32),
		`{"p":1,"q":2,"y":0}`)))
	b := write(t, "b", asParquet(t, table(t, fields("y", i64, "q", f64, "p", i32),
		`{"y":1,"q":4,"p":3}`)))
	ctx := context.Background()
	d, err := dataset.Load[float64](ctx, []string{a, b}, dataset.Options{})
	if err != nil || shown(&d.Block) != "-1 [1 2]|+1 [3 4]|" {
		t.Error(d, err)
	}
	list := write(t, "l", asParquet(t, table(t, fields("v", arr.FixedSizeListOf(2, f32), "y", i32),
		`{"v":[1,2],"y":0}`)))
	wide := write(t, "w", asParquet(t, table(t, fields("v", arr.FixedSizeListOf(3, f32), "y", i32),
		`{"v":[1,2,3],"y":0}`)))
	other := write(t, "o", asParquet(t, table(t, fields("p", f32, "r", f32, "y", i32),
		`{"p":1,"r":2,"y":0}`)))
	for _, tc := range []struct {
		files []string
		want  string
	}{{[]string{a, other}, `missing: "q"; not in training: "r"`},
		{[]string{list, wide}, "lists of 3 values, but of 2 before"},
		{[]string{list, a}, "rows are columns, but lists of numbers before"}} {
		_, err := dataset.Load[float64](ctx, tc.files, dataset.Options{})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v; want %s", err, tc.want)
		}
	}
}

// FuzzParquet and FuzzIPC: whatever a file holds, it is read or refused.
func FuzzParquet(f *testing.F) {
	for _, recs := range small(f) {
		f.Add(asParquet(f, recs))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, Parquet, data) })
}

func FuzzIPC(f *testing.F) {
	for _, recs := range small(f) {
		f.Add(asStream(f, recs))
		f.Add(asStream(f, recs, ipc.WithLZ4()))
		f.Add(asFile(f, recs))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, IPC, data) })
}

func fuzzed(t *testing.T, f *format.Format, data []byte) {
	debug.SetMemoryLimit(256 << 20) // so that an index takes no tables of gigabytes, and seconds
	rows, err := readHeld(f, data, damaged)
	if err != nil && strings.Contains(err.Error(), "let through") {
		t.Errorf("%d rows, %v", rows, err)
	}
}
