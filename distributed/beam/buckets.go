package beam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	// What reads gs:// and s3://.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"

	"github.com/halfspace-ml/halfspace/distributed/beam/work"
)

// Schemes are those of buckets that are read and written.
var Schemes = []string{"gs", "s3"}

// buckets are those that Beam's file systems reach.
var buckets = &work.Buckets{Open: openStore}

// store is a work.Store of a file system of Beam, and of what that doesn't do.
type store struct {
	files filesystem.Interface
	client
}

// client is one of buckets of a kind.
type client interface {
	stat(ctx context.Context, bucket, name string) (work.Object, error)
	// open reads n bytes from a byte on of the object that has this version.
	open(ctx context.Context, bucket, name, version string, from, n int64) (io.ReadCloser, error)
	io.Closer
}

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
	c, err := newClient(ctx, url)
	if err != nil {
		files.Close()
		return nil, err
	}
	return store{files, c}, nil
}

func newClient(ctx context.Context, url string) (client, error) {
	if strings.HasPrefix(url, "s3:") {
		c, err := config.LoadDefaultConfig(ctx)
		return s3Client{s3.NewFromConfig(c)}, err
	}
	c, err := storage.NewClient(ctx, option.WithScopes(storage.ScopeReadOnly))
	if err != nil { // as Beam's does
		c, err = storage.NewClient(ctx, option.WithoutAuthentication())
	}
	return gsClient{c}, err
}

// split are the bucket and the name in it of a URL.
func split(name string) (bucket, object string) {
	_, rest, _ := strings.Cut(name, "://")
	bucket, object, _ = strings.Cut(rest, "/")
	return bucket, object
}

// Close is work.Store.Close.
func (s store) Close() error { return errors.Join(s.files.Close(), s.client.Close()) }

// List is work.Store.List.
func (s store) List(ctx context.Context, glob string) ([]string, error) {
	names, err := s.files.List(ctx, glob)
	return names, kindOf(err)
}

// Stat is work.Store.Stat.
func (s store) Stat(ctx context.Context, name string) (work.Object, error) {
	bucket, object := split(name)
	o, err := s.stat(ctx, bucket, object)
	o.URL, o.Modified = name, o.Modified.UTC()
	return o, kindOf(err)
}

// OpenRange is work.Store.OpenRange.
func (s store) OpenRange(ctx context.Context, o work.Object, from, n int64) (io.ReadCloser,
	error) {
	bucket, object := split(o.URL)
	r, err := s.open(ctx, bucket, object, o.Version, from, n)
	return r, kindOf(err)
}

// gsClient is that of Google's.
type gsClient struct{ *storage.Client }

func (c gsClient) stat(ctx context.Context, bucket, name string) (o work.Object, err error) {
	a, err := c.Bucket(bucket).Object(name).Attrs(ctx)
	if err != nil {
		return o, err
	}
	o.Size, o.Modified, o.Version = a.Size, a.Updated, strconv.FormatInt(a.Generation, 10)
	return o, nil
}

func (c gsClient) open(ctx context.Context, bucket, name, version string, from, n int64) (
	io.ReadCloser, error) {
	g, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return nil, err
	}
	o := c.Bucket(bucket).Object(name).Generation(g)
	return o.ReadCompressed(true).NewRangeReader(ctx, from, n)
}

// s3Client is that of Amazon's.
type s3Client struct{ c *s3.Client }

// Close is io.Closer.Close.
func (s3Client) Close() error { return nil }

func (c s3Client) stat(ctx context.Context, bucket, name string) (o work.Object, err error) {
	h, err := c.c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &name})
	if err != nil {
		return o, err
	}
	o.Size, o.Modified, o.Version = aws.ToInt64(h.ContentLength), aws.ToTime(h.LastModified),
		aws.ToString(h.ETag)
	return o, nil
}

func (c s3Client) open(ctx context.Context, bucket, name, version string, from, n int64) (
	io.ReadCloser, error) {
	h, err := c.c.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &name, IfMatch: &version,
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", from, from+n-1))})
	if err != nil {
		return nil, err
	}
	got, want := aws.ToString(h.ContentRange), fmt.Sprintf("bytes %d-%d/", from, from+n-1)
	if !strings.HasPrefix(got, want) {
		h.Body.Close()
		return nil, fmt.Errorf("bytes %d to %d were asked for, and %q came", from, from+n-1, got)
	}
	return h.Body, nil
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
