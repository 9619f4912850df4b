package shard

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/training"
)

// What can be dealt out over workers.
const (
	// ByMembers: the members of an ensemble, in words of [learner.PartMembers], see Train and Join.
	ByMembers = "members"
	// ByRows: shards of the rows, as many as there are workers, see TrainRows and Mix. Another
	// number of them is another model.
	ByRows = "rows"
	// ByClasses: the classes of one-against-the-rest learners, see training.ShardClasses, Train and
	// Join.
	ByClasses = "classes"
	// BySettings: many settings of a learner, of which each worker learns some side by side.
	BySettings = "settings"
)

// Work is what is to be learned.
type Work struct {
	By       string `json:"by"`       // ByMembers, ByRows, ByClasses or BySettings
	Units    int    `json:"units"`    // of them that there are
	Examples int64  `json:"examples"` // to be learned
	Passes   int    `json:"passes"`   // over these; 0 is 1
	// Rounds ByRows, behind each of which the shards' models become one; 0 is 1.
	Rounds int `json:"rounds,omitempty"`
}

// Costs are what an example costs one core, in nanoseconds.
type Costs struct {
	// Start is what a process costs beside examples, in nanoseconds for all of them: each part is
	// one, and so is what joins them, in each round.
	Start float64 `json:"start_ns"`
	Read  float64 `json:"read_ns"` // to be read and prepared, by each worker and by the join
	// Learn is what learning one costs, by the size of the part, which ascends: a member costs more
	// where the weights of all don't fit into a cache. ByRows there is one, of one unit.
	Learn []Learned `json:"learn"`
	// Replay is what joining costs beside reading, and ReplayPart what each part adds to it.
	Replay     float64 `json:"replay_ns"`
	ReplayPart float64 `json:"replay_part_ns"`
	// Merge is what merging the models of two row shards costs, in nanoseconds for all examples,
	// MergeShard what each further one adds, and Model how large the file of one is, in bytes.
	Merge      float64 `json:"merge_ns"`
	MergeShard float64 `json:"merge_shard_ns"`
	Model      int64   `json:"model_bytes"`
	// Mixed: merging has the models of all shards in memory, else as many as its tree is high.
	Mixed bool `json:"mixed"`
}

// Learned is what parts of one size cost.
type Learned struct {
	Units int     `json:"units"`       // members, classes or settings
	Each  float64 `json:"each_ns"`     // to learn an example
	Trace float64 `json:"trace_bytes"` // of an example, packed; 0 of the whole
	Bytes int64   `json:"bytes"`       // that the learner holds
}

// learn is what an example costs a part of so many units: between sizes that are known, and below
// the smallest, on the line between them; above the largest, as much a unit as there.
func (c *Costs) learn(units int) float64 {
	var below Learned
	for _, l := range c.Learn {
		if units <= l.Units {
			share := float64(units-below.Units) / float64(l.Units-below.Units)
			return below.Each + share*(l.Each-below.Each)
		}
		below = l
	}
	return below.Each / float64(max(1, below.Units)) * float64(units)
}

// bytes and trace are what is known of the smallest part that has so many units; bytes as much a
// unit as of the largest where all are smaller.
func (c *Costs) bytes(units int) int64 {
	var last Learned
	for _, last = range c.Learn {
		if units <= last.Units {
			return last.Bytes
		}
	}
	return last.Bytes * int64(units) / int64(max(1, last.Units))
}

func (c *Costs) trace(units int) float64 {
	for _, l := range c.Learn {
		if units <= l.Units {
			return l.Trace
		}
	}
	return 0
}

// Plan says what it costs to learn some examples on one core and on several.
type Plan struct {
	Work
	Costs    Costs `json:"costs"`
	Measured int   `json:"measured"` // examples that the costs were measured on; 0: none
	// Divisions are those into 1, 2, 4, ... parts, as many as there can be.
	Divisions []Division `json:"divisions"`
	// Workers is how many pay: the fewest of which the fastest division saves less than a fifth of
	// the time; ByRows, where each shard more makes another model, the fewest that take no more
	// than Enough, if that is fewer; 1 where one core takes no more than that.
	Workers int `json:"workers"`
}

// Division is what it costs to learn in so many parts at once, of one core each.
type Division struct {
	Workers int     `json:"workers"`
	Units   int     `json:"units"`   // of the largest part
	Each    float64 `json:"each_ns"` // an example: the largest part's time, and the join's
	Seconds float64 `json:"seconds"` // for all examples
	Faster  float64 `json:"faster"`  // than one core
	Sent    int64   `json:"sent"`    // bytes of traces or models that each worker sends
	// Memory that the learner of a worker, and those of the join hold, in bytes.
	Memory     int64 `json:"memory"`
	JoinMemory int64 `json:"join_memory"`
}

// Enough is how long one core may take without a word for other machines: to start and to look
// after them takes that, too.
const Enough = 15 * time.Minute

// gain is the share of the time that more workers are to leave.
const gain = 0.8

// mostWorkers is the most that a plan looks at.
const mostWorkers = 1024

// mostParts is how many parts of so many units there can be.
func mostParts(by string, units int) int {
	if by == ByMembers {
		units = (units + learner.PartMembers - 1) / learner.PartMembers
	}
	return min(units, mostWorkers)
}

// largest returns which of n parts is the largest, counted from 0, and its units.
func largest(by string, units, n int) (k, most int) {
	if by != ByMembers {
		return 0, (units + n - 1) / n
	}
	for i := range n {
		if m := learner.PartOf(units, i, n).Members; m > most {
			k, most = i, m
		}
	}
	return k, most
}

// Plan says what it costs to learn w at those Costs. With n examples, E passes, N units and w
// workers, of which N/w are those of the largest part, it is
//
//	T = start + n (read + E c N/w)                           on one core, of one part
//	  + start + n (read + E (replay + w replay of a part))   where there are several to be joined
//
// and c is what a unit costs in one of its size; by rows, in R rounds,
//
//	T = R (start + n/w (read + E c) + start + merge of two + (w-2) merge of a further one)
func (c Costs) Plan(w Work) *Plan {
	w.Passes = max(1, w.Passes)
	if w.By == ByRows {
		w.Rounds = max(1, w.Rounds)
	}
	p := &Plan{Work: w, Costs: c, Workers: 1}
	for n := 1; n <= max(1, mostParts(w.By, w.Units)); n *= 2 {
		d := c.parts(&w, n)
		if w.By == ByRows {
			d = c.rows(&w, n)
		}
		d.Workers, d.Seconds = n, d.Each*float64(w.Examples)*1e-9
		p.Divisions = append(p.Divisions, d)
	}
	one := p.Divisions[0]
	for i := range p.Divisions {
		d := &p.Divisions[i]
		d.Faster = one.Each / d.Each
	}
	if one.Seconds > Enough.Seconds() {
		p.Workers = p.Divisions[slices.IndexFunc(p.Divisions, func(d Division) bool {
			return p.near(&d) || p.By == ByRows && d.Seconds <= Enough.Seconds()
		})].Workers
	}
	return p
}

// near reports whether no division saves a fifth of the time of d.
func (p *Plan) near(d *Division) bool {
	return !slices.ContainsFunc(p.Divisions, func(e Division) bool { return e.Each < gain*d.Each })
}

// parts is the Division of units that see all examples into n parts.
func (c *Costs) parts(w *Work, n int) Division {
	_, units := largest(w.By, w.Units, n)
	times, starts := float64(w.Passes), 1.0
	d := Division{Units: units, Each: c.Read + times*c.learn(units), Memory: c.bytes(units)}
	if n > 1 && w.By != BySettings { // there are traces, and a join
		d.Each += c.Read + times*(c.Replay+float64(n)*c.ReplayPart)
		d.Sent = int64(c.trace(units) * float64(w.Examples) * times)
		d.JoinMemory = 2*c.bytes(w.Units) + int64(n)<<19
		starts++
	}
	d.Each += starts * c.Start / float64(max(1, w.Examples))
	return d
}

// rows is that of the rows into n shards.
func (c *Costs) rows(w *Work, n int) Division {
	_, units := largest(w.By, w.Units, n)
	d := Division{Units: units, Memory: c.bytes(1)}
	time := c.Start + float64(units)*(c.Read+float64(w.Passes)*c.learn(1))
	if n > 1 {
		time += c.Start + c.Merge + float64(n-2)*c.MergeShard
		d.Sent = int64(w.Rounds) * c.Model
		models := bits.Len(uint(n-1)) + 1 // those on the way down the tree
		if c.Mixed {
			models = n + 1
		}
		d.JoinMemory = int64(models) * c.bytes(1)
	}
	d.Each = float64(w.Rounds) * time / float64(max(1, w.Examples))
	return d
}

// Verdict says in a sentence whether more than one core pays.
func (p *Plan) Verdict() string {
	one := p.Divisions[0]
	if one.Seconds <= Enough.Seconds() {
		return fmt.Sprintf("one core does this in %s: machines beside it don't pay",
			inWords(one.Seconds))
	}
	for _, d := range p.Divisions {
		if d.Workers != p.Workers || d.Workers == 1 {
			continue
		}
		text := fmt.Sprintf("machines pay: %d workers, of a core each, do in %s what one core "+
			"does in %s", d.Workers, inWords(d.Seconds), inWords(one.Seconds))
		last := p.Divisions[len(p.Divisions)-1]
		if last.Workers > d.Workers && p.near(&d) {
			text += "; more of them save less than a fifth of that"
		}
		return text
	}
	why := "it can't be taken apart"
	if len(p.Divisions) > 1 {
		why = "reading, by each of them, and joining are most of it"
		if p.By == ByRows {
			why = "merging is most of it"
		}
	}
	return fmt.Sprintf("one core does this in %s, and more of them save less than a fifth: %s",
		inWords(one.Seconds), why)
}

// inWords is a time for people.
func inWords(seconds float64) string {
	for _, u := range []struct {
		name    string
		seconds float64
	}{{"days", 86400}, {"hours", 3600}, {"minutes", 60}} {
		if n := seconds / u.seconds; n >= 9.95 {
			return fmt.Sprintf("%.0f %s", n, u.name)
		} else if n >= 1.95 {
			return fmt.Sprintf("%.1f %s", n, u.name)
		}
	}
	return fmt.Sprintf("%.0f s", math.Ceil(seconds))
}

// PlanOptions say what is planned. The zero value plans to learn the files' examples by members.
type PlanOptions struct {
	// By is ByMembers, ByRows, ByClasses or BySettings; "" stands for ByMembers. Default "".
	By string
	// Settings is how many settings there are, as costly as the one that is given, BySettings.
	// Default 0; 1 or more with that.
	Settings int
	// Mix is how ByRows weights are averaged: MixUniform or MixMistakes; "" merges posteriors.
	// Default "".
	Mix string
	// Rounds of mixing. Default 0, which stands for 1; 0 or more, and with Mix alone more than 1.
	Rounds int
	// Examples is how many there will be; 0 stands for as many as the files have. Default 0; 0 or
	// more.
	Examples int64
	// Start is the CPU time that a process takes beside examples: see Costs. Default 0, which
	// leaves it out; 0 or more.
	Start time.Duration
	// Clock is the CPU time of this process so far; nil stands for the time of the wall clock, with
	// which other programs count, too.
	Clock func() time.Duration
}

// How long measuring takes: this is what a second allows.
const (
	readTime   = 150 * time.Millisecond
	learnTime  = 900 * time.Millisecond // of all rounds
	leastRows  = 1024
	mostRows   = 1 << 15
	planRounds = 3
	manyParts  = 32 // that are joined to see what a part adds
)

// MakePlan measures what the run that o describes costs here, on the first of its examples, and
// what it would cost in parts. It takes about a second of one core, more where learning a thousand
// examples takes longer, and the memory of such runs; nothing is written but traces in a temporary
// folder. What o says of models, tests and tallies is not looked at, and its passes are taken for
// as costly as the first one.
//
// Errors are those of training.New and of reading; they wrap learner.ErrConfig for a learner
// without parts, ByMembers, and where how many examples there are is not known.
func MakePlan(ctx context.Context, o training.Options, p PlanOptions, env training.Env) (*Plan,
	error) {
	m, err := newMeter(o, &p, env)
	if err != nil {
		return nil, err
	}
	defer m.pool.Close()
	if m.dir, err = os.MkdirTemp("", "halfspace-plan"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(m.dir)
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	if p.Examples == 0 {
		p.Examples = m.sample.Examples
	}
	if p.Examples == 0 {
		return nil, fmt.Errorf("shard: how many examples there are is not known: %w",
			learner.ErrConfig)
	}
	measure := m.measure
	switch m.by {
	case ByRows:
		measure = m.measureRows
	case ByClasses:
		if m.units = len(m.sample.Info.Classes); m.units < 3 {
			return nil, fmt.Errorf("shard: two classes, which one learner tells: %w",
				learner.ErrConfig)
		}
	}
	if err := measure(ctx); err != nil {
		return nil, err
	}
	if m.by == ByRows {
		m.units = int(p.Examples)
	}
	plan := m.costs.Plan(Work{By: m.by, Units: m.units, Examples: p.Examples, Passes: m.passes,
		Rounds: p.Rounds})
	plan.Measured = m.rows
	return plan, nil
}

// meter measures the Costs of a plan.
type meter struct {
	o      training.Options // of one pass over a stream
	env    training.Env
	clock  func() time.Duration
	pool   *engine.Pool
	dir    string
	sample *training.Sample
	rows   int // of the sample that are learned
	by     string
	units  int // that are known before examples are read
	passes int
	mix    string
	costs  Costs
}

func newMeter(o training.Options, p *PlanOptions, env training.Env) (*meter, error) {
	o = training.Options{Learner: o.Learner, Config: o.Config, Settings: o.Settings,
		Literal: o.Literal, Precision: o.Precision, Seed: o.Seed, Files: o.Files, Data: o.Data,
		Rho: o.Rho, ClassWeight: o.ClassWeight, Pairs: o.Pairs, Epochs: o.Epochs, Threads: 1}
	m := &meter{o: o, clock: p.Clock, env: training.Env{Machine: env.Machine,
		Observer: env.Observer}}
	m.costs.Start = float64(p.Start)
	if m.clock == nil {
		began := time.Now()
		m.clock = func() time.Duration { return time.Since(began) }
	}
	m.by = p.By
	if p.By == "" {
		m.by = ByMembers
	}
	job, err := training.New(o, m.env)
	if err != nil {
		return nil, err
	}
	m.passes, m.o.Epochs = max(1, job.Options().Epochs), 1
	if err := m.take(p, job); err != nil {
		return nil, err
	}
	m.pool = engine.NewPool(1)
	m.env.Pool = m.pool
	return m, nil
}

// take takes what is dealt out, if the job can be taken apart so.
func (m *meter) take(p *PlanOptions, job *training.Job) error {
	refused := func(text string, args ...any) error {
		return fmt.Errorf("shard: "+text+": %w", append(args, learner.ErrConfig)...)
	}
	t := job.Config().Traits()
	if m.by != ByRows && (p.Mix != "" || p.Rounds != 0) {
		return refused("mixing and rounds are of rows, not of %s", m.by)
	}
	switch m.by {
	case ByMembers:
		if m.units = t.Splits; m.units == 0 {
			return refused("%s has no members that learn apart", job.Learner())
		}
	case ByRows:
		m.units, m.mix = 1, p.Mix
		switch {
		case p.Mix != "" && p.Mix != MixUniform && p.Mix != MixMistakes:
			return refused("mix is %q, want %s or %s", p.Mix, MixUniform, MixMistakes)
		case p.Rounds < 0 || p.Mix == "" && p.Rounds > 1:
			return refused("%d rounds, want 1, or with mixing more", p.Rounds)
		case p.Mix == "" && !t.Merges:
			return refused("%s has no posterior to merge", job.Learner())
		case p.Mix != "" && !t.Mixes:
			return refused("%s has no weights to be averaged", job.Learner())
		}
		m.costs.Mixed = p.Mix != ""
	case ByClasses:
		if m.o.Pairs || m.o.Data.Positive != "" {
			return refused("pairs of classes, or two, are not learned class by class")
		}
		return m.takeClasses(job)
	case BySettings:
		if m.units = p.Settings; p.Settings < 1 {
			return refused("%d settings, want 1 or more", p.Settings)
		}
	default:
		return refused("by %q, want %s, %s, %s or %s", m.by, ByMembers, ByRows, ByClasses,
			BySettings)
	}
	return nil
}

// takeClasses is take of classes.
func (m *meter) takeClasses(job *training.Job) error {
	e, err := learner.Lookup(job.Learner())
	if err != nil {
		return err
	}
	_, c, err := learner.ForClasses(e, job.Config(), learner.OverName(false),
		len(m.o.Data.Classes))
	if err != nil {
		return err
	}
	if c.Traits().ShardClasses == nil {
		return fmt.Errorf("shard: the classes of %s can't be taken apart: %w", job.Learner(),
			learner.ErrConfig)
	}
	return nil
}

// read takes the sample, and measures reading.
func (m *meter) read(ctx context.Context) error {
	o := m.o
	o.Model = filepath.Join(m.dir, "model") // of what is read for one, sums are kept
	job, err := training.New(o, m.env)
	if err != nil {
		return err
	}
	var read int64
	began := m.clock()
	m.sample, err = training.NewSample(ctx, job, mostRows, func(n int64) bool {
		read = n
		return m.clock()-began < readTime
	})
	if err != nil {
		return err
	}
	m.costs.Read = float64(m.clock()-began) / float64(max(1, read))
	m.env.Observer = nil // it has heard of the data
	return nil
}

// measure measures what follows reading: each round all of it in turn, so that what else the
// machine does meanwhile falls on all alike, and of the rounds the median.
func (m *meter) measure(ctx context.Context) error {
	m.rows = min(m.sample.Rows, leastRows)
	first, _, err := m.learn(ctx, "")
	if err != nil {
		return err
	}
	parts := 1
	if m.by != BySettings {
		parts = mostParts(m.by, m.units)
	}
	few, lots := min(2, parts), min(manyParts, parts)
	// An example is learned by the whole twice in a round, and twice more to be joined.
	about := (2*planRounds+2)*first.Each + float64(planRounds*2+few+lots)*m.costs.Read
	m.rows = max(m.rows, min(m.sample.Rows, int(float64(learnTime)/about)))

	var joins [2]*training.Join
	var names [2][]string
	if parts > 1 {
		for i, n := range []int{few, lots} {
			if joins[i], names[i], err = m.parts(ctx, n); err != nil {
				return err
			}
		}
	}
	var sizes [][]Learned // of each size, one a round
	var replays [2][]float64
	for range planRounds {
		i := 0
		for w := largestPower(parts); w >= 1; w /= 2 { // ascending sizes
			name := ""
			if k, _ := largest(m.by, m.units, w); w > 1 {
				name = fmt.Sprintf("%d/%d", k+1, w)
			}
			l, _, err := m.learn(ctx, name)
			if err != nil {
				return err
			}
			if i == len(sizes) {
				sizes = append(sizes, nil)
			}
			sizes[i] = append(sizes[i], l)
			i++
		}
		for i, join := range joins {
			if join == nil {
				continue
			}
			each, err := m.join(ctx, *join, names[i])
			if err != nil {
				return err
			}
			replays[i] = append(replays[i], each)
		}
	}
	m.fit(sizes, replays, few, lots)
	return nil
}

// largestPower is the largest power of two that is not above n.
func largestPower(n int) int {
	w := 1
	for 2*w <= n {
		w *= 2
	}
	return w
}

// fit makes Costs of the rounds.
func (m *meter) fit(sizes [][]Learned, replays [2][]float64, few, lots int) {
	c := &m.costs
	for _, rounds := range sizes {
		slices.SortFunc(rounds, func(a, b Learned) int { return cmp.Compare(a.Each, b.Each) })
		l := rounds[len(rounds)/2]
		if n := len(c.Learn); n > 0 && c.Learn[n-1].Units == l.Units {
			continue // uneven parts, of which the largest is no smaller
		}
		c.Learn = append(c.Learn, l)
	}
	if few < 2 {
		return
	}
	slices.Sort(replays[0])
	slices.Sort(replays[1])
	a, b := replays[0][planRounds/2], replays[1][planRounds/2]
	if lots > few {
		c.ReplayPart = max(0, (b-a)/float64(lots-few))
	}
	c.Replay = max(0, a-float64(few)*c.ReplayPart)
}

// timer takes the time of a run over the sample from a quarter of it on: what goes before has other
// costs, tables that grow and more updates.
type timer struct {
	clock      func() time.Duration
	rows       int
	from, to   int
	began, end time.Duration
	begin      func() error // called before it begins
	err        error
}

func (t *timer) mark(learned int) {
	if t.to = learned; t.began == 0 && learned >= t.rows/4 {
		if t.begin != nil {
			t.err = t.begin()
		}
		t.from, t.began = learned, t.clock()
	}
	if learned == t.rows {
		t.end = t.clock()
	}
}

// each is what an example took, in ns.
func (t *timer) each() float64 { return float64(t.end-t.began) / float64(max(1, t.to-t.from)) }

// learn learns a part, "" for the whole.
func (m *meter) learn(ctx context.Context, part string) (l Learned, done *training.Trial,
	err error) {
	t := timer{clock: m.clock, rows: m.rows}
	o := m.o
	if part == "" {
		job, err := training.New(o, m.env)
		if err != nil {
			return l, nil, err
		}
		if done, err = m.sample.Run(ctx, job, m.rows, t.mark); err != nil {
			return l, nil, err
		}
		l = Learned{Units: m.units, Each: t.each(), Bytes: done.Bytes}
		if m.by == ByRows || m.by == BySettings {
			l.Units = 1
		}
		return l, done, nil
	}
	j, done, l, err := m.learnPart(ctx, part, filepath.Join(m.dir, "part"))
	if err != nil {
		return l, nil, err
	}
	return l, done, j.Close()
}

// learnPart learns a part, whose trace goes to a file of that name.
func (m *meter) learnPart(ctx context.Context, part, name string) (j *Job, done *training.Trial,
	l Learned, err error) {
	o := m.o
	o.Shard, o.ShardBy, o.Model = part, training.ShardMembers, filepath.Join(m.dir, "model")
	if m.by == ByClasses {
		o.ShardBy = training.ShardClasses
	}
	if j, err = New(o, m.env, name); err != nil {
		return nil, nil, l, err
	}
	size := int64(0) // of the trace when the timer began
	t := timer{clock: m.clock, rows: m.rows, begin: func() (err error) {
		if err = j.writer.flush(); err == nil {
			size, err = j.writer.f.Seek(0, io.SeekCurrent)
		}
		return err
	}}
	done, err = m.sample.Run(ctx, j.Job, m.rows, t.mark)
	if err == nil {
		err = t.err
	}
	began := m.clock()
	if err == nil {
		err = j.writer.flush()
	}
	t.end += m.clock() - began
	at, e := j.writer.f.Seek(0, io.SeekCurrent)
	if err == nil {
		err = e
	}
	if err != nil {
		j.Close()
		return nil, nil, l, err
	}
	p := j.Config().Traits().Part
	units := p.Members
	if p.Classes { // every Of-th of them
		units = (m.units - p.First + p.Of - 1) / p.Of
	}
	return j, done, Learned{Units: units, Each: t.each(),
		Trace: float64(at-size) / float64(max(1, t.to-t.from)), Bytes: done.Bytes}, nil
}

// parts learns all of n parts, for join.
func (m *meter) parts(ctx context.Context, n int) (*training.Join, []string, error) {
	join, names := &training.Join{}, make([]string, n)
	for k := range n {
		names[k] = filepath.Join(m.dir, fmt.Sprintf("%d-%d", n, k))
		j, done, _, err := m.learnPart(ctx, fmt.Sprintf("%d/%d", k+1, n), names[k])
		if err != nil {
			return nil, nil, err
		}
		join.Parts = append(join.Parts, *j.Config().Traits().Part)
		join.States = append(join.States, done.State())
		join.Trace = eval.Trace{Examples: j.writer.examples, Sum: j.writer.sum}
		if err := j.writer.finish(""); err != nil {
			return nil, nil, err
		}
	}
	return join, names, nil
}

// join joins parts, and returns what an example takes, in ns, without reading.
func (m *meter) join(ctx context.Context, join training.Join, names []string) (float64, error) {
	files := &joining{}
	defer files.close()
	for _, name := range names {
		r, err := files.openTrace(name)
		if err != nil {
			return 0, err
		}
		join.Traces = append(join.Traces, learner.NewTraceReader(r))
	}
	env := m.env
	env.Join = &join
	job, err := training.New(m.o, env)
	if err != nil {
		return 0, err
	}
	t := timer{clock: m.clock, rows: m.rows}
	_, err = m.sample.Run(ctx, job, m.rows, t.mark)
	return t.each(), err
}
