package command

import (
	"io"

	"github.com/schollz/progressbar/v3"
)

// bar is a progress bar on a terminal's last line. The first draw makes it, clear takes it away.
type bar struct {
	w    io.Writer
	live *progressbar.ProgressBar // nil while there is none
}

// draw shows that n of total units are done, with the count and the rate, behind a text; a total of
// -1 is not known.
func (b *bar) draw(total, n int64, unit, text string) {
	if b.live == nil {
		options := []progressbar.Option{progressbar.OptionSetWriter(b.w),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(unit), progressbar.OptionClearOnFinish()}
		if unit == "examples" {
			options = append(options, progressbar.OptionSetWidth(30))
		}
		b.live = progressbar.NewOptions64(total, options...)
	}
	b.live.Describe(text)
	b.live.Set64(n)
}

// shares is the length of a bar of shares.
const shares = 1000

// drawShare shows what share of something is done, from 0 to 1, behind a text and within 80 columns
// with one of 50.
func (b *bar) drawShare(share float64, text string) {
	if b.live == nil {
		b.live = progressbar.NewOptions(shares, progressbar.OptionSetWriter(b.w),
			progressbar.OptionSetWidth(12), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish())
	}
	b.live.Describe(text)
	b.live.Set(int(shares * share))
}

func (b *bar) shown() bool { return b.live != nil }

func (b *bar) clear() {
	if b.live != nil {
		b.live.Exit()
		b.live.Clear()
		b.live = nil
	}
}
