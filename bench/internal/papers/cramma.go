package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// The experiments of the paper cramma (Papers cites it). Its tables give no times. Beside each run
// of CRAMMA stand the bounds of Theorem 1; the maximal margin that they and the relative deviations
// of Table 4 need is our SVM's.

func init() {
	for _, t := range crammaTables() {
		e := Experiment{Name: t.name, Summary: t.summary, Runs: 1, Needs: t.needs, Run: t.run,
			Seconds: t.seconds, SlowSeconds: t.slowSeconds}
		for _, l := range t.lines {
			if l.updates > slowUpdates {
				// updates and margin
				e.Slow, e.SlowRows = "runs of more than a billion updates", e.SlowRows+2
				e.slowRow = withWords(fmt.Sprintf("%s alpha=%g", l.learner, l.parameter))
			}
		}
		register(e)
	}
}

func crammaTables() []crammaTable {
	const three = "the counter t, one more than the updates, and margin of the perceptron with " +
		"margin, ALMA and CRAMMA with epsilon = 1/2, beside Theorem 1's bounds, "
	sonar, wbc := []string{"sonar.mines", "sonar.rocks"}, []string{wbcFile}
	constant := func(eta float64) func(problem) float64 {
		return func(problem) float64 { return eta }
	}
	return []crammaTable{
		{name: "cramma/table1", seconds: 30, slowSeconds: 65,
			summary: three + "on sonar", needs: sonar, load: sonarData,
			epsilon: 0.5, delta: 1, eta: constant(0.001), most: 0.00841, unit: 1e-5,
			less: 1, lines: crammaTable1},
		{name: "cramma/table2", seconds: 3,
			summary: "the counter t, one more than the updates, and margin " +
				"of CRAMMA with epsilon = 2, beside Theorem 1's bounds, on sonar", needs: sonar,
			load:    sonarData,
			epsilon: 2, delta: 0.3, eta: constant(0.4), most: 0.00841, unit: 1e-5,
			lines: crammaTable2},
		{name: "cramma/table3", seconds: 15,
			summary: three + "on WBC without 11 patterns", needs: wbc,
			load:    wbc11Data,
			epsilon: 0.5, delta: 1, eta: constant(0.0001), most: 0.0243, unit: 1e-4,
			less: 1, lines: crammaTable3},
		{name: "cramma/table4", seconds: 5,
			summary: three + "on WBC with a soft margin", needs: wbc,
			load:    wbcData,
			epsilon: 0.5, delta: 1, eta: func(p problem) float64 {
				return 1.7 / (math.Sqrt(p.radius2()) * math.Sqrt(float64(p.block.Len())))
			},
			most: 0.13033, unit: 1e-5, lines: crammaTable4},
	}
}

// crammaTable is one of the paper's tables, with the settings of CRAMMA that its caption gives.
type crammaTable struct {
	name, summary  string
	seconds        float64
	slowSeconds    float64
	needs          []string
	load           func(dir string) (problem, error)
	epsilon, delta float64
	eta            func(problem) float64 // eta_0
	// the maximal margin, as printed, and what its last digit counts
	most, unit float64
	less       int64 // what the perceptron's column prints is by so much less than t
	lines      []published
}

const wbcFile = "breast-cancer-wisconsin.data"

// problem is a data set in the augmented space, with its soft margin.
type problem struct {
	name  string
	block *engine.Block[float64]
	delta float64
}

// radius2 returns R^2 of the extended space.
func (p problem) radius2() float64 { return learner.MaxSumSq(p.block, p.delta) }

// published is a line of a column: a learner by the parameter that leads it, the margin and its
// last digit's unit, (D'-D)/D and the relative deviation of the margin from the maximum of Table 4,
// and what the paper calls updates. It is t, which begins at 1 and so is one more than them, but
// for the perceptron of Tables 1 and 3.
type published struct {
	learner      string
	parameter    float64
	excess       float64
	below        float64
	margin, unit float64
	updates      int64
	note         string
}

const rounding = "the count hinges on rounding errors of the paper's computer; ours is within " +
	"0.05 % of it"

// slowUpdates is the length of a row that only RunOptions.Slow includes.
const slowUpdates = 1e9

var crammaTable1 = []published{
	{"perceptron", 1, 0, 0, 5.78e-3, 1e-5, 247140, ""},
	{"perceptron", 3.1, 0, 0, 7.14e-3, 1e-5, 660698, ""},
	{"perceptron", 5.4, 0, 0, 7.45e-3, 1e-5, 1117124, ""},
	{"perceptron", 20, 0, 0, 7.80e-3, 1e-5, 3977612, ""},
	{"perceptron", 90, 0, 0, 7.91e-3, 1e-5, 17647271, ""},
	{"perceptron", 200, 0, 0, 7.92e-3, 1e-5, 39131402, ""},
	{"perceptron", 500, 0, 0, 7.93e-3, 1e-5, 97717549, ""},
	{"perceptron", 1000, 0, 0, 7.93e-3, 1e-5, 195358932, ""},
	{"alma", 0.75, 0, 0, 5.65e-3, 1e-5, 415119, ""},
	{"alma", 0.55, 0, 0, 7.08e-3, 1e-5, 1584785, ""},
	{"alma", 0.45, 0, 0, 7.45e-3, 1e-5, 3133968, ""},
	{"alma", 0.35, 0, 0, 7.76e-3, 1e-5, 6657109, ""},
	{"alma", 0.3, 0, 0, 7.91e-3, 1e-5, 10170590, ""},
	{"alma", 0.2, 0, 0, 8.11e-3, 1e-5, 28339340, ""},
	{"alma", 0.1, 0, 0, 8.27e-3, 1e-5, 137693242, ""},
	{"alma", 0.03, 0, 0, 8.37e-3, 1e-5, 1735836937, rounding},
	{"cramma", 0.73, 0, 0, 5.73e-3, 1e-5, 248267, ""},
	{"cramma", 1.52, 0, 0, 7.12e-3, 1e-5, 669170, ""},
	{"cramma", 2, 0, 0, 7.46e-3, 1e-5, 1047757, ""},
	{"cramma", 3, 0, 0, 7.82e-3, 1e-5, 2143989, ""},
	{"cramma", 3.45, 0, 0, 7.92e-3, 1e-5, 2762005, ""},
	{"cramma", 5, 0, 0, 8.11e-3, 1e-5, 5531113, ""},
	{"cramma", 10, 0, 0, 8.28e-3, 1e-5, 21220354, rounding},
	{"cramma", 30.1, 0, 0, 8.37e-3, 1e-5, 188073965, rounding},
}

var crammaTable2 = []published{
	{"cramma", 1e6, 0, 0, 1.03e-3, 1e-5, 70798, ""},
	{"cramma", 1e7, 0, 0, 3.66e-3, 1e-5, 106507, ""},
	{"cramma", 1e8, 0, 0, 5.52e-3, 1e-5, 264396, ""},
	{"cramma", 1e9, 0, 0, 6.69e-3, 1e-5, 756035, ""},
	{"cramma", 1e10, 0, 0, 7.37e-3, 1e-5, 2275334, ""},
	{"cramma", 1e11, 0, 0, 7.80e-3, 1e-5, 6994002, ""},
	{"cramma", 1e12, 0, 0, 8.10e-3, 1e-5, 21690267, rounding},
	{"cramma", 1e13, 0, 0, 8.27e-3, 1e-5, 67893557, rounding},
}

var crammaTable3 = []published{
	{"perceptron", 0.52, 0, 0, 1.784e-2, 1e-5, 1718705, ""},
	{"perceptron", 0.9, 0, 0, 2.008e-2, 1e-5, 2720447, ""},
	{"perceptron", 1.4, 0, 0, 2.141e-2, 1e-5, 3976477, ""},
	{"perceptron", 2.1, 0, 0, 2.228e-2, 1e-5, 5734457, ""},
	{"perceptron", 4, 0, 0, 2.317e-2, 1e-5, 10508566, ""},
	{"alma", 0.8, 0, 0, 1.783e-2, 1e-5, 2704553, ""},
	{"alma", 0.7, 0, 0, 2.008e-2, 1e-5, 6254523, ""},
	{"alma", 0.6, 0, 0, 2.141e-2, 1e-5, 13320425, ""},
	{"alma", 0.5, 0, 0, 2.228e-2, 1e-5, 27666246, ""},
	{"alma", 0.35, 0, 0, 2.315e-2, 1e-5, 88363792, ""},
	{"cramma", 0.22, 0, 0, 1.794e-2, 1e-5, 259036, ""},
	{"cramma", 0.32, 0, 0, 2.019e-2, 1e-5, 431543, ""},
	{"cramma", 0.42, 0, 0, 2.143e-2, 1e-5, 660486, ""},
	{"cramma", 0.49, 0, 0, 2.238e-2, 1e-5, 824120, ""},
	{"cramma", 0.8, 0, 0, 2.318e-2, 1e-5, 2044555, ""},
}

var crammaTable4 = []published{
	{"perceptron", 1, 0.222, 0.214, 0.10244, 1e-5, 67913, ""},
	{"perceptron", 2.4, 0.113, 0.111, 0.11585, 1e-5, 144938, ""},
	{"perceptron", 10, 0.039, 0.038, 0.12542, 1e-5, 560591, ""},
	{"perceptron", 45, 0.019, 0.019, 0.12789, 1e-5, 2474607, ""},
	{"perceptron", 700, 0.015, 0.015, 0.12837, 1e-5, 38336601, ""},
	{"alma", 0.75, 0.218, 0.219, 0.10185, 1e-5, 79061, ""},
	{"alma", 0.6, 0.113, 0.116, 0.11524, 1e-5, 248461, ""},
	{"alma", 0.35, 0.042, 0.042, 0.12481, 1e-5, 1625682, ""},
	{"alma", 0.2, 0.019, 0.019, 0.12784, 1e-5, 7184572, ""},
	{"alma", 0.1, 0.008, 0.008, 0.12933, 1e-5, 35542412, ""},
	{"cramma", 0.95, 0.236, 0.222, 0.10143, 1e-5, 80671, ""},
	{"cramma", 1.64, 0.110, 0.112, 0.11568, 1e-5, 185687, ""},
	{"cramma", 3.1, 0.036, 0.037, 0.12551, 1e-5, 560229, ""},
	{"cramma", 5, 0.018, 0.019, 0.12791, 1e-5, 1401588, ""},
	{"cramma", 11.5, 0.008, 0.008, 0.12934, 1e-5, 7252904, ""},
}

// fitter makes the learner of a line, with what the line's first column says.
func (t crammaTable) fitter(p problem, l published) (fitter learner.Fitter[float64], text string,
	err error) {
	c := measure.Defaults[learner.Config](l.learner)
	switch c := c.(type) {
	case *learners.PerceptronConfig:
		c.MarginRel = l.parameter // b/(eta R^2), eta = 1
		text = fmt.Sprintf("perceptron b/(eta R^2)=%g", l.parameter)
	case *learners.ALMAConfig:
		c.Alpha = l.parameter
		text = fmt.Sprintf("alma alpha=%g", l.parameter)
	case *learners.CRAMMAConfig:
		c.Epsilon, c.Beta, c.Eta, c.EtaDelta = t.epsilon, l.parameter, t.eta(p), t.delta
		text = fmt.Sprintf("cramma epsilon=%g beta/R=%g", t.epsilon, l.parameter)
	}
	fitter, err = measure.MakeFor(l.learner, c, learner.Env{}, p.block, p.delta)
	return fitter, text, err
}

// run runs the lines of a table.
func (t crammaTable) run(ctx context.Context, o RunOptions) error {
	p, err := t.load(o.DataDir)
	if err != nil {
		return err
	}
	start := time.Now()
	most, err := t.svm(ctx, p, false)
	if err != nil {
		return err
	}
	o.add(Row{Row: p.name + ", svm", Quantity: "margin", Paper: at(t.most), unit: t.unit,
		Seconds: time.Since(start).Seconds()}, most)
	var lines []published
	for _, l := range t.lines {
		_, text, err := t.fitter(p, l)
		if err != nil {
			return err
		}
		if name := p.name + ", " + text; o.wants(name) && (l.updates <= slowUpdates ||
			o.slow(name)) {
			lines = append(lines, l)
		}
	}
	// the longest begin first
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(lines[b].updates, lines[a].updates)
	})
	found := make([]crammaFound, len(lines))
	err = sideBySide(ctx, o, len(lines), func(o RunOptions, i int) (err error) {
		i = order[i]
		l := lines[i]
		// the first of its column is the shortest
		timed := l.updates <= crammaPlain && slices.IndexFunc(lines, func(m published) bool {
			return m.learner == l.learner
		}) == i
		found[i], err = t.line(ctx, o, p, l, most, timed)
		for _, r := range found[i].rows {
			o.done(r)
		}
		return err
	})
	if err != nil {
		return err
	}
	bounds := bounded{}
	for i, l := range lines {
		f := &found[i]
		*o.rows = append(*o.rows, f.rows...) // in the table's order
		if l.learner == "cramma" {
			bounds.add(t, p, l, f.text, most, f.res)
		}
	}
	t.fastest(o, p, found)
	bounds.claim(o, p)
	t.extended(o, p, most, found)
	if t.delta == 1 && p.delta == 0 { // table 2 has the data of table 1
		return t.augmented(ctx, o, p, most)
	}
	return nil
}

// crammaFound is what came of a line.
type crammaFound struct {
	learner, text string // text is its first column
	res           learner.FitResult
	rows          []Row
}

// fastest puts the claims that CRAMMA is the fastest near the maximal margin: of each other
// learner the run of the largest margin, against the run of CRAMMA with the fewest updates that has
// at least that. None is there of a learner that comes nearer than all runs of CRAMMA.
func (t crammaTable) fastest(o RunOptions, p problem, found []crammaFound) {
	if t.epsilon != 0.5 { // of the others the table has CRAMMA alone
		return
	}
	for _, name := range []string{"perceptron", "alma"} {
		var near, fast *crammaFound
		for i := range found {
			f := &found[i]
			if f.learner == name && (near == nil || f.res.Margin > near.res.Margin) {
				near = f
			}
		}
		for i := range found {
			f := &found[i]
			if f.learner == "cramma" && near != nil && f.res.Margin >= near.res.Margin &&
				(fast == nil || f.res.Updates < fast.res.Updates) {
				fast = f
			}
		}
		if fast == nil {
			continue
		}
		o.claim(fmt.Sprintf("%s, %s above %s", p.name, near.text, fast.text), "updates",
			fmt.Sprintf("near the maximum margin CRAMMA is the fastest; margins of %.4g and %.4g",
				near.res.Margin, fast.res.Margin),
			[]float64{float64(near.res.Updates - fast.res.Updates)})
	}
}

// line runs one.
func (t crammaTable) line(ctx context.Context, o RunOptions, p problem, l published, most float64,
	timed bool) (out crammaFound, err error) {
	f, text, err := t.fitter(p, l)
	if err != nil {
		return out, err
	}
	ofLearner(ctx, l.learner)
	began := measure.ThreadTime()
	res, err := f.Fit(ctx, p.block, learner.FitOptions{Delta: p.delta})
	if err != nil {
		return out, err
	}
	seconds := (measure.ThreadTime() - began).Seconds()
	row := func(quantity string, paper float64) Row {
		return Row{Experiment: o.name, Row: p.name + ", " + text, Quantity: quantity,
			Paper: at(paper)}
	}
	within, digits := 0.0, 0.0
	if l.note != "" {
		within, digits = 5e-4, 1
	}
	counted, count := "t", res.Counter
	if l.learner == "perceptron" && t.less > 0 { // the one column that counts updates
		counted, count = "updates", res.Counter-t.less
	}
	these := []Row{row(counted, float64(l.updates)), row("margin", l.margin)}
	these[0].Seconds, these[0].Note, these[1].Note = seconds, l.note, l.note
	these[0].Tolerance = within * float64(l.updates)
	these[0].fillOne(float64(count), 1)
	if timed {
		these[0].beside(ctx, l.learner, res.Updates, func() int64 { return t.plain(p, l) })
	}
	these[1].Tolerance = digits * l.unit
	these[1].fillOne(res.Margin, l.unit)
	if p.delta > 0 {
		these = append(these, row("(D'-D)/D", l.excess), row("share below the maximal margin",
			l.below))
		these[2].fillOne(res.Excess(), 1e-3)
		these[3].fillOne(1-res.Margin/most, 1e-3)
	}
	return crammaFound{l.learner, text, res, these}, nil
}

// crammaPlain is the number of updates up to which a line's plain form is timed.
const crammaPlain = 1_000_000

// plain runs a line as one would first write it, and returns the number of updates.
func (t crammaTable) plain(p problem, l published) int64 {
	x := naive.Patterns{Delta: p.delta}
	for i := range p.block.Len() {
		y := slices.Clone(p.block.Row(i))
		for j := range y {
			y[j] *= p.block.Y[i]
		}
		x.Y = append(x.Y, y)
	}
	switch l.learner {
	case "perceptron":
		return x.Perceptron(l.parameter * p.radius2())
	case "alma":
		return x.ALMA(l.parameter)
	}
	return x.CRAMMA(t.epsilon, l.parameter, t.eta(p)*math.Pow(l.parameter, -t.delta))
}

// svm returns the margin that our SVM finds: the largest to within 1e-5 of it, and no larger.
func (t crammaTable) svm(ctx context.Context, p problem, bias bool) (float64, error) {
	c := learners.SVMConfig{Norm: 2, NoBias: !bias, Gap: 1e-5,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}}
	if p.delta > 0 {
		c.C = 1 / (p.delta * p.delta)
	}
	s, err := measure.NewSVM[float64](c, nil)
	if err != nil {
		return 0, err
	}
	ofLearner(ctx, "svm")
	res, err := s.Fit(ctx, p.block, learner.FitOptions{MaxUpdates: 1e9})
	if err == nil && !res.Converged {
		err = fmt.Errorf("bench: %s: the svm is at a gap of %g after %d steps: %w", t.name,
			s.Solution().Gap, res.Updates, learner.ErrFit)
	}
	return res.Margin, err
}

// above puts the claim that a is more than b, in percent of b.
func (t crammaTable) above(o RunOptions, p problem, what, note string, a, b float64) {
	o.add(Row{Kind: Claim, Row: p.name + ", " + what, Note: note,
		Quantity: "percent_difference"}, 100*(a/b-1))
}

// augmented puts the claims of (2): the largest margin with a bias, gamma, is from 1 to R/rho times
// the one that the table has, gamma_d, and nears it as rho grows.
func (t crammaTable) augmented(ctx context.Context, o RunOptions, p problem, most float64) error {
	gamma, err := t.svm(ctx, p, true) // of which the feature rho has no part
	if err != nil {
		return err
	}
	far, last := *p.block, p.block.Dim-1
	far.X = slices.Clone(far.X)
	for i := range far.Len() {
		far.X[i*far.Stride+last] *= 10
	}
	nearer, err := t.svm(ctx, problem{block: &far}, false)
	if err != nil {
		return err
	}
	share := math.Sqrt(p.radius2()) / p.block.X[last] // R/rho
	note := fmt.Sprintf("(2) with our svm's margins: gamma/gamma_d is %.4g, R/rho %.4g, and with "+
		"10 rho gamma/gamma_d is %.4g", gamma/most, share, gamma/nearer)
	t.above(o, p, "gamma above gamma_d", note, gamma, most)
	t.above(o, p, "R/rho above gamma/gamma_d", note, share, gamma/most)
	t.above(o, p, "gamma_d with 10 rho above gamma_d", note, nearer, most)
	return nil
}

// extended puts the claims of Theorem 2 about all runs with a soft margin, the nearest of each, and
// (27).
func (t crammaTable) extended(o RunOptions, p problem, most float64, found []crammaFound) {
	if p.delta == 0 || len(found) == 0 {
		return
	}
	above, below := math.Inf(1), math.Inf(1) // of J most^2 and 1/(J Gamma^2)
	var texts [2]string
	for _, f := range found {
		J := (1 + math.Pow(f.res.D/p.delta, 2)) / (f.res.Gamma0 * f.res.Gamma0) // (20)
		if v := J * most * most; v < above {
			above, texts[0] = v, f.text
		}
		if v := 1 / (J * f.res.Gamma * f.res.Gamma); v < below {
			below, texts[1] = v, f.text
		}
	}
	const note = "Theorem 2, with our svm's Gamma_opt; the nearest run is "
	n := float64(p.block.Len())
	runs := fmt.Sprintf("%d runs, ", len(found))
	t.above(o, p, runs+"(20), J above Gamma_opt^-2", note+texts[0], above, 1)
	t.above(o, p, runs+"(21), Gamma^-2 above J", note+texts[1], below, 1)
	t.above(o, p, "(27), Gamma_opt above Delta/sqrt(m)", "our svm's Gamma_opt", most,
		p.delta/math.Sqrt(n))
}

// bounded is by what share runs of CRAMMA stay away from the bounds of Theorem 1, on updates and on
// the margin, the least of all runs, and which run that is. Both are above 0 where the theorem
// holds.
type bounded struct {
	runs  int
	least [2]float64
	text  [2]string
}

// add adds a run. Theorem 1 has no bound for the largest rates.
func (b *bounded) add(t crammaTable, p problem, l published, text string, most float64,
	res learner.FitResult) {
	R := math.Sqrt(p.radius2())
	updates, share := theorem1(t.epsilon, l.parameter, t.eta(p)*math.Pow(l.parameter, -t.delta),
		most/R)
	if share == 0 {
		return
	}
	b.runs++
	for i, room := range []float64{1 - float64(res.Counter)/updates,
		res.Margin/(share*most) - 1} {
		if b.runs == 1 || room < b.least[i] {
			b.least[i], b.text[i] = room, text
		}
	}
}

// claim puts a claim for each of the bounds.
func (b *bounded) claim(o RunOptions, p problem) {
	if b.runs == 0 {
		return
	}
	for i, what := range []string{"(15), updates below", "(16), margin above"} {
		o.add(Row{Kind: Claim, Row: fmt.Sprintf("%s, %d runs, bound %s it", p.name, b.runs, what),
			Quantity: "percent_of_bound", Note: "Theorem 1 with our svm's maximal margin; the " +
				"nearest run is " + b.text[i]}, 100*b.least[i])
	}
}

// theorem1 bounds t of CRAMMA from above and the share of the maximal margin that it comes to from
// below, as (15) and (16) with the tau_b at which
// (13) is an equality. beta and gamma, the maximal margin, are in units of R. Where the rate eta is
// so large that nothing is known, both are 0.
func theorem1(epsilon, beta, eta, gamma float64) (updates, share float64) {
	chi := 1 - 0.5*eta*(1+eta)/gamma
	if !(chi > 0) { // eta < (sqrt(1 + 8 gamma) - 1)/2
		return 0, 0
	}
	omega := eta * (1 + eta) * gamma
	left := math.Pow(beta, -1/epsilon) * math.Pow(gamma, 1/epsilon-1) * (1 + omega) / eta
	g := func(tau float64) float64 { // the right side of (13)
		power := math.Log1p(tau) // its limit for epsilon = 1
		if epsilon != 1 {
			power = math.Expm1((1-epsilon)*power) / (1 - epsilon)
		}
		return chi*tau - (1+eta)*power
	}
	lo := math.Pow((1+eta)/chi, 1/epsilon) - 1 // where g is least
	hi := lo + 1
	for g(hi) < left {
		hi = 2*hi + 1
	}
	for {
		mid := 0.5 * (lo + hi)
		if mid <= lo || mid >= hi {
			break
		}
		if g(mid) < left {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Pow(beta/gamma, 1/epsilon) * (1 + hi), math.Pow(1+hi, -epsilon)
}

// sonarData: 104 training patterns, mines first, in the order of the files, rho = 1.
func sonarData(dir string) (problem, error) {
	b, err := measure.Sonar(dir)
	return problem{name: "sonar", block: b}, err
}

// wbcData: the 683 patterns without missing attributes, rho = 10, Delta = 1.
func wbcData(dir string) (problem, error) {
	b, err := readWBC(filepath.Join(dir, wbcFile), nil)
	if err != nil {
		return problem{}, err
	}
	return problem{name: "WBC", block: measure.Augmented(b, 10), delta: 1}, nil
}

// wbc11Data: 672 of the 683, which are separable, rho = 30.
func wbc11Data(dir string) (problem, error) {
	b, err := readWBC(filepath.Join(dir, wbcFile), []int{2, 4, 191, 217, 227, 245, 252, 286, 307,
		420, 475})
	if err != nil {
		return problem{}, err
	}
	return problem{name: "WBC-11", block: measure.Augmented(b, 30)}, nil
}

// readWBC reads the rows without "?" of the Wisconsin breast cancer data, but for those at the
// positions of without (from 1, among the rows without "?"): an identity, nine attributes, and the
// class, 4 (+1) or 2 (-1).
func readWBC(path string, without []int) (*engine.Block[float64], error) {
	records, err := readCSV(path, 11)
	if err != nil {
		return nil, err
	}
	b := &engine.Block[float64]{Dim: 9, Stride: 9}
	position := 0
	for line, record := range records {
		if slices.Contains(record, "?") {
			continue
		}
		if position++; slices.Contains(without, position) {
			continue
		}
		for _, field := range record[1:10] {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, line+1, err)
			}
			b.X = append(b.X, v)
		}
		y, ok := map[string]float64{"2": -1, "4": 1}[record[10]]
		if !ok {
			return nil, fmt.Errorf("%s:%d: class %q, expected 2 or 4: %w", path, line+1, record[10],
				dataset.ErrLabels)
		}
		b.Y = append(b.Y, y)
	}
	return b, b.Check()
}
