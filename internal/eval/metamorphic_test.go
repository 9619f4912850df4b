package eval_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
)

// pinned are the beginnings of the SHA-256 of model files, the same on every CPU that the tests run
// on. A change here means that models of the same data, settings and seed are no longer the same
// file.
var pinned = map[string]struct{ sparse, dense string }{
	"adf":              {"407f868532e3", "b8caa3955768"},
	"alma":             {"9b8fcd37b683", "b56f2fee5d21"},
	"arow":             {"a73739c2daf2", "b34b4b7a31b4"},
	"budget":           {"f56826e35c29", "40b7e98898c4"},
	"cramma":           {"ed1008c56cf9", "f9fa366ab8d4"},
	"lms":              {"1914e19aa002", "e2e9efbf8987"},
	"micra":            {"f02071e9a1f1", "30639caa0a24"},
	"mpa":              {"81a71804ce72", "a09861a1cfe7"},
	"ng":               {"1af661fecde0", "bdff52dfdb14"},
	"obpm":             {"0760bc8cdf2c", "c8290b8211c4"},
	"obpm rbf":         {"95dfa31e8542", "47907703d85a"},
	"ovo":              {"6fe6f210e9a8", "9bcbdd3be946"},
	"ovr":              {"59a9e4712946", "02db4640d72c"},
	"pa":               {"771675990674", "90a47b660616"},
	"pairs":            {"aabc8b18739b", "0cb52b61b049"},
	"perceptron":       {"52b9c5875bd7", "47e1df4ee546"},
	"pumma":            {"400fc1632592", "1a99130b8a36"},
	"rff":              {"c6c0ffc0f612", "9302413e9b88"},
	"romma":            {"cb3fdbfa5670", "c87813988007"},
	"romma rbf":        {"f2eabf4fe4f3", "8e581c9c868c"},
	"romma rbf online": {"282da6ee61fd", "cfb174240869"},
	"scw":              {"de61f3b075a6", "021f760187c5"},
	"sogp":             {"6a3c200a6651", "ffcf7a6d9f5d"},
	"tbp":              {"38c25a3e58f7", "0cea917fb584"},
	"vvm":              {"cc75ed06ec6e", "6850ed332a05"},
	"wep":              {"a2bea9970df0", "aa22ad7bb2ad"},
}

// way is how a model is learned. None of it may show in the model.
type way struct {
	impl    string
	threads int
	block   int
	resume  bool // save after the first epoch, load, go on
}

func (w way) String() string {
	s := fmt.Sprintf("%s, %d threads, blocks of %d", w.impl, w.threads, w.block)
	if w.resume {
		s += ", resumed"
	}
	return s
}

// crossed learners are run in every way: members in lanes and in lists, members over kernel values,
// and a posterior stand for what blocks, threads and implementations share. The others take a few
// ways in which each value of each comes once: learnertest's bits crosses the rest for every
// learner, in both precisions.
var crossed = map[string]bool{"obpm": true, "obpm rbf": true, "vvm": true}

// TestMetamorphic demands equal model bytes over every implementation x threads 1, 2, 3, 8 x blocks
// of 1, 7, 256 x lanes and active lists, and, for every number of threads with one of the blocks,
// of training on A and B at once and of training on A, saving, loading and training on B.
func TestMetamorphic(t *testing.T) {
	before := vecmath.Active().String()
	t.Cleanup(func() {
		if err := vecmath.Use(before); err != nil {
			t.Error(err)
		}
	})
	for form, data := range map[string]*dataset.Data[float32]{"sparse": sparseData(500),
		"dense": denseData(t, 300)} {
		names := []string{"obpm rbf", "romma rbf", "romma rbf online"}
		for _, name := range learner.Names() {
			if e, err := learner.Lookup(name); err != nil {
				t.Fatal(err)
			} else if !e.Config().Traits().Stream {
				continue // its own tests do this
			}
			names = append(names, name)
		}
		for _, name := range names {
			t.Run(form+"/"+name, func(t *testing.T) {
				var want []byte
				for _, w := range ways(crossed[name]) {
					got := learn(t, name, data, w)
					if want == nil {
						want = got
					}
					if !bytes.Equal(got, want) {
						t.Errorf("%v: the model differs", w)
					}
				}
				sum := sha256.Sum256(want)
				pin := pinned[name].sparse
				if form == "dense" {
					pin = pinned[name].dense
				}
				if got := hex.EncodeToString(sum[:6]); got != pin {
					t.Errorf("%q: %q, want %q", form+"/"+name, got, pin)
				}
			})
		}
	}
}

// ways are those in which a learner is run: all, or a few in which each value of each comes once.
func ways(all bool) (list []way) {
	threads, blocks := []int{1, 2, 3, 8}, []int{1, 7, 256}
	impls := slices.DeleteFunc(vecmath.Implementations(), func(im vecmath.Info) bool {
		return !im.Supported
	})
	wanted := func(i, j, k, r int) bool {
		switch {
		case !all:
			return i == j%len(impls) && k == j%len(blocks) && r == j%2
		case testing.Short():
			// still every pair of an implementation, threads, a block and resumed or not
			return (i+j+k+r)%len(blocks) == 0
		}
		return r == 0 || k == j%len(blocks)
	}
	for i, im := range impls {
		for j, n := range threads {
			for k, size := range blocks {
				for r, resume := range []bool{false, true} {
					if wanted(i, j, k, r) {
						list = append(list, way{im.Name, n, size, resume})
					}
				}
			}
		}
	}
	return list
}

// inClasses gives the examples three classes, of which one is a third of one label.
func inClasses(d *dataset.Data[float32]) *dataset.Data[float32] {
	of := *d
	of.Block.Class = make([]int32, d.Block.Len())
	for i, y := range d.Block.Y {
		if of.Block.Class[i] = int32(y+1) / 2; i%3 == 2 && y > 0 {
			of.Block.Class[i] = 2
		}
	}
	return &of
}

// learn runs two shuffled epochs and returns the model file.
func learn(t *testing.T, name string, d *dataset.Data[float32], w way) []byte {
	t.Helper()
	if err := vecmath.Use(w.impl); err != nil {
		t.Fatal(err)
	}
	name, rbf, _ := strings.Cut(name, " ")
	entry, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	c := entry.Config()
	if o, ok := c.(*learners.OBPMConfig); ok {
		o.Members, o.Tau = 150, 0.1 // more than one tile, mixed lanes and lists
		if rbf != "" {
			o.Budget, o.KernelConfig = 60, learner.KernelConfig{Kernel: "rbf", Gamma: 0.5}
		}
	}
	if o, ok := c.(*learners.ROMMAConfig); ok && rbf != "" {
		o.Aggressive, o.KernelConfig = true, learner.KernelConfig{Kernel: "rbf", Gamma: 0.5}
		if rbf != "rbf" {
			o.Budget = 60
		}
	}
	if o, ok := c.(*learners.SOGPConfig); ok {
		o.Basis = 25 // fewer than the data span, so that some go
	}
	pool := engine.NewPool(w.threads)
	pool.Insist()
	defer pool.Close()
	const seed = 11
	l, err := learner.New[float32](entry, c, learner.Env{Seed: seed, Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	if c.Traits().Classes {
		d = inClasses(d)
	}
	src := eval.NewMemory(&d.Block, d.Gather)
	run := func(epochs int, before int64) {
		// starts anew every time: then what is saved is the whole
		if !c.Traits().Stream || name == "romma" && rbf == "rbf" {
			if before > 0 {
				return
			}
			some := d.Block.Slice(0, 120)
			if _, err := l.(learner.Fitter[float32]).Fit(context.Background(), &some,
				learner.FitOptions{Delta: 1, GramBytes: int64(w.block) << 10}); err != nil {
				t.Fatal(err)
			}
			return
		}
		_, err := eval.Run(context.Background(), l, src, eval.Options{Epochs: epochs, Shuffle: true,
			Seed: seed, Before: before, Block: w.block})
		if err != nil {
			t.Fatal(err)
		}
	}
	capture := func() *model.Model {
		m, err := model.Capture(name, c, seed, l)
		if err != nil {
			t.Fatal(err)
		}
		m.Prep = model.Prep{} // as in the files whose sums are pinned
		return m
	}
	if !w.resume {
		run(2, 0)
	} else {
		run(1, 0)
		file := filepath.Join(t.TempDir(), "a.model")
		if _, err := model.Save(file, capture()); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if l, err = model.Restore[float32](m, pool); err != nil {
			t.Fatal(err)
		}
		run(1, int64(d.Block.Len()))
	}
	var b bytes.Buffer
	if err := model.Encode(&b, capture()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sparseData makes examples of 12 categorical attributes with 10 values each, one-hot; one in eight
// has no attribute at all. Scores of exactly 0 are common in such data, so that a single bit of
// difference shows soon.
func sparseData(n int) *dataset.Data[float32] {
	rng := engine.NewRand(3, 0)
	var d dataset.Data[float32]
	b := &d.Block
	b.Dim, b.Ptr = 120, []int{0}
	for range n {
		f := 0.0
		if rng.IntN(8) > 0 {
			for k := range 12 {
				j := 10*k + rng.IntN(1+rng.IntN(10))
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, 0.28867513) // unit length
				f += float64(j%10) - 2.2
			}
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
		b.Y = append(b.Y, 1)
		if f+4*rng.Normal() < 0 {
			b.Y[len(b.Y)-1] = -1
		}
	}
	return &d
}

func denseData(t *testing.T, n int) *dataset.Data[float32] {
	t.Helper()
	d, err := dataset.Generate[float32]("margin", map[string]string{"n": fmt.Sprint(n), "d": "37",
		"noise": "0.1", "seed": "5"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
