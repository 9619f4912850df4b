package papers

import (
	"math"

	"github.com/halfspace-ml/halfspace/internal/report"
)

// zeros returns where f, linear in triangles of a grid of n times n squares over [x0, x1] x [y0,
// y1], is 0. f takes the grid's points row by row.
func zeros(name string, x0, x1, y0, y1 float64, n int, f func(x, y []float64) ([]float64, error)) (
	report.Line, error) {
	var x, y []float64
	for i := range n + 1 {
		for j := range n + 1 {
			x, y = append(x, x0+(x1-x0)*float64(j)/float64(n)), append(y,
				y0+(y1-y0)*float64(i)/float64(n))
		}
	}
	z, err := f(x, y)
	l := report.Line{Name: name, Form: report.Segments}
	for i := 0; i < n && err == nil; i++ {
		for j := range n {
			a := i*(n+1) + j
			for _, t := range [2][3]int{{a, a + 1, a + n + 2}, {a, a + n + 1, a + n + 2}} {
				for k, p := range t {
					q := t[(k+1)%3]
					if (z[p] > 0) != (z[q] > 0) { // on no side of a triangle, or on two
						s := z[p] / (z[p] - z[q])
						l.X, l.Y = append(l.X, x[p]+s*(x[q]-x[p])), append(l.Y, y[p]+s*(y[q]-y[p]))
					}
				}
			}
		}
	}
	return l, err
}

// meanLine averages curves point by point; one that has ended stays where it is.
func meanLine(lines []report.Line) report.Line {
	var out report.Line
	for _, l := range lines {
		for len(out.X) < len(l.X) {
			out.X, out.Y = append(out.X, 0), append(out.Y, 0)
		}
	}
	for k := range out.X {
		for _, l := range lines {
			i := min(k, len(l.X)-1)
			out.X[k] += l.X[i] / float64(len(lines))
			out.Y[k] += l.Y[i] / float64(len(lines))
		}
	}
	return out
}

// thinned leaves out points that are nearer to the previous one than a part in curvePoints of the
// axis. It keeps the last point.
func thinned(l report.Line, log bool) report.Line {
	place := func(i int) float64 {
		if log {
			return math.Log(l.X[i])
		}
		return l.X[i]
	}
	last := len(l.X) - 1
	out := report.Line{Name: l.Name}
	for i, kept := 0, 0; i <= last; i++ {
		if i == 0 || i == last || place(i)-place(kept) >= (place(last)-place(0))/curvePoints {
			out.X, out.Y, kept = append(out.X, l.X[i]), append(out.Y, l.Y[i]), i
		}
	}
	return out
}
