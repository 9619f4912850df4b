package learners

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*mpa[float32])(nil)

func init() { learner.Register("mpa", (*MPAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*MPAConfig) Entry() learner.Entry {
	return learner.EntryFor(MPAConfig{Variant: 1}, newMPA[float32], newMPA[float64], learner.Entry{
		Summary: "multiclass passive-aggressive: one loss for all classes",
	})
}

// mpa is PA for any number of classes by one loss, not by a learner of two for each: an example
// moves the weights of its class towards it and those of the rival, the other class that scores
// most, away from it, as little as brings the difference of their scores to 1 (PA), or as a trade
// of that against the loss that remains (PA-I, PA-II).
//
// Reference: K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online
// Passive-Aggressive Algorithms", JMLR 7:551-585, 2006, section 8, each example having one relevant
// label; the loss is that of K. Crammer, Y. Singer, JMLR 2, 2001. With r the example's class and
//
//	s = arg max_{k != r} w_k.x                       the rival
//	l = max(0, 1 - (w_r.x - w_s.x))                  the loss
//	PA     tau = l/(2|x|^2)
//	PA-I   tau = min(C, l/(2|x|^2))
//	PA-II  tau = l/(2|x|^2 + 1/(2C))
//	w_r <- w_r + tau x,  w_s <- w_s - tau x          (all w_k = 0 at first)
//
//	paper       here              shape, unit
//	x_t, y_t    block             example; class, 0 or more
//	w^r         table             one a feature and class, of T
//	C           Config.C          aggressiveness, of PA-I and PA-II
//	tau_t       paStep            for |x|^2 twice
//
// Deviations: a weight multiplies C, as that of PA. An example without features is skipped, and
// so is one so short that tau is beyond the range of T. A class may come at any time, and is no
// rival before, unless Config.Classes says how many there will be. Of rivals that score as much as
// each other the first is taken.
//
// Guarantee: after a step of PA the example's loss is 0, but for another rival; PA-I's step is at
// most C: TestMPALossAfterStep. The weights of all classes sum to 0 for each feature, roundings
// aside: TestMPANaive, which compares with a plain form. Weights are the same for sparse and dense
// examples.
//
// Cost: one row operation a non-zero for the scores of up to 128 classes, two more an update.
// Memory: one T a feature and class, their number rounded up to 64 bytes.
type mpa[T learner.Float] struct {
	cfg MPAConfig
	table[T]
	step    PAConfig
	updates int64
	scores  []float64 // of an example
	coef    []T       // of a tile's classes, zeros between updates
}

// MPAConfig holds the settings of MPA.
type MPAConfig struct {
	// Variant is the rule: 0 is PA, 1 is PA-I, 2 is PA-II. Default 1; 0, 1 or 2.
	Variant int `json:"variant" flag:"variant" values:"0|1|2"`
	// C is the aggressiveness, the penalty of the remaining loss, 0 for 1. Default 0; 0 or more.
	C float64 `json:"C" flag:"C" with:"variant=1|2"`
	// Classes is the number of classes, all compared from the start, 0 for those seen. Default 0; 0
	// to 2^20.
	Classes int `json:"classes" flag:"class-count"`
}

// Validate wants what PA's Validate wants, and Classes of 0 to MaxClasses.
func (c *MPAConfig) Validate() error {
	pa := c.rule()
	if err := pa.checkRule("mpa"); err != nil {
		return err
	}
	return checkClassCount("mpa", c.Classes, MaxClasses)
}

// rule returns the settings of the rule.
func (c *MPAConfig) rule() PAConfig { return PAConfig{Variant: c.Variant, C: c.C} }

// Traits is Config.Traits.
func (c *MPAConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Classes, t.ClassCount, t.Weights, t.Forgets = true, c.Classes, c.Variant != 0, true
	t.Memory = c.memory
	return t
}

// memory is Traits.Memory: one T a feature and class.
func (c *MPAConfig) memory(x learner.Extent) learner.Footprint {
	k := max(x.Classes, int64(c.Classes), 2)
	row := (k*x.Elem + 63) / 64 * 64
	var f learner.Footprint
	f.Tables(x, "classes' weights", row)
	f.Moving = learner.Plus(f.Moving, learner.Times(x.Features+1, row)) // where a class comes
	f.Add("work space", k, learner.Times(k, 64)+primal.FixedBytes)
	f.Copied(x, learner.Times(k, 8), learner.Times(x.Features, k*x.Elem))
	return f
}

func newMPA[T learner.Float](cfg MPAConfig, _ learner.Env) (learner.Learner[T], error) {
	l := &mpa[T]{cfg: cfg, step: cfg.rule(), coef: make([]T, ensemble.WideTile)}
	l.come(cfg.Classes)
	return l, nil
}

func (l *mpa[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	known := l.cfg.Classes
	if known == 0 {
		known = MaxClasses
	}
	if err := primal.CheckRows("mpa", b, len(rounds)); err != nil {
		return err
	}
	if err := b.CheckClasses(known); err != nil {
		return fmt.Errorf("mpa: %w", err)
	}
	if err := primal.CheckLengths("mpa", b); err != nil {
		return err
	}
	if l.cfg.Variant == 0 && b.Weighted() {
		return fmt.Errorf("mpa: variant 0 has no price of losses: %w", learner.ErrWeights)
	}
	l.reach(b.Dim)
	for i := range b.Len() {
		rounds[i] = l.learnOne(b, i, int(b.Class[i]))
	}
	return nil
}

// learnOne is Learn of example i, of class r.
func (l *mpa[T]) learnOne(b *engine.Block[T], i, r int) learner.Round {
	rows, val := l.example(b, i)
	l.scores = slices.Grow(l.scores[:0], l.classes)[:l.classes]
	l.score(l.scores, rows, val)
	round := learner.Round{Score: learner.ClassScore(l.scores, r),
		Predicted: int32(learner.Predicted(l.scores))}
	own := 0.0
	if r < l.classes {
		own = l.scores[r]
	}
	s := rival(l.scores, r)
	l.come(r + 1)
	if s < 0 {
		return round
	}
	loss, w := 1-(own-l.scores[s]), float64(b.Weight(i))
	if !(loss > 0) || w == 0 {
		return round
	}
	sq := 2 * primal.SumSq(b, i)
	// an infinite step would end all learning
	tau := T(paStep(l.step.Variant, float64(l.step.price()*w), loss, sq))
	if sq > 0 && tau-tau == 0 {
		l.add(r, tau, l.coef, rows, val)
		l.add(s, -tau, l.coef, rows, val)
		l.updates++
		round.Updates = 1
	}
	return round
}

// rival returns the class that scores most of those beside r, the first of several, or -1.
func rival(scores []float64, r int) int {
	best := -1
	for k, f := range scores {
		if k != r && (best < 0 || f > scores[best]) {
			best = k
		}
	}
	return best
}

func (l *mpa[T]) Score(b *engine.Block[T], dst []float64) error { return l.outputs(b, dst) }

// Outputs is for [learner.OutputsOf]: the classes that have come.
func (l *mpa[T]) Outputs() int   { return l.classes }
func (l *mpa[T]) Updates() int64 { return l.updates }

func (l *mpa[T]) Bytes() int64 {
	return l.table.Bytes() + int64(unsafe.Sizeof(*l)) + 8*int64(cap(l.scores)) +
		primal.BytesOf(l.coef)
}

// State returns the weights, [feature][class], and the updates.
func (l *mpa[T]) State() learner.State           { return learner.StateOf(l.fields) }
func (l *mpa[T]) SetState(s learner.State) error { return learner.SetState("mpa", s, l.fields) }

func (l *mpa[T]) CheckState(s learner.State) error {
	return learner.CheckState("mpa", s, l.fields)
}

func (l *mpa[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	l.table.fields(c, l.cfg.Classes)
}

func (l *mpa[T]) Forget(keep float64) error {
	if err := learner.CheckKeep("mpa", keep); err != nil {
		return err
	}
	for i := range l.tiles {
		for j := range l.tiles[i].w {
			l.tiles[i].w[j] *= T(keep)
		}
	}
	return nil
}

func (l *mpa[T]) Snapshot() learner.Predictor[T] {
	p := &prototypes[T]{table: l.table, known: l.cfg.Classes}
	p.tiles = slices.Clone(p.tiles)
	for i := range p.tiles {
		t := &p.tiles[i]
		t.w = append(engine.Aligned[T](l.dim * t.width)[:0], t.w[:l.dim*t.width]...)
	}
	return p
}

func (l *mpa[T]) View() learner.Predictor[T] {
	return &prototypes[T]{table: l.table, known: l.cfg.Classes}
}

// prototypes is the hypothesis of an [MPAConfig].
type prototypes[T learner.Float] struct {
	table[T]
	known int
}

func (p *prototypes[T]) Outputs() int                                  { return p.classes }
func (p *prototypes[T]) Score(b *engine.Block[T], dst []float64) error { return p.outputs(b, dst) }
func (p *prototypes[T]) Bytes() int64 {
	return p.table.Bytes() + int64(unsafe.Sizeof(*p))
}

// State is Predictor.State: the weights.
func (p *prototypes[T]) State() learner.State { return learner.StateOf(p.walk) }

func (p *prototypes[T]) CheckState(s learner.State) error {
	return learner.CheckState("mpa", s, (&prototypes[T]{known: p.known}).walk)
}

func (p *prototypes[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	q := &prototypes[T]{known: p.known}
	if err := learner.SetState("mpa", s, q.walk); err != nil {
		return nil, err
	}
	return q, nil
}

func (p *prototypes[T]) walk(c *learner.Codec) { p.fields(c, p.known) }

// table has a weight for each feature and class: classes lie across SIMD lanes, as members do in
// [ensemble.Lanes], so that a non-zero of an example costs one row operation for all of a tile.
type table[T learner.Float] struct {
	classes int
	dim     int // features that have rows
	tiles   []classTile[T]
}

// classTile is the weights of up to [ensemble.WideTile] classes: class k of feature j is
// w[j*width+k%ensemble.WideTile]. Lanes beyond the classes are zero.
type classTile[T learner.Float] struct {
	w     []T // 64-byte aligned
	width int
}

// come makes room for so many classes.
func (t *table[T]) come(classes int) {
	if classes <= t.classes {
		return
	}
	t.classes = classes
	unit := 64 / int(unsafe.Sizeof(T(0)))
	for i := range (classes + ensemble.WideTile - 1) / ensemble.WideTile {
		n := min(classes-i*ensemble.WideTile, ensemble.WideTile)
		width := (n + unit - 1) / unit * unit
		if i == len(t.tiles) {
			t.tiles = append(t.tiles, classTile[T]{})
		}
		if t.tiles[i].width != width {
			t.tiles[i].move(t.dim, max(t.dim, 1), width)
		}
	}
}

// reach makes room for features below dim.
func (t *table[T]) reach(dim int) {
	if dim <= t.dim {
		return
	}
	for i := range t.tiles {
		if of := &t.tiles[i]; dim*of.width > len(of.w) {
			of.move(t.dim, engine.Room(t.dim, dim), of.width)
		}
	}
	t.dim = dim
}

// move gives the tile room for so many rows of that width, of which it has some.
func (t *classTile[T]) move(have, rows, width int) {
	w := engine.Aligned[T](rows * width)
	for j := range have {
		copy(w[j*width:][:min(width, t.width)], t.w[j*t.width:])
	}
	t.w, t.width = w, width
}

// example returns the rows that example i meets, and its values.
func (t *table[T]) example(b *engine.Block[T], i int) (rows []int32, val []T) {
	if b.Dense() {
		val = b.RowPrefix(i, t.dim)
		return firstRows(len(val)), val
	}
	return b.Prefix(i, t.dim)
}

// firstRows returns the numbers from 0 on, the rows of a dense example.
func firstRows(n int) []int32 {
	have := allRows.Load()
	if have != nil && n <= len(*have) {
		return (*have)[:n]
	}
	rows := make([]int32, max(n, 1024))
	for j := range rows {
		rows[j] = int32(j)
	}
	allRows.Store(&rows)
	return rows[:n]
}

// allRows is what firstRows made last: never changed, but made anew.
var allRows atomic.Pointer[[]int32]

// score sets dst to the scores of all classes.
func (t *table[T]) score(dst []float64, rows []int32, val []T) {
	var room [ensemble.WideTile]T
	for i := range t.tiles {
		of := &t.tiles[i]
		s := room[:of.width]
		vecmath.LanesScore(s, of.w, rows, val)
		at := dst[i*ensemble.WideTile:]
		for k, f := range s[:min(len(at), len(s))] {
			at[k] = float64(f)
		}
	}
}

// add adds a multiple of an example to the weights of a class. coef is room for zeros.
func (t *table[T]) add(class int, by T, coef []T, rows []int32, val []T) {
	of, l := &t.tiles[class/ensemble.WideTile], class%ensemble.WideTile
	var mask [ensemble.WideTile / 64]uint64
	mask[l/64], coef[l] = 1<<(l%64), by
	words := vecmath.MaskWords(of.width)
	vecmath.LanesUpdate(of.w, rows, val, coef[:of.width],
		mask[:words])
	coef[l] = 0
}

// outputs is Score.
func (t *table[T]) outputs(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckOutputs("mpa", b, t.classes, len(dst)); err != nil {
		return err
	}
	for i := range b.Len() {
		rows, val := t.example(b, i)
		t.score(dst[i*t.classes:][:t.classes], rows, val)
	}
	return nil
}

// Weights returns the classes' weights, one after another.
func (t *table[T]) Weights() []float64 {
	w := make([]float64, t.classes*t.dim)
	for k := range t.classes {
		of := &t.tiles[k/ensemble.WideTile]
		for j := range t.dim {
			w[k*t.dim+j] = float64(of.w[j*of.width+k%ensemble.WideTile])
		}
	}
	return w
}

// Bytes returns the memory of the weights.
func (t *table[T]) Bytes() int64 {
	n := int64(cap(t.tiles)) * int64(unsafe.Sizeof(classTile[T]{}))
	for i := range t.tiles {
		n += primal.BytesOf(t.tiles[i].w)
	}
	return n
}

// fields walks the weights, [feature][class]; known classes are all there.
func (t *table[T]) fields(c *learner.Codec, known int) {
	classes := learner.Count(c, "classes", &t.classes)
	dim := learner.Count(c, "dim", &t.dim)
	c.Want(classes <= MaxClasses && (known == 0 || classes == known), "%d classes", classes)
	c.Want(dim <= math.MaxInt32, "counter %q is %d", "dim", dim)
	c.PerFeature("dim", dim)
	if c.Writing() {
		learner.View(c, "w", t.packed(), dim, classes)
		return
	}
	w := learner.View[T](c, "w", nil, dim, classes)
	if !c.Keeping() {
		return
	}
	var read table[T]
	read.come(classes)
	read.reach(dim)
	for j := range dim {
		for k, v := range w[j*classes:][:classes] {
			of := &read.tiles[k/ensemble.WideTile]
			of.w[j*of.width+k%ensemble.WideTile] = v
		}
	}
	c.Then(func() { *t = read })
}

// packed returns the weights, [feature][class].
func (t *table[T]) packed() []T {
	w := make([]T, t.dim*t.classes)
	for j := range t.dim {
		for k := range t.classes {
			of := &t.tiles[k/ensemble.WideTile]
			w[j*t.classes+k] = of.w[j*of.width+k%ensemble.WideTile]
		}
	}
	return w
}
