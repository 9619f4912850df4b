package command

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/learner"
)

// runs a command line in this process and returns what it printed.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var b bytes.Buffer
	root := newRootCmd(&b)
	root.SetErr(&b)
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		t.Fatalf("halfspace %s: %v", strings.Join(args, " "), err)
	}
	return b.String()
}

// TestHelpWidth: the help of every command, topic and learner is within helpWidth columns.
func TestHelpWidth(t *testing.T) {
	lines := [][]string{}
	var walk func(cmd *cobra.Command, path []string)
	walk = func(cmd *cobra.Command, path []string) {
		lines = append(lines, append([]string{"help"}, path...))
		for _, c := range cmd.Commands() {
			walk(c, append(slices.Clone(path), c.Name()))
		}
	}
	walk(newRootCmd(nil), nil)
	for _, name := range learner.Names() {
		lines = append(lines, []string{"train", "-a", name, "--help"})
		for _, base := range settingOf(t, name, "base") {
			lines = append(lines, []string{"train", "-a", name, "--base", base, "--help"})
		}
	}
	if len(lines) < 40 {
		t.Errorf("%d texts of help: are topics and learners among them?", len(lines))
	}
	for _, args := range lines {
		text := printed(t, args...)
		if text == "" {
			t.Errorf("halfspace %s: nothing", strings.Join(args, " "))
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("halfspace %s: %d columns: %s", strings.Join(args, " "), n, line)
			}
		}
	}
}

// settingOf returns the values that a shell is offered for a learner's setting.
func settingOf(t *testing.T, name, flag string) (values []string) {
	t.Helper()
	e, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(flagNames(e.Config()), flag) {
		values = completions(t, "train", "-a", name, "--"+flag, "")
	}
	return values
}

// TestLearnerHelp: the help of each learner begins with its own settings and their defaults, and
// has those of its base.
func TestLearnerHelp(t *testing.T) {
	for _, name := range learner.Names() {
		e, _ := learner.Lookup(name)
		c := e.Config()
		own, common, found := strings.Cut(printed(t, "train", "--help", "-a", name),
			"Flags of every learner:")
		for _, f := range ofTraits {
			if has := strings.Contains(own, "\n      --"+f.flag+" "); has != f.of(c.Traits()) {
				t.Errorf("%s: --%s in its help: %v", name, f.flag, has)
			}
		}
		if !found || !strings.Contains(common, "--until-converged") {
			t.Errorf("%s: no flags of every learner", name)
		}
		check := func(c learner.Config, text string) {
			for _, f := range settingsOf(c) {
				_, after, found := strings.Cut(text, "\n      --"+f.flag+" ")
				after, _, _ = strings.Cut(after, "\n      --")
				after, _, _ = strings.Cut(after, "\n\n")
				after = strings.Join(strings.Fields(after), " ")
				want := fmt.Sprintf("(default %s)", f.text())
				if !found || !strings.HasSuffix(after, want) {
					t.Errorf("%s: --%s: %q, want %s at its end", name, f.flag, after, want)
				}
			}
		}
		if place, _, ok := base(c); ok {
			b, err := learner.Lookup(place.String())
			if err != nil {
				t.Fatal(err)
			}
			_, bases, found := strings.Cut(own, "Settings of its base, "+b.Name)
			if !found {
				t.Errorf("%s: nothing of its base %s", name, b.Name)
			}
			check(b.Config(), bases)
		}
		check(c, own)
	}
	if text := printed(t, "train", "-a", "obpm", "--base", "pa", "--help"); !strings.Contains(text,
		"its base, pa") || !strings.Contains(text, "--variant 0|1|2") {
		t.Errorf("obpm with --base pa doesn't have pa's settings:\n%s", text)
	}
	both := printed(t, "train", "-a", "pa", "--rff", "20", "--help")
	for _, want := range []string{"Settings of rff:", "--rff int", "--sigma float",
		"Settings of its base, pa (-a chooses another)", "--variant 0|1|2"} {
		if !strings.Contains(both, want) {
			t.Errorf("pa with --rff: no %q in its help:\n%s", want, both)
		}
	}
	text := printed(t, "train", "--help")
	if n := strings.Count(text, "\n      --") + strings.Count(text, "\n  -"); n > 46 ||
		strings.Contains(text, "--members") || strings.Contains(text, "--max-line") {
		t.Errorf("train --help lists %d flags:\n%s", n, text)
	}
	if text := printed(t, "train", "--help-all"); !strings.Contains(text,
		"\n      --max-line SIZE") {
		t.Errorf("train --help-all lacks flags:\n%s", text)
	}
	// --scale of the examples is for all, though some learners have a setting of that name.
	for _, args := range [][]string{{"train"}, {"cv"}, {"tune"}, {"compare"}, {"train", "-a", "pa"},
		{"train", "-a", "adf"}} {
		_, common, _ := strings.Cut(printed(t, append(args, "--help")...), "\nFlags")
		if !strings.Contains(common, "\n      --scale auto|none|std|maxabs ") {
			t.Errorf("%v --help: no --scale of the examples", args)
		}
	}
}

// TestValues: a setting takes all values that its tag lists, and no other.
func TestValues(t *testing.T) {
	n := 0
	for _, name := range learner.Names() {
		e, _ := learner.Lookup(name)
		for i, f := range settingsOf(e.Config()) {
			if f.value.Kind() == reflect.String && f.values == nil && f.flag != "base" &&
				f.flag != "p" {
				t.Errorf("%s: --%s has no tag with its values", name, f.flag)
			}
			if f.values == nil {
				continue
			}
			n++
			for _, v := range f.values {
				c := e.Config()
				if err := settingsOf(c)[i].set(v); err != nil {
					t.Errorf("%s: --%s %s: %v", name, f.flag, v, err)
				}
				if err := c.Validate(); err != nil && strings.Contains(err.Error(), f.flag+" is") {
					t.Errorf("%s: --%s %s: %v", name, f.flag, v, err)
				}
			}
			c := e.Config()
			other := "nonsense"
			if f.value.Kind() == reflect.Int {
				other = "77"
			}
			if err := settingsOf(c)[i].set(other); err == nil && c.Validate() == nil {
				t.Errorf("%s: --%s %s is taken, but not among %v", name, f.flag, other, f.values)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d settings with values found", n)
	}
}

// completions returns what a shell is offered behind a command line.
func completions(t *testing.T, args ...string) (values []string) {
	t.Helper()
	out := printed(t, append([]string{cobra.ShellCompRequestCmd}, args...)...)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, ":") {
			break
		}
		value, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		values = append(values, value)
	}
	return values
}

// TestCompletion: every flag with a fixed set of values completes them, those that name files are
// completed by the shell, and a number or a word gets no list of files.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"train -a":                              "adf ng obpm pa svm vvm",
		"train --learner":                       "adf ng obpm pa svm vvm",
		"train --base":                          "perceptron pa lms alma micra",
		"train -a obpm --base":                  "perceptron pa lms alma",
		"train -a rff --base":                   "perceptron pa lms alma adf cramma",
		"train --kernel":                        "linear poly rbf",
		"train -a svm --kernel":                 "linear poly rbf",
		"train --update":                        "perceptron mira svm",
		"train --error-cache":                   "all sv random flips",
		"train --combine":                       "weights vote",
		"train --removal":                       "project norm oldest errors",
		"train --ties":                          "oldest margin",
		"train --covariance":                    "full diagonal",
		"train --variant":                       "0 1 2",
		"train --norm":                          "1 2",
		"train --label-noise":                   "auto",
		"train --precision":                     "f32 f64",
		"train --bias":                          "none append",
		"train --normalize":                     "none unit max",
		"train --format":                        "auto svmlight csv idx fasta",
		"train --index-base":                    "auto 0 1",
		"train --on-error":                      "stop skip limit=",
		"train --progress":                      "auto bar lines json none",
		"train --impl":                          "auto generic avx2 avx512 neon",
		"predict --format":                      "auto svmlight csv idx fasta",
		"predict --impl":                        "auto generic",
		"gen":                                   "margin banana gauss drift concepts",
		"gen margin --precision":                "f32 f64",
		"help":                                  "train predict formats env numerics",
		"completion":                            "bash zsh fish powershell",
		"train --gamma":                         "",
		"train --checkpoint-every":              "",
		"train -a adf --mem-budget":             "",
		"gen banana --spread":                   "",
		"train -a perceptron --until-converged": "",
	} {
		got := completions(t, append(strings.Fields(line), "")...)
		for _, v := range strings.Fields(want) {
			if !slices.Contains(got, v) {
				t.Errorf("%s: %v, want %s too", line, got, v)
			}
		}
		if want == "" && len(got) > 0 {
			t.Errorf("%s: %v, want nothing", line, got)
		}
	}
	for _, g := range dataset.Generators() {
		if !slices.Contains(completions(t, "gen", ""), g.Name) {
			t.Errorf("gen doesn't complete %s", g.Name)
		}
	}
	// Nothing else takes a word out of a few: what a flag's help shows as a|b|c is completed.
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" || len(f.Name) == 1 {
				return // a switch, or --B, which cobra takes for -B here
			}
			path := append(strings.Fields(cmd.CommandPath())[1:], "--"+f.Name, "")
			got := completions(t, path...)
			what, _ := pflag.UnquoteUsage(f)
			words := slices.DeleteFunc(strings.Split(what, "|"), func(word string) bool {
				return word == "float" // any number
			})
			if strings.Contains(what, "|") && !slices.Equal(got, words) {
				t.Errorf("%s --%s %s completes %v", cmd.CommandPath(), f.Name, what, got)
			}
		})
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				walk(c)
			}
		}
	}
	walk(newRootCmd(nil))
}

// TestFold: words go to the next line where they pass the width; items hang below their text.
func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"one\ntwo three":              "one two\nthree\n",
		"a bb ccc dddd":               "a bb ccc\ndddd\n",
		"  n  one two three":          "  n  one\n     two\n     three\n",
		"  wordbeyondthewidth":        "  wordbeyondthewidth\n",
		"para\n\n  code  = 1\n\npara": "para\n\n  code  = 1\n\npara\n",
	} {
		if got := foldText(in, 11); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
