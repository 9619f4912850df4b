package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// svmTrain is LIBSVM's command, of Debian's package libsvm-tools.
const svmTrain = "svm-train"

// SVM measures the training of RBF machines from svmlight text to the solution, beside LIBSVM on
// the same problem: CPU time of one core, of the child process on the other side. Ours goes on to a
// duality gap of 1e-6, past the point at which LIBSVM stops (-e 0.001). With a data folder on the
// first 10,000 rows of Adult (a9a) and the first 5000 images of MNIST, 8 against the rest; else on
// generated data of Adult's shape. Without svm-train in the path nothing is compared, and a note
// says so.
func SVM(ctx context.Context, dataDir string, o Options) ([]Result, error) {
	dir, err := os.MkdirTemp("", "halfspace-svm")
	if err != nil {
		return nil, fmt.Errorf("bench: svm: %w", err)
	}
	defer os.RemoveAll(dir)
	peer, missing := exec.LookPath(svmTrain)
	if o.Rounds == 0 {
		o.Rounds = 3 // of seconds
	}
	// one core: the reader has goroutines of its own
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	problems, err := svmProblems(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, p := range problems {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		c, side, err := p.pair(ctx, dir, peer)
		if err != nil {
			return out, err
		}
		res, err := runAll(ctx, []pair{c}, o)
		if err != nil {
			return out, err
		}
		if side.err != nil {
			return out, fmt.Errorf("bench: %s: %w", c.name, side.err)
		}
		if missing != nil {
			res[0].Note = svmTrain +
				" (Debian: libsvm-tools) is not installed: compared with nothing"
		}
		out = append(out, res...)
	}
	return out, nil
}

// svmProblem is C-SVC with C = 1 and the kernel exp(-gamma |x-z|^2 / scale^2).
type svmProblem struct {
	name string
	// as it stands in our file; LIBSVM's holds values divided by scale
	b            *engine.Block[float32]
	gamma, scale float64
}

func svmProblems(ctx context.Context, dir string) ([]svmProblem, error) {
	if dir == "" {
		return []svmProblem{{"onehot-14-of-123", oneHot(2000, 14, 123), 1. / 123, 1}}, nil
	}
	a, err := load[float32](ctx, dir, dataset.Options{}, "a9a.gz")
	if err != nil {
		return nil, err
	}
	m, err := load[float32](ctx, dir, dataset.Options{Positive: "8"}, digitFiles[0])
	if err != nil {
		return nil, err
	}
	adult, digits := a.Block.Slice(0, 10000), m.Block.Slice(0, 5000)
	return []svmProblem{{"a9a-10000", &adult, 1. / 123, 1}, {"mnist8-5000", &digits, 0.02, 255}},
		nil
}

// pair writes the files for both sides, whose failures are those of the process.
func (p svmProblem) pair(ctx context.Context, dir, peer string) (c pair, side *process,
	err error) {
	ours, theirs := filepath.Join(dir, p.name+".ours"), filepath.Join(dir, p.name+".theirs")
	if err := writeScaled(ours, p.b, 1); err != nil {
		return c, nil, err
	}
	side = &process{ctx: ctx, program: peer}
	c = pair{name: "svm/rbf/" + p.name, unit: "ns/op", cpu: side.cpu,
		ours: loop(func() { side.failed(trainSVM(ctx, ours, p)) })}
	if peer == "" {
		return c, side, nil
	}
	if err := writeScaled(theirs, p.b, p.scale); err != nil {
		return c, nil, err
	}
	return c.beside("libsvm", func() {
		side.run("-q", "-s", "0", "-t", "2", "-c", "1", "-m", "1000", "-g",
			strconv.FormatFloat(p.gamma, 'g', -1, 64), theirs, filepath.Join(dir, "model"))
	}), side, nil
}

// process is a peer's program, run again and again.
type process struct {
	ctx     context.Context
	program string
	used    time.Duration // CPU time of the runs
	err     error         // the first of one, or of our side
}

func (p *process) run(args ...string) {
	cmd := exec.CommandContext(p.ctx, p.program, args...)
	if text, err := cmd.CombinedOutput(); err != nil {
		p.failed(fmt.Errorf("%s: %w: %s", filepath.Base(p.program), err, text))
		return
	}
	p.used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// cpu is the CPU time of both sides.
func (p *process) cpu() time.Duration { return ProcessTime() + p.used }

func (p *process) failed(err error) {
	if p.err == nil {
		p.err = err
	}
}

// trainSVM reads a file and trains on it with float32 kernel values, as LIBSVM's are, and as much
// memory for them.
func trainSVM(ctx context.Context, file string, p svmProblem) error {
	d, err := dataset.Load[float32](ctx, []string{file}, dataset.Options{Workers: 1})
	if err != nil {
		return err
	}
	s, err := NewSVM[float32](learners.SVMConfig{C: 1, Norm: 1, Gap: 1e-6,
		KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: p.gamma, Scale: p.scale}}, nil)
	if err != nil {
		return err
	}
	r, err := s.Fit(ctx, &d.Block, learner.FitOptions{GramBytes: 1000 << 20})
	if err == nil && !r.Converged {
		err = fmt.Errorf("svm: not converged: %+v", s.Solution())
	}
	return err
}
