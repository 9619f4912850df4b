package learners

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/learner"
)

// allocated returns what f leaves on the heap, as long as keep is used, and all that it has
// allocated.
func allocated(t *testing.T, f func()) (left, all int64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	all = int64(after.TotalAlloc - before.TotalAlloc)
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc), all
}

// TestMemoryIsAll: Traits.Memory bounds what a learner really takes of the heap, while it makes its
// tables and afterwards: of one example with a large index, which is what a stream of a single
// wrong line asks for. Not only what Bytes counts.
func TestMemoryIsAll(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	check[float32](t, "f32")
	check[float64](t, "f64")
}

func check[T learner.Float](t *testing.T, precision string) {
	const dim = 1 << 16
	wide := &engine.Block[T]{Dim: dim, Ptr: []int{0, 2}, Idx: []int32{0, dim - 1}, Val: []T{1, 1},
		Y: []T{1}}
	some := &engine.Block[T]{Dim: 900, Ptr: []int{0, 3}, Idx: []int32{0, 1, 899},
		Val: []T{1, 0.5, 1}, Y: []T{1}}
	for _, c := range []struct {
		name   string
		config learner.Config // nil: the defaults
		b      *engine.Block[T]
	}{
		{"perceptron", nil, wide}, {"pa", nil, wide}, {"lms", nil, wide}, {"romma", nil, wide},
		{"micra", nil, wide}, {"cramma", nil, wide}, {"alma", nil, wide},
		{"alma", &ALMAConfig{P: 4}, wide}, {"obpm", nil, wide},
		{"obpm", &OBPMConfig{Members: 30000, Tau: 0.01, Base: "alma", Combine: CombineVote}, some},
		{"pumma", nil, wide}, {"pumma", &PUMMAConfig{P: "4", Delta: 0.1}, wide},
		{"ng", nil, wide}, {"rff", nil, wide}, {"pairs", nil, wide},
		{"rff", &RFFConfig{D: 400, Sigma: 1, Base: "vvm"}, some},
		{"adf", &ADFConfig{Covariance: "diagonal", Noise: 0.05}, wide}, {"adf", nil, some},
		{"vvm", nil, some}, {"wep", nil, some}, {"budget", nil, wide}, {"tbp", nil, wide},
		{"sogp", nil, wide},
	} {
		e, err := learner.Lookup(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if c.config == nil {
			c.config = e.Config()
		}
		x := learner.Extent{Features: int64(c.b.Dim), Examples: 1, NonZeros: int64(len(c.b.Val)),
			Longest: int64(len(c.b.Val)), Elem: int64(unsafe.Sizeof(T(0)))}
		var l learner.Learner[T]
		left, all := allocated(t, func() {
			if l, err = learner.New[T](e, c.config, learner.Env{}); err == nil {
				err = l.Learn(c.b, make([]learner.Round, 1))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		const slack = 32 << 10 // settings, names, and rounding of large objects to pages
		if f := c.config.Traits().Memory(x); left > f.Held()+slack ||
			all > f.Peak()+f.Peak()/16+2*slack {
			t.Errorf("%s %s %+v: %d bytes are held, %d were taken; Memory says %d and %d",
				precision, c.name, c.config, left, all, f.Held(), f.Peak())
		}
		runtime.KeepAlive(l)
	}
}

// TestPUMMAMemory: what Memory says of PUMMA's tables is what they take, of sparse and of dense
// examples.
func TestPUMMAMemory(t *testing.T) {
	const dim = 1 << 14
	for _, dense := range []bool{false, true} {
		for _, p := range []string{"2", "4"} {
			b := &engine.Block[float32]{Dim: dim, Y: []float32{1, -1, 1}, X: make([]float32, 3*dim),
				Stride: dim}
			for i := range 3 {
				b.X[i*dim+i] = 1
			}
			if !dense {
				b = &engine.Block[float32]{Dim: dim, Y: b.Y, Ptr: []int{0, 1, 2, 3},
					Idx: []int32{0, 1, 2}, Val: []float32{1, 1, 1}}
			}
			c := &PUMMAConfig{P: p, Delta: 0.1}
			l, err := learner.Make[float32]("pumma", c, learner.Env{})
			if err == nil {
				err = l.Learn(b, make([]learner.Round, 3))
			}
			if err != nil {
				t.Fatal(err)
			}
			x := learner.Extent{Features: dim, Examples: 3, NonZeros: 3, Longest: 1, Elem: 4,
				Dense: dense}
			if dense {
				x.NonZeros, x.Longest = 3*dim, dim
			}
			if held := c.Traits().Memory(x).Held(); l.Bytes() > held ||
				held > l.Bytes()+l.Bytes()/10 {
				t.Errorf("p = %s, dense %v: %d bytes are taken, Memory says %d", p, dense,
					l.Bytes(), held)
			}
		}
	}
}

// TestKeptRoom: a learner that keeps examples takes no more for their features than Env.Kept. What
// has no room is refused before it changes anything, and the learner goes on.
func TestKeptRoom(t *testing.T) {
	row := func(n, at int) *engine.Block[float32] {
		b := &engine.Block[float32]{Dim: at + n, Ptr: []int{0, n},
			Y: []float32{float32(1 - at%2*2)}}
		for k := range n {
			b.Idx, b.Val = append(b.Idx, int32(at+k)), append(b.Val, 0.3)
		}
		return b
	}
	rbf, one := learner.KernelConfig{Kernel: "rbf", Gamma: 1}, UpdateConfig{Beta: 2,
		Update: "perceptron",
		C:      1}
	for name, c := range map[string]learner.Config{
		"budget": &BudgetConfig{Budget: 20, UpdateConfig: one, KernelConfig: rbf},
		"tbp": &TBPConfig{Budget: 20, ErrorCache: "random", ErrorSize: 20, Ties: "oldest",
			UpdateConfig: one, KernelConfig: rbf},
		"sogp": &SOGPConfig{Basis: 20, Noise: 0.1, Novelty: 1e-4, KernelConfig: rbf},
		"obpm": &OBPMConfig{Members: 20, Tau: 1, Base: "pa", Combine: CombineWeights,
			Budget: 20, Removal: RemoveOldest, KernelConfig: rbf},
	} {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if k := c.Traits(); k.Keeps == 0 || k.FitMemory == nil {
			t.Errorf("%s keeps %d examples, which can't be sized", name, k.Keeps)
		}
		const room = 200 << 10
		l, err := learner.New[float32](e, c, learner.Env{Kept: room})
		if err != nil {
			t.Fatal(err)
		}
		free, err := learner.New[float32](e, c, learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for i := range 60 {
			b := row(10, i*3)
			if i%4 == 3 {
				b = row(40000, i*3)
			}
			before := l.State()
			err := l.Learn(b, make([]learner.Round, 1))
			if err == nil {
				if err := free.Learn(b, make([]learner.Round, 1)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if !errors.Is(err, learner.ErrMemory) || !strings.HasPrefix(err.Error(), name+": ") {
				t.Fatalf("%s: %v", name, err)
			}
			if stateBytes(t, before) != stateBytes(t, l.State()) {
				t.Fatalf("%s: an example that was refused changed the state", name)
			}
			refused++
		}
		if refused == 0 {
			t.Errorf("%s: nothing was refused", name)
		}
		if stateBytes(t, l.State()) != stateBytes(t, free.State()) {
			t.Errorf("%s: the bound of what is kept changed a result", name)
		}
		kept := 0 // bytes of indices and values
		for _, tensor := range l.State().Tensors {
			if strings.HasSuffix(tensor.Name, "_val") {
				kept += 8 * len(tensor.Data.([]float32))
			}
		}
		if kept > room {
			t.Errorf("%s: features of %d bytes are kept, which may take %d", name, kept, room)
		}
		x := learner.Extent{Features: 40180, Examples: 60, NonZeros: 60 * 40000, Longest: 40000,
			Elem: 4,
			Kept: room}
		if f := c.Traits().Memory(x); l.Bytes() > f.Held() {
			t.Errorf("%s: %d bytes are held, Memory says %d: %+v", name, l.Bytes(), f.Held(),
				f.Parts)
		}
	}
}

// TestFitMemory: sizes that are fitted take no more than was asked for, nearly as much, and the
// settings given stay as they are.
func TestFitMemory(t *testing.T) {
	x := learner.Extent{Features: 100, Examples: learner.Any, NonZeros: learner.Any, Longest: 30,
		Elem: 4}
	for _, c := range []learner.Config{
		&BudgetConfig{Budget: 100}, &TBPConfig{Budget: 100, ErrorCache: "flips",
			ErrorSize: 300}, &TBPConfig{Budget: 100, ErrorCache: "sv", ErrorSize: 300},
		&SOGPConfig{Basis: 100}, &OBPMConfig{Members: 100, Budget: 1000, Removal: RemoveErrors,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 1}},
	} {
		keeps := c.Traits().Keeps
		const bytes = 10 << 20
		d, err := c.Traits().FitMemory(bytes, x, 120, 240)
		if err != nil {
			t.Fatal(err)
		}
		if c.Traits().Keeps != keeps {
			t.Errorf("%T: FitMemory changed the settings that it was given", c)
		}
		k := d
		x := x
		x.Kept = learner.KeptRoom(k.Traits().Keeps, 120, 240)
		if got := k.Traits().Memory(x).Peak(); got > bytes || got < bytes*9/10 {
			t.Errorf("%T: %d examples take %d bytes of %d", c, k.Traits().Keeps, got, bytes)
		}
		if _, err := c.Traits().FitMemory(1000, x, 120, 240); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%T: 1000 bytes: %v", c, err)
		}
	}
	for _, c := range []learner.Config{&BudgetConfig{}, &TBPConfig{Budget: 10, ErrorCache: "all",
		ErrorSize: 1}} {
		if c.Traits().Keeps != learner.Any || c.Traits().Memory(x).Held() < learner.Huge {
			t.Errorf("%+v grows with the stream; Memory says %+v", c, c.Traits().Memory(x))
		}
	}
}

// TestFewerThanKept: FitMemory sets no larger number of kept examples than there are examples, and
// Memory counts the tables that are made at once for as many as the settings allow.
func TestFewerThanKept(t *testing.T) {
	for name, c := range map[string]learner.Config{
		"budget": &BudgetConfig{Budget: 100, UpdateConfig: UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		"tbp": &TBPConfig{Budget: 100, ErrorCache: "flips", ErrorSize: 300, Ties: "oldest",
			UpdateConfig: UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "linear"}},
	} {
		x := learner.Extent{Features: 10, Examples: 50, NonZeros: 500, Longest: 10, Elem: 4,
			Whole: true}
		d, err := c.Traits().FitMemory(1<<30, x, 100, 100)
		if err != nil {
			t.Fatal(err)
		}
		if k := d.Traits().Keeps; k > 4*50 {
			t.Errorf("%s: room is made for %d examples of 50", name, k)
		}
		x.Kept = learner.KeptRoom(50, 100, 100)
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float32](e, d, learner.Env{Kept: x.Kept})
		if err != nil {
			t.Fatal(err)
		}
		held, took := d.Traits().Memory(x).Held(), l.Bytes()
		if took > held {
			t.Errorf("%s: %d bytes are taken at once, and %d were said", name, took, held)
		}
	}
}
