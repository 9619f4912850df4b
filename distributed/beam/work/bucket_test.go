package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// memory is a Store in memory.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	times   map[string]time.Time
	puts    []string
	served  int64                       // bytes of ranges
	fault   func(op, name string) error // before anything is done; nil: none
}

func newMemory() *memory {
	return &memory{objects: map[string][]byte{}, times: map[string]time.Time{}}
}

// buckets are those of m.
func (m *memory) buckets() *Buckets {
	return &Buckets{Open: func(context.Context, string) (Store, error) { return m, nil },
		Patience: time.Second}
}

func (m *memory) Close() error { return nil }

func (m *memory) begin(op, name string) error {
	m.mu.Lock()
	f := m.fault
	m.mu.Unlock()
	if f != nil {
		return f(op, name)
	}
	return nil
}

func (m *memory) List(_ context.Context, glob string) (names []string, err error) {
	if err := m.begin("list", glob); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.objects {
		if is, err := path.Match(glob, name); is && err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (m *memory) Stat(_ context.Context, name string) (Object, error) {
	if err := m.begin("stat", name); err != nil {
		return Object{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.objects[name]
	if !ok {
		return Object{}, fs.ErrNotExist
	}
	return Object{name, int64(len(b)), m.times[name], fmt.Sprint(m.times[name].UnixNano())}, nil
}

func (m *memory) OpenRange(ctx context.Context, o Object, from, n int64) (io.ReadCloser, error) {
	if err := m.begin("range", o.URL); err != nil {
		return nil, err
	}
	now, err := m.Stat(ctx, o.URL)
	if err != nil {
		return nil, err
	}
	if now.Version != o.Version {
		return nil, fmt.Errorf("412: %w", fs.ErrInvalid)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.served += n
	return io.NopCloser(bytes.NewReader(m.objects[o.URL][from : from+n])), nil
}

func (m *memory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if err := m.begin("open", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.objects[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (m *memory) Put(_ context.Context, name string, from io.Reader) error {
	if err := m.begin("put", name); err != nil {
		return err
	}
	b, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[name], m.times[name] = b, time.Now()
	m.puts = append(m.puts, name)
	return nil
}

func (m *memory) Remove(_ context.Context, name string) error {
	if err := m.begin("remove", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[name]; !ok {
		return fs.ErrNotExist
	}
	delete(m.objects, name)
	return nil
}

// set changes what objects that match are, as m doesn't know.
func (m *memory) set(t *testing.T, glob string, change func(b []byte) []byte) {
	t.Helper()
	names, _ := m.List(t.Context(), glob)
	if len(names) == 0 {
		t.Fatalf("no %s among %v", glob, m.names())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		if b := change(bytes.Clone(m.objects[name])); b == nil {
			delete(m.objects, name)
		} else {
			m.objects[name] = b
		}
	}
}

func (m *memory) names() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// count is how many lines of all logs have the text.
func (m *memory) count(text string) (n int) {
	for _, name := range m.names() {
		if strings.Contains(name, "/log/") {
			m.mu.Lock()
			n += bytes.Count(m.objects[name], []byte(text))
			m.mu.Unlock()
		}
	}
	return n
}

const (
	bucketRows  = "gs://in/rows.svm"
	bucketState = "s3://state/of/it"
)

// bucketJob is one whose files and state are in m, and the model of one process.
func bucketJob(t *testing.T, m *memory, n int) (j *Job, s *Buckets, want []byte) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	o := options(t, rows(t, filepath.Join(dir, "rows"), 3000, 1))
	one := o
	one.Model = filepath.Join(dir, "one")
	if _, err := training.Run(t.Context(), one, training.Env{}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(one.Model)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(o.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	s = m.buckets()
	if _, ok := m.objects[bucketRows]; !ok {
		m.Put(t.Context(), bucketRows, bytes.NewReader(text))
	}
	o.Files = []string{bucketRows}
	if j, err = s.Cut(t.Context(), shard.Cut{Way: "members", Workers: n,
		State: bucketState + "/"}, o); err != nil {
		t.Fatal(err)
	}
	return j, s, want
}

// wholeIn learns all parts, joins them, and returns the model.
func wholeIn(t *testing.T, j *Job, s *Buckets) ([]byte, error) {
	t.Helper()
	var done []Done
	for _, p := range j.Parts {
		d, err := s.Learn(t.Context(), p)
		if err != nil {
			return nil, err
		}
		if d, err = DecodeDone(d.Encode()); err != nil {
			t.Fatal(err)
		}
		done = append(done, d)
	}
	if _, err := s.Join(t.Context(), j.Whole, done); err != nil {
		return nil, err
	}
	d, err := s.Taken(t.Context(), j)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	to := filepath.Join(t.TempDir(), "model")
	r, err := j.Write(d, to)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(r.Merged[0], bucketState+"/") {
		t.Errorf("merged %v", r.Merged)
	}
	return os.ReadFile(to)
}

// stopIn learns a part until a checkpoint of it is in the bucket, and stops.
func stopIn(t *testing.T, m *memory, s *Buckets, p Piece) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // what is saved last is brought to the bucket when it is stopped
		for ctx.Err() == nil {
			home, _ := filepath.Glob(filepath.Join(os.TempDir(), "*", "state-*",
				p.Key+tryMark+"*", ModelFile))
			if len(home) > 0 {
				cancel()
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	var f *shard.Failure
	if _, err := s.Learn(ctx, p); !errors.As(err, &f) || f.Code != 130 {
		t.Fatalf("%v was not stopped: %v", &p, err)
	}
	if names, _ := m.List(t.Context(), bucketState+"/"+p.Key+tryMark+"*/*/"+begunFile); len(
		names) == 0 {
		t.Fatalf("no checkpoint: %v", m.names())
	}
}

// TestBucket: with files and state in a bucket the model is that of one process, whatever part is
// done, begun, torn or damaged; what is done is not done again.
func TestBucket(t *testing.T) {
	model := func(b []byte) []byte { return b[:len(b)/2] }
	gone := func([]byte) []byte { return nil }
	bit := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	for _, c := range []struct {
		name   string
		file   string // of the checkpoint of part 2
		change func([]byte) []byte
		anew   int // parts that begin anew, of two
	}{
		{"begun", "", nil, 1},
		{"torn", begunFile, gone, 2},
		{"half", begunFile, model, 2},
		{"missing", traceFile + openEnd, gone, 2},
		{"damaged", ModelFile, bit, 2},
		{"cut", traceFile + openEnd, model, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			j, s, want := bucketJob(t, m, 2)
			p := j.Parts[1]
			stopIn(t, m, s, p)
			if c.file != "" {
				m.set(t, bucketState+"/"+p.Key+tryMark+"*/*/"+c.file, c.change)
			}
			for range 2 { // the second takes all
				if got, err := wholeIn(t, j, s); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("another model: %v", err)
				}
			}
			// the one that was stopped, and those that began anew
			if n := m.count("begun behind 0 "); n != 1+c.anew+1 {
				t.Errorf("%d began anew, want %d", n, 1+c.anew+1)
			}
			if n := m.count("begun behind "); n != 4 {
				t.Errorf("%d began, want 4", n)
			}
			if left, _ := m.List(t.Context(), bucketState+"/*"+tryMark+"*/*/*"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			for _, dir := range []string{"state-*", "file-*/" + partMark + "*", "file-*.lock"} {
				if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*", dir)); len(left) > 0 {
					t.Errorf("left here: %v", left)
				}
			}
		})
	}
}

// TestBucketCrowd: any number may be at one part at a time.
func TestBucketCrowd(t *testing.T) {
	m := newMemory()
	j, s, want := bucketJob(t, m, 2)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			var done []Done
			for _, p := range j.Parts {
				d, err := s.Learn(t.Context(), p)
				if err != nil {
					t.Error(err)
				}
				done = append(done, d)
			}
			if _, err := s.Join(t.Context(), j.Whole, done); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := wholeIn(t, j, s); err != nil || !bytes.Equal(got, want) {
		t.Errorf("another model: %v", err)
	}
}

var errBusy = errors.New("503 for a while")

// TestBucketWrong: what can't be read or written is an error that names the object and what to do,
// or is tried again; once it is put right the model is that of one process.
func TestBucketWrong(t *testing.T) {
	bit := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	gone := func([]byte) []byte { return nil }
	for _, c := range []struct {
		name string
		// what is wrong when the parts are done, if done, or else before
		done  bool
		glob  string
		do    func([]byte) []byte
		fault func(op, name string) error
		code  int
		text  string
		next  string
	}{
		{"gone", false, bucketRows, gone, nil, 3, bucketRows + ": no such object", "bring it back"},
		{"changed", false, bucketRows, func(b []byte) []byte { return append(b, b...) }, nil, 3,
			bucketRows + ": it has changed", "another state"},
		{"model", true, bucketState + "/part-1-*/*/" + ModelFile, bit, nil, 4,
			"/" + ModelFile + ": ", "Remove the objects in " + bucketState + "/part-1-"},
		{"trace", true, bucketState + "/part-2-*/*/" + traceFile, gone, nil, 4, "/" + traceFile +
			": it is not there", "Remove the objects in " + bucketState + "/part-2-"},
		{"done", true, bucketState + "/part-2-*/" + doneFile,
			func(b []byte) []byte { return b[:9] }, nil, 4, "/" + doneFile + ": ",
			"Remove the objects in " + bucketState + "/part-2-"},
		{"forbidden", false, "", nil, func(op, name string) error {
			if op == "put" && path.Base(name) == ModelFile {
				return fmt.Errorf("403: %w", fs.ErrPermission)
			}
			return nil
		}, 1, "/" + ModelFile + ": 403", "Let this machine's account"},
		{"busy", false, "", nil, func(op, name string) error {
			if op == "put" && path.Base(name) == doneFile {
				return errBusy
			}
			return nil
		}, 1, "/" + doneFile + ": no answer for 1s: 503", "once the bucket answers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			j, s, want := bucketJob(t, m, 2)
			if c.done {
				for _, p := range j.Parts {
					if _, err := s.Learn(t.Context(), p); err != nil {
						t.Fatal(err)
					}
				}
			}
			if c.glob != "" {
				m.set(t, c.glob, c.do)
			}
			m.mu.Lock()
			m.fault = c.fault
			m.mu.Unlock()
			_, err := wholeIn(t, j, s)
			var f *shard.Failure
			if !errors.As(err, &f) {
				t.Fatalf("no error: %v", err)
			}
			if f.Code != c.code || !strings.Contains(f.Text, c.text) ||
				!strings.Contains(f.Next, c.next) || !(strings.HasPrefix(f.Text, "part ") ||
				strings.HasPrefix(f.Text, "joining 2 parts: ")) {
				t.Errorf("%d %s\n%s\nwant %d, %q and %q", f.Code, f.Text, f.Next, c.code, c.text,
					c.next)
			}
			if names, _ := m.List(t.Context(), bucketState+"/whole-*/"+doneFile); len(names) > 0 {
				t.Errorf("there is a whole: %v", names)
			}
			// as it says
			m.mu.Lock()
			m.fault = nil
			m.mu.Unlock()
			for _, name := range m.names() {
				if strings.HasPrefix(name, bucketState+"/part-") {
					m.Remove(t.Context(), name)
				}
			}
			if c.glob == bucketRows {
				m.Remove(t.Context(), bucketRows)
				j, s, want = bucketJob(t, m, 2)
			}
			if got, err := wholeIn(t, j, s); err != nil || !bytes.Equal(got, want) {
				t.Errorf("another model: %v", err)
			}
		})
	}
}

// TestBucketBusy: a server that is busy for a while is asked again.
func TestBucketBusy(t *testing.T) {
	m := newMemory()
	j, s, want := bucketJob(t, m, 2)
	asked := map[string]int{}
	m.fault = func(op, name string) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if asked[op+name]++; asked[op+name] <= 1 && !strings.Contains(name, "/log/") {
			return errBusy
		}
		return nil
	}
	if got, err := wholeIn(t, j, s); err != nil || !bytes.Equal(got, want) {
		t.Errorf("another model: %v", err)
	}
	if before := s.Pulse(t.Context(), j); !strings.Contains(before, " was here") {
		t.Errorf("the pulse is %q", before)
	}
}
