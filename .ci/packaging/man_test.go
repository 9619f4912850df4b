package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestManPages: there is a page of each command and topic, and the programs that show pages find
// nothing wrong in any.
func TestManPages(t *testing.T) {
	pages := manPages("1.2.0", "2026-11-23")
	dir := t.TempDir()
	names := map[string]bool{}
	var paths []string
	for _, p := range pages {
		names[p.name] = true
		path := filepath.Join(dir, p.name)
		writeFile(t, path, p.data)
		paths = append(paths, path)
	}
	for _, want := range []string{"halfspace.1", "halfspace-train.1", "halfspace-gen-margin.1",
		"halfspace-formats.7"} {
		if !names[want] {
			t.Errorf("there is no page %s", want)
		}
	}
	if names["halfspace-help.1"] {
		t.Error("the help has a page")
	}
	if _, err := exec.LookPath("mandoc"); err == nil {
		args := append([]string{"-T", "lint", "-W", "warning"}, paths...)
		if said, err := exec.Command("mandoc", args...).CombinedOutput(); err != nil {
			t.Errorf("mandoc: %v:\n%s", err, said)
		}
	}
	if _, err := exec.LookPath("groff"); err == nil {
		cmd := exec.Command("groff", "-man", "-Tutf8", "-wall", "-z")
		cmd.Args = append(cmd.Args, paths...)
		if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("groff: %v:\n%s", err, said)
		}
	}
}

func TestProse(t *testing.T) {
	long := strings.Repeat("a", 80)
	for _, c := range []struct{ text, want string }{
		{"One.\nTwo.\n\nThree.", "One.\nTwo.\n.PP\nThree.\n"},
		{"List:\n  a-b   first\n        more\n  c     second\nend",
			"List:\n.TP\n\\fBa\\-b\\fR\nfirst\nmore\n.TP\n\\fBc\\fR\nsecond\n.PP\nend\n"},
		{"Heading\n\n  a  b\n\nText.", ".SS \"Heading\"\n.TP\n\\fBa\\fR\nb\n.PP\nText.\n"},
		{"As:\n\n  x 1\n  y 2\n", "As:\n.PP\n.nf\n  x 1\n  y 2\n.fi\n"},
		{"As:\n\n  x " + long + "\n  y 2\n", "As:\n.PP\nx " + long + "\ny 2\n"},
		{".dots and 'quotes' at ~", "\\&.dots and \\(aqquotes\\(aq at \\(ti\n"},
	} {
		if got := prose(c.text); got != c.want {
			t.Errorf("prose(%q) =\n%s\nwant\n%s", c.text, got, strings.TrimSpace(c.want))
		}
	}
}
