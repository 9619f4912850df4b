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
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/training"
)

// Way is one that work is cut and joined.
type Way struct {
	Name    string
	Summary string // of the help: "of the members of an ensemble, ..."
	// Cut returns what each of n parts is to do, and what joins them. Both are sent as JSON. What
	// changes nothing of what comes of it is in Plain. Errors are those of package training.
	Cut func(o training.Options, n int) (parts []any, whole any, err error)
	// Learn does what a part is to do, in a folder. Where files of it are there already, that
	// Begun has taken over, it goes on there.
	Learn func(ctx context.Context, do json.RawMessage, with Plain, dir string) error
	// Begun looks at the folder of a try that did not come to its end, and takes over what it has
	// learned into another folder, which is new. It returns how far that is, in examples; 0 is not
	// at all. It may be called while the other one still writes.
	Begun func(from, to string) (examples int64, err error)
	// Join makes the whole of parts, which are in these folders, in the order in which Cut gave
	// them. It writes the file ModelFile to dir, if there is one, and returns what is said of it,
	// which is kept in JSON: of a model a *command.Merged.
	Join func(ctx context.Context, do json.RawMessage, with Plain, parts []string, dir string) (
		any, error)
}

// Plain is what may differ from try to try: it changes nothing of what is learned.
type Plain struct {
	Threads         int            `json:"threads,omitempty"`
	MemBudget       training.Bytes `json:"mem_budget,omitempty"`
	CheckpointEvery string         `json:"checkpoint_every,omitempty"`
	Objects         []Object       `json:"objects,omitempty"` // files that are in buckets
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
func Ways() []Way { return []Way{members()} }

// wayOf finds one.
func wayOf(name string) (Way, error) {
	ways := append(Ways(), settings())
	i := slices.IndexFunc(ways, func(w Way) bool { return w.Name == name })
	if i < 0 {
		return Way{}, fmt.Errorf("no way %q of cutting work: another version sent it", name)
	}
	return ways[i], nil
}

// Job is work that is cut.
type Job struct {
	Parts []Piece
	Whole Piece // joins them

	home string // of what was brought here from a bucket of state; "" is none
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

// Cut cuts the training of o into n parts, which are learned in the folder state. The files of o
// and state get names that hold wherever a process stands.
func Cut(way, state string, n int, o training.Options) (*Job, error) {
	files, sizes, err := named(o.Files)
	if err != nil {
		return nil, err
	}
	o.Files = files
	return cutFiles(way, state, n, o, sizes, nil)
}

// cutFiles is Cut of files of such names and sizes, some of which are these objects.
func cutFiles(way, state string, n int, o training.Options, sizes []int64, objects []Object) (*Job,
	error) {
	w, err := wayOf(way)
	if err != nil {
		return nil, err
	}
	with := Plain{Threads: o.Threads, MemBudget: o.MemBudget, CheckpointEvery: o.CheckpointEvery,
		Objects: objects}
	if with.CheckpointEvery == "" {
		with.CheckpointEvery = defaultCheckpoint
	}
	o.Threads, o.MemBudget, o.CheckpointEvery, o.Model = 0, 0, "", ""
	parts, whole, err := w.Cut(o, n)
	if err != nil {
		return nil, err
	}
	return newJob(way, state, with, sizes, parts, whole)
}

// named are the names of files that hold wherever a process stands, and their sizes.
func named(files []string) (names []string, sizes []int64, err error) {
	for _, name := range files {
		info, err := os.Stat(name)
		if err == nil {
			name, err = filepath.Abs(name)
		}
		if err != nil {
			return nil, nil, err
		}
		names, sizes = append(names, name), append(sizes, info.Size())
	}
	return names, sizes, nil
}

// newJob makes the pieces of what parts do, and of what joins them, over files of such sizes.
func newJob(way, state string, with Plain, sizes []int64, parts []any, whole any) (*Job, error) {
	state, err := stateOf(state)
	if err != nil {
		return nil, err
	}
	piece := func(number int, do any, of ...string) (Piece, error) {
		text, err := json.Marshal(do)
		if err != nil {
			return Piece{}, err
		}
		with, err := json.Marshal(with)
		if err != nil {
			return Piece{}, err
		}
		p := Piece{Way: way, State: state, Number: number, Parts: len(parts), Do: text, With: with}
		p.Key, err = keyOf(p, sizes, of)
		return p, err
	}
	j := &Job{}
	var keys []string
	for i, do := range parts {
		p, err := piece(i+1, do)
		if err != nil {
			return nil, err
		}
		j.Parts, keys = append(j.Parts, p), append(keys, p.Key)
	}
	j.Whole, err = piece(0, whole, keys...)
	return j, err
}

// stateOf is the name of the state that holds everywhere. A folder is there then.
func stateOf(name string) (string, error) {
	if inBucket(name) {
		if at := strings.IndexAny(name, `*?[]\#%`); at >= 0 {
			return "", &command.Failure{Code: 2, Text: fmt.Sprintf("%s: a %q in it", name,
				name[at]), Next: "Name the state without: it would stand for other names."}
		}
		return strings.TrimRight(name, "/"), nil
	}
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return name, os.MkdirAll(name, 0o777)
}

// keyOf is the name of the piece's folder: of all that decides what comes of it. Of files these are
// their names and sizes; that their examples are the same is looked at when parts go on and when
// they are joined.
func keyOf(p Piece, sizes []int64, of []string) (string, error) {
	text, err := json.Marshal(struct {
		Version int
		Way     string
		Number  int
		Parts   int
		Do      json.RawMessage
		Sizes   []int64
		Of      []string
	}{1, p.Way, p.Number, p.Parts, p.Do, sizes, of})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	name := "whole"
	if p.Number > 0 {
		name = fmt.Sprintf("part-%d-of-%d", p.Number, p.Parts)
	}
	return name + "-" + hex.EncodeToString(sum[:8]), nil
}

// Learn does a part, unless it was done before. Errors are a command.Failure.
func Learn(ctx context.Context, p Piece) (Done, error) {
	w, err := wayOf(p.Way)
	if err != nil {
		return Done{}, p.failure(err)
	}
	var with Plain
	if err := json.Unmarshal(p.With, &with); err != nil {
		return Done{}, p.failure(err)
	}
	d, err := p.once(w.Begun, func(dir string) error { return w.Learn(ctx, p.Do, with, dir) })
	if err != nil {
		return Done{}, p.failure(err)
	}
	return d, nil
}

// Join makes the whole of parts that are done, in any order, unless it was made before. Errors
// are a command.Failure.
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

// failure names the piece in an error.
func (p *Piece) failure(err error) error {
	f := command.Explain(p.String(), err)
	if p.shown != nil {
		f.Text, f.Next = p.shown.Replace(f.Text), p.shown.Replace(f.Next)
	}
	return f
}

// String names it for people.
func (p *Piece) String() string {
	if p.Number == 0 {
		return fmt.Sprintf("joining %d parts", p.Parts)
	}
	return fmt.Sprintf("part %d/%d", p.Number, p.Parts)
}

// Write puts the model of the whole, which is done, in its place, and returns what is said of it.
func (j *Job) Write(d Done, to string) (*command.Merged, error) {
	m := &command.Merged{}
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
	for _, p := range append(j.Parts, j.Whole) {
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
