package format

import (
	"cmp"
	"math/big"
	"strings"
	"testing"
)

// labelPairs are labels beside each other: whether they are the same class where no source has them
// as texts.
var labelPairs = []struct {
	a, b string
	same bool
}{
	{"1", "1", true}, {"1", "+1", true}, {"1", "1.0", true}, {"1", "1.000", true},
	{"1", "1.000000000000000000e+00", true}, {"-1", "-1.000000000000000000e+00", true},
	{"0", "-0", true}, {"0", "+0.0", true}, {"0", "-0.000e+00", true}, {"1000000", "1e+06", true},
	{"1.1", "+1.1", true}, {"1.1", "1.10e+00", true}, {"0.5", "5e-01", true},
	{"20240131", "2.0240131e+07", true}, {"1e+06", "1E+06", true}, {"7", "7e+000", true},
	{"1", "-1", false}, {"1.1", "1.10", false}, {"1.10", "1.1e+00", false}, {"1.10", "+1.10", false},
	{"007", "7", false}, {"00", "0", false}, {"01234", "1234", false}, {"01.0", "1", false},
	{"1", "1.", false}, {"0.5", ".5", false}, {"1", "1e0", false}, {"1", "1e00", false},
	{"1", "1e+0", false}, {"10", "10e+00", false}, {"1", "0x1", false}, {"1", "1 ", false},
	{"1", "", false}, {"+", "-", false}, {"1", "1e+000000", false},
	{"9007199254740992", "9007199254740993", false},
	{"18446744073709551615", "18446744073709551614", false},
	{"18446744073709551615", "1.8446744073709551615e+19", true},
	{"100000000000000000000001", "100000000000000000000000", false},
	{"0.1", "0.1000000000000000055511151231257827", false},
	{"7", "7e+00000", true}, {"7", "7e-00000", true}, {"70", "7e+00001", true},
	{"1", "1." + strings.Repeat("0", longNumeral-2), true},
	{"1", "1." + strings.Repeat("0", longNumeral-1), false},
	{"yes", "Yes", false}, {"1.2.3", "1.2.30", false}, {"inf", "+inf", false},
}

func TestLabelPairs(t *testing.T) {
	for _, p := range labelPairs {
		a, b := MakeLabel(p.a), MakeLabel(p.b)
		x, y := IndexLabels([]string{p.a}), []string{p.a}
		same := map[bool]int{true: 0, false: -1}[p.same]
		if a.Equal(b) != p.same || b.Equal(a) != p.same || (a.key() == b.key()) != p.same ||
			x.Find(b) != same || FindLabel(y, p.b, false) != same {
			t.Errorf("%q and %q: want the same: %t", p.a, p.b, p.same)
		}
		b.Word = true // the same only as the same text
		same = map[bool]int{true: 0, false: -1}[p.a == p.b]
		if a.Equal(b) != (p.a == p.b) || x.Find(b) != same || FindLabel(y, p.b, true) != same {
			t.Errorf("%q and the text %q are the same: %t", p.a, p.b, p.a != p.b)
		}
	}
}

// TestLabelOrders: labels that are listed have one order, also numbers that float64 does not tell
// apart; and two lists are the same if they have it.
func TestLabelOrders(t *testing.T) {
	sorted := []string{"-1", "0.5", "9007199254740992", "9007199254740993", "a", "b"}
	for i, a := range sorted {
		for k, b := range sorted {
			if got, want := CompareLabels(a, b), cmp.Compare(i, k); got != want {
				t.Errorf("%q beside %q: %d, want %d", a, b, got, want)
			}
		}
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{{"a b", "a b", true}, {"1 2", "1.0 +2", true}, {"a b", "b a", false}, {"a b", "a", false},
		{"1 2", "2 1", false}} {
		if got := SameLabels(strings.Fields(c.a), strings.Fields(c.b)); got != c.same {
			t.Errorf("%s and %s are the same: %t", c.a, c.b, got)
		}
	}
}

// TestMissingIsNone: a missing label is another missing one, and no label that is written.
func TestMissingIsNone(t *testing.T) {
	missing := Label{Missing: true}
	for _, text := range []string{"", "?", "0", "NA"} {
		l := MakeLabel(text)
		if missing.Equal(l) || l.Equal(missing) {
			t.Errorf("%q is a missing label", text)
		}
		if at := IndexLabels([]string{text}).Find(missing); at != -1 {
			t.Errorf("a missing label is %q", text)
		}
	}
	if !missing.Equal(missing) {
		t.Error("a missing label is not another one")
	}
}

// TestLabelFoundByText: labels that were texts are told apart as such, and a number that several of
// them have is none of them.
func TestLabelFoundByText(t *testing.T) {
	names := []string{"1", "+1", "1.10", "2"}
	for label, want := range map[string]int{"1": 0, "+1": 1, "1.10": 2, "2": 3, "2.0": 3, "1.0": -1,
		"1.1": -1, "x": -1} {
		if got := IndexLabels(names).Find(MakeLabel(label)); got != want {
			t.Errorf("%q is label %d, want %d", label, got, want)
		}
		if got := FindLabel(names, label, false); got != want {
			t.Errorf("%q is label %d among a few, want %d", label, got, want)
		}
	}
}

func TestNumberText(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -1: "-1", 1000001: "1000001", 1e20: "100000000000000000000",
		20240131: "20240131", 0.5: "0.5", 1e300: "1e+300", 1e-7: "1e-07", -2.5: "-2.5"} {
		if got := NumberText(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestWholeLabels(t *testing.T) {
	for _, c := range []struct {
		texts string
		ok    bool
	}{{"-1 +1", true}, {"0.0 1.0", true}, {"1e+06 2", true}, {"007 7", false}, {"1 +1", false},
		{"1.5 2", false}, {"9223372036854775807 9223372036854775806", true}, {"1e+20 1", false},
		{"9223372036854775808 1", false}, {"yes no", false}} {
		if _, ok := WholeLabels(strings.Fields(c.texts)); ok != c.ok {
			t.Errorf("%s are whole numbers: %t", c.texts, ok)
		}
	}
}

// FuzzLabels: the same class is an equivalence relation, of which the key is the class, and of
// plain numerals it is their value.
func FuzzLabels(f *testing.F) {
	for _, p := range labelPairs {
		f.Add(p.a, p.b, p.a)
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, word := range []bool{false, true} {
			var l [3]Label
			for i, text := range []string{a, b, c} {
				l[i] = MakeLabel(text)
				l[i].Word = word
			}
			for _, x := range l {
				if !x.Equal(x) {
					t.Fatalf("%q is not the same as itself", x.Text)
				}
				for _, y := range l {
					if x.Equal(y) != y.Equal(x) || x.Equal(y) != (x.key() == y.key()) {
						t.Fatalf("%q and %q: %t, %t, keys %q and %q", x.Text, y.Text, x.Equal(y),
							y.Equal(x), x.key(), y.key())
					}
					if x.Less(y) && y.Less(x) {
						t.Fatalf("%q and %q are each before the other", x.Text, y.Text)
					}
				}
			}
			if l[0].Equal(l[1]) && l[1].Equal(l[2]) && !l[0].Equal(l[2]) {
				t.Fatalf("%q, %q and %q: not transitive", a, b, c)
			}
			if word && l[0].Equal(l[1]) && a != b {
				t.Fatalf("the texts %q and %q are the same", a, b)
			}
		}
		v, ok := plainValue(a)
		w, too := plainValue(b)
		if ok && too {
			x, _ := new(big.Rat).SetString(a)
			y, _ := new(big.Rat).SetString(b)
			if (x.Cmp(y) == 0) != (v == w) {
				t.Fatalf("%q and %q: values %q and %q", a, b, v, w)
			}
		}
	})
}
