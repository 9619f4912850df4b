package engine

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain fails the package if a test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// partFunc is a Job for tests.
type partFunc func(i int)

func (f partFunc) Part(i int) { f(i) }

func newPool(t testing.TB, workers int) *Pool {
	p := NewPool(workers)
	t.Cleanup(p.Close)
	return p
}

func mustRun(t testing.TB, p *Pool, ctx context.Context, n int, j Job) {
	t.Helper()
	if err := p.Run(ctx, n, j); err != nil {
		t.Fatal(err)
	}
}

// count is a Job that counts how often each part ran.
type count struct{ runs []int32 }

func (c *count) Part(i int) { c.runs[i]++ }

// each fails unless every part of a count ran that often.
func (c *count) each(t testing.TB, want int32) {
	t.Helper()
	for i, n := range c.runs {
		if n != want {
			t.Fatalf("part %d of %d ran %d times, want %d", i, len(c.runs), n, want)
		}
	}
}

// eachPool runs a test with no pool and pools of several sizes.
func eachPool(t *testing.T, f func(t *testing.T, p *Pool)) {
	t.Run("nil", func(t *testing.T) { f(t, nil) })
	for name, workers := range map[string]int{"1": 1, "2": 2, "3": 3, "8": 8} {
		t.Run(name, func(t *testing.T) { f(t, newPool(t, workers)) })
	}
}

func TestRunAllPartsOnce(t *testing.T) {
	eachPool(t, func(t *testing.T, p *Pool) {
		for n := range 40 {
			c := &count{make([]int32, n)}
			for range 50 {
				mustRun(t, p, context.Background(), n, c)
			}
			c.each(t, 50)
		}
	})
}

// TestOwnParts: where all are there, each worker has the same parts in every Run, neighbours, the
// caller those from 0 on, and takes others' once it has done its own.
func TestOwnParts(t *testing.T) {
	const workers, n = 3, 10
	p := newPool(t, workers)
	var by [n]string // the goroutine of each part
	var wait sync.WaitGroup
	meet := partFunc(func(i int) {
		by[i] = goroutine()
		if i == 0 || i == n/workers || i == 2*n/workers { // first of a share
			wait.Done()
			wait.Wait()
		}
	})
	var first [n]string
	for turn := range 20 {
		wait.Add(workers)
		mustRun(t, p, context.Background(), n, meet)
		if by[0] != goroutine() {
			t.Fatal("part 0 was not the caller's")
		}
		for _, i := range []int{0, 3, 6} {
			if turn > 0 && by[i] != first[i] {
				t.Fatalf("run %d: part %d went to another worker", turn, i)
			}
		}
		if by[3] == by[0] || by[6] == by[0] || by[6] == by[3] {
			t.Fatalf("shares begin at one worker: %v", by)
		}
		first = by
	}
	// One that is held up in its first part leaves the others of its share to whoever is free.
	gate := make(chan struct{})
	var done atomic.Int32
	mustRun(t, p, context.Background(), n, partFunc(func(i int) {
		if i == n/workers {
			<-gate
		} else if done.Add(1) == n-1 {
			close(gate)
		}
	}))
}

func TestWorkers(t *testing.T) {
	var none *Pool
	none.Close()
	if got := none.Workers(); got != 1 {
		t.Errorf("nil: %d", got)
	}
	if got := newPool(t, 5).Workers(); got != 5 {
		t.Errorf("5: %d", got)
	}
	if got, want := newPool(t, -1).Workers(), runtime.GOMAXPROCS(0); got != want {
		t.Errorf("-1: %d, want %d", got, want)
	}
}

func TestWorth(t *testing.T) {
	var none *Pool
	two, four := newPool(t, 2), newPool(t, 4)
	if none.Worth(math.MaxInt) || newPool(t, 1).Worth(math.MaxInt) {
		t.Error("one worker is never worth it")
	}
	if two.Worth(2*minShareNS-1) || !two.Worth(2*minShareNS) || four.Worth(2*minShareNS-1) ||
		!four.Worth(2*minShareNS) {
		t.Error("the threshold is not minShareNS for two workers, however many there are")
	}
	if two.Insist(); !two.Worth(0) {
		t.Error("a pool that insists finds work too little")
	}
}

// TestSpread: every part runs once however much work it is said to be, and work
// for one is done on the caller.
func TestSpread(t *testing.T) {
	eachPool(t, func(t *testing.T, p *Pool) {
		ctx, cancel := context.WithCancel(context.Background())
		for _, totalNS := range []int{0, 2*minShareNS - 1, 2 * minShareNS, 1e9} {
			for n := range 20 {
				c := &count{make([]int32, n)}
				for range 5 {
					if err := p.Spread(ctx, totalNS, n, c); err != nil {
						t.Fatal(err)
					}
				}
				c.each(t, 5)
			}
		}
		me := goroutine()
		if err := p.Spread(ctx, 2*minShareNS-1, 9, partFunc(func(i int) {
			if goroutine() != me {
				t.Errorf("part %d is on a worker", i)
			}
		})); err != nil {
			t.Error(err)
		}
		cancel()
		for _, totalNS := range []int{0, 1e9} {
			if err := p.Spread(ctx, totalNS, 2, partFunc(func(i int) {
				t.Errorf("part %d runs after the end", i)
			})); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
	})
}

func TestRunAfterClose(t *testing.T) {
	p := NewPool(3)
	p.Close()
	p.Close()
	c := &count{make([]int32, 9)}
	mustRun(t, p, context.Background(), 9, c)
	c.each(t, 1)
}

func TestNestedRun(t *testing.T) {
	eachPool(t, func(t *testing.T, p *Pool) {
		var inner [8]count
		mustRun(t, p, context.Background(), 8, partFunc(func(i int) {
			inner[i].runs = make([]int32, 10)
			mustRun(t, p, context.Background(), 10, &inner[i])
		}))
		for i := range inner {
			inner[i].each(t, 1)
		}
	})
}

// TestConcurrentRuns: many goroutines share a pool, which is closed under some of them.
func TestConcurrentRuns(t *testing.T) {
	p := newPool(t, 3)
	var group sync.WaitGroup
	for g := range 6 {
		group.Go(func() {
			c := &count{make([]int32, 17)}
			for k := range int32(300) {
				mustRun(t, p, context.Background(), 17, c)
				c.each(t, k+1)
			}
			if g == 0 {
				p.Close()
			}
		})
	}
	group.Wait()
}

func TestPanic(t *testing.T) {
	eachPool(t, func(t *testing.T, p *Pool) {
		for _, bad := range []int{0, 5, 99} {
			cause := errors.New("part went wrong")
			var after atomic.Int32
			e := caught(func() {
				p.Run(context.Background(), 100, partFunc(func(i int) {
					if i == bad {
						panicHere(cause)
					}
					if i > bad {
						after.Add(1)
						for p.failed.Load() == nil { // it may take its time until that is heard
							time.Sleep(time.Millisecond)
						}
					}
				}))
			})
			pe, ok := e.(*panicError)
			if !ok {
				t.Fatalf("part %d panicked, Run with %T %v", bad, e, e)
			}
			if pe.Value != any(cause) || !errors.Is(pe, cause) ||
				!strings.Contains(string(pe.Stack), "panicHere") || !strings.Contains(pe.Error(),
				"went wrong") {
				t.Errorf("part %d: %v", bad, pe)
			}
			// Each other worker may have begun one.
			if n := after.Load(); n >= int32(p.Workers()) {
				t.Errorf("part %d: %d parts started after the panic", bad, n)
			}
			c := &count{make([]int32, 20)} // the pool is as good as new
			mustRun(t, p, context.Background(), 20, c)
			c.each(t, 1)
		}
	})
}

func panicHere(v any) { panic(v) }

func caught(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// TestNestedPanic: the innermost panic comes out, once wrapped.
func TestNestedPanic(t *testing.T) {
	eachPool(t, func(t *testing.T, p *Pool) {
		e := caught(func() {
			p.Run(context.Background(), 4, partFunc(func(int) {
				p.Run(context.Background(), 4, partFunc(func(int) { panicHere("inner") }))
			}))
		})
		if pe, ok := e.(*panicError); !ok || pe.Value != any("inner") || pe.Unwrap() != nil ||
			!strings.Contains(string(pe.Stack), "panicHere") {
			t.Errorf("%v", e)
		}
	})
}

// TestGoexit: on a worker it is reported and the worker replaced; on the caller it ends the caller,
// and the pool lives.
func TestGoexit(t *testing.T) {
	p := newPool(t, 2)
	ran := make(chan any, 1)
	meet := func() partFunc { // both parts are under way, so one is on the worker
		var met sync.WaitGroup
		met.Add(2)
		return func(int) { met.Done(); met.Wait() }
	}
	for onCaller := range 2 {
		go func() { // the caller
			defer func() { ran <- recover() }()
			me := goroutine()
			wait := meet()
			p.Run(context.Background(), 2, partFunc(func(i int) {
				wait(i)
				if (goroutine() == me) == (onCaller == 1) {
					runtime.Goexit()
				}
			}))
		}()
		v := <-ran
		if e, ok := v.(*panicError); onCaller == 0 && (!ok || !errors.Is(e, errGoexit)) ||
			onCaller == 1 && v != nil {
			t.Errorf("on caller %d: %v", onCaller, v)
		}
		mustRun(t, p, context.Background(), 2, meet()) // ends only if there is a worker
	}
}

// goroutine names the calling goroutine.
func goroutine() string {
	b := make([]byte, 40)
	return strings.Fields(string(b[:runtime.Stack(b, false)]))[1]
}

func TestContext(t *testing.T) {
	eachPool(t, func(t *testing.T, p *Pool) {
		ctx, cancel := context.WithCancel(context.Background())
		var ran atomic.Int32
		err := p.Run(ctx, 1000, partFunc(func(i int) {
			ran.Add(1)
			if i == 10 {
				cancel()
			} else if i > 10 { // else all may have run before it cancels
				<-ctx.Done()
			}
		}))
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v", err)
		}
		// Of the ten before it, each other worker may hold one that it then drops, or have begun
		// one behind it.
		if n := ran.Load(); n < 12-int32(p.Workers()) || n > 10+int32(p.Workers()) {
			t.Errorf("%d parts ran, the context was cancelled in the 11th", n)
		}
		ran.Store(0)
		if err := p.Run(ctx, 3, partFunc(func(int) { ran.Add(1) })); !errors.Is(err,
			context.Canceled) || ran.Load() != 0 {
			t.Errorf("cancelled before: error %v, %d parts ran", err, ran.Load())
		}
		if err := p.Run(ctx, 0, partFunc(nil)); err != nil {
			t.Errorf("no parts: all ran, yet error %v", err)
		}
		late, cancel := context.WithCancel(context.Background())
		if err := p.Run(late, 1, partFunc(func(int) { cancel() })); err != nil {
			t.Errorf("cancelled in the last part: all ran, yet error %v", err)
		}
		c := &count{make([]int32, 20)}
		mustRun(t, p, context.Background(), 20, c)
		c.each(t, 1)
	})
}

func TestRunAllocs(t *testing.T) {
	eachPool(t, func(t *testing.T, p *Pool) {
		c := &count{make([]int32, 16)}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if n := testing.AllocsPerRun(200, func() { mustRun(t, p, ctx, 16, c) }); n != 0 {
			t.Errorf("%v allocations a Run", n)
		}
	})
}

// counted is a job that counts how often each part is run.
type counted []atomic.Int32

func (c counted) Part(i int) { c[i].Add(1) }

// TestMark: whoever runs parts says so before each, and once when there are none left; without a
// mark, and on the caller alone, nothing is called.
func TestMark(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	marked := make(counted, 50)
	var ended, begun atomic.Int32
	p.Mark(func(part int) {
		if part < 0 {
			ended.Add(1)
			return
		}
		begun.Add(1)
		marked[part].Add(1)
	})
	for _, n := range []int{50, 1} {
		if err := p.Run(t.Context(), n, make(counted, 50)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range marked {
		if n := marked[i].Load(); n != 1 {
			t.Errorf("part %d was marked %d times", i, n)
		}
	}
	if n := ended.Load(); n != 1 && n != 2 {
		t.Errorf("%d ends of two workers", n)
	}
	p.Mark(nil)
	if err := p.Run(t.Context(), 50, make(counted, 50)); err != nil || begun.Load() != 50 {
		t.Errorf("%d marks without one, %v", begun.Load()-50, err)
	}
	var none *Pool
	none.Mark(func(int) {}) // nothing to mark
}
