package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/vecmath"
)

// ShardWay is a way to take learning apart: the arguments of its runs.
type ShardWay struct {
	Name string // of its results
	Plan []string
	// Part is the run of a worker.
	Part func(p ShardPart) []string
	// Join is the run that makes one model of the parts.
	Join func(model string, parts, traces []string, file string) []string
	// Same: that model is the one that a single part has learned, to the byte.
	Same bool
	// Classes: examples are of several classes.
	Classes bool
	// Most is the most parts; 0: as many as the plan has.
	Most int
}

// ShardPart is what a worker learns: part K of N, from 1; of one part everything.
type ShardPart struct {
	K, N               int
	Model, Trace, File string
}

// Shards has a program, which is the halfspace command, learn in 1, 2, 4, ... parts, one after
// another in child processes of one thread, and join them: what so many machines would take is the
// CPU time of the slowest part and that of the join. Beside it, in turn, stands what the program's
// plan expects. With a data folder on Adult (a9a), else on generated data of its shape, as often as
// makes the start of a process little; ways of Classes take the number of an example's first
// feature for its class. It is an error if a joined model is another one than one machine's of a
// way that says Same.
func Shards(ctx context.Context, program string, ways []ShardWay, dataDir string,
	o Options) ([]Result, error) {
	_, text, err := sparseText(dataDir, "a9a.gz", 14, 123)
	if err != nil {
		return nil, err
	}
	return ShardsOf(ctx, program, ways, bytes.Repeat(text, commandCopies), o)
}

// ShardsOf is Shards on svmlight text.
func ShardsOf(ctx context.Context, program string, ways []ShardWay, text []byte,
	o Options) ([]Result, error) {
	dir, err := os.MkdirTemp("", "halfspace-shards")
	if err != nil {
		return nil, fmt.Errorf("bench: shards: %w", err)
	}
	defer os.RemoveAll(dir)
	s := &sharding{runs: runs{ctx: ctx, program: program, dir: dir},
		examples: float64(bytes.Count(text, []byte("\n")))}
	two, many := filepath.Join(dir, "data"), filepath.Join(dir, "classes")
	for name, text := range map[string][]byte{two: text, many: byFirstFeature(text)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return nil, fmt.Errorf("bench: shards: %w", err)
		}
	}
	var out []Result
	for _, s.way = range ways {
		if s.file = two; s.way.Classes {
			s.file = many
		}
		results, err := s.measure(o.withDefaults().Rounds)
		if err != nil {
			return out, fmt.Errorf("bench: shards: %s: %w", s.way.Name, err)
		}
		out = append(out, results...)
	}
	return out, nil
}

// byFirstFeature gives each line of svmlight text the number of its first feature as its label.
func byFirstFeature(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		_, features, _ := bytes.Cut(line, []byte(" "))
		label, _, ok := bytes.Cut(features, []byte(":"))
		if !ok {
			label = []byte("0")
		}
		out = append(append(append(out, label...), ' '), features...)
	}
	return out
}

// sharding are runs over one file.
type sharding struct {
	runs
	way      ShardWay
	file     string
	examples float64
}

// divided is what so many parts took, in seconds of CPU time.
type divided struct {
	slowest, join time.Duration
	wall          time.Duration
	sent          int64 // bytes of the longest trace, or the largest model
	peak          int64 // memory of the join
}

// planned is what counts of a plan's JSON.
type planned struct {
	Divisions []division `json:"divisions"`
}

type division struct {
	Workers int     `json:"workers"`
	Each    float64 `json:"each_ns"`
}

// measure measures a way in all numbers of parts.
func (s *sharding) measure(rounds int) ([]Result, error) {
	var all [][]Round // of each number of parts
	var last []divided
	var workers []int
	for range rounds {
		var said bytes.Buffer
		if err := s.startTo(&said, 1, append(slices.Clone(s.way.Plan), s.file)...); err != nil {
			return nil, err
		}
		var p planned
		if err := json.Unmarshal(said.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		if most := s.way.Most; most > 0 {
			p.Divisions = slices.DeleteFunc(p.Divisions, func(d division) bool {
				return d.Workers > most
			})
		}
		if all == nil {
			all, last = make([][]Round, len(p.Divisions)), make([]divided, len(p.Divisions))
		}
		var whole [sha256.Size]byte
		workers = workers[:0]
		for i, d := range p.Divisions {
			took, sum, err := s.divide(d.Workers)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				whole = sum
			} else if s.way.Same && sum != whole {
				return nil, fmt.Errorf("%d parts are joined to another model than one's", d.Workers)
			}
			last[i], workers = took, append(workers, d.Workers)
			ns := float64(took.slowest+took.join) / s.examples
			all[i] = append(all[i], Round{
				Ours: Timing{Ops: 1, Value: ns, CPU: ns, Wall: float64(took.wall) / s.examples},
				Peer: &Timing{Ops: 1, Value: d.Each, CPU: d.Each, Wall: d.Each}})
		}
	}
	var out []Result
	for i, rounds := range all {
		r := OfRounds(fmt.Sprintf("shards/%s/workers=%d", s.way.Name, workers[i]), "ns/example",
			"plan", vecmath.Active().String(), rounds)
		if d := last[i]; d.join > 0 {
			r.Note = fmt.Sprintf("in the last round %.0f the slowest part, %.0f the join, which "+
				"had %.3g MB; ", float64(d.slowest)/s.examples, float64(d.join)/s.examples,
				float64(d.peak)/1e6)
			if s.way.Same {
				r.Note += fmt.Sprintf("%.2g bytes a worker and example; one model",
					float64(d.sent)/s.examples)
			} else {
				r.Note += fmt.Sprintf("%.3g kB a worker", float64(d.sent)/1e3)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// divide learns all parts, joins them and returns the model's sum.
func (s *sharding) divide(n int) (d divided, sum [sha256.Size]byte, err error) {
	begun := WallTime()
	model := filepath.Join(s.dir, "model")
	var parts, traces []string
	for k := range n {
		p := ShardPart{K: k + 1, N: n, Model: model, File: s.file}
		if n > 1 {
			p.Model = filepath.Join(s.dir, fmt.Sprintf("part-%d", k))
			p.Trace = p.Model + ".trace"
		}
		took, err := s.timed(s.way.Part(p))
		if err != nil {
			return d, sum, err
		}
		d.slowest = max(d.slowest, took)
		parts, traces = append(parts, p.Model), append(traces, p.Trace)
	}
	if n == 1 {
		d.wall = WallTime() - begun
	} else {
		sent := parts
		if s.way.Same {
			sent = traces
		}
		for _, name := range sent {
			st, err := os.Stat(name)
			if err != nil {
				return d, sum, err
			}
			d.sent = max(d.sent, st.Size())
		}
		s.peak = 0
		if d.join, err = s.timed(s.way.Join(model, parts, traces, s.file)); err != nil {
			return d, sum, err
		}
		d.peak, d.wall = s.peak, WallTime()-begun
	}
	if !s.way.Same {
		return d, sum, nil
	}
	data, err := os.ReadFile(model)
	return d, sha256.Sum256(data), err
}

// timed runs the program and returns its CPU time.
func (s *sharding) timed(args []string) (time.Duration, error) {
	before := s.children
	err := s.start(1, args...)
	return s.children - before, err
}
