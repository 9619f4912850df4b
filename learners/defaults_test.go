package learners_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestZeroSettings: of all settings of all learners, a zero that is refused beside the defaults
// means the default, and one that is not stays zero.
func TestZeroSettings(t *testing.T) {
	fields := 0
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var walk func(at []int, v reflect.Value)
		walk = func(at []int, v reflect.Value) {
			for i := range v.NumField() {
				at := append(at, i)
				if v.Field(i).Kind() == reflect.Struct {
					walk(at, v.Field(i))
					continue
				}
				if v.Field(i).IsZero() {
					continue
				}
				fields++
				c := e.Config()
				field := reflect.ValueOf(c).Elem().FieldByIndex(at)
				what := fmt.Sprintf("%s.%s", name, v.Type().Field(i).Name)
				field.SetZero()
				refused := c.Validate() != nil
				got, err := learner.WithDefaults(e, c)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if err := got.Validate(); err != nil {
					t.Errorf("%s zero: %v", what, err)
				}
				if !field.IsZero() {
					t.Errorf("%s: the settings given were changed", what)
				}
				switch now := reflect.ValueOf(got).Elem().FieldByIndex(at); {
				case (refused || field.Kind() == reflect.String) &&
					!reflect.DeepEqual(got, e.Config()):
					t.Errorf("%s zero: %+v, want the default", what, got)
				case !refused && field.Kind() != reflect.String && !now.IsZero():
					t.Errorf("%s may be zero, and became %v", what, now)
				}
			}
		}
		walk(nil, reflect.ValueOf(e.Config()).Elem())
	}
	if fields < 30 {
		t.Errorf("%d fields with defaults found", fields)
	}
}

// TestSettingsByHand: few fields are enough, a base's among them.
func TestSettingsByHand(t *testing.T) {
	for _, c := range []struct {
		name string
		c    learner.Config
		want string // of a field
	}{
		{"obpm", &learners.OBPMConfig{Members: 50, Tau: .1}, "50 0.1 perceptron weights"},
		{"obpm", &learners.OBPMConfig{Tau: .1, Base: "pa", BaseConfig: &learners.PAConfig{}},
			"100 0.1 pa weights"},
		{"obpm", &learners.OBPMConfig{KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 2}},
			"100 0 perceptron weights"},
	} {
		e, err := learner.Lookup(c.name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := learner.WithDefaults(e, c.c)
		if err != nil {
			t.Fatal(err)
		}
		o := got.(*learners.OBPMConfig)
		if s := fmt.Sprintf("%d %v %s %s", o.Members, o.Tau, o.Base,
			o.Combine); s != c.want {
			t.Errorf("%+v became %s, want %s", c.c, s, c.want)
		}
		if _, err := learner.New[float32](e, got, learner.Env{}); err != nil {
			t.Errorf("%+v: %v", got, err)
		}
		if again, err := learner.WithDefaults(e, got); again != got || err != nil {
			t.Errorf("%+v filled in again: %+v, %v", got, again, err)
		}
	}
	e, _ := learner.Lookup("obpm")
	for _, c := range []learner.Config{nil, &learners.PAConfig{}, (*learners.OBPMConfig)(nil)} {
		if _, err := learner.WithDefaults(e, c); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%T as settings of obpm: %v", c, err)
		}
	}
}
