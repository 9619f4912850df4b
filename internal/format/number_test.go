package format

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// checkNumber compares parseNumber with strconv: the same bits, or both refuse.
func checkNumber[T engine.Float](t *testing.T, s string, size int) {
	t.Helper()
	v, end, st := parseNumber[T]([]byte(s+"\n"), 0)
	ok := st == numOK && end == len(s)
	if !decimal.MatchString(s) {
		if ok {
			t.Errorf("%q was taken for the number %v", s, v)
		}
		return
	}
	want, err := strconv.ParseFloat(s, size)
	if err != nil {
		if st != numRange {
			t.Errorf("%q: %v, status %d, want it out of range", s, v, st)
		}
		return
	}
	if !ok || math.Float64bits(float64(v)) != math.Float64bits(want) {
		t.Errorf("%q: %v (%d bytes, status %d), strconv says %v", s, v, end, st, want)
	}
	row := parsed[T](t, "1 5:"+s+" 6:1\n"+behindRows, Options{}, Settings{})
	if pair := fmt.Sprintf(" 4:%x ", math.Float64bits(want)); !strings.Contains(row[0], pair) {
		t.Errorf("%q: row %q by words, strconv says %x", s, row, pair)
	}
}

func TestNumber(t *testing.T) {
	for _, s := range []string{"0", "-0", "1", "+1", "00012", "1.", ".5", "-.5e-3", "1e22", "1e23",
		"1e-22", "1e-23", "9007199254740993", "16777217", "16777216e10",
		"16777219e-3", "0.1", "3.4028235e38", "3.4028236e38", "1e-45", "1e-46", "7e-46", "4.9e-324",
		"1.7976931348623157e308", "1.7976931348623159e308",
		"0e999999999", "1e-999999999", "123456789012345678901234567890",
		"0.000000000000000000000000000001", "0.0000000000000000",
		// about a midpoint of two float32s
		"1.00000005960464477539062", "1.00000005960464477539063", "1.00000005960464477539061",
		"", "+", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "1_0", "nan", "inf", "--1", "1-",
		"1 "} {
		checkNumber[float64](t, s, 64)
		checkNumber[float32](t, s, 32)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50000 {
		var s string
		switch f := math.Float32frombits(rng.Uint32()); rng.IntN(5) {
		case 0: // a decimal of few digits
			s = strconv.FormatFloat(float64(rng.IntN(1e8))/math.Pow10(rng.IntN(10)), 'f', -1, 64)
		case 1: // many digits
			s = strconv.FormatFloat(rng.NormFloat64(), 'g', 5+rng.IntN(20), 64)
		case 2: // the midpoint of two float32s, exactly, and just beside it
			m := (float64(f) + float64(math.Nextafter32(f, 0))) / 2
			s = strconv.FormatFloat(m, 'e', 5+rng.IntN(25), 64)
		case 3:
			s = strconv.FormatFloat(float64(f), 'g', -1, 32)
		default: // a midpoint of few digits: an odd integer of 25 bits
			s = strconv.Itoa(1<<24+1+2*rng.IntN(1<<23)) + []string{"", "e1", "e-1", ".0", "e-3",
				"e5"}[rng.IntN(6)]
		}
		checkNumber[float64](t, s, 64)
		checkNumber[float32](t, s, 32)
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1", "-0.5e3", "16777217", "nan", "1.00000005960464477539062"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\n") {
			return
		}
		checkNumber[float64](t, s, 64)
		checkNumber[float32](t, s, 32)
	})
}
