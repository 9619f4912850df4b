package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/spelling"
)

// sourceKey annotates a flag with where its value came from when that isn't the command line.
const sourceKey = "source"

// envName returns the environment variable of a flag. Variables differ in case where flags do (--b
// and --B).
func envName(flag string) string {
	name := strings.ReplaceAll(flag, "-", "_")
	if len(name) > 1 {
		name = strings.ToUpper(name)
	}
	return "HALFSPACE_" + name
}

// notSettings are flags that only a command line can give.
var notSettings = []string{"help", "help-all", "config", "version"}

// otherEnv reports variables of this name space that are no flags: the data folder, the token of
// serve, and what only tests read.
func otherEnv(name string) bool {
	name = strings.TrimPrefix(name, "HALFSPACE_")
	return name == "DATA" || name == "CONFIG" || name == "TOKEN" || name == "REQUIRE" ||
		strings.HasPrefix(name, "REQUIRE_") || strings.HasPrefix(name, "TEST_")
}

// applySettings gives the flags that are not on the command line the values of the environment or
// else of the config file.
func applySettings(cmd *cobra.Command) error {
	if file := os.Getenv("HALFSPACE_CONFIG"); file != "" && !cmd.Flags().Changed("config") {
		if f := cmd.Flags().Lookup("config"); f != nil {
			f.Value.Set(file)
		}
	}
	var config map[string]string
	if f := cmd.Flags().Lookup("config"); f != nil && f.Value.String() != "" {
		var err error
		if config, err = readConfig(cmd, f.Value.String()); err != nil {
			return err
		}
	}
	var first error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || first != nil || slices.Contains(notSettings, f.Name) {
			return
		}
		source := envName(f.Name)
		value := os.Getenv(source) // an empty variable is as none
		if value == "" {
			var ok bool
			if value, ok = config[f.Name]; !ok {
				return
			}
			source = cmd.Flags().Lookup("config").Value.String()
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			cause := err
			if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
				cause = plainNumber(invalid.Unwrap())
			}
			first = Usage("It stands for the flag --"+f.Name+": "+cmd.CommandPath()+" --help.",
				"%s: %s = %q: %w", source, f.Name, value, cause)
			return
		}
		cmd.Flags().SetAnnotation(f.Name, sourceKey, []string{source})
	})
	if first == nil {
		warnUnknownEnv(cmd)
	}
	return first
}

// Given names a flag for errors: as it is typed, with its source if that isn't the command line.
func Given(fs *pflag.FlagSet, name string) string {
	f := fs.Lookup(name)
	text := "--" + name
	if f.Shorthand != "" && len(f.Annotations[sourceKey]) == 0 {
		text = "-" + f.Shorthand
	}
	if s := f.Annotations[sourceKey]; len(s) > 0 {
		text += " (from " + s[0] + ")"
	}
	return text
}

// warnUnknownEnv warns of variables that look like settings and are none: they would be ignored
// silently otherwise.
func warnUnknownEnv(cmd *cobra.Command) {
	var left []string // not known yet
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "HALFSPACE_") && value != "" && !otherEnv(name) {
			left = append(left, name)
		}
	}
	if left == nil {
		return
	}
	known, short := map[string]bool{}, map[string]string{}
	var names []string
	eachFlag(newRootCmd(io.Discard), func(f *pflag.Flag) {
		known[envName(f.Name)] = true
		if f.Shorthand != "" {
			short["HALFSPACE_"+f.Shorthand] = envName(f.Name)
		}
		names = append(names, envName(f.Name))
	})
	for _, name := range left {
		if known[name] {
			continue
		}
		hint := ""
		if long := short[name]; long != "" {
			hint = "; did you mean " + long + "?"
		} else if near := spelling.Nearest(name, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "halfspace: warning: %s is set, but no command has such "+
			"a flag%s\n", name, hint)
	}
}

// readConfig returns the values that a TOML file has for flags of cmd: keys at the top serve every
// command that has the flag, a table of a command's name serves that command. A key that is a flag
// of no command is an error.
func readConfig(cmd *cobra.Command, file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, Usage("--config (or HALFSPACE_CONFIG) names a TOML file.", "%s: %w", file,
			PathCause(err))
	}
	var doc map[string]any
	if err := toml.Unmarshal(data, &doc); err != nil {
		if d := (*toml.DecodeError)(nil); errors.As(err, &d) {
			line, col := d.Position()
			return nil, Usage("See: halfspace help env.", "%s:%d:%d: %s", file, line, col,
				strings.TrimPrefix(d.Error(), "toml: "))
		}
		return nil, Usage("See: halfspace help env.", "%s: %w", file, err)
	}
	values, all := map[string]string{}, newRootCmd(io.Discard).Commands()
	take := func(table string, key string, value any) error {
		where := fmt.Sprintf("%s:%d", file, keyLine(data, table, key))
		used, names := false, []string(nil)
		for _, c := range all {
			if table != "" && c.Name() != table {
				continue
			}
			eachFlag(c, func(f *pflag.Flag) {
				used = used || f.Name == key && !slices.Contains(notSettings, key)
				names = append(names, f.Name)
			})
		}
		if !used {
			next := "Keys are names of flags: halfspace train --help."
			if near := spelling.Nearest(key, names); near != "" {
				next = "Did you mean " + near + "? " + next
			}
			return Usage(next, "%s: %q is no flag", where, key)
		}
		switch value.(type) {
		case string, int64, float64, bool:
		default:
			return Usage("A value is a string, a number, true or false.", "%s: %s: a value of "+
				"the wrong kind", where, key)
		}
		values[key] = fmt.Sprint(value)
		return nil
	}
	// Tables after top keys, so that a command's own value wins. Keys are sorted: the first error
	// is always the same one.
	var tables []string
	for _, key := range sortedKeys(doc) {
		if _, ok := doc[key].(map[string]any); ok {
			tables = append(tables, key)
		} else if err := take("", key, doc[key]); err != nil {
			return nil, err
		}
	}
	for _, table := range tables {
		if !slices.ContainsFunc(all, func(c *cobra.Command) bool { return c.Name() == table }) {
			return nil, Usage("A table bears the name of a command: halfspace help.",
				"%s:%d: no command %q", file, keyLine(data, table, ""), table)
		}
		if table != verbOf(cmd) {
			continue
		}
		t := doc[table].(map[string]any)
		for _, key := range sortedKeys(t) {
			if err := take(table, key, t[key]); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// eachFlag visits the flags of a command and of those below it.
func eachFlag(cmd *cobra.Command, f func(*pflag.Flag)) {
	cmd.Flags().VisitAll(f)
	for _, c := range cmd.Commands() {
		eachFlag(c, f)
	}
}

// verbOf returns the name of the command below the root that cmd is, or belongs to.
func verbOf(cmd *cobra.Command) string {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return cmd.Name()
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// keyLine returns the line, from 1, on which a key of a table ("" is the top) stands, or the
// table's own for key "".
func keyLine(data []byte, table, key string) int {
	header := regexp.MustCompile(`^\s*\[\s*"?([^"\]]*?)"?\s*\]`)
	entry := regexp.MustCompile(`^\s*"?` + regexp.QuoteMeta(key) + `"?\s*=`)
	in, n := "", 0
	for line := range strings.Lines(string(data)) {
		n++
		if m := header.FindStringSubmatch(line); m != nil {
			if in = m[1]; key == "" && in == table {
				return n
			}
		} else if key != "" && in == table && entry.MatchString(line) {
			return n
		}
	}
	return 1
}
