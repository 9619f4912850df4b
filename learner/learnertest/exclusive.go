package learnertest

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// shared is held for reading by every running Check. What concerns the whole process, the active
// implementation of vecmath and the count of allocations, is done with the lock held for writing.
var shared sync.RWMutex

// alone runs f while no other Check does anything.
func alone(f func()) {
	shared.RUnlock()
	shared.Lock()
	defer func() {
		shared.Unlock()
		shared.RLock()
	}()
	f()
}

// eachImplementation runs f with each implementation of vecmath that this CPU has.
func eachImplementation(t *testing.T, f func(name string)) {
	t.Helper()
	alone(func() {
		before := vecmath.Active().String()
		defer func() {
			if err := vecmath.Use(before); err != nil {
				t.Error(err)
			}
		}()
		for _, im := range vecmath.Implementations() {
			if !im.Supported {
				continue
			}
			if err := vecmath.Use(im.Name); err != nil {
				t.Fatal(err)
			}
			f(im.Name)
		}
	})
}

// allocatesNothing wants calls of f, after a first one, to allocate nothing. It is
// testing.AllocsPerRun, which no parallel test may call. The race detector's annotations allocate.
func allocatesNothing(t *testing.T, what string, f func() error) {
	t.Helper()
	if race.Enabled {
		return
	}
	alone(func() {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
		const runs = 3
		var n uint64
		// Another test that begins or ends meanwhile allocates, too: one count of none will do.
		for range 5 {
			var before, after runtime.MemStats
			for run := range runs + 1 {
				if run == 1 {
					runtime.ReadMemStats(&before)
				}
				if err := f(); err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			if n = (after.Mallocs - before.Mallocs) / runs; n == 0 {
				return
			}
		}
		t.Errorf("%s allocates %d times a call", what, n)
	})
}
