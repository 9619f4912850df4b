package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Assembly is written in files *.s.in, whose lines pass through but for these:
//
//	@both ... @end          is written twice, for float32 and for float64
//	define M | a | b        there: macro M is a for float32, b for float64
//	32:LINE  64:LINE        there: a line for one of the two
//	frame KERNEL TAG        begins the function of that row of the table; an empty line ends it
//
// In a frame the table gives types, sizes and offsets, so that a change of a kernel's parameters is
// made in one place:
//
//	load a=SI b=DI          loads arguments; to a vector register in all lanes
//	ret X0                  stores the result
//	{n}                     is the operand of argument or result n
//
// A frame ends in VZEROUPPER (amd64) and RET; with end=ret it has no VZEROUPPER, with end=none
// neither. locals=N is the size of its own frame in bytes.

// assembly returns the text of the assembly files of the sources in dir, by their names.
func assembly(dir string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.s.in"))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".in")
		a := assembler{arm: strings.HasSuffix(name, "_arm64.s")}
		if err := a.file(strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		files["z"+name] = strings.Replace(header, "its kernels.go", filepath.Base(path)+" and its "+
			"kernels.go", 1) + a.out.String()
	}
	return files, nil
}

// An assembler expands one source.
type assembler struct {
	arm   bool
	bits  string // "32" or "64" within @both
	out   strings.Builder
	frame *frame // that lines belong to, or nil

	macros []string // that @both defined, in use until the next @both or its second half
}

// A frame is a function of assembly.
type frame struct {
	operands map[string]operand
	end      []string
}

// An operand is an argument or a result.
type operand struct {
	typ string // of Go
	at  string // name+offset(FP)
}

func (a *assembler) file(lines []string) error {
	for i := 0; i < len(lines); i++ {
		if lines[i] != "@both" {
			if err := a.line(lines[i]); err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
			continue
		}
		end := slices.Index(lines[i:], "@end") + i
		if end < i {
			return fmt.Errorf("line %d: no @end", i+1)
		}
		for _, a.bits = range []string{"32", "64"} {
			for _, m := range a.macros {
				fmt.Fprintf(&a.out, "#undef %s\n", m)
			}
			a.macros = nil
			fmt.Fprintf(&a.out, "// float%s\n\n", a.bits)
			for j, line := range lines[i+1 : end] {
				if err := a.line(line); err != nil {
					return fmt.Errorf("line %d: %w", i+j+2, err)
				}
			}
			a.close()
		}
		a.bits = ""
		i = end
	}
	a.close()
	return nil
}

var macro = regexp.MustCompile(`^#define (\w+)`)

// close ends the frame that is open.
func (a *assembler) close() {
	if a.frame != nil {
		for _, line := range a.frame.end {
			a.out.WriteString("\t" + line + "\n")
		}
		a.frame = nil
	}
}

var named = regexp.MustCompile(`\{(\w+)\}`)

func (a *assembler) line(line string) error {
	if bits, rest, ok := strings.Cut(line, ":"); ok && (bits == "32" || bits == "64") {
		if bits != a.bits {
			return nil
		}
		line = rest
		if m := macro.FindStringSubmatch(line); m != nil && a.frame == nil {
			a.macros = append(a.macros, m[1])
		}
	}
	word, rest, _ := strings.Cut(strings.TrimPrefix(line, "\t"), " ")
	switch {
	case word == "define" && a.bits != "":
		parts := strings.Split(rest, " | ")
		if len(parts) != 3 {
			return fmt.Errorf("%q has no two meanings", line)
		}
		body := parts[1]
		if a.bits == "64" {
			body = parts[2]
		}
		line = "#define " + parts[0] + " " + body
		a.macros = append(a.macros, macro.FindStringSubmatch(line)[1])
	case word == "frame":
		return a.open(strings.Fields(rest))
	case a.frame == nil:
	case line == "":
		a.close()
	case word == "load":
		for _, f := range strings.Fields(rest) {
			name, reg, _ := strings.Cut(f, "=")
			o, ok := a.frame.operands[name]
			if !ok {
				return fmt.Errorf("no argument %q", name)
			}
			fmt.Fprintf(&a.out, "\t%s %s, %s\n", a.move(o.typ, reg), o.at, reg)
		}
		return nil
	case word == "ret":
		o := a.frame.operands["ret"]
		line = fmt.Sprintf("\t%s %s, %s", a.move(o.typ, rest), rest, o.at)
	default:
		var err error
		line = named.ReplaceAllStringFunc(line, func(s string) string {
			o, ok := a.frame.operands[s[1:len(s)-1]]
			if !ok {
				err = fmt.Errorf("no argument %s", s)
			}
			return o.at
		})
		if err != nil {
			return err
		}
	}
	a.out.WriteString(line + "\n")
	return nil
}

// move is the instruction that moves a value of a type between memory and a register.
func (a *assembler) move(typ, reg string) string {
	size := map[string]string{"float32": "S", "float64": "D"}[typ]
	switch reg[0] {
	case 'Y', 'Z':
		return "VBROADCASTS" + size
	case 'X':
		return "VMOVS" + size
	case 'F':
		return "FMOV" + size
	}
	if a.arm {
		return "MOVD"
	}
	return "MOVQ"
}

// open begins a frame.
func (a *assembler) open(words []string) error {
	i := slices.IndexFunc(kernels, func(k kernel) bool { return k.name == words[0] })
	if i < 0 || len(words) < 2 {
		return fmt.Errorf("no kernel %q", words)
	}
	k, tag, locals := kernels[i], words[1], "0"
	f := &frame{operands: map[string]operand{}, end: []string{"VZEROUPPER", "RET"}}
	if a.arm {
		f.end = f.end[1:]
	}
	for _, w := range words[2:] {
		switch key, value, _ := strings.Cut(w, "="); {
		case key == "locals":
			locals = value
		case w == "end=ret":
			f.end = []string{"RET"}
		case w == "end=none":
			f.end = nil
		default:
			return fmt.Errorf("what is %q?", w)
		}
	}
	name, of := k.name+tag, func(s string) string { return s }
	if k.isGeneric() {
		if a.bits == "" {
			return fmt.Errorf("%s has a form for each precision: it belongs into @both", k.name)
		}
		name += "F" + a.bits
		of = func(s string) string { return typeT.ReplaceAllString(s, "float"+a.bits) }
	}
	size := 0
	place := func(name, typ string) {
		bytes := 8
		switch {
		case typ == "bool":
			bytes = 1
		case strings.HasSuffix(typ, "32") && typ[0] != '*':
			bytes = 4
		}
		size = (size + bytes - 1) / bytes * bytes
		f.operands[name] = operand{typ, fmt.Sprintf("%s+%d(FP)", name, size)}
		size += bytes
	}
	for _, p := range k.operands() {
		place(p.name, of(p.typ))
	}
	if k.result != "" { // results begin at a word
		size = (size + 7) / 8 * 8
	}
	switch {
	case strings.HasPrefix(k.result, "("):
		for _, r := range (kernel{params: strings.Trim(k.result, "()")}).allParams() {
			place(r.name, r.typ)
		}
	case k.result != "":
		place("ret", of(k.result))
	}
	a.frame = f
	fmt.Fprintf(&a.out, "// func %s(%s) %s\nTEXT ·%s(SB), NOSPLIT, $%s-%d\n", name,
		of(declare(k.operands())), of(k.result), name, locals, size)
	return nil
}
