package learners

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

func (r *memberRun[T]) beginDense(b *engine.Block[T], lo int, learning bool) {
	n := runRowBytes / max(1, b.Dim*int(unsafe.Sizeof(T(0))))
	n = min(b.Len()-lo, max(n, runRowsMin), runRows, max(1, runTallies/len(r.work)))
	r.take(b, lo, lo+n)
	r.draw(learning)
	if learning {
		r.o.dense.Grow(b.Dim)
	}
	// sees[m*groups + g], bit i: member m sees example 64*g + i.
	const groups = runRows / 64
	r.sees = slices.Grow(r.sees[:0], 64*r.o.words*groups)[:64*r.o.words*groups]
	var t [64]uint64
	for g := range groups {
		for w := range r.o.words {
			clear(t[:])
			for i := range min(64, max(0, n-64*g)) {
				t[i] = r.mask[(64*g+i)*r.o.words+w]
			}
			engine.Transpose64(&t)
			for l, bits := range t {
				r.sees[(64*w+l)*groups+g] = bits
			}
		}
	}
}

func (r *memberRun[T]) densePart(p int) {
	n := r.b.Len()
	w, tallies := &r.work[p], r.tallies[p*n:][:n]
	clear(tallies)
	s := w.s[:1]
	perceptron, _ := r.o.rule.(*perceptronRule[T])
	var norm2 float64
	for m := p * denseGroup; m < min((p+1)*denseGroup, r.o.cfg.Members); m++ {
		row := r.o.dense.Row(m)
		row = row[:min(len(row), r.b.Dim)]
		for g, sees := range r.sees[m*runRows/64:][:runRows/64] {
			todo := sees
			if !r.keepsSum {
				todo = ^uint64(0)
			}
			if left := n - 64*g; left < 64 {
				todo &= 1<<max(0, left) - 1
			}
			for ; todo != 0; todo &= todo - 1 {
				i := bits.TrailingZeros64(todo)
				t, x := &tallies[64*g+i], r.b.Row(64*g+i)
				s[0] = vecmath.Dot(row, x[:len(row)])
				if !r.keepsSum {
					if !r.votes {
						t.total[0] += r.o.rule.total(m, s)
					} else if T(r.side(r.b.Y[64*g+i])*s[0]) <= 0 {
						t.total[0]++
					}
					if sees>>i&1 == 0 {
						continue
					}
				}
				if r.o.rule.needsNorm() {
					norm2 = r.norms[64*g+i]
				}
				if perceptron != nil { // its step, in short
					if y := r.b.Y[64*g+i]; T(y*s[0]) <= perceptron.margin {
						t.updates++
						t.coef[0] += float64(y)
						vecmath.Axpy(row, y*perceptron.plus[0], x)
					}
					continue
				}
				w.mask[0] = 1
				if u, c := r.o.rule.step(t, w.mask[:1], m, s, r.b.Y[64*g+i], norm2,
					w.coef[:1]); u != 0 {
					t.updates++
					vecmath.Axpy(row, c[0], x)
				}
			}
		}
	}
}
