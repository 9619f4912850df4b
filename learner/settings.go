package learner

import (
	"fmt"
	"math"
)

// ConfigAs returns the settings behind c, checked. C is a struct, P its pointer, which is the
// Config.
func ConfigAs[C any, P interface {
	*C
	Config
}](learner string, c Config) (C, error) {
	p, ok := c.(P)
	if !ok || p == nil {
		return *new(C), fmt.Errorf("%s: settings are %T, want %T: %w", learner, c, p, ErrConfig)
	}
	if err := p.Validate(); err != nil {
		return *new(C), err
	}
	return *p, nil
}

// CheckSetting refuses NaN, Inf and values that are not ok.
func CheckSetting(learner, field string, v float64, ok bool, want string) error {
	if ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return nil
	}
	return fmt.Errorf("%s: %s is %v, want %s: %w", learner, field, v, want, ErrConfig)
}
