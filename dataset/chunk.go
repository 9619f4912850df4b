package dataset

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// chunk is a run of whole examples on its way from the reader through a worker to the stream.
type chunk[T engine.Float] struct {
	format.Chunk[T]
	first, last bool   // of its file
	size        int64  // bytes of text, or as much as blocks stand for
	fail        error  // reading failed behind this chunk
	inLine      bool   // fail is a *RowError in the line behind the chunk; its Line is to be set
	warn        string // for Options.OnWarn; "": none
	rows        *rows[T]
	done        chan struct{} // one token when rows are there
}

// rows are a chunk's, and the share of the text on its way that they stand for.
type rows[T engine.Float] struct {
	format.Rows[T]
	weight int64    // of the chunk's text, for Stream.gate; 0 once that is given back
	sums   []uint64 // of each row's values, with Options.Sums
}
