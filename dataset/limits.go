package dataset

import (
	"fmt"
	"sync"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// DefaultMaxLine is the longest line that is read where Options.MaxLine is 0: 64 MiB.
const DefaultMaxLine = 64 << 20

// MaxWorkers is the most that Options.Workers may be: more than any machine has processors, and few
// enough that their stacks and pieces of text take little beside a model.
const MaxWorkers = 4096

// LeastMemory is the smallest Options.Memory, in bytes: 2 MiB. It reads text and gzip with lines up
// to 64 KiB. Files packed by zstd or bzip2 need 8 MiB, whatever their lines are, those
// packed by xz twice the window that they were packed with and 2 MiB more (xz -6: 18 MiB).
const LeastMemory = 2 << 20

// MemoryBase is what a reader may take beyond Options.Memory, in bytes: buffers and tables whose
// size depends on nothing.
const MemoryBase = 1 << 20

const (
	// bytes of text parsed at a time: some 0.15 ms; with its rows it stays in L2, and a short file
	// touches little memory
	chunkSize    = 1 << 17
	headSize     = 1 << 20 // bytes by which a stream decides format and index base, at most
	maxHeld      = 1 << 20 // rows, far more than a file with its labels mixed needs, and
	maxHeldBytes = 1 << 29 // bytes of them that a stream holds back before two labels were seen
	maxWindow    = 1 << 27 // of zstd, as the zstd command has it
	blockRows    = 4096    // rows of a block that Next returns, at most
	bzip2Bytes   = 4 << 20 // that unpacking bzip2 takes
	maxDecode    = 1 << 30 // bytes of columns that are read in one piece
)

// limits are the sizes of what a reader holds.
type limits struct {
	workers int
	chunk   int // bytes of text parsed at a time
	// bytes of text on their way from the file to the caller; a line longer than that goes alone
	flight int64
	head   int    // bytes by which format and index base are decided
	window uint64 // of zstd
	unpack int64  // what unpacking may take
	files  int    // how many are read

	format.Limits // Held: bytes of rows that wait for a second label
}

// builtIn are the limits where Options.Memory decides nothing, but for those that depend on the
// workers.
var builtIn = limits{
	head: headSize, window: maxWindow, unpack: bzip2Bytes,
	Limits: format.Limits{Line: DefaultMaxLine, Held: maxHeldBytes, Decode: maxDecode},
}

// limit shares Options.Memory out: half of it to what unpacks, half to text and rows. A byte of
// text becomes up to 12 bytes of rows (a row of a label alone, a non-zero of one digit); a long
// line takes up to 7 times its length while its buffer grows, and the next one may be on its way.
func (c *config) limit() (l limits, err error) {
	l = builtIn
	l.workers, l.chunk = c.Workers, c.chunk
	if c.MaxLine > 0 {
		l.Line = int(min(c.MaxLine, 1<<30))
	}
	// so that a chunk without a line's end is a line too long
	defer func() { l.chunk = min(l.chunk, l.Line+1) }()
	if m := c.Memory; m > 0 {
		if m < LeastMemory {
			return l, fmt.Errorf("memory of %s for reading: the least is %s: %w", format.InKiB(m),
				format.InKiB(LeastMemory), ErrOption)
		}
		text := m / 2
		flight := text / 32
		l.workers = max(1, min(l.workers, int(flight/(16<<10))-3))
		l.chunk = min(l.chunk, max(4<<10, int(flight)/(l.workers+3)))
		l.head = min(l.head, int(text/8))
		l.Held = text / 4 // rows that wait for a second label have left the text's flight
		// 7 times its length while its buffer grows, 7 more for the next one, and some to spare
		if line := int(text / 16); line < l.Line {
			l.Line, l.Memory = line, m
		}
		l.unpack = m / 2
		l.Decode = l.unpack
		l.window = uint64(max(1<<10, m/2-(1<<20)))
		l.flight = flight
		return l, nil
	}
	l.flight = int64(l.chunk) * int64(l.workers+3)
	return l, nil
}

// gate lets so many bytes of text through as may be on their way at once.
type gate struct {
	mu    sync.Mutex
	used  int64
	most  int64
	freed chan struct{} // holds a token after each put
}

// take waits until n bytes more may be on their way; it returns false if end comes before. More
// than most goes alone, when nothing else is on its way: a long line must not wait for ever.
func (g *gate) take(n int64, end <-chan struct{}) bool {
	for {
		g.mu.Lock()
		if g.used == 0 || g.used+n <= g.most {
			g.used += n
			g.mu.Unlock()
			return true
		}
		g.mu.Unlock()
		select {
		case <-g.freed:
		case <-end:
			return false
		}
	}
}

// put gives n bytes back.
func (g *gate) put(n int64) {
	g.mu.Lock()
	g.used -= n
	g.mu.Unlock()
	select {
	case g.freed <- struct{}{}:
	default:
	}
}
