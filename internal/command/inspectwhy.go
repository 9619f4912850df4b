package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/exchange"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/model"
)

// explainRow explains the scores of a row, or of an example of a file.
func explainRow(ctx context.Context, name string, m *model.Model, row string, top int) (
	*exchange.Explanation, error) {
	if m.Precision == "f64" {
		return explainRowOf[float64](ctx, name, m, row, top)
	}
	return explainRowOf[float32](ctx, name, m, row, top)
}

// explainError is dataError for a row that is to be explained: there is none to go on to.
func explainError(err error) error {
	if errors.Is(err, dataset.ErrBadRow) {
		return &fail{CodeData, err, "Nothing was explained. Write the row as those are that the " +
			"model learned, or name FILE:N."}
	}
	return dataError(err, "nothing was explained")
}

func explainRowOf[T engine.Float](ctx context.Context, name string, m *model.Model, row string,
	top int) (*exchange.Explanation, error) {
	o := (&training.Data{}).Reading()
	training.AsTrained(&o, m)
	o.LabelsOptional = true
	var (
		s     *dataset.Stream[T]
		err   error
		place = 1
	)
	file, n, ok := exampleOf(row)
	if ok {
		if file, err = findInput(file); err != nil {
			return nil, err
		}
		place = n
		s, err = dataset.Open[T](ctx, []string{file}, o)
	} else {
		o.Format = m.Prep.Format
		s, err = dataset.OpenReader[T](ctx, "--why", strings.NewReader(row+"\n"), o)
	}
	if err != nil {
		return nil, explainError(err)
	}
	defer s.Close()
	for seen := 0; ; {
		b, err := s.Next()
		if err == io.EOF {
			return nil, &fail{CodeData, fmt.Errorf("%s: %s, no example %d", row,
				Plural(seen, "example"), place), "Examples count from 1."}
		}
		if err != nil {
			return nil, explainError(err)
		}
		if seen += b.Len(); seen < place {
			continue
		}
		x, err := exchange.Explain(m, b, b.Len()-1-(seen-place), top)
		if err != nil {
			return nil, modelError(name, err)
		}
		return x, nil
	}
}

// exampleOf cuts FILE:N, where there is such a file.
func exampleOf(row string) (file string, n int, ok bool) {
	at := strings.LastIndexByte(row, ':')
	if at < 1 {
		return "", 0, false
	}
	n, err := strconv.Atoi(row[at+1:])
	if err != nil || n < 1 || strings.ContainsAny(row, "\n") {
		return "", 0, false
	}
	if _, err := findInput(row[:at]); err != nil {
		return "", 0, false
	}
	return row[:at], n, true
}

// printWhy prints how scores came about.
func printWhy(w io.Writer, x *exchange.Explanation) error {
	label := shownLabel(x.Label)
	if x.Label == "" {
		label = abstention
	}
	if err := (summaryRows{{"label", label}}).write(w); err != nil {
		return err
	}
	for _, o := range x.Outputs {
		head := fmt.Sprintf("\n%s: score %.6g", shownLabel(o.Class), o.Score)
		if o.Margin != nil {
			head += fmt.Sprintf(", margin %.6g", *o.Margin)
		}
		if _, err := fmt.Fprintln(w, head); err != nil {
			return err
		}
		var rows summaryRows
		if o.Bias != nil {
			rows.add("  bias", "%s", signed(*o.Bias))
		}
		for _, p := range o.Parts {
			how := fmt.Sprintf("  of value %.6g", p.Value)
			if p.Weight != nil {
				how = fmt.Sprintf("  %.6g times %.6g", *p.Weight, p.Value)
			}
			rows.add("  "+shownLabel(p.Feature), "%s%s", signed(p.Adds), how)
		}
		if err := rows.write(w); err != nil {
			return err
		}
		rows = nil
		for _, p := range o.Examples {
			rows.add("  "+signed(p.Adds), "%.6g times %.6g  %s", p.Coef, p.Kernel, p.Row)
		}
		if len(rows) > 0 {
			if _, err := fmt.Fprintln(w, "kept examples"); err != nil {
				return err
			}
		}
		if err := rows.write(w); err != nil {
			return err
		}
	}
	return nil
}
