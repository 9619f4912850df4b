package command

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestEnvNames checks that no two flags of a command share an environment variable.
func TestEnvNames(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		flags := map[string]string{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name := envName(f.Name)
			if other, ok := flags[name]; ok {
				t.Errorf("%s: --%s and --%s are both %s", cmd.CommandPath(), f.Name, other, name)
			}
			flags[name] = f.Name
		})
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(newRootCmd(io.Discard))
	for flag, want := range map[string]string{"epochs": "HALFSPACE_EPOCHS",
		"margin-rel": "HALFSPACE_MARGIN_REL", "B": "HALFSPACE_B", "b": "HALFSPACE_b"} {
		if got := envName(flag); got != want {
			t.Errorf("envName(%q) = %s, want %s", flag, got, want)
		}
	}
}

// TestDescribeConfig gives the flags that a summary prints back to the command line: the settings
// must be the same.
func TestDescribeConfig(t *testing.T) {
	for _, args := range []string{
		"perceptron --margin 0.125 --eta 3",
		"alma --p 4 --B 1.5 --C 0.25",
		"pa --variant 2 --C 1e-05",
		"lms --eta 0.1",
		"obpm --members 7 --tau 0.25 --base pa --combine vote --variant 0",
		"obpm --cap --base lms --eta 0.3",
		"obpm --base alma --B 1.11 --C 0.71",
	} {
		learner, flags, _ := strings.Cut(args, " ")
		c := configOf(t, learner, flags)
		text := describeConfig(learner, c)
		if want, got := jsonText(c), jsonText(configOf(t, learner, text)); got != want {
			t.Errorf("%s is %s,\nprinted as %s, which is %s", args, want, text, got)
		}
		copied, err := copyConfig(learner, c)
		if err != nil {
			t.Fatal(err)
		}
		if got := describeConfig(learner, copied); got != text {
			t.Errorf("%s: a copy has the settings %s", text, got)
		}
	}
}

// configOf makes settings of flags.
func configOf(t *testing.T, name, flags string) learner.Config {
	t.Helper()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	l := addLearnerFlags(fs)
	if err := fs.Parse(strings.Fields(flags)); err != nil {
		t.Fatalf("%s: %v", flags, err)
	}
	e, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	c := e.Config()
	if err := l.apply(name, c); err != nil {
		t.Fatalf("%s: %v", flags, err)
	}
	if err := c.Validate(); err != nil {
		t.Fatalf("%s: %v", flags, err)
	}
	return c
}

// TestByteSize: amounts of memory with and without units, and texts that are none.
func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{"512MiB": 512 << 20, "2GB": 2e9, "1.5KiB": 1536,
		"100": 100, "1 TiB": 1 << 40, "64M": 64 << 20, "8 K": 8 << 10, "": 0, "-1GB": 0, "0": 0,
		"nan": 0, "1e30GB": 0, "12 apples": 0} {
		var b, again byteSize
		if err := b.Set(text); b != want || (err == nil) != (want > 0) {
			t.Errorf("%q = %d (%v), want %d", text, b, err, want)
		} else if err := again.Set(b.String()); want > 0 && (err != nil || again != b) {
			t.Errorf("%d is printed as %q, which is %d (%v)", b, &b, again, err)
		}
	}
}

func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestAdult trains OBPM as Table 2 of its paper does: 15.2 % test error after three epochs, to
// within one run's scatter.
func TestAdult(t *testing.T) {
	train, test := realdata.File(t, "a9a.gz"), realdata.File(t, "a9a.t.gz")
	out, err := exec.Command("halfspace", "train", "-a", "obpm", "--members", "200", "--tau",
		"0.05", "--bias", "append", "--normalize", "unit",
		"--epochs", "3", "--shuffle", "--seed", "1", "--json", "--progress", "none", "--test", test,
		train).Output()
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Examples, Presented int
		Test                struct {
			Examples int
			Error    float64
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if r.Examples != 32561 || r.Presented != 3*32561 || r.Test.Examples != 16281 {
		t.Errorf("counts %+v, want 32561 examples, three epochs, 16281 to test", r)
	}
	if r.Test.Error < 0.148 || r.Test.Error > 0.158 {
		t.Errorf("test error %.4f, want 0.1519 within 0.005", r.Test.Error)
	}
}

// adultColumns are those of Adult as UCI has it, with the first of a9a's features that stands for a
// value of each: of numbers, which have no text, a range's number.
var adultColumns = []struct {
	name  string
	first int
	text  bool
}{{"age", 1, false}, {"workclass", 6, true}, {"fnlwgt", 14, false}, {"education", 19, true},
	{"education-num", 35, false}, {"marital-status", 40, true}, {"occupation", 47, true},
	{"relationship", 61, true}, {"race", 67, true}, {"sex", 72, true}, {"capital-gain", 74, true},
	{"capital-loss", 76, true}, {"hours-per-week", 78, false}, {"native-country", 83, true},
	{"income", 124, true}}

// adultCSV writes a9a, or its test set, as UCI's csv: texts, and ? for what is missing.
func adultCSV(t *testing.T, dir, from string) string {
	t.Helper()
	var b strings.Builder
	for _, c := range adultColumns[:14] {
		b.WriteString(c.name + ", ")
	}
	b.WriteString("income\n")
	for _, row := range realdata.Rows(t, from) {
		for k, c := range adultColumns[:14] {
			value := "?"
			for _, j := range row.Features {
				if j < c.first || j >= adultColumns[k+1].first {
					continue
				}
				if value = fmt.Sprint(j - c.first + 1); c.text {
					value = c.name + value
				}
			}
			b.WriteString(value + ", ")
		}
		b.WriteString(map[string]string{"1": ">50K", "-1": "<=50K"}[row.Label] + "\n")
	}
	name := filepath.Join(dir, strings.TrimSuffix(from, ".gz")+".csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestAdultCSV: from raw columns of Adult to calibrated probabilities in one command, 15.5 % error
// and 2 % calibration error at most.
func TestAdultCSV(t *testing.T) {
	dir := t.TempDir()
	train, test := adultCSV(t, dir, "a9a.gz"), adultCSV(t, dir, "a9a.t.gz")
	out, err := exec.Command("halfspace", "train", "-a", "arow", "--calibrate", "platt", "--json",
		"--progress", "none", "--test", test, train).Output()
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Examples int
		Test     struct {
			Error float64
			Proba struct {
				Error float64 `json:"calibration_error"`
			}
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	e, p := r.Test.Error, r.Test.Proba.Error
	if r.Examples != 32561 || !(e > 0.14 && e <= 0.155) || !(p > 0 && p <= 0.02) {
		t.Errorf("%d examples, error %.4f, calibration error %.4f", r.Examples, e, p)
	}
}

// TestCounts: perceptrons of the CRAMMA paper by the command, b/(eta R^2) = 1: of its Table 1, of
// sonar with the mines first, 247,140 updates; of its Table 4, of Wisconsin breast cancer with the
// soft margin's Delta in R, counter 67,913.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		file string
		// which of two groups, one behind the other, a row is in, and what is taken of it
		row     func(line string) (place int, row string)
		args    string
		updates int // or counter
		margin  float64
	}{
		{"sonar.train.csv", func(line string) (int, string) {
			if strings.HasSuffix(strings.TrimSpace(line), "R") {
				return 1, line
			}
			return 0, line
		}, "--rho 1 --positive M", 247140, 5.78e-3},
		{"breast-cancer-wisconsin.data", func(line string) (int, string) {
			_, row, _ := strings.Cut(line, ",") // without the identity
			if strings.Contains(row, "?") {
				row = ""
			}
			return 0, row
		}, "--rho 10 --soft-delta 1", 67913, 0.10244},
	} {
		text, err := os.ReadFile(realdata.File(t, c.file))
		if err != nil {
			t.Fatal(err)
		}
		var order [2][]string
		for line := range strings.Lines(string(text)) {
			k, row := c.row(line)
			order[k] = append(order[k], row)
		}
		name := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(name, []byte(strings.Join(slices.Concat(order[:]...), "")),
			0o600); err != nil {
			t.Fatal(err)
		}
		args := "train -a perceptron --margin-rel 1 --until-converged --precision f64 --json " +
			"--progress none " + c.args
		out, err := exec.Command("halfspace", append(strings.Fields(args), name)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Updates   int
			Margin    float64
			Converged bool
			Fit       struct {
				Counter    int
				Margin     float64
				ScoreSpace bool `json:"score_space"`
			}
		}
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatal(err)
		}
		updates, margin := r.Updates, r.Margin
		if strings.Contains(c.args, "soft") {
			updates, margin = r.Fit.Counter, r.Fit.Margin
		}
		if updates != c.updates || !r.Converged || !r.Fit.ScoreSpace ||
			math.Abs(margin-c.margin) > 5e-6 {
			t.Errorf("%s: %+v, want %d updates and the margin %v", c.file, r, c.updates, c.margin)
		}
	}
}

// TestNextSteps: what is advised where nothing was learned is not what was done already.
func TestNextSteps(t *testing.T) {
	for name, kernel := range map[string]bool{"lms": true, "rff": false, "tbp": false} {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		next := nextOf(training.Warning{Code: eval.Worse, Config: e.Config(), Bias: true}, false)
		if strings.Contains(next, "--rff") != kernel {
			t.Errorf("%s: %s", name, next)
		}
	}
}

// TestWarningsInHelp: help numerics lists the code of every warning.
func TestWarningsInHelp(t *testing.T) {
	var help string
	for _, topic := range newTopics() {
		if topic.Use == "numerics" {
			help = topic.Long
		}
	}
	code := regexp.MustCompile(`(?m)^\t\w+ += "([a-z]+(?:-[a-z]+)*)" *// `)
	n := 0
	for _, file := range []string{"../../internal/training/warnings.go", "../../internal/eval/warnings.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(source), -1) {
			n++
			if !strings.Contains(help, "\n  "+m[1]+" ") {
				t.Errorf("%s of %s is not in help numerics", m[1], file)
			}
		}
	}
	if n < 9 {
		t.Errorf("%d codes found", n)
	}
}
