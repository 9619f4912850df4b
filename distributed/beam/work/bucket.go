package work

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// A bucket of state has
//
//	KEY/done.json               of a piece that is done, written last: where its files are
//	KEY/TRY/FILE                its files
//	KEY.try-TRY/N/FILE          of a piece that is begun, behind N examples
//	KEY.try-TRY/N/begun.json    written last: what its files are
//	log/KEY.try-TRY             what became of a try, written again while it lives
//
// Objects appear whole, and each try has names of its own; so what the last one names is whole,
// whoever is at the piece. A process works in a folder of its own as it does without a bucket
// (state.go), brings there what others have begun, and brings what it has to the bucket.

const (
	begunFile  = "begun.json"
	bucketBeat = 5 * time.Second // how often a try shows in the bucket that it lives
	stale      = time.Hour       // a folder of which nobody has shown for so long that he lives
	lastWords  = 30 * time.Second
)

// Buckets does work whose files or state are in buckets. What has neither is done without.
type Buckets struct {
	// Open opens what holds an object.
	Open func(ctx context.Context, url string) (Store, error)
	// Patience is how long a bucket is waited for without a byte; 0 is a minute.
	Patience time.Duration
	// Block is how many bytes of an object are brought at a time, where parts of it are read; 0 is
	// a MiB.
	Block int64
}

// open opens what holds an object.
func (s *Buckets) open(ctx context.Context, url string) (*bucket, error) {
	st, err := s.Open(ctx, url)
	if err != nil {
		return nil, bucketError(url, err)
	}
	return &bucket{st, cmp.Or(s.Patience, defaultPatience)}, nil
}

// named is the function named, and looks at objects too.
func (s *Buckets) named(ctx context.Context, files []string) (list []Object, err error) {
	for _, name := range files {
		o, err := s.stat(ctx, name)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// stat looks at a file or an object.
func (s *Buckets) stat(ctx context.Context, name string) (Object, error) {
	switch {
	case !inBucket(name):
		return stat(name)
	case last(name) == "":
		return Object{}, bucketError(name, fs.ErrNotExist)
	}
	b, err := s.open(ctx, name)
	if err != nil {
		return Object{}, err
	}
	defer b.Close()
	return b.stat(ctx, name)
}

// Cut is the function Cut.
func (s *Buckets) Cut(ctx context.Context, p shard.Cut, o training.Options) (*Job, error) {
	files, err := s.named(ctx, o.Files)
	if err != nil {
		return nil, err
	}
	return cutFiles(p, o, files)
}

// Learn is the function Learn.
func (s *Buckets) Learn(ctx context.Context, p Piece) (Done, error) {
	w, err := wayOf(p.Way)
	if err != nil {
		return Done{}, p.failure(err)
	}
	return s.piece(ctx, p, w, func(_ *bucket, q Piece) (Done, error) { return Learn(ctx, q) })
}

// Join is the function Join.
func (s *Buckets) Join(ctx context.Context, p Piece, parts []Done) (Done, error) {
	w, err := wayOf(p.Way)
	if err != nil {
		return Done{}, p.failure(err)
	}
	w.Begun = nil
	return s.piece(ctx, p, w, func(b *bucket, q Piece) (Done, error) {
		for _, d := range parts {
			if b == nil {
				break
			}
			if err := b.fetch(ctx, p.State, q.State, d); err != nil {
				return Done{}, err
			}
		}
		return Join(ctx, q, parts)
	})
}

// piece does a piece of work by do, which does it in folders.
func (s *Buckets) piece(ctx context.Context, p Piece, w Way,
	do func(b *bucket, q Piece) (Done, error)) (Done, error) {
	d, err := s.local(ctx, p, w, do)
	if err == nil {
		return d, nil
	}
	f := (*shard.Failure)(nil)
	if !errors.As(err, &f) {
		return Done{}, p.failure(err)
	}
	if !strings.HasPrefix(f.Text, p.String()) {
		f = &shard.Failure{Code: f.Code, Text: p.String() + ": " + f.Text, Next: f.Next}
	}
	return Done{}, f
}

// local brings what a piece needs here, and what came of it to where it belongs.
func (s *Buckets) local(ctx context.Context, p Piece, w Way,
	do func(b *bucket, q Piece) (Done, error)) (Done, error) {
	var with Plain
	if err := json.Unmarshal(p.With, &with); err != nil {
		return Done{}, err
	}
	if len(with.Objects) == 0 && !inBucket(p.State) {
		return do(nil, p)
	}
	var b *bucket
	t := &bucketTry{p: p, begun: w.Begun}
	if inBucket(p.State) {
		var err error
		if b, err = s.open(ctx, p.State); err != nil {
			return Done{}, err
		}
		defer b.Close()
		if d, err := b.taken(ctx, p); err != nil || d != nil {
			return orDone(d), err
		}
		home, err := newHome()
		if err != nil {
			return Done{}, err
		}
		defer os.RemoveAll(home)
		t.b, t.home, t.name = b, home, tryName()
		defer t.lives(ctx)() // bringing files may take long
	}
	q, err := s.brought(ctx, p, w, with.Objects, t.home)
	if err != nil {
		return Done{}, err
	}
	if b == nil {
		return do(nil, q)
	}
	if err := t.restore(ctx); err != nil {
		return Done{}, err
	}
	if q.before, err = b.roundBefore(ctx, p, t.home); err != nil {
		return Done{}, err
	}
	end := t.saves(ctx, q)
	d, err := do(b, q)
	end()
	if err != nil {
		if other, e := b.taken(ctx, p); e == nil && other != nil {
			return *other, nil
		}
		return Done{}, err
	}
	return t.finish(ctx, d)
}

// roundBefore brings what the piece goes on from to a folder of state, and returns its own there;
// "" is none.
func (b *bucket) roundBefore(ctx context.Context, p Piece, home string) (string, error) {
	if p.After == "" {
		return "", nil
	}
	d, err := b.taken(ctx, Piece{State: p.State, Key: p.After})
	if err == nil && d == nil {
		err = unsound(p.State+"/"+p.After+"/"+doneFile, "it is not there, and was written")
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(home, filepath.FromSlash(d.Folder)), b.fetch(ctx, p.State, home, *d)
}

func orDone(d *Done) Done {
	if d == nil {
		return Done{}
	}
	return *d
}

// brought is the piece with local names: of its state, if home is given, and of objects, which are
// brought here, unless it reads parts of them where they are.
func (s *Buckets) brought(ctx context.Context, p Piece, w Way, objects []Object, home string) (
	Piece, error) {
	q := p
	var shown []string // local names, and what people know them by
	if home != "" {
		q.State, shown = home, []string{home, p.State}
	}
	if w.Ranges {
		q.open, objects = s.opens(ctx, objects), nil
	}
	for _, o := range objects {
		file, err := s.bring(ctx, o)
		if err != nil {
			return q, err
		}
		if q.Do, err = renamed(q.Do, o.URL, file); err != nil {
			return q, err
		}
		shown = append(shown, file, o.URL)
	}
	q.shown = strings.NewReplacer(shown...)
	return q, nil
}

// renamed has a file by another name in what is to be done.
func renamed(do []byte, from, to string) ([]byte, error) {
	a, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(to)
	return bytes.ReplaceAll(do, a, b), err
}

// root is the folder of what is brought here. Nobody else may write there.
func root() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("halfspace-beam-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err == nil && (!info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0) {
		err = &fs.PathError{Op: "use", Path: dir, Err: errors.New("others can write there")}
	}
	return dir, err
}

// newHome makes a folder of state of this process, and removes those whose processes were killed.
func newHome() (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	homes, _ := filepath.Glob(filepath.Join(dir, "state-*"))
	for _, name := range homes {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > stale {
			os.RemoveAll(name)
		}
	}
	return os.MkdirTemp(dir, "state-")
}

// bring makes a file of an object, once on a machine, and returns its name.
func (s *Buckets) bring(ctx context.Context, o Object) (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "file-"+o.sum())
	file, lock := filepath.Join(dir, last(o.URL)), dir+".lock"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for { // until it is there, or nobody else brings it
		if info, err := os.Stat(file); err == nil && info.Size() == o.Size {
			return file, nil
		}
		err := os.Mkdir(lock, 0o700)
		if err == nil {
			break
		}
		if info, e := os.Stat(lock); e == nil && time.Since(info.ModTime()) > 20*beat {
			os.Remove(lock) // whoever did was killed
			continue
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%s: %w", o.URL, training.ErrStopped)
		case <-time.After(20 * time.Millisecond):
		}
	}
	defer os.Remove(lock)
	defer beats(lock)()
	parts, _ := filepath.Glob(filepath.Join(dir, partMark+"*"))
	for _, name := range parts {
		os.Remove(name)
	}
	b, err := s.open(ctx, o.URL)
	if err != nil {
		return "", err
	}
	defer b.Close()
	now, err := b.stat(ctx, o.URL)
	if err != nil {
		return "", err
	}
	if err := o.is(now); err != nil {
		return "", err
	}
	return file, b.get(ctx, o.URL, file, o.Size, "")
}

// taken returns what was done of a piece; nil: nothing was.
func (b *bucket) taken(ctx context.Context, p Piece) (*Done, error) {
	name := p.State + "/" + p.Key + "/" + doneFile
	text, err := b.read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := &Done{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, unsound(name, err.Error())
	}
	if d.Number != p.Number || path.Dir(d.Folder) != p.Key || len(d.Files) == 0 {
		return nil, unsound(name, "it is of another piece of work")
	}
	return d, nil
}

// fetch brings the files of a piece that is done from one folder of state to another.
func (b *bucket) fetch(ctx context.Context, from, to string, d Done) error {
	dir := filepath.Join(to, filepath.FromSlash(d.Folder))
	if !filepath.IsLocal(d.Folder) {
		return unsound(from+"/"+d.Folder, "it is no folder of state")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range d.Files {
		name := from + "/" + d.Folder + "/" + f.Name
		if f.Name != filepath.Base(f.Name) || !filepath.IsLocal(f.Name) {
			return unsound(name, "it is no name of a file")
		}
		err := b.get(ctx, name, filepath.Join(dir, f.Name), f.Size, f.SHA256)
		if errors.Is(err, fs.ErrNotExist) {
			return unsound(name, "it is not there, and was written")
		}
		if errors.Is(err, errUnsound) {
			return unsound(name, strings.TrimPrefix(err.Error(), name+": "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucketTry is a try at a piece whose state is in a bucket.
type bucketTry struct {
	p          Piece // as it was sent
	b          *bucket
	home, name string
	begun      func(from, to string) (int64, error)
	restored   int64 // examples that it goes on behind
}

// url is a name in the state.
func (t *bucketTry) url(parts ...string) string {
	return t.p.State + "/" + strings.Join(parts, "/")
}

// ticks calls do so often, in a goroutine, until end is called, and then once more.
func ticks(every time.Duration, do func(last bool)) (end func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for t := time.NewTicker(every); ; {
			select {
			case <-t.C:
				do(false)
			case <-done:
				t.Stop()
				do(true)
				return
			}
		}
	})
	return func() { close(done); wait.Wait() }
}

// lives shows until end is called that somebody is at the piece, and what became of it.
func (t *bucketTry) lives(ctx context.Context) (end func()) {
	show := func(ctx context.Context) {
		now := time.Now()
		os.Chtimes(t.home, now, now)
		text, _ := os.ReadFile(filepath.Join(t.home, logFile))
		text = fmt.Appendf(text, "%s was here\n", now.UTC().Format(time.RFC3339Nano))
		t.b.write(ctx, t.url("log", t.p.Key+tryMark+t.name), text) // for people, and Pulse
	}
	show(ctx)
	return ticks(bucketBeat, func(last bool) {
		if last {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			defer cancel()
		}
		show(ctx)
	})
}

// begunDone is what a checkpoint in a bucket is.
type begunDone struct {
	Examples int64
	Done     Done
}

// restore brings the furthest of what others have begun here, from where takeOver takes it. What is
// torn or gone meanwhile is passed over.
func (t *bucketTry) restore(ctx context.Context) error {
	if t.begun == nil {
		return nil
	}
	names, err := t.b.list(ctx, t.url(t.p.Key+tryMark+"*", "*", begunFile))
	if err != nil {
		return err
	}
	var list []begunDone
	for _, name := range names {
		text, err := t.b.read(ctx, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		var c begunDone
		if err == nil && json.Unmarshal(text, &c) == nil && c.Examples > 0 {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b begunDone) int { return cmp.Compare(b.Examples, a.Examples) })
	for _, c := range list {
		d := c.Done
		if err := t.b.fetch(ctx, t.p.State, t.home, d); err != nil {
			if f := (*shard.Failure)(nil); errors.As(err, &f) && f.Code == 4 {
				t.p.logTo(t.home, t.name, "passed over: %v", err)
				continue
			}
			return err
		}
		t.restored = c.Examples
		return os.Rename(filepath.Join(t.home, filepath.FromSlash(d.Folder)),
			filepath.Join(t.home, t.p.Key+tryMark+"brought"))
	}
	return nil
}

// saves brings checkpoints to the bucket, until end is called.
func (t *bucketTry) saves(ctx context.Context, q Piece) (end func()) {
	if t.begun == nil {
		return func() {}
	}
	saved, before := map[string]time.Time{}, []string(nil)
	return ticks(beat, func(last bool) {
		if last {
			if ctx.Err() == nil {
				return // it was done, or has failed where it always fails
			}
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			defer cancel()
		}
		dirs, err := q.beside(tryMark)
		if err != nil {
			return
		}
		for _, dir := range dirs {
			at := savedAt(dir)
			if at.IsZero() || at.Equal(saved[dir]) || strings.HasSuffix(dir, "brought") {
				continue
			}
			saved[dir] = at
			names, err := t.save(ctx, dir)
			if err != nil {
				saved[dir] = time.Time{} // the next time
				t.p.logTo(t.home, t.name, "not saved: %v", err)
			} else if names != nil {
				t.b.remove(ctx, before...)
				before = names
			}
		}
	})
}

// save brings a checkpoint to the bucket, if it is further than the last, and returns the names of
// its objects.
func (t *bucketTry) save(ctx context.Context, dir string) (names []string, err error) {
	to := filepath.Join(t.home, "saved")
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(to)
	n, err := t.begun(dir, to)
	if err != nil || n <= t.restored {
		return nil, nil // it is just being written, or gone since it is done
	}
	c := begunDone{n, Done{Number: t.p.Number,
		Folder: path.Join(t.p.Key+tryMark+t.name, strconv.FormatInt(n, 10))}}
	if c.Done.Files, err = t.putAll(ctx, to, c.Done.Folder); err != nil {
		return nil, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	if err := t.b.write(ctx, t.url(c.Done.Folder, begunFile), text); err != nil {
		return nil, err
	}
	t.restored = n
	names = []string{t.url(c.Done.Folder, begunFile)} // first, since it says what is there
	for _, f := range c.Done.Files {
		names = append(names, t.url(c.Done.Folder, f.Name))
	}
	return names, nil
}

// putAll makes objects of the files of a folder, and says what they are.
func (t *bucketTry) putAll(ctx context.Context, dir, folder string) (files []File, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if e.Name() == doneFile {
			continue
		}
		f, err := fileOf(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if err := t.b.put(ctx, t.url(folder, f.Name), filepath.Join(dir, f.Name)); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// finish brings what is done to the bucket.
func (t *bucketTry) finish(ctx context.Context, d Done) (Done, error) {
	local := filepath.Join(t.home, d.Folder)
	d.Folder = path.Join(t.p.Key, t.name)
	var err error
	if d.Files, err = t.putAll(ctx, local, d.Folder); err != nil {
		return Done{}, err
	}
	other, err := t.b.taken(ctx, t.p)
	if err != nil {
		return Done{}, err
	}
	if other != nil { // of the same bytes
		for _, f := range d.Files {
			t.b.remove(ctx, t.url(d.Folder, f.Name))
		}
		return *other, nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return Done{}, err
	}
	if err := t.b.write(ctx, t.url(t.p.Key, doneFile), text); err != nil {
		return Done{}, err
	}
	if t.begun != nil {
		names, _ := t.b.list(ctx, t.url(t.p.Key+tryMark+"*", "*", "*"))
		slices.SortFunc(names, func(a, b string) int { // what says what is there goes first
			return -cmp.Compare(btoi(last(a) == begunFile), btoi(last(b) == begunFile))
		})
		t.b.remove(ctx, names...)
	}
	return d, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Pulse is Job.Pulse.
func (s *Buckets) Pulse(ctx context.Context, j *Job) string {
	state := j.Whole.State
	if !inBucket(state) {
		return j.Pulse()
	}
	b, err := s.open(ctx, state)
	if err != nil {
		return err.Error()
	}
	defer b.Close()
	var text strings.Builder
	_, pieces := j.all()
	for _, p := range pieces {
		names, _ := b.list(ctx, state+"/log/"+p.Key+tryMark+"*")
		for _, name := range names {
			lines, _ := b.read(ctx, name)
			fmt.Fprintf(&text, "%s %s\n", name, lines)
		}
	}
	return text.String()
}

// Taken is Piece.Taken of the whole, which is brought here from a bucket until Job.Close. Where a
// file has changed since the job was cut nobody knows which of its examples were learned: it is an
// error, and what was done is dropped.
func (s *Buckets) Taken(ctx context.Context, j *Job) (Done, error) {
	for _, o := range j.files {
		now, err := s.stat(ctx, o.URL)
		if err == nil {
			err = o.is(now)
		}
		if err != nil {
			s.drop(ctx, j)
			return Done{}, err
		}
	}
	p := j.Whole
	if !inBucket(p.State) {
		return p.Taken()
	}
	b, err := s.open(ctx, p.State)
	if err != nil {
		return Done{}, err
	}
	defer b.Close()
	d, err := b.taken(ctx, p)
	if err != nil {
		return Done{}, err
	}
	if d == nil {
		return Done{}, bucketError(p.State+"/"+p.Key+"/"+doneFile, fs.ErrNotExist)
	}
	if j.home, err = newHome(); err != nil {
		return Done{}, err
	}
	return *d, b.fetch(ctx, p.State, j.home, *d)
}

// drop has all pieces of a job be done again.
func (s *Buckets) drop(ctx context.Context, j *Job) {
	_, pieces := j.all()
	for _, p := range pieces {
		if !inBucket(p.State) {
			os.RemoveAll(p.folder())
		} else if b, err := s.open(ctx, p.State); err == nil {
			b.remove(ctx, p.State+"/"+p.Key+"/"+doneFile)
			b.Close()
		}
	}
}
