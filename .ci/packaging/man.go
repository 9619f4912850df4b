package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/command"
)

// manPages makes a page of each command, in section 1, and of each topic of the help, in section 7.
func manPages(version, date string) []file {
	var pages []file
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		pages = append(pages, file{pageOf(c) + "." + sectionOf(c), 0o644,
			[]byte(manPage(c, version, date))})
		for _, sub := range c.Commands() {
			if listed(sub) || sub.IsAdditionalHelpTopicCommand() {
				walk(sub)
			}
		}
	}
	walk(command.Tree())
	return pages
}

// listed reports whether a command has a page: help of the commands is what the pages are.
func listed(c *cobra.Command) bool { return c.IsAvailableCommand() && c.Name() != "help" }

// pageOf returns the name of a command's page: halfspace-data-fetch of halfspace data fetch.
func pageOf(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func sectionOf(c *cobra.Command) string {
	if c.IsAdditionalHelpTopicCommand() {
		return "7"
	}
	return "1"
}

func manPage(c *cobra.Command, version, date string) string {
	var b strings.Builder
	page := pageOf(c)
	fmt.Fprintf(&b, ".TH %s %s %s %s halfspace\n.nh\n.ad l\n.SH NAME\n%s \\- %s\n",
		strings.ToUpper(roff(page)), sectionOf(c), date, quoted("halfspace "+version),
		roff(page), roff(c.Short))
	if c.Runnable() || c.HasAvailableSubCommands() {
		b.WriteString(".SH SYNOPSIS\n")
		if c.Runnable() {
			fmt.Fprintf(&b, "%s\n", roff(c.UseLine()))
		}
		if c.HasAvailableSubCommands() {
			fmt.Fprintf(&b, ".br\n%s [command]\n", roff(c.CommandPath()))
		}
	}
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", prose(text))
	commandList(&b, "COMMANDS", c.Commands(), listed)
	commandList(&b, "TOPICS", c.Commands(), (*cobra.Command).IsAdditionalHelpTopicCommand)
	flagList(&b, "OPTIONS", c.LocalFlags(), func(f *pflag.Flag) bool { return !command.OfLearner(f) })
	flagList(&b, "SETTINGS OF LEARNERS", c.LocalFlags(), command.OfLearner)
	flagList(&b, "OPTIONS OF EVERY COMMAND", c.InheritedFlags(), nil)
	if c.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	if see := seeAlso(c); len(see) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(see, ",\n"))
	}
	return b.String()
}

// seeAlso names the pages that a page leads to: the one above it, and those of the topics that
// concern every command.
func seeAlso(c *cobra.Command) []string {
	var see []string
	if p := c.Parent(); p != nil {
		see = append(see, reference(p))
	}
	for _, topic := range c.Root().Commands() {
		if topic != c && slices.Contains([]string{"env", "exit-codes"}, topic.Name()) {
			see = append(see, reference(topic))
		}
	}
	return see
}

func reference(c *cobra.Command) string {
	return fmt.Sprintf(`\fB%s\fR(%s)`, roff(pageOf(c)), sectionOf(c))
}

// commandList writes a section of the commands that show takes, with a reference to each page.
func commandList(b *strings.Builder, title string, list []*cobra.Command,
	show func(*cobra.Command) bool) {
	for _, c := range list {
		if show(c) {
			if title != "" {
				fmt.Fprintf(b, ".SH %s\n", title)
				title = ""
			}
			fmt.Fprintf(b, ".TP\n%s\n%s\n", reference(c), roffLine(c.Short))
		}
	}
}

// flagList writes a section of the flags that show takes; a nil show takes all.
func flagList(b *strings.Builder, title string, fs *pflag.FlagSet, show func(*pflag.Flag) bool) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || show != nil && !show(f) {
			return
		}
		if title != "" {
			fmt.Fprintf(b, ".SH %s\n", title)
			title = ""
		}
		what, text := pflag.UnquoteUsage(f)
		head := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			head = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + head
		}
		if what != "" {
			head += " " + roff(what)
		}
		if def := f.DefValue; !slices.Contains([]string{"", "0", "0s", "false", "[]"}, def) {
			text += " (default " + def + ")"
		}
		fmt.Fprintf(b, ".TP\n%s\n", head)
		for i, line := range strings.Split(text, "\n") {
			if i > 0 {
				b.WriteString(".br\n")
			}
			fmt.Fprintf(b, "%s\n", roffLine(line))
		}
	})
}

// prose sets a text of the help: lines without an indent are paragraphs, or headings if they are
// short and stand alone; those with one are items, whose text begins behind two blanks and goes on
// below it, or stand for themselves.
func prose(text string) string {
	text = strings.ReplaceAll(strings.Trim(text, "\n"), "\t", "        ")
	lines := strings.Split(text, "\n")
	var b strings.Builder
	var alone []string // lines that stand for themselves, not yet written
	apart := ""        // what a paragraph begins with, if it doesn't begin a section
	at := 0            // where an item's text began
	begins := true     // nothing was written in this section yet
	for i, line := range lines {
		body := strings.TrimLeft(line, " ")
		indent := len(line) - len(body)
		head, rest, item := strings.Cut(body, "  ")
		if alone != nil && (indent == 0 || item) {
			b.WriteString(apart + literal(alone))
			alone, apart = nil, ".PP\n"
		}
		switch {
		case body == "":
			at = 0
			if !begins {
				apart = ".PP\n"
			}
		case indent == 0 && heading(lines, i):
			b.WriteString(".SS " + quoted(body) + "\n")
			at, apart, begins = 0, "", true
			continue
		case indent == 0:
			b.WriteString(apart + roffLine(line) + "\n")
			at, apart = 0, ""
		case at > 0 && indent == at:
			b.WriteString(roffLine(body) + "\n")
		case item:
			rest = strings.TrimLeft(rest, " ")
			at, apart = len(line)-len(rest), ".PP\n"
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(head), roffLine(rest))
		default:
			if at = 0; alone == nil && !begins {
				apart = ".PP\n"
			}
			alone = append(alone, line)
		}
		begins = begins && body == ""
	}
	if alone != nil {
		b.WriteString(apart + literal(alone))
	}
	return b.String()
}

// heading reports whether a line is one: short, alone between empty lines, and no sentence.
func heading(lines []string, i int) bool {
	empty := func(i int) bool { return i < 0 || i < len(lines) && lines[i] == "" }
	return empty(i-1) && empty(i+1) && len(lines[i]) < 60 &&
		!strings.ContainsAny(lines[i][len(lines[i])-1:], ".:;,")
}

// literal sets lines as they stand, unless one is too wide for a terminal: then it is prose.
func literal(lines []string) string {
	var b strings.Builder
	if slices.ContainsFunc(lines, func(line string) bool { return len(line) > 80 }) {
		for _, line := range lines {
			b.WriteString(roffLine(strings.TrimLeft(line, " ")) + "\n")
		}
		return b.String()
	}
	b.WriteString(".nf\n")
	for _, line := range lines {
		b.WriteString(roffLine(line) + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}

// escapes are the signs that roff takes for something else, or sets as a typographer would.
var escapes = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`,
	`\(ti`)

// roff escapes text within a line.
func roff(text string) string { return escapes.Replace(text) }

// roffLine escapes a line, at whose begin a point would make it a request.
func roffLine(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + roff(line)
	}
	return roff(line)
}

// quoted is an argument of a request.
func quoted(text string) string { return `"` + roff(text) + `"` }
