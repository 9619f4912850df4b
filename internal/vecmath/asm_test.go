package vecmath

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	asmComment = regexp.MustCompile(`//.*`)
	asmInclude = regexp.MustCompile(`^#include "(.*\.h)"`)
	asmDefine  = regexp.MustCompile(`^#define (\w+)(?:\([^)]*\))?(.*)`)
	asmWord    = regexp.MustCompile(`\w+`)
	asmWide    = regexp.MustCompile(`\b[YZ]\d+\b`)
	asmLegacy  = regexp.MustCompile(`^\s*([A-UW-Z][A-Z0-9]*)\s.*\bX\d+\b`)
)

// Two rules for amd64 assembly, both worth a hundred nanoseconds a call where they are broken:
//
//   - a kernel that uses Y or Z registers, itself or in a macro, has VZEROUPPER directly before
//     each RET;
//   - X registers are used by V instructions only: MOVQ AX, X1 is a legacy SSE instruction.
func TestVectorState(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatal("no assembly found: ", err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			if blocks := checkVectorState(t, asmLines(t, file)); blocks < 2 {
				t.Errorf("only %d kernels found in %s: the test does not understand the file",
					blocks, file)
			}
		})
	}
}

// The test must see what it is for.
func TestVectorStateSees(t *testing.T) {
	for _, bad := range []string{
		"TEXT ·f(SB), NOSPLIT, $0-0|VXORPS Y0, Y0, Y0|RET",
		"#define CLEAR VXORPS Y0, Y0, Y0|#define TWICE CLEAR; CLEAR|" +
			"TEXT ·f(SB), NOSPLIT, $0-0|TWICE|RET",
		"TEXT ·f(SB), NOSPLIT, $0-0|VXORPS Z1, Z1, Z1|VZEROUPPER|JNE out|RET|out:|VZEROUPPER|RET",
		"TEXT ·f(SB), NOSPLIT, $0-0|	MOVQ AX, X1|RET",
		"#define LOAD(x) VMOVSS (SI), x; MOVSS (DI), X2|TEXT ·f(SB), NOSPLIT, $0-0|LOAD(X1)|RET",
	} {
		if len(vectorStateFaults(strings.Split(bad, "|"))) == 0 {
			t.Errorf("no fault found in %s", bad)
		}
	}
}

func checkVectorState(t *testing.T, lines []string) (blocks int) {
	for _, fault := range vectorStateFaults(lines) {
		t.Error(fault)
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "TEXT ") {
			blocks++
		}
	}
	return blocks
}

func vectorStateFaults(lines []string) (faults []string) {
	macros := map[string]string{} // all bodies that a name ever had
	for _, l := range lines {
		if m := asmDefine.FindStringSubmatch(l); m != nil {
			macros[m[1]] += ";" + m[2]
		}
	}
	for name, body := range macros {
		for instr := range strings.SplitSeq(body, ";") {
			if m := asmLegacy.FindStringSubmatch(instr); m != nil && macros[m[1]] == "" {
				faults = append(faults, "macro "+name+": legacy SSE instruction: "+instr)
			}
		}
	}
	var wide func(text string, depth int) bool
	wide = func(text string, depth int) bool {
		if asmWide.MatchString(text) {
			return true
		}
		for _, w := range asmWord.FindAllString(text, -1) {
			if body, ok := macros[w]; ok && depth < 8 && wide(body, depth+1) {
				return true
			}
		}
		return false
	}
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "TEXT ") {
			continue
		}
		text := lines[i]
		end := i + 1
		uses := false
		for ; end < len(lines) && !strings.HasPrefix(lines[end], "TEXT "); end++ {
			l := lines[end]
			if strings.HasPrefix(l, "#") {
				continue
			}
			uses = uses || wide(l, 0)
			if m := asmLegacy.FindStringSubmatch(l); m != nil && macros[m[1]] == "" {
				faults = append(faults, text+": legacy SSE instruction: "+l)
			}
		}
		before := ""
		for _, l := range lines[i+1 : end] {
			if l = strings.TrimSpace(l); l == "RET" && uses && before != "VZEROUPPER" {
				faults = append(faults, text+": RET without VZEROUPPER, after "+before)
			}
			before = l
		}
	}
	return faults
}

// asmLines returns the lines of a file without comments, includes put in and continued lines
// joined.
func asmLines(t *testing.T, file string) (lines []string) {
	for _, l := range asmOwnLines(t, file) {
		if m := asmInclude.FindStringSubmatch(l); m == nil {
			lines = append(lines, l)
		} else if m[1] != "textflag.h" {
			lines = append(lines, asmLines(t, m[1])...)
		}
	}
	return lines
}

// asmOwnLines returns the same with the includes as they stand.
func asmOwnLines(t *testing.T, file string) (lines []string) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(strings.ReplaceAll(string(src), "\\\n", "")) {
		if l = strings.TrimRight(asmComment.ReplaceAllString(l, ""), " \t\r\n"); l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}
