package measure

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

func TestAmdahl(t *testing.T) {
	if v := amdahl(0.1, 16); math.Abs(v-6.4) > 1e-12 {
		t.Errorf("a tenth serial on 16 cores: %v", v)
	}
	for cores, want := range map[int][]int{1: nil, 2: {2}, 3: {2, 3}, 8: {2, 4, 8}} {
		if got := threadCounts(cores); !slices.Equal(got, want) {
			t.Errorf("%d cores: %v, want %v", cores, got, want)
		}
	}
}

// TestScales: by hand.
func TestScales(t *testing.T) {
	r := Result{Rounds: []Round{{Timing{Ops: 10, CPU: 110, Wall: 62.5}, &Timing{Ops: 10, CPU: 100,
		Wall: 100}}}}
	r.scales(2)
	if want := "serial share 25.0 %: on 16 cores 3.4 times as fast by Amdahl's law, on 64 3.8; " +
		"CPU time 1.10 times that of one thread"; r.Note !=
		want || *r.SerialShare != 0.25 {
		t.Errorf("%q, %v, want %q", r.Note, *r.SerialShare, want)
	}
}

// TestApart: threads that wait do as many times the work of one, whatever the cores.
func TestApart(t *testing.T) {
	c := scalingCase{run: func(*engine.Pool) func(k int) {
		return func(int) { time.Sleep(20 * time.Millisecond) }
	}}
	var r Result
	r.allows(3, c.apart(3))
	if *r.Apart < 2 || *r.Apart > 3.5 || !strings.HasPrefix(r.Note, "; 3 learners that have") {
		t.Errorf("%v, %q, want 3", *r.Apart, r.Note)
	}
}

// TestEveryThreaded: what learners say of threads decides which are measured, and the linear SVM
// is.
func TestEveryThreaded(t *testing.T) {
	e, err := learner.Lookup("perceptron")
	if err != nil {
		t.Fatal(err)
	}
	if everyThreaded(nil) == nil || everyThreaded([]scalingCase{{learner: "perceptron",
		config: e.Config()}}) == nil {
		t.Error("a learner without a case, or a case of a learner without work for threads, passes")
	}
}

// TestScalingCases: all of them run, alone and on two threads.
func TestScalingCases(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	pool := engine.NewPool(2)
	defer pool.Close()
	cases, err := scalingCases(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c.run(nil)(1)
		c.run(pool)(1)
	}
}
