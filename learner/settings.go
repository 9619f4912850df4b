package learner

import (
	"fmt"
	"math"
)

// What is said of a setting is said once. In this module that is the comment of its field: its
// first paragraph and its range are the help, which internal/helpgen writes into zhelp.go as the
// method Help of the Config; what the comment must look like, is said there. A learner of another
// module writes that method by hand, as
//
//	func (*relaxationConfig) Help(field string) string {
//		return map[string]string{
//			"Margin": "margin b; above 0",
//			"Eta":    "share of the way to the margin; above 0 to below 2",
//		}[field]
//	}
//
// and ends it with c.KernelConfig.Help(field) if it embeds that struct. The conformance suite fails
// for a setting without help.

//go:generate go run ../internal/helpgen

// CheckSetting refuses NaN, Inf and values that are not ok.
func CheckSetting[V int | float64](learner, field string, v V, ok bool, want string) error {
	if f := float64(v); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return nil
	}
	return fmt.Errorf("%s: %s is %v, want %s: %w", learner, field, v, want, ErrConfig)
}
