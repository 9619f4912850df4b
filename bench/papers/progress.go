package papers

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress draws on a terminal how far a run of some experiments is: a bar for the one that runs, and share and time left of all. Rows come when they come, some all at
// the end, so the bar goes by the time that an experiment should take, stretched by how much longer than they should the finished ones took.
type progress struct {
	w      io.Writer
	should []float64 // seconds of each experiment; 0: it isn't run
	now    func() time.Time

	mu            sync.Mutex
	bar           *progressbar.ProgressBar // of the one that runs
	at            int
	name          string
	rows          int
	started       time.Time // all
	began         time.Time // this one
	spent, wanted float64   // by the finished ones, and what they should have taken
	quit, gone    chan struct{}
}

// barSteps is the length of a bar.
const barSteps = 1000

// begin draws the bar of experiment i, within 80 columns; end takes it away.
func (p *progress) begin(i int, name string) {
	p.at, p.name, p.rows, p.began = i, name, 0, p.now()
	if p.started.IsZero() {
		p.started = p.began
	}
	p.bar = progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(12), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish())
	p.quit, p.gone = make(chan struct{}), make(chan struct{})
	p.draw()
	go func() {
		defer close(p.gone)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-tick.C:
				p.draw()
			}
		}
	}()
}

// row counts a row of the experiment that runs.
func (p *progress) row() {
	p.mu.Lock()
	p.rows++
	p.mu.Unlock()
}

func (p *progress) end() {
	close(p.quit)
	<-p.gone
	p.bar.Exit()
	p.bar.Clear()
	p.spent += p.now().Sub(p.began).Seconds()
	p.wanted += p.should[p.at]
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	this, all, left := p.estimate()
	text := fmt.Sprintf("[%d/%d] %s", p.at+1, len(p.should), p.name)
	switch p.rows {
	case 0:
	case 1:
		text += ", 1 row"
	default:
		text += fmt.Sprintf(", %d rows", p.rows)
	}
	p.bar.Describe(fmt.Sprintf("%s; all %.0f %%, %v left ", text, 100*all, left))
	p.bar.Set(int(barSteps * this))
}

// estimate returns the shares done of the experiment that runs, never all of it, and of all, and how long all still take.
func (p *progress) estimate() (this, all float64, left time.Duration) {
	const some = 10 // seconds: short experiments say little
	stretch := (p.spent + some) / (p.wanted + some)
	now := p.now()
	elapsed, whole := now.Sub(p.began).Seconds(), p.should[p.at]*stretch
	this = min(0.99, elapsed/whole)
	rest := max(0, whole-elapsed)
	for _, s := range p.should[p.at+1:] {
		rest += s * stretch
	}
	if past := now.Sub(p.started).Seconds(); past > 0 {
		all = past / (past + rest)
	}
	return this, min(0.99, all), time.Duration(rest * float64(time.Second)).Round(time.Second)
}
