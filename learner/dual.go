package learner

// MarginDual is what PUMMA or ROMMA reaches with a kernel: f(x) = sum_i Coef_i K(x_i, x) + Bias.
type MarginDual struct {
	FitResult
	Coef  []float64 // y_i m_i / |u|^2, one an example; 0 for those that never were updates
	Bias  float64   // 0 for ROMMA
	Bound float64   // |u|: no hyperplane, for ROMMA none through the origin, has a larger margin
}
