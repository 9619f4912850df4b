package command

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptRewrite makes an example file that is hard to learn from out of a good svmlight one:
// rewrite KIND IN OUT.
func scriptRewrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rewrite KIND IN OUT")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n")
	switch args[0] {
	case "sorted": // by label
		slices.Sort(lines)
	case "swapped": // labels
		for i, l := range lines {
			lines[i] = map[byte]string{'+': "-", '-': "+"}[l[0]] + l[1:]
		}
	case "empty": // 40 rows with their label alone
		lines = lines[:40]
		for i := range lines {
			lines[i] = []string{"+1", "-1"}[i%2]
		}
	case "salary": // as csv of two columns, the second in small coins
		for i, l := range lines {
			f := strings.Fields(l)
			value := func(s string) string { _, v, _ := strings.Cut(s, ":"); return v }
			lines[i] = fmt.Sprintf("%s,%de3,%s", value(f[1]), 1000+i%7, f[0])
		}
		lines = append([]string{"age,salary,label"}, lines...)
	default:
		ts.Fatalf("no kind %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}
