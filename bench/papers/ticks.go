package papers

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// steps marks the multiples of 1, 2 or 5 times a power of ten: three to eight of them.
type steps struct{}

// Ticks is plot.Ticker.
func (steps) Ticks(low, high float64) (ticks []plot.Tick) {
	least := (high - low) / 7
	power := math.Floor(math.Log10(least))
	step := math.Pow(10, power+1)
	for _, m := range []float64{1, 2, 5} {
		if v := m * math.Pow(10, power); v >= least {
			step = v
			break
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step))))
	for k := math.Ceil(low / step); k*step <= high; k++ {
		v := float64(k*step) + 0 // -0 is 0
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', digits, 64)})
	}
	return ticks
}
