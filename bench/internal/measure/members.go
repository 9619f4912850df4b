package measure

import (
	"context"
	"fmt"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
)

// Members measures OBPM in memory, draws included: against the naive loop over members, and two
// threads against one. With a data folder on Adult (a9a) and the first 10,000 images of MNIST, else
// on generated data of their shapes.
func Members(ctx context.Context, dataDir string, o Options) ([]Result, error) {
	sparse, sparseName, err := adult(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	dense, denseName, err := digits(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	bytes, err := digitBytes(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	two, more := engine.NewPool(2), engine.NewPool(2)
	defer two.Close()
	defer more.Close()
	var cases []pair
	for _, tau := range []float64{0.05, 0.3} {
		cases = append(cases, againstNaive("sparse/"+sparseName, sparse, nil, 100, tau))
	}
	if dataDir != "" {
		d, err := load[float32](ctx, dataDir, dataset.Options{Bias: "append"}, "a9a.gz")
		if err != nil {
			return nil, err
		}
		cases = append(cases, againstNaive("sparse/a9a-ones", &d.Block, nil, 100, 0.3))
	}
	cases = append(cases,
		againstNaive("dense/"+denseName, dense, bytes, 100, 0.05),
		againstNaive("dense/"+denseName, dense, bytes, 100, 0.3),
		threads("dense/"+denseName, dense, bytes, 100, 0.3, two),
		threads("sparse/"+sparseName, sparse, nil, 200, 0.3, more),
	)
	if dataDir != "" {
		// All examples have the same length, so that to scale them changes no mistake: as they are
		// they are zeros and ones.
		for _, c := range [][2]string{{"elegans", "unit"}, {"elegans-ones", "none"}} {
			genes, err := load[float32](ctx, dataDir, dataset.Options{Bias: "append",
				Normalize: c[1]}, elegansFile)
			if err != nil {
				return nil, err
			}
			const epochs = 20
			cases = append(cases, pair{
				name: fmt.Sprintf("members/%s/N=100/tau=0.05/epochs=%d", c[0], epochs),
				unit: "ns/example", scale: float64(epochs * genes.Block.Len()),
				ours: passes(&genes.Block, nil, 100, 0.05, nil, epochs)})
		}
	}
	return runAll(ctx, cases, o)
}

// elegansFile has 100,000 splice sites of C. elegans, as the longest run of the OBPM paper, of
// other chromosomes.
const elegansFile = "C_elegans_acc_100000.fasta.bz2"

// adult loads a9a as the OBPM tables use it (bias appended, unit length), or generates rows of its
// shape: 14 of 123.
func adult(ctx context.Context, dir string) (*engine.Block[float32], string, error) {
	if dir != "" {
		d, err := load[float32](ctx, dir, dataset.Options{Bias: "append", Normalize: "unit"},
			"a9a.gz")
		if err != nil {
			return nil, "", err
		}
		return &d.Block, "a9a", nil
	}
	return oneHot(20000, 14, 123), "onehot-14-of-123", nil
}

// digits loads MNIST, 8 against the rest, unit length, or generates a dense margin problem of its
// shape.
func digits(ctx context.Context, dir string) (*engine.Block[float32], string, error) {
	if dir != "" {
		d, err := loadDigits(ctx, dir, false)
		if err != nil {
			return nil, "", err
		}
		b := d.Block.Slice(0, someDigits)
		return &b, "mnist8", nil
	}
	d, err := MarginProblem[float32](1, 5000, 784, 0.02, 0, false)
	if err != nil {
		return nil, "", err
	}
	return &d.Block, "margin-784", nil
}

// someDigits is how many of MNIST's images are learned.
const someDigits = 10000

// digitBytes are the examples of digits as the command keeps them in memory; nil without a folder,
// where they are none of bytes.
func digitBytes(ctx context.Context, dir string) (*engine.ByteRows[float32], error) {
	if dir == "" {
		return nil, nil
	}
	d, err := loadDigits(ctx, dir, true)
	if err != nil {
		return nil, err
	}
	d.Bytes.Truncate(someDigits)
	return d.Bytes, nil
}

func loadDigits(ctx context.Context, dir string, bytes bool) (*dataset.Data[float32], error) {
	return load[float32](ctx, dir, dataset.Options{Positive: "8", Bias: "append",
		Normalize: "unit", Bytes: bytes}, digitFiles...)
}

// oneHot makes examples of fields categorical attributes, one-hot over dim features, labelled by a
// hidden weight vector.
func oneHot(n, fields, dim int) *engine.Block[float32] {
	rng := engine.NewRand(1, 0)
	b := &engine.Block[float32]{Dim: dim, Ptr: []int{0}}
	u := make([]float64, dim)
	for j := range u {
		u[j] = rng.Normal()
	}
	value := float32(1)
	for range n {
		var f float64
		for k := range fields {
			lo, hi := k*dim/fields, (k+1)*dim/fields
			r := rng.Uniform()
			j := lo + int(r*r*float64(hi-lo)) // skewed, as attributes are
			b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, value)
			f += u[j]
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
		y := float32(1)
		if f+0.5*rng.Normal() < 0 {
			y = -1
		}
		b.Y = append(b.Y, y)
	}
	return b
}

const blockSize = 256

// againstNaive times a first epoch from scratch, ours on one thread and the naive loop, both with
// the same draws. bytes are the examples of b, or nil.
func againstNaive(name string, b *engine.Block[float32], bytes *engine.ByteRows[float32],
	members int, tau float64) pair {
	return pair{
		name: fmt.Sprintf("members/%s/N=%d/tau=%g", name, members, tau), unit: "ns/example",
		scale:    float64(b.Len()),
		ours:     passes(b, bytes, members, tau, nil, 1),
		peerName: "naive",
		peer: func(k int) {
			for range k {
				o := naive.NewOBPM[float32](members, b.Dim, tau, 1)
				for i := range b.Len() {
					o.Learn(b, i)
				}
			}
		}}
}

// many is how many epochs a learner makes that is measured on several threads: its first ms show it
// whether those pay, which is seen of what comes after them.
const many = 10

// threads times two threads against one.
func threads(name string, b *engine.Block[float32], bytes *engine.ByteRows[float32], members int,
	tau float64, two *engine.Pool) pair {
	return pair{
		name: fmt.Sprintf("members/%s/N=%d/tau=%g/threads=2", name, members, tau),
		unit: "ns/example", scale: float64(many * b.Len()), threads: true,
		ours:     passes(b, bytes, members, tau, two, many),
		peerName: "one-thread",
		peer:     passes(b, bytes, members, tau, nil, many),
	}
}

// passes returns a loop of so many epochs from scratch over b, or over the same examples as bytes,
// where they are there.
func passes(b *engine.Block[float32], bytes *engine.ByteRows[float32], members int, tau float64,
	pool *engine.Pool, epochs int) func(k int) {
	rounds := make([]learner.Round, blockSize)
	var part engine.Block[float32]
	next := func(lo int) (hi int) {
		hi = min(lo+blockSize, b.Len())
		part = b.Slice(lo, hi)
		return hi
	}
	if bytes != nil {
		run := min(blockSize, engine.DenseRun[float32](bytes.Dim()))
		next = func(lo int) (hi int) {
			hi = min(lo+run, bytes.Len())
			bytes.Block(&part, lo, hi)
			return hi
		}
	}
	return func(k int) {
		for range k {
			l, err := NewOBPM[float32](members, tau, learner.Env{Seed: 1, Pool: pool})
			if err != nil {
				panic(err) // constant settings
			}
			for at, end := 0, epochs*b.Len(); at < end; {
				lo := at % b.Len()
				at += next(lo) - lo
				if err := l.Learn(&part, rounds); err != nil {
					panic(err) // checked data
				}
			}
		}
	}
}
