package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/pprof"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/bench/internal/papers"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// suite is one of bench's, with the name that selects it.
type suite struct {
	name, title string
	run         func(context.Context, measure.Options) ([]measure.Result, error)
}

var suites = []suite{
	{"kernels", "kernels of the implementation in use, beside gonum's", measure.Kernels},
	{"machine", "what this machine allows: reading, writing, multiply-adds; how long results take",
		measure.MachinePeaks},
	{"members", "OBPM in memory, draws included: against a naive loop over the members, and two " +
		"threads against one", onData(measure.Members)},
	{"read", "parsing text from memory, svmlight, csv and packed by gzip, on one core; files of " +
		"other formats; a large text on two threads beside one", onData(measure.Read)},
	{"margins", "batch margin learners on sonar: updates on the scores against updates on the " +
		"weights (needs HALFSPACE_DATA)", onData(measure.Margins)},
	{"rff", "mapping examples to 1000 random Fourier features: against plain loops, and two " +
		"threads against one", onData(measure.RFF)},
	{"budget", "learners within a number of kept examples: against computing every kernel value " +
		"anew, and 100 members against one (needs HALFSPACE_DATA)", onData(measure.Budget)},
	{"scaling", "learners on all cores beside one thread: wall clock, CPU time, serial share",
		onData(measure.Scaling)},
	{"svm", "training an SVM with kernels beside LIBSVM's svm-train (needs HALFSPACE_DATA and " +
		"svm-train)", onData(measure.SVM)},
	{"peers", "linear SVMs beside LIBLINEAR at equal objectives, an epoch of 100 members beside " +
		"scikit-learn's single Perceptron (needs HALFSPACE_DATA)", onData(measure.Peers)},
	{"symmetric", "a posterior covariance's change and product, beside plain loops and OpenBLAS " +
		"(needs gcc and libopenblas)", measure.Symmetric},
	{"wide", "margin learners of p-norms on 20 of 100,000 features, beside ROMMA", measure.Wide},
	{"command", "whole runs of this command: start, text to model and to predictions, wide " +
		"examples, resident memory", runCommand},
	{"serve", "100,000 predictions by 8 clients of serve, while as many examples are learned, " +
		"while none are, and while another model learns them; every answer is compared with its " +
		"snapshot's", benchServe},
	{"posterior", "the Virtual Vector Machine and ADF beside dense covariance matrices in plain " +
		"loops", measure.Posterior},
}

// benchLines are the runs that bench command measures.
var benchLines = measure.CommandLines{
	Start: []string{"version"},
	Train: func(learner string, settings [][2]string, model string, files ...string) []string {
		args := []string{"train", "-q", "-m", model}
		if learner != "" {
			args = append(args, "-a", learner)
		}
		for _, s := range settings {
			args = append(args, "--"+s[0]+"="+s[1])
		}
		return append(args, files...)
	},
	Predict: func(model, out, file string) []string {
		return []string{"predict", "-q", "-i", model, "-o", out, file}
	},
}

// runCommand measures this program.
func runCommand(ctx context.Context, o measure.Options) ([]measure.Result, error) {
	program, err := command.FindProgram("halfspace")
	if err != nil {
		return nil, fmt.Errorf("bench: command: %w", err)
	}
	return measure.Command(ctx, program, benchLines, measure.DataDir(), o)
}

// onData has a suite look for public data sets.
func onData(run func(ctx context.Context, dataDir string, o measure.Options) ([]measure.Result,
	error)) func(context.Context, measure.Options) ([]measure.Result, error) {
	return func(ctx context.Context, o measure.Options) ([]measure.Result, error) {
		return run(ctx, measure.DataDir(), o)
	}
}

func newBenchCmd() *cobra.Command {
	var (
		o        measure.Options
		asJSON   bool
		failOver percent
		compare  string
		impl     string
		profile  func(work func() error) error
	)
	cmd := &cobra.Command{
		Use:   "bench [SUITE]...",
		Short: "Benchmark kernels and learners against other programs",
		Long: `Benchmark kernels and learners against other programs.

Ours and the peer are measured in turn, round by round. Each round is a line in the format of Go's
benchmarks, which benchstat reads: what counts (CPU time of one thread, the wall clock of several),
the other clock's time, the same of the peer, and x-faster, the ratio. A line that begins with #
sums up the rounds above it: median and half of its 95 % interval, and a warning where other
programs had the CPU too. On a terminal there are only these.

--compare has, for each case, how many times as long the new one takes: the median of the ratios of
all pairs of rounds (Hodges and Lehmann) and its 95 % interval. It knows nothing of what changed
between the two runs besides: run old and new in turn, and append each one's output to its file.

Without the name of a suite: the kernels beside gonum's, and Table 1 of the OBPM paper on generated
data beside the paper's values.
` + suiteHelp(),
		Example: `  halfspace bench
  halfspace bench members --rounds 21
  halfspace bench kernels > new.txt
  halfspace bench --compare old.txt new.txt --fail-over 5%
  halfspace bench kernels --impl generic --json`,
		ValidArgs:   suiteNames(),
		Annotations: command.Reads(papers.DataFiles(measure.DataDir())),
		RunE: func(cmd *cobra.Command, args []string) error {
			if compare != "" {
				return runCompare(cmd, compare, args, asJSON, failOver)
			}
			chosen, err := chooseSuites(args)
			if err != nil {
				return err
			}
			if o.Rounds < 3 || o.Rounds > 10000 {
				return command.Usage("A median wants some, and time: the default is 11.",
					"--rounds %d: want 3 to 10000", o.Rounds)
			}
			if err := vecmath.Use(impl); err != nil {
				return command.Usage("What this machine has: halfspace doctor.", "--impl: %w", err)
			}
			return profile(func() error {
				return runBench(cmd, chosen, o, asJSON, failOver)
			})
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Rounds, "rounds", 11, "rounds of each case, ours and the peer in turn")
	fs.BoolVar(&asJSON, "json", false, "print one JSON document: a list of results")
	fs.StringVar(&compare, "compare", "", "compare `FILE`, which an old bench has "+
		"printed, text or --json, with the new one's, the argument")
	command.Names(fs, command.UseRead, "compare")
	fs.Var(&failOver, "fail-over", "exit with 5 when something is slower by more than that, with "+
		"its whole 95 % interval: NEW than OLD, or a ratio than its goal; e.g. 5%")
	fs.StringVar(&impl, "impl", "auto", "`NAME` of the kernels' implementation: auto, generic, "+
		"avx2, avx512 or neon")
	profile = command.ProfileFlag(fs)
	return cmd
}

func suiteHelp() string {
	var b strings.Builder
	for _, s := range suites {
		fmt.Fprintf(&b, "\n  %-9s  %s", s.name, s.title)
	}
	return b.String()
}

func suiteNames() (names []string) {
	for _, s := range suites {
		names = append(names, s.name)
	}
	return names
}

// chooseSuites returns the suites named; none is a nil slice.
func chooseSuites(args []string) ([]suite, error) {
	var chosen []suite
	for _, a := range args {
		found := false
		for _, s := range suites {
			if s.name == a {
				chosen, found = append(chosen, s), true
			}
		}
		if !found {
			return nil, command.Usage("The suites: "+strings.Join(suiteNames(), ", ")+".",
				"no suite %q", a)
		}
	}
	return chosen, nil
}

func runBench(cmd *cobra.Command, chosen []suite, o measure.Options, asJSON bool,
	failOver percent) error {
	ctx, w := cmd.Context(), cmd.OutOrStdout()
	tour := len(chosen) == 0 // what a newcomer sees
	if tour {
		chosen = suites[:1]
	}
	var all []measure.Result
	if !asJSON {
		fmt.Fprintf(w, "cpu: %s\n", measure.Machine())
	}
	for _, s := range chosen {
		if !asJSON {
			fmt.Fprintf(w, "\n%s\n", s.title)
		}
		var results []measure.Result
		var err error
		pprof.Do(ctx, pprof.Labels("suite", s.name), func(ctx context.Context) {
			results, err = s.run(ctx, o)
		})
		if errors.Is(err, fs.ErrNotExist) {
			return command.Fail(command.CodeData, fmt.Errorf("%s: %w", s.name, err),
				"HALFSPACE_DATA names the folder of the public data sets.")
		}
		if err != nil {
			return err
		}
		all = append(all, results...)
		if !asJSON {
			write := measure.WriteGo
			if command.IsTerminal(w) {
				write = measure.WriteSummary
			}
			if err := write(w, results); err != nil {
				return err
			}
		}
	}
	var rows []papers.Row
	if tour {
		chosen, err := chooseExperiments([]string{"obpm/table1"})
		if err != nil {
			return err
		}
		e := chosen[0]
		if !asJSON {
			fmt.Fprintf(w, "\n%s: %s\nThe paper: C on a 1 GHz DEC Alpha, no times given for "+
				"this table.\n", e.Name, e.Summary)
		}
		pool := engine.NewPool(0)
		defer pool.Close()
		if rows, err = papers.Repro(ctx, e, papers.RunOptions{Seed: 1, Pool: pool}); err != nil {
			return err
		}
		if !asJSON {
			if err := writeRows(w, rows); err != nil {
				return err
			}
		}
	}
	if asJSON {
		list := []any{} // results, and in the tour the rows of the table, as repro prints them
		for _, r := range all {
			list = append(list, r)
		}
		for _, r := range rows {
			list = append(list, r)
		}
		if err := command.PrintJSON(w, list); err != nil {
			return err
		}
	}
	if failOver.given {
		return missedGoals(all, failOver.share)
	}
	return nil
}

// missedGoals is an error that names the results that are slower than their goals by more than that
// share, with their whole intervals.
func missedGoals(results []measure.Result, share float64) error {
	var missed []string
	for _, r := range results {
		if r.Misses(share) {
			missed = append(missed, fmt.Sprintf("%s is %.3gx %s (%.3g to %.3g), want %gx", r.Name,
				*r.RatioToPeer, r.Peer, r.RatioCI[0], r.RatioCI[1], r.Goal))
		}
	}
	if len(missed) == 0 {
		return nil
	}
	return command.Fail(command.CodeGate, fmt.Errorf("%s", strings.Join(missed, "; ")),
		"On a busy machine try again with more --rounds.")
}
