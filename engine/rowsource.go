package engine

import (
	"context"
)

// RowSource gives the rows of a Gram matrix K_st = K(x_s, x_t), symmetric but for rounding and
// positive semidefinite. An [engine.Rows] is one.
type RowSource[T Float] interface {
	Len() int
	// Row returns K(x_i, x_0 ... x_n-1). Nobody writes it, and it stays as it is.
	Row(ctx context.Context, i, n int) ([]T, error)
	// Diag returns K(x_i, x_i).
	Diag(i int) T
}
