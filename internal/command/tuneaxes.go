package command

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/spelling"
)

// axis is a flag and the values that are tried.
type axis struct {
	flag   string
	values []string
	draw   func(u float64) string // of a range: the value at a share of it
}

// choosePoints reads the axes and makes the settings of them.
func (t *tuner) choosePoints(fs *pflag.FlagSet) error {
	for _, text := range t.grid {
		flag, list, ok := strings.Cut(text, "=")
		if !ok || list == "" {
			return Usage("As --grid tau=.05,.1,.3.", "%s %s: no AXIS=VALUES", Given(fs, "grid"),
				text)
		}
		a := axis{flag: flag, values: strings.Split(list, ",")}
		if err := t.addAxis(fs, "grid", a); err != nil {
			return err
		}
	}
	for _, text := range t.ranges {
		if t.random == 0 {
			return Usage("Add --random N.", "%s without --random", Given(fs, "range"))
		}
		a, err := parseRange(text)
		if err != nil {
			return Usage("As --range C=1e-3:1e3:log.", "%s %s: %w", Given(fs, "range"), text, err)
		}
		if err := t.addAxis(fs, "range", a); err != nil {
			return err
		}
	}
	if t.random < 0 || t.random > mostSettings {
		return Usage("16 is a beginning.", "%s %d: want 1 to %d", Given(fs, "random"), t.random,
			mostSettings)
	}
	if len(t.axes) == 0 {
		if err := t.ownAxes(fs); err != nil {
			return err
		}
	}
	if t.random > 0 {
		t.drawPoints()
		return nil
	}
	t.points = [][]string{nil}
	for _, a := range t.axes {
		var next [][]string
		for _, p := range t.points {
			for _, v := range a.values {
				next = append(next, append(slices.Clone(p), v))
			}
		}
		if t.points = next; len(next) > mostSettings {
			return Usage("Draw some of them with --random.", "more than %d settings", mostSettings)
		}
	}
	return nil
}

// addAxis adds an axis, if it is one.
func (t *tuner) addAxis(fs *pflag.FlagSet, by string, a axis) error {
	f := fs.Lookup(a.flag)
	switch {
	case f == nil || !ofLearner(f) && !slices.Contains(otherAxes, a.flag):
		names := slices.Clone(otherAxes)
		fs.VisitAll(func(f *pflag.Flag) {
			if ofLearner(f) {
				names = append(names, f.Name)
			}
		})
		next := "An axis is a setting of the learner, or one of " + strings.Join(otherAxes, ", ") +
			"."
		if near := spelling.Nearest(a.flag, names); near != "" {
			next = "Did you mean " + near + "? " + next
		}
		return Usage(next, "%s: nothing to tune by the name of %q", Given(fs, by), a.flag)
	case f.Changed:
		return Usage("Leave one of them out.", "%s %s and %s exclude each other", Given(fs, by),
			a.flag, Given(fs, a.flag))
	case slices.ContainsFunc(t.axes, func(b axis) bool { return a.flag == b.flag }):
		return Usage("Name it once.", "%s: %s is given twice", Given(fs, by), a.flag)
	}
	t.axes = append(t.axes, a)
	return nil
}

// parseRange reads AXIS=LO:HI[:log|:int].
func parseRange(text string) (a axis, err error) {
	flag, bounds, ok := strings.Cut(text, "=")
	parts := strings.Split(bounds, ":")
	if !ok || len(parts) < 2 || len(parts) > 3 {
		return a, fmt.Errorf("no AXIS=LO:HI")
	}
	lo, errLo := strconv.ParseFloat(parts[0], 64)
	hi, errHi := strconv.ParseFloat(parts[1], 64)
	if errLo != nil || errHi != nil || !(lo < hi) || math.IsInf(hi-lo, 0) {
		return a, fmt.Errorf("want two numbers, the smaller first")
	}
	kind := ""
	if len(parts) == 3 {
		kind = parts[2]
	}
	a.flag = flag
	digits := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	switch kind {
	case "":
		a.draw = func(u float64) string { return digits(lo + u*(hi-lo)) }
	case "int":
		a.draw = func(u float64) string {
			return strconv.FormatInt(int64(math.Floor(lo+u*(hi-lo+1))), 10)
		}
	case "log":
		if lo <= 0 {
			return a, fmt.Errorf("powers are above 0")
		}
		a.draw = func(u float64) string { return digits(lo * math.Pow(hi/lo, u)) }
	default:
		return a, fmt.Errorf("%q is neither log nor int", kind)
	}
	return a, nil
}

// tuneStream is the stream of the draws of settings.
const tuneStream = 1 << 41

// drawPoints draws settings from --seed: each of the axes alone, values of lists uniformly.
func (t *tuner) drawPoints() {
	r := engine.NewRand(t.seed, tuneStream)
	for range t.random {
		var p []string
		for _, a := range t.axes {
			u := float64(r.Uint64()>>11) / (1 << 53)
			if a.draw != nil {
				p = append(p, a.draw(u))
			} else {
				p = append(p, a.values[int(u*float64(len(a.values)))])
			}
		}
		t.points = append(t.points, p)
	}
}

// ownAxes are those that the learner's settings name: of each that has an effect and was not given,
// the values that its tag tune lists. Where the features' scale decides, lengths are tried, too.
func (t *tuner) ownAxes(fs *pflag.FlagSet) error {
	c := t.o.Config
	all := settingsOf(c)
	for _, f := range all {
		if _, idle := f.idle(all); f.tune != nil && !idle && !fs.Changed(f.flag) {
			t.axes = append(t.axes, axis{flag: f.flag, values: f.tune})
		}
	}
	if !c.Traits().ScaleFree && !fs.Changed("normalize") && t.o.Rho == 0 {
		t.axes = append(t.axes, axis{flag: "normalize", values: []string{"none", "unit"}})
	}
	if len(t.axes) == 0 {
		return Usage("Name values: --grid AXIS=V1,V2,...", "%s has no list of settings to try",
			t.o.Learner)
	}
	return nil
}
