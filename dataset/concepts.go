package dataset

import "github.com/halfspace-ml/halfspace/internal/format"

// makeConcepts draws x uniformly from the sphere, and labels it by the side of a hyperplane through
// 0, the concept, that changes: after each `every` examples to another one, all at once (abrupt),
// by chance more and more often in the `width` examples behind (gradual, linearly), or to and fro
// between two (recurring). So the detectors of drift can be held to what they should find.
func makeConcepts(a *args) (int, nextFunc, error) {
	d := a.int("d", 1, 1<<24)
	every := a.int("every", 1, 1<<31-1)
	width := a.int("width", 0, 1<<31-1)
	kind := a.values["kind"]
	switch kind {
	case "gradual":
		if width > every {
			a.fail("width", "no more examples than those of a concept")
		}
	case "abrupt", "recurring":
	default:
		a.fail("kind", "abrupt, gradual or recurring")
	}
	if a.err != nil {
		return 0, nil, a.err
	}
	draw := func() []float64 {
		u := make([]float64, d)
		for j := range u {
			u[j] = a.target.Normal()
		}
		return u
	}
	before, now := draw(), draw()
	before, now = now, before // of the first examples there is none before
	t := 0
	return d, func(x []float64) (bool, error) {
		if t > 0 && t%every == 0 {
			if before, now = now, before; kind != "recurring" && t > every {
				now = draw()
			}
		}
		since := t % every
		t++
		u := now
		// drawn whatever the kind, so that kinds differ in their labels alone
		if r := a.rng.Uniform(); kind == "gradual" && t > every && since < width &&
			r*float64(width) >= float64(since) {
			u = before
		}
		dot := 0.0
		for j := range x {
			x[j] = a.rng.Normal()
			dot += float64(u[j] * x[j])
		}
		format.ToUnit(x, format.Squares(x))
		return dot >= 0, nil
	}, nil
}
