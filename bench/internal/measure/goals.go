package measure

import "path"

// goal is how many times as fast as its peer a case should be, by implementation; 0 where it was
// not measured, or has no goal. The case is a pattern of path.Match.
type goal struct {
	name, peer         string
	avx512, avx2, neon float64
}

// goals are below what was measured on machines of that kind, by what differs between runs: what a
// change must not lose. docs/figures.md has the measurements.
var goals = []goal{
	{"dot/f32/n=123", "gonum", 1.8, 1.8, 0},
	{"dot/f32/n=784", "gonum", 2.1, 2.1, 0},
	{"axpy/f32/n=784", "gonum", 1.5, 1.7, 0},
	{"sumsq/f32/n=784", "gonum-nrm2", 30, 30, 0},
	{"rowsdot/f32/n=*/page", "gonum-gemv", 1.5, 1.5, 0},
	{"members/sparse/a9a-ones/N=100/tau=0.3", "naive", 7, 5, 0},
	{"members/dense/*/N=100/tau=0.3", "naive", 12, 5, 0},
	{"members/*/*/N=100/tau=0.3", "naive", 5, 5, 0},
	{"members/dense/*/N=100/tau=0.3/threads=2", "one-thread", 1.5, 1.5, 0},
	{"tbp/waveform/rbf/p=100/q=300", "naive", 10, 10, 0},
	{"obpm/mnist8/rbf/p=100/N=100", "N=1", 0.25, 0.25, 0},
	{"svm/rbf/a9a-10000", "libsvm", 12, 5, 0},
	{"svm/rbf/mnist8-5000", "libsvm", 12, 8, 0},
	{"svm/rbf/onehot-14-of-123", "libsvm", 5, 5, 0},
	{"symrankonemul/f64/n=[135]*", "go-loop", 7, 7, 0},
	{"symrankonemul/f32/n=[135]*", "go-loop", 11, 11, 0},
	{"symrankonemul/f64/n=[35]00", "openblas", 1.6, 1.6, 0},
	{"symrankonemul/f64/n=1000", "openblas", 1.6, 1.6, 0},
	{"symmul/f64/n=[135]*", "go-loop", 6, 0, 0},
	{"symmul/f32/n=[135]*", "go-loop", 10, 0, 0},
	{"vvm/f64/d=100/B=30", "dense", 50, 50, 0},
	{"vvm/f64/d=400/B=50", "dense", 200, 200, 0},
	{"rff/*/D=1000", "go-loop", 6, 6, 0},
	{"wide/*/*", "romma", 0.2, 0.2, 0},
	{"command/wide/*/*", "romma", 0.2, 0.2, 0},
	{"read/svmlight/*", "strconv", 2.5, 0, 0},
	{"read/svmlight.gz/*", "strconv", 2.5, 0, 0},
	{"read/csv/*", "strconv", 3.5, 0, 0},
	{"peers/epoch/[aw][89]a/N=100/tau=0.05", "sklearn-perceptron", 1.3, 0, 0},
	{"peers/epoch/a9a-ones/N=100/tau=0.05", "sklearn-perceptron", 2.2, 0, 0},
	{"peers/epoch/w8a-ones/N=100/tau=0.05", "sklearn-perceptron", 2.5, 0, 0},
	{"peers/epoch/mnist8/N=100/tau=0.05", "sklearn-perceptron", 0.6, 0, 0},
	{"peers/epoch/mnist8/N=100/tau=0.05/beside-dense", "sklearn-perceptron-dense", 2.5, 0, 0},
	{"peers/linear-svm/hinge/*/*", "liblinear-s3", 1.5, 0, 0},
	{"peers/linear-svm/hinge2/*/*", "liblinear-s2", 1.2, 0, 0},
	{"serve/predict/p99", "no-writer", 0.77, 0.77, 0.77}, // 1.3 times as long
	{"serve/predict/p99", "writer-of-another-model", 0.77, 0.77, 0.77},
}

// goalOf returns the goal of a case beside that peer with that implementation, 0 if there is none.
func goalOf(name, peer, impl string) float64 {
	for _, g := range goals {
		if is, _ := path.Match(g.name, name); !is || g.peer != peer {
			continue
		}
		return map[string]float64{"avx512": g.avx512, "avx2": g.avx2, "neon": g.neon}[impl]
	}
	return 0
}

// want is what a case should take at most, in its unit, or of rates reach, on a quiet core of 2026
// with AVX-512. Times age, so no exit code depends on them.
type want struct {
	name  string // a pattern of path.Match
	value float64
}

var wants = []want{
	{"margins/sonar/perceptron", 20},
	{"margins/sonar/cramma", 25},
	{"vvm/f64/d=100/B=30", 25e3},
	{"vvm/f64/d=400/B=50", 150e3},
	{"budget/a9a/rbf/p=100", 800},
	{"tbp/waveform/rbf/p=100/q=300", 4000},
	{"members/elegans*/N=100/tau=0.05/epochs=20", 225}, // 0.45 s in all
	{"read/svmlight/*", 450},
	{"command/version", 10e6},
	{"command/train/20-rows", 10e6},
	{"command/text-to-model/*/*/*/threads=1", 280},
	{"command/text-to-model/*/*/*/threads=2", 170},
	{"command/predict/threads=1", 450},
	{"resident/kmp/*/*/*", 1000},
}

// wantOf returns what is wanted of a case with that implementation, or 0.
func wantOf(name, impl string) float64 {
	for _, w := range wants {
		if is, _ := path.Match(w.name, name); is && impl == "avx512" {
			return w.value
		}
	}
	return 0
}
