package learner

import "math"

// Pass is where passes over a data set, which teach one example after another, were stopped.
type Pass struct {
	Data     uint64 `json:"data"`     // Fingerprint of the examples, in the order of the data
	Examples int64  `json:"examples"` // how many there are
	Number   uint64 `json:"number"`   // of the pass, from 0: by it its order is drawn
	// the next example, in the order of the pass; Examples at its end
	At      int64 `json:"at"`
	Updated bool  `json:"updated"` // it has made an update
	Shuffle bool  `json:"shuffle"`
}

// Valid reports whether there can be such a place.
func (p *Pass) Valid() bool {
	return p.Examples > 0 && p.Examples <= math.MaxInt32 && p.At >= 0 && p.At <= p.Examples &&
		p.Data <= passLimit && p.Number <= passLimit
}

// passLimit bounds what a Pass counts: no data set and no run comes near it.
const passLimit = 1 << 53
