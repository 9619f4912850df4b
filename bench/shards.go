package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/halfspace-ml/halfspace/vecmath"
)

// ShardLines write the arguments of runs of parts of an ensemble: obpm of so many members, with tau
// 0.05.
type ShardLines struct {
	Plan func(members int, file string) []string // prints its JSON
	// Part learns one; part is "" for the whole, which has no trace.
	Part func(members int, part, model, trace, file string) []string
	Join func(model string, parts, traces []string, file string) []string
}

// Shards has a program, which is the halfspace command, learn ensembles in 1, 2, 4, ... parts, one
// after another in child processes of one thread, and join them: what so many machines would take
// is the CPU time of the slowest part and that of the join. Beside it, in turn, stands what the
// program's plan expects. With a data folder on Adult (a9a), else on generated data of its shape,
// as often as makes the start of a process little. It is an error if a joined model is another one
// than one machine's.
func Shards(ctx context.Context, program string, lines ShardLines, dataDir string,
	o Options) ([]Result, error) {
	_, text, err := sparseText(dataDir, "a9a.gz", 14, 123)
	if err != nil {
		return nil, err
	}
	return ShardsOf(ctx, program, lines, bytes.Repeat(text, commandCopies), []int{256, 4096}, o)
}

// ShardsOf is Shards of ensembles of such sizes, on svmlight text.
func ShardsOf(ctx context.Context, program string, lines ShardLines, text []byte, sizes []int,
	o Options) ([]Result, error) {
	dir, err := os.MkdirTemp("", "halfspace-shards")
	if err != nil {
		return nil, fmt.Errorf("bench: shards: %w", err)
	}
	defer os.RemoveAll(dir)
	s := &sharding{runs: runs{ctx: ctx, program: program, dir: dir}, lines: lines,
		file: filepath.Join(dir, "data"), examples: float64(bytes.Count(text, []byte("\n")))}
	if err := os.WriteFile(s.file, text, 0o600); err != nil {
		return nil, fmt.Errorf("bench: shards: %w", err)
	}
	var out []Result
	for _, members := range sizes {
		results, err := s.measure(members, o.withDefaults().Rounds)
		if err != nil {
			return out, fmt.Errorf("bench: shards: %d members: %w", members, err)
		}
		out = append(out, results...)
	}
	return out, nil
}

// sharding are runs over one file.
type sharding struct {
	runs
	lines    ShardLines
	file     string
	examples float64
}

// divided is what an ensemble in so many parts took, in seconds of CPU time.
type divided struct {
	slowest, join time.Duration
	wall          time.Duration
	sent          int64 // bytes of the longest trace
	peak          int64 // memory of the join
}

// planned is what counts of a plan's JSON.
type planned struct {
	Divisions []struct {
		Workers int     `json:"workers"`
		Each    float64 `json:"each_ns"`
	} `json:"divisions"`
}

// measure measures an ensemble of so many members in all numbers of parts.
func (s *sharding) measure(members, rounds int) ([]Result, error) {
	var all [][]Round // of each number of parts
	var last []divided
	var workers []int
	for range rounds {
		var said bytes.Buffer
		if err := s.startTo(&said, 1, s.lines.Plan(members, s.file)...); err != nil {
			return nil, err
		}
		var p planned
		if err := json.Unmarshal(said.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		if all == nil {
			all, last = make([][]Round, len(p.Divisions)), make([]divided, len(p.Divisions))
		}
		var whole [sha256.Size]byte
		workers = workers[:0]
		for i, d := range p.Divisions {
			took, sum, err := s.divide(members, d.Workers)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				whole = sum
			} else if sum != whole {
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
		r := OfRounds(fmt.Sprintf("shards/N=%d/workers=%d", members, workers[i]), "ns/example",
			"plan", vecmath.Active().String(), rounds)
		if d := last[i]; d.join > 0 {
			r.Note = fmt.Sprintf("in the last round %.0f the slowest part, %.0f the join, which "+
				"had %.3g MB; %.2g bytes a worker and example; one model",
				float64(d.slowest)/s.examples, float64(d.join)/s.examples, float64(d.peak)/1e6,
				float64(d.sent)/s.examples)
		}
		out = append(out, r)
	}
	return out, nil
}

// divide learns all parts, joins them and returns the model's sum.
func (s *sharding) divide(members, n int) (d divided, sum [sha256.Size]byte, err error) {
	begun := WallTime()
	model := filepath.Join(s.dir, "model")
	if n == 1 {
		d.slowest, err = s.timed(s.lines.Part(members, "", model, "", s.file))
	} else {
		var parts, traces []string
		for k := range n {
			part := filepath.Join(s.dir, fmt.Sprintf("part-%d", k))
			trace := part + ".trace"
			took, err := s.timed(s.lines.Part(members, fmt.Sprintf("%d/%d", k+1, n), part, trace,
				s.file))
			if err != nil {
				return d, sum, err
			}
			st, err := os.Stat(trace)
			if err != nil {
				return d, sum, err
			}
			d.slowest, d.sent = max(d.slowest, took), max(d.sent, st.Size())
			parts, traces = append(parts, part), append(traces, trace)
		}
		s.peak = 0
		d.join, err = s.timed(s.lines.Join(model, parts, traces, s.file))
		d.peak = s.peak
	}
	if err != nil {
		return d, sum, err
	}
	d.wall = WallTime() - begun
	data, err := os.ReadFile(model)
	return d, sha256.Sum256(data), err
}

// timed runs the program and returns its CPU time.
func (s *sharding) timed(args []string) (time.Duration, error) {
	before := s.children
	err := s.start(1, args...)
	return s.children - before, err
}
