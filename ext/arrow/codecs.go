package arrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// pageCodec reads no more of a page than its header says, which memory was taken for: what is
// packed may claim gigabytes, and arrow-go makes room for them before it compares the two.
type pageCodec struct {
	compress.Codec
	compress.StreamingCodec
	decode func(page, packed []byte) ([]byte, error)
}

// DecodeWithError implements compress.ErrorCodec, by which pages are read.
func (c pageCodec) DecodeWithError(page, packed []byte) ([]byte, error) {
	return c.decode(page, packed)
}

// init takes the place of the codecs that would make room. The others read into the page alone.
func init() {
	pages, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the option is wrong
	}
	replace(compress.Codecs.Zstd, func(page, packed []byte) ([]byte, error) {
		return pages.DecodeAll(packed, page[:0:len(page)])
	})
	replace(compress.Codecs.Snappy, func(page, packed []byte) ([]byte, error) {
		if n, err := snappy.DecodedLen(packed); err != nil || n > len(page) {
			return nil, fmt.Errorf("%d bytes in a page of %d", n, len(page))
		}
		return snappy.Decode(page, packed)
	})
}

func replace(id compress.Compression, decode func(page, packed []byte) ([]byte, error)) {
	codec, err := compress.GetCodec(id)
	if err != nil {
		panic(err) // it comes with arrow-go
	}
	compress.RegisterCodec(id, pageCodec{codec, codec.(compress.StreamingCodec), decode})
}
