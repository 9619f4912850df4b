// Command rows measures what it costs to cut the rows of Adult (a9a) into shards that are learned
// apart, and prints the tables of docs/distributed.md:
//
//	go run ./bench/rows [-runs 10] FOLDER
//
// FOLDER has a9a.gz and a9a.t.gz (halfspace data fetch a9a). Runs learn the rows in different
// orders. A number is the mean test error in percent, and behind it half of its 95 % interval, by
// Student's t.
package main

import (
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/training"
)

// shards and rounds are the tables' columns and rows.
var shards, rounds = []int{1, 4, 16, 64}, []int{1, 3, 10}

// t975 is the 97.5 % point of Student's t with so many degrees of freedom less one.
var t975 = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262}

func main() {
	runs := flag.Int("runs", 10, "orders of the rows, 2 to 10")
	flag.Parse()
	if flag.NArg() != 1 || *runs < 2 || *runs > len(t975)+1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := tables(context.Background(), flag.Arg(0), *runs); err != nil {
		fmt.Fprintln(os.Stderr, "rows:", err)
		os.Exit(1)
	}
}

// tables prints both.
func tables(ctx context.Context, data string, runs int) error {
	lines, err := unpacked(filepath.Join(data, "a9a.gz"))
	if err != nil {
		return err
	}
	test, err := dataset.Load[float32](ctx, []string{filepath.Join(data, "a9a.t.gz")},
		dataset.Options{Bias: "append"})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "halfspace-rows-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files := make([]string, runs)
	for i := range files {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		r.Shuffle(len(lines), func(a, b int) { lines[a], lines[b] = lines[b], lines[a] })
		files[i] = filepath.Join(dir, fmt.Sprintf("%d.svm", i))
		text := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			return err
		}
	}
	fmt.Printf("%-28s", "shards")
	for _, n := range shards {
		fmt.Printf("%16d", n)
	}
	fmt.Println()
	bias := training.Data{Bias: "append"}
	if err := row("adf, merged", files, func(file string, n int) (float64, error) {
		m, err := shard.TrainRows(ctx, training.Options{Learner: "adf", Files: []string{file},
			Data: bias}, n, runtime.GOMAXPROCS(0), training.Env{})
		if err != nil {
			return 0, err
		}
		return wrong(m.Model, &test.Block)
	}); err != nil {
		return err
	}
	for _, learner := range []string{"obpm", "perceptron"} {
		for _, by := range []string{shard.MixUniform, shard.MixMistakes} {
			for _, k := range rounds {
				name := fmt.Sprintf("%s, %s, %d rounds", learner, by, k)
				if err := row(name, files, func(file string, n int) (float64, error) {
					m, err := shard.Mix(ctx, shard.Mixing{Options: training.Options{
						Learner: learner, Files: []string{file}, Data: bias}, Shards: n,
						Rounds: k, By: by, Workers: runtime.GOMAXPROCS(0)}, training.Env{})
					if err != nil {
						return 0, err
					}
					return wrong(m.Model, &test.Block)
				}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// row prints a line of a table: what one learns of each file, cut into shards.
func row(name string, files []string, learn func(file string, n int) (float64, error)) error {
	fmt.Printf("%-28s", name)
	for _, n := range shards {
		sum, squares := 0.0, 0.0
		for _, file := range files {
			e, err := learn(file, n)
			if err != nil {
				return err
			}
			sum, squares = sum+e, squares+e*e
		}
		k := float64(len(files))
		mean := sum / k
		spread := math.Sqrt(max(0, squares-k*mean*mean) / (k - 1) / k)
		fmt.Printf("%9.2f ± %4.2f", mean, t975[len(files)-2]*spread)
	}
	fmt.Println()
	return nil
}

// wrong is the share of examples that a model gets wrong, in percent.
func wrong(m *model.Model, b *engine.Block[float32]) (float64, error) {
	p, err := model.RestorePredictor[float32](m, nil)
	if err != nil {
		return 0, err
	}
	f := make([]float64, b.Len())
	if err := p.Score(b, f); err != nil {
		return 0, err
	}
	n := 0
	for i, v := range f {
		if v*float64(b.Y[i]) <= 0 {
			n++
		}
	}
	return 100 * float64(n) / float64(len(f)), nil
}

// unpacked returns the lines of a file packed by gzip.
func unpacked(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}
