package dataset

import (
	"context"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/realdata"
)

// TestRealData reads the public data sets and compares their shapes with the published ones.
func TestRealData(t *testing.T) {
	for _, tc := range []struct {
		files             []string
		o                 Options
		format            string
		rows, dim, pos    int
		nonZeros          int64
		negative, positve string
	}{
		{[]string{"a9a.gz"}, Options{}, "svmlight", 32561, 123, 7841, 451592, "-1", "+1"},
		{[]string{"a9a.t.gz"}, Options{}, "svmlight", 16281, 122, 3846, 0, "-1", "+1"},
		{[]string{"a1a.gz", "a1a.t.gz"}, Options{}, "svmlight", 32561, 123, 7841, 451592, "-1",
			"+1"},
		{[]string{"a9a.gz"}, Options{Bias: "append", Normalize: "unit"}, "svmlight", 32561, 124,
			7841, 451592 + 32561, "-1", "+1"},
		{[]string{"w8a.gz"}, Options{}, "svmlight", 49749, 300, 1479, 0, "-1", "+1"},
		{[]string{"skin_nonskin.gz"}, Options{}, "svmlight", 245057, 3, 245057 - 50859, 0, "1",
			"2"},
		{[]string{"news20.multiclass.bz2"}, Options{Positive: "1"}, "svmlight", 15935, 62061, 797,
			0, "", "1"},
		{[]string{"usps.zip.train.gz"}, Options{LabelCol: "1", Positive: "0"}, "csv", 7291, 256,
			1194, 0, "", "0.0000"},
		{[]string{"usps.zip.test.gz"}, Options{LabelCol: "1", Positive: "0"}, "csv", 2007, 256, 359,
			0, "", "0"},
		{[]string{"usps.zip.train.gz", "usps.zip.test.gz"}, Options{LabelCol: "1", Positive: "0"},
			"csv", 9298, 256, 1553, 0, "", "0.0000"},
		{[]string{"spambase.data"}, Options{}, "csv", 4601, 57, 1813, 4601 * 57, "0", "1"},
		{[]string{"ionosphere.data"}, Options{}, "csv", 351, 34, 225, 0, "b", "g"},
		{[]string{"sonar.all-data"}, Options{Positive: "M"}, "csv", 208, 60, 111, 0, "", "M"},
		{[]string{"sonar.train.csv"}, Options{}, "csv", 104, 60, 55, 0, "M", "R"},
		{[]string{"new-thyroid.data"}, Options{LabelCol: "1", Positive: "1"}, "csv", 215, 5, 150, 0,
			"", "1"},
		{[]string{"breast-cancer-wisconsin.data"}, Options{OnError: "skip"}, "csv", 683, 10, 239, 0,
			"2", "4"},
		{[]string{"raetsch-banana.csv.gz"}, Options{}, "csv", 5300, 2, 2376, 0, "-1", "1"},
		{[]string{"raetsch-waveform.csv.gz"}, Options{}, "csv", 5000, 21, 1647, 0, "-1", "1"},
		{[]string{"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"}, Options{Positive: "8"},
			"idx", 10000, 784, 974, 7840000, "", "8"},
		{[]string{"t10k-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"}, Options{Positive: "8",
			Bias: "append"}, "idx", 10000, 785, 974, 7850000, "", "8"},
		{[]string{"C_elegans_acc_100000.fasta.bz2"}, Options{}, "fasta", 100000, 6125, 3301,
			4900000, "-1", "1"},
		{[]string{"train-images-idx3-ubyte.gz"}, Options{Positive: "0"}, "idx", 60000, 784, 5923, 0,
			"", "0"},
	} {
		t.Run(strings.Join(tc.files, "+")+" "+tc.o.Bias, func(t *testing.T) {
			var files []string
			for _, f := range tc.files {
				files = append(files, realdata.File(t, f))
			}
			d, err := Load[float32](context.Background(), files, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			in := d.Info
			if in.Format != tc.format || in.Rows != tc.rows || in.Dim != tc.dim ||
				in.Positives != tc.pos ||
				tc.nonZeros != 0 && in.NonZeros != tc.nonZeros ||
				in.Labels != (LabelMap{tc.negative, tc.positve}) {
				t.Errorf("got %+v", in)
			}
			if in.InputRead != in.InputSize && tc.format != "idx" || in.IndexBase != 1 {
				t.Errorf("read %d of %d bytes, base %d", in.InputRead, in.InputSize, in.IndexBase)
			}
			verify(t, &d.Block)
		})
	}
}

// verify checks a block, though it is marked as checked.
func verify[T engine.Float](t testing.TB, b *engine.Block[T]) {
	t.Helper()
	fresh := engine.Block[T]{Y: b.Y, Dim: b.Dim, Ptr: b.Ptr, Idx: b.Idx, Val: b.Val, X: b.X,
		Stride: b.Stride}
	if err := fresh.Check(); err != nil {
		t.Error(err)
	}
}
