package model

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	formats "github.com/halfspace-ml/halfspace/internal/format"
)

// firstFields are the fields that files of version 1 have keys for.
var firstFields = map[reflect.Type][]string{
	reflect.TypeFor[Model](): {"Learner", "Precision", "Config", "Seed", "Prep", "Presented",
		"Mistakes", "Pass", "State", "PredictOnly"},
	reflect.TypeFor[Prep](): {"Labels", "Rest", "Bias", "BiasValue", "Normalize", "Scale",
		"Format", "IndexBase", "Dim", "Columns", "LabelCol"},
	reflect.TypeFor[Labels](): {"Negative", "Positive"},
}

// set gives v a value that is written.
func set(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		set(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		set(key)
		set(value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			set(v.Field(i))
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	}
}

// TestVersion sets each field alone. One that version 1 has no key for must make the file one of
// version 2: add a line to [Model.version] for it.
func TestVersion(t *testing.T) {
	var each func(m *Model, v reflect.Value, path string)
	each = func(m *Model, v reflect.Value, path string) {
		known := firstFields[v.Type()]
		for i := range v.NumField() {
			f := v.Type().Field(i)
			want := "2"
			if slices.Contains(known, f.Name) {
				want = "1"
				if f.Type.Kind() == reflect.Struct && firstFields[f.Type] != nil {
					each(m, v.Field(i), path+f.Name+".")
					continue
				}
			}
			set(v.Field(i))
			if got := m.version(); got != want {
				t.Errorf("with %s%s alone the version is %s, want %s", path, f.Name, got, want)
			}
			v.Field(i).SetZero()
		}
	}
	m := &Model{}
	each(m, reflect.ValueOf(m).Elem(), "")
}

// TestClassesAreNewer reads and writes a file of version 2.
func TestClassesAreNewer(t *testing.T) {
	m := sample()
	m.Prep.Labels, m.Prep.Classes = Labels{}, []string{"a", "b", "c"}
	data := encode(t, m)
	checkLayout(t, data, "2")
	got, err := Decode(data)
	if err != nil || !slices.Equal(got.Prep.Classes, m.Prep.Classes) {
		t.Fatalf("%+v, %v", got, err)
	}
	// As programs wrote it that had classes, but no second version yet.
	old := seal(bytes.Replace(data, []byte(`"version":"2"`), []byte(`"version":"1"`), 1))
	if got, err = Decode(old); err != nil || !bytes.Equal(encode(t, got), data) {
		t.Errorf("classes in a file of version 1: %v", err)
	}
	newer := seal(bytes.Replace(data, []byte(`"version":"2"`), []byte(`"version":"3"`), 1))
	if _, err := Decode(newer); !errors.Is(err, ErrNewer) ||
		!strings.Contains(err.Error(), `format version is "3", this program reads 1 and 2`) {
		t.Errorf("version 3: %v", err)
	}
}

// TestScalingIsNewer: what is known of the features' scale is a tensor beside the learner's, which
// comes back as it was; without its part in the document, and the other way round, the file is
// damaged.
func TestScalingIsNewer(t *testing.T) {
	m := sample()
	m.Prep.Scaling = &formats.Scaling{Method: "std", Columns: true,
		Known: []float64{7, 0.1, 2, 7, -3, 0}}
	data := encode(t, m)
	checkLayout(t, data, "2")
	got, err := Decode(data)
	if err != nil || !reflect.DeepEqual(got.Prep, m.Prep) ||
		len(got.State.Tensors) != len(m.State.Tensors) || !bytes.Equal(encode(t, got), data) {
		t.Fatalf("%+v, %v", got, err)
	}
	for from, to := range map[string]string{
		`"prep_scaling"`:          `"prep_scalinG"`,
		`\"method\":\"std\"`:      `\"method\":\"stD\"`,
		`\"scaling\":{\"method\"`: `\"scalinG\":{\"method\"`,
		`"F64","shape":[2,3]`:     `"F64","shape":[3,2]`,
		`\"columns\":true`:        `\"columns\":null`,
	} {
		broken := bytes.Replace(data, []byte(from), []byte(to), 1)
		if bytes.Equal(broken, data) {
			t.Fatalf("no %s in the file", from)
		}
		if _, err := Decode(seal(broken)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", to, err)
		}
	}
}
