package beam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"

	"cloud.google.com/go/storage"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"google.golang.org/api/googleapi"

	// What reads gs:// and s3://.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"

	"github.com/halfspace-ml/halfspace/distributed/beam/work"
)

// Schemes are those of buckets that are read and written.
var Schemes = []string{"gs", "s3"}

// buckets are those that Beam's file systems reach.
var buckets = &work.Buckets{Open: openStore}

// store is a work.Store of a file system of Beam.
type store struct{ files filesystem.Interface }

// openStore opens what holds an object.
func openStore(ctx context.Context, url string) (_ work.Store, err error) {
	defer func() { // as that of s3 does where its configuration can't be read
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	files, err := filesystem.New(ctx, url)
	if err != nil {
		return nil, err
	}
	return store{files}, nil
}

// Close is work.Store.Close.
func (s store) Close() error { return s.files.Close() }

// List is work.Store.List.
func (s store) List(ctx context.Context, glob string) ([]string, error) {
	names, err := s.files.List(ctx, glob)
	return names, kindOf(err)
}

// Stat is work.Store.Stat.
func (s store) Stat(ctx context.Context, name string) (work.Object, error) {
	o := work.Object{URL: name}
	var err error
	if o.Size, err = s.files.Size(ctx, name); err != nil {
		return o, kindOf(err)
	}
	if m, ok := s.files.(filesystem.LastModifiedGetter); ok {
		o.Modified, err = m.LastModified(ctx, name)
	}
	return o, kindOf(err)
}

// Open is work.Store.Open.
func (s store) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := s.files.OpenRead(ctx, name)
	return r, kindOf(err)
}

// Put is work.Store.Put.
func (s store) Put(ctx context.Context, name string, from io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.files.OpenWrite(ctx, name)
	if err != nil {
		return kindOf(err)
	}
	if _, err := io.Copy(w, from); err != nil {
		cancel() // so that nothing is made of what has come
		w.Close()
		return kindOf(err)
	}
	return kindOf(w.Close())
}

// Remove is work.Store.Remove.
func (s store) Remove(ctx context.Context, name string) error {
	r, ok := s.files.(filesystem.Remover)
	if !ok {
		return fmt.Errorf("%s: nothing is removed there: %w", name, fs.ErrInvalid)
	}
	return kindOf(r.Remove(ctx, name))
}

// Of errors of s3 their text is left.
var statusText = regexp.MustCompile(`StatusCode: (\d+)`)

// kindOf has an error wrap what work.Store says of it.
func kindOf(err error) error {
	if err == nil {
		return nil
	}
	status := 0
	answer := (*googleapi.Error)(nil)
	if m := statusText.FindStringSubmatch(err.Error()); m != nil {
		status, _ = strconv.Atoi(m[1])
	}
	switch {
	case errors.As(err, &answer):
		status = answer.Code
	case errors.Is(err, storage.ErrObjectNotExist), errors.Is(err, storage.ErrBucketNotExist):
		status = 404
	}
	switch status {
	case 404:
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	case 401, 403:
		return fmt.Errorf("%w: %w", err, fs.ErrPermission)
	case 301, 400, 405, 410, 411, 412, 413, 416:
		return fmt.Errorf("%w: %w", err, fs.ErrInvalid)
	}
	return err
}
