package learnertest_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
)

func init() { learner.Register("relaxation", (*relaxationConfig)(nil)) }

func (*relaxationConfig) Entry() learner.Entry {
	return learner.Entry{
		Summary: "single-sample relaxation with a margin",
		Config:  func() learner.Config { return &relaxationConfig{Margin: 0.1, Eta: 1} },
		New32:   newRelaxation[float32], New64: newRelaxation[float64],
	}
}

// relaxation is a learner as another module writes one: of package learner, engine and nothing
// else of this module.
//
// Reference: R. O. Duda, P. E. Hart, D. G. Stork, "Pattern Classification", 2nd ed., 2001, section
// 5.6.2, equation (35): while y w.x <= b,
//
//	w += eta (b - y w.x)/|x|^2 y x
type relaxation[T learner.Float] struct {
	relaxed[T]
	cfg     relaxationConfig
	updates int64
}

// relaxed is its hypothesis, and the Predictor of that.
type relaxed[T learner.Float] struct{ w []float64 }

type relaxationConfig struct {
	Margin float64 `json:"margin" flag:"margin"`
	Eta    float64 `json:"eta" flag:"eta"`
}

func (*relaxationConfig) Help(field string) string {
	return map[string]string{
		"Margin": "margin b; above 0",
		"Eta":    "share of the way to the margin; above 0 to below 2",
	}[field]
}

func (c *relaxationConfig) Validate() error {
	if c == nil || !(c.Margin > 0) || math.IsInf(c.Margin, 0) || !(c.Eta > 0 && c.Eta < 2) {
		return fmt.Errorf("relaxation: %+v, want a margin > 0 and eta in (0, 2): %w", c,
			learner.ErrConfig)
	}
	return nil
}

func (c *relaxationConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Memory = relaxationMemory
	return t
}

func relaxationMemory(x learner.Extent) (f learner.Footprint) {
	f.Copied(x, 8, learner.Times(8, x.Features))
	if !forgets {
		f.Tables(x, "weights", 8)
	}
	f.Add("settings", 1, 256)
	return f
}

func newRelaxation[T learner.Float](c learner.Config, _ learner.Env) (learner.Learner[T], error) {
	cfg, ok := c.(*relaxationConfig)
	if !ok {
		return nil, fmt.Errorf("relaxation: settings are %T: %w", c, learner.ErrConfig)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &relaxation[T]{cfg: *cfg}, nil
}

func (l *relaxation[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if len(rounds) < b.Len() {
		return fmt.Errorf("relaxation: %d rounds: %w", len(rounds), learner.ErrOut)
	}
	if err := b.Check(); err != nil {
		return fmt.Errorf("relaxation: %w", err)
	}
	if b.Weighted() {
		return fmt.Errorf("relaxation: %w", learner.ErrWeights)
	}
	if more := b.Dim - len(l.w); b.Dim > cap(l.w) {
		l.w = append(make([]float64, 0, engine.Room(cap(l.w), b.Dim)), l.w...)[:b.Dim]
	} else if more > 0 {
		l.w = l.w[:b.Dim] // zeros: nothing shrinks it
	}
	for i, y := range b.Y {
		f := l.dot(b, i)
		rounds[i] = learner.Round{Score: f}
		short := l.cfg.Margin - float64(y)*f
		if short < 0 {
			continue
		}
		var norm2 float64
		each(b, i, len(l.w), func(_ int, v float64) { norm2 += float64(v * v) })
		if norm2 == 0 {
			continue
		}
		step := float64(y) * float64(l.cfg.Eta*short) / norm2
		each(b, i, len(l.w), func(j int, v float64) { l.w[j] += float64(step * v) })
		rounds[i].Updates = 1
		l.updates++
	}
	return nil
}

// each calls do for the features of example i below dim.
func each[T learner.Float](b *engine.Block[T], i, dim int, do func(j int, v float64)) {
	if b.Dense() {
		for j, v := range b.Row(i)[:min(dim, b.Dim)] {
			do(j, float64(v))
		}
		return
	}
	idx, val := b.Sparse(i)
	for k, j := range idx {
		if int(j) < dim {
			do(int(j), float64(val[k]))
		}
	}
}

func (h *relaxed[T]) dot(b *engine.Block[T], i int) (f float64) {
	each(b, i, len(h.w), func(j int, v float64) { f += float64(h.w[j] * v) })
	return f
}

func (h *relaxed[T]) Score(b *engine.Block[T], dst []float64) error {
	if len(dst) < b.Len() {
		return fmt.Errorf("relaxation: %d places: %w", len(dst), learner.ErrOut)
	}
	if err := b.CheckRows(); err != nil {
		return fmt.Errorf("relaxation: %w", err)
	}
	for i := range b.Len() {
		dst[i] = h.dot(b, i)
	}
	return nil
}

func (h *relaxed[T]) Weights() []float64 { return append([]float64{}, h.w...) }
func (h *relaxed[T]) Outputs() int       { return 1 }
func (h *relaxed[T]) Bytes() int64       { return int64(8*cap(h.w)) + int64(unsafe.Sizeof(*h)) }

func (h *relaxed[T]) fields(c *learner.Codec) {
	c.PerFeature("w", len(learner.Vector(c, "w", &h.w)))
}

func (h *relaxed[T]) State() learner.State { return learner.StateOf(h.fields) }

// Restored is for [learner.Restored].
func (h *relaxed[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	var p relaxed[T]
	if err := learner.SetState("relaxation", s, p.fields); err != nil {
		return nil, err
	}
	return &p, nil
}

func (l *relaxation[T]) Snapshot() learner.Predictor[T] { return &relaxed[T]{l.Weights()} }
func (l *relaxation[T]) Updates() int64                 { return l.updates }
func (l *relaxation[T]) Bytes() int64                   { return l.relaxed.Bytes() + 64 }

func (l *relaxation[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	l.relaxed.fields(c)
}

func (l *relaxation[T]) State() learner.State { return learner.StateOf(l.fields) }

func (l *relaxation[T]) SetState(s learner.State) error {
	return learner.SetState("relaxation", s, l.fields)
}

func (l *relaxation[T]) CheckState(s learner.State) error {
	return learner.CheckState("relaxation", s, l.fields)
}

// TestOutside: a learner of another module is registered and passes the suite.
func TestOutside(t *testing.T) {
	e, err := learner.Lookup("relaxation")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]learner.Config{
		"default": e.Config(), "half": &relaxationConfig{Margin: 2, Eta: 0.5},
	} {
		t.Run(name+"/f32", func(t *testing.T) { learnertest.Check[float32](t, e, c) })
		t.Run(name+"/f64", func(t *testing.T) { learnertest.Check[float64](t, e, c) })
		t.Run(name+"/asked", func(t *testing.T) { learnertest.Asked[float32](t, e, c) })
	}
}

// forgets makes Memory forget the weights, in the process that TestForgottenMemoryFails starts.
var forgets = os.Getenv(forgetsEnv) != ""

const forgetsEnv = "HALFSPACE_TEST_FORGETS"

// TestForgottenMemoryFails: a learner that forgets its weights in what it says of its memory fails
// the suite, which says so.
func TestForgottenMemoryFails(t *testing.T) {
	if forgets {
		e, err := learner.Lookup("relaxation")
		if err != nil {
			t.Fatal(err)
		}
		learnertest.Check[float64](t, e, e.Config())
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestForgottenMemoryFails$/^dense$/^memory$")
	cmd.Env = append(os.Environ(), forgetsEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("it passes")
	}
	if text := string(out); !strings.Contains(text, "bytes are held, Memory says") {
		t.Errorf("it says %s", text)
	}
}
