//go:build !unix

package serve

// mostFiles returns how many files the process may have open; 0 if that has no bound.
func mostFiles() int { return 0 }
