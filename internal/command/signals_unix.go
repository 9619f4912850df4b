//go:build unix

package command

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// onHangup calls stop at the first SIGHUP; others change nothing, since the end of a terminal may
// send two. A process that was started to live on, by nohup, does.
func onHangup(stop func()) {
	if signal.Ignored(syscall.SIGHUP) {
		return
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		<-hangups
		stop()
	}()
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
