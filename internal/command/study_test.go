package command

import (
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
)

// TestTuneTags: all values that a setting's tag tune lists are good beside the defaults, and there
// are learners with such.
func TestTuneTags(t *testing.T) {
	n := 0
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range settingsOf(e.Config()) {
			if len(f.tune) == 1 || !slices.Equal(f.tune, slices.Compact(slices.Clone(f.tune))) {
				t.Errorf("%s: --%s: to tune are %v", name, f.flag, f.tune)
			}
			for _, v := range f.tune {
				c := e.Config()
				if err := settingsOf(c)[i].set(v); err != nil {
					t.Errorf("%s: --%s %s: %v", name, f.flag, v, err)
				}
				if err := c.Validate(); err != nil {
					t.Errorf("%s: --%s %s: %v", name, f.flag, v, err)
				}
				n++
			}
		}
	}
	if n < 20 {
		t.Errorf("%d values to tune", n)
	}
}

// TestParseRange: the ends of a range and what is between, and texts that are none.
func TestParseRange(t *testing.T) {
	for text, want := range map[string][3]string{
		"C=1e-2:100:log": {"0.01", "1", "100"}, "tau=0:1": {"0", "0.5", "1"},
		"buffer=1:3:int": {"1", "2", "3"},
	} {
		a, err := parseRange(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := [3]string{a.draw(0), a.draw(0.5), a.draw(1 - 1e-12)}
		if got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "C", "C=1", "C=1:", "C=2:1", "C=1:1", "C=0:1:log",
		"C=1:2:up", "C=1:2:log:3", "C=nan:1", "C=1:inf"} {
		if _, err := parseRange(text); err == nil {
			t.Errorf("%q is taken for a range", text)
		}
	}
}

// TestQuoted: words that a shell would not take as they are.
func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a9a": "a9a", "1e-3": "1e-3", "": "''",
		"my file": "'my file'", "it's": `'it'\''s'`, "$x": "'$x'"} {
		if got := quoted(word); got != want {
			t.Errorf("%q is quoted as %s, want %s", word, got, want)
		}
	}
}
