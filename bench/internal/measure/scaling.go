package measure

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// Scaling measures learners whose work goes to a pool, on 2, 4, ... threads, as many as there are
// cores, compared with one thread: wall clock and CPU time of all threads. Each note has the serial
// share of the work, which the speed-up s on n threads shows (Karp-Flatt: (1/s - 1/n) / (1 - 1/n));
// what Amdahl's law expects of 16 and 64 cores with it; and what the machine allows: what n
// learners do concurrently that have nothing in common. With a data folder on Adult (a9a), MNIST
// and waveform, else on generated data.
//
// References: G. M. Amdahl, "Validity of the single processor approach to achieving large scale
// computing capabilities", AFIPS 1967. A. H. Karp, H. P. Flatt, "Measuring parallel processor
// performance", Communications of the ACM 33(5), 1990.
func Scaling(ctx context.Context, dataDir string, o Options) ([]Result, error) {
	counts := threadCounts(runtime.GOMAXPROCS(0))
	if len(counts) == 0 {
		return nil, fmt.Errorf("bench: scaling: want two cores or more (GOMAXPROCS is 1)")
	}
	cases, err := scalingCases(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, c := range cases {
		for _, threads := range counts {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			pool := engine.NewPool(threads)
			r := pair{name: fmt.Sprintf("scaling/%s/threads=%d", c.name, threads),
				unit: "ns/example", scale: float64(c.examples), threads: true,
				ours: c.run(pool), peerName: "one-thread", peer: c.run(nil),
			}.run(ctx, vecmath.Active().String(), o)
			pool.Close()
			r.scales(threads)
			pprof.Do(ctx, pprof.Labels("case", r.Name, "side", "apart"), func(context.Context) {
				r.allows(threads, c.apart(threads))
			})
			out = append(out, r)
		}
	}
	return out, nil
}

// apart is how many times the work of one thread so many do that have nothing in common but the
// examples: more than that no machine gives, whose cores share caches, memory, or one another. The
// median of three rounds.
func (c scalingCase) apart(threads int) float64 {
	runs := make([]func(int), threads)
	for i := range runs {
		runs[i] = c.run(nil)
		runs[i](1)
	}
	var times []float64
	for range 3 {
		begin := time.Now()
		runs[0](1)
		one := time.Since(begin)
		begin = time.Now()
		var all sync.WaitGroup
		for _, run := range runs {
			all.Go(func() { run(1) })
		}
		all.Wait()
		times = append(times, float64(threads)*one.Seconds()/time.Since(begin).Seconds())
	}
	m, _ := median(times)
	return m
}

// threadCounts are 2, 4, 8, ... up to so many cores, and these.
func threadCounts(cores int) (counts []int) {
	for n := 2; n < cores; n *= 2 {
		counts = append(counts, n)
	}
	if cores > 1 {
		counts = append(counts, cores)
	}
	return counts
}

// scalingCase is a learner and what it learns from scratch.
type scalingCase struct {
	name     string
	examples int
	run      func(*engine.Pool) func(k int)
	learner  string
	config   learner.Config
}

func scalingCases(ctx context.Context, dataDir string) ([]scalingCase, error) {
	sparse, sparseName, err := adult(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	dense, denseName, err := digits(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	wave, waveName, err := waveform(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	part := func(b *engine.Block[float32], n int) *engine.Block[float32] {
		s := b.Slice(0, min(n, b.Len()))
		return &s
	}
	genes := oneHot(20000, 49, 6125) // of the shape of the OBPM paper's C. elegans data
	for _, b := range []*engine.Block[float32]{sparse, dense, wave, genes} {
		if err := b.Check(); err != nil {
			return nil, err
		}
	}
	ensemble := func(name string, b *engine.Block[float32], members int, tau float64) scalingCase {
		return scalingCase{fmt.Sprintf("obpm/%s/N=%d/tau=%g", name, members, tau), many * b.Len(),
			func(pool *engine.Pool) func(int) { return passes(b, nil, members, tau, pool, many) },
			"obpm", Defaults[*learners.OBPMConfig]("obpm")}
	}
	stream := func(what, name string, c learner.Config, b *engine.Block[float32]) scalingCase {
		return scalingCase{what, b.Len(), func(pool *engine.Pool) func(int) {
			return streamed(b, name, c, pool)
		}, name, c}
	}
	fit := func(what, name string, c learner.Config, b *engine.Block[float32]) scalingCase {
		return scalingCase{what, b.Len(), func(pool *engine.Pool) func(int) {
			return fitted(ctx, b, name, c, pool)
		}, name, c}
	}
	rbf := func(gamma float64) learner.KernelConfig {
		return learner.KernelConfig{Kernel: "rbf", Gamma: gamma}
	}
	tbp := Defaults[*learners.TBPConfig]("tbp")
	tbp.Budget, tbp.KernelConfig = 200, rbf(0.05)
	kept := Defaults[*learners.OBPMConfig]("obpm")
	kept.Members, kept.Tau, kept.Budget, kept.KernelConfig = 100, 0.3, 100, rbf(2)
	kernel := Defaults[*learners.SVMConfig]("svm")
	kernel.Gap, kernel.KernelConfig = 1e-3, rbf(0.5)
	linear := Defaults[*learners.SVMConfig]("svm")
	linear.Gap = 1e-3
	kmp := Defaults[*learners.KMPConfig]("kmp")
	kmp.KernelConfig = rbf(0.05)
	mapped := Defaults[*learners.RFFConfig]("rff")
	mapped.Sigma = 1
	cases := []scalingCase{
		ensemble(sparseName, sparse, 100, 0.3),
		ensemble(sparseName, sparse, 200, 0.3),
		ensemble(sparseName, sparse, 1000, 0.05),
		ensemble("onehot-49-of-6125", genes, 100, 0.05),
		ensemble(denseName, dense, 100, 0.05),
		ensemble(denseName, dense, 100, 0.3),
		stream("obpm/rbf/"+denseName, "obpm", kept, part(dense, 2000)),
		stream("tbp/"+waveName, "tbp", tbp, part(wave, 2000)),
		fit("svm/linear/"+sparseName, "svm", linear, sparse),
		fit("svm/rbf/"+denseName, "svm", kernel, part(dense, 1000)),
		fit("kmp/"+waveName, "kmp", kmp, part(wave, 2000)),
		stream("rff/"+denseName, "rff", mapped, part(dense, 2000)),
		stream("ovr/10-classes/"+denseName, "ovr", Defaults[*learners.OVRConfig]("ovr"),
			inClasses(part(dense, 2000), 10)),
		stream("ovo/5-classes/"+denseName, "ovo", Defaults[*learners.OVOConfig]("ovo"),
			inClasses(part(dense, 2000), 5)),
	}
	return cases, everyThreaded(cases)
}

// inClasses gives the examples so many classes in turn: which ones changes little of the work.
func inClasses(b *engine.Block[float32], classes int) *engine.Block[float32] {
	b.Class = make([]int32, b.Len())
	for i := range b.Class {
		b.Class[i] = int32(i % classes)
	}
	return b
}

// everyThreaded returns an error if some learner whose default settings share work among threads is
// missing, or one that shares none is there.
func everyThreaded(cases []scalingCase) error {
	there := map[string]bool{}
	for _, c := range cases {
		there[c.learner] = true
		if c.config.Traits().Threads == "" {
			return fmt.Errorf("bench: scaling/%s: %s shares no work among threads", c.name,
				c.learner)
		}
	}
	for _, name := range learner.Names() {
		if e, err := learner.Lookup(name); err == nil && e.Config().Traits().Threads != "" &&
			!there[name] {
			return fmt.Errorf("bench: scaling: there is no case of %s, which shares %s", name,
				e.Config().Traits().Threads)
		}
	}
	return nil
}

// waveform loads Raetsch's waveform data, or generates two overlapping classes in the plane.
func waveform(ctx context.Context, dir string) (*engine.Block[float32], string, error) {
	if dir != "" {
		d, err := load[float32](ctx, dir, dataset.Options{}, WaveformFile)
		if err != nil {
			return nil, "", err
		}
		return &d.Block, "waveform", nil
	}
	d, err := dataset.Generate[float32]("gauss", map[string]string{"n": "2000", "seed": "1"})
	if err != nil {
		return nil, "", err
	}
	return &d.Block, "gauss", nil
}

// streamed lets a new learner make one pass, block by block.
func streamed(b *engine.Block[float32], name string, c learner.Config,
	pool *engine.Pool) func(k int) {
	rounds := make([]learner.Round, blockSize)
	return func(k int) {
		for range k {
			l, err := learner.Make[float32](name, c, learner.Env{Seed: 1, Pool: pool})
			for lo := 0; err == nil && lo < b.Len(); lo += blockSize {
				part := b.Slice(lo, min(lo+blockSize, b.Len()))
				err = l.Learn(&part, rounds)
			}
			if err != nil {
				panic(fmt.Sprintf("bench: %s: %v", name, err)) // constant settings, checked data
			}
		}
	}
}

// fitted lets a new learner fit the block.
func fitted(ctx context.Context, b *engine.Block[float32], name string, c learner.Config,
	pool *engine.Pool) func(k int) {
	return func(k int) {
		for range k {
			_, _, err := Fit(ctx, name, c, learner.Env{Seed: 1, Pool: pool}, b,
				learner.FitOptions{GramBytes: 256 << 20})
			if err != nil && ctx.Err() == nil {
				panic(fmt.Sprintf("bench: %s: %v", name, err)) // constant settings, checked data
			}
		}
	}
}

// scales adds to a result its serial share, what that allows, and the CPU time of all threads.
func (r *Result) scales(threads int) {
	rounds := float64(len(r.Rounds))
	var speedUp, cpu float64
	for _, round := range r.Rounds {
		speedUp += round.Peer.Wall / round.Ours.Wall / rounds
		cpu += round.Ours.CPU / round.Peer.CPU / rounds
	}
	n := float64(threads)
	serial := min(max((1/speedUp-1/n)/(1-1/n), 0), 1)
	r.SerialShare = &serial
	r.Note = fmt.Sprintf("serial share %.1f %%: on 16 cores %.1f times as fast by Amdahl's law, "+
		"on 64 %.1f; CPU time %.2f times that of one thread", 100*serial, amdahl(serial, 16),
		amdahl(serial, 64), cpu)
}

// allows puts into a result how many times the work of one thread so many did apart.
func (r *Result) allows(threads int, apart float64) {
	r.Apart = &apart
	r.Note += fmt.Sprintf("; %d learners that have nothing in common do %.2f times the work of one",
		threads, apart)
}

// amdahl is how many times as fast so many cores are with that serial share.
func amdahl(serial float64, cores int) float64 {
	return 1 / (serial + (1-serial)/float64(cores))
}
