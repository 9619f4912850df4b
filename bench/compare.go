package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"

	"github.com/halfspace-ml/halfspace/internal/command"
)

// percent is a flag for a share, written in percent.
type percent struct {
	share float64
	given bool
}

func (p *percent) Type() string { return "PERCENT" }

func (p *percent) String() string {
	if !p.given {
		return ""
	}
	return strconv.FormatFloat(100*p.share, 'g', 6, 64) + "%"
}

func (p *percent) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if err != nil || !(v >= 0 && v <= 1000) {
		return fmt.Errorf("want 0%% to 1000%%")
	}
	p.share, p.given = v/100, true
	return nil
}

// runCompare compares what two runs of bench printed.
func runCompare(cmd *cobra.Command, oldFile string, args []string, asJSON bool,
	failOver percent) error {
	if len(args) != 1 {
		return command.Usage("For example: halfspace bench --compare old.txt new.txt",
			"--compare wants two files that bench has written, not %d", 1+len(args))
	}
	old, err := readOutput(oldFile)
	if err != nil {
		return err
	}
	now, err := readOutput(args[0])
	if err != nil {
		return err
	}
	changes, onlyOld, onlyNew := measure.Compare(old, now)
	if len(changes) == 0 {
		return command.Fail(command.CodeData, fmt.Errorf("%s and %s have no case in common",
			oldFile, args[0]),
			"Cases of other implementations (--impl) are other cases.")
	}
	w := cmd.OutOrStdout()
	if asJSON {
		err = command.PrintJSON(w, changes)
	} else {
		err = writeChanges(w, changes)
		for _, left := range []struct {
			file  string
			names []string
		}{{oldFile, onlyOld}, {args[0], onlyNew}} {
			if len(left.names) > 0 {
				fmt.Fprintf(w, "Only in %s: %s\n", left.file, strings.Join(left.names, ", "))
			}
		}
		if !slices.Equal(old.Machines, now.Machines) {
			fmt.Fprintf(w, "Other machines: %s, then %s\n", strings.Join(old.Machines, ", "),
				strings.Join(now.Machines, ", "))
		}
	}
	if err != nil || !failOver.given {
		return err
	}
	return slower(cmd.ErrOrStderr(), changes, failOver.share)
}

func readOutput(name string) (*measure.Output, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, command.Fail(command.CodeData, fmt.Errorf("%s: %w", name,
			command.PathCause(err)), "")
	}
	defer f.Close()
	o, err := measure.ReadOutput(f, name)
	if err != nil {
		return nil, command.Fail(command.CodeData, err, "Write it with: halfspace bench SUITE > "+
			"FILE, or with "+
			"--json.")
	}
	return o, nil
}

// writeChanges prints a line a case.
func writeChanges(w io.Writer, changes []measure.Change) error {
	t := lightTable(table.NewWriter())
	t.AppendHeader(table.Row{"case", "old", "new", "unit", "time", "95 %", "rounds", "peer"})
	few := false
	for _, c := range changes {
		interval, peer := "too few rounds", ""
		if c.CI != nil {
			interval = fmt.Sprintf("%.3f to %.3f", c.CI[0], c.CI[1])
		} else {
			few = true
		}
		if c.PeerRatio != nil {
			peer = fmt.Sprintf("%.3f", *c.PeerRatio)
		}
		t.AppendRow(table.Row{c.Name, fmt.Sprintf("%.4g", c.Old), fmt.Sprintf("%.4g", c.New),
			c.Unit, fmt.Sprintf("%.3f", c.Ratio), interval, fmt.Sprintf("%d, %d", c.Rounds[0],
				c.Rounds[1]), peer})
	}
	_, err := fmt.Fprintf(w, "%s\n", t.Render())
	fmt.Fprintln(w, "time: how many times as long the new one takes; peer: the same of the peer, "+
		"whose change is the machine's.")
	if few {
		fmt.Fprintln(w, "An interval wants four rounds of each, or more.")
	}
	return err
}

// slower is an error that names the cases that take longer by more than that share. Of those with
// too few rounds nothing can be said, which a gate must not pass over in silence.
func slower(stderr io.Writer, changes []measure.Change, share float64) error {
	var bad, few []string
	for _, c := range changes {
		if c.CI == nil {
			few = append(few, c.Name)
		}
		if c.SlowerBy(share) {
			bad = append(bad, fmt.Sprintf("%s takes %.3f times as long (%.3f to %.3f)", c.Name,
				c.Ratio, c.CI[0], c.CI[1]))
		}
	}
	switch {
	case len(few) == len(changes):
		return command.Fail(command.CodeData, errors.New("no case has rounds enough to say "+
			"whether it is slower"),
			"An interval wants four rounds of each, or more: halfspace bench --rounds 11.")
	case len(few) > 0:
		fmt.Fprintf(stderr, "halfspace: warning: of %d of %d cases there are too few rounds to "+
			"say whether they are slower: %s\n", len(few), len(changes), strings.Join(few, ", "))
	}
	if len(bad) == 0 {
		return nil
	}
	return command.Fail(command.CodeGate, fmt.Errorf("slower by more than %g %%: %s", 100*share,
		strings.Join(bad, "; ")), "Where the peer is slower too, the machine was: measure "+
		"both in "+
		"turn, and put each side's outputs into one file.")
}
