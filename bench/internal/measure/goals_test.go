package measure

import (
	"context"
	"path"
	"strings"
	"testing"
)

// TestGoals: goals are by implementation, the peer is part of them, and none stands for a kernel
// that there is not.
func TestGoals(t *testing.T) {
	for _, c := range []struct {
		name, peer, impl string
		want             float64
	}{
		{"dot/f32/n=784", "gonum", "avx512", 2.1}, {"dot/f32/n=784", "gonum", "neon", 0},
		{"dot/f32/n=784", "gonum", "generic", 0}, {"dot/f32/n=784", "", "avx512", 0},
		{"symrankonemul/f64/n=300", "openblas", "avx2", 1.6},
		{"symrankonemul/f64/n=300", "go-loop", "avx2", 7},
		{"members/sparse/a9a/N=100/tau=0.3", "naive", "avx2", 5},
		{"members/sparse/a9a/N=100/tau=0.05", "naive", "avx2", 0},
	} {
		if got := goalOf(c.name, c.peer, c.impl); got != c.want {
			t.Errorf("%s beside %q, %s: %v, want %v", c.name, c.peer, c.impl, got, c.want)
		}
	}
	var names []pair
	for _, n := range []int{16, 123, 784, 6125} {
		names = append(append(names, dense32(n)...), dense64(n)...)
	}
	names = append(append(names, rowsAtPage(8)), symmetricCases(100)...)
	problems, err := svmProblems(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		names = append(names, pair{name: "svm/rbf/" + p.name, peerName: "libsvm"})
	}
	for _, g := range goals {
		if _, err := path.Match(g.name, ""); err != nil || min(g.avx512, g.avx2, g.neon) < 0 ||
			max(g.avx512, g.avx2, g.neon) == 0 || g.peer == "" {
			t.Errorf("%+v: %v", g, err)
		}
		head, _, _ := strings.Cut(g.name, "/")
		known, found := false, false
		for _, p := range names {
			if h, _, _ := strings.Cut(p.name, "/"); h == head && p.peerName == g.peer {
				is, _ := path.Match(g.name, p.name)
				known, found = true, found || is
			}
		}
		if known && !found && head != "svm" { // whose other problems are data's
			t.Errorf("%s beside %s: there is no such case", g.name, g.peer)
		}
	}
}
