package work

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// The folder of state has
//
//	KEY/            a piece that is done: its files, and done.json, which says what they are
//	KEY.try-NAME/   one that somebody is at, or was at when it was killed
//	KEY.copy-NAME/  a copy of a try, until it is whole and becomes one itself
//	log             a line for each try: what it began with, and what came of it
//
// A try becomes the piece by being renamed, so that what has the name is whole. A process writes in
// tries of its own alone: of others it takes copies.
const (
	tryMark  = ".try-"
	copyMark = ".copy-"
	logFile  = "log"
)

// damaged is an error of a file in the state, which is to be removed with its folder.
func damaged(name string, err error) error {
	return training.NewError(training.ErrModel, "Its folder can be removed: rm -r "+
		filepath.Dir(name)+".", "%s: %w", name, err)
}

// once does what is to be done for a piece in a folder of its own, unless the piece is done.
func (p *Piece) once(begun func(from, to string) (int64, error), do func(dir string) error) (
	Done, error) {
	if d, err := p.taken(); err != nil || d != nil {
		return p.was(d, err)
	}
	dir, err := p.try()
	if err != nil {
		return Done{}, err
	}
	defer beats(dir)()
	from, behind, err := p.takeOver(begun, dir)
	saved := savedAt(dir)
	if err == nil {
		p.log(dir, "begun behind %d examples", behind)
		if err = do(dir); err == nil {
			var d Done
			if d, err = p.finish(dir); err == nil {
				return d, nil
			}
		}
	}
	p.log(dir, "failed: %v", err)
	if savedAt(dir).Equal(saved) { // it has nothing that others don't have
		os.RemoveAll(dir)
	}
	// Whoever did it meanwhile has removed all tries.
	if d, e := p.taken(); e == nil && d != nil {
		os.RemoveAll(dir)
		return *d, nil
	}
	if behind > 0 && errors.Is(err, shard.ErrTraceFile) {
		err = damaged(filepath.Join(from, traceFile+openEnd), err)
	}
	return Done{}, err
}

// savedAt is when a try has last written a model; the zero time is never.
func savedAt(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, ModelFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// beat is how often a try shows that its process lives.
const beat = time.Second

// beats has the folder's time change until end is called.
func beats(dir string) (end func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for t := time.NewTicker(beat); ; {
			select {
			case now := <-t.C:
				os.Chtimes(dir, now, now) // it may be gone: see once
			case <-done:
				t.Stop()
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// Pulse is a text that is another one, each time, as long as somebody is at a piece of the job.
func (j *Job) Pulse() string {
	list, err := os.ReadDir(j.Whole.State)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	_, pieces := j.all()
	for _, e := range list {
		key, _, _ := strings.Cut(e.Name(), tryMark)
		if info, err := e.Info(); err == nil &&
			slices.ContainsFunc(pieces, func(p Piece) bool { return p.Key == key }) {
			fmt.Fprintln(&b, e.Name(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

func (p *Piece) was(d *Done, err error) (Done, error) {
	if err != nil {
		return Done{}, err
	}
	p.log(p.folder(), "taken")
	return *d, nil
}

func (p *Piece) folder() string { return filepath.Join(p.State, p.Key) }

// taken returns what was done; nil: nothing was.
func (p *Piece) taken() (*Done, error) {
	name := filepath.Join(p.folder(), doneFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat(p.folder()); e != nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, damaged(name, err)
	}
	d := &Done{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, damaged(name, err)
	}
	if d.Number != p.Number || d.Folder != p.Key || len(d.Files) == 0 {
		return nil, damaged(name, errors.New("it is of another piece of work"))
	}
	return d, nil
}

// Taken is what was done; an error where nothing was.
func (p *Piece) Taken() (Done, error) {
	d, err := p.taken()
	if err == nil && d == nil {
		err = fmt.Errorf("%s: it is not there, and was said to be done: do workers see this "+
			"folder under another name?", p.folder())
	}
	if err != nil {
		return Done{}, p.failure(err)
	}
	return *d, nil
}

// try makes a new folder.
func (p *Piece) try() (string, error) {
	dir := p.folder() + tryMark + tryName()
	return dir, os.Mkdir(dir, 0o777)
}

// tryName is a name that no other try has.
func tryName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%s", strings.ToValidUTF8(host, ""), os.Getpid(), rand.Text()[:8])
}

// beside are the folders of the piece that have a mark behind its name: of those that are or were
// at it, or copy what others have.
func (p *Piece) beside(mark string) ([]string, error) {
	list, err := os.ReadDir(p.State)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range list {
		if strings.HasPrefix(e.Name(), p.Key+mark) {
			dirs = append(dirs, filepath.Join(p.State, e.Name()))
		}
	}
	return dirs, nil
}

// takeOver copies what the furthest of other tries has learned.
func (p *Piece) takeOver(begun func(from, to string) (int64, error), dir string) (furthest string,
	best int64, err error) {
	if begun == nil {
		return "", 0, nil
	}
	dirs, err := p.beside(tryMark)
	if err != nil {
		return "", 0, err
	}
	for _, from := range dirs {
		if from == dir {
			continue
		}
		to := strings.Replace(dir, tryMark, copyMark, 1)
		if err := os.Mkdir(to, 0o777); err != nil {
			return "", 0, err
		}
		n, err := begun(from, to)
		if err == nil && n > best {
			if err = os.RemoveAll(dir); err == nil {
				err = os.Rename(to, dir)
			}
			furthest, best = from, n
		}
		os.RemoveAll(to)
		if err != nil {
			if _, gone := os.Stat(from); gone != nil { // with all that was in it
				continue
			}
			return "", 0, err
		}
	}
	return furthest, best, nil
}

// finish says what the files of the try are, and gives it the piece's name.
func (p *Piece) finish(dir string) (Done, error) {
	d := Done{Number: p.Number, Folder: p.Key}
	list, err := os.ReadDir(dir)
	if err != nil {
		return d, err
	}
	for _, e := range list {
		name := e.Name()
		if strings.HasSuffix(name, ".1") { // the checkpoint before the last
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return d, err
			}
			continue
		}
		f, err := fileOf(filepath.Join(dir, name))
		if err != nil {
			return d, err
		}
		d.Files = append(d.Files, f)
	}
	text, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	if err := writeSynced(filepath.Join(dir, doneFile), text); err != nil {
		return d, err
	}
	if err := os.Rename(dir, p.folder()); err != nil {
		// There is one already: of the same bytes.
		other, e := p.taken()
		if e != nil {
			return d, e
		}
		if other == nil {
			return d, err
		}
		p.log(dir, "done, after another")
		os.RemoveAll(dir)
		return *other, nil
	}
	if s, err := os.Open(p.State); err == nil {
		s.Sync() // the name lasts through a power cut, where folders can be synced
		s.Close()
	}
	p.log(dir, "done")
	p.clear()
	return d, nil
}

// clear removes what is beside a piece that is done. What is left over does no harm.
func (p *Piece) clear() {
	for _, mark := range []string{tryMark, copyMark} {
		dirs, _ := p.beside(mark)
		for _, dir := range dirs {
			os.RemoveAll(dir)
		}
	}
}

// fileOf reads a file for what is said of it.
func fileOf(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return File{Name: filepath.Base(name), Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// check reads the files of a piece that is done, in its folder.
func (d *Done) check(dir string) error {
	for _, want := range d.Files {
		name := filepath.Join(dir, want.Name)
		got, err := fileOf(name)
		if err != nil {
			return damaged(name, err)
		}
		if got != want {
			return damaged(name, fmt.Errorf("%d bytes of sha256 %s, and %d of %s were written",
				got.Size, got.SHA256, want.Size, want.SHA256))
		}
	}
	return nil
}

func writeSynced(name string, text []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// log says what became of a try. It is for people: nothing is read of it, and where it can't be
// written nothing is lost.
func (p *Piece) log(dir, format string, args ...any) {
	p.logTo(p.State, filepath.Base(dir), format, args...)
}

// logTo says in the folder of state what became of the try of that name.
func (p *Piece) logTo(state, name, format string, args ...any) {
	f, err := os.OpenFile(filepath.Join(state, logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND,
		0o666)
	if err != nil {
		return
	}
	defer f.Close()
	what := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
	fmt.Fprintf(f, "%s %s %s\n", time.Now().UTC().Format(time.RFC3339), name, what)
}
