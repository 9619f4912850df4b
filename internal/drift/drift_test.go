package drift

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// found runs a detector over losses, 1 with the given probability before and from the change on,
// and returns where drift was found.
func found(d Detector, seed uint64, n, change int, before, after float64) (at []int) {
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
		if d.Add(loss) {
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
	for _, name := range Names() {
		var got counts
		for seed := range uint64(streams) {
			d := New(name)
			first := 0
			for _, at := range found(d, seed, n, n/2, 0.1, 0.4) {
				if at%Look != 0 {
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
}

// TestADWINWindow: the window's mean and length are those of the last losses, whatever lies in
// buckets, and after a change few losses of before are left.
func TestADWINWindow(t *testing.T) {
	a := NewADWIN(DefaultDelta)
	r := engine.NewRand(5, 0)
	var all []float64
	for i := range 5000 {
		v := r.Uniform() * 0.2
		if i >= 4000 {
			v += 0.7
		}
		all = append(all, v)
		a.Add(v)
		last := all[len(all)-int(a.N):]
		sum := 0.0
		for _, v := range last {
			sum += v
		}
		if math.Abs(sum/float64(len(last))-a.Mean()) > 1e-9 {
			t.Fatalf("after %d losses a mean of %v over %d, want %v", i+1, a.Mean(), a.N,
				sum/float64(len(last)))
		}
	}
	if a.N < 990 || a.N > 1040 {
		t.Errorf("a window of %d losses, 1000 after the change", a.N)
	}
}

// TestDDMByHand: 32 losses with 2 errors, then 32 with 5: p and s as the paper defines them.
func TestDDMByHand(t *testing.T) {
	d, drifts := NewDDM(), 0
	for i := range 96 {
		loss := 0.0
		switch {
		case i < 2 || i >= 32 && i < 37:
			loss = 1
		case i >= 64:
			loss = float64(i % 2)
		}
		if d.Add(loss) {
			drifts++
		}
		// p 2/32, s .0428; then 7/64 = .1094, s .0390: .1484 is below .0625 + 3 .0428 = .1909
		if i == 63 && (drifts > 0 || math.Abs(d.LeastDeviation-.0428) > 5e-5) {
			t.Errorf("%d drifts, %+v", drifts, d)
		}
	}
	if drifts != 1 || d.Mean() != 0 {
		t.Errorf("%d drifts, mean %v, want 1 and a new beginning", drifts, d.Mean())
	}
}

// TestDriftNone: no detector finds drift where all losses are the same.
func TestDriftNone(t *testing.T) {
	for _, name := range Names() {
		for _, loss := range []float64{0, 1} {
			d := New(name)
			for i := range 1000 {
				if d.Add(loss) {
					t.Fatalf("%s: drift after %d losses of %v", name, i+1, loss)
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
		if want == 0 && m > 20*math.Sqrt(x*(1-x)) && i%Look == 0 {
			want = i
		}
		if p.Add(loss) {
			at = i
		}
	}
	if at != want || at != 96 {
		t.Errorf("found at %d, want %d", at, want)
	}
}

// TestDriftAllocs: nothing is allocated.
func TestDriftAllocs(t *testing.T) {
	for _, name := range Names() {
		d := New(name)
		i := 0
		if n := testing.AllocsPerRun(2000, func() {
			i++
			d.Add(float64(i >> 9 & i & 1))
		}); n > 0 {
			t.Errorf("%s: %v allocations a loss", name, n)
		}
	}
}

// TestState: a detector that reads the JSON of another goes on as that one.
func TestState(t *testing.T) {
	for _, name := range Names() {
		a, b := New(name), New(name)
		for i := range 5000 {
			if i%97 == 0 {
				text, err := json.Marshal(a)
				b.Reset()
				if err == nil {
					err = json.Unmarshal(text, b)
				}
				if err != nil || !b.Valid() {
					t.Fatal(name, err, string(text))
				}
			}
			loss := float64(i * i % 7 / 5)
			if i > 3000 {
				loss = 1
			}
			if x, y := a.Add(loss), b.Add(loss); x != y || a.Mean() != b.Mean() {
				t.Fatalf("%s, after %d: %v and %v, means %v and %v", name, i, x, y, a.Mean(),
					b.Mean())
			}
		}
	}
	for _, text := range []string{`{"N": -1}`, `{"Look": 32}`, `{"Rows": []}`, `{"Rows": [{"N": 6}]}`,
		`{"N": 1}`, `{"N": 2, "Rows": [{"N": 2}, {"N": 0}]}`} {
		a := NewADWIN(DefaultDelta)
		if err := json.Unmarshal([]byte(text), a); err != nil || a.Valid() {
			t.Errorf("%s: %v, valid", text, err)
		}
	}
}
