// Package work cuts the training of a model into parts, which any number of processes learn in a
// folder that all of them see, and joins them. It knows no engine: each piece of work is asked for
// by a Piece, which is sent to wherever it is done, and answered by a Done, which says where its
// files are. Models and traces stay in the folder.
//
// How work is cut is a Way: a file each, in the table Ways.
//
// A piece that was done once is not done again: its folder has the name of all that decides what
// it is, and is there only when it is whole. What was begun is gone on with, by whoever tries
// next. Any number of processes may be at one piece at a time; what the first of them has done
// is taken.
package work

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// Way is one that work is cut and joined.
type Way struct {
	Name    string
	Summary string // of the help: "of the members of an ensemble, ..."
	Shards  bool   // command.Way.Shards
	// Ranges says that Learn reads parts of files, and Join nothing of them: objects of buckets are
	// opened where they are, by Plain.open. Else they are brought whole.
	Ranges bool
	// Cut returns what each part is to do, and what joins them. Both are sent as JSON. What changes
	// nothing of what comes of it is in Plain. Errors are those of package training.
	Cut func(o training.Options, p shard.Cut) (parts []any, whole any, err error)
	// Learn does what a part is to do, in a folder. Where files of it are there already, that
	// Begun has taken over, it goes on there.
	Learn func(ctx context.Context, do json.RawMessage, with Plain, dir string) error
	// Begun looks at the folder of a try that did not come to its end, and takes over what it has
	// learned into another folder, which is new. It returns how far that is, in examples; 0 is not
	// at all. It may be called while the other one still writes.
	Begun func(from, to string) (examples int64, err error)
	// Join makes the whole of parts, which are in these folders, in the order in which Cut gave
	// them. It writes the file ModelFile to dir, if there is one, and returns what is said of it,
	// which is kept in JSON: of a model a *shard.Report.
	Join func(ctx context.Context, do json.RawMessage, with Plain, parts []string, dir string) (
		any, error)
}

// Plain is what may differ from try to try: it changes nothing of what is learned.
type Plain struct {
	Threads         int            `json:"threads,omitempty"`
	MemBudget       training.Bytes `json:"mem_budget,omitempty"`
	CheckpointEvery string         `json:"checkpoint_every,omitempty"`
	Objects         []Object       `json:"objects,omitempty"` // files that are in buckets

	before string // folder of the whole of the round before; "" is none

	open func(name string) (dataset.File, error) // training.Env.OpenFile
}

// Names of files in the folder of a piece.
const (
	ModelFile  = "model"
	reportFile = "report.json" // of the whole
	doneFile   = "done.json"
)

// defaultCheckpoint is how often parts write down where they stand.
const defaultCheckpoint = "60s"

// Ways are all ways of learning a model, in the order of the help.
func Ways() []Way { return []Way{members(), classes(), rowShards()} }

// wayOf finds one.
func wayOf(name string) (Way, error) {
	ways := Ways()
	i := slices.IndexFunc(ways, func(w Way) bool { return w.Name == name })
	if i < 0 {
		return Way{}, fmt.Errorf("no way %q of cutting work: another version sent it", name)
	}
	return ways[i], nil
}

// Job is work that is cut: of work in rounds, the last one's.
type Job struct {
	Round
	Before []Round // in their order

	files []Object // what is learned
	home  string   // of what was brought here from a bucket of state; "" is none
}

// Round is work that is joined before what goes on from it begins.
type Round struct {
	Parts []Piece
	Whole Piece // joins them

	workers int // that do parts at a time; 0: as many as there are
}

// Loads are the parts, dealt out over the workers.
func (r *Round) Loads() []Load {
	n := len(r.Parts)
	if r.workers > 0 {
		n = min(n, r.workers)
	}
	loads := make([]Load, n)
	for i, p := range r.Parts {
		l := &loads[i%n]
		l.Pieces = append(l.Pieces, p)
	}
	return loads
}

// all are the rounds, and their pieces.
func (j *Job) all() (rounds []Round, pieces []Piece) {
	rounds = append(slices.Clone(j.Before), j.Round)
	for _, r := range rounds {
		pieces = append(append(pieces, r.Parts...), r.Whole)
	}
	return rounds, pieces
}

// Rounds are all, in their order.
func (j *Job) Rounds() []Round {
	rounds, _ := j.all()
	return rounds
}

// Close removes what was brought here from a bucket of state.
func (j *Job) Close() error {
	if j.home == "" {
		return nil
	}
	return os.RemoveAll(j.home)
}

// folder is that of what is done.
func (j *Job) folder(d Done) string {
	return filepath.Join(cmp.Or(j.home, j.Whole.State), filepath.FromSlash(d.Folder))
}

// Cut cuts the training of o into parts, which are learned in the folder of state. The files of o
// and state get names that hold wherever a process stands.
func Cut(p shard.Cut, o training.Options) (*Job, error) {
	files, err := named(o.Files)
	if err != nil {
		return nil, err
	}
	return cutFiles(p, o, files)
}

// cutFiles is Cut of these files.
func cutFiles(p shard.Cut, o training.Options, files []Object) (*Job, error) {
	w, err := wayOf(p.Way)
	if err != nil {
		return nil, err
	}
	with := Plain{Threads: o.Threads, MemBudget: o.MemBudget, CheckpointEvery: o.CheckpointEvery}
	if with.CheckpointEvery == "" {
		with.CheckpointEvery = defaultCheckpoint
	}
	o.Threads, o.MemBudget, o.CheckpointEvery, o.Model = 0, 0, "", ""
	o.Files = namesOf(files)
	if o.From != "" {
		from, err := stat(o.From)
		if err != nil {
			return nil, err
		}
		o.From, files = from.URL, append(files, from)
	}
	parts, whole, err := w.Cut(o, p)
	if err != nil {
		return nil, err
	}
	return newJob(p, with, files, parts, whole)
}

// named looks at files, whose names hold then wherever a process stands.
func named(files []string) (list []Object, err error) {
	for _, name := range files {
		o, err := stat(name)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

func stat(name string) (o Object, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return o, err
	}
	o.Size, o.Modified = info.Size(), info.ModTime().UTC()
	o.URL, err = filepath.Abs(name)
	return o, err
}

func namesOf(files []Object) (names []string) {
	for _, o := range files {
		names = append(names, o.URL)
	}
	return names
}

// newJob makes the pieces of what parts do, and of what joins them, over these files.
func newJob(by shard.Cut, with Plain, files []Object, parts []any, whole any) (*Job, error) {
	state, err := stateOf(by.State)
	if err != nil {
		return nil, err
	}
	for _, o := range files {
		if inBucket(o.URL) {
			with.Objects = append(with.Objects, o)
		}
	}
	text, err := json.Marshal(with)
	if err != nil {
		return nil, err
	}
	j := &Job{Round: Round{workers: by.Workers}, files: files}
	for round := 1; round <= max(1, by.Rounds); round++ {
		p := Piece{Way: by.Way, State: state, Parts: len(parts), With: text}
		if by.Rounds > 0 {
			p.Round = round
		}
		if round > 1 {
			j.Before, p.After = append(j.Before, j.Round), j.Whole.Key
		}
		if err := j.round(p, files, parts, whole); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// round makes the pieces of a round, like p.
func (r *Round) round(p Piece, files []Object, parts []any, whole any) (err error) {
	r.Parts = nil
	var keys []string
	for i, do := range parts {
		p.Number = i + 1
		if p.Do, err = json.Marshal(do); err == nil {
			p.Key, err = keyOf(p, files, nil)
		}
		if err != nil {
			return err
		}
		r.Parts, keys = append(r.Parts, p), append(keys, p.Key)
	}
	p.Number = 0
	if p.Do, err = json.Marshal(whole); err == nil {
		p.Key, err = keyOf(p, files, keys)
	}
	r.Whole = p
	return err
}

// stateOf is the name of the state that holds everywhere. A folder is there then.
func stateOf(name string) (string, error) {
	if inBucket(name) {
		if at := strings.IndexAny(name, `*?[]\#%`); at >= 0 {
			return "", &shard.Failure{Code: 2, Text: fmt.Sprintf("%s: a %q in it", name,
				name[at]), Next: "Name the state without: it would stand for other names."}
		}
		return strings.TrimRight(name, "/"), nil
	}
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(name, 0o777); err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = fmt.Errorf("%s: %w", path.Path, path.Err)
		}
		return "", &shard.Failure{Code: 1, Text: "the state: " + err.Error(),
			Next: "Name a folder for it that all workers can write."}
	}
	return name, nil
}

// keyOf is the name of the piece's folder: of all that decides what comes of it. Of files these are
// their names, sizes, and when they were written (in a bucket which version they are): one that is
// written again is learned again. Whether examples are the same though all of that is is looked at
// when parts go on and when they are joined.
func keyOf(p Piece, files []Object, of []string) (string, error) {
	text, err := json.Marshal(struct {
		Version int
		Way     string
		Number  int
		Parts   int
		Do      json.RawMessage
		Files   []Object
		Of      []string
		After   string `json:",omitempty"`
	}{2, p.Way, p.Number, p.Parts, p.Do, files, of, p.After})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	name := "whole"
	if p.Number > 0 {
		name = fmt.Sprintf("part-%d-of-%d", p.Number, p.Parts)
	}
	if p.Round > 0 {
		name = fmt.Sprintf("round-%d-%s", p.Round, name)
	}
	return name + "-" + hex.EncodeToString(sum[:8]), nil
}

// Learn does a part, unless it was done before. Errors are a shard.Failure.
func Learn(ctx context.Context, p Piece) (Done, error) {
	w, err := wayOf(p.Way)
	if err != nil {
		return Done{}, p.failure(err)
	}
	var with Plain
	if err := json.Unmarshal(p.With, &with); err != nil {
		return Done{}, p.failure(err)
	}
	d, err := p.once(w.Begun, func(dir string) (err error) {
		if with.before, err = p.roundBefore(); err != nil {
			return err
		}
		with.open = p.open
		return w.Learn(ctx, p.Do, with, dir)
	})
	if err != nil {
		return Done{}, p.failure(err)
	}
	return d, nil
}

// Join makes the whole of parts that are done, in any order, unless it was made before. Errors
// are a shard.Failure.
func Join(ctx context.Context, p Piece, parts []Done) (Done, error) {
	d, err := p.join(ctx, parts)
	if err != nil {
		return Done{}, p.failure(err)
	}
	return d, nil
}

func (p *Piece) join(ctx context.Context, parts []Done) (Done, error) {
	w, err := wayOf(p.Way)
	if err != nil {
		return Done{}, err
	}
	var with Plain
	if err := json.Unmarshal(p.With, &with); err != nil {
		return Done{}, err
	}
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Done) int { return a.Number - b.Number })
	// An engine may answer a piece twice.
	parts = slices.CompactFunc(parts, func(a, b Done) bool { return a.Number == b.Number })
	if len(parts) != p.Parts {
		return Done{}, fmt.Errorf("%d parts came, of %d", len(parts), p.Parts)
	}
	dirs := make([]string, len(parts))
	for i, d := range parts {
		if d.Number != i+1 {
			return Done{}, fmt.Errorf("part %d came for part %d", d.Number, i+1)
		}
		dirs[i] = filepath.Join(p.State, filepath.FromSlash(d.Folder))
	}
	return p.once(nil, func(dir string) error {
		for i, d := range parts {
			if err := d.check(dirs[i]); err != nil {
				return err
			}
		}
		if with.before, err = p.roundBefore(); err != nil {
			return err
		}
		m, err := w.Join(ctx, p.Do, with, dirs, dir)
		if err != nil {
			return err
		}
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if p.shown != nil {
			text = []byte(p.shown.Replace(string(text)))
		}
		return os.WriteFile(filepath.Join(dir, reportFile), text, 0o666)
	})
}

// roundBefore is the folder of what the piece goes on from; "" is none.
func (p *Piece) roundBefore() (string, error) {
	if p.After == "" || p.before != "" {
		return p.before, nil
	}
	q := Piece{State: p.State, Key: p.After}
	d, err := q.taken()
	if err == nil && d == nil {
		err = damaged(filepath.Join(q.folder(), doneFile), fs.ErrNotExist)
	}
	if err == nil {
		err = d.check(q.folder())
	}
	return q.folder(), err
}

// Explain is what the command says of an error of a piece that is called what: the command sets it.
var Explain = func(what string, err error) *shard.Failure {
	return &shard.Failure{Code: 1, Text: what + ": " + err.Error()}
}

// failure names the piece in an error.
func (p *Piece) failure(err error) error {
	f := Explain(p.String(), err)
	if p.shown != nil {
		f.Text, f.Next = p.shown.Replace(f.Text), p.shown.Replace(f.Next)
	}
	return f
}

// String names it for people.
func (p *Piece) String() string {
	of := ""
	if p.Round > 0 {
		of = fmt.Sprintf(" of round %d", p.Round)
	}
	if p.Number == 0 {
		return fmt.Sprintf("joining %d parts%s", p.Parts, of)
	}
	return fmt.Sprintf("part %d/%d%s", p.Number, p.Parts, of)
}

// Write puts the model of the whole, which is done, in its place, and returns what is said of it.
func (j *Job) Write(d Done, to string) (*shard.Report, error) {
	m := &shard.Report{}
	if err := j.report(d, m); err != nil {
		return nil, err
	}
	in, err := os.Open(filepath.Join(j.folder(d), ModelFile))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := atomicfile.Create(to, 0o666)
	if err != nil {
		return nil, err
	}
	defer out.Discard()
	if _, err := io.Copy(out, in); err != nil {
		return nil, err
	}
	_, pieces := j.all()
	for _, p := range pieces {
		p.clear() // once more: who was at it may have written while the first to end removed it
	}
	m.Model = to
	return m, out.Commit()
}

// report reads what is said of the whole, which is done.
func (j *Job) report(d Done, to any) error {
	dir := j.folder(d)
	if err := d.check(dir); err != nil {
		return err
	}
	name := filepath.Join(dir, reportFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return damaged(name, err)
	}
	return nil
}
