package learner

import (
	"fmt"
	"reflect"
)

// WithDefaults returns settings of e as a program writes them by hand, with few fields set: fields
// that are zero where zero is no value of them have their defaults, those of Entry.Config. These
// are texts that are empty, and numbers that Validate refuses beside the defaults of all others:
// the members of an ensemble, a width. A number that may be 0 and a switch stay as they are. The
// base's settings, within those of a learner that has one, are treated alike.
//
// c itself is left as it is, and returned if there is nothing to fill in. The error wraps ErrConfig
// if c is not of e; whether the settings are valid is not looked at.
func WithDefaults(e Entry, c Config) (Config, error) {
	d := e.Config()
	v := reflect.ValueOf(c)
	if reflect.TypeOf(c) != reflect.TypeOf(d) || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("%s: settings are %T, want %T: %w", e.Name, c, d, ErrConfig)
	}
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return c, nil // of a learner whose settings have no fields
	}
	to := reflect.New(v.Type().Elem())
	to.Elem().Set(v.Elem())
	if filled, err := fill(to.Elem(), reflect.ValueOf(d).Elem(), d); err != nil || !filled {
		return c, err
	}
	return to.Interface().(Config), nil
}

// fill fills in the fields of c from those of d, which are part of the defaults, and reports
// whether there were any.
func fill(c, d reflect.Value, defaults Config) (filled bool, err error) {
	for i := range c.NumField() {
		if !c.Type().Field(i).IsExported() {
			continue
		}
		own, def := c.Field(i), d.Field(i)
		switch own.Kind() {
		case reflect.Struct:
			some, err := fill(own, def, defaults)
			if err != nil {
				return false, err
			}
			filled = filled || some
		case reflect.Interface:
			s, ok := own.Interface().(Settings)
			if !ok {
				continue
			}
			base, err := WithDefaults(s.Entry(), s)
			if err != nil {
				return false, err
			}
			if base != Config(s) {
				own.Set(reflect.ValueOf(base))
				filled = true
			}
		default:
			if own.IsZero() && !def.IsZero() && noValue(def, defaults) {
				own.Set(def)
				filled = true
			}
		}
	}
	return filled, nil
}

// noValue reports whether zero is no value of a field of the defaults.
func noValue(field reflect.Value, defaults Config) bool {
	switch field.Kind() {
	case reflect.Bool:
		return false
	case reflect.String:
		return true
	}
	was := reflect.New(field.Type()).Elem()
	was.Set(field)
	field.SetZero()
	err := defaults.Validate()
	field.Set(was)
	return err != nil
}
