package command

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// bar is a progress bar on a terminal's last line. The first draw makes it, clear takes it away.
type bar struct {
	w       io.Writer
	started time.Time
	width   int // of the line as it is drawn, 0 while there is none
}

// draw shows that n of total units are done, with the rate, after a text; a total of -1 is unknown.
func (b *bar) draw(total, n int64, unit, text string) {
	if b.width == 0 {
		b.started = time.Now()
	}
	if total > 0 {
		text += cells(float64(n)/float64(total), 30) + fmt.Sprintf(" %d/%d", n, total)
	} else {
		text += fmt.Sprintf(" %d", n)
	}
	if s := time.Since(b.started).Seconds(); s > 0 {
		text += fmt.Sprintf(" (%.0f %s/s)", float64(n)/s, unit)
	}
	b.line(text)
}

// drawShare shows which share of something is done, from 0 to 1, after a text.
func (b *bar) drawShare(share float64, text string) { b.line(text + cells(share, 12)) }

// cells draws a bar of width cells.
func cells(share float64, width int) string {
	full := min(max(int(share*float64(width)), 0), width)
	return fmt.Sprintf(" %3.0f%% |%s%s|", 100*share, strings.Repeat("█", full),
		strings.Repeat(" ", width-full))
}

// line replaces the line.
func (b *bar) line(text string) {
	width := utf8.RuneCountInString(text)
	fmt.Fprintf(b.w, "\r%s%s", text, strings.Repeat(" ", max(0, b.width-width)))
	b.width = max(width, 1)
}

func (b *bar) shown() bool { return b.width > 0 }

func (b *bar) clear() {
	if b.shown() {
		fmt.Fprintf(b.w, "\r%s\r", strings.Repeat(" ", b.width))
		b.width = 0
	}
}
