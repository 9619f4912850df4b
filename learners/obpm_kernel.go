package learners

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*kernelOBPM[float32])(nil)

// kernelOBPM is [OBPMConfig] in the space of a kernel: N perceptrons, each on random parts of the
// stream, that share kept examples and their kernel rows.
//
// Reference: section 3 of the OBPM paper (see [OBPMConfig]), which leaves open how many examples
// are kept. Here at most p are: when one more is to be learned, by whichever members, one is first
// removed from all of them:
//
//	project   the one with the least sum_m a_jm^2 K(x_j, x_j), what the members change by, all
//	          together; its part goes over to the eight kept examples that are nearest to it, see
//	          [kept.Projection]: a_im += beta_i a_jm for all members
//	norm      that one, and its part is lost
//	oldest    the one kept longest
//	errors    the one without which the average makes the fewest errors on the kept examples, as
//	          [TBPConfig] does with the error cache sv
//
//	paper        here                  shape, unit
//	x_t, y_t     block                 example; label, -1 or +1
//	N            Config.Members        number of members
//	b_{j,t}      draws                 Bernoulli(tau) of (seed, member j, example number t), as
//	                                   for OBPM
//	w_{m,t}      lanes                 a_jm, of kept example j and member m, of T
//	N w~'_t      support               kept examples x_j, S_j = sum_m a_jm
//	p            Config.Budget         examples kept at most; 0: no limit
//
// Deviations: a member's step is that of before the removal. An example equal to a kept one of the
// same label (with project: of any) adds to its coefficients and removes nothing. Ties go to the
// oldest. The base adds multiples of y x with positive factors: perceptron or pa.
//
// Guarantee: with one member, tau = 1 and no limit it is the kernel perceptron; without a limit the
// members are what N perceptrons on the same draws are: TestKernelOBPM. With project they are what
// a plain form of it gives: TestKernelOBPMProject.
//
// Cost: a kernel row over the kept examples an example, and O(p tau N) or O(p N) for the members
// that see it, by lanes as OBPM does; on the pool where that pays. An update costs O(N)
// more, and O(p) to find what to remove, with errors O(p^2). With project a removal costs one more
// kernel row over the kept examples, unless the last one kept goes, the kernel values among eight
// of them, and O(N) for each of the eight. Memory: kept examples and p N of T; with errors p^2
// float64 more.
type kernelOBPM[T learner.Float] struct {
	cfg     OBPMConfig
	pool    *engine.Pool
	draws   *engine.Bernoulli
	rule    *ensemble.Stepper[T]
	bounded bool // errors on kept examples are counted
	project bool // of what is removed the projection stays
	// a: the members' coefficient of the example in slot j is their weight of feature j
	lanes       *ensemble.Lanes[T]
	kept.Set[T]           // coef is S
	self, size  []float64 // K(x_j, x_j), sum_m a_jm^2 K(x_j, x_j): for norm and project
	presented   uint64
	updates     int64

	// The example in hand, and scratch.
	y        T
	weight   T
	norm2    float64                // K(x, x)
	mask     []uint64               // members that see it
	rows     []int32                // of lanes: those of all slots, and of one more
	partials []ensemble.Partial     // [tile]
	coefs    [][]T                  // [tile][lane]: what members add to their coefficient
	work     []ensemble.LaneWork[T] // [tile]
	slot     [1]int32               // a feature that a row is wanted for
	unit     [1]T                   // 1: the value with which coefs are added to a row
	column   []T                    // one a member: a row of lanes
	count    kept.LeaveOneOut

	// With project: the kernel row of the example to be removed, and that of the one kept last, in
	// slot last, or -1. What is removed is mostly the latter, and nothing was kept since.
	gone, lastRow []T
	last          int
	part          []T // its a_jm, one a member and the padding of a tile
	nearest       kept.Projection[T]
	at            []int32 // rows of lanes of those

	kept    int64 // Env.Kept
	weights bool  // the base takes weights
}

func newKernelOBPM[T learner.Float](cfg OBPMConfig, env learner.Env) (learner.Learner[T], error) {
	base, err := cfg.baseSettings()
	if err != nil {
		return nil, err
	}
	rule, err := ensemble.NewStepper[T](ensemble.FormOf(base.Traits()), cfg.Members)
	if err != nil {
		return nil, err
	}
	words := (cfg.Members + 63) / 64
	l := &kernelOBPM[T]{
		cfg: cfg, pool: env.Pool, rule: rule, kept: env.Kept, weights: base.Traits().Weights,
		bounded: cfg.Budget > 0 && cfg.Removal == RemoveErrors,
		project: cfg.Budget > 0 && cfg.Removal == RemoveProject,
		draws:   engine.NewDraws(env.Seed, 0).Bernoulli(cfg.Tau),
		mask:    make([]uint64, words), partials: make([]ensemble.Partial, words),
		coefs: make([][]T, words), work: ensemble.NewLaneWork[T](words),
		unit: [1]T{1}, column: make([]T, cfg.Members), part: engine.Aligned[T](64 * words),
	}
	return l, l.reset()
}

// reset makes the learner a new one, with room for the whole budget if Env.Kept bounds it.
func (l *kernelOBPM[T]) reset() (err error) {
	l.presented, l.updates, l.self, l.size, l.rows, l.last = 0, 0, nil, nil, nil, -1
	l.lanes = ensemble.NewLanes[T](l.cfg.Members)
	l.lanes.Share(l.pool.Workers())
	l.Set, err = kept.NewSet[T](kept.Settings{Name: "obpm", Kernel: l.cfg.EngineKernel(),
		Limit: l.cfg.Budget, Room: l.kept, Errors: l.bounded, Signed: l.project})
	if err == nil && l.kept > 0 && l.cfg.Budget > 0 {
		l.lanes.Reserve(l.cfg.Budget)
		l.self, l.size = make([]float64, 0, l.cfg.Budget), make([]float64, 0, l.cfg.Budget)
		if l.project {
			l.gone, l.lastRow = make([]T, 0, l.cfg.Budget), make([]T, 0, l.cfg.Budget)
		}
	}
	return err
}

func (l *kernelOBPM[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := checkMembers(l.weights, b, len(rounds)); err != nil {
		return err
	}
	for i := range b.Len() {
		rounds[i] = learner.Round{Score: l.ScoreExample(b, i) / float64(l.cfg.Members)}
		l.draws.Masks(l.mask, 0, l.cfg.Members, l.presented)
		l.presented++
		seeing := 0
		for _, m := range l.mask {
			seeing += bits.OnesCount64(m)
		}
		if l.y, l.weight = b.Y[i], b.Weight(i); seeing == 0 || l.weight == 0 {
			continue
		}
		l.reserve(l.List.Len() + 1)
		if err := l.step(seeing); err != nil {
			return err
		}
		updates, err := l.update(float64(b.Y[i]))
		if err != nil {
			l.presented--
			return err
		}
		rounds[i].Updates = updates
		l.updates += int64(rounds[i].Updates)
	}
	return nil
}

// reserve makes room in the lanes for n slots, within the budget. That may cut the tiles anew, so
// it is done before members step.
func (l *kernelOBPM[T]) reserve(n int) {
	if l.cfg.Budget > 0 {
		n = min(n, l.cfg.Budget)
	}
	for len(l.rows) < n {
		l.slot[0] = int32(len(l.rows))
		l.lanes.Reach(len(l.rows) + 1)
		l.rows = l.lanes.Rows(l.rows, l.slot[:])
	}
}

// step lets the members that see the example decide on their steps.
func (l *kernelOBPM[T]) step(seeing int) error {
	if l.rule.Form.Norm2 {
		l.norm2 = l.List.Kernel().Self(primal.SumSqInFour(&l.Example, 0))
	}
	const perLane, turn = 20, 20 // as in ensemble.MemberRun.Cost
	parts := len(l.lanes.Tiles)
	return l.pool.Spread(context.Background(), len(l.Row)*l.cfg.Members/perLane+parts*turn, parts,
		l)
}

// Part implements engine.Job: the members of a tile score the example, sum_j a_jm K(x_j, x), a row
// of lanes for each kept example j, and those that see it decide on their steps: lines 7 and 8 of
// Algorithm 2, with steps taken later, by update.
func (l *kernelOBPM[T]) Part(p int) {
	tile, w, t := &l.lanes.Tiles[p], &l.work[p], &l.partials[p]
	*t = ensemble.Partial{}
	mask := w.Mask[:vecmath.MaskWords(tile.Lanes)]
	seeing := 0
	for i := range mask {
		mask[i] = l.mask[tile.Lo/64+i]
		seeing += bits.OnesCount64(mask[i])
	}
	if seeing == 0 {
		return
	}
	s := w.S[:tile.Width]
	vecmath.LanesScore(s, tile.W, l.rows[:len(l.Row)], l.Row)
	t.Updates, l.coefs[p] = l.rule.Step(t, mask, tile.Lo, s, l.y, l.weight, l.norm2,
		w.Coef[:tile.Width])
}

// update takes the members' steps along the example in hand, which is kept if there are any. It
// returns their number; the error is that of [kept.Set.CheckSlot].
func (l *kernelOBPM[T]) update(y float64) (int32, error) {
	updates, sum := 0, 0.0
	for p := range l.lanes.Tiles {
		t := &l.partials[p]
		updates += t.Updates
		for _, c := range t.Coef {
			sum += c
		}
	}
	if updates == 0 { // by none: the example need not be kept
		return 0, nil
	}
	h := l.HashExample(y)
	j, removed := l.Find(h), false
	if j < 0 {
		if err := l.CheckSlot(!l.Full()); err != nil {
			return 0, err
		}
		j, removed = l.keepExample(y, h)
	}
	for p := range l.lanes.Tiles {
		if tile := &l.lanes.Tiles[p]; l.partials[p].Updates > 0 {
			vecmath.LanesUpdate(tile.W, l.rows[j:j+1], l.unit[:],
				l.coefs[p][:tile.Width], l.work[p].Mask[:vecmath.MaskWords(tile.Lanes)])
		}
	}
	if l.project {
		if removed {
			l.takeOver()
		}
		l.measure(j)
		return int32(updates), nil
	}
	// S_j grows by the sum of the members' coefficients, y times a positive number.
	l.AddCoef(j, y, float64(y*float64(l.rule.UnitOf(l.weight)*sum)), math.Inf(1))
	l.measure(j)
	return int32(updates), nil
}

// keepExample keeps the example in hand, whose hash is h, in the next slot or in the place of one
// that is removed; where the projection of that is to stay, takeOver is next. It returns the slot.
func (l *kernelOBPM[T]) keepExample(y float64, h uint64) (j int, removed bool) {
	n := l.List.Len()
	if j, removed = n, l.Full(); removed {
		j = l.worst()
		if l.project {
			l.remember(j)
			l.lanes.Column(l.part, j)
		}
		l.Remove(j)
		clear(l.column)
		l.lanes.SetColumn(j, l.column) // out of every member
	} else {
		l.self, l.size = append(l.self, 0), append(l.size, 0)
	}
	if l.project {
		l.lastRow, l.last = append(l.lastRow[:0], l.Row...), j
		if !removed {
			l.lastRow = append(l.lastRow, 0)
		}
	}
	l.Keep(j, y, int64(l.presented), h)
	l.self[j] = l.Wide[j]
	return j, removed
}

// remember takes the kernel row of the example in slot j, before that with the example in hand
// replaces it.
func (l *kernelOBPM[T]) remember(j int) {
	if l.gone, l.lastRow = l.lastRow, l.gone; l.last != j {
		n := l.List.Len()
		l.gone = slices.Grow(l.gone[:0], n)[:n]
		l.List.Row(l.gone, j, 0, n)
	}
	l.gone[j] = l.Row[j]
}

// takeOver adds the part of what was removed to the examples nearest to it.
func (l *kernelOBPM[T]) takeOver() {
	slots, beta := l.nearest.Of(l.List, l.gone, l.self)
	l.at = l.at[:0]
	for _, j := range slots {
		l.at = append(l.at, l.rows[j])
	}
	for p := range l.lanes.Tiles {
		tile := &l.lanes.Tiles[p]
		all := [2]uint64{^uint64(0), ^uint64(0)}
		if n := tile.Width % 64; n != 0 {
			all[tile.Width/64] = 1<<n - 1
		}
		vecmath.LanesUpdate(tile.W, l.at, beta,
			l.part[tile.Lo:][:tile.Width], all[:vecmath.MaskWords(tile.Width)])
	}
	for _, j := range slots {
		l.measure(int(j))
	}
}

// measure takes the size of the example in slot j, sum_m a_jm^2 K(x_j, x_j), in the order of the
// members; with project S_j, too, which follows from them.
func (l *kernelOBPM[T]) measure(j int) {
	if !l.project && l.cfg.Removal != RemoveNorm {
		return
	}
	l.lanes.Column(l.column, j)
	var sum, squares float64
	for _, a := range l.column {
		sum += float64(a)
		squares += float64(float64(a) * float64(a))
	}
	l.size[j] = float64(squares * l.self[j])
	if l.project {
		l.Coef[j] = sum
	}
}

// Support returns the number of examples kept: with project S may be 0 of one that members have.
func (l *kernelOBPM[T]) Support() int {
	if l.project {
		return l.List.Len()
	}
	return l.Set.Support()
}

// worst returns the slot to be emptied, by Config.Removal; of equals the oldest, which with oldest
// is the rule.
func (l *kernelOBPM[T]) worst() int {
	if l.bounded {
		l.count.Run(l.pool, &l.OnKept, l.Coef, nil)
	}
	worst := 0
	for j := 1; j < l.List.Len(); j++ {
		var d float64
		switch l.cfg.Removal {
		case RemoveProject, RemoveNorm:
			d = l.size[j] - l.size[worst]
		case RemoveErrors:
			d = float64(l.count.Errors[j] - l.count.Errors[worst])
		}
		if d < 0 || d == 0 && l.Born[j] < l.Born[worst] {
			worst = j
		}
	}
	return worst
}

func (l *kernelOBPM[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.Sum(float64(l.cfg.Members))
	return p.Score(b, dst)
}

// Snapshot is Learner.Snapshot: the kept examples with the members' average, without the members.
func (l *kernelOBPM[T]) Snapshot() learner.Predictor[T] {
	return l.Sum(float64(l.cfg.Members)).Copied()
}

// View is for [learner.ViewOf].
func (l *kernelOBPM[T]) View() learner.Predictor[T] {
	return l.Sum(float64(l.cfg.Members)).View()
}

// Mistakes is MistakeChecker.Mistakes, as [OBPM.Mistakes].
func (l *kernelOBPM[T]) Mistakes(b *engine.Block[T]) (int, error) {
	if err := primal.CheckWeighted("obpm", b, b.Len()); err != nil {
		return 0, err
	}
	f, wrong := make([]float64, b.Len()), make([]float64, b.Len())
	for i, y := range b.Y {
		f[i] = l.ScoreExample(b, i)
		for p := range l.lanes.Tiles {
			tile, w := &l.lanes.Tiles[p], &l.work[p]
			s, mask := w.S[:tile.Width], w.Mask[:vecmath.MaskWords(tile.Lanes)]
			vecmath.LanesScore(s, tile.W, l.rows[:len(l.Row)], l.Row)
			vecmath.LanesLE(mask, s, y, 0)
			n := tile.Lanes - tile.Width // the padding's zeros count too
			for _, m := range mask {
				n += bits.OnesCount64(m)
			}
			wrong[i] += float64(n)
		}
	}
	return countMistakes(b, f, wrong), nil
}

// Weights returns nil: the hypothesis is a sum over kept examples.
func (l *kernelOBPM[T]) Weights() []float64 { return nil }

// Updates returns the updates of all members together.
func (l *kernelOBPM[T]) Updates() int64 { return l.updates }

func (l *kernelOBPM[T]) Bytes() int64 {
	return l.Set.Bytes() + l.lanes.Bytes() + primal.BytesOf(l.self) +
		primal.BytesOf(l.size) + 4*int64(cap(l.rows)+cap(l.at)) + primal.BytesOf(l.gone) +
		primal.BytesOf(l.lastRow) + primal.BytesOf(l.part) +
		int64(unsafe.Sizeof(*l)) +
		ensemble.WorkBytes(l.work) + primal.BytesOf(l.column) + int64(cap(l.partials))*int64(
		unsafe.Sizeof(ensemble.Partial{}))
}

// State returns the kept examples with S as "alpha" times "y", and the members' coefficients as
// "members" [example][member].
func (l *kernelOBPM[T]) State() learner.State { return learner.StateOf(l.fields) }

func (l *kernelOBPM[T]) SetState(s learner.State) error {
	return learner.SetState("obpm", s, l.fields)
}

func (l *kernelOBPM[T]) CheckState(s learner.State) error {
	return learner.CheckState("obpm", s, l.fields)
}

func (l *kernelOBPM[T]) fields(c *learner.Codec) {
	presented := learner.Count(c, "presented", &l.presented)
	updates := learner.Count(c, "updates", &l.updates)
	examples, N := l.Set.Fields(c, int64(presented)), l.cfg.Members
	var members []T
	if c.Writing() {
		members = make([]T, examples*N)
		for j := range examples {
			l.lanes.Column(members[j*N:][:N], j)
		}
	}
	members = learner.View(c, "members", members, examples, N)
	if !c.Keeping() {
		return
	}
	n := *l
	err := n.reset()
	c.Want(err == nil, "%w", err)
	c.Then(func() {
		n.Set = l.Set // restored by now
		n.presented, n.updates = presented, updates
		n.self = slices.Grow(n.self, examples)[:examples]
		n.size = slices.Grow(n.size, examples)[:examples]
		n.reserve(examples)
		for j := range examples {
			n.lanes.SetColumn(j, members[j*N:][:N])
			n.self[j] = float64(n.List.Diag(j))
			n.measure(j)
		}
		*l = n
	})
}
