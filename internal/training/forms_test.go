package training_test

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/model"
)

// TestOneModel: the same numbers in any format give one model, to the byte: rows of Adult as
// svmlight, as text of Vowpal Wabbit, as objects of JSON, and, where sums are of whole numbers and
// so of no order, as arrays of JSON and of NumPy. A model of csv has columns, and else the same.
// Tables of Arrow and streams of brokers are compared with realdata.A9aModel, too.
func TestOneModel(t *testing.T) {
	t.Parallel()
	rows := realdata.Rows(t, "a9a.gz")
	if testing.Short() {
		rows = rows[:1000]
	}
	features := 0
	for _, r := range rows {
		features = max(features, slices.Max(r.Features))
	}
	files := realdata.Forms(t, rows, features)
	for _, o := range []training.Options{{Learner: "perceptron", Epochs: 1},
		{Learner: "obpm", Epochs: 1,
			// as the command has it
			Settings: map[string]any{"base_config": map[string]any{"eta": 1}}},
		{Learner: "pa", Epochs: 1}} {
		sums, states := map[string]string{}, map[string]any{}
		for form, file := range files {
			o.Files, o.Data = []string{file}, asItIs
			o.Model = filepath.Join(t.TempDir(), "m")
			must(training.Run(t.Context(), o, training.Env{}))(t)
			sums[form] = fmt.Sprintf("%x", sha256.Sum256(content(t, o.Model)))
			m := must(model.Load(o.Model))(t)
			states[form] = m.State
		}
		if o.Learner == "obpm" && !testing.Short() && sums["svmlight"] != realdata.A9aModel {
			t.Errorf("the model of a9a is %s, want %s", sums["svmlight"], realdata.A9aModel)
		}
		same := []string{"vw", "ndjson"}
		if o.Learner != "pa" {
			same = append(same, "arrays", "npy")
		}
		for _, form := range same {
			if sums[form] != sums["svmlight"] {
				t.Errorf("%s: the model of %s is %s, of svmlight %s", o.Learner, form, sums[form],
					sums["svmlight"])
			}
		}
		if !reflect.DeepEqual(states["csv"], states["npy"]) {
			t.Errorf("%s: csv taught something else than npy", o.Learner)
		}
	}
}
