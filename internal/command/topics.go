package command

import (
	"embed"

	"github.com/spf13/cobra"
)

// topics are the texts of the help topics.
//
//go:embed help/*.txt
var topics embed.FS

// newTopics makes the help topics: commands that do nothing but have a text.
func newTopics() (list []*cobra.Command) {
	for _, t := range []struct{ name, short string }{
		{"memory", "How --mem-budget is split and kept"},
		{"serving", "Rows of requests to serve, ids, logs, bounds and answers"},
		{"formats", "Formats of examples, labels, bias and normalising"},
		{"exit-codes", "What the exit codes mean"},
		{"env", "Environment variables and the config file"},
		{"numerics", "What is computed how, and why results are equal everywhere"},
		{"metrics", "What is measured, and of which examples"},
		{"progress", "How progress is shown"},
	} {
		text, err := topics.ReadFile("help/" + t.name + ".txt")
		if err != nil {
			panic(err)
		}
		list = append(list, &cobra.Command{Use: t.name, Short: t.short, Long: string(text)})
	}
	return list
}
