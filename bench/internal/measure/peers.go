package measure

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// liblinearTrain is LIBLINEAR's command, as Debian's package liblinear-tools names it.
const liblinearTrain = "liblinear-train"

//go:embed peers/perceptron.py
var perceptronSource []byte

// Peers measures learners beside the programs that are found in the path: linear support vector
// machines from svmlight text to the solution beside LIBLINEAR's, at the same distance from the
// optimum, and an epoch of OBPM with 100 members beside one of scikit-learn's single Perceptron,
// both in memory. All is CPU time of one core. With a data folder on Adult (a9a) and w8a, for the
// epoch scaled to unit length and as they are, zeros and ones, and the first 10,000 images of
// MNIST, else on generated data of Adult's shape. A peer that is missing is named
// in a note, and ours is measured alone.
func Peers(ctx context.Context, dataDir string, o Options) ([]Result, error) {
	dir, err := os.MkdirTemp("", "halfspace-peers")
	if err != nil {
		return nil, fmt.Errorf("bench: peers: %w", err)
	}
	defer os.RemoveAll(dir)
	// one core: the reader has goroutines of its own
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	files := []string{"a9a", "w8a"}
	if dataDir == "" {
		files = []string{"onehot-14-of-123"}
	}
	block := func(name, bias, normalize string) (*engine.Block[float32], error) {
		if dataDir == "" {
			return oneHot(2000, 14, 123), nil
		}
		d, err := load[float32](ctx, dataDir, dataset.Options{Bias: bias, Normalize: normalize},
			name+".gz")
		if err != nil {
			return nil, err
		}
		return &d.Block, nil
	}
	var out []Result
	for _, name := range files {
		b, err := block(name, "none", "none")
		if err != nil {
			return out, err
		}
		results, err := besideLIBLINEAR(ctx, dir, name, b, o)
		out = append(out, results...)
		if err != nil {
			return out, err
		}
	}
	blocks := map[string]*engine.Block[float32]{}
	for _, name := range files {
		if blocks[name], err = block(name, "append", "unit"); err != nil {
			return out, err
		}
		if dataDir != "" { // as they are, zeros and ones
			if blocks[name+"-ones"], err = block(name, "append", "none"); err != nil {
				return out, err
			}
		}
	}
	for _, name := range slices.Clone(files) {
		if blocks[name+"-ones"] != nil {
			files = append(files, name+"-ones")
		}
	}
	bytes := map[string]*engine.ByteRows[float32]{}
	if dataDir != "" {
		b, name, err := digits(ctx, dataDir)
		if err != nil {
			return out, err
		}
		if bytes[name], err = digitBytes(ctx, dataDir); err != nil {
			return out, err
		}
		blocks[name], files = b, append(files, name)
	}
	python, missing := findPython(ctx)
	for i, name := range files {
		rows := []string{"sparse", "dense"} // the Perceptron's, of images
		if bytes[name] == nil {
			rows = rows[:1]
		}
		for _, rows := range rows {
			r, err := besidePerceptron(ctx, dir, name, blocks[name], bytes[name], python, rows, o)
			if err != nil {
				return out, err
			}
			if missing != nil && i == 0 {
				r.Note = "compared with nothing: " + missing.Error()
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// linearProblem is a linear machine of LIBLINEAR's with C = 1, whose bias is the weight of one more
// feature, 1 in all examples.
type linearProblem struct {
	loss   string
	solver string // LIBLINEAR's
	norm   int    // of ours, whose C of squares counts half
	c      float64
}

var linearProblems = []linearProblem{{"hinge", "3", 1, 1}, {"hinge2", "2", 2, 2}}

// besideLIBLINEAR measures both losses on one data set: the problem as LIBLINEAR has it, its bias
// among the weights, up to a primal objective at least as low as LIBLINEAR's; and that of a bias of
// its own up to the same distance from the optimum, relative to it.
func besideLIBLINEAR(ctx context.Context, dir, name string, b *engine.Block[float32],
	o Options) ([]Result, error) {
	file, model := filepath.Join(dir, name), filepath.Join(dir, name+".model")
	if err := writeScaled(file, b, 1); err != nil {
		return nil, err
	}
	program, missing := exec.LookPath(liblinearTrain)
	var out []Result
	for _, p := range linearProblems {
		side := &process{ctx: ctx, program: program}
		theirs := func() { side.run("-q", "-s", p.solver, "-B", "1", "-c", "1", file, model) }
		off := 1e-3 // without LIBLINEAR
		if missing == nil {
			if theirs(); side.err != nil {
				return out, fmt.Errorf("bench: %w", side.err)
			}
			w, err := readLIBLINEAR(model, b.Dim)
			if err != nil {
				return out, err
			}
			best, err := p.fit(ctx, file, true, 1e-9)
			if err != nil {
				return out, err
			}
			off = p.primal(b, w, true)/best.Objective - 1
		}
		for _, appended := range []bool{true, false} {
			gap, err := p.gapFor(ctx, file, b, appended, off)
			if err != nil {
				return out, err
			}
			form := map[bool]string{true: "appended", false: "own"}[appended]
			c := pair{name: fmt.Sprintf("peers/linear-svm/%s/%s/bias=%s", p.loss, name, form),
				unit: "ns/op", cpu: side.cpu, ours: loop(func() {
					_, err := p.fit(ctx, file, appended, gap)
					side.failed(err)
				})}
			if missing == nil {
				c = c.beside("liblinear-s"+p.solver, theirs)
			}
			r := c.run(ctx, vecmath.Active().String(), o)
			if side.err != nil {
				return out, fmt.Errorf("bench: %w", side.err)
			}
			r.Note = fmt.Sprintf("both within %.2g of the optimum; ours by a gap of %.2g", off, gap)
			if missing != nil {
				r.Note = ""
			}
			if missing != nil && len(out) == 0 {
				r.Note = liblinearTrain + " (Debian: liblinear-tools) is not installed: compared " +
					"with nothing"
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// solved is a solution: its weights, and the bias after them, and bounds of the optimum.
type solved struct {
	w                 []float64
	Objective, Primal float64
}

// fit reads the file and solves the problem, with the bias among the weights or of its own.
func (p linearProblem) fit(ctx context.Context, file string, appended bool, gap float64) (
	s solved, err error) {
	o := dataset.Options{Workers: 1}
	if appended {
		o.Bias = "append"
	}
	d, err := dataset.Load[float32](ctx, []string{file}, o)
	if err != nil {
		return s, err
	}
	svm, err := NewSVM[float32](learners.SVMConfig{C: p.c, Norm: p.norm, Gap: gap, NoBias: appended,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}}, nil)
	if err != nil {
		return s, err
	}
	r, err := svm.Fit(ctx, &d.Block, learner.FitOptions{})
	if err != nil {
		return s, err
	}
	if !r.Converged {
		return s, fmt.Errorf("bench: svm: no gap of %g: %+v", gap, svm.Solution())
	}
	s.w = append(s.w, svm.Weights()...)
	if appended { // the bias was feature 0
		s.w = append(s.w[1:], s.w[0])
	} else {
		s.w = append(s.w, svm.Bias())
	}
	s.Objective, s.Primal = svm.Solution().Objective, svm.Solution().Primal
	return s, nil
}

// gapFor returns the largest of some gaps with which the primal objective is off the optimum by at
// most that share.
func (p linearProblem) gapFor(ctx context.Context, file string, b *engine.Block[float32],
	appended bool, off float64) (float64, error) {
	best, err := p.fit(ctx, file, appended, 1e-9)
	if err != nil {
		return 0, err
	}
	for gap := 0.1; gap > 1e-8; gap /= 2 {
		s, err := p.fit(ctx, file, appended, gap)
		if err != nil {
			return 0, err
		}
		if p.primal(b, s.w, appended) <= best.Objective*(1+off) {
			return gap, nil
		}
	}
	return 1e-8, nil
}

// primal is the objective of weights and a bias after them, which counts among them or not.
func (p linearProblem) primal(b *engine.Block[float32], w []float64, appended bool) float64 {
	sum, bias := 0.0, w[len(w)-1]
	for _, v := range w[:len(w)-1] {
		sum += v * v / 2
	}
	if appended {
		sum += bias * bias / 2
	}
	for i, y := range b.Y {
		idx, val := b.Sparse(i)
		f := bias
		for k, j := range idx {
			f += w[j] * float64(val[k])
		}
		slack := math.Max(0, 1-float64(y)*f)
		sum += p.c * math.Pow(slack, float64(p.norm)) / float64(p.norm)
	}
	return sum
}

// readLIBLINEAR reads the weights of a model of two classes, for +1, the bias last. Features that
// its data did not have weigh 0.
func readLIBLINEAR(file string, dim int) ([]float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	var w []float64
	sign, weights := 1.0, false
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		fields := strings.Fields(s.Text())
		switch {
		case len(fields) == 0:
		case weights:
			v, err := strconv.ParseFloat(fields[0], 64)
			if err != nil {
				return nil, fmt.Errorf("bench: %s: %w", file, err)
			}
			w = append(w, sign*v)
		case fields[0] == "label" && len(fields) == 3 && fields[1] == "-1":
			sign = -1 // weights are the first label's
		case fields[0] == "w":
			weights = true
		}
	}
	if len(w) == 0 || len(w) > dim+1 {
		return nil, fmt.Errorf("bench: %s: %d weights of %d features and a bias", file, len(w), dim)
	}
	out := make([]float64, dim+1)
	copy(out, w[:len(w)-1])
	out[dim] = w[len(w)-1]
	return out, nil
}

// findPython returns the first python3 in the path that has scikit-learn, or why there is none.
func findPython(ctx context.Context) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		python, err := exec.LookPath(filepath.Join(dir, "python3"))
		if err == nil && exec.CommandContext(ctx, python, "-c", "import sklearn").Run() == nil {
			return python, nil
		}
	}
	return "", fmt.Errorf("no python3 with scikit-learn (Debian: python3-sklearn) is installed")
}

// besidePerceptron measures an epoch of OBPM beside one of scikit-learn's Perceptron, over the same
// examples, which may be there as bytes; the Perceptron has them as sparse or dense rows. An empty
// python is none.
func besidePerceptron(ctx context.Context, dir, name string, b *engine.Block[float32],
	bytes *engine.ByteRows[float32], python, rows string, o Options) (Result, error) {
	const members, tau = 100, 0.05
	if o.Each == 0 {
		o.Each = 40 * time.Millisecond // some epochs, as fit has work around them
	}
	c := pair{name: fmt.Sprintf("peers/epoch/%s/N=%d/tau=%g", name, members, tau),
		unit: "ns/example", scale: float64(b.Len()), ours: passes(b, bytes, members, tau, nil, 1)}
	if python == "" {
		return c.run(ctx, vecmath.Active().String(), o), nil
	}
	script, file := filepath.Join(dir, "perceptron.py"), filepath.Join(dir, name+".unit")
	if err := os.WriteFile(script, perceptronSource, 0o600); err != nil {
		return Result{}, fmt.Errorf("bench: peers: %w", err)
	}
	if err := writeScaled(file, b, 1); err != nil {
		return Result{}, err
	}
	child, err := startChild(ctx, python, script, file, rows)
	if err != nil {
		return Result{}, fmt.Errorf("bench: peers: %w", err)
	}
	runtime.LockOSThread() // the clock is this thread's
	defer runtime.UnlockOSThread()
	child.run(1) // waits until the file is in memory
	c.peerName, c.peer = "sklearn-perceptron", child.run
	if rows == "dense" {
		c.name, c.peerName = c.name+"/beside-dense", "sklearn-perceptron-dense"
	}
	c.cpu = func() time.Duration { return ThreadTime() + child.used }
	r := c.run(ctx, vecmath.Active().String(), o)
	if err := child.stop(); err != nil {
		return r, fmt.Errorf("bench: %s: scikit-learn: %w", c.name, err)
	}
	return r, nil
}
