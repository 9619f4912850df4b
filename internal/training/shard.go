package training

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// Join is parts of an ensemble that have learned apart, to be made one. See learner.Joiner: Traces
// have what the part of the same place did.
type Join struct {
	Parts  []learner.Part
	States []learner.State
	Traces []*learner.TraceReader
	// Trace is what the parts' runs have told of the examples, at their ends.
	Trace eval.Trace
}

// What Options.ShardBy may be.
const (
	ShardMembers = "members"
	ShardClasses = "classes"
)

// parseShard reads Options.Shard: part k of n, counted from 0 here.
func parseShard(s string) (k, n int, err error) {
	first, of, ok := strings.Cut(s, "/")
	if ok {
		if k, err = strconv.Atoi(first); err == nil {
			n, err = strconv.Atoi(of)
		}
	}
	if !ok || err != nil || k < 1 || k > n {
		return 0, 0, badOption("2/4 is the second one of four.",
			"{shard} %q: not the number of a part and how many there are", s)
	}
	return k - 1, n, nil
}

// validShard refuses what asks for more than a part knows: what the whole ensemble predicts.
func (o *Options) validShard() error {
	switch o.ShardBy {
	case "", ShardMembers, ShardClasses:
	default:
		return badOption("", "{shard_by} %q: not %s or %s", o.ShardBy, ShardMembers, ShardClasses)
	}
	if o.Shard == "" {
		if o.ShardBy != "" {
			return badOption("It says what {shard} cuts.", "{shard_by} without {shard}")
		}
		return nil
	}
	const alone = "Leave it out: it looks at the whole ensemble, of which this is a part."
	switch {
	case o.UntilConverged:
		return badOption(alone, "{shard} and {until_converged} exclude each other")
	case o.Drift != "":
		return badOption(alone, "{shard} and {drift} exclude each other")
	case o.Proba:
		return badOption(alone, "{shard} and {proba} exclude each other")
	case o.Delay > 0 || o.IDCol != "":
		return badOption("Leave it out: labels come with their rows.",
			"{shard} excludes {delay} and {id_col}")
	case o.From != "":
		return badOption("Train all parts from their beginning, or the whole on from a model.",
			"{shard} and {from} exclude each other")
	}
	_, _, err := parseShard(o.Shard)
	return err
}

// takeShard makes the settings those of the part that Options.Shard names.
func (j *Job) takeShard() error {
	if j.o.Shard == "" {
		return nil
	}
	k, n, err := parseShard(j.o.Shard)
	if err != nil {
		return err
	}
	if j.o.ShardBy == ShardClasses {
		return j.takeClassShard(learner.Part{First: k, Of: n, Classes: true})
	}
	t := j.traits
	if t.Splits == 0 {
		return badOption("Learners that can: "+
			those(func(t learner.Traits) bool { return t.Splits > 0 })+", without a kernel.",
			"{shard}: %s can't be taken apart", describe(j.name, j.config))
	}
	if most := (t.Splits + learner.PartMembers - 1) / learner.PartMembers; n > most {
		return badOption(fmt.Sprintf("Take %d parts at most, or more members.", most),
			"{shard} %s: %d members are cut by %d, so some part has none", j.o.Shard, t.Splits,
			learner.PartMembers)
	}
	j.set(t.Shard(learner.PartOf(t.Splits, k, n)))
	return nil
}

// takeClassShard makes the settings those of a part of the classes.
func (j *Job) takeClassShard(p learner.Part) error {
	e, c, err := learner.ForClasses(j.entry, j.config, learner.OverName(j.o.Pairs),
		len(j.o.Classes))
	if err != nil {
		return badOption("Choose a learner of two classes.", "{shard} by classes: %w", err)
	}
	t := c.Traits()
	switch {
	case t.ShardClasses == nil:
		return badOption("Learners that can are those of streams that keep no examples, each "+
			"class against the rest.", "{shard}: the classes of %s can't be taken apart",
			describe(j.name, j.config))
	case t.ClassCount > 0 && p.Of > t.ClassCount:
		return badOption(fmt.Sprintf("Take %d parts at most.", t.ClassCount),
			"{shard} %s: there are %d classes, so some part has none", j.o.Shard, t.ClassCount)
	}
	j.entry, j.name = e, e.Name
	j.set(t.ShardClasses(p))
	return nil
}

// join makes the learner that of the parts of Env.Join.
func (r *run[T]) join() error {
	parts := r.j.env.Join
	joiner := learner.JoinerOf(r.l)
	if joiner == nil {
		return fmt.Errorf("%s can't be made of parts: %w", r.j.name, learner.ErrParts)
	}
	if r.j.env.Trace == nil {
		r.j.env.Trace = &eval.Trace{}
	}
	return joiner.Join(parts.Parts, parts.States, parts.Traces, nil)
}

// joined is called when what the parts learned was gone through.
func (r *run[T]) joined() error {
	join, had := r.j.env.Join, r.j.env.Trace
	if join == nil {
		return nil
	}
	if err := learner.JoinerOf(r.l).Joined(); err != nil {
		return err
	}
	switch {
	case had.Examples != join.Trace.Examples:
		return fmt.Errorf("%d examples, of %d that the parts have learned: %w", had.Examples,
			join.Trace.Examples, learner.ErrTrace)
	case had.Sum != join.Trace.Sum:
		return fmt.Errorf("other examples than the parts have learned: %w", learner.ErrTrace)
	}
	return nil
}
