package command

import (
	"slices"
	"strconv"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// lineMetrics are those of a line of progress, and metricsReport begins with them. What needs
// scores or probabilities is null without them.
type lineMetrics struct {
	Examples      int64    `json:"examples"`
	Error         float64  `json:"error"`
	BalancedError float64  `json:"balanced_error"`
	F1            float64  `json:"f1"` // of two classes that of the positive one, else the mean
	AUC           *float64 `json:"auc"`
	AUCBound      *float64 `json:"auc_bound"` // the true one is within this of auc
	// Of more than two classes auc is the mean of theirs, and this weighs them by their examples.
	AUCWeighted *float64 `json:"auc_weighted"`
	LogLoss     *float64 `json:"log_loss"` // nats
	Brier       *float64 `json:"brier"`
	// Expected, over 10 equal bins.
	CalibrationError *float64 `json:"calibration_error"`
}

// metricsReport is what JSON has of eval.Metrics.
type metricsReport struct {
	lineMetrics
	Classes []classReport `json:"classes"` // by their labels; of two the negative one first
	// Examples of each of Classes (rows) by what was predicted; null for more than 100 classes.
	Confusion [][]float64 `json:"confusion"`
}

// classReport is what it has of a class.
type classReport struct {
	Label     string  `json:"label"`
	Examples  float64 `json:"examples"`
	Predicted float64 `json:"predicted"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	// Of more than two classes, against the rest; null without scores.
	AUC *float64 `json:"auc"`
}

// lineMetricsOf returns them, or nil where there are none.
func lineMetricsOf(m *eval.Metrics) *lineMetrics {
	if m == nil || m.Examples() == 0 {
		return nil
	}
	r := &lineMetrics{Examples: m.Examples(), Error: m.Error(), BalancedError: m.BalancedError(),
		F1: m.F1()}
	if auc, bound := m.AUC(); auc == auc {
		r.AUC, r.AUCBound = &auc, &bound
	}
	if auc, _ := m.WeightedAUC(); auc == auc {
		r.AUCWeighted = &auc
	}
	if m.Proba() {
		v := [3]float64{m.LogLoss(), m.Brier(), m.CalibrationError()}
		r.LogLoss, r.Brier, r.CalibrationError = &v[0], &v[1], &v[2]
	}
	return r
}

// macroAUC is the name of the classes' mean.
const macroAUC = "macro AUC"

// aucName is what AUC is called: of more than two classes it is the mean of theirs.
func aucName(m *eval.Metrics) string {
	if auc, _ := m.WeightedAUC(); auc == auc {
		return macroAUC
	}
	return "AUC"
}

// describeMetrics returns the report, or nil where there are none.
func describeMetrics(m *eval.Metrics, labels []string) *metricsReport {
	line := lineMetricsOf(m)
	if line == nil {
		return nil
	}
	r := &metricsReport{lineMetrics: *line}
	order, cells := inOrder(m.Classes(), labels), m.Confusion()
	for _, k := range order {
		c, label := m.Class(k), strconv.Itoa(k)
		if k < len(labels) {
			label = labels[k]
		}
		class := classReport{label, c.Came, c.Predicted, c.Precision, c.Recall, c.F1, nil}
		if auc, _ := m.ClassAUC(k); auc == auc {
			class.AUC = &auc
		}
		r.Classes = append(r.Classes, class)
		if cells != nil {
			row := make([]float64, len(order))
			for i, p := range order {
				row[i] = cells[k][p]
			}
			r.Confusion = append(r.Confusion, row)
		}
	}
	return r
}

// inOrder returns the numbers of classes in the order in which people look for their labels, which
// is not that in which data brought them. Two are the negative and the positive one.
func inOrder(classes int, labels []string) []int {
	order := make([]int, classes)
	for k := range order {
		order[k] = k
	}
	if classes > 2 && classes <= len(labels) {
		slices.SortStableFunc(order, func(a, b int) int {
			return format.CompareLabels(labels[a], labels[b])
		})
	}
	return order
}

// shownClasses returns the labels by the number of their class.
func shownClasses(info dataset.Info) []string {
	if len(info.Classes) > 0 {
		return info.Classes
	}
	return []string{orRest(info.Labels.Negative), info.Labels.Positive}
}
