package command

import (
	"math"
	"math/bits"
	"strconv"
)

// appendNumber is strconv.AppendFloat(dst, f, 'g', -1, 64), in 40 % of the time for numbers from
// 1e-4 to 1e6 that are not whole, which most scores are.
//
// Those of at most three decimals, which means of 100 or 200 members are, take a third of the rest.
//
// Method: R. Giulietti, "The Schubfach way to render doubles", 2020. f = c 2^q; of the decimals
// between it and its neighbours, the middles included where c is even, the shortest, and of those
// the nearest to f. k is the power of ten of the last digit.
func appendNumber(dst []byte, f float64) []byte {
	const hidden = 1 << 52
	u := math.Float64bits(f)
	v := math.Float64frombits(u &^ (1 << 63))
	if v < 1e6 {
		// Of the decimals of up to 15 digits at most one is rounded to f: it is the shortest.
		if n := uint64(v*1000 + 0.5); n > 0 && float64(n)/1000 == v {
			return appendThousandths(dst, n, u>>63 != 0)
		}
	}
	c, q := u&(hidden-1)|hidden, int(u>>52&0x7ff)-1075
	if !(v >= 1e-4 && v < 1e6) || c == hidden || q > -53 && c<<uint(64+q) == 0 {
		return strconv.AppendFloat(dst, f, 'g', -1, 64) // a whole number or power of two among them
	}
	k := q * 1262611 >> 22 // floor(log10(2^q))
	h := uint(q + -k*1741647>>19 + 1)
	g := &tens[-k]
	odd := c & 1
	low, mid, high := g.times((4*c-2)<<h)+odd, g.times(4*c<<h), g.times((4*c+2)<<h)-odd
	s := mid / 4
	d := s / 10
	below, above := low <= 40*d, 40*d+40 <= high
	switch {
	case below != above:
		if k++; above {
			d++
		}
	default:
		d, below, above = s, low <= 4*s, 4*s+4 <= high
		if below == above {
			above = mid > 4*s+2 || mid == 4*s+2 && s&1 != 0
		}
		if above {
			d++
		}
	}
	if d%10 == 0 {
		if n := d / 1e8; n*1e8 == d {
			d, k = n, k+8
		}
		if n := d / 1e4; n*1e4 == d {
			d, k = n, k+4
		}
		for d%10 == 0 {
			d, k = d/10, k+1
		}
	}
	if u>>63 != 0 {
		dst = append(dst, '-')
	}
	var digits [20]byte
	at := len(digits)
	if d >= 1e8 { // eight at once, which do not wait for each other
		r := uint32(d % 1e8)
		d /= 1e8
		at -= 8
		a, b := r/1e4, r%1e4
		copy(digits[at:], pairs[2*(a/100):][:2])
		copy(digits[at+2:], pairs[2*(a%100):][:2])
		copy(digits[at+4:], pairs[2*(b/100):][:2])
		copy(digits[at+6:], pairs[2*(b%100):][:2])
	}
	for d >= 100 {
		r := d % 100
		d /= 100
		at -= 2
		digits[at], digits[at+1] = pairs[2*r], pairs[2*r+1]
	}
	if d >= 10 {
		at -= 2
		digits[at], digits[at+1] = pairs[2*d], pairs[2*d+1]
	} else {
		at--
		digits[at] = byte('0' + d)
	}
	point := len(digits) + k - at // digits before it
	switch {
	case point <= 0:
		dst = append(dst, "0.000"[:2-point]...)
	case k < 0:
		dst = append(dst, digits[at:at+point]...)
		dst = append(dst, '.')
		at += point
	default: // whole
		dst = append(dst, digits[at:]...)
		return append(dst, "000000"[:k]...)
	}
	return append(dst, digits[at:]...)
}

// appendThousandths appends n/1000 without zeros at its end.
func appendThousandths(dst []byte, n uint64, negative bool) []byte {
	if negative {
		dst = append(dst, '-')
	}
	whole, rest := n/1000, n%1000
	dst = strconv.AppendUint(dst, whole, 10)
	if rest == 0 {
		return dst
	}
	hundredths, last := rest/10, byte(rest%10)
	dst = append(dst, '.', pairs[2*hundredths], pairs[2*hundredths+1], '0'+last)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// tenPower is 10^i with its first bit at the top of 128.
type tenPower struct{ high, low uint64 }

// times returns the product with c, without its last 128 bits, but with the last of the others 1
// if any of those is.
func (g *tenPower) times(c uint64) uint64 {
	x, _ := bits.Mul64(g.low, c)
	high, low := bits.Mul64(g.high, c)
	low, carry := bits.Add64(low, x, 0)
	high += carry
	if low > 1 {
		high |= 1
	}
	return high
}

// tens are 10^0 to 10^23, exactly.
var tens = func() (t [24]tenPower) {
	high, low := uint64(0), uint64(1)
	for i := range t {
		n := uint(bits.LeadingZeros64(high))
		if high == 0 {
			n = 64 + uint(bits.LeadingZeros64(low))
		}
		t[i] = tenPower{high<<n | low>>(64-n) | low<<(n-64), low << n}
		more, l := bits.Mul64(low, 10)
		high, low = high*10+more, l
	}
	return t
}()

// pairs are 00 to 99.
var pairs = func() (p [200]byte) {
	for i := range 100 {
		p[2*i], p[2*i+1] = byte('0'+i/10), byte('0'+i%10)
	}
	return p
}()
