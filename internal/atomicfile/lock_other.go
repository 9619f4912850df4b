//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"os"
	"runtime"
)

// lock does nothing: on Windows a file that is open can't be removed, and elsewhere nobody removes any.
func lock(*os.File) {}

// removeAbandoned removes a part file that nobody has open, on Windows, which refuses it for the others.
func removeAbandoned(name string) {
	if runtime.GOOS == "windows" {
		os.Remove(name)
	}
}
