package compare

import (
	"context"
	"fmt"
	"io"
	"runtime/pprof"
	"slices"
	"strconv"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// contest is one pass of entrants over the same examples. They learn block by block, each on one
// worker at a time with its own random samples, so nothing depends on the others. At a look, the
// worse are eliminated.
type contest struct {
	*board
	entrants []*entrant
	jobs     []*training.Job // of entrants that learn; nil: they are models
	readers  []reader        // one a precision, over the same examples
	alpha    float64         // of the looks; 0: none is eliminated
	env      *training.Env
	names    []string // of the entrants, for profiles; nil: their numbers
	watch    func(share float64, examples int64)

	marked []context.Context // of the entrants' work
	ctx    context.Context
	now    []int // entrants at work
}

func newContest(all []*entrant, jobs []*training.Job, score string, names []string,
	env *training.Env) *contest {
	k := &contest{board: newBoard(len(all), score, 0), entrants: all, jobs: jobs, names: names,
		env: env}
	var narrow, wide []*entrant
	for _, e := range all {
		if e.precision == "f64" {
			wide = append(wide, e)
		} else {
			narrow = append(narrow, e)
		}
	}
	if narrow != nil {
		k.readers = append(k.readers, newReading[float32](narrow, all[0].weights()))
	}
	if wide != nil {
		k.readers = append(k.readers, newReading[float64](wide, all[0].weights()))
	}
	return k
}

// judge has the entrants make their pass over the files. Its samples in profiles have the label
// stage: read, and judge but for what entrants do.
func (k *contest) judge(ctx context.Context, files []string, threads int) (err error) {
	training.Labelled(ctx, "stage", "read", func(ctx context.Context) { err = k.open(ctx, files) })
	if err != nil {
		return training.Unread(ctx, err)
	}
	for _, r := range k.readers {
		if err := r.begin(k.score); err != nil {
			return err
		}
		if k.jobs == nil {
			r.rewind(false, 0)
		} else {
			r.rewind(shuffled(k.jobs), k.jobs[0].Seed())
		}
	}
	pool, done := k.env.Workers(threads)
	defer done()
	training.Labelled(ctx, "stage", "judge", func(ctx context.Context) {
		k.mark(ctx)
		err = k.all(ctx, pool)
	})
	return err
}

// open opens the examples, of which close closes what is open. Those of entrants of both precisions
// are read into memory in float64, and rounded for those of float32. That is the value that reading
// in float32 gives, except for one in 2^29 numbers of more digits than a float64 has.
func (k *contest) open(ctx context.Context, files []string) error {
	inMemory := slices.ContainsFunc(k.jobs, (*training.Job).InMemory)
	if len(k.readers) == 1 {
		return k.readers[0].open(ctx, files, inMemory)
	}
	data, err := training.LoadAll[float64](ctx, files, unprepared(k.entrants[0].data))
	if err != nil {
		return err
	}
	rounded, err := roundedData(data)
	if err != nil {
		return err
	}
	narrow, wide := k.readers[0].(*reading[float32]), k.readers[1].(*reading[float64])
	if err := narrow.give(rounded, inMemory); err != nil {
		return err
	}
	return wide.give(data, inMemory)
}

func (k *contest) close() {
	for _, r := range k.readers {
		r.close()
	}
}

// Part is engine.Job's: an entrant learns the block that all others learn.
func (k *contest) Part(n int) {
	i := k.now[n]
	if k.marked != nil {
		pprof.SetGoroutineLabels(k.marked[i])
		defer pprof.SetGoroutineLabels(k.ctx)
	}
	k.entrants[i].worker.take(k.entrants[i], &k.records[i])
}

// mark makes the labels of all entrants' work, unless the caller owns the workers.
func (k *contest) mark(ctx context.Context) {
	if k.ctx = ctx; k.env.Pool != nil {
		return
	}
	stage, what := "learn", "setting"
	if k.jobs == nil {
		stage, what = "predict", "model"
	}
	for i, e := range k.entrants {
		name := e.name
		if e.job != nil {
			name = e.job.Learner()
		}
		k.marked = append(k.marked, pprof.WithLabels(ctx, pprof.Labels("stage", stage, what,
			nameOf(k.names, i), "learner", name)))
	}
}

// nameOf is the name of setting i, or of model i.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// all goes over the examples to their end.
func (k *contest) all(ctx context.Context, pool *engine.Pool) error {
	reading := pprof.WithLabels(ctx, pprof.Labels("stage", "read"))
	var seen, told int64
	look := nextLook(0)
	for {
		if err := ctx.Err(); err != nil {
			return stopped(seen)
		}
		pprof.SetGoroutineLabels(reading)
		n, err := k.next()
		pprof.SetGoroutineLabels(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return training.Unread(ctx, err)
		}
		for lo := 0; lo < n; {
			hi := min(n, lo+int(look-seen))
			for _, r := range k.readers {
				r.show(lo, hi)
			}
			k.now = k.alive
			if err := pool.Run(ctx, len(k.now), k); err != nil {
				for _, i := range k.now {
					k.records[i].cut(seen)
				}
				return stopped(seen)
			}
			if err := k.retire(seen); err != nil {
				return err
			}
			if seen += int64(hi - lo); seen == look {
				k.eliminate(k.alpha)
				look = nextLook(seen)
			}
			lo = hi
		}
		if seen >= told+1024 {
			told = seen
			k.watch(k.readers[0].share(seen), seen)
		}
	}
}

// next is the next of all readers, which have the same examples.
func (k *contest) next() (n int, err error) {
	for _, r := range k.readers {
		if n, err = r.next(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func stopped(examples int64) error {
	return fmt.Errorf("training: %w after %d examples", training.ErrStopped, examples)
}

// retire takes out entrants whose learning failed after n examples. It is an error if none is left.
func (k *contest) retire(n int64) error {
	for _, i := range k.now {
		if err := k.entrants[i].err; err != nil {
			if len(k.alive) == 1 {
				return err
			}
			k.records[i].cut(n)
			k.leave(i)
		}
	}
	return nil
}

// warn warns of labels that come in runs, by the count of an entrant that had all examples.
func (k *contest) warn() {
	e := k.entrants[k.alive[0]]
	for _, x := range e.count.Runs() {
		observer(k.env).Warn(training.Warning{Code: x.Code, Text: training.WarningText(x, ""),
			Config: e.job.Config()})
	}
}

// retireDiverged takes out entrants with weights that are not finite, and warns. It is an error if
// none is left.
func (k *contest) retireDiverged() error {
	for _, i := range k.alive {
		e := k.entrants[i]
		err := e.broken()
		if err == nil {
			continue
		}
		if len(k.alive) == 1 {
			return err
		}
		e.err = err
		k.leave(i)
		observer(k.env).Warn(training.Warning{Code: training.Diverged, Config: e.job.Config(),
			Text: nameOf(k.names, i) + " diverged: its weights are not finite numbers"})
	}
	return nil
}
