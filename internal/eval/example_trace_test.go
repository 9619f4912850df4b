package eval_test

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/internal/eval"
)

// A part of an ensemble says what it did with each block; the fingerprint says of which examples.
func ExampleTrace() {
	bytes := 0
	t := eval.Trace{Write: func(entries []byte) error { bytes += len(entries); return nil }}
	must(eval.Run(ctx, newLearner("obpm"), generated("train"), eval.Options{Trace: &t}))
	fmt.Println(t.Examples, "examples", bytes, "bytes", t.Sum != 0)
	// Output: 400 examples 400 bytes true
}
