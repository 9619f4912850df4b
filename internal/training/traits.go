package training

import (
	"reflect"
	"strings"

	"github.com/halfspace-ml/halfspace/learner"
)

// those names the learners that are such with their default settings, for the advice of an Error:
// so that no learner is known by name here, and one that is registered later is in the list.
func those(such func(learner.Traits) bool) string {
	var names []string
	for _, name := range learner.Names() {
		if e, err := learner.Lookup(name); err == nil && such(e.Config().Traits()) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// fieldsOf names settings, given as their flag tags name them, for the text of an Error.
func fieldsOf(settings []string) string {
	var b strings.Builder
	for i, s := range settings {
		switch {
		case i > 0 && i == len(settings)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("{" + strings.ReplaceAll(s, "-", "_") + "}")
	}
	return b.String()
}

// describe names a learner with its base, if its settings have the fields of one.
func describe(name string, c learner.Config) string {
	v := reflect.ValueOf(c).Elem()
	base, config := v.FieldByName("Base"), v.FieldByName("BaseConfig")
	if base.IsValid() && config.IsValid() {
		return name + " over " + base.String()
	}
	return name
}
