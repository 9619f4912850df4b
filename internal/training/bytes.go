package training

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Bytes is an amount of memory. As text, in JSON and TOML too, it is a number with a unit: 512MiB,
// 512M (the same), 2GB (2e9), 1.5KiB; without a unit, bytes.
type Bytes int64

var byteUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6},
	{"GB", 1e9}, {"TB", 1e12}, {"B", 1},
	// without B as most tools have it: powers of 2
	{"K", 1 << 10}, {"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}}

// String returns the exact amount in the largest unit, TiB to KiB, in which it is a whole number,
// else in B. "" for 0, which stands for a default.
func (b Bytes) String() string {
	if b == 0 {
		return ""
	}
	for i := 3; i >= 0; i-- {
		if unit := int64(byteUnits[i].bytes); int64(b)%unit == 0 {
			return fmt.Sprintf("%d%s", int64(b)/unit, byteUnits[i].name)
		}
	}
	return fmt.Sprintf("%dB", int64(b))
}

// MiB returns the amount to a tenth of a MiB, for people.
func (b Bytes) MiB() string { return fmt.Sprintf("%.1f MiB", float64(b)/(1<<20)) }

// Set takes an amount, from 1 byte to below 2^62, from text, so that the sum of two is no overflow.
func (b *Bytes) Set(text string) error {
	number, unit := text, 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n*unit >= 1 && n*unit < 1<<62) {
		return errors.New("not an amount of memory like 512MiB, 512M or 2GB")
	}
	*b = Bytes(n * unit)
	return nil
}

// MarshalText is String.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText is Set, where no text is 0.
func (b *Bytes) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*b = 0
		return nil
	}
	return b.Set(string(text))
}

// inMiB is Bytes.MiB.
func inMiB(bytes int64) string { return Bytes(bytes).MiB() }
