package command

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// helpTexts are the texts of the help topics, and those of commands that are long.
//
//go:embed help/*.txt
var helpTexts embed.FS

// helpText returns a text. Pairs are placeholders, and what stands for them.
func helpText(name string, pairs ...string) string {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // a text is missing
	}
	return strings.NewReplacer(pairs...).Replace(string(text))
}

// newTopics makes the help topics: commands that do nothing but have a text.
func newTopics() (list []*cobra.Command) {
	for _, t := range []struct{ name, short string }{
		{"memory", "How --mem-budget works"},
		{"serving", "Requests, answers, logs and limits of serve"},
		{"formats", "Data formats, labels and preparation"},
		{"exit-codes", "What the exit codes mean"},
		{"env", "Environment variables and the config file"},
		{"numerics", "Reproducibility, terms of reports, warnings, convergence"},
		{"metrics", "Definitions of the metrics"},
		{"progress", "Progress output"},
	} {
		list = append(list, &cobra.Command{Use: t.name, Short: t.short, Long: helpText(t.name)})
	}
	return list
}
