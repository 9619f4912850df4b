package measure

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/halfspace-ml/halfspace/internal/schema"
)

// Output is what a run of bench printed: its rounds by case, in order. Of several outputs in one
// file the rounds of a case are put together.
type Output struct {
	Machines []string // CPUs it was measured on
	cases    []*rounds
	byName   map[string]*rounds
}

// rounds are all measurements of a case.
type rounds struct {
	name, unit string
	values     []float64
	peer       []float64 // the peer's, in the same unit; as many as values, or none
}

// ErrOutput: a file is not what bench prints.
var ErrOutput = errors.New("not an output of bench")

// ReadOutput reads what bench printed, text or JSON, or what go test -bench did. The name is for
// errors, which wrap ErrOutput.
func ReadOutput(in io.Reader, name string) (*Output, error) {
	o := &Output{byName: map[string]*rounds{}}
	r := bufio.NewReader(in)
	head, err := r.Peek(1)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("bench: %s: %w", name, err)
	}
	if bytes.Equal(head, []byte("[")) {
		err = o.readJSON(r)
	} else {
		err = o.readText(r, name)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", name, err)
	}
	if len(o.cases) == 0 {
		return nil, fmt.Errorf("bench: %s: %w: it has no rounds", name, ErrOutput)
	}
	return o, nil
}

func (o *Output) readJSON(r io.Reader) error {
	for d := json.NewDecoder(r); ; {
		var results []Result // the tour's rows of a paper have no rounds
		if err := d.Decode(&results); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%w: %w", ErrOutput, err)
		}
		for _, res := range results {
			for _, round := range res.Rounds {
				var peer float64
				if round.Peer != nil {
					peer = round.Peer.Value
				}
				name := strings.TrimPrefix(goName(res), "Benchmark")
				if err := o.add(name, res.Unit, round.Ours.Value, peer); err != nil {
					return err
				}
			}
			o.measuredOn(res.CPU)
		}
	}
}

func (o *Output) readText(r io.Reader, name string) error {
	lines := benchfmt.NewReader(r, name)
	for lines.Scan() {
		switch rec := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return fmt.Errorf("%w: %w", ErrOutput, rec)
		case *benchfmt.Result:
			// the first unit is what counts
			ours := rec.Values[0]
			v, unit := ours.OrigValue, ours.OrigUnit
			if unit == "" {
				v, unit = ours.Value, ours.Unit
			}
			var peer float64
			if faster, ok := rec.Value("x-faster"); ok {
				peer = v * faster
				if more(unit) {
					peer = v / faster
				}
			}
			if err := o.add(string(rec.Name.Full()), unit, v, peer); err != nil {
				return err
			}
			cpu, _, _ := strings.Cut(rec.GetConfig("cpu"), ",") // Machine says more
			o.measuredOn(cpu)
		}
	}
	return lines.Err()
}

func (o *Output) measuredOn(cpu string) {
	if cpu != "" && !slices.Contains(o.Machines, cpu) {
		o.Machines = append(o.Machines, cpu)
	}
}

// add adds a round; a peer of 0 is none.
func (o *Output) add(name, unit string, v, peer float64) error {
	if !(v > 0) || math.IsInf(v, 0) || !(peer >= 0) || math.IsInf(peer, 0) {
		return fmt.Errorf("%w: %s has a round of %v %s", ErrOutput, name, v, unit)
	}
	c := o.byName[name]
	if c == nil {
		c = &rounds{name: name, unit: unit}
		o.cases, o.byName[name] = append(o.cases, c), c
	}
	if c.unit != unit {
		return fmt.Errorf("%w: %s is in %s and in %s", ErrOutput, name, c.unit, unit)
	}
	c.values = append(c.values, v)
	if peer > 0 {
		c.peer = append(c.peer, peer)
	}
	return nil
}

// more is whether more is better in that unit.
func more(unit string) bool { return strings.HasSuffix(unit, "/s") }

// Change is what became of a case from one output to another.
type Change struct {
	Schema string  `json:"schema"`
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Old    float64 `json:"old"` // medians, in Unit
	New    float64 `json:"new"`
	// Ratio is how many times as long the new one takes, and CI its 95 % interval: nil where there
	// are too few rounds for one.
	Ratio  float64     `json:"ratio"`
	CI     *[2]float64 `json:"ci"`
	Rounds [2]int      `json:"rounds"` // old and new
	// PeerRatio is the same of the peer, whose program did not change: what the machine did.
	PeerRatio *float64 `json:"peer_ratio"`
}

// SlowerBy is whether the new one takes longer by more than that share, with 95 % confidence.
func (c Change) SlowerBy(share float64) bool { return c.CI != nil && c.CI[0] > 1+share }

// Compare compares the cases that both outputs have, and names those that only one has. Rounds are
// taken for independent: a machine that is slower during one of the runs looks like a change, but
// of the peer too. Runs in turn, of which each side's outputs are put into one file, are safer.
func Compare(old, new *Output) (changes []Change, onlyOld, onlyNew []string) {
	for _, a := range old.cases {
		b := new.byName[a.name]
		if b == nil || b.unit != a.unit {
			onlyOld = append(onlyOld, a.name)
			continue
		}
		c := Change{Schema: schema.Name, Name: a.name, Unit: a.unit,
			Rounds: [2]int{len(a.values), len(b.values)}}
		c.Old, _ = median(a.values)
		c.New, _ = median(b.values)
		before, after := a, b
		if more(a.unit) {
			before, after = b, a
		}
		c.Ratio, c.CI = shift(before.values, after.values)
		if len(a.peer) > 0 && len(b.peer) > 0 {
			r, _ := shift(before.peer, after.peer)
			c.PeerRatio = &r
		}
		changes = append(changes, c)
	}
	for _, b := range new.cases {
		if a := old.byName[b.name]; a == nil || a.unit != b.unit {
			onlyNew = append(onlyNew, b.name)
		}
	}
	return changes, onlyOld, onlyNew
}

// shift estimates by what factor b's values are those of a: the median of all ratios b_j/a_i, and
// the 95 % interval that the Mann-Whitney test gives. Reference: J. L. Hodges, E. L. Lehmann,
// "Estimates of location based on rank tests", Annals of Mathematical Statistics 34, 1963. It
// assumes that the two distributions differ by a factor, and nothing of their form. The interval is
// nil of fewer than four of each, where there is none. Cost: O((n+m) log(n+m)), and O((nm)^2) for
// up to 30 of each.
func shift(a, b []float64) (ratio float64, ci *[2]float64) {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	pairs := len(a) * len(b)
	ratio = math.Sqrt(kthRatio(a, b, (pairs+1)/2) * kthRatio(a, b, pairs/2+1))
	if k := rankTail(len(a), len(b), 0.025); k > 0 {
		ci = &[2]float64{kthRatio(a, b, k), kthRatio(a, b, pairs+1-k)}
	}
	return ratio, ci
}

// kthRatio returns the k-th smallest, from 1, of all ratios b_j/a_i of sorted positive values: by
// halving the interval between the smallest and the largest, until there is no number between.
func kthRatio(a, b []float64, k int) float64 {
	reaches := func(limit float64) bool { // whether k ratios are at most the limit
		n, j := 0, 0
		for i := range a {
			for j < len(b) && b[j]/a[i] <= limit {
				j++
			}
			n += j
		}
		return n >= k
	}
	lo, hi := b[0]/a[len(a)-1], b[len(b)-1]/a[0]
	if reaches(lo) {
		return lo
	}
	for { // lo doesn't reach, hi does
		mid := lo + (hi-lo)/2
		switch {
		case mid <= lo || mid >= hi:
			return hi
		case reaches(mid):
			hi = mid
		default:
			lo = mid
		}
	}
}

// rankTail returns the largest k with P(U < k) <= p for the Mann-Whitney statistic U of n and m
// values from one distribution.
func rankTail(n, m int, p float64) int {
	if n > 30 || m > 30 { // normal, to less than a rank
		f, g := float64(n), float64(m)
		z := math.Sqrt2 * math.Erfinv(1-2*p)
		return max(0, int(f*g/2-z*math.Sqrt(f*g*(f+g+1)/12)))
	}
	// prob[j][u] is P(U = u) of i and j values: the largest of all is one of the i, above all j, or
	// one of the j.
	var prob [][]float64
	for i := range n + 1 {
		next := make([][]float64, m+1)
		for j := range next {
			next[j] = make([]float64, i*j+1)
			if i == 0 || j == 0 {
				next[j][0] = 1
				continue
			}
			for u, q := range prob[j] {
				next[j][u+j] += q * float64(i) / float64(i+j)
			}
			for u, q := range next[j-1] {
				next[j][u] += q * float64(j) / float64(i+j)
			}
		}
		prob = next
	}
	k, sum := 0, 0.0
	for ; k < len(prob[m]); k++ {
		if sum += prob[m][k]; sum > p {
			break
		}
	}
	return k
}
