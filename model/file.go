package model

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/halfspace-ml/halfspace/internal/atomicfile"
)

// Save writes the model under path in one step: into a new file in the same folder, which takes the
// name only when it is complete and on the disk. So path holds the old model or the new one,
// whatever fails, and no part of a file stays behind. It returns the SHA-256 of the file's bytes in
// hex. path may be a link to a file, which is replaced where it points; anything else that exists
// and is no file is ErrTarget.
func Save(path string, m *Model) (sum string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w; nothing was saved", path, err)
		}
	}()
	f, err := atomicfile.Create(path, 0o666)
	if errors.Is(err, atomicfile.ErrTarget) {
		return "", fmt.Errorf("it is no regular file: %w; give a file name", ErrTarget)
	}
	if err != nil {
		return "", err
	}
	defer f.Discard()
	hash := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, hash), 1<<16)
	if err := Encode(w, m); err != nil {
		return "", err
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	if err := f.Commit(); err != nil {
		return "", err
	}
	return hexSum(hash), nil
}

// Load reads a model file, or a pipe. Beside the errors of Decode, those of reading the file. A
// file that does not begin as a model, or that is longer than its header says, is not read any
// further.
func Load(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	m, err := read(f, size)
	if pe := (*fs.PathError)(nil); err != nil && !errors.As(err, &pe) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return m, err
}

// Keep keeps the model file that is about to be replaced under the name of [Kept]; if there is none
// it does nothing. path has it all the while.
func Keep(path string) error {
	last := Kept(path)
	target, err := atomicfile.Target(path)
	if err != nil {
		return err
	}
	if st, err := os.Stat(last); err == nil && !st.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: last, Err: atomicfile.ErrTarget}
	}
	if err := os.Remove(last); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err = os.Link(target, last); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil // kept, or there is none yet
	}
	// a file system without links
	from, err := os.Open(target)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := atomicfile.Create(last, 0o666)
	if err != nil {
		return err
	}
	defer to.Discard()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return to.Commit()
}

// Kept returns the name under which Keep keeps a model file: its own with ".1" behind it.
func Kept(path string) string { return filepath.Clean(path) + ".1" }
