package papers

import (
	"fmt"
	"slices"
)

// XNaive returns how many times as long the learner's plain form took; 0 where it was not timed.
func (r Row) XNaive() float64 {
	if r.NaiveSeconds == nil || r.Seconds == 0 {
		return 0
	}
	return *r.NaiveSeconds / r.Seconds
}

// XPaper returns how many times as long the paper's run took as one of ours; 0 where the paper
// gives no time.
func (r Row) XPaper() float64 {
	if r.PaperSeconds == nil || r.Seconds == 0 {
		return 0
	}
	return *r.PaperSeconds / r.Seconds * float64(max(1, r.Runs))
}

// SecondsText returns seconds for people, and nothing for 0: a row without a time of its own.
func SecondsText(v float64) string {
	switch {
	case v == 0:
		return ""
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

// RatioText returns a ratio of times to three digits, and nothing for the unknown one, 0.
func RatioText(x float64) string {
	switch {
	case x == 0:
		return ""
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// HasNaive and HasPaperSeconds report whether any of the rows has such a time: whether a table
// needs the column.
func HasNaive(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.NaiveSeconds != nil })
}

// HasPaperSeconds reports whether some row has the paper's time.
func HasPaperSeconds(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.PaperSeconds != nil })
}

// HasSeconds reports whether some row has a time of its own.
func HasSeconds(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.Seconds != 0 })
}
