package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Job is work in numbered parts that may run in any order and at the same time: each writes to
// places of its own. A pointer to a struct kept by the caller makes a Job without an allocation.
type Job interface{ Part(i int) }

// Pool is a set of goroutines that run the parts of a [Job]. It starts each when it first has work
// for it and ends them in Close. After a Run they look out for the next one for a moment
// (stayAwake), giving way to other goroutines, then park on a channel and cost nothing. A nil *Pool
// is valid and runs everything on the caller.
//
// Which goroutine runs which part is a matter of timing, so a result must not depend on it: cut the
// work by its size, let part i write to place i, and combine the places in order.
//
// All methods are safe for concurrent use.
type Pool struct {
	workers int             // the caller included
	wake    []chan struct{} // of the other workers; nil: not started. See start
	ended   sync.WaitGroup
	insists bool // see Insist

	mark func(part int) // see Mark; nil: none

	busy   sync.Mutex // locked by the Run that has the workers
	closed bool       // guarded by busy

	// The present Run. Written while the gate is shut and no worker is inside, read inside.
	ctx  context.Context
	job  Job
	n    int
	done chan struct{} // capacity 1: the last worker to leave a shut gate sends

	shares  []share // one a worker, the caller's first
	sharing int     // how many of them the parts of this Run are dealt out to

	// every entry moves the gate: keep it off the lines that are only read
	_    [128]byte
	gate atomic.Int64 // workers inside, plus gateShut while none may enter
	_    [128]byte

	failed  atomic.Pointer[panicError] // the first panic of a part
	stopped atomic.Bool                // a part was dropped because ctx was done
	over    atomic.Bool                // no further part starts
}

// share is a worker's own parts, neighbours: those that it goes through before it takes others'.
// So the same worker has the same parts in one Run after another, and what they work on, such as
// the weights of some members, stays in its caches: to fetch what another core has written takes
// several times as long as to have it.
type share struct {
	next atomic.Int64 // the next part to hand out
	_    [120]byte
}

// gateShut keeps the count of workers inside negative, however many there are.
const gateShut = math.MinInt64 / 2

// minShareNS is the work in ns for which another worker is woken by [Pool.Spread]: several times
// what it costs the caller to hand work over, and to wait until all is done.
//
// Measured on an AMD EPYC (Zen 4, 2 vCPUs, with ten busy processes beside), 2026-11-22, for work of
// 0.5 to 11 us: 0.1 us for a worker that is awake, as in BenchmarkRun, 0.6 to 0.9 us for one that
// is parked, so that its thread has to be woken. Those are seldom, as a worker stays awake after it
// (stayAwake), and one that comes too late is not waited for.
const minShareNS = 5_000

// stayAwake is how long a worker looks out for another Run before it parks. Learning makes one Run
// after another with some ten µs between them, and to wake a parked thread took 0.17 ms on the
// median (0.13 to 0.22) on a virtual machine whose idle processors are halted, 2 µs on another.
// OBPM on dense data (784 features, N=100, tau=.3), one thread's time over two threads': 1.2 with
// 0.1 ms, 1.5 with 0.3 ms, 1.7 with 1 ms. AMD EPYC (Zen 3, 2 vCPUs), 2026-11-21.
const stayAwake = time.Millisecond

// joinAwake is how long the caller of Run looks out for the last part to end before it parks:
// several pieces of work that are cut to be worth handing over.
const joinAwake = 50 * time.Microsecond

// errGoexit is the Value of the [panicError] that Run raises when a part on a worker called
// [runtime.Goexit] (as t.FailNow does).
var errGoexit = errors.New("a part called runtime.Goexit")

// panicError is what [Pool.Run] panics with when a part has panicked.
type panicError struct {
	Value any    // what the part panicked with
	Stack []byte // of the goroutine that ran the part, at the panic
}

// Error gives the value and the stack, since the part's stack isn't in the caller's trace.
func (e *panicError) Error() string {
	return fmt.Sprintf("engine: a part panicked: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap returns Value if it is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// newPanicError keeps the innermost one when Runs are nested: its stack shows where the panic
// began.
func newPanicError(v any) *panicError {
	if e, ok := v.(*panicError); ok {
		return e
	}
	return &panicError{Value: v, Stack: debug.Stack()}
}

// NewPool returns a pool on which `workers` parts can run at once, the caller of Run among them: it
// has up to workers-1 goroutines. workers <= 0 means GOMAXPROCS. Close it when it is no longer
// needed.
func NewPool(workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{workers: workers, done: make(chan struct{}, 1)}
	p.gate.Store(gateShut)
	p.wake, p.shares = make([]chan struct{}, workers-1), make([]share, workers)
	return p
}

// Close waits for the Run that has the workers, then ends them and waits until they are gone. A
// second Close does nothing. Not to be called from a part.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.busy.Lock()
	defer p.busy.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	for _, wake := range p.wake {
		if wake != nil {
			close(wake)
		}
	}
	p.ended.Wait()
}

// Mark has mark called by whoever runs part i of a Job, before it, and with -1 when there are none
// left for it, so that profiles can say which part a sample is of. A Run on the caller alone calls
// nothing. nil ends it. It must not be called during a Run; mark must be safe for concurrent use.
func (p *Pool) Mark(mark func(part int)) {
	if p != nil {
		p.busy.Lock()
		p.mark = mark
		p.busy.Unlock()
	}
}

// Workers returns how many parts can run at once, the caller included; 1 for a nil pool.
func (p *Pool) Workers() int {
	if p == nil {
		return 1
	}
	return p.workers
}

// Insist has all work go to the workers, however little it is, as tests want that compare several
// threads with one. It must not be called while the pool is in use.
func (p *Pool) Insist() { p.insists = true }

// Worth reports whether work that takes one core about totalNS nanoseconds gets done earlier by
// Spread than by a plain loop: whether there is enough for two. It looks at sizes only, and the
// answer may change the time taken but nothing else: callers get the same bits either way.
func (p *Pool) Worth(totalNS int) bool {
	return p.Workers() > 1 && (totalNS >= 2*minShareNS || p.insists)
}

// Spread is Run for work that takes one core about totalNS nanoseconds in all: on as many workers
// as that keeps busy for longer than it takes to wake them, and on the caller alone if it is not
// [Pool.Worth] it.
func (p *Pool) Spread(ctx context.Context, totalNS, n int, j Job) error {
	if p.Worth(totalNS) {
		return p.run(ctx, totalNS/minShareNS, n, j)
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		j.Part(i)
	}
	return nil
}

// Run calls j.Part(0), ..., j.Part(n-1), each once, and returns when all have returned. Each worker
// begins with neighbours of its own, in ascending order, the caller with part 0, and whoever is
// free takes those of others. It allocates nothing, but for the goroutines that it starts.
//
// When ctx is done, no further part starts, those under way are waited for, and Run returns
// ctx.Err(). It returns nil if and only if all parts have run.
//
// When a part panics, no further part starts, those under way are waited for, and Run panics with a
// *[panicError] that holds the first panic's value and stack. The pool can be used again.
//
// A Run that finds the workers taken, by another goroutine's Run or by the one whose part it is
// called from, works on the caller alone, and so does a Run on a nil or closed pool: nothing ever
// waits for workers.
func (p *Pool) Run(ctx context.Context, n int, j Job) error {
	return p.run(ctx, n, n, j)
}

// run is Run on at most that many workers, the caller included.
func (p *Pool) run(ctx context.Context, workers, n int, j Job) error {
	if p.Workers() == 1 || n <= 1 && !p.insists || !p.busy.TryLock() {
		return serial(ctx, n, j)
	}
	defer p.busy.Unlock()
	if p.closed {
		return serial(ctx, n, j)
	}
	if p.insists {
		workers = n
	}
	p.ctx, p.job, p.n = ctx, j, n
	p.failed.Store(nil)
	p.stopped.Store(false)
	p.over.Store(false)
	p.sharing = max(min(workers, n, p.workers), 1)
	for k := range p.sharing {
		p.shares[k].next.Store(int64(k * n / p.sharing))
	}
	p.gate.Store(0)
	for k := 1; k < p.sharing; k++ {
		wake := p.wake[k-1]
		if wake == nil { // short runs need no goroutine but the caller's
			// capacity 1: a token that is already there serves as well
			wake = make(chan struct{}, 1)
			p.wake[k-1] = wake
			p.start(k)
		}
		select {
		case wake <- struct{}{}:
		default: // it has yet to see its last token, and will find this Run
		}
	}
	p.work()
	if e := p.failed.Load(); e != nil {
		panic(e)
	}
	if p.stopped.Load() {
		return ctx.Err()
	}
	return nil
}

// work is the caller's share of a Run, with the join at its end, which is deferred so that Goexit
// in a part joins too.
func (p *Pool) work() {
	normal := false
	defer func() {
		if !normal {
			p.over.Store(true)
			if v := recover(); v != nil {
				p.failed.CompareAndSwap(nil, newPanicError(v))
			}
		}
		// Workers that have not come in by now find the gate shut and park again: Run does not wait
		// for a worker that is late.
		if p.gate.Add(gateShut) != gateShut {
			p.join()
		}
		p.ctx, p.job = nil, nil // the garbage collector may have them
	}()
	p.parts(0)
	normal = true
}

// join waits for the last worker inside, awake for a moment: a goroutine that parks is made ready
// by the worker's processor and goes on there, far from what it has in its caches.
func (p *Pool) join() {
	for since := time.Now(); len(p.done) == 0 && time.Since(since) < joinAwake; {
		for i := 0; i < 64 && len(p.done) == 0; i++ {
		}
	}
	<-p.done
}

// parts runs parts until there are none left: those of share k, then those of the others.
func (p *Pool) parts(k int) {
	if p.mark != nil {
		defer p.mark(-1)
	}
	for turn := range p.sharing {
		s := (k + turn) % p.sharing
		next, end := &p.shares[s].next, int64((s+1)*p.n/p.sharing)
		for next.Load() < end { // looked at before it is moved: others' lines stay theirs
			i := next.Add(1) - 1
			if i >= end || p.over.Load() {
				break
			}
			if p.ctx.Err() != nil {
				p.over.Store(true)
				p.stopped.Store(true)
				return
			}
			if p.mark != nil {
				p.mark(int(i))
			}
			p.job.Part(int(i))
		}
	}
}

// start starts the goroutine of worker k; the caller is 0.
func (p *Pool) start(k int) {
	p.ended.Add(1)
	go func() {
		defer p.ended.Done()
		for await(p.wake[k-1]) {
			p.enter(k)
		}
	}()
}

// await waits for a token, awake at first. It returns false when the pool is closed.
func await(wake chan struct{}) bool {
	for since := time.Now(); time.Since(since) < stayAwake; {
		select {
		case _, open := <-wake:
			return open
		default:
			runtime.Gosched()
		}
	}
	_, open := <-wake
	return open
}

// enter is worker k's share of a Run, if the gate is still open.
func (p *Pool) enter(k int) {
	for {
		v := p.gate.Load()
		if v < 0 {
			return
		}
		if p.gate.CompareAndSwap(v, v+1) {
			break
		}
	}
	normal := false
	defer func() {
		if !normal {
			p.over.Store(true)
			v := recover()
			if v == nil { // Goexit: this goroutine ends, another takes its place
				v = errGoexit
				p.start(k)
			}
			p.failed.CompareAndSwap(nil, newPanicError(v))
		}
		if p.gate.Add(-1) == gateShut {
			p.done <- struct{}{}
		}
	}()
	p.parts(k)
	normal = true
}

// serial is Run on the caller alone.
func serial(ctx context.Context, n int, j Job) error {
	defer func() {
		if v := recover(); v != nil {
			panic(newPanicError(v))
		}
	}()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		j.Part(i)
	}
	return nil
}
