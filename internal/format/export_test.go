package format

import "slices"

// Unregister takes a format out of the table again.
func Unregister(name string) {
	registered = slices.DeleteFunc(registered, func(f *Format) bool { return f.Name == name })
}
