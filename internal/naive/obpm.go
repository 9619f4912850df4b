// Package naive holds learners as one would first write them from the paper: the reference that
// tests compare with and the baseline that bench measures against.
package naive

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// OBPM is Algorithm 2 of the OBPM paper with perceptrons (margin 0, eta 1) as members: one weight
// vector a member, and for every example a loop over the members that draw it. On features whose
// sums are exact it gives the bits of learners.OBPMConfig.
type OBPM[T engine.Float] struct {
	W   [][]T     // [member][feature]
	Sum []float64 // of the members' weights

	draws *engine.Bernoulli
	mask  []uint64
	t     uint64
}

// NewOBPM returns members of dim features, all 0.
func NewOBPM[T engine.Float](members, dim int, tau float64, seed uint64) *OBPM[T] {
	o := &OBPM[T]{Sum: make([]float64, dim), draws: engine.NewDraws(seed, 0).Bernoulli(tau),
		mask: make([]uint64, (members+63)/64)}
	for range members {
		o.W = append(o.W, make([]T, dim))
	}
	return o
}

// Learn learns example i of b. It returns the score of the averaged weights before that and the
// number of members that updated.
func (o *OBPM[T]) Learn(b *engine.Block[T], i int) (score float64, updates int32) {
	o.draws.Masks(o.mask, 0, len(o.W), o.t)
	o.t++
	if b.Dense() {
		score, updates = o.dense(b.Row(i), b.Y[i])
	} else {
		idx, val := b.Sparse(i)
		score, updates = o.sparse(idx, val, b.Y[i])
	}
	return score / float64(len(o.W)), updates
}

func (o *OBPM[T]) sparse(idx []int32, val []T, y T) (f float64, updates int32) {
	for k, j := range idx {
		f += float64(val[k]) * o.Sum[j]
	}
	for m, w := range o.W {
		if o.mask[m/64]>>(m%64)&1 == 0 {
			continue
		}
		var s T
		for k, j := range idx {
			s += val[k] * w[j]
		}
		if y*s <= 0 {
			for k, j := range idx {
				w[j] += y * val[k]
			}
			updates++
		}
	}
	for k, j := range idx {
		o.Sum[j] += float64(updates) * float64(y) * float64(val[k])
	}
	return f, updates
}

func (o *OBPM[T]) dense(x []T, y T) (f float64, updates int32) {
	for j, v := range x {
		f += float64(v) * o.Sum[j]
	}
	for m, w := range o.W {
		if o.mask[m/64]>>(m%64)&1 == 0 {
			continue
		}
		var s T
		for j, v := range x {
			s += v * w[j]
		}
		if y*s <= 0 {
			for j, v := range x {
				w[j] += y * v
			}
			updates++
		}
	}
	for j, v := range x {
		o.Sum[j] += float64(updates) * float64(y) * float64(v)
	}
	return f, updates
}

// KernelOBPM is OBPM with perceptrons, an RBF kernel and a budget: the kept example that the
// members change by least, all together, makes room, and its projection onto the Nearest others
// nearest to it stays in their coefficients. Every kernel value is computed when it is needed. No
// two examples may be equal.
type KernelOBPM struct {
	RBF                // Y stays empty: labels are in A
	P, Nearest int     // P = 0: no limit
	Ridge      float64 // of the projection, relative to K(x, x) = 1
	A          [][]float64

	draws *engine.Bernoulli
	n     int
}

// NewKernelOBPM returns an ensemble that keeps nothing.
func NewKernelOBPM(members int, tau float64, seed uint64, gamma float64) *KernelOBPM {
	return &KernelOBPM{RBF: RBF{Gamma: gamma}, n: members,
		draws: engine.NewDraws(seed, 0).Bernoulli(tau)}
}

// Learn learns an example. It returns the score of the averaged members before that and the number
// of those that updated.
func (o *KernelOBPM) Learn(x []float64, y float64) (score float64, updates int32) {
	f, step := make([]float64, o.n), make([]float64, o.n)
	for j, z := range o.Kept {
		k := o.kernel(z, x)
		for m, a := range o.A[j] {
			f[m] += a * k
		}
	}
	for m, v := range f {
		score += v / float64(o.n)
		if o.draws.Draw(m, uint64(o.seen)) && y*v <= 0 {
			step[m] = y
			updates++
		}
	}
	o.seen++
	if updates == 0 {
		return score, 0
	}
	if o.P == 0 || len(o.Kept) < o.P {
		o.Kept, o.Number, o.A = append(o.Kept, x), append(o.Number, o.seen), append(o.A, step)
		return score, updates
	}
	least := 0
	for j := range o.Kept {
		a, b := squares(o.A[j]), squares(o.A[least])
		if a < b || a == b && o.Number[j] < o.Number[least] {
			least = j
		}
	}
	gone, part := o.Kept[least], o.A[least]
	o.Kept[least], o.Number[least], o.A[least] = x, o.seen, step
	at, beta := o.project(gone)
	for i, j := range at {
		for m, a := range part {
			o.A[j][m] += beta[i] * a
		}
	}
	return score, updates
}

// project returns the kept examples nearest to x, and the coefficients of its projection.
func (o *KernelOBPM) project(x []float64) (at []int, beta []float64) {
	for j := range o.Kept {
		at = append(at, j)
	}
	slices.SortStableFunc(at, func(i, j int) int {
		a, b := o.kernel(o.Kept[i], x), o.kernel(o.Kept[j], x)
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	at = at[:min(o.Nearest, len(at))]
	var rows [][]float64 // [G + ridge I, k]
	for _, i := range at {
		var row []float64
		for _, j := range at {
			row = append(row, o.kernel(o.Kept[i], o.Kept[j]))
		}
		row[len(rows)] += o.Ridge
		rows = append(rows, append(row, o.kernel(o.Kept[i], x)))
	}
	return at, solve(rows)
}

// solve solves the system of which each row is a row of the matrix and then the right side, by
// Gauss and Jordan's elimination with the largest pivots.
func solve(rows [][]float64) []float64 {
	n := len(rows)
	for c := range n {
		p := c
		for r := c + 1; r < n; r++ {
			if math.Abs(rows[r][c]) > math.Abs(rows[p][c]) {
				p = r
			}
		}
		rows[c], rows[p] = rows[p], rows[c]
		for r := range n {
			if r == c {
				continue
			}
			q := rows[r][c] / rows[c][c]
			for k := c; k <= n; k++ {
				rows[r][k] -= q * rows[c][k]
			}
		}
	}
	x := make([]float64, n)
	for r := range x {
		x[r] = rows[r][n] / rows[r][r]
	}
	return x
}

func squares(x []float64) (s float64) {
	for _, v := range x {
		s += v * v
	}
	return s
}
