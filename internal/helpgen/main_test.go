package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
)

// rooms are the folders with settings.
var rooms = []string{"../../learner", "../../learners"}

// TestCurrent holds the committed files to the comments.
func TestCurrent(t *testing.T) {
	for _, dir := range rooms {
		want, err := generate(dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, output)
		if got, err := os.ReadFile(path); err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the comments say: run go generate ./learner ./learners", path)
		}
	}
}

// longest is how many bytes of help on a setting two lines have room for.
const longest = 130

// TestComments: each setting's comment has the default that the learner has, and the range that its
// Validate wants, and help that is short.
func TestComments(t *testing.T) {
	said := map[string]map[string]field{} // of a struct and a field
	for _, dir := range rooms {
		_, configs, err := parse(dir, regexp.MustCompile("Config$"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range configs {
			said[c.name] = map[string]field{}
			for _, f := range c.fields {
				said[c.name][f.name] = f
				if len(f.help) > longest {
					t.Errorf("%s.%s: %d bytes of help, want %d at most: %s", c.name, f.name,
						len(f.help), longest, f.help)
				}
			}
		}
	}
	looked := map[string]bool{}
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var walk func(v reflect.Value)
		walk = func(v reflect.Value) {
			looked[v.Type().Name()] = true
			for i := range v.NumField() {
				switch sf := v.Type().Field(i); {
				case sf.Anonymous:
					walk(v.Field(i))
				case sf.IsExported():
					f, ok := said[v.Type().Name()][sf.Name]
					if !ok {
						t.Errorf("%s.%s is not found", v.Type().Name(), sf.Name)
						continue
					}
					t.Run(name+"/"+sf.Name, func(t *testing.T) { f.check(t, e, v.Field(i)) })
				}
			}
		}
		walk(reflect.ValueOf(e.Config()).Elem())
	}
	for name := range said {
		if !looked[name] {
			t.Errorf("no learner has the settings of %s", name)
		}
	}
}

// check compares what is said of a field with a learner and its default.
func (f *field) check(t *testing.T, e learner.Entry, have reflect.Value) {
	def, ok := f.others[e.Name]
	if !ok {
		def = f.def
	}
	got := fmt.Sprint(have.Interface())
	if got == "<nil>" {
		got = "nil"
	} else if _, ok := have.Interface().(learner.Config); ok { // said by its type
		got = have.Elem().Elem().Type().Name()
	}
	if values := f.tag.Get("values"); values != "" && got == "" { // stands for the first
		got, _, _ = strings.Cut(values, "|")
	}
	if got != def {
		t.Errorf("the comment says that the default is %s, it is %s", def, got)
	}
	if help := e.Config().Help(f.name); f.tag.Get("flag") != "" && help != f.help {
		t.Errorf("the help is %q, want %q", help, f.help)
	}
	if values := f.tag.Get("values"); values != "" {
		list := strings.Split(values, "|")
		last := len(list) - 1
		if want := strings.Join(list[:last], ", ") + " or " + list[last]; f.span != want {
			t.Errorf("the range is %q, want %q", f.span, want)
		}
		return
	}
	numbers := have.Kind() == reflect.Int || have.Kind() == reflect.Float64 || f.name == "P"
	if !numbers {
		return
	}
	in, out, err := f.probes(have.Kind() == reflect.Int)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range in {
		if err := f.try(e, x); err != nil {
			t.Errorf("%v is in %q: %v", x, f.span, err)
		}
	}
	for _, x := range out {
		if f.try(e, x) == nil {
			t.Errorf("%v is not in %q, but taken", x, f.span)
		}
	}
}

// span is a range of numbers as comments have it; what follows a comma is said besides.
var span = regexp.MustCompile(
	`^(above )?([0-9.e^-]+)( or more| to (below )?([0-9.e^-]+))?(, .*)?$`)

// probes returns numbers at the ends of a range, inside and outside.
func (f *field) probes(whole bool) (in, out []float64, err error) {
	m := span.FindStringSubmatch(f.span)
	if m == nil || (m[1] == "") == (m[3] == "") && m[3] == " or more" && m[1] != "" {
		return nil, nil, fmt.Errorf("the range %q has no form that is known", f.span)
	}
	step := func(x, to float64) float64 {
		if whole {
			return x + math.Copysign(1, to)
		}
		return x + math.Copysign(max(math.Abs(x), 1e-6)*1e-6, to)
	}
	end := func(text string, open bool, inward float64) error {
		x, err := number(text)
		if open {
			in, out = append(in, step(x, inward)), append(out, x)
		} else {
			in, out = append(in, x), append(out, step(x, -inward))
		}
		return err
	}
	if err = end(m[2], m[1] != "", 1); err != nil {
		return nil, nil, err
	}
	if m[5] == "" {
		return append(in, 1e6), out, nil
	}
	return in, out, end(m[5], m[4] != "", -1)
}

// number reads a number, or a power as 2^20 or 2^31-1.
func number(text string) (float64, error) {
	base, power, ok := strings.Cut(text, "^")
	if !ok {
		return strconv.ParseFloat(text, 64)
	}
	power, less, _ := strings.Cut(power, "-")
	n, err := strconv.Atoi(power)
	if err != nil || base != "2" {
		return 0, fmt.Errorf("%s is no power of 2", text)
	}
	x := math.Ldexp(1, n)
	if less != "" {
		y, err := strconv.ParseFloat(less, 64)
		return x - y, err
	}
	return x, nil
}

// beside has other settings, in JSON, with which the whole range of one may be had, where it may
// not with the defaults.
var beside = map[string]string{
	"alma C":      `{"B": 1}`,
	"ng Buffer":   `{"rank": 1}`,
	"ng Rank":     `{"buffer": 1}`,
	"sogp Noise":  `{"eps": 0.1}`,
	"every Sigma": `{"kernel": "rbf"}`,
}

// try returns the error of settings with a field of that value.
func (f *field) try(e learner.Entry, x float64) error {
	var last error
	for _, doc := range []string{"{}", beside[e.Name+" "+f.name], beside["every "+f.name]} {
		c := e.Config()
		if doc == "" || json.Unmarshal([]byte(doc), c) != nil {
			continue
		}
		switch v := reflect.ValueOf(c).Elem().FieldByName(f.name); v.Kind() {
		case reflect.Int:
			v.SetInt(int64(x))
		case reflect.String:
			v.SetString(strconv.FormatFloat(x, 'g', -1, 64))
		default:
			v.SetFloat(x)
		}
		if last = c.Validate(); last == nil {
			return nil
		}
	}
	return last
}

// TestOptions: the comments of all that decides a run have default and range, too.
func TestOptions(t *testing.T) {
	_, structs, err := parse("../../internal/training", regexp.MustCompile("^(Options|Data)$"))
	if err != nil {
		t.Fatal(err)
	}
	if len(structs) != 2 {
		t.Errorf("%d structs found", len(structs))
	}
}

// TestRules: a comment that lacks something is an error.
func TestRules(t *testing.T) {
	f, err := newField("Eta", `flag:"eta"`,
		"Eta is the step\nsize.\n\nMore.\nDefault 0.5, of ep 1e-06, of pa 2; above 0.\n", false)
	if err != nil || f.help != "step size; above 0" || f.def != "0.5" || f.span != "above 0" ||
		f.others["ep"] != "1e-06" || f.others["pa"] != "2" {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = newField("On", "", "On does it. Default false.", true); err != nil ||
		f.help != "does it" {
		t.Errorf("%+v, %v", f, err)
	}
	for _, doc := range []string{"", "Eta is the step size.", "Eta is the step size. Default 1.",
		"the step size. Default 1; above 0.", "Default 1; above 0.",
		"Eta is the step size. Default 1; above 0. More."} {
		if f, err := newField("Eta", "", doc, false); err == nil {
			t.Errorf("%q is taken: %+v", doc, f)
		}
	}
	if _, err := newField("On", "", "On does it. Default false; 0 to 1.", true); err == nil {
		t.Error("a switch with a range is taken")
	}
}
