package learner

// Facts are what settings may be relative to: they are known when the data are.
type Facts struct {
	// SumSq is the square of the longest example's length, as the examples are learned: scaled, and
	// with an appended feature (a bias, or rho of the margin papers). 0 if no example has a
	// feature.
	SumSq float64
	// Delta is FitOptions.Delta: with a soft margin each example is longer by a coordinate of that
	// size.
	Delta float64
	// Features is the number of features, an appended one included.
	Features int
}

// R2 returns R^2, the square of the longest example's length with its coordinate Delta. It is the
// sum that a Fit takes, to the bit, and not the square of a root.
func (f Facts) R2() float64 { return f.SumSq + float64(f.Delta*f.Delta) }
