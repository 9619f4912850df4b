package folds

import "testing"

// TestAssign: folds differ by one example, in each class by one; another repeat draws others, and
// an example's fold does not depend on its label where folds are plain.
func TestAssign(t *testing.T) {
	class := func(i int) int { return i % 10 / 7 }
	a := Assign(500, 7, class, 1, 0)
	var all, ones [7]int
	for i, k := range a {
		all[k]++
		ones[k] += class(i)
	}
	for k := range all {
		if all[k] < 71 || all[k] > 72 || ones[k] < 21 || ones[k] > 22 {
			t.Errorf("fold %d has %d examples, %d of the second class", k, all[k], ones[k])
		}
	}
	same := 0
	for i, k := range Assign(500, 7, class, 1, 1) {
		if a[i] == k {
			same++
		}
	}
	if same > 120 {
		t.Errorf("another repeat has %d of 500 examples in the same fold", same)
	}
}
