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
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// Store is where objects of buckets are. Their names are whole URLs. Errors wrap fs.ErrNotExist of
// what is not there, fs.ErrPermission of what is forbidden, and fs.ErrInvalid of what will not do
// however often it is tried; after others it is tried again.
type Store interface {
	// List returns the names that match, in which * stands for anything but a slash.
	List(ctx context.Context, glob string) ([]string, error)
	// Stat says what an object is.
	Stat(ctx context.Context, name string) (Object, error)
	// Open reads an object.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// OpenRange reads n bytes of an object from a byte on. One that was replaced since Stat is an
	// error.
	OpenRange(ctx context.Context, o Object, from, n int64) (io.ReadCloser, error)
	// Put makes an object of all that comes from a reader, or none, and replaces what has its name.
	Put(ctx context.Context, name string, from io.Reader) error
	// Remove removes an object.
	Remove(ctx context.Context, name string) error
	io.Closer
}

// Object is one of a bucket, or a file of a folder, as it is, whatever it is later.
type Object struct {
	URL      string    `json:"url"` // or the file's name
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Version  string    `json:"version,omitempty"` // as the bucket has it; "" of a file
}

// is refuses an object that is another one by now.
func (o *Object) is(now Object) error {
	if now.Size == o.Size && now.Modified.Equal(o.Modified) && now.Version == o.Version {
		return nil
	}
	next := "Bring the examples back, or start the command again with another state."
	return &shard.Failure{Code: 3, Text: fmt.Sprintf("%s: it has changed since the command "+
		"began: %d bytes of %s, now %d of %s", o.URL, o.Size, o.Modified.Format(time.RFC3339Nano),
		now.Size, now.Modified.Format(time.RFC3339Nano)), Next: next}
}

// defaultPatience is how long a bucket is waited for without a byte.
const defaultPatience = time.Minute

// bucket is a Store whose answers are waited for.
type bucket struct {
	Store
	patience time.Duration
}

// inBucket reports whether a name is the URL of an object.
func inBucket(name string) bool { return strings.Contains(name, "://") }

// do tries until it is done, until trying again can't help, or no byte has come for as long as the
// bucket is waited for.
func (b *bucket) do(ctx context.Context, name string,
	try func(ctx context.Context, alive func()) error) error {
	outer := ctx
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	t := time.AfterFunc(b.patience, cancel)
	defer t.Stop()
	var last error
	for n, wait := 0, 50*time.Millisecond; ; n, wait = n+1, min(2*wait, 5*time.Second) {
		err := try(ctx, func() { t.Reset(b.patience) })
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if settled(err) || n == 50 {
			return bucketError(name, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		switch {
		case outer.Err() != nil:
			return fmt.Errorf("%s: %w", name, training.ErrStopped)
		case ctx.Err() != nil:
			return bucketError(name, fmt.Errorf("no answer for %v: %w", b.patience, last))
		}
	}
}

// settled reports whether an error is one that stays.
func settled(err error) bool {
	local := (*fs.PathError)(nil)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, fs.ErrInvalid) || errors.As(err, &local)
}

// bucketFailure is an error of an object, with its cause.
type bucketFailure struct {
	*shard.Failure
	cause error
}

// Unwrap returns both.
func (f *bucketFailure) Unwrap() []error { return []error{f.Failure, f.cause} }

// bucketError says what is wrong with an object, and what to do.
func bucketError(name string, err error) error {
	const kept = "What is learned by now stays in the state: the same command goes on there"
	f := &shard.Failure{Code: 1, Text: fmt.Sprintf("%s: %v", name, err)}
	local := (*fs.PathError)(nil)
	switch {
	case errors.As(err, &local):
		f.Next = kept + ", once this is put right. Objects are brought to the folder for " +
			"temporary files: where it has no room TMPDIR names another."
	case errors.Is(err, fs.ErrNotExist):
		f.Code, f.Text = 3, name+": no such object"
		f.Next = "Check the name, or bring it back. " + kept + "."
	case errors.Is(err, fs.ErrPermission):
		f.Next = "Let this machine's account, or each worker's, read and write there. " + kept + "."
	default:
		f.Next = kept + ", once the bucket answers."
	}
	return &bucketFailure{f, err}
}

// unsound is the error of an object that is not what was written.
func unsound(name, why string) error {
	return &shard.Failure{Code: 4, Text: name + ": " + why, Next: "Remove the objects in " +
		strings.TrimSuffix(name, "/"+last(name)) + " and, if it is there, done.json above it: " +
		"the part is learned again, and the others stay as they are."}
}

// last is the part of a URL behind the last slash.
func last(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// lively calls alive when a byte has come.
type lively struct {
	io.Reader
	alive func()
}

// Read is io.Reader.Read.
func (l lively) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if n > 0 {
		l.alive()
	}
	return n, err
}

// list is Store.List, tried until it is done.
func (b *bucket) list(ctx context.Context, glob string) (names []string, err error) {
	err = b.do(ctx, glob, func(ctx context.Context, _ func()) (err error) {
		names, err = b.List(ctx, glob)
		return err
	})
	return names, err
}

// stat is Store.Stat, tried until it is done.
func (b *bucket) stat(ctx context.Context, name string) (o Object, err error) {
	err = b.do(ctx, name, func(ctx context.Context, _ func()) (err error) {
		o, err = b.Stat(ctx, name)
		return err
	})
	return o, err
}

// remove removes objects as far as that goes: what is left over does no harm.
func (b *bucket) remove(ctx context.Context, names ...string) {
	for _, name := range names {
		b.do(ctx, name, func(ctx context.Context, _ func()) error { return b.Remove(ctx, name) })
	}
}

// read returns an object's bytes.
func (b *bucket) read(ctx context.Context, name string) (text []byte, err error) {
	err = b.do(ctx, name, func(ctx context.Context, alive func()) error {
		r, err := b.Open(ctx, name)
		if err != nil {
			return err
		}
		defer r.Close()
		text, err = io.ReadAll(io.LimitReader(lively{r, alive}, maxText))
		return err
	})
	return text, err
}

// write makes an object of a text.
func (b *bucket) write(ctx context.Context, name string, text []byte) error {
	return b.do(ctx, name, func(ctx context.Context, alive func()) error {
		return b.Put(ctx, name, lively{strings.NewReader(string(text)), alive})
	})
}

// put makes an object of a file.
func (b *bucket) put(ctx context.Context, name, from string) error {
	return b.do(ctx, name, func(ctx context.Context, alive func()) error {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close()
		return b.Put(ctx, name, lively{f, alive})
	})
}

// get makes a file of an object, by a temporary name in its folder, which is there. The bytes are
// so many, and where sum is given of that SHA-256, or it is an error.
func (b *bucket) get(ctx context.Context, name, to string, size int64, sum string) error {
	wrong := 0
	return b.do(ctx, name, func(ctx context.Context, alive func()) error {
		r, err := b.Open(ctx, name)
		if err != nil {
			return err
		}
		defer r.Close()
		f, err := os.CreateTemp(filepath.Dir(to), partMark+"*")
		if err != nil {
			return err
		}
		defer os.Remove(f.Name())
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(f, h), lively{r, alive})
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		got := hex.EncodeToString(h.Sum(nil))
		if n == size && (sum == "" || sum == got) {
			return os.Rename(f.Name(), to)
		}
		if err = fmt.Errorf("%d bytes came, and it has %d", n, size); sum != "" {
			err = fmt.Errorf("%d bytes of sha256 %s came, and %d of %s were written", n, got, size,
				sum)
		}
		if wrong++; wrong < 3 { // it may have been on the way
			return err
		}
		return fmt.Errorf("%w: %w", err, errUnsound)
	})
}

// errUnsound is that an object is not what was written, however often it is read.
var errUnsound = fmt.Errorf("not what was written: %w", fs.ErrInvalid)

// partMark begins the name of a file that is not whole.
const partMark = "part-"
