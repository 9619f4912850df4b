package arrow

import (
	"bytes"
	"encoding/binary"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// options are those of csv, whose columns ours are, and the index base of sparse lists.
var options = []format.Option{{Field: "LabelCol"}, {Field: "WeightCol"}, {Field: "Columns"},
	{Field: "Header"}, {Field: "Label"}, {Field: "Kinds"}, {Field: "TextCols"},
	{Field: "NumberCols"}, {Field: "IgnoreCols"}, {Field: "Missing"}, {Field: "HashBits"},
	{Field: "IndexBase"}, {Field: "Base"}}

// Parquet is the format of Parquet files. They are read from their end, so neither from stdin nor
// packed.
//
// Format: Apache Parquet 2.12.
var Parquet = &format.Format{
	Name: "parquet", Binary: true, Kinds: []string{"svmlight", "csv"}, Options: options,
	Sniff: sniffParquet, Runs: openParquet,
	Parse32: parse[float32], Parse64: parse[float64],
}

// IPC is the format of Arrow's files, which begin with ARROW1, and streams. Both are read from
// their begin, so that they may be packed or come from stdin.
//
// Format: Arrow Columnar Format 1.5, Serialization and Interprocess Communication.
var IPC = &format.Format{
	Name: "arrow", Binary: true, Kinds: []string{"svmlight", "csv"}, Options: options,
	Sniff: sniffIPC, Runs: openIPC,
	Parse32: parse[float32], Parse64: parse[float64],
}

func init() {
	format.Register(Parquet)
	format.Register(IPC)
}

func sniffParquet(h *format.Head) int {
	if bytes.HasPrefix(h.Text, []byte("PAR1")) || bytes.HasPrefix(h.Text, []byte("PARE")) {
		return 0
	}
	return format.No
}

// sniffIPC goes by a file's first bytes, or by those before a stream's schema: a mark, and a length
// below 16 MiB.
func sniffIPC(h *format.Head) int {
	stream := bytes.HasPrefix(h.Text, []byte("\xff\xff\xff\xff")) && len(h.Text) >= 8
	if stream {
		n := binary.LittleEndian.Uint32(h.Text[4:])
		stream = n >= 16 && n < 1<<24
	}
	if stream || bytes.HasPrefix(h.Text, []byte(magic)) {
		return 0
	}
	return format.No
}
