package eval

// Window is the last outcomes of a stream. Not safe for concurrent use.
//
// Cost: some ns an outcome, and 56 bytes for each of the window.
type Window struct {
	ring    []Outcome
	at      int // place of the next one
	n       int // filled places
	sum     float64
	wrong   float64
	metrics *Metrics
}

// NewWindow returns an empty one of size outcomes, at least 1. What its Metrics tally o says, but
// for fading.
func NewWindow(size int, o MetricsOptions) *Window {
	o.Fading = 0
	return &Window{ring: make([]Outcome, max(size, 1)), metrics: NewMetrics(o)}
}

// Add puts an outcome in the place of the oldest.
func (w *Window) Add(o *Outcome) {
	p := &w.ring[w.at]
	if w.n == len(w.ring) {
		w.sum, w.wrong = w.sum-p.Weight, w.wrong-p.missed()
	} else {
		w.n++
	}
	*p = *o
	w.sum, w.wrong = w.sum+p.Weight, w.wrong+p.missed()
	if w.at++; w.at == len(w.ring) {
		w.at = 0
		w.sum, w.wrong = 0, 0 // roundings of weights do not add up for ever
		for i := range w.ring {
			w.sum, w.wrong = w.sum+w.ring[i].Weight, w.wrong+w.ring[i].missed()
		}
	}
}

// missed is the weight of a wrong prediction, 0 of a right one.
func (o *Outcome) missed() float64 {
	if o.Predicted == o.Class {
		return 0
	}
	return o.Weight
}

// Len returns how many outcomes there are: at most the size.
func (w *Window) Len() int { return w.n }

// Error returns the share of wrong predictions.
func (w *Window) Error() float64 { return ratio(w.wrong, w.sum) }

// Metrics returns those of the outcomes, good until the next call. Cost: of tallying all of them.
func (w *Window) Metrics() *Metrics {
	w.metrics.Reset()
	first := w.at
	if w.n < len(w.ring) {
		first = 0
	}
	for i := range w.n {
		w.metrics.Add(&w.ring[(first+i)%len(w.ring)])
	}
	return w.metrics
}
