//go:build !linux

package engine

const hugePage = 2 << 20

// useHugePages does nothing where programs don't choose the size of pages.
func useHugePages([]byte) {}
