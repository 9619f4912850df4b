package exchange

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/model"
)

const (
	linearText = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n" +
		"-2 \n0.25 \n"
	rbfText = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho -0.25\n" +
		"label 3 5\nnr_sv 1 1\nSV\n1 1:0.5 3:1 \n-0.5 2:-1 \n"
)

// pairsText has the classes 7, 3 and 5 and 4 support vectors, two of the first.
const pairsText = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 3\ntotal_sv 4\n" +
	"rho 0.5 -1 0\nlabel 7 3 5\nnr_sv 2 1 1\nSV\n1 0 1:1 \n0.5 2 2:1 \n1 -0.5 2:-1 \n-1 1 3:1 \n"

// TestImportPairs: of more than two classes each vector has a coefficient for each other class, and
// the class with most votes is predicted, the first of several.
func TestImportPairs(t *testing.T) {
	m := must(Import("libsvm", strings.NewReader(pairsText)))(t)
	if got := strings.Join(m.Prep.Classes, " "); got != "7 3 5" {
		t.Errorf("classes %s", got)
	}
	for _, x := range [][]float64{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1},
		{9, 9, 9}} {
		k := func(at ...float64) float64 {
			d := 0.0
			for j := range x {
				d += (x[j] - at[j]) * (x[j] - at[j])
			}
			return math.Exp(-d / 2)
		}
		a, b, c, d := k(1, 0, 0), k(0, 1, 0), k(0, -1, 0), k(0, 0, 1)
		want := make([]float64, 3)
		for _, p := range []struct {
			i, j int
			f    float64
		}{{0, 1, a + b/2 + c - 0.5}, {0, 2, 2*b - d + 1}, {1, 2, -c/2 + d}} {
			if p.f <= 0 {
				p.i, p.j = p.j, p.i
			}
			want[p.i] += 0.5
			want[p.j] -= 0.5
		}
		if got := scores(t, m, [][]float64{x}); !slices.Equal(got, want) {
			t.Errorf("%v: votes %v, want %v", x, got, want)
		}
	}
}

// TestImportBroken: what is wrong with a file is said with its line, and nothing panics.
func TestImportBroken(t *testing.T) {
	for _, c := range []struct{ from, text, old, new, want string }{
		{"liblinear", linearText, linearText, "", "line 1: the file ends"},
		{"liblinear", linearText, "0.25 \n", "", "line 9: the file ends, expected 1 weights of " +
			"feature 3"},
		{"liblinear", linearText, "-2 ", "-2 3", "line 8: expected 1 weights, found 2"},
		{"liblinear", linearText, "-2 ", "nan", `line 8: expected a number, found "nan"`},
		{"liblinear", linearText, "0.25 \n", "0.25\nx\n", "line 10: expected the end"},
		{"liblinear", linearText, "L2R_LR", "L2R_L2LOSS_SVR", "none of classification"},
		{"liblinear", linearText, "solver_type L2R_LR\n", "", "solver_type has 0 values"},
		{"liblinear", linearText, "nr_class 2", "nr_class 3", "nr_class is 3 with 2 labels"},
		{"liblinear", linearText, "label 1 -1", "label 1 1", "each of them once"},
		{"liblinear", linearText, "nr_feature 2", "nr_feature 99999999999", "line 6: expected a " +
			"whole number up to 2147483646"},
		{"liblinear", linearText, "nr_feature 2", "nr_feature 2147483646",
			"line 10: the file ends"},
		{"liblinear", linearText, "bias 1", "nr_class 2",
			"line 5: expected a word that has not come"},
		{"libsvm", rbfText, "c_svc", "one_class", "none of classification"},
		{"libsvm", rbfText, "rbf", "sigmoid", "want linear, polynomial or rbf"},
		{"libsvm", rbfText, "gamma 0.5", "gamma -0.5", "gamma -0.5"},
		{"libsvm", rbfText, "gamma 0.5\n", "", "gamma has 0 values"},
		{"libsvm", rbfText, "label 3 5", "label 3 5 7", "nr_class is 2 with 3 labels"},
		{"libsvm", rbfText, "nr_class 2", "nr_class 2 2", "nr_class has 2 values"},
		{"libsvm", rbfText, "total_sv 2", "total_sv 3",
			"line 12: the file ends, expected 3 support"},
		{"libsvm", rbfText, "total_sv 2", "total_sv 1", "line 11: expected the end"},
		{"libsvm", rbfText, "3:1", "1:1", "line 10: feature 1: want features from 1"},
		{"libsvm", rbfText, "1:0.5", "0:0.5", "line 10: feature 0"},
		{"libsvm", rbfText, "3:1", "3", "expected number:value"},
		{"libsvm", rbfText, "3:1", "3:inf", "expected a number"},
		{"libsvm", rbfText, "nr_class 2\n", "nr_class 3\n", "nr_class is 3"},
		{"libsvm", rbfText, "rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho -0.25\nlabel 3 5\n" +
			"nr_sv 1 1\nSV\n1 1:0.5 3:1",
			"linear\nnr_class 2\ntotal_sv 2\nrho -0.25\nlabel 3 5\nSV\n" +
				"1 2147483646:0.5", "a feature 2147483646"},
		{"libsvm", pairsText, "rho 0.5 -1 0", "rho 0.5", "rho has 1 values with 3 classes"},
		{"libsvm", pairsText, "nr_sv 2 1 1", "nr_sv 2 1", "nr_sv has 2 values with 3 classes"},
		{"libsvm", pairsText, "nr_sv 2 1 1", "nr_sv 2 1 0", "nr_sv has 3 of 4 support vectors"},
		{"libsvm", pairsText, "nr_sv 2 1 1", "nr_sv 2 1 2", "the file ends, expected 4 support"},
		{"libsvm", pairsText, "1 -0.5 2:-1", "1", "with 2 coefficients"},
		{"libsvm", pairsText, "1 -0.5 2:-1", "1 2:-1", `expected a number, found "2:-1"`},
		{"excel", rbfText, "", "", "want one of liblinear, libsvm"},
	} {
		if !strings.Contains(c.text, c.old) {
			t.Fatalf("%q is not there", c.old)
		}
		_, err := Import(c.from, strings.NewReader(strings.Replace(c.text, c.old, c.new, 1)))
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %q for %q: %v, want ErrFile with %q", c.from, c.new, c.old, err, c.want)
		}
	}
}

// TestImportLabels: of two labels the larger is the positive one, wherever it stands, and scores
// are those that the other program computes.
func TestImportLabels(t *testing.T) {
	x := [][]float64{{1, 1, 0}}
	for _, c := range []struct {
		from, text string
		labels     model.Labels
		score      float64
	}{
		{"liblinear", linearText, model.Labels{Negative: "-1", Positive: "1"}, 0.5 - 2 + 0.25},
		{"liblinear", strings.Replace(linearText, "label 1 -1", "label -1 1", 1),
			model.Labels{Negative: "-1", Positive: "1"}, -(0.5 - 2 + 0.25)},
		{"libsvm", rbfText, model.Labels{Negative: "3", Positive: "5"},
			// -(exp(-(.25+1+1)/2) - exp(-(1+4)/2)/2 + .25)
			-(0.32465246735834974 - 0.0820849986238988/2 + 0.25)},
	} {
		m := must(Import(c.from, strings.NewReader(c.text)))(t)
		if m.Prep.Labels != c.labels {
			t.Errorf("%s: labels %v, want %v", c.from, m.Prep.Labels, c.labels)
		}
		if got := scores(t, m, x)[0]; !(got-c.score < 1e-15 && c.score-got < 1e-15) {
			t.Errorf("%s: score %v, want %v", c.from, got, c.score)
		}
	}
}

// FuzzImport: whatever a file holds, it is refused with ErrFile or becomes a model that can be
// saved and loaded.
func FuzzImport(f *testing.F) {
	f.Add("liblinear", linearText)
	f.Add("liblinear", "solver_type MCSVM_CS\nnr_class 3\nlabel 2 1 7\nnr_feature 1\nbias -1\nw\n"+
		"1 2 3\n")
	f.Add("libsvm", rbfText)
	f.Add("libsvm", pairsText)
	f.Add("libsvm", strings.Replace(strings.Replace(rbfText, "rbf", "linear", 1), "gamma 0.5\n", "",
		1))
	f.Add("libsvm", strings.Replace(rbfText, "rbf", "polynomial\ndegree 3\ncoef0 1", 1))
	f.Fuzz(func(t *testing.T, from, text string) {
		m, err := Import(from, strings.NewReader(text))
		if err != nil {
			if !errors.Is(err, ErrFile) && !errors.Is(err, model.ErrNotFinite) {
				t.Fatalf("%v is no ErrFile", err)
			}
			return
		}
		var b bytes.Buffer
		ok(t, model.Encode(&b, m))
		back := must(model.Decode(b.Bytes()))(t)
		if m.Prep.Dim > 1<<20 {
			return // only its weights are many, in no file of the fuzzer
		}
		votes := from == "libsvm" && len(m.Prep.Classes) > 0
		if _, err := Open(back); err != nil && !(votes && errors.Is(err, ErrForm)) {
			t.Fatal(err)
		}
	})
}

// TestNPZ: the arrays are those of the form, in the layout of .npy files.
func TestNPZ(t *testing.T) {
	all := kept(t)
	for name, want := range map[string][]string{
		"perceptron-f64": {"weights", "bias", "classes", "threshold", "names", "normalize",
			"constant"},
		"svm-rbf-f64": {"coef", "data", "indices", "indptr", "output", "kernel", "gamma", "coef0",
			"degree", "bias", "classes", "threshold", "names", "normalize", "constant"},
		"rff-f64": {"weights", "frequencies", "offset", "bias", "classes", "threshold", "names",
			"normalize", "constant"},
	} {
		var b bytes.Buffer
		must(Export(&b, "npz", all[name]))(t)
		z := must(zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
		var got []string
		for _, file := range z.File {
			got = append(got, strings.TrimSuffix(file.Name, ".npy"))
			r := must(file.Open())(t)
			data := must(io.ReadAll(r))(t)
			head := 10 + int(data[8]) + int(data[9])<<8
			if string(data[:8]) != "\x93NUMPY\x01\x00" || head%64 != 0 || data[head-1] != '\n' ||
				!strings.HasPrefix(string(data[10:]), "{'descr': '<") {
				t.Errorf("%s: %s begins %q", name, file.Name, data[:min(head, len(data))])
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestExportRefuses: what a format can't hold is ErrForm, and what was meant is said.
func TestExportRefuses(t *testing.T) {
	all := kept(t)
	unit := *all["pumma-f64"] // it has a bias of its own
	unit.Prep.Normalize = "unit"
	for _, c := range []struct {
		to, want string
		m        *model.Model
	}{
		{"liblinear", "export to libsvm or onnx", all["svm-rbf-f64"]},
		{"liblinear", "random features", all["rff-f64"]},
		{"liblinear", "divided by their length", &unit},
		{"libsvm", "one function for each pair", all["ovr-f64"]},
		{"libsvm", "random features", all["rff-f64"]},
		{"text", "random features", all["rff-f64"]},
		{"npz", "votes", all["obpm-vote-f64"]},
		{"word", "want one of liblinear, libsvm, onnx, npz, text", all["rff-f64"]},
	} {
		if _, err := Export(io.Discard, c.to, c.m); !errors.Is(err, ErrForm) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v, want ErrForm with %q", c.to, c.m.Learner, err, c.want)
		}
	}
	if _, err := Export(io.Discard, "onnx", &unit); err != nil {
		t.Error(err)
	}
}
