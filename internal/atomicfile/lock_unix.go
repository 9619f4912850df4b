//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"os"
	"syscall"
)

// lock marks a file as one whose writer lives, as long as it is open. Whoever is about to remove it
// is waited for.
func lock(f *os.File) {
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX) == syscall.EINTR {
	}
}

// TryLock takes a file for this process alone, as long as it is open. It returns false where
// another one has it. Where files can't be locked it returns true.
func TryLock(f *os.File) bool {
	for {
		switch syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return false
		default:
			return true
		}
	}
}

// KeepsOpen says that a file may be replaced while it is open, as CommitOpen and locks need it.
const KeepsOpen = true

// rename gives a part its target's name while it is locked.
func rename(f *os.File, target string) error { return os.Rename(f.Name(), target) }

// removeAbandoned removes a part file that no process has locked. The system takes the lock away
// when a process ends, however it does, so this holds for processes of other containers, too, whose
// numbers mean nothing here.
func removeAbandoned(name string) {
	const how = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	// Network file systems lock only what can be written.
	f, err := os.OpenFile(name, os.O_RDWR|how, 0)
	if err != nil {
		f, err = os.OpenFile(name, os.O_RDONLY|how, 0)
	}
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && still(f, name) {
		os.Remove(name)
	}
}
