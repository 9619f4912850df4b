package measure

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestRuns: CPU time and peak memory of a child are the child's, an exit code of learning that was
// cut is none of a failure, any other is.
func TestRuns(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	r := &runs{ctx: context.Background(), program: shell}
	if err := r.start(1, "-c", "exit 6"); err != nil {
		t.Error(err)
	}
	if err := r.start(1, "-c", "exit 1"); err == nil {
		t.Error("exit code 1 is no failure")
	}
	own := peakOf(os.Getpid())
	if runtime.GOOS == "linux" && own < 1<<20 {
		t.Errorf("this process has had %d bytes at most", own)
	}
	for wait := 50 * time.Millisecond; ; wait *= 2 { // a busy machine may not look before the end
		stop := make(chan struct{})
		time.AfterFunc(wait, func() { close(stop) })
		peak := watchPeak(os.Getpid(), stop)
		if peak >= own/2 { // the system counts pages by batches
			break
		}
		if wait > 10*time.Second {
			t.Fatalf("%d bytes at most, %d before", peak, own)
		}
	}
}

// TestWide: the stream is one that learners take, and what is wanted of cases are cases.
func TestWide(t *testing.T) {
	b := sparseStream(10, wideFeatures)
	if err := b.Check(); err != nil || b.Len() != 10 || len(b.Idx) != 10*wideNonZeros {
		t.Error(b.Len(), len(b.Idx), err)
	}
	if got := wantOf("margins/sonar/cramma", "avx512"); got != 25 {
		t.Errorf("25 ns an update are wanted of CRAMMA: %v", got)
	}
	if got := wantOf("margins/sonar/cramma", "avx2"); got != 0 {
		t.Errorf("nothing is wanted on AVX2: %v", got)
	}
	for _, w := range wants {
		if _, err := filepath.Match(w.name, ""); err != nil || !(w.value > 0) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}
