package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
)

var writePython = flag.Bool("write-python", false, "write the Python classes of the learners")

// TestPythonLearners: python/halfspace/_learners.py has a class for each learner, with its settings
// and their defaults as they are.
func TestPythonLearners(t *testing.T) {
	const file = "../../python/halfspace/_learners.py"
	want := pythonLearners(t)
	if *writePython {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error(file + " is not that of the learners: go test -run PythonLearners . -write-python")
	}
}

// keywords of Python that are settings: their parameters have a _ behind the name.
var keywords = []string{"lambda"}

func pythonLearners(t *testing.T) []byte {
	t.Helper()
	var body bytes.Buffer
	var names []string
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if e.Over != nil { // classes are told anyway
			continue
		}
		class := strings.TrimSuffix(reflect.TypeOf(e.Config()).Elem().Name(), "Config") +
			"Classifier"
		names = append(names, class)
		pythonLearner(t, &body, class, e)
	}
	slices.Sort(names)
	var b bytes.Buffer
	b.WriteString("# Made of the learners' settings by TestPythonLearners of cmd/libhalfspace.\n" +
		"\"\"\"A class for each learner.\"\"\"\n\nfrom ._estimator import HalfspaceClassifier, UnweightedClassifier\n\n" +
		"__all__ = [\n")
	for _, name := range names {
		fmt.Fprintf(&b, "    %q,\n", name)
	}
	b.WriteString("]\n")
	b.Write(body.Bytes())
	return b.Bytes()
}

// setting is one of a learner's.
type setting struct{ key, param, kind, auto, value, help string }

func pythonLearner(t *testing.T, b *bytes.Buffer, class string, e learner.Entry) {
	t.Helper()
	c := e.Config()
	traits := c.Traits()
	list := settings(t, c)
	base := "HalfspaceClassifier"
	if !traits.Weights {
		base = "UnweightedClassifier"
	}
	fmt.Fprintf(b, "\n\nclass %s(%s):\n    \"\"\"%s.\n\n", class, base,
		strings.ToUpper(e.Summary[:1])+e.Summary[1:])
	b.WriteString("    Parameters\n    ----------\n")
	for _, s := range list {
		kind := s.kind
		if s.auto != "" {
			kind += ` or "auto"`
		}
		fmt.Fprintf(b, "    %s : %s, default %s\n", s.param, kind, s.value)
		for _, line := range wrapped(s.help, 70) {
			fmt.Fprintf(b, "        %s\n", line)
		}
	}
	b.WriteString("\n    The other parameters are those of :class:`HalfspaceClassifier`.\n    \"\"\"\n\n")
	// The shares of an ensemble's votes don't rise with its scores, as scikit-learn wants it of
	// probabilities.
	fmt.Fprintf(b, "    _learner = %q\n    _stream = %s\n    _proba = %s\n    _settings = {\n",
		e.Name, pythonBool(traits.Stream), pythonBool(traits.Proba && !traits.Ensemble))
	for _, s := range list {
		fmt.Fprintf(b, "        %q: (%q, %q, %q),\n", s.param, s.key, s.kind, s.auto)
	}
	b.WriteString("    }\n\n    def __init__(\n        self,\n")
	for _, s := range list {
		fmt.Fprintf(b, "        %s=%s,\n", s.param, s.value)
	}
	b.WriteString("        *,\n")
	common := commonParams(traits)
	for _, p := range common {
		fmt.Fprintf(b, "        %s=%s,\n", p[0], p[1])
	}
	b.WriteString("    ):\n")
	for _, s := range list {
		fmt.Fprintf(b, "        self.%s = %s\n", s.param, s.param)
	}
	for _, p := range common {
		fmt.Fprintf(b, "        self.%s = %s\n", p[0], p[0])
	}
}

// commonParams are those of every class, but what the learner has not: passes, and weights.
func commonParams(traits learner.Traits) (list [][2]string) {
	if traits.Stream {
		epochs := "10"
		if traits.Posterior { // which would count the same evidence again
			epochs = "1"
		}
		list = append(list, [2]string{"max_iter", epochs}, [2]string{"shuffle", "True"})
	}
	if traits.Whole {
		list = append(list, [2]string{"until_converged", pythonBool(!traits.Stream)})
	}
	bias := `"append"`
	if traits.Biased {
		bias = `"none"`
	}
	list = append(list, [2]string{"bias", bias}, [2]string{"normalize", `"none"`},
		[2]string{"scaling", `"none"`}, [2]string{"precision", `"f32"`})
	if traits.Weights {
		list = append(list, [2]string{"class_weight", "None"})
	}
	if traits.Stream {
		list = append(list, [2]string{"calibrate", `"none"`})
	}
	return append(list, [2]string{"n_jobs", "1"}, [2]string{"random_state", "1"})
}

// settings returns those of a learner that a user sets, in the order of its fields: those with a
// flag, and a base's.
func settings(t *testing.T, c learner.Config) (list []setting) {
	t.Helper()
	of := reflect.ValueOf(c).Elem()
	if of.Kind() != reflect.Struct {
		return nil
	}
	keys := map[string]string{}
	for _, f := range reflect.VisibleFields(of.Type()) {
		keys[f.Name], _, _ = strings.Cut(f.Tag.Get("json"), ",")
	}
	for _, f := range reflect.VisibleFields(of.Type()) {
		key := keys[f.Name]
		if f.Anonymous || key == "" || key == "-" || f.Tag.Get("flag") == "" && key != "base_config" {
			continue
		}
		s := setting{key: key, param: key, value: "None", kind: "dict", auto: keys[f.Tag.Get("auto")]}
		if slices.Contains(keywords, s.param) {
			s.param += "_"
		}
		switch v := of.FieldByIndex(f.Index); v.Kind() {
		case reflect.Bool:
			s.kind, s.value = "bool", pythonBool(v.Bool())
		case reflect.Int, reflect.Int64:
			s.kind, s.value = "int", fmt.Sprint(v.Int())
		case reflect.Float64:
			s.kind, s.value = "float", strconv.FormatFloat(v.Float(), 'g', -1, 64)
		case reflect.String:
			s.kind, s.value = "str", v.String()
			if values, _, _ := strings.Cut(f.Tag.Get("values"), "|"); s.value == "" {
				s.value = values // which "" stands for
			}
			s.value = strconv.Quote(s.value)
		case reflect.Interface:
		default:
			t.Fatalf("%T: %s is a %s, which Python has no parameter for", c, f.Name, v.Kind())
		}
		if s.help = c.Help(f.Name); s.help == "" {
			s.help = "Settings of the base, by name."
		}
		list = append(list, s)
	}
	return list
}

func pythonBool(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

// wrapped breaks a text into lines of at most so many letters.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
