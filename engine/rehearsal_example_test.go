package engine_test

import (
	"context"
	"fmt"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
)

// tick is a job whose parts take 4, 3, 2 and 1 seconds of a clock that only they move.
type tick struct{ now time.Duration }

func (j *tick) Part(i int) { j.now += time.Duration(4-i) * time.Second }

// What four parts would take on two workers, found on one: 4 and 1 beside 3 and 2.
func ExampleRehearsal() {
	var j tick
	pool, r := engine.NewRehearsal(2, func() time.Duration { return j.now })
	err := pool.Run(context.Background(), 4, &j)
	fmt.Println(err, r.Parts, r.Span)
	// Output:
	// <nil> 10s 5s
}
