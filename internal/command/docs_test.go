package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/learner"
)

// The documents are README.md, the three other pages beside it and those of docs/. Their commands
// stand in fenced blocks of the language sh (commands alone) or console (lines that begin with "$ "
// are commands, the others what they print; ... stands for what differs from run to run), programs
// in blocks of the language python, which are run where there is one. A word after sh or console
// says what a block needs:
//
//	(none)    nothing: it is run
//	data      the public data sets: it is run where they are, but not with -short
//	slow      more than some seconds: it is not run
//	checkout  the source tree, a network or both: it is not run
//	nats      a broker, and so is kafka: the tests of ext/nats and ext/kafka run it
//	beam      halfspace-beam: the tests of distributed/beam run it
//
// Blocks of python that are marked library need that of python/, whose tests run them; blocks of c,
// and the commands that build them, are run by the tests of cmd/libhalfspace.
//
// Blocks that show a command of a module of its own, halfspace-NAME, are run by that module's test.
//
// The commands of one document run in one folder, in order. All blocks are looked through, whether
// they are run or not: each halfspace command in them must have the verbs, flags and names that it
// uses, and so must commands that are quoted in a text.

// documents returns the names of all pages, from this folder.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"../../README.md", "../../CONTRIBUTING.md", "../../ARCHITECTURE.md",
		"../../CHANGELOG.md"}, pages...)
}

// block is a fenced block of a document.
type block struct {
	language, mark string
	line           int // of its first line of text, from 1
	text           string
}

// blocksOf splits a document into fenced blocks and the text between them.
func blocksOf(page string) (blocks []block, prose string) {
	var b strings.Builder
	var in *block
	n := 0
	for line := range strings.Lines(page) {
		n++
		fence, ok := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case ok && in == nil:
			language, mark, _ := strings.Cut(fence, " ")
			in = &block{language: language, mark: mark, line: n + 1}
		case ok:
			blocks = append(blocks, *in)
			in = nil
		case in != nil:
			in.text += line
		default:
			b.WriteString(line)
		}
	}
	return blocks, b.String()
}

// TestDocs runs the commands of the documents, those of one in their order.
func TestDocs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are a POSIX shell's")
	}
	runs := 0
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks, prose := blocksOf(string(text))
		for _, b := range blocks {
			if b.isShell() && b.mark == "" && !b.ofModule() {
				runs++
			}
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, b := range blocks {
				t.Run(fmt.Sprint(b.line), func(t *testing.T) { b.test(t, dir) })
			}
			t.Run("quoted", func(t *testing.T) {
				for _, m := range regexp.MustCompile("`(halfspace [^`]*)`").FindAllStringSubmatch(
					strings.Join(strings.Fields(prose), " "), -1) {
					checkCommands(t, m[1])
				}
			})
		})
	}
	if runs < 10 {
		t.Errorf("%d blocks that are run: are the documents found?", runs)
	}
}

// isShell reports whether the block has commands.
func (b block) isShell() bool { return b.language == "sh" || b.language == "console" }

// test checks the block, and runs it if it is to be run.
func (b block) test(t *testing.T, dir string) {
	switch {
	case b.language == "python" && b.mark != "library":
		b.runPython(t, dir)
		return
	case slices.Contains([]string{"python", "go", "c", "text", "toml"}, b.language):
		return
	case !b.isShell():
		t.Errorf("a block of language %q: want sh, console, python, go, c, text or toml",
			b.language)
		return
	case !slices.Contains([]string{"", "data", "slow", "checkout", "nats", "kafka", "beam"},
		b.mark):
		t.Errorf("a block marked %q: want data, slow, checkout, nats, kafka or beam", b.mark)
	}
	if b.ofModule() {
		return
	}
	checkCommands(t, b.commands())
	switch {
	case race.Enabled: // they are slow then, and have tests of their own
	case b.mark == "data" && !testing.Short():
		b.run(t, dir, "HALFSPACE_DATA="+filepath.Dir(realdata.File(t, "a9a.gz")))
	case b.mark == "":
		b.run(t, dir)
	}
}

// commands returns the block's commands, one a line.
func (b block) commands() string {
	if b.language == "sh" {
		return b.text
	}
	var c strings.Builder
	for line := range strings.Lines(b.text) {
		if line, ok := strings.CutPrefix(line, "$ "); ok {
			c.WriteString(line)
		}
	}
	return c.String()
}

// ofModule reports whether the block shows a command of a module of its own.
func (b block) ofModule() bool {
	return regexp.MustCompile(`(?m)^(\$ )?halfspace-[a-z]+ `).MatchString(b.text)
}

// run runs the block's commands, and compares what they print.
func (b block) run(t *testing.T, dir string, env ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	shell := func(script string) string {
		cmd := exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(documentEnv(dir), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			// A reader that has seen enough, as head has, is no failure.
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 141 {
				t.Errorf("%s\n%v\n%s", script, err, out)
			}
		}
		return string(out)
	}
	if b.language == "sh" {
		shell(b.text)
		return
	}
	for part := range strings.SplitSeq("\n"+b.text, "\n$ ") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		command, want, _ := strings.Cut(part, "\n")
		for strings.HasSuffix(command, "\\") { // it goes on in the next line
			next, rest, _ := strings.Cut(want, "\n")
			command, want = command+"\n"+next, rest
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), `\.\.\.`, `[^\n]*`)
		got := strings.TrimSpace(shell(command))
		if !regexp.MustCompile(`^` + pattern + `$`).MatchString(got) {
			t.Errorf("%s\nprints\n%s\nnot\n%s", command, got, want)
		}
	}
}

// runPython runs the block as a program, which says itself what must be so.
func (b block) runPython(t *testing.T, dir string) {
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
		t.Fatal(err)
	}
	if err != nil || race.Enabled {
		t.Skip("no python3, or it is slow")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-c", b.text)
	cmd.Dir, cmd.Env = dir, documentEnv(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s\n%v\n%s", b.text, err, out)
	}
}

// documentEnv is the environment of the tester without settings of its own. What is kept for later
// is kept in dir.
func documentEnv(dir string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "HALFSPACE_") && name != "HALFSPACE_IMPL"
	})
	return append(env, "HOME=/nonexistent", "XDG_CACHE_HOME="+dir)
}

// checkCommands looks whether halfspace has the verbs, flags and names of commands.
func checkCommands(t *testing.T, script string) {
	script = strings.ReplaceAll(script, "\\\n", " ")
	if out, err := exec.Command("bash", "-n", "-c", script).CombinedOutput(); err != nil {
		t.Errorf("%s\n%v\n%s", script, err, out)
	}
	// arguments of several words: no flags of ours
	quoted := regexp.MustCompile(`"[^"\n]* [^"\n]*"`)
	for line := range strings.Lines(script) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		line = quoted.ReplaceAllString(line, `""`)
		for part := range strings.SplitSeq(line, "|") {
			args := strings.Fields(part)
			for len(args) > 0 && strings.Contains(args[0], "=") { // a variable for this command
				args = args[1:]
			}
			for i, a := range args { // what goes to files
				if strings.HasPrefix(a, ">") || strings.HasPrefix(a, "<") || a == "&&" {
					args = args[:i]
					break
				}
			}
			switch {
			case len(args) == 0:
			case args[0] == "halfspace":
				checkCommand(t, args[1:])
			case args[0] == "go":
				checkPackages(t, args[1:])
			}
		}
	}
}

// checkPackages looks whether the packages of this module that a go command names are there.
func checkPackages(t *testing.T, args []string) {
	for _, a := range args {
		dir, remote := strings.CutPrefix(a, "github.com/halfspace-ml/halfspace/")
		dir, _, _ = strings.Cut(dir, "@")
		if !remote && !strings.HasPrefix(dir, "./") || strings.HasSuffix(dir, "...") {
			continue
		}
		if files, _ := filepath.Glob(filepath.Join("../..", dir, "*.go")); len(files) == 0 {
			t.Errorf("go %s: no package %s", strings.Join(args, " "), dir)
		}
	}
}

// checkCommand looks whether there is such a command line: with --help its flags are read and
// nothing is done.
func checkCommand(t *testing.T, args []string) {
	for i, a := range args {
		if a == "NAME" { // of any learner
			args[i] = "obpm"
		}
	}
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--help" })
	line := strings.Join(args, " ")
	if len(args) > 0 && args[0] == "help" {
		printed(t, args...)
		return
	}
	cmd := exec.Command("halfspace", append(slices.Clone(args), "--help")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("halfspace %s: %v\n%s", line, err, out)
		return
	}
	root := newRootCmd(nil)
	found, rest, err := root.Find(args)
	if err != nil || found == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		t.Errorf("halfspace %s: no such command", line)
		return
	}
	if err := found.ParseFlags(rest); err != nil {
		t.Errorf("halfspace %s: %v", line, err)
		return
	}
	switch found.Name() {
	case "bench", "repro": // their flags were read by halfspace-bench
		known, err := exec.Command("halfspace-bench", "__complete", found.Name(), "").Output()
		if err != nil {
			t.Error(err)
		}
		for _, name := range rest {
			if strings.HasPrefix(name, "-") {
				break
			}
			papers := strings.Contains("\n"+string(known), "\n"+name+"/")
			if !papers && !slices.Contains(strings.Fields(string(known)), name) {
				t.Errorf("halfspace %s: no %s", line, name)
			}
		}
	case "train": // the settings must be those of its learner or of the base
		a := found.Flags().Lookup("learner").Value.String()
		who := []string{a}
		if e, err := learner.Lookup(a); err == nil {
			if place, _, ok := base(e.Config()); ok {
				who = append(who, place.String())
			}
		}
		if f := found.Flags().Lookup("base"); f.Changed {
			who = append(who, f.Value.String())
		}
		if found.Flags().Changed("rff") { // the learner is the base
			who = append(who, "rff")
		}
		found.Flags().Visit(func(f *pflag.Flag) {
			if s, ok := f.Value.(*setting); ok && !slices.ContainsFunc(who, func(w string) bool {
				return slices.Contains(s.uses, w)
			}) {
				t.Errorf("halfspace %s: --%s is no setting of %v", line, f.Name, who)
			}
		})
	}
}

// TestREADMELength: the first page is one that is read to its end.
func TestREADMELength(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 180 {
		t.Errorf("README has %d lines, want 180 at most", n)
	}
}

// TestLinks: what the documents link to within the project is there, and so are the headings.
func TestLinks(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	other := regexp.MustCompile(`[^a-z0-9 _-]`)
	n := 0
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, prose := blocksOf(string(text))
		for _, m := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(prose, -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			n++
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if anchor == "" || info.IsDir() {
				continue
			}
			there, err := os.ReadFile(target)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, h := range heading.FindAllStringSubmatch(string(there), -1) {
				name := other.ReplaceAllString(strings.ToLower(h[1]), "")
				found = found || strings.ReplaceAll(name, " ", "-") == anchor
			}
			if !found {
				t.Errorf("%s: %s has no heading #%s", page, target, anchor)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d links found", n)
	}
}

// TestPictures: the pictures of the documents are what the command draws.
func TestPictures(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("halfspace", "repro", "-q", "--cache", filepath.Join(dir, "cache"),
		"--plot", dir, "obpm/figure1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pictures, err := filepath.Glob("../../docs/img/*")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("no pictures (%v)", err)
	}
	for _, name := range pictures {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what repro draws (%v)", name, err)
		}
	}
}

const learnersPage = "../../docs/learners.md"

var writeLearners = flag.Bool("write-learners", false, "write what docs/learners.md says of "+
	"settings anew")

// TestLearnersPage: docs/learners.md has a row and a section of every learner, with all settings,
// their defaults and the command's help on them, and of no other.
func TestLearnersPage(t *testing.T) {
	if *writeLearners {
		writeSettings(t)
	}
	text, err := os.ReadFile(learnersPage)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]map[string]string{} // of a heading: the settings' defaults
	links := map[string]bool{}                 // to the kernel settings
	row := regexp.MustCompile("^\\| `--([^`]+)` \\| ([^|]*) \\| (.*) \\|")
	meaning := map[string]string{} // of a section and a flag
	var section string
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(name)
			sections[section] = map[string]string{}
		}
		if m := row.FindStringSubmatch(line); m != nil {
			sections[section][m[1]] = m[2]
			meaning[section+" "+m[1]] = m[3]
		}
		if strings.Contains(line, "(#kernel-settings)") {
			links[section] = true
		}
	}
	kernel := sections["Kernel settings"]
	for _, name := range learner.Names() {
		if !strings.Contains(string(text), "\n| [`"+name+"`](#"+name+") | ") {
			t.Errorf("no row of %s", name)
		}
		have, ok := sections[name]
		if !ok {
			t.Errorf("no section of %s", name)
			continue
		}
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c := e.Config()
		for _, f := range settingsOf(c) {
			def, ok := have[f.flag]
			text := meaning[name+" "+f.flag]
			if !ok && links[name] {
				def, ok = kernel[f.flag]
				text = meaning["Kernel settings "+f.flag]
			}
			for _, v := range f.values {
				if !regexp.MustCompile(`\b` + v + `\b`).MatchString(text) {
					t.Errorf("%s: --%s: the value %s is not explained", name, f.flag, v)
				}
			}
			if want := inTable(f.line(c)); text != want {
				t.Errorf("%s: --%s: the page has %q, the help %q: go test ./internal/command -run "+
					"LearnersPage -write-learners", name, f.flag, text, want)
			}
			if !ok || def != f.text() {
				t.Errorf("%s: --%s: the default %q, want %q", name, f.flag, def, f.text())
			}
			delete(have, f.flag)
		}
		for flag := range have {
			t.Errorf("%s has no setting --%s", name, flag)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| \\[`([^`]+)`\\]").FindAllStringSubmatch(
		string(text), -1) {
		if !slices.Contains(learner.Names(), m[1]) {
			t.Errorf("a row of %s, which is no learner", m[1])
		}
	}
}

// inTable returns a line of help as a table of a page has it.
func inTable(line string) string {
	flags := regexp.MustCompile(`--[a-z0-9-]+`)
	return flags.ReplaceAllString(strings.ReplaceAll(line, "|", `\|`), "`$0`")
}

// writeSettings gives the rows of settings in docs/learners.md the defaults and the help that there
// are. New rows may be empty.
func writeSettings(t *testing.T) {
	text, err := os.ReadFile(learnersPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // of a section and a flag
	for _, name := range learner.Names() {
		e, _ := learner.Lookup(name)
		c := e.Config()
		for _, f := range settingsOf(c) {
			row := fmt.Sprintf("| `--%s` | %s | %s |\n", f.flag, f.text(), inTable(f.line(c)))
			rows[name+" "+f.flag] = row
			rows["Kernel settings "+f.flag] = row
		}
	}
	flag := regexp.MustCompile("^\\| `--([^`]+)` \\|")
	var section, page string
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(name)
		}
		if m := flag.FindStringSubmatch(line); m != nil && rows[section+" "+m[1]] != "" {
			line = rows[section+" "+m[1]]
		}
		page += line
	}
	if err := os.WriteFile(learnersPage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFormatsPage: docs/formats.md has a row of every format, and of no other.
func TestFormatsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text), "## Labels")
	var rows []string
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9]+)` \\|")
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		rows = append(rows, m[1])
	}
	if names := format.Names(nil); !slices.Equal(rows, names) {
		t.Errorf("rows of %v, want %v", rows, names)
	}
}
