package measure

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// WriteGo writes results in the format of Go's benchmarks, which benchstat reads: a line a round,
// whose units are ours, the other clock's, the peer's of both and x-faster, how many times faster
// ours is. WriteSummary's lines stand below each result's rounds; benchstat skips them.
func WriteGo(w io.Writer, results []Result) error {
	for _, r := range results {
		other := "wall-"
		if r.CPUShare == nil {
			other = "cpu-"
		}
		unit := other + timeUnit(r.Unit)
		side := func(t Timing, peer string) string {
			clock := t.Wall
			if r.CPUShare == nil {
				clock = t.CPU
			}
			return fmt.Sprintf(" %10.6g %s%s %10.6g %s%s", t.Value, peer, r.Unit, clock, peer, unit)
		}
		for _, round := range r.Rounds {
			line := fmt.Sprintf("%s %8d%s", goName(r), round.Ours.Ops, side(round.Ours, ""))
			if round.Peer != nil {
				faster := round.Peer.Value / round.Ours.Value
				if more(r.Unit) {
					faster = 1 / faster
				}
				line += side(*round.Peer, r.Peer+"-") + fmt.Sprintf(" %8.5g x-faster", faster)
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		if err := WriteSummary(w, []Result{r}); err != nil {
			return err
		}
	}
	return nil
}

// timeUnit is the unit of times beside values of that unit.
func timeUnit(unit string) string {
	if !strings.HasPrefix(unit, "ns") {
		return "ns/op"
	}
	return unit
}

// WriteSummary writes a line a result for people, and one for its note and its warning.
func WriteSummary(w io.Writer, results []Result) error {
	for _, r := range results {
		lines := []string{r.summary()}
		if r.Note != "" {
			lines = append(lines, r.Note)
		}
		if warning := r.Warning(); warning != "" {
			lines = append(lines, "warning: "+warning)
		}
		for _, line := range lines {
			if _, err := fmt.Fprintf(w, "# %s\n", line); err != nil {
				return err
			}
		}
	}
	return nil
}

// summary says what came out in words.
func (r Result) summary() string {
	s := fmt.Sprintf("%s: %s ± %.0f %%", r.Name, quantity(r.Median, r.Unit), spread(r.Median, r.CI))
	if r.Want > 0 {
		most := "most"
		if more(r.Unit) {
			most = "least"
		}
		s += fmt.Sprintf(" (wanted: %s at %s)", quantity(r.Want, r.Unit), most)
	}
	if r.RatioToPeer != nil {
		x := *r.RatioToPeer
		s += fmt.Sprintf("; %s times as fast as %s", plusMinus(x, r.RatioCI), r.Peer)
		if r.Goal > 0 {
			s += fmt.Sprintf(" (goal %.3g)", r.Goal)
		}
	}
	if r.OfLimit != nil {
		s += fmt.Sprintf("; %.0f %% of this machine's %s", 100**r.OfLimit, r.LimitBy)
	}
	return s
}

// quantity writes a value in a unit of suitable size: 2.4 µs for 2400 ns/op, 3 ns/example.
func quantity(v float64, unit string) string {
	by, isTime := strings.CutPrefix(unit, "ns")
	switch {
	case unit == "MB/s" && v >= 9995:
		return fmt.Sprintf("%.3g GB/s", v/1000)
	case unit == "MB" && v >= 999.5:
		return fmt.Sprintf("%.3g GB", v/1000)
	case !isTime:
		return fmt.Sprintf("%.3g %s", v, unit)
	}
	for _, u := range []string{"ns", "µs", "ms"} {
		if v < 999.5 {
			return fmt.Sprintf("%.3g %s%s", v, u, strings.TrimSuffix(by, "/op"))
		}
		v /= 1000
	}
	return fmt.Sprintf("%.3g s%s", v, strings.TrimSuffix(by, "/op"))
}

func goName(r Result) string {
	return "Benchmark" + strings.ToUpper(r.Name[:1]) + r.Name[1:] + "/impl=" + r.Impl
}

// spread is the half-width of an interval in percent of its centre.
func spread(centre float64, ci [2]float64) float64 {
	return 100 * halfWidth(centre, ci) / centre
}

func halfWidth(centre float64, ci [2]float64) float64 {
	return math.Max(ci[1]-centre, centre-ci[0])
}

// plusMinus writes a value with half of its interval, to the first digit of the latter, but with
// three digits at most.
func plusMinus(v float64, ci [2]float64) string {
	half := halfWidth(v, ci)
	most := math.Max(0, 2-math.Floor(math.Log10(math.Abs(v))))
	digits := most
	if half > 0 {
		digits = math.Max(0, math.Min(most, -math.Floor(math.Log10(half))))
	}
	return fmt.Sprintf("%.*f ± %.*f", int(digits), v, int(digits), half)
}
