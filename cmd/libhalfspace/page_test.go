package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestPage: the program of docs/c.md is built and run by the lines that it shows.
func TestPage(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc") // TestC says whether there must be one
	}
	readme, err := os.ReadFile("../../docs/c.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile("(?s)```c\n(.*?)```\n\n```sh checkout\ncd cmd/libhalfspace (&& .*?)```").
		FindStringSubmatch(string(readme))
	if parts == nil {
		t.Fatal("docs/c.md has no program in C with the commands that build it behind it")
	}
	for _, name := range []string{"spam.c", "spam", "libhalfspace.so", "libhalfspace.h"} {
		if _, err := os.Stat(name); err == nil {
			t.Skipf("%s is there", name)
		}
		t.Cleanup(func() { os.Remove(name) })
	}
	if err := os.WriteFile("spam.c", []byte(parts[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-buildvcs=false -trimpath") // as TestC's, so that it compiles once
	if got := command(t, ".", "bash", "-ec", "true "+parts[2]); strings.TrimSpace(got) != "spam" {
		t.Errorf("the program prints %q", got)
	}
}
