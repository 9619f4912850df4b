// Package spelling finds the name that was meant where a name is not known.
package spelling

// Nearest returns the name at most two edits away that is nearest, or "".
func Nearest(name string, names []string) string {
	best, near := 3, ""
	for _, n := range names {
		if d := editDistance(name, n); d < best {
			best, near = d, n
		}
	}
	return near
}

// editDistance is Levenshtein's, with two neighbours exchanged as one edit.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
