package engine

import "syscall"

const (
	// hugePage is the size of a large page of amd64, and of arm64 with pages of 4 KiB.
	hugePage = 2 << 20
	// adviseHugePages is MADV_HUGEPAGE.
	adviseHugePages = 14
)

// useHugePages asks for large pages below memory that was not touched yet. Rows of a table that is
// larger than the caches are read in no order: with pages of 4 KiB each is a walk of page tables,
// and each page is a fault when it is first written. An answer that there are none changes nothing.
func useHugePages(memory []byte) { _ = syscall.Madvise(memory, adviseHugePages) }
