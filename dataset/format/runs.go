package format

// Runs are the examples of a file that are neither text nor all of as many bytes, such as columns:
// Format.Runs opens one. One goroutine uses it.
type Runs interface {
	// Next returns the next run, which becomes Chunk.Run, and about how many bytes its rows would
	// take as text: near size, more where one example takes more. What waits to be parsed is
	// bounded by these bytes. The run is the parser's, also after further calls. Behind the last
	// one the error is io.EOF; a *RowError is said as it is, of others the file is named.
	Next(size int) (run any, bytes int64, err error)

	// Close lets go of what was opened; the file is closed by its owner.
	Close()
}
