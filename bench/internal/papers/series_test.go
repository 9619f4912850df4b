package papers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/internal/report"
)

// counted returns an experiment that counts its runs; it ends with err if that isn't nil.
func counted(name string, ran *int, err *error) Experiment {
	return Experiment{Name: name, Runs: 2, Slow: "another", SlowRows: 3,
		Run: func(_ context.Context, o RunOptions) error {
			if err != nil && *err != nil {
				return *err
			}
			*ran++
			o.add(Row{Row: "<a>", Quantity: "updates", Paper: at(2)}, 1, float64(o.Seed)/3)
			o.drawn(report.Figure{Name: name, Lines: []report.Line{{Name: "l", X: []float64{1},
				Y: []float64{2}}}})
			return nil
		}}
}

// TestSeries: outcomes are kept as they come, a run goes on after the one that failed, and gives
// the same; other options and data are other outcomes; a damaged file is reported and replaced.
func TestSeries(t *testing.T) {
	var first, second, data int
	failing := errors.New("on purpose")
	dir := t.TempDir()
	withData := counted("obpm/c", &data, nil)
	withData.Needs = []string{"file"}
	said := ""
	s := &Series{Experiments: []Experiment{counted("obpm/a", &first, nil), counted("obpm/b",
		&second, &failing), withData},
		Options: RunOptions{Seed: 1, DataDir: dir}, Cache: Cache{Dir: filepath.Join(t.TempDir(),
			"new")},
		Say: func(format string, args ...any) { said += fmt.Sprintf(format+"\n", args...) }}
	run := func() (out []Outcome, err error) {
		said = ""
		err = s.Run(context.Background(), func(o Outcome) error {
			out = append(out, o)
			return nil
		})
		return out, err
	}
	want := func(a, b, c int) {
		t.Helper()
		if first != a || second != b || data != c {
			t.Errorf("ran %d, %d and %d times, want %d, %d, %d; said:\n%s", first, second, data, a,
				b, c, said)
		}
	}
	if out, err := run(); !errors.Is(err, failing) || len(out) != 1 {
		t.Errorf("%d outcomes, %v", len(out), err)
	}
	want(1, 0, 0)
	cause := failing
	failing = nil
	before, err := run()
	if err != nil || len(before) != 3 || !before[0].Cached || before[1].Cached ||
		!before[2].NoData || before[2].Skipped == "" || before[0].LeftOut != 3 {
		t.Errorf("%+v, %v", before, err)
	}
	want(1, 1, 0)
	failing = cause // not asked
	again, err := run()
	if err != nil || again[1].LeftOut != 3 || len(again[1].Figures) != 1 {
		t.Errorf("%+v, %v", again, err)
	}
	if a, b := text(t, before[1].Rows), text(t, again[1].Rows); a != b {
		t.Errorf("from the cache\n%s\nwant\n%s", b, a)
	}
	want(1, 1, 0)
	failing = nil

	for i, content := range []string{"x", "x", "y"} { // the same size: the content decides
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, "file"), time.Time{}, time.Unix(int64(i+1),
			0)); err != nil {
			t.Fatal(err)
		}
		if _, err := run(); err != nil {
			t.Error(err)
		}
	}
	want(1, 1, 2)
	s.Options.Slow = true
	if out, err := run(); err != nil || out[0].LeftOut != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	want(2, 2, 3)
	s.Options.Seed = 2
	run()
	want(3, 3, 4)

	damage(t, s.Cache.Dir, 10)
	run()
	want(4, 4, 5)
	if !strings.Contains(said, "obpm/a is run again: "+ErrCache.Error()) {
		t.Errorf("a damaged file is not told of:\n%s", said)
	}
	run()
	want(4, 4, 5)
	s.Fresh = true
	run()
	want(5, 5, 6)
}

// damage cuts every other file of a cache of so many, and changes a number in the rest.
func damage(t *testing.T, dir string, want int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != want {
		t.Fatalf("%v, %v", files, err)
	}
	for i, f := range files {
		name := filepath.Join(dir, f.Name())
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			b = b[:len(b)/2]
		} else { // another number
			b = []byte(strings.Replace(string(b), `"runs":2`, `"runs":3`, 1))
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeriesStopped: an end from outside comes before the next experiment, and what was finished is
// kept.
func TestSeriesStopped(t *testing.T) {
	defer goleak.VerifyNone(t)
	var first, second int
	var drawn []string
	hidden := 0
	s := &Series{Experiments: []Experiment{counted("obpm/a", &first, nil), counted("obpm/b",
		&second, nil)}, Options: RunOptions{Seed: 1}, Cache: Cache{Dir: t.TempDir()},
		Show: func(s Standing) {
			drawn = append(drawn, fmt.Sprintf("%d/%d %s", s.At, s.Of,
				s.Name))
		},
		Hide: func() { hidden++ }}
	ctx, stop := context.WithCancel(context.Background())
	if err := s.Run(ctx, func(Outcome) error { stop(); return nil }); !errors.Is(err,
		context.Canceled) || first != 1 || second != 0 {
		t.Errorf("%v after %d and %d runs", err, first, second)
	}
	if err := s.Run(context.Background(), func(Outcome) error { return nil }); err != nil ||
		first != 1 || second != 1 {
		t.Errorf("%v after %d and %d runs", err, first, second)
	}
	if !slices.Contains(drawn, "1/2 obpm/b") || hidden != 2 {
		t.Errorf("shown %q, hidden %d times", drawn, hidden)
	}
}

// TestCacheEmpty: nothing kept is not damage.
func TestCacheEmpty(t *testing.T) {
	if _, err := (Cache{Dir: filepath.Join(t.TempDir(), "new")}).Load("key"); !errors.Is(err,
		fs.ErrNotExist) || errors.Is(err, ErrCache) {
		t.Error(err)
	}
}

// TestProgress checks shares and time left by a clock of its own.
func TestProgress(t *testing.T) {
	now := time.Unix(0, 0)
	p := &progress{should: []float64{10, 0, 20, 40}, now: func() time.Time { return now }}
	check := func(this, all float64, left time.Duration) {
		t.Helper()
		a, b, c := p.estimate()
		if math.Abs(a-this) > 1e-9 || math.Abs(b-all) > 1e-9 || c != left {
			t.Errorf("%v, %v, %v left, want %v, %v, %v", a, b, c, this, all, left)
		}
	}
	p.started, p.began = now, now
	check(0, 0, 70*time.Second)
	now = now.Add(5 * time.Second)
	check(0.5, 5./70, 65*time.Second)
	now = now.Add(25 * time.Second) // it takes longer than it should
	check(0.99, 30./90, 60*time.Second)
	p.spent, p.wanted, p.at, p.began = 30, 10, 2, now // so do the others, half of that believed
	check(0, 30./150, 120*time.Second)
	now = now.Add(20 * time.Second)
	check(0.5, 50./150, 100*time.Second)
}

// text is rows as JSON without times.
func text(t *testing.T, rows []Row) string {
	t.Helper()
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Seconds, rows[i].NaiveSeconds = 0, nil
		if strings.Contains(rows[i].Quantity, "seconds") {
			rows[i].Ours, rows[i].OursPM, rows[i].Verdict = 0, 0, ""
		}
	}
	b, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSameRows: the rows are the same to the byte, times aside, with any number of threads.
func TestSameRows(t *testing.T) {
	for _, name := range []string{"obpm/table1", "vvm/figure1", "vvm/table1", "tbp/figure8",
		"obpm/figure3"} {
		t.Run(name, func(t *testing.T) {
			e := experiments[name]
			o := RunOptions{Seed: 3, Runs: min(2, e.Runs)}
			for _, file := range e.Needs {
				o.DataDir = filepath.Dir(realdata.File(t, file))
			}
			var want string
			for _, threads := range []int{1, 2, 3} {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				o.Pool = engine.NewPool(threads)
				rows, err := Repro(context.Background(), e, o)
				o.Pool.Close()
				if err != nil {
					t.Fatal(err)
				}
				switch got := text(t, rows); {
				case want == "":
					want = got
				case got != want:
					t.Errorf("%d threads:\n%s\nwant, as with one:\n%s", threads, got, want)
				}
			}
		})
	}
}
