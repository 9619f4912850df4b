//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"os"
	"runtime"
	"time"
)

// lock does nothing: on Windows a file that is open can't be removed, and elsewhere none is
// removed.
func lock(*os.File) {}

// TryLock takes a file for this process alone, where files can be locked.
func TryLock(*os.File) bool { return true }

// KeepsOpen says that a file may be replaced while it is open, as CommitOpen and locks need it.
const KeepsOpen = false

// rename gives a part its target's name. Windows wants it closed for that.
func rename(f *os.File, target string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}

// removeAbandoned removes a part file that no process has open, on Windows, which refuses it for
// the others. One that was just written may be about to get its name.
func removeAbandoned(name string) {
	if runtime.GOOS != "windows" {
		return
	}
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > time.Minute {
		os.Remove(name)
	}
}
