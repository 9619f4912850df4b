package measure

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// readLarge is how much text is read by several threads: beside it what a stream takes to begin
// and to end is nothing.
const readLarge = 64 << 20

// Read measures the parsing of text in memory: on one core Adult and Web (a9a, w8a) as svmlight,
// plain and packed by gzip, and the first 10,000 images of MNIST as svmlight and csv, beside a Go
// program's plain way, and files of Adult in other formats beside its svmlight; then 64 MiB of
// Adult on two threads beside one, by the wall clock. MB/s are of unpacked text. Without a data
// folder text of the same shapes is generated.
func Read(ctx context.Context, dataDir string, o Options) ([]Result, error) {
	cases, adult, err := readingCases(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	var pairs []pair
	for _, c := range cases {
		p, err := c.pair(ctx)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	temp, err := os.MkdirTemp("", "halfspace-read-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	forms, err := readingForms(ctx, temp, adult)
	if err != nil {
		return nil, err
	}
	pairs = append(pairs, forms...)
	threads := runtime.GOMAXPROCS(1) // one core: a stream has goroutines of its own
	out, err := runAll(ctx, pairs, o)
	runtime.GOMAXPROCS(threads)
	if err != nil || threads < 2 {
		return out, err
	}
	text := bytes.Repeat(adult.text, 1+readLarge/len(adult.text))
	more, err := runAll(ctx, []pair{{
		name: "read/svmlight/" + adult.name + "-64MiB/threads=2", unit: "MB/s",
		amount: float64(len(text)), threads: true,
		ours:     loop(func() { readAll(ctx, adult.name, text, 2) }),
		peerName: "one-thread",
		peer:     loop(func() { readAll(ctx, adult.name, text, 1) }),
	}}, o)
	return append(out, more...), err
}

// readingCase is a text, as it is read and as it was before it was packed.
type readingCase struct {
	format, name string
	packed, text []byte
	plain        func(text []byte) (rows int, sum float64)
}

func (c readingCase) pair(ctx context.Context) (pair, error) {
	p := pair{name: "read/" + c.format + "/" + c.name, unit: "MB/s", amount: float64(len(c.text)),
		cpu: ProcessTime, ours: loop(func() { readAll(ctx, c.name, c.packed, 1) }),
		peerName: "strconv", // split at blanks or commas, strconv
		peer:     loop(func() { c.plain(c.packed) }),
	}
	rows, err := readAll(ctx, c.name, c.packed, 1)
	if want, _ := c.plain(c.packed); err == nil && rows != want {
		err = fmt.Errorf("bench: %s: %d rows, %d by the plain way", p.name, rows, want)
	}
	return p, err
}

// readingForms are files of the same rows, four times over, in other formats, which are written
// into a folder, beside one of svmlight.
func readingForms(ctx context.Context, dir string, c readingCase) (pairs []pair, err error) {
	text := filepath.Join(dir, "svmlight")
	if err := os.WriteFile(text, bytes.Repeat(c.text, 4), 0o600); err != nil {
		return nil, err
	}
	want, err := readFiles(ctx, text)
	for _, to := range []string{"vw", "ndjson", "csv", "npy"} {
		if err != nil {
			return nil, err
		}
		files := []string{filepath.Join(dir, to)}
		var rows, labels bytes.Buffer
		_, err = dataset.Convert(ctx, []string{text}, dataset.Options{},
			dataset.Conversion{To: to, Out: &rows, Labels: &labels})
		if err == nil {
			err = os.WriteFile(files[0], rows.Bytes(), 0o600)
		}
		if err == nil && labels.Len() > 0 {
			files = append(files, files[0]+".labels")
			err = os.WriteFile(files[1], labels.Bytes(), 0o600)
		}
		got := 0
		if err == nil {
			got, err = readFiles(ctx, files...)
		}
		if err == nil && got != want {
			err = fmt.Errorf("bench: %d rows of %s, %d of svmlight", got, to, want)
		}
		pairs = append(pairs, pair{name: "read/" + to + "/" + c.name, unit: "ns/example",
			scale: float64(want), cpu: ProcessTime, peerName: "svmlight",
			ours: loop(func() { readFiles(ctx, files...) }),
			peer: loop(func() { readFiles(ctx, text) })})
	}
	return pairs, err
}

// readFiles parses files with one worker, and returns the number of their rows.
func readFiles(ctx context.Context, files ...string) (rows int, err error) {
	return readStream(dataset.Open[float32](ctx, files, dataset.Options{Workers: 1, Positive: "1"}))
}

// readAll parses a text with so many workers, and returns the number of its rows.
func readAll(ctx context.Context, name string, text []byte, workers int) (rows int, err error) {
	return readStream(dataset.OpenReader[float32](ctx, name, bytes.NewReader(text),
		dataset.Options{Workers: workers, Positive: "1"}))
}

// readStream reads a stream to its end, and returns the number of its rows.
func readStream(stream *dataset.Stream[float32], err error) (rows int, _ error) {
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	for {
		switch b, err := stream.Next(); err {
		case nil:
			rows += b.Len()
		case io.EOF:
			return rows, nil
		default:
			return rows, err
		}
	}
}

// readingCases are those on one core. adult is one of them.
func readingCases(ctx context.Context, dir string) (all []readingCase, adult readingCase,
	err error) {
	for _, c := range []struct {
		file, made  string
		fields, dim int
	}{{"a9a.gz", "onehot-14-of-123", 14, 123}, {"w8a.gz", "onehot-12-of-300", 12, 300}} {
		packed, text, err := sparseText(dir, c.file, c.fields, c.dim)
		if err != nil {
			return nil, adult, err
		}
		name := c.made
		if dir != "" {
			name = c.file[:len(c.file)-len(".gz")]
		}
		plain := readingCase{"svmlight", name, text, text, plainSVMLight}
		if len(all) == 0 {
			adult = plain
		}
		all = append(all, plain, readingCase{"svmlight.gz", name, packed, text, plainPacked})
	}
	images, name, err := pixels(ctx, dir)
	if err != nil {
		return nil, adult, err
	}
	sparse := svmlightText(images, "-1", "1", 1)
	dense := csvText(images)
	return append(all,
		readingCase{"svmlight", name, sparse, sparse, plainSVMLight},
		readingCase{"csv", name, dense, dense, plainCSV}), adult, nil
}

// sparseText returns the svmlight text of a file packed by gzip, or of generated rows, and the same
// packed.
func sparseText(dir, file string, fields, dim int) (packed, text []byte, err error) {
	if dir == "" {
		var z bytes.Buffer
		text = svmlightText(oneHot(20000, fields, dim), "-1", "+1", 1)
		w := gzip.NewWriter(&z)
		w.Write(text) // into memory
		w.Close()
		return z.Bytes(), text, nil
	}
	if packed, err = os.ReadFile(filepath.Join(dir, file)); err != nil {
		return nil, nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, nil, err
	}
	text, err = io.ReadAll(z)
	return packed, text, err
}

// svmlightText is the text of examples with those labels, their values divided by scale, without
// their zeros.
func svmlightText(b *engine.Block[float32], negative, positive string, scale float64) (
	text []byte) {
	for i, y := range b.Y {
		label := positive
		if y < 0 {
			label = negative
		}
		text = append(text, label...)
		idx, val := b.Example(i)
		for k, v := range val {
			if v == 0 {
				continue
			}
			text = append(strconv.AppendInt(append(text, ' '), int64(engine.FeatureOf(idx, k))+1,
				10), ':')
			text = strconv.AppendFloat(text, float64(v)/scale, 'g', -1, 32)
		}
		text = append(text, '\n')
	}
	return text
}

// writeScaled writes svmlight text of values divided by scale.
func writeScaled(file string, b *engine.Block[float32], scale float64) error {
	if err := os.WriteFile(file, svmlightText(b, "-1", "1", scale), 0o600); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}

// pixels are images with a label for the digit 8: the first 10,000 of MNIST, or generated ones in
// which a fifth of the pixels isn't 0.
func pixels(ctx context.Context, dir string) (*engine.Block[float32], string, error) {
	if dir != "" {
		d, err := load[float32](ctx, dir, dataset.Options{Positive: "8"}, digitFiles...)
		if err != nil {
			return nil, "", err
		}
		b := d.Block.Slice(0, 10000)
		return &b, "mnist8", nil
	}
	const n, side = 3000, 784
	rng := engine.NewRand(1, 0)
	b := &engine.Block[float32]{Dim: side, Stride: side}
	for range n {
		y := float32(-1)
		if rng.Uniform() < 0.1 {
			y = 1
		}
		b.Y = append(b.Y, y)
		for range side {
			v := float32(0)
			if rng.Uniform() < 0.2 {
				v = float32(1 + int(255*rng.Uniform()))
			}
			b.X = append(b.X, v)
		}
	}
	return b, "pixels-157-of-784", nil
}

// csvText writes a row of numbers for each example, the label first.
func csvText(b *engine.Block[float32]) []byte {
	text := []byte("label")
	for j := range b.Dim {
		text = strconv.AppendInt(append(text, ",p"...), int64(j), 10)
	}
	text = append(text, '\n')
	row := make([]float32, b.Dim)
	for i, y := range b.Y {
		if b.Dense() {
			copy(row, b.Row(i))
		} else {
			clear(row)
			idx, val := b.Sparse(i)
			for k, j := range idx {
				row[j] = val[k]
			}
		}
		text = strconv.AppendInt(text, int64(y), 10)
		for _, v := range row {
			text = strconv.AppendFloat(append(text, ','), float64(v), 'g', -1, 32)
		}
		text = append(text, '\n')
	}
	return text
}

// plainSVMLight reads svmlight text as one would write it with the standard library.
func plainSVMLight(text []byte) (rows int, sum float64) {
	for line := range bytes.Lines(text) {
		for i, field := range bytes.Fields(line) {
			if i == 0 {
				rows++
				continue
			}
			j, v, _ := bytes.Cut(field, []byte(":"))
			index, _ := strconv.Atoi(string(j))
			value, _ := strconv.ParseFloat(string(v), 32)
			sum += float64(index) * value
		}
	}
	return rows, sum
}

// plainPacked does so with text packed by gzip.
func plainPacked(packed []byte) (rows int, sum float64) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, 0
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return 0, 0
	}
	return plainSVMLight(text)
}

// plainCSV reads csv without quotes, behind a header.
func plainCSV(text []byte) (rows int, sum float64) {
	rows = -1
	for line := range bytes.Lines(text) {
		if rows++; rows == 0 {
			continue
		}
		for field := range bytes.SplitSeq(bytes.TrimRight(line, "\n"), []byte(",")) {
			value, _ := strconv.ParseFloat(string(field), 32)
			sum += value
		}
	}
	return rows, sum
}
