package mapped

import (
	"math"
	"os"
	"syscall"
)

const (
	// step is how much is given back at a time: so a call costs little beside what it gives back.
	step = 1 << 20
	// around is how far before a byte that is looked at the system makes others present, at most: a
	// huge page.
	around = 2 << 20
)

// Open maps a regular file, which is to be looked at from the begin to the end and stays the
// caller's. It returns nil where that can't be done: of an empty file, of one that the system maps
// not, and where addresses have 32 bits.
func Open(f *os.File) *File {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || math.MaxInt == math.MaxInt32 {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	m := &File{file: f}
	raw.Control(func(fd uintptr) {
		m.data, err = syscall.Mmap(int(fd), 0, int(info.Size()), syscall.PROT_READ,
			syscall.MAP_SHARED)
	})
	if err != nil || m.data == nil {
		return nil
	}
	syscall.Madvise(m.data, syscall.MADV_SEQUENTIAL) // advice that may be left
	return m
}

// Forget gives the memory before that byte back, if that is much. Bytes that are looked at again
// are read again.
func (m *File) Forget(before int64) {
	if before -= before % step; before <= m.kept {
		return
	}
	syscall.Madvise(m.data[max(0, m.kept-around):before], syscall.MADV_DONTNEED)
	m.kept = before
}

// Close ends the mapping: none of its bytes may be looked at any more. The file stays open.
func (m *File) Close() error { return syscall.Munmap(m.data) }
