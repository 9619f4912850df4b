package arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	arr "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/format"
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

// TestSigns: a file whose description has a wrong lowest bit, which is the sign of Parquet's
// numbers, is read or refused, whichever byte it is.
func TestSigns(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20)) // as fuzzed
	for _, recs := range small(t) {
		data := asParquet(t, recs)
		end := len(data) - 8
		begin := end - int(binary.LittleEndian.Uint32(data[end:]))
		if at := bytes.LastIndex(data, []byte("ARROW:schema")); at > begin {
			end = at // behind it stand texts alone
		}
		for at := begin; at < end; at++ {
			data[at] ^= 1
			fuzzed(t, Parquet, data)
			data[at] ^= 1
		}
	}
}

// TestBrokenColumns: columns that refer to values which are not there are refused, whichever reader
// made them.
func TestBrokenColumns(t *testing.T) {
	ints := func(v ...int32) *memory.Buffer {
		return memory.NewBufferBytes(arr.Int32Traits.CastToBytes(v))
	}
	of := func(kind arr.DataType, n int, children []arr.ArrayData,
		buffers ...*memory.Buffer) *array.Data {
		return array.NewData(kind, n, append([]*memory.Buffer{nil}, buffers...), children, 0, 0)
	}
	none := of(arr.PrimitiveTypes.Int32, 0, nil, ints())
	one := of(arr.PrimitiveTypes.Int32, 1, nil, ints(7))
	dict := &arr.DictionaryType{IndexType: arr.PrimitiveTypes.Int32, ValueType: utf8}
	words := array.NewDataWithDictionary(dict, 1, []*memory.Buffer{nil, ints(5)}, 0, 0,
		of(utf8, 1, nil, ints(0, 1), memory.NewBufferBytes([]byte("a"))))
	for name, data := range map[string]*array.Data{
		"a list of no values": of(arr.ListOf(i32), 1, []arr.ArrayData{none}, ints(0, 3)),
		"a list that is long": of(arr.ListOf(i32), 1, []arr.ArrayData{one}, ints(0, 3)),
		"one before them":     of(arr.ListOf(i32), 1, []arr.ArrayData{one}, ints(-1, 1)),
		"lists that fall":     of(arr.ListOf(i32), 2, []arr.ArrayData{one}, ints(0, 1, 0)),
		"texts too long":      of(utf8, 1, nil, ints(0, 9), memory.NewBufferBytes([]byte("a"))),
		"words not there":     words,
		"two rows":            of(arr.PrimitiveTypes.Int32, 2, nil, ints(1, 2)),
	} {
		released := false
		func() {
			var err error
			defer func() {
				if p := recover(); p != nil {
					t.Logf("%s: arrow-go refuses it itself: %v", name, p)
				} else if err == nil || !released {
					t.Errorf("%s: %v, given back: %t", name, err, released)
				}
			}()
			_, err = newBatch(&plan{names: []string{"c"}}, []arr.Array{array.MakeFromData(data)}, 1,
				func() { released = true })
		}()
	}
}

// TestPages: what a page holds packed is read if it is as long as the page says, and takes no more
// memory, whatever it claims.
func TestPages(t *testing.T) {
	text := bytes.Repeat([]byte("halfspace "), 1000)
	claims := map[compress.Compression]string{ // of 4 GiB less a byte, and a byte of it
		compress.Codecs.Zstd:   "\x28\xb5\x2f\xfd\xa0\xff\xff\xff\xff\x09\x00\x00x",
		compress.Codecs.Snappy: "\xff\xff\xff\xff\x0f\x00x",
	}
	for _, id := range []compress.Compression{compress.Codecs.Zstd, compress.Codecs.Snappy,
		compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Lz4Raw} {
		codec, err := compress.GetCodec(id)
		if err != nil {
			t.Fatal(err)
		}
		packed := codec.Encode(nil, text)
		page := make([]byte, len(text)+8) // room behind the page is not the page's
		if got, err := compress.Decode(codec, page[:len(text)], packed); err != nil ||
			!bytes.Equal(got, text) {
			t.Errorf("%v: %d bytes of %d, %v", id, len(got), len(text), err)
		}
		for _, n := range []int{0, 1, len(text) - 1} {
			if got, err := compress.Decode(codec, page[:n], packed); err == nil {
				t.Errorf("%v: %d bytes in a page of %d", id, len(got), n)
			}
		}
		claim, ok := claims[id]
		if !ok {
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = compress.Decode(codec, page, []byte(claim))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 1<<26 {
			t.Errorf("%v: a claim: %v, %d MiB", id, err, took>>20)
		}
	}
}

// TestMutants: files with some wrong bytes are read or refused, and none ends the program.
func TestMutants(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20)) // as fuzzed
	mutants := 20_000
	if testing.Short() {
		mutants = 2_000
	}
	type file struct {
		f    *format.Format
		data []byte
	}
	var files []file
	recs := small(t)
	for _, name := range slices.Sorted(maps.Keys(recs)) {
		r := recs[name]
		pq := file{Parquet, asParquet(t, r)} // twice: it has most ways to be wrong
		files = append(files, pq, pq, file{IPC, asFile(t, r)}, file{IPC, asStream(t, r)},
			file{IPC, asStream(t, r, ipc.WithLZ4())})
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range mutants {
		from := files[i%len(files)]
		bad := bytes.Clone(from.data)
		for range 1 + rnd.IntN(4) {
			at := rnd.IntN(len(bad))
			switch rnd.IntN(4) {
			case 0:
				bad[at] ^= 1 << rnd.IntN(8)
			case 1:
				bad[at] = byte(rnd.Uint32())
			case 2: // the ends of ranges, of bytes and of varints
				bad[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[rnd.IntN(5)]
			case 3: // a length of -1
				copy(bad[at:], "\xff\xff\xff\xff")
			}
		}
		fuzzed(t, from.f, bad)
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
