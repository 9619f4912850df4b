//go:build unix

package command

import (
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// hangups are those of the process.
var hangups = make(chan os.Signal, 1)

// reload is what a hang-up has reloaded, instead of the work's end; nil: nothing is.
var reload atomic.Pointer[func()]

// onHangup calls stop at the first SIGHUP; others change nothing, since the end of a terminal may
// send two. A process that was started to live on, by nohup, does.
func onHangup(stop func()) {
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangups, syscall.SIGHUP)
	}
	go func() {
		for range hangups {
			if again := reload.Load(); again != nil {
				(*again)()
			} else {
				stop()
			}
		}
	}()
}

// onReload has each SIGHUP from now on call again, and end nothing.
func onReload(again func()) {
	reload.Store(&again)
	signal.Notify(hangups, syscall.SIGHUP)
}

// keepBrokenPipes has a write to a pipe without a reader fail, where Go would end the process. What
// is said on stderr is written without a look at errors, so whether anybody hears it decides
// nothing.
func keepBrokenPipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// dieOfBrokenPipe ends the process by SIGPIPE, as Go does when a write to stdout fails so.
func dieOfBrokenPipe(stdout io.Writer, p []byte) {
	signal.Reset(syscall.SIGPIPE)
	stdout.Write(p)
}
