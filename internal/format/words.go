package format

import "encoding/binary"

// Plain text of numbers is read eight bytes at a time, with no branch on how many digits there are.
// What is not plainly good is then read byte by byte, where it is known what is wrong with it.

// wordRoom is how many bytes a pair that is read by words may touch, rounded up: seven digits and a
// colon, then a sign, seven digits, a point, a word behind it, and one byte.
const wordRoom = 32

// each has a 1 in each byte of a word: times a byte, it is that byte eight times.
const each = 0x0101010101010101

// word returns the eight bytes at b[p], the first one lowest.
func word(b []byte, p int) uint64 { return binary.LittleEndian.Uint64(b[p : p+8]) }

// noDigits marks by its highest bit the lowest byte that is above 9, the digits of text being 0 to
// 9. Bytes above that one may be marked or not.
func noDigits(d uint64) uint64 {
	return (d + each*(0x80-10) | d) & (each * 0x80)
}

// number8 is the number of eight digits 0 to 9, the first one in the lowest byte. The digits become
// four numbers of two, and two multiplications add these up.
func number8(d uint64) uint64 {
	const low = 0xff | 0xff<<32
	d = d*10 + d>>8
	return ((d&low)*(100|1000000<<32) + (d>>16&low)*(1|10000<<32)) >> 32
}
