package format

import (
	"bytes"
	"fmt"
)

// Limits are sizes that a format must look at by itself.
type Limits struct {
	Line   int   // bytes of the longest line or example
	Held   int64 // bytes of labels that are kept at once
	Memory int64 // dataset.Options.Memory, where that decides about Line; else 0
	Decode int64 // bytes that what is read of a file in one piece may take, packed and unpacked
}

// TooLong refuses a line that is longer than there is room for; text is its beginning.
func (l *Limits) TooLong(file string, text []byte) *RowError {
	e := &RowError{File: file, Line: 1, Col: 1, Excerpt: Excerpt(text[:min(200, len(text))], 0),
		Err: ErrFormat,
		What: fmt.Sprintf("the line is longer than %s: if it is meant, raise Options.MaxLine",
			InKiB(int64(l.Line)))}
	if l.Memory > 0 {
		e.What = fmt.Sprintf("the line is longer than %s, for which the %s for reading have "+
			"room: raise Options.Memory", InKiB(int64(l.Line)), InKiB(l.Memory))
		e.Err = ErrMemory
	}
	return e
}

// NotClosed is TooLong of a row in which the quote at open is not closed.
func (l *Limits) NotClosed(file string, text []byte, open int) *RowError {
	e := l.TooLong(file, text)
	begin := bytes.LastIndexByte(text[:open], '\n') + 1
	line, _, _ := bytes.Cut(text[begin:], []byte{'\n'})
	e.Line, e.Col = 1+bytes.Count(text[:begin], []byte{'\n'}), open-begin+1
	e.Excerpt = Excerpt(line, open-begin)
	e.What = fmt.Sprintf("%s within %s; %s", notClosed, InKiB(int64(l.Line)), e.What)
	return e
}

// InKiB is an amount of memory, in bytes, for people: whole MiB, tenths of a MiB from 10 MiB on,
// else KiB rounded down, or bytes below one.
func InKiB(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
