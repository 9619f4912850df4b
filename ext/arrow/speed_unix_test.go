//go:build unix

package arrow

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/realdata"
)

// BenchmarkRead reads a9a twenty times over, in turn as text and as each form, with one worker, and
// says how much CPU time a row takes (user) and how many MB of the file a second of it reads.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	file := realdata.File(b, "a9a.gz")
	d, err := dataset.Load[float32](ctx, []string{file}, dataset.Options{})
	if err != nil {
		b.Fatal(err)
	}
	text := realdata.Text(b, "a9a.gz")
	const times = 20
	dir := b.TempDir()
	plain := parquet.WithCompression(compress.Codecs.Uncompressed)
	var files []string
	put := func(name string, data []byte) {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			b.Fatal(err)
		}
		files = append(files, name)
	}
	put("svmlight", bytes.Repeat(text, times))
	for _, f := range []struct {
		name string
		form int
	}{{"pairs", asPairs}, {"lists", asLists}, {"dense", asDense}} {
		one := batches(b, d, f.form, 1<<14, 123)
		recs := one
		for range times - 1 {
			recs = append(recs, one...)
		}
		put(f.name+".arrow", asFile(b, recs))
		put(f.name+"-zstd.arrow", asFile(b, recs, ipc.WithZstd()))
		put(f.name+".parquet", asParquet(b, recs, plain))
		put(f.name+"-zstd.parquet", asParquet(b, recs))
	}
	cpu := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano()
	}
	spent := make([]int64, len(files))
	rows := int64(0)
	b.ResetTimer()
	for range b.N {
		for i, f := range files {
			from := cpu()
			s, err := dataset.Open[float32](ctx, []string{f}, dataset.Options{Workers: 1})
			for err == nil {
				_, err = s.Next()
			}
			if err != io.EOF {
				b.Fatal(f, err)
			}
			spent[i] += cpu() - from
			rows = int64(s.Info().Rows)
			s.Close()
		}
	}
	for i, f := range files {
		st, err := os.Stat(f)
		if err != nil {
			b.Fatal(err)
		}
		each := spent[i] / int64(b.N)
		fmt.Printf("%-22s %6.0f ns a row  %6.2f million rows/s  %6.0f MB/s (%.1f MB)\n",
			filepath.Base(f), float64(each)/float64(rows), float64(rows)*1e3/float64(each),
			float64(st.Size())*1e3/float64(each), float64(st.Size())/1e6)
	}
}
