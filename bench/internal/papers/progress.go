package papers

import (
	"sync"
	"time"
)

// Standing is how far a Series is while an experiment runs.
type Standing struct {
	At, Of int    // the experiment's place, from 0, and how many there are
	Name   string // the experiment's
	Rows   int    // it has finished
	This   float64
	All    float64       // shares done of it and of all, from 0 to 0.99
	Left   time.Duration // that all still take, in whole seconds
}

// progress finds out how far a run of some experiments is. Rows come when they come, some all at
// the end, so shares go by the time that an experiment should take, stretched by how much longer
// than they should the finished ones took.
type progress struct {
	show   func(Standing) // from a goroutine of its own, while an experiment runs; may be nil
	should []float64      // seconds of each experiment; 0: it isn't run
	now    func() time.Time

	mu            sync.Mutex
	at            int
	name          string
	rows          int
	started       time.Time // all
	began         time.Time // this one
	spent, wanted float64   // by the finished ones, and what they should have taken
	quit, gone    chan struct{}
}

// begin shows how far experiment i is, four times a second, until end.
func (p *progress) begin(i int, name string) {
	p.at, p.name, p.rows, p.began = i, name, 0, p.now()
	if p.started.IsZero() {
		p.started = p.began
	}
	if p.show == nil {
		return
	}
	p.quit, p.gone = make(chan struct{}), make(chan struct{})
	p.show(p.standing())
	go func() {
		defer close(p.gone)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-tick.C:
				p.show(p.standing())
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

// end stops what begin began.
func (p *progress) end() {
	if p.show != nil {
		close(p.quit)
		<-p.gone
	}
	p.spent += p.now().Sub(p.began).Seconds()
	p.wanted += p.should[p.at]
}

func (p *progress) standing() Standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Standing{At: p.at, Of: len(p.should), Name: p.name, Rows: p.rows}
	s.This, s.All, s.Left = p.estimate()
	return s
}

// estimate returns the shares done of the experiment that runs, never all of it, and of all, and
// how long all still take.
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
