package dataset

import "github.com/halfspace-ml/halfspace/internal/format"

// For returns the options with what they leave to the examples, "auto" of Scaling, Bias and
// Normalize, as it is where the features are those of the format of that name, an Info.Kind. Where
// they are columns, as in csv, they may be of any units: there "auto" is "std", "append" and
// "unit". Of others, and of a name that is none, it is "none": where examples lack features the
// values have a scale already, as of words or pixels. With Scaled "auto" is its method.
func (o Options) For(name string) Options {
	scaling, bias, normalize := "none", "none", "none"
	if format.Lookup(name).HasColumns() {
		scaling, bias, normalize = "std", "append", "unit"
	}
	if o.Scaled != nil {
		scaling = o.Scaled.Method
	}
	for _, f := range []struct {
		field *string
		value string
	}{{&o.Scaling, scaling}, {&o.Bias, bias}, {&o.Normalize, normalize}} {
		if *f.field == "auto" {
			*f.field = f.value
		}
	}
	return o
}

// fitPreset is For the features that were found. Layouts of columns don't depend on it.
func (s *Stream[T]) fitPreset() error {
	c := s.cfg
	was := c.Options
	c.Options = c.For(s.info.Kind)
	if c.Bias == was.Bias && c.Normalize == was.Normalize {
		return nil
	}
	if err := c.setBias(); err != nil {
		return err
	}
	if err := c.setScale(); err != nil {
		return err
	}
	s.settings(s.p.Format)
	if s.opts != nil {
		s.opts.Bias = c.bias
	}
	return nil
}
