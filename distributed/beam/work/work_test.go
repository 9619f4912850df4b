package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/internal/shard"
	_ "github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/training"
)

func TestMain(m *testing.M) {
	Explain = command.Explain
	goleak.VerifyTestMain(m)
}

// rows writes n examples of a noisy halfspace to a file.
func rows(t *testing.T, name string, n int, seed uint64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range n {
		label, side := "+1", 0
		if r.IntN(2) == 0 {
			label, side = "-1", 5
		}
		b.WriteString(label)
		for j := range 20 {
			if r.IntN(20) < 3+(j+side)%10/3 {
				fmt.Fprintf(&b, " %d:1", j+1)
			}
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// options are a run of obpm over file, in parts that are saved often.
func options(t *testing.T, file string) training.Options {
	t.Helper()
	o := training.Options{Learner: "obpm", Files: []string{file}, CheckpointEvery: "200",
		Threads: 1, Epochs: 3, Shuffle: true,
		Settings: map[string]any{"members": 300, "tau": 0.1}}
	e, c, err := o.Entry()
	if err != nil {
		t.Fatal(err)
	}
	o.Learner, o.Config, o.Literal, o.Settings = e.Name, c, true, nil
	return o
}

// whole learns all parts that are not done, round by round, joins them and returns the model.
func whole(t *testing.T, j *Job) []byte {
	t.Helper()
	var d Done
	for _, r := range j.Rounds() {
		var done []Done
		loads := r.Loads()
		for i := range loads { // in any order
			l, err := DecodeLoad(loads[len(loads)-1-i].Encode())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range l.Pieces {
				done = append(done, learn(t, p))
			}
		}
		var err error
		if d, err = Join(t.Context(), r.Whole, append(done, done[0])); err != nil { // some twice
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "model")
	m, err := j.Write(d, to)
	if err != nil {
		t.Fatal(err)
	}
	if m.Model != to || m.Presented == 0 || m.Updates == 0 || m.Shards == 0 && m.Errors == 0 {
		t.Errorf("it is said %+v", m)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// learn learns a part, which has been sent.
func learn(t *testing.T, p Piece) Done {
	t.Helper()
	p, err := DecodePiece(p.Encode())
	if err != nil {
		t.Fatal(err)
	}
	d, err := Learn(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = DecodeDone(d.Encode()); err != nil {
		t.Fatal(err)
	}
	return d
}

func cut(t *testing.T, state string, n int, o training.Options) *Job {
	t.Helper()
	j, err := Cut(shard.Cut{Way: "members", Workers: n, State: state}, o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// begin learns a part until it was saved, and stops.
func begin(t *testing.T, p Piece) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			dirs, _ := filepath.Glob(filepath.Join(p.folder()+tryMark+"*", ModelFile))
			if len(dirs) > 0 {
				cancel()
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	var f *shard.Failure
	if _, err := Learn(ctx, p); !errors.As(err, &f) || f.Code != 130 {
		t.Fatalf("%v was not stopped: %v", &p, err)
	}
	dirs, _ := filepath.Glob(p.folder() + tryMark + "*")
	if len(dirs) != 1 {
		t.Fatalf("tries: %v", dirs)
	}
	return dirs[0]
}

// TestOnce: what was begun is gone on with, what is done is taken, and any number may be at one
// part at a time; the model is that of one process.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	file := rows(t, filepath.Join(dir, "rows"), 3000, 1)
	o := options(t, file)
	one := o
	one.Model = filepath.Join(dir, "one")
	if _, err := training.Run(t.Context(), one, training.Env{}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(one.Model)
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(dir, "state")
	j := cut(t, state, 3, o)
	for _, p := range j.Parts {
		begin(t, p)
	}
	if !bytes.Equal(whole(t, j), want) {
		t.Error("another model")
	}
	if !bytes.Equal(whole(t, cut(t, state, 3, o)), want) {
		t.Error("another model of parts that were done")
	}
	log, err := os.ReadFile(filepath.Join(state, logFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(log, []byte(" done\n")); n != 4 {
		t.Errorf("%d pieces were done, want 4\n%s", n, log)
	}
	if bytes.Count(log, []byte("begun behind 0 ")) != 3+1 ||
		bytes.Count(log, []byte("begun")) != 7 {
		t.Errorf("parts were not gone on with\n%s", log)
	}

	// all at once
	state = filepath.Join(dir, "crowd")
	j = cut(t, state, 2, o)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			var done []Done
			for _, p := range j.Parts {
				d, err := Learn(t.Context(), p)
				if err != nil {
					t.Error(err)
				}
				done = append(done, d)
			}
			if _, err := Join(t.Context(), j.Whole, done); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if !bytes.Equal(whole(t, j), want) {
		t.Error("another model")
	}
	if left, _ := filepath.Glob(filepath.Join(state, "*"+tryMark+"*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if other := cut(t, state, 2, options(t, rows(t, filepath.Join(dir, "more"), 3001, 1))); other.
		Parts[0].Key == j.Parts[0].Key {
		t.Error("other examples have the same name")
	}
}

// TestBroken: what was cut off, is gone, or is of other examples is an error that names the part,
// the file, and what to do; nothing is written.
func TestBroken(t *testing.T) {
	truncate := func(name string, n int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, name), n); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		begun  bool // it is of a part that is begun; else of one that is done
		do     func(t *testing.T, dir string)
		code   int
		want   string
		next   string
		whole  bool // found by what joins
		change bool // of the examples, after it
	}{
		{"model", true, truncate(ModelFile, 1000), 4, "/" + ModelFile + ": ", "rm -r ", false,
			false},
		{"empty", true, truncate(ModelFile, 0), 4, "/" + ModelFile + ": ", "rm -r ", false, false},
		{"trace", true, truncate(traceFile+openEnd, 40), 4, traceFile + openEnd, "rm -r ", false,
			false},
		{"examples", true, nil, 3, "/" + ModelFile + ": the examples are not those",
			"/rows (", false, true},
		{"done model", false, truncate(ModelFile, 1000), 4, "/" + ModelFile + ": ", "rm -r ", true,
			false},
		{"done trace", false, truncate(traceFile, 1000), 4, "/" + traceFile + ": ", "rm -r ", true,
			false},
		{"done", false, truncate(doneFile, 10), 4, doneFile, "rm -r ", false, false},
		{"done examples", false, nil, 3, "", "The examples have changed", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := rows(t, filepath.Join(dir, "rows"), 1500, 1)
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := options(t, file)
			if c.name == "done examples" {
				o.Epochs, o.Shuffle = 1, false
			}
			j := cut(t, filepath.Join(dir, "state"), 2, o)
			p := j.Parts[1]
			broken := p.folder()
			var done []Done
			if c.begun {
				broken = begin(t, p)
			} else {
				done = append(done, learn(t, p))
			}
			if c.do != nil {
				c.do(t, broken)
			}
			if c.change { // of the same length
				i := bytes.LastIndex(before, []byte(":1"))
				changed := bytes.Clone(before)
				changed[bytes.LastIndexByte(before[:i], '\n')+1] ^= '+' ^ '-'
				if err := os.WriteFile(file, changed, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.whole {
				done = append(done, learn(t, j.Parts[0]))
				_, err = Join(t.Context(), j.Whole, done)
			} else {
				_, err = Learn(t.Context(), p)
			}
			f := (*shard.Failure)(nil)
			if !errors.As(err, &f) {
				t.Fatalf("no error: %v", err)
			}
			where := "part 2/2: "
			if c.whole {
				where = "joining 2 parts: "
			}
			if f.Code != c.code || !strings.HasPrefix(f.Text, where) ||
				!strings.Contains(f.Text, c.want) || !strings.Contains(f.Next, c.next) {
				t.Errorf("%d %s\n%s\nwant %d, %q and %q", f.Code, f.Text, f.Next, c.code, c.want,
					c.next)
			}
			if d, err := j.Whole.taken(); d != nil || err != nil {
				t.Errorf("there is a whole: %v %v", d, err)
			}
			// as it says
			if c.change {
				err = os.WriteFile(file, before, 0o600)
			} else {
				err = os.RemoveAll(broken)
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.change && c.whole { // it was learned of the others
				if err := os.RemoveAll(j.Parts[0].folder()); err != nil {
					t.Fatal(err)
				}
			}
			whole(t, j)
		})
	}
}

// TestRounds: rounds of mixing that are stopped anywhere end with the model of one process, for any
// number of workers, and more rounds go on behind those that are done.
func TestRounds(t *testing.T) {
	dir := t.TempDir()
	file := rows(t, filepath.Join(dir, "rows"), 1500, 1)
	o := options(t, file)
	mixed := func(rounds int) []byte {
		from := ""
		for round := range rounds {
			m := shard.Merging{Prior: from, Mix: shard.MixMistakes,
				Model: filepath.Join(dir, fmt.Sprint("mixed", round))}
			for k := range 3 {
				o := o
				if from != "" {
					o = shard.NextRound(o, from)
				}
				o.Rows = fmt.Sprintf("%d/3", k+1)
				o.Model = filepath.Join(dir, fmt.Sprint("shard", k))
				if _, err := training.Run(t.Context(), o, training.Env{}); err != nil {
					t.Fatal(err)
				}
				m.Models = append(m.Models, o.Model)
			}
			if _, err := shard.Merge(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			from = m.Model
		}
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	by := shard.Cut{Way: "rows", Workers: 2, State: filepath.Join(dir, "state"), Shards: 3,
		Mix: shard.MixMistakes, Rounds: 1}
	before := []Piece{}
	for _, by.Rounds = range []int{1, 2, 3} {
		j, err := Cut(by, o)
		if err != nil {
			t.Fatal(err)
		}
		_, pieces := j.all()
		if !reflect.DeepEqual(before, pieces[:len(before)]) {
			t.Errorf("%d rounds: others before", by.Rounds)
		}
		if before = pieces; len(j.Loads()) != min(3, by.Workers) {
			t.Errorf("%d workers: %d loads", by.Workers, len(j.Loads()))
		}
		for _, p := range j.Parts { // those before are done
			begin(t, p)
		}
		if by.Rounds == 3 {
			breakBefore(t, j)
		}
		if !bytes.Equal(whole(t, j), mixed(by.Rounds)) {
			t.Errorf("%d rounds: another model", by.Rounds)
		}
		by.Workers++
	}
	log, err := os.ReadFile(filepath.Join(by.State, logFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(log, []byte(" done\n")); n != 13 {
		t.Errorf("%d pieces were done, want 12 and the one that was broken again\n%s", n, log)
	}
}

// breakBefore: a part whose round before is gone, or damaged, says so.
func breakBefore(t *testing.T, j *Job) {
	t.Helper()
	dir := j.Before[len(j.Before)-1].Whole.folder()
	refused := func(what string) {
		t.Helper()
		f := (*shard.Failure)(nil)
		if _, err := Learn(t.Context(), j.Parts[0]); !errors.As(err, &f) || f.Code != 4 ||
			!strings.HasPrefix(f.Text, "part 1/3 of round 3: "+dir) ||
			!strings.Contains(f.Next, "rm -r "+dir) {
			t.Errorf("%s: %v", what, err)
		}
	}
	name := filepath.Join(dir, ModelFile)
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, data[:len(data)/2], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	refused("cut off")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	refused("gone") // and as it says it is joined again, with those parts
}

// FuzzDecode: whatever comes is an error, or what is written again as it came.
func FuzzDecode(f *testing.F) {
	p := Piece{Way: "members", State: "/state", Key: "part", Number: 2, Parts: 3, Round: 4,
		After: "whole", Do: []byte("{}"), With: []byte(`{"threads":1}`)}
	d := Done{Number: 2, Folder: "part", Files: []File{{"model", 1 << 40, "ab"}, {"trace", 0, ""}}}
	f.Add(p.Encode())
	f.Add(d.Encode())
	f.Add(Load{[]Piece{p, p}}.Encode())
	f.Add(p.Encode()[:20])
	f.Add([]byte("null {}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sameAgain(t, b, DecodePiece, Piece.Encode)
		sameAgain(t, b, DecodeLoad, Load.Encode)
		sameAgain(t, b, DecodeDone, Done.Encode)
	})
}

// sameAgain decodes what was sent, if it is one, and what is encoded of that.
func sameAgain[T any](t *testing.T, b []byte, decode func([]byte) (T, error),
	encode func(T) []byte) {
	t.Helper()
	v, err := decode(b)
	if err != nil {
		if !errors.Is(err, ErrEncoding) {
			t.Error(err)
		}
		return
	}
	again, err := decode(encode(v))
	if err != nil || !bytes.Equal(encode(again), encode(v)) {
		t.Errorf("%s and %s: %v", encode(v), encode(again), err)
	}
}

// TestChanged: examples that were written again, wherever that is in a file, are learned again; if
// they were meanwhile, it is an error, and nothing of it is taken.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	file := rows(t, filepath.Join(dir, "rows"), 3000, 1)
	o := options(t, file)
	o.Epochs, o.Shuffle = 1, false
	by := shard.Cut{Way: "rows", Workers: 1, State: filepath.Join(dir, "state"), Shards: 2,
		Mix: "uniform", Rounds: 1}
	s := &Buckets{}
	learnt := func() (*Job, []byte) {
		t.Helper()
		j, err := s.Cut(t.Context(), by, o)
		if err != nil {
			t.Fatal(err)
		}
		return j, whole(t, j)
	}
	j, before := learnt()
	if _, err := s.Taken(t.Context(), j); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	i := len(text)/4 + bytes.IndexByte(text[len(text)/4:], '\n') + 1
	text[i] ^= '+' ^ '-'
	then := j.files[0].Modified
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, then, then.Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	f := (*shard.Failure)(nil)
	if _, err := s.Taken(t.Context(), j); !errors.As(err, &f) || f.Code != 3 ||
		!strings.HasPrefix(f.Text, file+": it has changed") {
		t.Errorf("changed meanwhile: %v", err)
	}
	_, pieces := j.all()
	for _, p := range pieces {
		if d, err := p.taken(); d != nil || err != nil {
			t.Errorf("%v is there still: %v", &p, err)
		}
	}
	if _, after := learnt(); bytes.Equal(before, after) {
		t.Error("changed before: the same model")
	}
}

// TestStateWrong: what can't be the folder of state is refused before anything begins.
func TestStateWrong(t *testing.T) {
	dir := t.TempDir()
	o := options(t, rows(t, filepath.Join(dir, "rows"), 10, 1))
	f := (*shard.Failure)(nil)
	if _, err := Cut(shard.Cut{Way: "members", Workers: 2, State: filepath.Join(dir, "rows",
		"x")}, o); !errors.As(err, &f) || f.Code != 1 ||
		!strings.Contains(f.Next, "Name a folder") {
		t.Errorf("a file: %v", err)
	}
}
