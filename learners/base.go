package learners

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Settings of learners over another one, their base, have its name and its own settings, of which
// nil stands for the defaults.

// baseSettings returns c, or for nil the defaults of the learner called base.
func baseSettings(name, base string, c learner.Config) (learner.Config, error) {
	e, err := learner.Lookup(base)
	if err != nil {
		return nil, fmt.Errorf("%s: base: %w", name, err)
	}
	d := e.Config()
	if c == nil {
		return d, nil
	}
	if fmt.Sprintf("%T", c) != fmt.Sprintf("%T", d) {
		return nil, fmt.Errorf("%s: base is %q, but the base's settings are %T, want %T: %w", name,
			base, c, d, learner.ErrConfig)
	}
	return c, nil
}

// resolvedBase returns the settings of a base, absolute.
func resolvedBase(name, base string, c learner.Config, f learner.Facts) (learner.Config, error) {
	c, err := baseSettings(name, base, c)
	if err != nil {
		return nil, err
	}
	if c, err = learner.Resolve(c, f); err != nil {
		return nil, fmt.Errorf("%s: base: %w", name, err)
	}
	return c, nil
}

// newBase makes the learner that another one of that name gives its examples to.
func newBase[T learner.Float](name, base string, c learner.Config, env learner.Env) (
	learner.Learner[T], error) {
	c, err := baseSettings(name, base, c)
	if err != nil {
		return nil, err
	}
	l, err := learner.Make[T](base, c, env)
	if err != nil {
		return nil, fmt.Errorf("%s: base: %w", name, err)
	}
	return l, nil
}

// decodeSettings reads a document into settings. Fields that are not there keep their values,
// unknown ones are refused.
func decodeSettings(doc []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// decodeOver reads a document into settings of a learner over another one: first all but the
// base's own, then those as what the base's Entry says they are, into c.
func decodeOver(name string, doc []byte, settings any, base *string, c *learner.Config) error {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(doc, &fields)
	own := fields["base_config"]
	if delete(fields, "base_config"); err == nil && fields != nil {
		rest, _ := json.Marshal(fields) // which was read
		err = decodeSettings(rest, settings)
	}
	if err != nil {
		return fmt.Errorf("%s: settings: %w", name, err)
	}
	*c = nil
	if len(own) == 0 || string(own) == "null" {
		return nil
	}
	if *c, err = baseSettings(name, *base, nil); err != nil {
		return err
	}
	if err := decodeSettings(own, *c); err != nil {
		return fmt.Errorf("%s: settings of base %q: %w", name, *base, err)
	}
	return nil
}

// What a learner over another one can do only if that one can is a function of it.
type (
	proberFunc[T learner.Float]  func(b *engine.Block[T], dst []float64) error
	checkerFunc[T learner.Float] func(b *engine.Block[T]) (int, error)
)

func (f proberFunc[T]) Proba(b *engine.Block[T], dst []float64) error { return f(b, dst) }
func (f checkerFunc[T]) Mistakes(b *engine.Block[T]) (int, error)     { return f(b) }
