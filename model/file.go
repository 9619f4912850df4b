package model

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Save writes the model under path in one step: into a new file in the same folder, which takes the name only when it is complete and
// on the disk. So path holds the old model or the new one, whatever fails, and no part of a file stays behind. It returns the
// SHA-256 of the file's bytes in hex. path may be a link to a file, which is replaced where it points; anything else
// that exists and is no file is ErrTarget.
func Save(path string, m *Model) (sum string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w; nothing was saved", path, err)
		}
	}()
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	perm := os.FileMode(0o666) // less the umask
	if old, err := os.Stat(path); err == nil {
		if !old.Mode().IsRegular() {
			return "", fmt.Errorf("it is no regular file: %w; give a file name", ErrTarget)
		}
		perm = old.Mode().Perm()
	}
	f, err := newBeside(path, perm)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	hash := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, hash), 1<<16)
	if err := Encode(w, m); err != nil {
		return "", err
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return "", err
	}
	syncDir(filepath.Dir(path))
	return hexSum(hash), nil
}

// newBeside creates a file of a name of its own in the folder of path.
func newBeside(path string, perm os.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s.%d-%d.part", path, os.Getpid(), n)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !os.IsExist(err) || n == 100 {
			return f, err
		}
	}
}

// syncDir makes the rename last through a power cut, where folders can be synced.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// Load reads a model file. Beside the errors of Decode, those of reading the file. A file that does not begin as a model is
// not read any further.
func Load(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := make([]byte, 9)
	n, err := io.ReadFull(f, start)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // split says what it means
	}
	if err != nil {
		return nil, err
	}
	if _, _, err := split(start[:n]); errors.Is(err, ErrForeign) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(io.MultiReader(bytes.NewReader(start[:n]), f))
	if err != nil {
		return nil, err
	}
	m, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
