package learners

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

func init() { learner.Register("obpm", (*OBPMConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*OBPMConfig) Entry() learner.Entry {
	return learner.EntryFor(OBPMConfig{Members: 100, Tau: 0.3, Base: "perceptron",
		Combine: CombineWeights, Budget: 1000, Removal: RemoveProject, Together: true,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newOBPM[float32], newOBPM[float64], learner.Entry{
			Summary: "online Bayes point machine: the average of many learners, each on a random " +
				"subsample",
			Default:  true, // it needs no setting for data that can't be separated
			Optional: []string{"grown"},
		})
}

// Values of OBPMConfig.Combine.
const (
	CombineWeights = "weights"
	CombineVote    = "vote"
)

// Values of OBPMConfig.Removal.
const (
	RemoveProject = "project"
	RemoveNorm    = "norm"
	RemoveOldest  = "oldest"
	RemoveErrors  = "errors"
)

// OBPMConfig holds the settings of OBPM.
type OBPMConfig struct {
	// Members is the number N of base learners. Default 100; 1 to 2^20.
	Members int `json:"members" flag:"members"`
	// Tau is the probability that a member sees an example. Default 0.3; 0 to 1.
	Tau float64 `json:"tau" flag:"tau" tune:"0.05|0.1|0.3|0.6"`
	// Base is the base learner, whose settings are accepted, too. Default perceptron; a learner of
	// streams that is no ensemble.
	Base string `json:"base" flag:"base"`
	// Combine is weights, which averages the members' weights, or vote, which counts their signs.
	// Default weights; weights or vote.
	Combine string `json:"combine" flag:"combine" values:"weights|vote"`
	// Cap limits the averaged weights to norm 1 (step 15); labels do not change. Default false.
	Cap bool `json:"cap" flag:"cap"`
	// Budget is the limit on support vectors of all members together, 0 for none.
	//
	// It counts with a kernel only, as Removal does: see KernelOBPM. Default 1000; 0 to 2^31-1.
	Budget int `json:"budget" flag:"budget" with:"kernel=poly|rbf,scale"`
	// Removal is the support vector to remove: with the smallest norm (project, norm), the oldest,
	// or the one whose removal causes the fewest errors.
	//
	// With project the nearest kept examples take over its part in all members. Default project;
	// project, norm, oldest or errors.
	Removal string `json:"removal" flag:"removal" values:"project|norm|oldest|errors" with:"budget"`

	learner.KernelConfig

	// Together learns members that scale their weights in SIMD lanes, several times as fast as
	// separate learners.
	//
	// These models of before have; scores are rounded otherwise. It counts for romma, cramma and
	// micra. Default true.
	Together bool `json:"together,omitempty" flag:"together"`

	// Part says which members of a whole ensemble these are; nil: they are all. See
	// [learner.Traits].Shard. Default nil; a part of as many members.
	Part *learner.Part `json:"part,omitempty"`

	// BaseConfig is the base's own settings, of the type that its Entry.Config returns; nil stands
	// for those defaults. Default nil; any that are valid.
	BaseConfig learner.Config `json:"base_config"`
}

// MaxMembers is the largest number of members.
const MaxMembers = 1 << 20

// Validate checks all fields and the base's settings.
func (c *OBPMConfig) Validate() error {
	bad := func(field string, v any, want string) error {
		return fmt.Errorf("obpm: %s is %v, want %s: %w", field, v, want, learner.ErrConfig)
	}
	if c.Members < 1 || c.Members > MaxMembers {
		return bad("members", c.Members, fmt.Sprintf("1 to %d", MaxMembers))
	}
	if err := learner.CheckSetting("obpm", "tau", c.Tau, c.Tau >= 0 && c.Tau <= 1,
		"a probability, 0 to 1"); err != nil {
		return err
	}
	if c.Combine != CombineWeights && c.Combine != CombineVote {
		return bad("combine", fmt.Sprintf("%q", c.Combine), "weights or vote")
	}
	if c.Cap && c.Combine == CombineVote {
		return bad("cap", c.Cap, "false with combine vote, which averages no weights")
	}
	base, err := c.baseSettings()
	if err != nil {
		return err
	}
	if err := c.validateBase(base); err != nil {
		return err
	}
	if err := c.validatePart(base); err != nil {
		return err
	}
	return c.validateKernel(ensemble.FormOf(base.Traits()))
}

// form is the base's members' form, if any, that counts for these settings.
func (c *OBPMConfig) form(base learner.Config) *ensemble.MemberForm {
	if f := ensemble.FormOf(base.Traits()); f != nil && (c.Together || !f.Optional) {
		return f
	}
	return nil
}

// validateBase wants a base that learns one example after another, with its settings valid, and
// Cap only where S is kept or never longer than 1.
func (c *OBPMConfig) validateBase(base learner.Config) error {
	bad := func(why string) error {
		return fmt.Errorf("obpm: base is %q, %s: want a learner of streams: %w", c.Base, why,
			learner.ErrConfig)
	}
	if err := base.Validate(); err != nil {
		return fmt.Errorf("obpm: base: %w", err)
	}
	t := base.Traits()
	switch {
	case t.Ensemble:
		return bad("an ensemble itself")
	case t.Classes:
		return bad("of any number of classes, where members of two are averaged")
	case !t.Stream:
		return bad("which learns from whole data sets only")
	case t.Soft:
		return bad("with a soft margin, whose slacks belong to places in a data set")
	case c.Cap && c.Linear() && !(t.Linear && t.Vector):
		return fmt.Errorf("obpm: cap is true, want false with base %q, which has no weight vector "+
			"to be averaged: %w", c.Base, learner.ErrConfig)
	}
	return nil
}

// linearMemory is Memory without a kernel. Lanes have rows for the features that were seen.
func (c *OBPMConfig) linearMemory(form *ensemble.MemberForm, x learner.Extent) learner.Footprint {
	var f learner.Footprint
	members, words := int64(c.Members), int64(c.Members+63)/64
	seen := min(x.Features, x.NonZeros)
	var held, moving, work, partials int64
	if x.Dense {
		seen = x.Features
		held, moving = ensemble.DenseMembersBytes(members, x.Features, x.Elem, x.Growing)
		lanes, _ := ensemble.LanesBytes(members, 0, 0, x.Elem, false, false)
		moving = max(moving, lanes) // a learner begins with lanes
		parts := (members + ensemble.DenseGroup - 1) / ensemble.DenseGroup
		work = ensemble.LaneWorkBytes(parts*64, x.Elem) + parts*(x.Features*x.Elem+128) +
			12*ensemble.RunRows*words
		partials = parts * min(ensemble.RunRows, max(1, ensemble.RunPartials/parts))
	} else {
		held, moving = ensemble.LanesBytes(members, seen, x.Features, x.Elem, x.Growing, false)
		seen = ensemble.LaneRows(members, seen, x.Features, x.Elem, x.Growing)
		n := min(ensemble.RunExamples, max(1, ensemble.RunPartials/words))
		work = ensemble.LaneWorkBytes(members, x.Elem)
		work += 20*words*n + 6*(ensemble.RunNonZeros+x.Longest) + 33*ensemble.RunExamples
		partials = words * n
	}
	f.Add("members' weights", learner.Times(members, seen), held)
	if form.Bytes > 0 {
		f.Add("members' settings", members, learner.Times(form.Bytes, members))
	}
	if c.Combine != CombineVote && form.Additive {
		f.Tables(x, "sum", 8)
	}
	f.Add("members' work space", members, work+partials*int64(unsafe.Sizeof(
		ensemble.Partial{}))*3/2+members*x.Elem+primal.FixedBytes)
	f.Moving = learner.Plus(f.Moving, moving)
	f.Copied(x, 8, learner.Plus(learner.Times(seen, members*x.Elem+4+8), 24*members))
	return f
}

// baseSettings returns BaseConfig or the defaults that nil stands for.
func (c *OBPMConfig) baseSettings() (learner.Config, error) {
	return baseSettings("obpm", c.Base, c.BaseConfig)
}

// UnmarshalJSON reads the base's settings as what the base's Entry says they are. Fields that are
// not there keep their values, unknown ones are refused.
func (c *OBPMConfig) UnmarshalJSON(data []byte) error {
	type fields OBPMConfig // without this method
	c.Together = false     // as settings of before are, which do not say
	if err := decodeOver("obpm", data, (*fields)(c), &c.Base, &c.BaseConfig); err != nil {
		return err
	}
	c.Together = c.Together || !c.optional()
	return nil
}

// MarshalJSON writes "together" only where it counts, and is true. So settings of before there was
// a choice stay as they were.
func (c *OBPMConfig) MarshalJSON() ([]byte, error) {
	type fields OBPMConfig
	d := fields(*c)
	d.Together = c.Together && c.optional()
	return json.Marshal(&d)
}

// optional reports whether Together counts.
func (c *OBPMConfig) optional() bool {
	base, err := c.baseSettings()
	if err != nil {
		return false
	}
	form := ensemble.FormOf(base.Traits())
	return form != nil && form.Optional
}

// Traits is Config.Traits: what the settings are relative to is the base's.
func (c *OBPMConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	if !c.Linear() {
		t = learner.KernelTraits(c.EngineKernel(), c.keeps())
		t.Sizes, t.FitMemory = []string{"budget"}, c.fitMemory
	}
	t.Threads = learner.ThreadsMembers
	t.Ensemble, t.Mistakes, t.Proba = true, true, c.Linear()
	t.Vector = t.Vector && c.Combine != CombineVote
	if base, err := c.baseSettings(); err == nil {
		b := base.Traits()
		t.Relative, t.ScaleFree, t.Remedies = b.Relative, b.ScaleFree, b.Remedies
		t.Weights, t.Forgets = b.Weights, b.Forgets && c.Linear()
		form := c.form(base)
		apart := form == nil
		c.shardTraits(&t, form)
		if c.Linear() && !apart && form.Additive && form.Bytes == 0 {
			t.Mixes = c.Combine != CombineVote && c.Part == nil
		}
		if c.Linear() && apart && b.Keeps > 0 { // members of their own, which keep
			t.Keeps, t.Kept, t.KeptWidth = learner.Any, b.Kept, b.KeptWidth
			if b.Keeps < learner.Any/int64(max(c.Members, 1)) {
				t.Keeps = b.Keeps * int64(c.Members)
			}
			if t.Sizes = b.Sizes; b.FitMemory != nil {
				t.FitMemory = c.separateFit
			}
		}
		t.Support = t.Support || b.Support && apart
		t.Linear, t.Vector, t.Biased = t.Linear && b.Linear, t.Vector && b.Vector, b.Biased
	}
	t.Memory = c.memory
	return t
}

// Resolve resolves the base's settings: the members see the examples as they are.
func (c *OBPMConfig) Resolve(f learner.Facts) (learner.Config, error) {
	r := *c
	var err error
	if r.BaseConfig, err = resolvedBase("obpm", c.Base, c.BaseConfig, f); err != nil {
		return nil, err
	}
	return &r, nil
}

// validateKernel checks what differs with a kernel; form is the base's members' form, if any.
func (c *OBPMConfig) validateKernel(form *ensemble.MemberForm) error {
	if c.Budget < 0 || c.Budget > math.MaxInt32 {
		return fmt.Errorf("obpm: budget is %d, want a number of examples, or 0 for no limit: %w",
			c.Budget, learner.ErrConfig)
	}
	known := slices.Contains([]string{RemoveProject, RemoveNorm, RemoveOldest, RemoveErrors},
		c.Removal)
	if !known && (c.Removal != "" || !c.Linear()) {
		return fmt.Errorf("obpm: removal is %q, want project, norm, oldest or errors: %w",
			c.Removal, learner.ErrConfig)
	}
	if err := c.KernelConfig.Validate("obpm"); err != nil || c.Linear() {
		return err
	}
	switch {
	case c.Combine != CombineWeights:
		return fmt.Errorf("obpm: combine is %q: with a kernel the members are averaged "+
			"(weights): %w", c.Combine, learner.ErrConfig)
	case c.Cap:
		return fmt.Errorf("obpm: cap changes no label and is not there with a kernel: %w",
			learner.ErrConfig)
	case form == nil || !form.Additive || !form.Toward:
		return fmt.Errorf("obpm: base is %q: with a kernel it must add positive multiples of y x "+
			"and no others, as perceptron and pa do: %w", c.Base, learner.ErrConfig)
	}
	return nil
}

// keeps is Traits.Keeps.
func (c *OBPMConfig) keeps() int64 {
	switch {
	case c.Linear():
		return 0
	case c.Budget == 0:
		return learner.Any
	}
	return int64(c.Budget)
}

// memory is Traits.Memory: the members' weights, their sum and the tables of a run; with a kernel
// the kept examples and the members' coefficients.
func (c *OBPMConfig) memory(x learner.Extent) learner.Footprint {
	if c.Linear() {
		base, err := c.baseSettings()
		if err != nil {
			return learner.Footprint{} // no learner is made of it
		}
		if form := c.form(base); form != nil {
			return c.linearMemory(form, x)
		}
		return c.separateMemory(base, x)
	}
	var f learner.Footprint
	members, n := int64(c.Members), kept.TableLength(c.keeps(), x.Kept, x)
	kept.AddKept(&f, x, "kept examples", n, x.Kept, c.Budget > 0 && c.Removal == RemoveErrors)
	if n < learner.Any {
		held, moving := ensemble.LanesBytes(members, n, n, x.Elem, true, x.Kept > 0)
		f.Add("members' coefficients", learner.Times(n, members), learner.Plus(held,
			learner.Times(primal.ListRoom(n), 8+8+4)))
		if c.Removal == RemoveProject {
			f.Add("rows of removals", learner.Times(n, 2), learner.Times(2, primal.ListRoom(n),
				x.Elem))
		}
		f.Moving = learner.Plus(f.Moving, moving)
		if x.Saved {
			f.Copies = learner.Plus(f.Copies, learner.Times(n, members, x.Elem))
		}
	}
	f.Add("members' work space", members, ensemble.LaneWorkBytes(members, x.Elem)+
		learner.Times(members+64, 2*x.Elem+4))
	kept.AddCurrent(&f, x, 1)
	return f
}

// separateMemory is Memory of members of their own.
func (c *OBPMConfig) separateMemory(base learner.Config, x learner.Extent) (f learner.Footprint) {
	x.Whole, x.Kept = false, 0
	members := int64(c.Members)
	n := min(ensemble.RunExamples, max(1, ensemble.RunPartials/members))
	each := int64(unsafe.Sizeof(engine.Block[float64]{})) + 32 + 64
	fleetFootprint(&f, base.Traits().Memory(x), "members'", members, learner.Times(members, each)+
		learner.Times(n, (members+63)/64, 8)+learner.Times(n, members, 24+x.Elem)*5/4, 16, x)
	return f
}

// fitMemory is Traits.FitMemory: it sets Budget.
func (c *OBPMConfig) fitMemory(bytes int64, x learner.Extent, mean, largest int64) (learner.Config,
	error) {
	return kept.FitMemory("obpm", kept.MaxKept, func(n int) learner.Config {
		d := *c
		d.Budget = n
		return &d
	})(bytes, x, mean, largest)
}

// validatePart checks Part.
func (c *OBPMConfig) validatePart(base learner.Config) error {
	p := c.Part
	bad := func(want string) error {
		return fmt.Errorf("obpm: part is %+v of %d members, want %s: %w", *p, c.Members, want,
			learner.ErrConfig)
	}
	switch {
	case p == nil:
		return nil
	case p.Classes:
		return bad("members")
	case p.First < 0 || p.First%learner.PartMembers != 0:
		return bad(fmt.Sprintf("a multiple of %d as the first", learner.PartMembers))
	case p.Members != c.Members:
		return bad("as many")
	case p.Of < p.First+p.Members || p.Of > MaxMembers:
		return bad(fmt.Sprintf("it to be of %d or more, to %d", p.First+p.Members, MaxMembers))
	case p.First+p.Members < p.Of && p.Members%learner.PartMembers != 0:
		return bad(fmt.Sprintf("a multiple of %d, or those to the last one of the whole",
			learner.PartMembers))
	case !c.shards(c.form(base)):
		return bad("none: such members can't be taken apart")
	}
	return nil
}

// shards reports whether members can learn apart: those side by side never meet. Cap looks at all
// of them where S is not kept and they may be longer than 1.
func (c *OBPMConfig) shards(form *ensemble.MemberForm) bool {
	return c.Linear() && form != nil && !(c.Cap && !form.Additive && !form.Unit)
}

// shardTraits fills in what says how the members are taken apart.
func (c *OBPMConfig) shardTraits(t *learner.Traits, form *ensemble.MemberForm) {
	if !c.shards(form) {
		return
	}
	if c.Part != nil {
		whole := *c
		whole.Members, whole.Part = c.Part.Of, nil
		t.PartOf, t.Part = &whole, c.Part
		return
	}
	t.Splits = c.Members
	t.Shard = func(p learner.Part) learner.Config {
		r := *c
		r.Members, r.Part = p.Members, &p
		return &r
	}
}
