package engine

import (
	"errors"
	"testing"
)

// TestBlockClasses: numbers of classes are checked beside labels, or in their place, and go with
// their examples.
func TestBlockClasses(t *testing.T) {
	for _, c := range []struct {
		name           string
		class          []int32
		check, classes error // of Check and CheckClasses(3)
	}{
		{"none", nil, nil, ErrLabel},
		{"three", []int32{2, 0, 1}, nil, nil},
		{"negative", []int32{2, -1, 1}, ErrLabel, ErrLabel},
		{"too large", []int32{2, 3, 1}, nil, ErrLabel},
		{"too few", []int32{2, 0}, ErrLabel, ErrLabel},
		{"too many", []int32{2, 0, 1, 1}, ErrLabel, ErrLabel},
	} {
		for form, b := range map[string]*Block[float32]{"sparse": sparse3(), "dense": dense3()} {
			b.Class = c.class
			v := b.Slice(1, b.Len())
			if err := b.Check(); !errors.Is(err, c.check) {
				t.Errorf("%s, %s: Check says %v, want %v", c.name, form, err, c.check)
			}
			if err := b.CheckClasses(3); !errors.Is(err, c.classes) {
				t.Errorf("%s, %s: CheckClasses says %v, want %v", c.name, form, err, c.classes)
			}
			if c.classes == nil && (len(v.Class) != 2 || v.Class[1] != 1 ||
				v.CheckClasses(3) != nil) {
				t.Errorf("%s, %s: a part has the classes %v", c.name, form, v.Class)
			}
			b.Y, b.checked = nil, 0
			if err := b.Check(); c.class != nil && !errors.Is(err, ErrLabel) {
				t.Errorf("%s, %s: Check without labels says %v", c.name, form, err)
			}
			if err := b.CheckClasses(3); !errors.Is(err, c.classes) {
				t.Errorf("%s, %s: CheckClasses without labels says %v, want %v", c.name, form, err,
					c.classes)
			}
			if b.Reset(); len(b.Class) != 0 {
				t.Errorf("%s, %s: classes %v after Reset", c.name, form, b.Class)
			}
		}
	}
}
