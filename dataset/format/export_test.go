package format

import "slices"

// Unregister takes a format out of the table again.
func Unregister(name string) {
	table = slices.DeleteFunc(table, func(f *Format) bool { return f.Name == name })
}
