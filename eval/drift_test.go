package eval

import (
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// found runs a detector over losses, 1 with the given probability before and from the change on,
// and returns where drift was found.
func found(d DriftDetector, seed uint64, n, change int, before, after float64) (at []int) {
	r := engine.NewRand(seed, 0)
	for i := 1; i <= n; i++ {
		p := before
		if i > change {
			p = after
		}
		loss := 0.0
		if r.Uniform() < p {
			loss = 1
		}
		if d.Add(loss) == DriftFound {
			at = append(at, i)
		}
	}
	return at
}

// TestDriftDetectors: a rise of the error from 10 to 40 % is found at a look, in each of 30
// streams, within some hundred examples; a fall seldom is; where nothing changes there are few
// alarms. The table of docs/drift.md has what this test logs.
func TestDriftDetectors(t *testing.T) {
	const streams, n = 30, 10_000
	type counts struct{ delay, longest, early, alarms, falls int }
	most := map[string]counts{"adwin": {70, 128, 0, 0, 0}, "ddm": {270, 1024, 8, 8, 4},
		"page-hinkley": {145, 192, 0, 0, 0}}
	for _, name := range DriftDetectors() {
		var got counts
		for seed := range uint64(streams) {
			d, err := NewDriftDetector(name)
			if err != nil {
				t.Fatal(err)
			}
			first := 0
			for _, at := range found(d, seed, n, n/2, 0.1, 0.4) {
				if at%DriftLook != 0 {
					t.Errorf("%s: drift after %d examples", name, at)
				}
				if at <= n/2 {
					got.early++
				} else if first == 0 {
					first = at - n/2
				}
			}
			if first == 0 {
				t.Errorf("%s: stream %d: nothing was found", name, seed)
			}
			got.delay, got.longest = got.delay+first, max(got.longest, first)
			d.Reset()
			got.alarms += len(found(d, seed, n, n, 0.1, 0.1))
			d.Reset()
			got.falls += len(found(d, seed, n, n/2, 0.4, 0.1))
		}
		got.delay /= streams
		t.Logf("%s: %+v", name, got)
		if w := most[name]; got.delay > w.delay || got.longest > w.longest ||
			got.early > w.early || got.alarms > w.alarms || got.falls > w.falls {
			t.Errorf("%s: %+v in %d streams, want %+v at most", name, got, streams, w)
		}
	}
	if _, err := NewDriftDetector("cusum"); !errors.Is(err, ErrOptions) {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestADWINWindow: the window's mean and length are those of the last losses, whatever lies in
// buckets, and after a change few losses of before are left.
func TestADWINWindow(t *testing.T) {
	a := NewADWIN(0)
	r := engine.NewRand(5, 0)
	var all []float64
	for i := range 5000 {
		v := r.Uniform() * 0.2
		if i >= 4000 {
			v += 0.7
		}
		all = append(all, v)
		a.Add(v)
		last := all[len(all)-int(a.Len()):]
		sum := 0.0
		for _, v := range last {
			sum += v
		}
		if math.Abs(sum/float64(len(last))-a.Mean()) > 1e-9 {
			t.Fatalf("after %d losses a mean of %v over %d, want %v", i+1, a.Mean(), a.Len(),
				sum/float64(len(last)))
		}
	}
	if a.Len() < 990 || a.Len() > 1040 {
		t.Errorf("a window of %d losses, 1000 after the change", a.Len())
	}
}

// TestDDMByHand: 32 losses with 2 errors, then 32 with 12: p and s as the paper defines them.
func TestDDMByHand(t *testing.T) {
	d := NewDDM()
	state := DriftNone
	for i := range 64 {
		loss := 0.0
		if i < 2 || i >= 32 && i < 37 {
			loss = 1
		}
		state = d.Add(loss)
	}
	// p 2/32, s .0428; then 7/64 = .1094, s .0390: .1484 is above .0625 + 2 .0428 = .1481
	if state != DriftWarning {
		t.Errorf("%v, want a warning", state)
	}
	for i := range 32 {
		state = d.Add(float64(i % 2))
	}
	if state != DriftFound || d.Mean() != 0 {
		t.Errorf("%v, mean %v, want drift and a new beginning", state, d.Mean())
	}
}

// TestDriftNone: no detector finds drift where all losses are the same.
func TestDriftNone(t *testing.T) {
	for _, name := range DriftDetectors() {
		for _, loss := range []float64{0, 1} {
			d, err := NewDriftDetector(name)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 1000 {
				if state := d.Add(loss); state != DriftNone {
					t.Fatalf("%s: %v after %d losses of %v", name, state, i+1, loss)
				}
			}
		}
	}
}

// TestPageHinkleyUnchanged: where nothing changes there is at most one alarm in 480,000 losses,
// whatever the rate of errors. At the default settings 1 in 100 is expected.
func TestPageHinkleyUnchanged(t *testing.T) {
	for _, rate := range []float64{0.01, 0.2, 0.5, 0.8} {
		alarms := 0
		for seed := range uint64(12) {
			d := NewPageHinkley(DefaultPHDelta, DefaultPHLambda)
			alarms += len(found(d, seed, 40_000, 40_000, rate, rate))
		}
		if alarms > 1 {
			t.Errorf("errors of %v: %d alarms in 12 streams of 40,000 losses", rate, alarms)
		}
	}
}

// TestPageHinkleyByHand: 64 right, then wrong ones: m rises by about 1 - t_wrong/t each.
func TestPageHinkleyByHand(t *testing.T) {
	p, at := NewPageHinkley(0, 20), 0
	want, m, sum := 0, 0.0, 0.0
	for i := 1; at == 0 && i < 200; i++ {
		loss := 0.0
		if i > 64 {
			loss = 1
		}
		sum += loss
		m += loss - sum/float64(i)
		x := (sum + 1) / float64(i+2)
		if want == 0 && m > 20*math.Sqrt(x*(1-x)) && i%DriftLook == 0 {
			want = i
		}
		if p.Add(loss) == DriftFound {
			at = i
		}
	}
	if at != want || at != 96 {
		t.Errorf("found at %d, want %d", at, want)
	}
}

// TestDriftAllocs: nothing is allocated.
func TestDriftAllocs(t *testing.T) {
	for _, name := range DriftDetectors() {
		d, _ := NewDriftDetector(name)
		i := 0
		if n := testing.AllocsPerRun(2000, func() {
			i++
			d.Add(float64(i >> 9 & i & 1))
		}); n > 0 {
			t.Errorf("%s: %v allocations a loss", name, n)
		}
	}
}
