package vecmath

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Instructions that Go's assembler lacks stand in the assembly as words with the instruction as
// their comment, written by asm2plan9s (.ci/encode-arm64). Nothing in a build compares the two: a
// comment that is edited without its words assembles. asm2plan9s itself knows a line by the column
// of its comment only and skips all others silently. So every such line is assembled again here, by
// the same tool, from its comment alone.

// encoder is how the encoded lines of one architecture look and how they are assembled.
type encoder struct {
	goarch   string
	names    []string // parts of file names that tell the architecture
	line     *regexp.Regexp
	as       []string // the assembler; the last name is that on a machine of this architecture
	emulator string   // runs the tool's build for goarch on another machine
}

var encoders = []*encoder{
	{
		goarch:   "arm64",
		names:    []string{"arm64", "neon"},
		line:     regexp.MustCompile(`^    WORD \$0x[0-9a-f]{8} // \S.*$`),
		as:       []string{"aarch64-linux-gnu-as", "as"},
		emulator: "qemu-aarch64-static",
	},
	{
		goarch: "amd64",
		names:  []string{"amd64", "avx2", "avx512"},
		// No QUAD: asm2plan9s writes it for eight bytes and more, but does not read it.
		line: regexp.MustCompile(`^    (?:LONG|WORD|BYTE) \$0x[0-9a-f]+` +
			`(?:; (?:LONG|WORD|BYTE) \$0x[0-9a-f]+)* // \S.*$`),
		as:       []string{"x86_64-linux-gnu-as", "as"},
		emulator: "qemu-x86_64-static",
	},
}

// instructionColumns are where asm2plan9s looks for the comment of an encoded (or blank) line, tabs
// being four wide. At everyColumn it takes the comment of any line for an instruction, and puts
// words in place of the line.
var instructionColumns = []int{21, 29, 33, 35, 39, 47}

const everyColumn = 65

var (
	directive = regexp.MustCompile(`\b(?:QUAD|LONG|WORD|BYTE)\s+\$`)
	hexNumber = regexp.MustCompile(`\$0x[0-9a-f]+`)
)

func TestEncodedBytes(t *testing.T) {
	files := make(map[*encoder][]string)
	all, err := filepath.Glob("*.[sh]")
	if err != nil || len(all) == 0 {
		t.Fatalf("no assembly found: %v", err)
	}
	for _, f := range all {
		e := encoderOf(f)
		if e == nil {
			t.Errorf("%s: no part of the name tells the architecture", f)
			continue
		}
		files[e] = append(files[e], f)
	}
	for _, e := range encoders {
		t.Run(e.goarch, func(t *testing.T) { e.check(t, files[e]) })
	}
}

func encoderOf(file string) *encoder {
	parts := strings.FieldsFunc(file, func(r rune) bool { return r == '_' || r == '.' })
	for _, e := range encoders {
		if slices.ContainsFunc(e.names, func(n string) bool { return slices.Contains(parts, n) }) {
			return e
		}
	}
	return nil
}

func (e *encoder) check(t *testing.T, files []string) {
	encoded := make(map[string][]string)
	total := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := splitLines(string(text))
		n, faults := e.inspect(lines)
		for _, fault := range faults {
			t.Errorf("%s:%s", f, fault)
		}
		if n > 0 {
			encoded[f] = lines
			total += n
		}
	}
	if total == 0 || t.Failed() {
		return
	}
	assemble := e.assembler(t)
	for f, lines := range encoded {
		for _, fault := range e.stale(t, assemble, f, lines) {
			t.Errorf("%s:%s", f, fault)
		}
	}
	t.Logf("%d encoded lines in %d files", total, len(encoded))
}

// inspect counts the encoded lines. Its faults are encoded lines that asm2plan9s would skip, and
// ordinary comments that it would take for instructions.
func (e *encoder) inspect(lines []string) (n int, faults []string) {
	for i, line := range lines {
		parts := strings.Split(line, "//")
		column := len(strings.ReplaceAll(parts[0], "\t", "    "))
		atColumn := slices.Contains(instructionColumns, column)
		switch {
		case directive.MatchString(parts[0]):
			n++
			if len(parts) != 2 || !atColumn || !e.line.MatchString(line) {
				faults = append(faults, fmt.Sprintf("%d: asm2plan9s skips this line: it is not "+
					"of the form %s with // at one of the columns %v: %q",
					i+1, e.line, instructionColumns, line))
			}
		case len(parts) == 2 && (column == everyColumn || atColumn &&
			strings.TrimSpace(parts[0]) == ""):
			faults = append(faults, fmt.Sprintf("%d: asm2plan9s takes this comment for an "+
				"instruction because of its column, %d; move it: %q",
				i+1, column, line))
		}
	}
	return n, faults
}

// stale assembles a copy of a file in which all encoded bytes are zeros, so that a line can come
// out right only if the tool has written it, and returns which lines do not.
func (e *encoder) stale(t *testing.T, assemble func(file string) error, name string,
	lines []string) (faults []string) {
	t.Helper()
	isEncoded := func(line string) bool {
		code, _, _ := strings.Cut(line, "//")
		return directive.MatchString(code)
	}
	blank := slices.Clone(lines)
	for i, line := range lines {
		if isEncoded(line) {
			code, instruction, _ := strings.Cut(line, "//")
			zeros := func(s string) string { return "$0x" + strings.Repeat("0", len(s)-len("$0x")) }
			blank[i] = hexNumber.ReplaceAllStringFunc(code, zeros) + "//" + instruction
		}
	}
	f := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(f, []byte(strings.Join(blank, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := assemble(f); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := os.ReadFile(f)
	if err != nil {
		t.Fatal(err)
	}
	again := splitLines(string(text))
	if len(again) != len(lines) {
		t.Fatalf("%s: asm2plan9s made %d lines of %d", name, len(again), len(lines))
	}
	for i, line := range lines {
		if isEncoded(line) && again[i] != line {
			faults = append(faults, fmt.Sprintf("%d: the file has %q, the assembler gives %q", i+1,
				line, again[i]))
		}
	}
	return faults
}

// assembler builds asm2plan9s, which encodes for the architecture it is built for, and returns what
// runs it on a file. A program that is not there skips the test, or fails it with
// HALFSPACE_REQUIRE_TOOLS=1.
func (e *encoder) assembler(t *testing.T) func(file string) error {
	t.Helper()
	find := func(programs ...string) string {
		t.Helper()
		for _, p := range programs {
			if path, err := exec.LookPath(p); err == nil {
				return path
			}
		}
		reason := fmt.Sprintf("%s not found: the encoded %s instructions can not be checked",
			strings.Join(programs, " or "), e.goarch)
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
		return ""
	}
	goCommand := find("go")
	native := runtime.GOARCH == e.goarch
	var emulator, as string
	if native {
		as = find(e.as...)
		// A test that itself runs under the emulator still starts programs of the machine below.
		emulator, _ = exec.LookPath(e.emulator)
	} else {
		as = find(e.as[0])
		emulator = find(e.emulator)
	}

	dir := t.TempDir()
	bin := filepath.Join(dir, "bin") // all of the tool's PATH, as it would try yasm before as
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(as, filepath.Join(bin, "as")); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "asm2plan9s")
	build := exec.Command(goCommand, "build", "-modfile=../../.ci/tools.mod", "-o", tool,
		"github.com/minio/asm2plan9s")
	build.Env = append(os.Environ(), "GOARCH="+e.goarch, "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building asm2plan9s: %v\n%s", err, out)
	}
	return func(file string) error {
		command := []string{tool, file}
		if emulator != "" {
			command = []string{emulator, tool, file}
		}
		run := exec.Command(command[0], command[1:]...)
		run.Env = []string{"PATH=" + bin, "TMPDIR=" + dir}
		if out, err := run.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
}

func splitLines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// The check itself finds what it is there for.
func TestEncodedBytesFaults(t *testing.T) {
	arm64 := encoders[0]
	good := "    WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s"
	for _, c := range []struct {
		name, line string
		encoded    int
		faulty     bool
	}{
		{"good", good, 1, false},
		{"tab", "\tWORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s", 1, true},
		{"column", "    WORD $0x4e21d400  // fadd v0.4s, v0.4s, v1.4s", 1, true},
		{"no instruction", "    WORD $0x4e21d400", 1, true},
		{"two on a line", "    WORD $0x4e21d400; WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s", 1,
			true},
		{"in a macro", "#define ADD WORD $0x4e21d400", 1, true},
		{"two comments", good + " // h = 4", 1, true},
		{"in a comment", "//	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s", 0, false},
		{"ordinary", "\tVMOV V0.B16, V1.B16 // a copy", 0, false},
		{"comment at an instruction's column", strings.Repeat(" ", 33) + "// so that", 0, true},
		{"comment at column 65", "\tMOVD $1, R0" + strings.Repeat(" ", 65-15) + "// so that", 0,
			true},
	} {
		n, faults := arm64.inspect([]string{c.line})
		if n != c.encoded || (len(faults) > 0) != c.faulty {
			t.Errorf("%s: %d encoded lines, faults %q", c.name, n, faults)
		}
	}

	stale := "    WORD $0x4e21d400 // fadd v0.4s, v0.4s, v2.4s"
	faults := arm64.stale(t, arm64.assembler(t), "x_arm64.s", []string{good, stale})
	if len(faults) != 1 || !strings.HasPrefix(faults[0], "2: ") {
		t.Errorf("an edited comment: faults %q", faults)
	}
}
