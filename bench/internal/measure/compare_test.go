package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// TestRankTail: critical values of the Mann-Whitney test as tables print them (two-sided, 5 %),
// which are one less than k, and the normal form beside the exact one.
func TestRankTail(t *testing.T) {
	for _, c := range []struct{ n, m, k int }{
		{3, 3, 0}, {4, 4, 1}, {5, 5, 3}, {3, 5, 1}, {8, 8, 14}, {11, 11, 31}, {10, 20, 56},
		{20, 20, 128},
	} {
		if k := rankTail(c.n, c.m, 0.025); k != c.k {
			t.Errorf("%d and %d values: %d, want %d", c.n, c.m, k, c.k)
		}
	}
	exact := rankTail(30, 30, 0.025)
	z := 1.959963984540054
	if normal := int(450 - z*math.Sqrt(900*61/12.)); exact < normal-2 || exact > normal+2 {
		t.Errorf("30 and 30 values: %d, normally %d", exact, normal)
	}
	if k := rankTail(10000, 10000, 0.025); k < 49e6 || k > 50e6 {
		t.Errorf("10000 and 10000 values: %d", k)
	}
}

// TestKthRatio compares with sorting all of them.
func TestKthRatio(t *testing.T) {
	rng := engine.NewRand(1, 0)
	for n := 1; n < 7; n++ {
		for m := 1; m < 7; m++ {
			var a, b, all []float64
			for range n {
				a = append(a, math.Ceil(5*rng.Uniform())) // equal ones too
			}
			for range m {
				b = append(b, math.Ceil(5*rng.Uniform()))
			}
			slices.Sort(a)
			slices.Sort(b)
			for _, x := range a {
				for _, y := range b {
					all = append(all, y/x)
				}
			}
			slices.Sort(all)
			for k, want := range all {
				if got := kthRatio(a, b, k+1); got != want {
					t.Fatalf("%v, %v: number %d is %v, want %v of %v", a, b, k+1, got, want, all)
				}
			}
		}
	}
}

// TestShiftCovers: of 2000 pairs of samples with a known factor between them, 95 % of the intervals
// have it, to four standard deviations; ranks come in steps, so that it may be more.
func TestShiftCovers(t *testing.T) {
	rng := engine.NewRand(2, 0)
	draw := func(n int, by float64) (v []float64) {
		for range n {
			v = append(v, by*(100-10*math.Log(1-rng.Uniform()))) // skewed, as times are
		}
		return v
	}
	for _, n := range []int{4, 11, 40} {
		const runs = 2000
		in := 0
		for range runs {
			// as lengths of the same distribution times 1.07
			if _, ci := shift(draw(n, 1), draw(n, 1.07)); ci[0] <= 1.07 && 1.07 <= ci[1] {
				in++
			}
		}
		if share := float64(in) / runs; share < 0.95-4*math.Sqrt(0.95*0.05/runs) {
			t.Errorf("%d rounds: %.3f of the intervals have the factor", n, share)
		}
	}
	if _, ci := shift([]float64{1, 2, 3}, []float64{1, 2, 3}); ci != nil {
		t.Errorf("three rounds have the interval %v", *ci)
	}
}

// outputOf prints cases of some rounds, as text or JSON.
func outputOf(t *testing.T, asJSON bool, results ...Result) string {
	t.Helper()
	var b bytes.Buffer
	if asJSON {
		list := []any{map[string]any{"schema": "halfspace/1", "row": "of a paper"}}
		for _, r := range results {
			list = append(list, r)
		}
		if err := json.NewEncoder(&b).Encode(list); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	fmt.Fprint(&b, "cpu: "+results[0].CPU+", 2 cores in use\n\na title\n")
	if err := WriteGo(&b, results); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// roundsOf is a case whose rounds are those values times by, with a peer of 3 times the first.
func roundsOf(name, unit string, by float64, values ...float64) Result {
	r := Result{Name: name, Impl: "generic", CPU: "this", Unit: unit}
	for _, v := range values {
		r.Rounds = append(r.Rounds, Round{Ours: Timing{Ops: 1, Value: by * v},
			Peer: &Timing{Ops: 1, Value: 3 * values[0]}})
	}
	return r
}

// TestCompare: text and JSON in any mixture come to the same.
func TestCompare(t *testing.T) {
	values := []float64{100, 101, 102, 103, 104}
	old := []Result{roundsOf("slower/x", "ns/op", 1, values...), roundsOf("equal/x", "ns/example",
		1,
		values...), roundsOf("rate/x", "MB/s", 1, values...), roundsOf("gone/x", "ns/op", 1, 5),
		roundsOf("few/x", "ns/op", 1, 1, 1, 1)}
	now := []Result{roundsOf("slower/x", "ns/op", 1.2, values...), roundsOf("equal/x",
		"ns/example", 1, values...), roundsOf("rate/x", "MB/s", 0.5, values...),
		roundsOf("fresh/x", "ns/op", 1, 5), roundsOf("few/x", "ns/op", 9, 1, 1, 1)}
	for kind := range 4 {
		a, err := ReadOutput(strings.NewReader(outputOf(t, kind&1 > 0, old...)), "a")
		if err != nil {
			t.Fatal(err)
		}
		b, err := ReadOutput(strings.NewReader(outputOf(t, kind&2 > 0, now...)), "b")
		if err != nil {
			t.Fatal(err)
		}
		changes, onlyOld, onlyNew := Compare(a, b)
		var got []string
		for _, c := range changes {
			ci := "none"
			if c.CI != nil {
				ci = fmt.Sprintf("%.2f-%.2f", c.CI[0], c.CI[1])
			}
			got = append(got, fmt.Sprintf("%s %.4g to %.4g: %.2f %s peer %.2f %v", c.Name, c.Old,
				c.New,
				c.Ratio, ci, *c.PeerRatio, c.SlowerBy(0.15)))
		}
		want := []string{
			"Slower/x/impl=generic 102 to 122.4: 1.20 1.17-1.24 peer 1.00 true",
			"Equal/x/impl=generic 102 to 102: 1.00 0.97-1.03 peer 1.00 false",
			"Rate/x/impl=generic 102 to 51: 2.00 1.94-2.06 peer 1.00 true",
			"Few/x/impl=generic 1 to 9: 9.00 none peer 1.00 false",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if fmt.Sprint(onlyOld, onlyNew) != "[Gone/x/impl=generic] [Fresh/x/impl=generic]" {
			t.Errorf("left out: %v %v", onlyOld, onlyNew)
		}
		if !slices.Equal(a.Machines, []string{"this"}) {
			t.Errorf("machines: %q", a.Machines)
		}
	}
	twice, err := ReadOutput(strings.NewReader(outputOf(t, true, old...)+outputOf(t, true,
		old...)), "twice")
	if err != nil || len(twice.byName["Few/x/impl=generic"].values) != 6 {
		t.Errorf("two outputs in one file: %v", err)
	}
}

func TestReadOutputWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "it has no rounds",
		"1 1:1\n":                  "it has no rounds",
		"[]":                       "it has no rounds",
		"[{\"name\": 3}]":          "cannot unmarshal",
		"[":                        "unexpected EOF",
		"BenchmarkX 1 0 ns/op\n":   "BenchmarkX",
		"BenchmarkX 1 NaN ns/op\n": "X has a round of NaN",
		"BenchmarkX 1 3 ns/op\nBenchmarkX 1 3 s\n": "X is in ns/op and in s",
		"BenchmarkX 1 three ns/op\n":               "parsing",
	} {
		_, err := ReadOutput(strings.NewReader(text), "file")
		if !errors.Is(err, ErrOutput) || !strings.Contains(err.Error(), strings.TrimPrefix(want,
			"Benchmark")) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
