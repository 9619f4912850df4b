package training

import (
	"strings"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/model"
)

// Settle takes from the examples' format what Bias, Scale and Normalize left to it. The run's
// options have it from then on, so that a run that goes on with this one prepares examples alike.
func (j *Job) Settle(info dataset.Info) {
	was := j.data
	j.data = was.For(info.Kind)
	for _, f := range []struct {
		name, was, is string
		own           *string
	}{
		{"scale", was.Scaling, j.data.Scaling, &j.o.Scale},
		{"bias", was.Bias, j.data.Bias, &j.o.Bias},
		{"normalize", was.Normalize, j.data.Normalize, &j.o.Normalize},
	} {
		if f.was != "auto" {
			continue
		}
		if *f.own = f.is; f.is == "none" {
			*f.own = "" // where nothing was left to it, too
			continue
		}
		j.auto = append(j.auto, f.name)
	}
}

// sameClasses refuses labels that are named again and are not the model's.
func (o *Options) sameClasses(p *model.Prep) error {
	if len(o.Classes) > 0 && !format.SameLabels(p.Classes, o.Classes) {
		labels := p.Classes
		if len(labels) == 0 {
			labels = []string{p.Shown().Negative, p.Shown().Positive}
		}
		return badOption("Leave it out: the model brings its labels.",
			"{classes} %s contradicts the model, which has %s", strings.Join(o.Classes, ","),
			strings.Join(labels, ","))
	}
	if o.Positive != "" && len(p.Classes) > 0 {
		return badOption("Leave it out: the model brings its labels.",
			"{positive} %s contradicts the model, which tells classes: %s", o.Positive,
			strings.Join(p.Classes, ","))
	}
	return nil
}

// AsTrained makes options prepare examples as the model's training set was.
func AsTrained(o *dataset.Options, m *model.Model) {
	p := &m.Prep
	if len(p.Classes) > 0 {
		o.Classes = p.Classes
	} else {
		o.AnyClasses = false
		labels := p.Labels.OrDefault()
		o.Labels = &dataset.LabelMap{Negative: labels.Negative, Positive: labels.Positive}
	}
	o.Bias, o.BiasValue, o.Normalize = p.Bias, p.BiasValue, p.Normalize
	o.Trained, o.Dim = p.Format, p.Dim
	o.Scaling, o.Scaled, o.Missing = "", p.Scaling, p.Missing
	o.Names, o.HashBits, o.Interactions = p.Names, p.HashBits, p.Interactions
	o.FixedNames, o.LabelKey = true, p.LabelKey
	if p.IDKey != "" {
		o.IDCol = p.IDKey
	}
	f := format.Lookup(p.Format) // nil, which has neither, if the model names none
	if f.HasIndices() {
		o.Base = &p.IndexBase // IndexBase says how other files count
	}
	if p.Normalize == "max" {
		o.Scale = p.Scale
	}
	if f.HasColumns() { // the label's column is one more than the features
		o.Columns, o.Header, o.Label = p.Dim+1, p.Columns, p.LabelCol
		if o.WeightCol == "" {
			o.WeightCol = p.WeightCol
		}
		o.TextCols, o.NumberCols, o.IgnoreCols = nil, nil, nil
		if o.Kinds = p.Kinds; o.Kinds != "" {
			o.Columns = len(o.Kinds) + 1
		}
	}
}

// alike returns options that prepare other examples as the training set was; info is the latter's.
func alike(o dataset.Options, info dataset.Info) dataset.Options {
	o.Rows = dataset.RowShard{}
	o.AnyClasses = true // errors, and no more, where other labels come
	if o.Positive = ""; info.Classes != nil {
		o.Classes = info.Classes
	} else {
		o.Labels = &info.Labels
	}
	if format.Lookup(info.Kind).HasIndices() {
		o.IndexBase, o.Base = "auto", &info.IndexBase
	}
	if o.Normalize == "max" {
		o.Scale = info.Scale
	}
	o.Format, o.Columns, o.Header = "auto", info.Columns, info.Header
	if o.Label = info.LabelCol; o.Label > 0 {
		o.LabelCol = ""
	}
	o.LabelKey, o.IDCol, o.LabelsLater = info.LabelKey, info.IDKey, false
	o.WeightOptional = true // what is only scored needs none
	o.Kinds = info.Kinds
	o.TextCols, o.NumberCols, o.IgnoreCols = nil, nil, nil
	o.Scaling, o.Scaled = "", info.Scaling
	o.Trained = info.Kind
	o.Names, o.FixedNames = info.Names, true
	known := info.Dim
	if o.Bias == "append" {
		known-- // Options.Dim counts the data's own features
	}
	o.Dim = max(o.Dim, known)
	return o
}

// prepOf returns, for a model, how its examples were prepared. before is the model that was gone on
// from, or nil.
func prepOf(o dataset.Options, info dataset.Info, before *model.Model) model.Prep {
	p := model.Prep{
		Classes: info.Classes,
		Labels:  model.Labels{Negative: info.Labels.Negative, Positive: info.Labels.Positive},
		Bias:    o.Bias, Normalize: o.Normalize, Scale: info.Scale, Format: info.Kind,
		IndexBase: info.IndexBase, Dim: info.Dim, Columns: info.Header, LabelCol: info.LabelCol,
		LabelKey: info.LabelKey, IDKey: info.IDKey,
		Scaling: info.Scaling, Kinds: info.Kinds, Missing: o.Missing,
		Names: info.Names, HashBits: o.HashBits, Interactions: o.Interactions,
	}
	if format.Lookup(info.Kind).HasColumns() {
		p.WeightCol = info.WeightCol
	}
	if p.Labels.Negative == "" && len(info.Rest) == 1 && utf8.ValidString(info.Rest[0]) {
		p.Rest = info.Rest[0]
	}
	if o.Bias == "append" {
		p.Dim--
		if o.BiasValue != 1 {
			p.BiasValue = o.BiasValue
		}
	}
	if before != nil {
		if len(info.Rest) == 0 {
			p.Rest = before.Prep.Rest
		} else if p.Rest != before.Prep.Rest {
			p.Rest = "" // there are several
		}
		if p.Dim = max(p.Dim, before.Prep.Dim); format.Lookup(before.Prep.Format).HasColumns() {
			p.Kinds = before.Prep.Kinds
			if p.Kinds == "" {
				p.Dim = before.Prep.Dim // its columns, whatever AnyFormat brought
			}
		}
		p.Format, p.Columns = before.Prep.Format, before.Prep.Columns
		p.LabelKey, p.IDKey = before.Prep.LabelKey, before.Prep.IDKey
		p.LabelCol, p.IndexBase = before.Prep.LabelCol, before.Prep.IndexBase
	}
	return p
}
