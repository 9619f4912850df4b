package vecmath

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// go vet compares the frames of assembly functions (sizes, names and offsets of arguments and
// results) with their Go declarations, but only in what stands in a .s file between one TEXT and
// the next: it neither includes nor expands. So every TEXT, argument and result has to stand there,
// where a wrong number is found. What a body needs again of its arguments it gets from a macro that
// is defined, on lines of its own, within the function.

var (
	frameText = regexp.MustCompile(`^(TEXT .*\$\d+-)(\d+)$`)
	frameArg  = regexp.MustCompile(`^(.*\w\+)(\d+)(\(FP\).*)$`)
)

// In a copy of the assembly all frame sizes and offsets are wrong, one a line: go vet must find
// each.
func TestVetSeesFrames(t *testing.T) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		reason := "go not found: whether go vet sees the frames can not be checked"
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	for arch, least := range map[string]int{"amd64": 400, "arm64": 200} {
		t.Run(arch, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("go.mod", "module frames\n\ngo 1.26\n")
			write("decls_"+arch+".go", bodyless(t, arch))
			files, err := filepath.Glob("*_" + arch + ".s")
			if err != nil || len(files) == 0 {
				t.Fatalf("no assembly found: %v", err)
			}
			wrong := map[string]string{} // lines by FILE:LINE
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				lines := splitLines(string(text))
				for i, line := range lines {
					code, _, _ := strings.Cut(line, "//")
					if strings.HasPrefix(code, "TEXT ") || strings.Contains(code, "(FP)") {
						lines[i] = wrongFrame(code)
						wrong[fmt.Sprintf("%s:%d", f, i+1)] = line
					}
				}
				write(f, strings.Join(lines, "\n")+"\n")
			}
			if len(wrong) < least {
				t.Errorf("only %d frame sizes and offsets found: the test does not understand "+
					"the files", len(wrong))
			}

			vet := exec.Command(goCommand, "vet", "-asmdecl", ".")
			vet.Dir = dir
			vet.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0",
				"GOFLAGS=", "GOWORK=off", "PWD="+dir)
			out, err := vet.CombinedOutput()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
				t.Fatalf("go vet, which must find faults: %v\n%s", err, out)
			}
			found := map[string]bool{}
			for _, m := range regexp.MustCompile(
				`(\w+\.s:\d+):\d+: \[`+arch+`\] \w+: (?:invalid offset|wrong argument size)`,
			).FindAllSubmatch(out, -1) {
				found[string(m[1])] = true
			}
			if len(found) == 0 {
				t.Fatalf("go vet found nothing:\n%s", out)
			}
			for place, line := range wrong {
				if !found[place] {
					t.Errorf("%s: go vet overlooks a wrong number in %q", place,
						strings.TrimSpace(line))
				}
			}
		})
	}
}

// What vet does not read holds no frame: included files, and macros that outlive their function.
func TestFramesWhereVetReads(t *testing.T) {
	files, err := filepath.Glob("*.[sh]")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly found: %v", err)
	}
	for _, f := range files {
		for _, fault := range frameFaults(f, asmOwnLines(t, f)) {
			t.Error(fault)
		}
	}
}

func TestFramesWhereVetReadsFaults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		faulty     bool
	}{
		{"a.s", "TEXT ·f(SB), NOSPLIT, $0-8|	MOVQ n+0(FP), CX|	RET", false},
		{"a.s", "TEXT ·f(SB), NOSPLIT, $0-8|#define LOADN 	MOVQ n+0(FP), CX|	LOADN|#undef " +
			"LOADN|	RET|TEXT ·g(SB), NOSPLIT, $0-0|	RET", false},
		{"a.s", "TEXT ·f(SB), NOSPLIT, $0-8|#define LOADN 	MOVQ n+0(FP), CX|	LOADN|" +
			"	RET|TEXT ·g(SB), NOSPLIT, $0-0|	RET", true},
		{"a.s", "#define LOADN 	MOVQ n+0(FP), CX|TEXT ·f(SB), NOSPLIT, $0-8|	LOADN|" +
			"	RET", true},
		{"a.h", "	MOVQ n+0(FP), CX", true},
		{"a.h", "TEXT ·f(SB), NOSPLIT, $0-0", true},
	} {
		if faults := frameFaults(c.name, strings.Split(c.text, "|")); len(faults) > 0 != c.faulty {
			t.Errorf("%s: %s: faults %q", c.name, c.text, faults)
		}
	}
}

func frameFaults(file string, lines []string) (faults []string) {
	var open []string // macros with an argument
	for _, l := range lines {
		text, arg := strings.HasPrefix(l, "TEXT "), strings.Contains(l, "(FP)")
		if (text || arg) && strings.HasSuffix(file, ".h") {
			faults = append(faults, fmt.Sprintf("%s: go vet does not read included files: %s", file,
				l))
		}
		if m := asmDefine.FindStringSubmatch(l); m != nil && arg {
			open = append(open, m[1])
		}
		if name, ok := strings.CutPrefix(l, "#undef "); ok {
			open = slices.DeleteFunc(open, func(m string) bool { return m == name })
		}
		if text && len(open) > 0 {
			faults = append(faults, fmt.Sprintf("%s: the macros %q with an argument must end "+
				"before %s", file, open, l))
			open = nil
		}
	}
	return faults
}

// wrongFrame returns a line with another number for its frame size or offset; all other lines as
// they are.
func wrongFrame(line string) string {
	for _, re := range []*regexp.Regexp{frameText, frameArg} {
		if m := re.FindStringSubmatch(strings.TrimRight(line, " \t")); m != nil {
			n, _ := strconv.Atoi(m[2])
			return m[1] + strconv.Itoa(n+1) + strings.Join(m[3:], "")
		}
	}
	return line
}

// bodyless returns a file of the declarations of the assembly functions.
func bodyless(t *testing.T, arch string) string {
	t.Helper()
	files, err := filepath.Glob("*_" + arch + ".go")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("package vecmath\n")
	fset := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
				out.WriteString("\n")
				if err := format.Node(&out, fset, f); err != nil {
					t.Fatal(err)
				}
				out.WriteString("\n")
			}
		}
	}
	return out.String()
}
