package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
)

// Of an object of which a part is read blocks are brought, to a folder of this machine, when they
// are read first. They stay there, for whatever reads them next: a further pass, a round, another
// part. A block is a file that gets its name when it is whole, so any number of processes may bring
// it. What is read in order is brought in runs that grow, so that a part costs few requests, and
// at most as much again as it needs.
const (
	defaultBlock = 1 << 20 // bytes
	longestRun   = 4       // blocks
	fewBytes     = 1 << 10 // so many alone are not worth a block
)

// opens returns what opens these objects, and files.
func (s *Buckets) opens(ctx context.Context, objects []Object) func(string) (dataset.File, error) {
	return func(name string) (dataset.File, error) {
		for _, o := range objects {
			if o.URL == name {
				return s.openObject(ctx, o)
			}
		}
		return os.Open(name)
	}
}

// object is one that is open.
type object struct {
	Object
	s    *Buckets
	ctx  context.Context // ends with Close
	end  context.CancelFunc
	dir  string // of its blocks
	size int64  // of a block

	mu        sync.Mutex
	b         *bucket // nil: not asked yet
	at        int64   // where Read goes on
	next, run int64   // the block behind those that were brought last, and how many these were
}

// openObject opens one. Whoever stops reading it closes it, so ctx doesn't: what was read may have
// to be saved.
func (s *Buckets) openObject(ctx context.Context, o Object) (dataset.File, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	f := &object{Object: o, s: s, dir: filepath.Join(dir, "blocks-"+o.sum()), size: s.Block,
		next: -1}
	if f.size == 0 {
		f.size = defaultBlock
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	parts, _ := filepath.Glob(filepath.Join(f.dir, partMark+"*"))
	for _, name := range parts { // of processes that were killed
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > stale {
			os.Remove(name)
		}
	}
	f.ctx, f.end = context.WithCancel(context.WithoutCancel(ctx))
	return f, nil
}

// sum tells objects, and their versions, apart.
func (o *Object) sum() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %s", o.URL, o.Size, o.Modified.UnixNano(),
		o.Version))
	return hex.EncodeToString(sum[:8])
}

// Close is fs.File.Close.
func (f *object) Close() error {
	f.end()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.b == nil {
		return nil
	}
	err := f.b.Close()
	f.b = nil
	return err
}

// Stat is fs.File.Stat.
func (f *object) Stat() (fs.FileInfo, error) { return objectInfo{f.Object}, nil }

// objectInfo is what Stat says.
type objectInfo struct{ o Object }

func (i objectInfo) Name() string       { return last(i.o.URL) }
func (i objectInfo) Size() int64        { return i.o.Size }
func (i objectInfo) Mode() fs.FileMode  { return 0o444 }
func (i objectInfo) ModTime() time.Time { return i.o.Modified }
func (i objectInfo) IsDir() bool        { return false }
func (i objectInfo) Sys() any           { return nil }

// Read is io.Reader.Read.
func (f *object) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.readAt(p, f.at)
	f.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// Seek is io.Seeker.Seek.
func (f *object) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.Size
	}
	if offset < 0 {
		return f.at, fs.ErrInvalid
	}
	f.at = offset
	return offset, nil
}

// ReadAt is io.ReaderAt.ReadAt.
func (f *object) ReadAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readAt(p, at)
}

func (f *object) readAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && at < f.Size {
		k := at / f.size
		want := min(int64(len(p)-n), f.Size-at, (k+1)*f.size-at)
		m, err := f.inBlock(p[n:int64(n)+want], k, at)
		n, at = n+m, at+int64(m)
		if err != nil {
			return n, &fs.PathError{Op: "read", Path: f.URL, Err: err}
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// inBlock reads all of p, of block k.
func (f *object) inBlock(p []byte, k, at int64) (int, error) {
	if !f.has(k) {
		if len(p) <= fewBytes && k != f.next {
			return f.few(p, at)
		}
		if err := f.bring(k); err != nil {
			return 0, err
		}
	}
	b, err := os.Open(f.block(k))
	if err != nil {
		return 0, err
	}
	defer b.Close()
	return b.ReadAt(p, at-k*f.size)
}

// block is the file of block k.
func (f *object) block(k int64) string { return filepath.Join(f.dir, fmt.Sprint(f.size, "-", k)) }

// length is how many bytes block k has.
func (f *object) length(k int64) int64 { return min(f.size, f.Size-k*f.size) }

// has reports whether block k is here.
func (f *object) has(k int64) bool {
	info, err := os.Stat(f.block(k))
	return err == nil && info.Size() == f.length(k)
}

// few reads all of p, of which nothing is kept.
func (f *object) few(p []byte, at int64) (int, error) {
	err := f.ask(func(ctx context.Context, alive func()) error {
		r, err := f.b.OpenRange(ctx, f.Object, at, int64(len(p)))
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.ReadFull(lively{r, alive}, p)
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// bring brings block k, and some behind it where those before it were brought, too.
func (f *object) bring(k int64) error {
	run := int64(1)
	if k == f.next {
		run = min(2*f.run, longestRun)
	}
	end := k + 1
	for end < k+run && end*f.size < f.Size && !f.has(end) {
		end++
	}
	f.next, f.run = end, run
	// What has come stays when it is tried again.
	return f.ask(func(ctx context.Context, alive func()) error {
		r, err := f.b.OpenRange(ctx, f.Object, k*f.size, min(end*f.size, f.Size)-k*f.size)
		if err != nil {
			return err
		}
		defer r.Close()
		for ; k < end; k++ {
			if err := f.write(k, lively{r, alive}); err != nil {
				return err
			}
		}
		return nil
	})
}

// write makes a block of what a reader gives.
func (f *object) write(k int64, r io.Reader) error {
	b, err := os.CreateTemp(f.dir, partMark+"*")
	if err != nil {
		return err
	}
	defer os.Remove(b.Name())
	if _, err = io.CopyN(b, r, f.length(k)); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if e := b.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(b.Name(), f.block(k))
}

// ask asks the bucket until it has answered. An object that is another one by now is an error that
// says so.
func (f *object) ask(try func(ctx context.Context, alive func()) error) (err error) {
	if f.ctx.Err() != nil {
		return fs.ErrClosed
	}
	if f.b == nil {
		if f.b, err = f.s.open(f.ctx, f.URL); err != nil {
			return err
		}
	}
	err = f.b.do(f.ctx, f.URL, try)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		if now, e := f.b.stat(f.ctx, f.URL); e == nil && f.is(now) != nil {
			return f.is(now)
		}
	}
	return err
}
