package serve

import (
	"encoding/json"
	"math"
	"strconv"
)

// appendFloat appends a number as JSON has it: null of what is none.
func appendFloat(dst []byte, v float64) []byte {
	if v-v != 0 {
		return append(dst, "null"...)
	}
	form := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, v, form, -1, 64)
}

func appendFloats(dst []byte, list []float64) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFloat(dst, v)
	}
	return append(dst, ']')
}

// appendText appends a text in quotes.
func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if ch := s[i]; ch < ' ' || ch == '"' || ch == '\\' || ch >= 0x7f {
			text, err := json.Marshal(s)
			if err != nil { // never of a text
				return append(dst, "null"...)
			}
			return append(dst, text...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}
