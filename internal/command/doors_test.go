package command

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/exchange"
	"github.com/halfspace-ml/halfspace/internal/serve"
	"github.com/halfspace-ml/halfspace/model"
)

// doorRow is a row as somebody has it: numbers and texts by name, of which some are missing.
type doorRow struct {
	numbers map[string]float64
	texts   map[string]string
	label   string
}

// doors are data sets, and models of them.
var doors = []struct {
	name    string
	format  string // csv, ndjson, svmlight
	texts   bool
	lacks   bool // numbers are missing
	classes []string
	options halfspace.Options
}{
	{"dense numbers", "csv", false, false, []string{"no", "yes"},
		halfspace.Options{Learner: "perceptron", Data: halfspace.Data{Scale: "std"}}},
	{"sparse, unit length", "svmlight", false, false, []string{"-1", "+1"},
		halfspace.Options{Learner: "pa", Data: halfspace.Data{Normalize: "unit", Bias: "append"}}},
	{"texts", "csv", true, false, []string{"no", "yes"}, halfspace.Options{Learner: "pa",
		Data: halfspace.Data{Normalize: "unit", Scale: "none"}}},
	{"texts, mean", "csv", true, true, []string{"no", "yes"}, halfspace.Options{Learner: "obpm",
		Data: halfspace.Data{Missing: "mean", Scale: "std"}}},
	{"texts, indicator", "csv", true, true, []string{"no", "yes"}, halfspace.Options{
		Learner: "arow", Data: halfspace.Data{Missing: "indicator", Bias: "append"}}},
	{"numbers, mean", "csv", false, true, []string{"1", "0"}, halfspace.Options{Learner: "adf",
		Data: halfspace.Data{Missing: "mean", Scale: "maxabs"}}},
	{"objects", "ndjson", true, true, []string{"no", "yes"}, halfspace.Options{Learner: "pa",
		Data: halfspace.Data{Normalize: "unit", Bias: "append"}}},
	{"objects, hashed", "ndjson", true, true, []string{"no", "yes"}, halfspace.Options{
		Learner: "pa", Data: halfspace.Data{HashBits: 18}}},
	{"three classes, calibrated", "csv", true, false, []string{"a", "b", "c"}, halfspace.Options{
		Learner: "mpa", Calibrate: "platt"}},
	{"calibrated", "svmlight", false, false, []string{"1", "2"}, halfspace.Options{
		Learner: "pa", Calibrate: "platt", Data: halfspace.Data{Scale: "std"}}},
	{"threshold", "csv", true, true, []string{"no", "yes"}, halfspace.Options{Learner: "pa",
		Threshold: "cost=1:3", Data: halfspace.Data{Missing: "mean"}}},
	{"kernel", "csv", true, false, []string{"no", "yes"}, halfspace.Options{Learner: "perceptron",
		Settings: map[string]any{"kernel": "rbf", "gamma": 0.3}}},
	{"random features", "svmlight", false, false, []string{"-1", "+1"}, halfspace.Options{
		Learner: "rff", Settings: map[string]any{"D": 40}, Data: halfspace.Data{Normalize: "unit"}}},
	{"three classes, double", "svmlight", false, false, []string{"7", "8", "9"}, halfspace.Options{
		Learner: "mpa", Precision: "f64"}},
}

// TestDoors: the same rows have the same label, score and probability by the command, by serve as
// JSON and as text, by a Row, and where another program can hold the model by that; missing values,
// texts that training never had, thresholds and calibrations included.
func TestDoors(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("halfspace") // this test, which testscript.Main knows by that name
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range doors {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			put := func(name, text string) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				return path
			}
			rows := make([]doorRow, 200)
			for i := range rows {
				rows[i] = newDoorRow(rng, c.format, c.texts, c.lacks, c.classes, false)
			}
			o := c.options
			o.Model = filepath.Join(dir, "model")
			m, err := halfspace.Train(t.Context(), o, put("train", doorText(c.format, rows)))
			if err != nil {
				t.Fatal(err)
			}
			rows = rows[:50]
			for i := range rows {
				rows[i] = newDoorRow(rng, c.format, c.texts, c.lacks, c.classes, true)
			}
			file := put("rows", doorText(c.format, rows))

			// of votes only a Model has them, and not what predicts alone
			none := &halfspace.Rows{Ptr: []int{0}, Dim: m.Features()}
			proba := m.Snapshot().ProbaRows(none, nil) == nil
			args := []string{"predict", "-q", "-i", o.Model, file}
			if proba {
				args = append(args, "--proba")
			}
			out, err := exec.Command(program, args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(want) != len(rows) {
				t.Fatalf("%d lines of %d rows", len(want), len(rows))
			}
			same := func(door string, i int, got string) {
				if t.Helper(); got != want[i] {
					t.Errorf("%s: %q, want %q of %v", door, got, want[i], rows[i])
				}
			}

			wrong := int64(0)
			for i, line := range want {
				if label, _, _ := strings.Cut(line, "\t"); label != rows[i].label {
					wrong++
				}
			}
			n, errors, err := m.Test(context.Background(), file)
			if err != nil || n != int64(len(rows)) || errors != wrong {
				t.Errorf("Test: %d errors of %d (%v), want %d", errors, n, err, wrong)
			}
			unknown := doorErrors(t, program, o.Model, file, wrong)
			snapshot, got := m.Snapshot(), 0
			for i, row := range rows {
				x := setDoorRow(m.Row(), c.format, row)
				same("Row", i, doorLine(t, m.Scores, m.Probas, m.Predicted, x, proba))
				same("Snapshot", i, doorLine(t, snapshot.Scores, snapshot.Probas,
					snapshot.Predicted, x, proba))
				got += x.Unknown()
			}
			if got != unknown && c.format != "svmlight" {
				t.Errorf("Row: %d texts not known, want %d", got, unknown)
			}

			doorServe(t, o.Model, c.format, rows, m.Classes(), proba, unknown, same)
			if c.format == "svmlight" {
				byLiblinear(t, o.Model, file, want)
			}
		})
	}
}

// doorErrors compares the errors that predict and evaluate count, and returns how many values the
// model knows nothing of.
func doorErrors(t *testing.T, program, path, file string, wrong int64) (unknown int) {
	for _, verb := range []string{"evaluate", "predict"} {
		var said struct {
			Examples int64   `json:"examples"`
			Error    float64 `json:"error"` // the share of wrong labels
			Unknown  int     `json:"unknown_non_zeros"`
		}
		out, err := exec.Command(program, verb, "--json", "-i", path, file).Output()
		if err == nil {
			err = json.Unmarshal(out, &said)
		}
		if want := float64(wrong) / float64(said.Examples); err != nil || said.Error != want {
			t.Errorf("%s --json: error %v (%v), want %v", verb, said.Error, err, want)
		}
		unknown = said.Unknown
	}
	return unknown
}

// doorServe asks a server, in all the media types that there are for the rows.
func doorServe(t *testing.T, path, format string, rows []doorRow, classes []string, proba bool,
	unknown int, same func(door string, i int, got string)) {
	s, err := serve.New(serve.Options{Models: []serve.Model{{Name: "m", Path: path}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	const array, lines, text = "application/json", "application/x-ndjson", "text/x-svmlight"
	bodies := map[string][]string{array: {}, lines: {}}
	for i, row := range rows {
		bodies[array] = append(bodies[array], doorJSON(format, row, i, false))
		bodies[lines] = append(bodies[lines], doorJSON(format, row, i+1, true))
		if format == "svmlight" {
			line, _ := strings.CutSuffix(doorText(format, rows[i:i+1]), "\n")
			bodies[text] = append(bodies[text], line)
		}
	}
	for media, list := range bodies {
		body, between := strings.Join(list, "\n"), "\n"
		if media == array {
			body, between = "["+strings.Join(list, ",\n")+"]", ",{"
		}
		a := s.Do(&serve.Request{Op: serve.Predict, Model: "m", Media: media, Body: []byte(body)},
			nil)
		said := strings.Split(strings.Trim(string(a.Body), "[]\n"), between)
		if a.Status != 200 || len(said) != len(rows) {
			t.Errorf("%s: %d %s", media, a.Status, a.Body)
			continue
		}
		for i, line := range said {
			same(media, i, servedLine(t, "{"+strings.TrimPrefix(line, "{"), classes, proba))
		}
	}
	if got := s.Stats()[0].Unknown; got != int64(unknown*len(bodies)) {
		t.Errorf("serve: %d values not known, want %d", got, unknown*len(bodies))
	}
}

var doorJobs = []string{"clerk", "smith", "pilot", "NA", "?", "", "a=b"}

// newDoorRow draws a row. A fresh one may have texts that training never had.
func newDoorRow(rng *rand.Rand, format string, texts, lacks bool, classes []string,
	fresh bool) doorRow {
	row := doorRow{numbers: map[string]float64{}, texts: map[string]string{}}
	sum := 0.0
	for j, name := range []string{"1", "2", "3", "4"} {
		if lacks && rng.IntN(5) == 0 || format == "svmlight" && rng.IntN(3) == 0 {
			continue
		}
		v := math.Round(rng.NormFloat64()*100)/50 + float64(j)
		row.numbers[name] = v
		sum += v - float64(j)
	}
	if format == "svmlight" && fresh && rng.IntN(5) == 0 {
		row.numbers["9"] = 1.5
	}
	if texts {
		k := rng.IntN(len(doorJobs))
		row.texts["job"] = doorJobs[k]
		if k == 2 {
			sum += 2
		}
		row.texts["city"] = []string{"Ulm", "Köln", " x"}[rng.IntN(3)]
		if fresh && rng.IntN(4) == 0 {
			row.texts["job"] = "astronaut"
		}
	}
	k := 0
	for k < len(classes)-1 && sum+rng.NormFloat64() > 2*float64(k) {
		k++
	}
	row.label = classes[k]
	return row
}

// doorNames are what numbers are called.
var doorNames = map[string]string{"1": "age", "2": "size", "3": "x y", "4": "w"}

// doorText are rows as files have them.
func doorText(format string, rows []doorRow) string {
	var b strings.Builder
	if format == "csv" {
		b.WriteString("age,job,size,label,x y,city,w\n")
		if rows[0].texts["city"] == "" {
			b.Reset()
			b.WriteString("age,size,label,x y,w\n")
		}
	}
	for i, row := range rows {
		switch format {
		case "svmlight":
			b.WriteString(row.label)
			for _, j := range []string{"1", "2", "3", "4", "9"} {
				if v, ok := row.numbers[j]; ok {
					fmt.Fprintf(&b, " %s:%v", j, v)
				}
			}
		case "ndjson":
			b.WriteString(doorJSON(format, row, i, true))
		default:
			number := func(j string) string {
				if v, ok := row.numbers[j]; ok {
					return fmt.Sprint(v)
				}
				return []string{"", "NA", "?"}[i%3]
			}
			fields := []string{number("1"), row.texts["job"], number("2"), row.label, number("3"),
				`"` + row.texts["city"] + `"`, number("4")}
			if row.texts["city"] == "" {
				fields = []string{fields[0], fields[2], fields[3], fields[4], fields[6]}
			}
			b.WriteString(strings.Join(fields, ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// doorJSON is a row as an object; what is missing has its key or not.
func doorJSON(format string, row doorRow, i int, labelled bool) string {
	object := map[string]any{}
	for _, j := range []string{"1", "2", "3", "4", "9"} {
		name := j
		if format != "svmlight" {
			name = doorNames[j]
		}
		if v, ok := row.numbers[j]; ok {
			object[name] = v
		} else if i%2 == 0 && format != "svmlight" && j != "9" {
			object[name] = nil
			if format == "csv" && i%4 == 0 {
				object[name] = []string{"", "?"}[i%8/4]
			}
		}
	}
	for name, text := range row.texts {
		if format != "csv" || name != "job" || text != "" && text != "?" && text != "NA" || i%3 > 0 {
			object[name] = text
		}
	}
	if labelled {
		object["label"] = row.label
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// setDoorRow sets a Row.
func setDoorRow(x *halfspace.Row, format string, row doorRow) *halfspace.Row {
	for name, v := range row.numbers {
		if j, _ := strconv.Atoi(name); format == "svmlight" {
			x.At(j, v)
		} else {
			x.Set(doorNames[name], v)
		}
	}
	for name, text := range row.texts {
		if format == "csv" {
			x.SetText(name, "smith") // the last counts
		}
		x.SetText(name, text)
	}
	return x
}

// doorLine is what predict prints of outputs.
func doorLine(t *testing.T, scores, probas func(*halfspace.Row, []float64) ([]float64, error),
	predicted func([]float64) (string, float64), x *halfspace.Row, proba bool) string {
	f, err := scores(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	label, score := predicted(f)
	line := label + "\t" + string(appendNumber(nil, score))
	if proba {
		p, err := probas(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		line += "\t" + string(appendNumber(nil, p[max(0, slices.Index(f, score))]))
	}
	return line
}

// servedLine is the same of an answer of serve.
func servedLine(t *testing.T, text string, classes []string, proba bool) string {
	var a struct {
		Label  string        `json:"label"`
		Score  json.Number   `json:"score"`
		Proba  json.Number   `json:"proba"`
		Probas []json.Number `json:"probas"`
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%v of %s", err, text)
	}
	number := func(n json.Number) string {
		v, err := n.Float64()
		if err != nil {
			t.Fatal(err)
		}
		return string(appendNumber(nil, v))
	}
	line := a.Label + "\t" + number(a.Score)
	if proba && len(a.Probas) > 0 {
		line += "\t" + number(a.Probas[slices.Index(classes, a.Label)])
	} else if proba {
		line += "\t" + number(a.Proba)
	}
	return line
}

// byLiblinear compares the labels of liblinear-predict, where it is there and can hold the model.
func byLiblinear(t *testing.T, path, file string, want []string) {
	program, err := exec.LookPath("liblinear-predict")
	if err != nil {
		return
	}
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := exchange.Export(&b, "liblinear", m); err != nil {
		return // random features
	}
	if err := os.WriteFile(path+".liblinear", []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, file, path+".liblinear", path+".out")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := os.ReadFile(path + ".out")
	if err != nil {
		t.Fatal(err)
	}
	for i, label := range strings.Fields(string(text)) {
		if w, _, _ := strings.Cut(want[i], "\t"); label != strings.TrimPrefix(w, "+") {
			t.Errorf("liblinear-predict: row %d is %s, want %s", i, label, w)
		}
	}
}
