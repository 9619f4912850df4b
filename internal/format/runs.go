package format

// Stdin is what File.Name of standard input is.
const Stdin = "stdin"

// Runs are the examples of a file that are neither text nor all of as many bytes, such as columns:
// Format.Runs opens one, or Format.Open where files go together. One goroutine uses it.
type Runs interface {
	// Next returns the next run. Its text may lie in b, which is the caller's, from its beginning.
	// What waits to be parsed is bounded by the bytes of runs, which are near size, more where one
	// example takes more. The error is io.EOF with the last run or behind it; others say the file's
	// name, as a *RowError and those of File.Broken do.
	Next(b []byte, size int) (Run, error)

	// Close lets go of what was opened; the file is closed by its owner.
	Close()
}

// Run is some examples, which one goroutine parses together: Text or Value.
type Run struct {
	// Text is a form of the format's own, which becomes Chunk.Text.
	Text []byte

	// Value becomes Chunk.Run. It is the parser's, also after further calls of Next. Bytes is about
	// how many bytes its rows would take as text.
	Value any
	Bytes int64

	At     int64   // byte of the file where the run began, for errors; 0 where that says nothing
	Layout *Layout // the file's with what is known by the run; nil: as it was opened
}
