package serve

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/halfspace-ml/halfspace/internal/atomicfile"
)

// modelFile is the file of a model, and what is known of what a server has read from it or written
// to it. A file that somebody else has put there is never written over.
type modelFile struct {
	path string
	lock *os.File // of the file that is there; nil where there is none
	// The file as it was read or written; info is nil before.
	info os.FileInfo
	sum  [sha256.Size]byte
}

// errForeign says that somebody else's file has the name.
var errForeign = errors.New("another file has the name")

// openModel reads a model's file, and takes it for this server if it is to be written.
func openModel(path string, writes bool) (*modelFile, []byte, error) {
	for {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", err, ErrModel)
		}
		if writes && !atomicfile.TryLock(f) {
			f.Close()
			return nil, nil, fmt.Errorf("%s: another server writes it: %w", path, ErrInUse)
		}
		data, err := io.ReadAll(f)
		var info, now os.FileInfo
		if err == nil {
			info, err = f.Stat()
		}
		if err == nil {
			now, err = os.Stat(path)
		}
		if err != nil {
			f.Close()
			return nil, nil, fmt.Errorf("%w: %w", err, ErrModel)
		}
		if !os.SameFile(info, now) { // it was replaced before it was locked
			f.Close()
			continue
		}
		m := &modelFile{path: path, info: info, sum: sha256.Sum256(data)}
		if m.lock = f; !writes || !atomicfile.KeepsOpen {
			m.unlock()
		}
		return m, data, nil
	}
}

// unlock lets others write the file.
func (m *modelFile) unlock() {
	if m.lock != nil {
		m.lock.Close()
		m.lock = nil
	}
}

// foreign reports whether a name has another file than m's: by what it is or, where that is
// another, by its bytes.
func (m *modelFile) foreign(name string) (bool, error) {
	now, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case m.info == nil || now.Size() != m.info.Size():
		return true, nil
	case os.SameFile(now, m.info) && now.ModTime().Equal(m.info.ModTime()):
		return false, nil
	}
	data, err := os.ReadFile(name)
	return sha256.Sum256(data) != m.sum, err
}

// aside returns where a model goes whose name another file has by now: the first such name that is
// free.
func (m *modelFile) aside() string {
	return free(m.path+".unsaved", m.path+".unsaved.%d")
}

// setAside gives a file a name beside its own, under which there is nothing.
func setAside(path string) error { return os.Rename(path, free(path+".old", path+".old.%d")) }

// free returns the first of some names that no file has.
func free(name, further string) string {
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf(further, n)
	}
}

// write replaces the file, unless another has its name, which is errForeign. ready is told the sum
// of what is about to take the name.
func (m *modelFile) write(encode func(io.Writer) error, ready func([sha256.Size]byte) error) error {
	f, err := atomicfile.Create(m.path, 0o666)
	if err != nil {
		return err
	}
	defer f.Discard()
	h := sha256.New()
	if err := encode(io.MultiWriter(f, h)); err != nil {
		return err
	}
	sum := [sha256.Size]byte(h.Sum(nil))
	kept, err := f.CommitOpen(func() error {
		if err := ready(sum); err != nil {
			return err
		}
		foreign, err := m.foreign(m.path)
		if foreign && err == nil {
			err = errForeign
		}
		return err
	})
	if err != nil {
		return err
	}
	m.unlock()
	m.lock, m.sum = kept, sum
	if kept != nil {
		m.info, err = kept.Stat()
	} else {
		m.info, err = os.Stat(m.path)
	}
	return err
}
