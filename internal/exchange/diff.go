package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Difference is in what two models differ.
type Difference struct {
	Same    bool         `json:"same"` // to the byte, as files
	Fields  []Field      `json:"fields"`
	Tensors []TensorPair `json:"tensors"` // those that differ
	// Outputs compares weights, where both models have them for features of the same names; null
	// elsewhere.
	Outputs []OutputPair `json:"outputs"`
}

// Field is a setting, a counter or the like; JSON texts, "" where a model has none.
type Field struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// TensorPair is a tensor of both models.
type TensorPair struct {
	Name string `json:"name"`
	A    []int  `json:"a"` // shape; null where the model has none
	B    []int  `json:"b"`
	// Differ is how many elements do, and Largest by how much at most; null of other shapes or
	// types
	Differ  *int     `json:"differ"`
	Largest *float64 `json:"largest"`
}

// OutputPair compares the weights of an output, over rows as files have them.
type OutputPair struct {
	Class   string         `json:"class"`
	Bias    [2]float64     `json:"bias"`
	Cosine  *float64       `json:"cosine"`  // of the weights; null where one has none
	Largest float64        `json:"largest"` // |difference| of a weight
	Differ  int            `json:"differ"`  // weights that do
	Signs   int            `json:"signs"`   // weights of other signs
	Top     []WeightChange `json:"top"`     // the largest differences first
}

// WeightChange is a feature's weight in both.
type WeightChange struct {
	Feature string  `json:"feature"`
	A       float64 `json:"a"`
	B       float64 `json:"b"`
}

// Diff compares two models; of each output the top largest changes. Errors are those of package
// model. Cost: the files of both, in memory, and copies of the weights.
func Diff(a, b *model.Model, top int) (*Difference, error) {
	d := &Difference{Fields: []Field{}, Tensors: []TensorPair{}}
	var err error
	if d.Same, err = sameFiles(a, b); err != nil || d.Same {
		return d, err
	}
	x, y := map[string]string{}, map[string]string{}
	for _, of := range []struct {
		to map[string]string
		m  *model.Model
	}{{x, a}, {y, b}} {
		if err := fields(of.to, of.m); err != nil {
			return nil, err
		}
	}
	names := maps.Clone(x)
	maps.Copy(names, y)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x[name] != y[name] {
			d.Fields = append(d.Fields, Field{name, x[name], y[name]})
		}
	}
	for i := range a.State.Tensors {
		d.tensor(&a.State.Tensors[i], b.State.Tensor(a.State.Tensors[i].Name))
	}
	for i := range b.State.Tensors {
		if a.State.Tensor(b.State.Tensors[i].Name) == nil {
			d.tensor(nil, &b.State.Tensors[i])
		}
	}
	return d, d.outputs(a, b, top)
}

// sameFiles reports whether two models are the same file.
func sameFiles(a, b *model.Model) (bool, error) {
	var x, y bytes.Buffer
	if err := model.Encode(&x, a); err != nil {
		return false, err
	}
	if err := model.Encode(&y, b); err != nil {
		return false, err
	}
	return bytes.Equal(x.Bytes(), y.Bytes()), nil
}

// fields are all of a model but its tensors, as texts of JSON under names with dots.
func fields(to map[string]string, m *model.Model) error {
	text, err := json.Marshal(map[string]any{"learner": m.Learner, "precision": m.Precision,
		"config": m.Config, "seed": m.Seed, "prep": m.Prep, "presented": m.Presented,
		"mistakes": m.Mistakes, "counters": m.State.Counters, "scalars": m.State.Scalars,
		"pass": m.Pass, "position": m.Position, "rows": m.Rows,
		"predict_only": m.PredictOnly, "calibration": m.Calibration,
		"threshold": m.Threshold})
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		return err
	}
	return flatten(to, "", v)
}

// flatten takes the members of an object under names that begin with prefix.
func flatten(to map[string]string, prefix string, v map[string]any) error {
	for name, value := range v {
		if inner, ok := value.(map[string]any); ok {
			if err := flatten(to, prefix+name+".", inner); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		to[prefix+name] = string(text)
	}
	return nil
}

// tensor compares two tensors of a name, of which one may be nil.
func (d *Difference) tensor(a, b *learner.Tensor) {
	if a == nil || b == nil || !slices.Equal(a.Shape, b.Shape) ||
		reflect.TypeOf(a.Data) != reflect.TypeOf(b.Data) {
		p := TensorPair{}
		if a != nil {
			p.Name, p.A = a.Name, a.Shape
		}
		if b != nil {
			p.Name, p.B = b.Name, b.Shape
		}
		d.Tensors = append(d.Tensors, p)
		return
	}
	x, y := reflect.ValueOf(a.Data), reflect.ValueOf(b.Data)
	count, most := 0, 0.0
	for i := range x.Len() {
		if u, v := element(x.Index(i)), element(y.Index(i)); u != v {
			count++
			most = max(most, math.Abs(u-v))
		}
	}
	if count > 0 {
		d.Tensors = append(d.Tensors, TensorPair{a.Name, a.Shape, b.Shape, &count, &most})
	}
}

// element is a tensor's, as a float64.
func element(v reflect.Value) float64 {
	switch {
	case v.CanFloat():
		return v.Float()
	case v.CanInt():
		return float64(v.Int())
	}
	return float64(v.Uint())
}

// outputs compares weights, where there are any to compare.
func (d *Difference) outputs(a, b *model.Model, top int) error {
	f, err := weightsOf(a)
	if f == nil {
		return err
	}
	g, err := weightsOf(b)
	if g == nil || !slices.Equal(f.Classes, g.Classes) || len(f.Outputs) != len(g.Outputs) {
		return err
	}
	at, names := places(f, g)
	x, y := f.divided(), g.divided()
	for k := range x {
		class := f.Classes[k]
		if len(x) == 1 {
			class = f.Classes[1]
		}
		u, v := make([]float64, len(names)), make([]float64, len(names))
		copy(u, x[k].Weights)
		for j, w := range y[k].Weights {
			v[at[j]] = w
		}
		p := comparison(u, v, names, top)
		p.Class, p.Bias = class, [2]float64{x[k].Bias, y[k].Bias}
		d.Outputs = append(d.Outputs, p)
	}
	return nil
}

// weightsOf is a model's form, nil if it has no weights of features.
func weightsOf(m *model.Model) (*Form, error) {
	f, err := Open(m)
	if isForm(err) {
		return nil, nil
	}
	if err != nil || !f.Linear() {
		return nil, err
	}
	if plain, _, err := f.plain(""); err == nil {
		return plain, nil
	}
	return nil, nil
}

// places says where the features of g are among those of both, which begin with those of f: by
// name.
func places(f, g *Form) (at []int, names []string) {
	number := map[string]int{}
	for j := range f.Dim {
		names = append(names, f.Name(j))
		number[names[j]] = j
	}
	for j := range g.Dim {
		name := g.Name(j)
		k, ok := number[name]
		if !ok {
			k = len(names)
			names = append(names, name)
		}
		at = append(at, k)
	}
	return at, names
}

// comparison compares two weight vectors.
func comparison(u, v []float64, names []string, top int) (p OutputPair) {
	var uu, vv, uv float64
	p.Top = []WeightChange{}
	var changes []int
	for j := range u {
		uu, vv, uv = uu+u[j]*u[j], vv+v[j]*v[j], uv+u[j]*v[j]
		if u[j] == v[j] {
			continue
		}
		changes = append(changes, j)
		p.Largest = max(p.Largest, math.Abs(u[j]-v[j]))
		if u[j]*v[j] < 0 {
			p.Signs++
		}
	}
	p.Differ = len(changes)
	if uu > 0 && vv > 0 {
		cosine := uv / math.Sqrt(uu) / math.Sqrt(vv)
		p.Cosine = &cosine
	}
	slices.SortStableFunc(changes, func(i, j int) int {
		return cmp.Compare(math.Abs(u[j]-v[j]), math.Abs(u[i]-v[i]))
	})
	for _, j := range first(changes, top) {
		p.Top = append(p.Top, WeightChange{names[j], u[j], v[j]})
	}
	return p
}

// Shown is a field's values for people, "none" for none.
func (f Field) Shown() (a, b string) {
	show := func(text string) string {
		if text == "" {
			return "none"
		}
		if plain, err := strconv.Unquote(text); err == nil && plain != "" {
			return fmt.Sprint(plain)
		}
		return text
	}
	return show(f.A), show(f.B)
}
