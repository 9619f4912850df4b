package vecmath

import "unsafe"

// AllOnes reports whether every element is exactly 1.
func AllOnes[T Float](x []T) bool {
	if race {
		raceRead(x)
	}
	return allOnes(data(x), len(x))
}

func allOnesGeneric[T Float](x []T) bool {
	if is32[T]() {
		return allBits(unsafe.Slice((*uint32)(unsafe.Pointer(data(x))), len(x)), 0x3f800000)
	}
	return allBits(unsafe.Slice((*uint64)(unsafe.Pointer(data(x))), len(x)), 0x3ff0000000000000)
}

func allBits[E uint32 | uint64](x []E, want E) bool {
	for ; len(x) >= 16; x = x[16:] {
		v := (*[16]E)(x)
		if (v[0]^want)|(v[1]^want)|(v[2]^want)|(v[3]^want)|(v[4]^want)|(v[5]^want)|(v[6]^want)|
			(v[7]^want)|(v[8]^want)|(v[9]^want)|(v[10]^want)|(v[11]^want)|(v[12]^want)|
			(v[13]^want)|(v[14]^want)|(v[15]^want) != 0 {
			return false
		}
	}
	for _, v := range x {
		if v != want {
			return false
		}
	}
	return true
}
