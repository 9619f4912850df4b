//go:build !unix

package command

import "io"

// There are neither hang-ups nor signals of broken pipes here.

func onHangup(func()) {}

func onReload(func()) {}

func keepBrokenPipes() {}

func dieOfBrokenPipe(io.Writer, []byte) {}
