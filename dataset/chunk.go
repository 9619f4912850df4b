package dataset

import (
	"fmt"
	"os"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/mapped"
)

// chunk is a run of whole examples on its way from the reader through a worker to the stream.
type chunk[T engine.Float] struct {
	format.Chunk[T]
	first, last bool   // of its file
	size        int64  // bytes of text, or as much as blocks stand for
	fail        error  // reading failed behind this chunk
	inLine      bool   // fail is a *RowError in the line behind the chunk; its Line is to be set
	mapped      *part  // Text is the file's own, until the chunk is parsed; nil: the chunk's
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

// parse makes rows of the chunk.
func (c *chunk[T]) parse(s *format.Settings) {
	if c.mapped == nil {
		c.Parse(s)
		return
	}
	p, text := c.mapped, c.Text
	for c.Text = nil; c.N > 0; {
		there, err := p.mapped.Look(c.Offset+int64(c.N), func() {
			c.Text = text
			c.Parse(s)
			if c.Text = nil; c.Out.NBad > 0 { // whose errors may be made later
				c.Text = append(append(make([]byte, 0, c.N+format.Stops), text[:c.N]...),
					make([]byte, format.Stops)...)
				format.EndText(c.Text[c.N:])
			}
		})
		if err == nil {
			return
		}
		// as if what is not there had not come: the examples before it have
		l := p.layout
		there = max(there, c.Offset)
		c.N = int(there-c.Offset) / l.Size * l.Size
		row := (c.Offset + int64(c.N) - l.Start) / int64(l.Size)
		c.fail = p.data.Broken(there, fmt.Sprintf("%s %d of %d", l.Unit, row+1, l.Rows), err)
	}
	c.Text = nil
	c.Parse(s)
}

// mapOf maps the file of a part whose examples are all there; nil: they are read. Where memory is
// bounded, the pages of files would come on top.
func mapOf(p *part, memory int64) *mapped.File {
	f, ok := p.in.file.(*os.File)
	if !ok || memory > 0 || p.skip || !p.divisible() || p.in.packed != "" || !p.in.steady {
		return nil
	}
	m := mapped.Open(f)
	if m != nil && m.Size() < p.layout.Start+int64(p.hi)*int64(p.layout.Size) {
		m.Close()
		return nil
	}
	return m
}
