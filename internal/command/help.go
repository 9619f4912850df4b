package command

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/learner"
)

// helpWidth is the widest line of all help.
const helpWidth = 100

// rareKey annotates a flag that --help leaves out and --help-all shows.
const rareKey = "rare"

// rare says of flags that few need them.
func rare(fs *pflag.FlagSet, flags ...string) {
	for _, flag := range flags {
		fs.SetAnnotation(flag, rareKey, nil)
	}
}

// helpAllFlag adds --help-all to a command that has rare flags.
func helpAllFlag(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolFunc("help-all", "help with all flags, those that few need too", func(string) error {
		return fs.Set("help", "true") // cobra has added it by now
	})
}

// showsAll reports whether --help-all was given, or there is none.
func showsAll(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("help-all")
	return f == nil || f.Changed
}

// setHelp gives a command, and those below it, help that is folded at helpWidth; those below have
// their flags in the order in which they were added.
func setHelp(root *cobra.Command) {
	var inOrder func(*cobra.Command)
	inOrder = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			c.Flags().SortFlags = false
			inOrder(c)
		}
	}
	inOrder(root)
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		return writeUsage(cmd.OutOrStderr(), cmd)
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		if name, ok := chosenLearner(cmd); ok {
			writeLearnerHelp(w, cmd, name)
			return
		}
		text := cmd.Long
		if text == "" {
			text = cmd.Short
		}
		fmt.Fprint(w, foldText(text, helpWidth))
		if cmd.Runnable() || cmd.HasSubCommands() {
			fmt.Fprintln(w)
			writeUsage(w, cmd)
		}
	})
}

// writeUsage says how a command is called: its examples, the commands below it and its flags.
func writeUsage(w io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	fmt.Fprint(&b, "Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	list := func(title string, in func(*cobra.Command) bool) {
		for _, c := range cmd.Commands() {
			if in(c) {
				if title != "" {
					fmt.Fprintf(&b, "\n%s:\n", title)
					title = ""
				}
				b.WriteString(foldItem(fmt.Sprintf("  %-11s ", c.Name()), c.Short, helpWidth))
			}
		}
	}
	list("Commands", func(c *cobra.Command) bool {
		return c.IsAvailableCommand() || c.Name() == "help"
	})
	writeFlags(&b, "Flags", cmd.LocalFlags(), showsAll(cmd))
	writeFlags(&b, "Flags of every command", cmd.InheritedFlags(), true)
	list("Topics", (*cobra.Command).IsAdditionalHelpTopicCommand)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nMore about a command: %s [command] --help\n", cmd.CommandPath())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ofLearner reports whether a flag is a setting of learners: those are in the help of each learner.
func ofLearner(f *pflag.Flag) bool {
	s, ok := f.Value.(*setting)
	return ok && len(s.uses) > 0
}

// flagRow is a line of a table of flags.
type flagRow struct{ name, text string }

// ofAll returns the flag as far as it is none of a learner's settings: the flag, what else it takes
// where they share its name, or nil.
func ofAll(f *pflag.Flag) *pflag.Flag {
	if !ofLearner(f) {
		return f
	}
	s := f.Value.(*setting)
	if s.word == nil {
		return nil
	}
	words := *f
	words.Value = &setting{typ: strings.Join(s.words, "|")}
	words.Usage, words.DefValue = s.said, s.rest
	return &words
}

// rowOf returns the line of a flag.
func rowOf(f *pflag.Flag) flagRow {
	what, text := pflag.UnquoteUsage(f)
	name := "      --" + f.Name
	if f.Shorthand != "" {
		name = "  -" + f.Shorthand + ", --" + f.Name
	}
	if what != "" {
		name += " " + what
	}
	if def := f.DefValue; !slices.Contains([]string{"", "0", "0s", "false", "[]"}, def) {
		text += " (default " + def + ")"
	}
	return flagRow{name, text}
}

// writeFlags prints flags that are no settings of learners as a table, the rare ones with all
// alone; without any, nothing.
func writeFlags(w io.Writer, title string, fs *pflag.FlagSet, all bool) {
	var rows []flagRow
	fs.VisitAll(func(f *pflag.Flag) {
		if _, rare := f.Annotations[rareKey]; rare && !all {
			return
		}
		if f = ofAll(f); f != nil && !f.Hidden {
			rows = append(rows, rowOf(f))
		}
	})
	writeFlagRows(w, title, rows)
}

// writeFlagRows prints a table of flags. A flag that is wider than most has its text below it.
func writeFlagRows(w io.Writer, title string, rows []flagRow) {
	if len(rows) == 0 {
		return
	}
	const most = 34
	width := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r.name); n <= most {
			width = max(width, n)
		}
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, r := range rows {
		if utf8.RuneCountInString(r.name) > width {
			fmt.Fprintln(w, r.name)
			r.name = ""
		}
		fmt.Fprint(w, foldItem(fmt.Sprintf("%-*s   ", width, r.name), r.text, helpWidth))
	}
}

// chosenLearner returns the learner whose help was asked for: that of -a, if it was given.
func chosenLearner(cmd *cobra.Command) (string, bool) {
	f := cmd.Flags().Lookup("learner")
	if f == nil || !f.Changed {
		return "", false
	}
	return f.Value.String(), true
}

// learnerFlag is the value of -a. It is checked when it is given, for --help ends a command before
// anything else is looked at.
type learnerFlag struct{ pflag.Value }

func (l learnerFlag) Set(name string) error {
	if _, err := lookupLearner("-a", name); err != nil {
		return err
	}
	return l.Value.Set(name)
}

// writeLearnerHelp prints a learner's own settings with their defaults, for a wrapper those of its
// base too, and then the flags that all learners have.
func writeLearnerHelp(w io.Writer, cmd *cobra.Command, name string) {
	e, err := learner.Lookup(name)
	if err != nil {
		return // learnerFlag has looked
	}
	c, others := e.Config(), "--base"
	if wrapper, around, ok := wrapperOf(cmd.Flags(), name); ok {
		if e, err = learner.Lookup(wrapper); err != nil {
			return // wrapperOf has looked
		}
		place, _, _ := base(around)
		place.SetString(name)
		name, c, others = wrapper, around, "-a"
	}
	fmt.Fprint(w, foldItem(name+": ", e.Summary, helpWidth))
	if work := c.Traits().Threads; work != "" {
		fmt.Fprint(w, foldItem("Threads share ", work+", where there is enough of it.", helpWidth))
	}
	writeFlagRows(w, "Settings of "+name, settingRows(c))
	if place, _, ok := base(c); ok {
		if f := cmd.Flags().Lookup("base"); f.Changed && others == "--base" {
			place.SetString(f.Value.String())
		}
		if e, err := learner.Lookup(place.String()); err == nil {
			writeFlagRows(w, "Settings of its base, "+e.Name+" ("+others+" chooses another)",
				settingRows(e.Config()))
		}
	}
	if !showsAll(cmd) {
		writeFlagRows(w, "Flags of "+name+" and its like", traitRows(cmd.Flags(), c.Traits()))
	}
	writeFlags(w, "Flags of every learner", cmd.LocalFlags(), showsAll(cmd))
	writeFlags(w, "Flags of every command", cmd.InheritedFlags(), true)
}

// settingRows lists a learner's settings with their defaults.
func settingRows(c learner.Config) []flagRow {
	var rows []flagRow
	for _, f := range settingsOf(c) {
		name := "      --" + f.flag
		if what := f.kind(); what != "bool" {
			name += " " + what
		}
		rows = append(rows, flagRow{name, f.line(c) + " (default " + f.text() + ")"})
	}
	return rows
}

// foldText folds prose: lines without an indent are joined to paragraphs, the others stand for
// themselves, each with a hanging indent.
func foldText(text string, width int) string {
	var b, paragraph strings.Builder
	end := func() {
		if paragraph.Len() > 0 {
			b.WriteString(foldItem("", paragraph.String(), width))
			paragraph.Reset()
		}
	}
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		line = strings.TrimRight(line, " \n")
		body := strings.TrimLeft(line, " ")
		switch indent := len(line) - len(body); {
		case line == "":
			end()
			b.WriteByte('\n')
		case indent == 0:
			if paragraph.Len() > 0 {
				paragraph.WriteByte(' ')
			}
			paragraph.WriteString(line)
		default:
			end()
			at := indent // where the text of an item begins: behind its name and two blanks or more
			if i := strings.Index(body, "  "); i >= 0 {
				at += i + len(body[i:]) - len(strings.TrimLeft(body[i:], " "))
			}
			b.WriteString(foldItem(line[:at], line[at:], width))
		}
	}
	end()
	return b.String()
}

// foldItem puts text behind head, in lines of at most width that are indented as head is wide.
func foldItem(head, text string, width int) string {
	var b strings.Builder
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	for paragraph := range strings.SplitSeq(text, "\n") {
		line, empty := head, true
		for len(paragraph) > 0 { // blanks within a line stay as they are
			word := strings.TrimLeft(paragraph, " ")
			gap := paragraph[:len(paragraph)-len(word)]
			word, _, _ = strings.Cut(word, " ")
			paragraph = paragraph[len(gap)+len(word):]
			n := utf8.RuneCountInString(line) + len(gap) + utf8.RuneCountInString(word)
			if n > width && !empty {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line, gap = indent, ""
			}
			line += gap + word
			empty = false
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		head = indent
	}
	return b.String()
}
