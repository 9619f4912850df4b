package main

import (
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/bench"
)

// TestTimes: the times of the plain form and of the paper stand in every form of output where a row has them, and take no room where none has.
func TestTimes(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	timed := []bench.Row{
		{Experiment: "obpm/table2", Row: "a", Quantity: "updates", Runs: 2, Seconds: 0.5, NaiveSeconds: value(6), PaperSeconds: value(1140)},
		{Experiment: "obpm/table2", Row: "b", Quantity: "updates", Runs: 2, Seconds: 0.25},
	}
	write := func(rows []bench.Row) (terminal, markdown, csv string) {
		var b [3]strings.Builder
		for i, err := range []error{writeRows(&b[0], rows), writeMarkdown(&b[1], bench.Outcome{Rows: rows}), writeCSV(&b[2], rows)} {
			if err != nil {
				t.Fatalf("form %d: %v", i, err)
			}
		}
		return b[0].String(), b[1].String(), b[2].String()
	}
	terminal, markdown, csv := write(timed)
	for what, want := range map[string]string{terminal: "0.50       12     4560", markdown: "| 0.50 | 12 | 4560 |", csv: ",0.5,1140,6\n"} {
		if !strings.Contains(what, want) {
			t.Errorf("lacks %q:\n%s", want, what)
		}
	}
	if !strings.Contains(terminal, "an Alpha of 1 GHz") {
		t.Errorf("the paper's hardware is not named:\n%s", terminal)
	}
	terminal, markdown, csv = write(timed[1:])
	if strings.Contains(strings.ToLower(terminal), "x naive") || strings.Contains(markdown, "x paper") || !strings.Contains(csv, ",0.25,,\n") {
		t.Errorf("columns without values:\n%s\n%s\n%s", terminal, markdown, csv)
	}
}
