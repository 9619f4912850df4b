package arrow

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// bounded gives memory up to a limit, whatever a file claims to hold. What is over it panics, which
// is how an allocator of Arrow fails: guard makes an error of it.
type bounded struct {
	of         memory.Allocator
	used, most int64
	over       atomic.Int64 // what was asked for in vain
}

func newBounded(most int64) *bounded {
	return &bounded{of: memory.NewGoAllocator(), most: most}
}

// Allocate implements memory.Allocator.
func (b *bounded) Allocate(n int) []byte {
	b.take(n)
	return b.of.Allocate(n)
}

// Reallocate implements memory.Allocator.
func (b *bounded) Reallocate(n int, old []byte) []byte {
	b.take(n - len(old))
	return b.of.Reallocate(n, old)
}

// Free implements memory.Allocator.
func (b *bounded) Free(old []byte) {
	atomic.AddInt64(&b.used, -int64(len(old)))
	b.of.Free(old)
}

func (b *bounded) take(n int) {
	if used := atomic.AddInt64(&b.used, int64(n)); used > b.most {
		atomic.AddInt64(&b.used, -int64(n))
		b.over.Store(int64(n))
		panic(fmt.Sprintf("%d bytes more than there is room for", used-b.most))
	}
}

// tooLarge is the error of what has no room, nil if nothing was asked for in vain.
func (b *bounded) tooLarge(file string, at int64, what string) error {
	if b.over.Load() == 0 {
		return nil
	}
	return &format.RowError{File: file, Offset: at, Err: format.ErrMemory,
		What: fmt.Sprintf("%s takes more than the %s there are for it: write smaller ones, or "+
			"raise Options.Memory", what, format.InKiB(b.most))}
}

// guard makes an error of a panic.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the data are damaged: %v", p)
	}
}
