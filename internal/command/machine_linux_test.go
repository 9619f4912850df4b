package command

import (
	"io"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// awaitRead waits until the other end of a pipe has read all that was written to it.
func awaitRead(t *testing.T, pipe io.Writer) {
	t.Helper()
	raw, err := pipe.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		unread, failed := int32(0), syscall.Errno(0)
		if err := raw.Control(func(fd uintptr) {
			_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ,
				uintptr(unsafe.Pointer(&unread)))
		}); err != nil || failed != 0 {
			t.Fatal(err, failed)
		}
		if unread == 0 {
			return
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("%d bytes were not read in 30 s", unread)
		}
	}
}

// plainPages has this process, and those that it starts, take no more memory at once than they ask
// for: where the machine is set to give large pages to all, some words take 2 MiB.
func plainPages() {
	const (
		setDisabled  = 41 // PR_SET_THP_DISABLE
		exceptAsked  = 2  // PR_THP_DISABLE_EXCEPT_ADVISED, of Linux 6.18
		withoutFlags = 0
	)
	for _, flags := range []uintptr{exceptAsked, withoutFlags} {
		if _, _, failed := syscall.Syscall6(syscall.SYS_PRCTL, setDisabled, 1, flags, 0, 0,
			0); failed == 0 {
			return
		}
	}
}
