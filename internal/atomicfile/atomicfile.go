// Package atomicfile writes files that appear whole or not at all.
//
// What is written goes to a file of its own beside the target, named TARGET.PID-N.part, which takes
// the target's name only when it is complete and on the disk. So the name holds the old content or
// the new one, whatever fails. A process that is killed leaves its part behind; the next one that
// writes to the same target removes it, and never one whose writer still lives.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrTarget says that something other than a regular file has the name.
var ErrTarget = errors.New("is no regular file")

// maxLinks is how many links a name may lead through, as on Linux.
const maxLinks = 40

// Target returns where name leads: itself, or the end of the links that it stands for, whether a
// file is there or not.
func Target(name string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(name)
		if err != nil { // no link, or nothing there
			return name, nil
		}
		if !filepath.IsAbs(to) {
			// ".." behind a link to a folder means that folder's parent, so the folder is resolved
			// before they are joined.
			dir := filepath.Dir(name)
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
			to = filepath.Join(dir, to)
		}
		name = to
	}
	return "", &fs.PathError{Op: "open", Path: name, Err: errors.New("too many links")}
}

// File is a file that is being written. Its errors speak of the name that it will take.
type File struct {
	part         *os.File
	name, target string // as Create was given it, and where that leads
	done         bool
}

// fsync is (*os.File).Sync; tests watch it.
var fsync = (*os.File).Sync

// Create begins a file that will take the name. If that is a link, the file will be where it
// points. An old file's permissions are kept; a new one gets perm less the umask. A name that
// something else than a file has is ErrTarget.
func Create(name string, perm fs.FileMode) (*File, error) {
	old, err := os.Stat(name)
	switch {
	case err != nil:
		old = nil
	case !old.Mode().IsRegular():
		// Its links may lead to no name at all, as that of /dev/stdout to a pipe.
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrTarget}
	default:
		perm = old.Mode().Perm()
	}
	target, err := Target(name)
	if err != nil {
		return nil, err
	}
	sweep(target)
	f, err := newPart(target, perm)
	if err != nil {
		return nil, err
	}
	if old != nil {
		f.Chmod(perm) // what the umask took away; where that can't be given back, less is safe
	}
	return &File{part: f, name: name, target: target}, nil
}

// Write is io.Writer's.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.part.Write(p)
	return n, f.named(err)
}

// named gives an error of package os about the part the name that people know.
func (f *File) named(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: f.name, Err: p.Err}
	}
	if p := (*os.LinkError)(nil); errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: f.name, Err: p.Err}
	}
	return err
}

// Commit puts the file in its place. On an error the old content stays, and the new one is dropped.
func (f *File) Commit() error {
	kept, err := f.CommitOpen(nil)
	if kept != nil {
		kept.Close()
	}
	return err
}

// CommitOpen is Commit, and returns the file still open: its lock (see TryLock) lasts until it is
// closed. Just before the name is taken ready is called, if there is one: on its error the old
// content stays. The file is nil on an error, and where an open file can't get a name.
func (f *File) CommitOpen(ready func() error) (kept *os.File, err error) {
	if f.done {
		return nil, f.named(&fs.PathError{Op: "close", Err: os.ErrClosed})
	}
	f.done = true
	err = fsync(f.part)
	if err == nil && ready != nil {
		err = ready()
	}
	if err == nil {
		err = rename(f.part, f.target)
	}
	if err != nil {
		f.part.Close()
		os.Remove(f.part.Name())
		return nil, f.named(err)
	}
	syncDir(filepath.Dir(f.target))
	if !KeepsOpen {
		return nil, nil
	}
	return f.part, nil
}

// Discard drops what was written. After Commit it does nothing.
func (f *File) Discard() {
	if !f.done {
		f.done = true
		f.part.Close()
		os.Remove(f.part.Name())
	}
}

// syncDir makes the new name last through a power cut, where folders can be synced.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		fsync(d)
		d.Close()
	}
}

// newPart creates and locks a part file of target. The lock shows other processes that its writer
// is alive.
func newPart(target string, perm fs.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s.%d-%d.part", target, os.Getpid(), n)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			if errors.Is(err, fs.ErrExist) && n < 100 {
				continue
			}
			return nil, err
		}
		lock(f) // where that can't be done no process takes it for abandoned either
		if still(f, name) {
			return f, nil
		}
		f.Close() // somebody took it for abandoned before it was locked
		if n == 100 {
			return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
	}
}

// still reports whether the name is that of the open file.
func still(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(mine, there)
}

// partEnd reports whether s is what follows the target in a part's name: a process's number and one
// of its own, as .123-4.part.
func partEnd(s string) bool {
	s, ok := strings.CutSuffix(s, ".part")
	if !ok || !strings.HasPrefix(s, ".") {
		return false
	}
	process, n, ok := strings.Cut(s[1:], "-")
	number := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return ok && number(process) && number(n)
}

// sweep removes the part files of target that writers left behind which live no more.
func sweep(target string) {
	folder, base := filepath.Dir(target), filepath.Base(target)
	dir, err := os.Open(folder)
	if err != nil {
		return
	}
	defer dir.Close()
	// Unsorted, without a look at the files: there may be many. What can't be read stays.
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		end, ok := strings.CutPrefix(name, base)
		if !ok || !partEnd(end) {
			continue
		}
		name = filepath.Join(folder, name)
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			removeAbandoned(name)
		}
	}
}
