package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/halfspace-ml/halfspace/learner"
)

// standing is a model whose run was stopped.
func standing() *Model {
	m := sample()
	m.Position = &Position{Epoch: 2, Example: 5, Examples: 12, Data: 1<<53 - 1,
		Sources: []SourcePosition{{Name: "a.svm", Size: 100}, {Name: "kafka:t", At: "0@17"}},
		Options: json.RawMessage(`{"epochs":3}`), Counts: json.RawMessage(`{"at":5}`), Passed: 3,
		ClassCounts: []uint64{1, 4}, Tallies: []byte{1, 2, 3}}
	return m
}

func TestPosition(t *testing.T) {
	m := standing()
	data := encode(t, m)
	checkLayout(t, data, "2")
	got := must(Decode(data))(t)
	if d := cmp.Diff(m.Position, got.Position); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for name, change := range map[string]func(m *Model, p *Position){
		"predicts only":      func(m *Model, p *Position) { m.PredictOnly = true },
		"endless epochs":     func(m *Model, p *Position) { p.Epoch = math.MaxUint64 },
		"behind the pass":    func(m *Model, p *Position) { p.Example = 13 },
		"endless examples":   func(m *Model, p *Position) { p.Examples = MaxCount + 1 },
		"epoch of a stream":  func(m *Model, p *Position) { p.Examples = 0 },
		"long fingerprint":   func(m *Model, p *Position) { p.Data = 1 << 53 },
		"no sources":         func(m *Model, p *Position) { p.Sources = nil },
		"source of no name":  func(m *Model, p *Position) { p.Sources[1].Name = "" },
		"name that is none":  func(m *Model, p *Position) { p.Sources[1].Name = "caf\xe9" },
		"place that is none": func(m *Model, p *Position) { p.Sources[1].At = "\xff" },
		"long place": func(m *Model, p *Position) {
			p.Sources[1].At = strings.Repeat("x", 2<<20)
		},
		"endless file":   func(m *Model, p *Position) { p.Sources[0].Size = math.MaxUint64 },
		"endless passed": func(m *Model, p *Position) { p.Passed = math.MaxUint64 },
		"endless class":  func(m *Model, p *Position) { p.ClassCounts[1] = math.MaxUint64 },
		"options":        func(m *Model, p *Position) { p.Options = json.RawMessage(`3`) },
		"no counts":      func(m *Model, p *Position) { p.Counts = json.RawMessage(`[]`) },
	} {
		m := standing()
		change(m, m.Position)
		var b bytes.Buffer
		if err := Encode(&b, m); !errors.Is(err, ErrInvalid) || b.Len() != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, x := range map[string]learner.Tensor{
		"of two dimensions": {Shape: []int{1, 3}, Data: []uint8{1, 2, 3}},
		"empty":             {Shape: []int{0}, Data: []uint8{}},
		"of numbers":        {Shape: []int{1}, Data: []float64{1}},
		"of no position":    {Shape: []int{3}, Data: []uint8{1, 2, 3}},
	} {
		m := standing()
		if m.Position.Tallies = nil; name == "of no position" {
			m.Position = nil
		}
		x.Name = talliesTensor
		m.State.Tensors = append(m.State.Tensors, x)
		if _, err := Decode(encode(t, m)); !errors.Is(err, ErrDamaged) {
			t.Errorf("tallies %s: %v", name, err)
		}
	}
	for name, doc := range map[string]string{
		"key of another": `{"sources":[{"name":"a"}],"data":1,"options":{},"counts":{},"more":1}`,
		"source with more": `{"sources":[{"name":"a","offset":1}],"data":1,"options":{},` +
			`"counts":{}}`,
		"source in other letters": `{"sources":[{"Name":"a"}],"data":1,"options":{},"counts":{}}`,
		"nothing":                 `{}`,
		"text":                    `"0@17"`,
		"negative":                `{"sources":[{"name":"a"}],"data":-1,"options":{},"counts":{}}`,
	} {
		text := `{` + metaOf(`{"learner":"lms","precision":"f64","config":{},"position":`+doc+`}`,
			"2") + `}`
		if _, err := Decode(container(text, nil)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
