package exchange

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/model"
)

// program returns where a program of another package is, or skips the test.
func program(t *testing.T, name, of string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skipf("needs %s of Debian's package %s: %v", name, of, err)
	}
	return path
}

// head writes the first rows of a packed file into the folder, without features that the first 1000
// rows of a9a lack, and returns the name.
func head(t *testing.T, dir, name string, rows int) string {
	t.Helper()
	s, text := bufio.NewScanner(bytes.NewReader(realdata.Text(t, name))), []byte{}
	for range rows {
		if !s.Scan() {
			t.Fatalf("%s has fewer rows than %d (%v)", name, rows, s.Err())
		}
		for word := range strings.FieldsSeq(s.Text()) {
			number, _, feature := strings.Cut(word, ":")
			if j, err := strconv.Atoi(number); feature && (err != nil || j > 119) {
				continue
			}
			text = append(append(text, word...), ' ')
		}
		text = append(text, '\n')
	}
	out := filepath.Join(dir, strings.TrimSuffix(name, ".gz"))
	ok(t, os.WriteFile(out, text, 0o666))
	return out
}

// numeric turns labels into the numbers that other programs print: +1 is 1.
func numeric(label string) string { return strings.TrimPrefix(label, "+") }

// ours are the labels and scores that a model predicts.
func ours(t *testing.T, path, file string) (labels []string, scores []float64) {
	t.Helper()
	m := must(halfspace.Load(path))(t)
	for p, err := range m.Predict(context.Background(), file) {
		if err != nil {
			t.Fatal(err)
		}
		labels, scores = append(labels, numeric(p.Label)), append(scores, p.Score)
	}
	return labels, scores
}

// differ counts the labels that differ.
func differ(t *testing.T, name string, got, want []string) {
	t.Helper()
	count := 0
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			count++
		}
	}
	if count > 0 || len(got) != len(want) {
		t.Errorf("%s: %d labels of %d differ", name, count, len(want))
	}
}

// trained are settings that other programs are compared with, and whether they can hold them.
var trained = []struct {
	name              string
	options           halfspace.Options
	liblinear, libsvm bool
}{
	{"perceptron", options("perceptron", nil), true, true},
	{"members, bias", options("obpm", map[string]any{"members": 20}, "append"), true, true},
	{"unit length", options("pa", nil, "append", "unit"), true, true},
	{"max, rbf", options("perceptron", map[string]any{"kernel": "rbf", "gamma": 0.5}, "append",
		"max"), false, true},
	{"bias, poly", options("perceptron", map[string]any{"kernel": "poly", "gamma": 0.1, "degree": 3,
		"coef0": 1}, "append", "max"), false, true},
	{"unit, rbf", options("sogp", map[string]any{"kernel": "rbf", "gamma": 2, "basis": 50}, "none",
		"unit"), false, false},
	{"scaled, unit", scaled(options("pa", nil, "append", "unit")), true, true},
	{"scaled, rbf", scaled(options("perceptron", map[string]any{"kernel": "rbf", "gamma": 0.5},
		"append", "max")), false, false},
	{"random features", options("rff", map[string]any{"D": 100, "sigma": 3}, "append", "max"),
		false, false},
	{"random features, unit", options("rff", map[string]any{"D": 100}, "append", "unit"), false,
		false},
}

// scaled divides features by their largest values.
func scaled(o halfspace.Options) halfspace.Options {
	o.Scale = "maxabs"
	return o
}

func options(name string, settings map[string]any, prep ...string) halfspace.Options {
	var o halfspace.Options
	o.Learner, o.Settings = name, settings
	if len(prep) > 0 {
		o.Bias = prep[0]
	}
	if len(prep) > 1 {
		o.Normalize = prep[1]
	}
	return o
}

// exported trains on file, and writes the model and its exports into a folder.
func exported(t *testing.T, o halfspace.Options, file, dir string, to ...string) (path string) {
	t.Helper()
	m := must(halfspace.Train(context.Background(), o, file))(t)
	path = filepath.Join(dir, "model")
	ok(t, m.Save(path))
	for _, to := range to {
		export(t, path, to)
	}
	return path
}

func export(t *testing.T, path, to string) string {
	t.Helper()
	m := must(model.Load(path))(t)
	var b bytes.Buffer
	must(Export(&b, to, m))(t)
	ok(t, os.WriteFile(path+"."+to, b.Bytes(), 0o666))
	return path + "." + to
}

// predictedBy returns the lines that a program predict TEST MODEL OUT writes.
func predictedBy(t *testing.T, program, test, path string) []string {
	t.Helper()
	out := path + ".predicted"
	if text, err := exec.Command(program, test, path, out).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", program, err, text)
	}
	return readLines(t, out)
}

func readLines(t *testing.T, file string) []string {
	t.Helper()
	text := must(os.ReadFile(file))(t)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestProgramsPredict: liblinear-predict and svm-predict agree with exported models label by label.
func TestProgramsPredict(t *testing.T) {
	t.Parallel()
	linear := program(t, "liblinear-predict", "liblinear-tools")
	svm := program(t, "svm-predict", "libsvm-tools")
	shared := t.TempDir()
	train, test := head(t, shared, "a9a.gz", 1000), head(t, shared, "a9a.t.gz", 2000)
	for _, c := range trained {
		path := exported(t, c.options, train, t.TempDir())
		want, _ := ours(t, path, test)
		if c.liblinear {
			differ(t, c.name+" by liblinear",
				predictedBy(t, linear, test, export(t, path, "liblinear")), want)
		}
		if c.libsvm {
			differ(t, c.name+" by libsvm", predictedBy(t, svm, test, export(t, path, "libsvm")),
				want)
		}
	}
	three := classes(t, train, 3)
	path := exported(t, options("perceptron", nil), three, t.TempDir(), "liblinear")
	want, _ := ours(t, path, test)
	differ(t, "classes by liblinear", predictedBy(t, linear, test, path+".liblinear"), want)
}

// TestProgramsPairs: svm-predict agrees with pairs of classes label by label, where ties go to the
// first class; where they don't, the model has the same file, and a note says so.
func TestProgramsPairs(t *testing.T) {
	t.Parallel()
	svm := program(t, "svm-predict", "libsvm-tools")
	shared := t.TempDir()
	train, test := head(t, shared, "a9a.gz", 1000), head(t, shared, "a9a.t.gz", 2000)
	for _, c := range []struct {
		classes int
		base    string
		o       halfspace.Options
	}{
		{3, "perceptron", options("", nil)},
		{5, "perceptron", options("", nil, "append", "unit")},
		{5, "obpm", options("", map[string]any{"members": 20}, "append")},
		{3, "perceptron", options("", map[string]any{"kernel": "rbf", "gamma": 0.05})},
		{4, "perceptron", options("", map[string]any{"kernel": "poly", "gamma": 0.1, "degree": 2,
			"coef0": 1}, "append", "max")},
		{3, "pa", scaled(options("", nil, "append", "unit"))},
	} {
		name := fmt.Sprintf("%d classes by %s, bias %s", c.classes, c.base, c.o.Bias)
		files := map[bool]string{}
		for _, first := range []bool{true, false} {
			o := c.o
			o.Learner, o.Settings = "ovo", map[string]any{"base": c.base, "ties_first": first,
				"base_config": c.o.Settings}
			path := exported(t, o, classes(t, train, c.classes), t.TempDir())
			m := must(model.Load(path))(t)
			var b bytes.Buffer
			notes := must(Export(&b, "libsvm", m))(t)
			if said := strings.Contains(strings.Join(notes, "; "), "ties_first"); said == first {
				t.Errorf("%s, ties to the first %v: notes %q", name, first, notes)
			}
			if files[first] = b.String(); !first {
				continue
			}
			want, _ := ours(t, path, test)
			differ(t, name, predictedBy(t, svm, test, export(t, path, "libsvm")), want)
			for _, to := range []string{"liblinear", "onnx", "npz", "text"} {
				if _, err := Export(io.Discard, to, m); !errors.Is(err, ErrForm) {
					t.Errorf("%s to %s: %v, want ErrForm", name, to, err)
				}
			}
		}
		if files[true] != files[false] {
			t.Errorf("%s: another file where ties are told by sums", name)
		}
	}
}

// TestTieNotes: where rows are divided for a model, and weights in the file, that scores of 0 may
// become others is said of all formats that hold weights.
func TestTieNotes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rows")
	ok(t, os.WriteFile(file, []byte("+1 1:2 2:1\n-1 1:-1 2:3\n+1 1:1 2:-1\n"), 0o666))
	kernel := map[string]any{"scale": 2.5}
	for _, c := range []struct {
		o      halfspace.Options
		divide bool
	}{
		{options("perceptron", nil, "append", "none"), false},
		{options("perceptron", nil, "append", "max"), true},
		{options("perceptron", kernel, "append", "none"), true},
	} {
		m := must(model.Load(exported(t, c.o, file, t.TempDir())))(t)
		for _, to := range []string{"liblinear", "libsvm", "onnx"} {
			notes := must(Export(io.Discard, to, m))(t)
			said := strings.Contains(strings.Join(notes, "; "), "rows were divided")
			if said != c.divide {
				t.Errorf("%s, normalize %s, %v: notes %q", to, c.o.Normalize, c.o.Settings, notes)
			}
		}
	}
}

// TestProgramsTies: a score of exactly 0 has the label here that the program gives it, whatever the
// order of the labels, the bias and the kernel, and so it has in what is exported again. The
// numbers are such that nothing is rounded.
func TestProgramsTies(t *testing.T) {
	t.Parallel()
	const rows = "1\n1 1:1 2:1\n1 1:1 2:-1\n1 1:2 2:1\n1 1:1 2:2\n1 1:1\n1 2:-1 3:1\n1 3:1\n1 4:5\n"
	const linear = "solver_type %s\nnr_class 2\nlabel %s\nnr_feature 3\nbias %s\nw\n1 \n-1 \n0 \n"
	const pairs = "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho 0 0 0\n" +
		"label %s\nnr_sv 1 1 1\nSV\n1 1 1:1 \n-1 1 2:1 \n-1 -1 3:1 \n"
	const kernel = "svm_type c_svc\nkernel_type %s\nnr_class 2\ntotal_sv 2\nrho %s\nlabel %s\n" +
		"nr_sv 1 1\nSV\n1 1:1 \n-1 2:1 \n"
	type job struct{ from, text string }
	var jobs []job
	for _, labels := range []string{"1 -1", "-1 1", "3 1", "1 3", "0 1", "-2 -1"} {
		for _, solver := range []string{"L2R_LR", "L2R_L1LOSS_SVC_DUAL"} {
			jobs = append(jobs, job{"liblinear", fmt.Sprintf(linear, solver, labels, "-1")},
				job{"liblinear", fmt.Sprintf(linear, solver, labels, "0.5") + "-2 \n"},
				job{"liblinear", fmt.Sprintf(linear, solver, labels, "1") + "1 \n"})
		}
		two := strings.NewReplacer("1 \n-1 \n0 \n", "1 1 \n-1 1 \n0 1 \n")
		jobs = append(jobs,
			job{"liblinear", two.Replace(fmt.Sprintf(linear, "MCSVM_CS", labels, "-1"))})
		for _, rho := range []string{"0", "1"} {
			jobs = append(jobs, job{"libsvm", fmt.Sprintf(kernel, "linear", rho, labels)},
				job{"libsvm", fmt.Sprintf(kernel, "rbf\ngamma 0.5", rho, labels)},
				job{"libsvm", fmt.Sprintf(kernel, "polynomial\ndegree 2\ngamma 1\ncoef0 0", rho,
					labels)})
		}
	}
	for _, labels := range []string{"7 3 5", "1 2 3", "3 2 1"} {
		jobs = append(jobs, job{"libsvm", fmt.Sprintf(pairs, labels)})
	}
	for _, c := range jobs {
		dir := t.TempDir()
		put := func(name, text string) string {
			path := filepath.Join(dir, name)
			ok(t, os.WriteFile(path, []byte(text), 0o666))
			return path
		}
		predict, of := "liblinear-predict", "liblinear-tools"
		if c.from == "libsvm" {
			predict, of = "svm-predict", "libsvm-tools"
		}
		predict = program(t, predict, of)
		file, theirs := put("rows", rows), put("theirs", c.text)
		want := predictedBy(t, predict, file, theirs)
		m := must(Import(c.from, strings.NewReader(c.text)))(t)
		path := filepath.Join(dir, "model")
		must(model.Save(path, m))(t)
		got, _ := ours(t, path, file)
		differ(t, c.text, got, want)
		again := predictedBy(t, predict, file, export(t, path, c.from))
		if !slices.Equal(again, want) {
			t.Errorf("exported again: %v, want %v of %s", again, want, c.text)
		}
	}
}

// classes writes the rows of a file with labels from 0 to k-1, by the first feature, and returns
// the name.
func classes(t *testing.T, file string, k int) string {
	t.Helper()
	var b strings.Builder
	for _, line := range readLines(t, file) {
		words := strings.Fields(line)
		number, _, _ := strings.Cut(words[1], ":")
		j := must(strconv.Atoi(number))(t)
		words[0] = strconv.Itoa(j % k)
		b.WriteString(strings.Join(words, " ") + "\n")
	}
	name := file + "." + strconv.Itoa(k)
	ok(t, os.WriteFile(name, []byte(b.String()), 0o666))
	return name
}

// TestProgramsTrain: imported models predict the labels that liblinear-predict and svm-predict do.
func TestProgramsTrain(t *testing.T) {
	t.Parallel()
	lineartrain := program(t, "liblinear-train", "liblinear-tools")
	linear := program(t, "liblinear-predict", "liblinear-tools")
	svmtrain := program(t, "svm-train", "libsvm-tools")
	svm := program(t, "svm-predict", "libsvm-tools")
	dir := t.TempDir()
	train, test := head(t, dir, "a9a.gz", 1000), head(t, dir, "a9a.t.gz", 2000)
	three := classes(t, train, 3)
	for _, c := range []struct{ train, predict, from, file, args string }{
		{lineartrain, linear, "liblinear", train, "-s 1"},
		{lineartrain, linear, "liblinear", train, "-s 0 -B 2"},
		{lineartrain, linear, "liblinear", three, "-s 4 -B 1"},
		{lineartrain, linear, "liblinear", three, "-s 5"},
		{svmtrain, svm, "libsvm", train, "-t 0"},
		{svmtrain, svm, "libsvm", train, "-t 1 -g 0.1 -r 1 -d 2"},
		{svmtrain, svm, "libsvm", train, "-t 2 -g 0.05"},
		{svmtrain, svm, "libsvm", train, "-s 1 -n 0.1 -t 2 -b 1"},
		{svmtrain, svm, "libsvm", three, "-t 0"},
		{svmtrain, svm, "libsvm", classes(t, train, 7), "-t 2 -g 0.05"},
	} {
		name := c.from + " " + c.args
		theirs := filepath.Join(dir, "theirs")
		args := append(append(strings.Fields(c.args), "-q"), c.file, theirs)
		if text, err := exec.Command(c.train, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, text)
		}
		in := must(os.ReadFile(theirs))(t)
		m := must(Import(c.from, bytes.NewReader(in)))(t)
		path := filepath.Join(dir, "model")
		must(model.Save(path, m))(t)
		got, _ := ours(t, path, test)
		differ(t, name, got, predictedBy(t, c.predict, test, theirs))
		again := export(t, path, c.from) // out again, and back
		if len(m.Prep.Classes) > 0 && c.from == "libsvm" {
			differ(t, name+" again", predictedBy(t, c.predict, test, again), got)
			continue // vectors of several pairs are written once for each
		}
		if strings.HasPrefix(c.args, "-t 0") {
			continue // a linear one has other support vectors
		}
		back := must(Import(c.from, bytes.NewReader(must(os.ReadFile(again))(t))))(t)
		a, b := new(bytes.Buffer), new(bytes.Buffer)
		ok(t, errors.Join(textOf(a, m), textOf(b, back)))
		if sorted(a) != sorted(b) {
			t.Errorf("%s: another model comes back", name)
		}
	}
}

func sorted(b *bytes.Buffer) string {
	lines := strings.Split(b.String(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func textOf(w io.Writer, m *model.Model) error {
	_, err := Export(w, "text", m)
	return err
}

// TestONNXRuntime: onnxruntime predicts the labels of 2000 rows of a9a.t that the models do, and
// scores within float32's roundings. HALFSPACE_TEST_ONNX is a folder in which npm has installed
// onnxruntime-node.
func TestONNXRuntime(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("HALFSPACE_TEST_ONNX")
	if folder == "" {
		t.Skip("needs HALFSPACE_TEST_ONNX, a folder with npm's onnxruntime-node")
	}
	node := program(t, "node", "nodejs")
	script := must(filepath.Abs("testdata/onnx.js"))(t)
	dir := t.TempDir()
	train, test := head(t, dir, "a9a.gz", 1000), head(t, dir, "a9a.t.gz", 2000)
	three := classes(t, train, 3)
	named := asCSV(t, train)
	all := append(trained[:len(trained):len(trained)], trained[0], trained[0], trained[3])
	var jobs []string
	var models []string
	for i, c := range all {
		file := train
		switch i {
		case len(trained):
			file = named
		case len(trained) + 1, len(trained) + 2:
			file = three
		}
		path := exported(t, c.options, file, t.TempDir(), "onnx")
		m := must(model.Load(path))(t)
		f := must(Open(m))(t)
		writeRows(t, path+".rows", test, f.Dim)
		jobs = append(jobs, path, strconv.Itoa(f.Dim))
		models = append(models, path)
	}
	cmd := exec.Command(node, append([]string{script}, jobs...)...)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(folder, "node_modules"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("onnxruntime: %v: %s", err, text)
	}
	for i, path := range models {
		rows := test
		if i == len(trained) {
			rows = asCSV(t, test)
		}
		want, scores := ours(t, path, rows)
		got := readLines(t, path+".labels")
		differ(t, fmt.Sprintf("%d: %s by onnxruntime", i, all[i].name), got, want)
		worst := 0.0
		for r, line := range readLines(t, path+".scores") {
			words, best := strings.Fields(line), math.Inf(-1)
			for k, word := range words {
				v := must(strconv.ParseFloat(word, 64))(t)
				if best = max(best, v); k == 0 && len(words) == 2 {
					best = v // of the positive label
					break
				}
			}
			worst = max(worst, math.Abs(best-scores[r]))
		}
		if !(worst < 1e-3) {
			t.Errorf("%d: %s: scores differ by %v", i, all[i].name, worst)
		}
	}
}

// asCSV writes rows of svmlight as csv, with labels that are words, and returns the name.
func asCSV(t *testing.T, file string) string {
	t.Helper()
	var b strings.Builder
	for j := range 123 {
		fmt.Fprintf(&b, "f%d,", j+1)
	}
	b.WriteString("income\n")
	for _, line := range readLines(t, file) {
		words, row := strings.Fields(line), slices.Repeat([]string{"0"}, 124)
		for _, word := range words[1:] {
			number, value, _ := strings.Cut(word, ":")
			j := must(strconv.Atoi(number))(t)
			row[j-1] = value
		}
		if row[123] = "poor"; words[0] == "+1" {
			row[123] = "rich"
		}
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	name := file + ".csv"
	ok(t, os.WriteFile(name, []byte(b.String()), 0o666))
	return name
}

// writeRows writes rows of a file as float32, without features beyond the model's.
func writeRows(t *testing.T, to, file string, dim int) {
	t.Helper()
	var out []byte
	for _, line := range readLines(t, file) {
		row := make([]float32, dim)
		for _, word := range strings.Fields(line)[1:] {
			number, value, _ := strings.Cut(word, ":")
			j, err := strconv.Atoi(number)
			v, err2 := strconv.ParseFloat(value, 32)
			ok(t, errors.Join(err, err2))
			if j <= dim {
				row[j-1] = float32(v)
			}
		}
		for _, v := range row {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	ok(t, os.WriteFile(to, out, 0o666))
}
