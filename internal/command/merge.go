package command

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Merged is what merge prints with --json.
type Merged struct {
	Schema    string                   `json:"schema"`
	Learner   string                   `json:"learner"`
	Config    learner.Config           `json:"config"`
	Precision string                   `json:"precision"`
	Merged    []string                 `json:"merged"` // the files
	Features  int                      `json:"features"`
	Presented uint64                   `json:"presented"` // examples, over all
	Updates   int64                    `json:"updates"`
	Posterior *learner.PosteriorReport `json:"posterior"` // null of parts
	// of parts: of the whole ensemble in the first epoch, each before the example was learned
	Examples    int64   `json:"examples,omitempty"`
	Errors      int64   `json:"errors,omitempty"`
	Progressive float64 `json:"progressive_error,omitempty"`
	Model       string  `json:"model"`
	SHA256      string  `json:"model_sha256"`
}

func newMergeCmd() *cobra.Command {
	var (
		to            string
		parts         joiner
		asJSON, quiet bool
	)
	cmd := &cobra.Command{
		Use:   "merge [flags] -m FILE MODEL MODEL...",
		Short: "Join models: posteriors of different examples, or the parts of an ensemble",
		Long: `Write the model whose posterior is that of all the models' examples, as if these had been
learned by one.

The Gaussians are multiplied by their natural parameters, in which the prior counts once; points
that a model still keeps (wep, vvm) are learned like examples, in the order of the models. Where two
models saw features in common this is an approximation, as each of them is.

The models need the same learner, settings, precision, labels and preparation of examples. Learners
that can be merged: ` + strings.Join(mergeable(), ", ") + `, these over random features (--rff) of one
seed, and models of several classes of these, class by class.

With --trace the models are parts of one ensemble (train --shard), each of which has learned all
examples. They become the model that one machine would have learned, to the byte, with its
progressive error. That takes one more pass over the examples for each that was learned, named by
--data, as fast as they are read.`,
		Example: `  halfspace train -a vvm -m first.model first.svm
  halfspace train -a vvm -m second.model second.svm
  halfspace merge -m both.model first.model second.model`,
		Annotations: args(useRead),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 && len(parts.traces) == 0 {
				return usage("See: halfspace merge --help.", "%s: want two or more",
					plural(len(args), "model"))
			}
			if to == "" {
				return usage("Name the file with -m FILE.", "no place for the merged model")
			}
			var r *Merged
			var err error
			if len(parts.traces) > 0 {
				r, err = parts.join(cmd, to, args)
			} else {
				r, err = mergeModels(to, args)
			}
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(stdout(cmd), r)
			case quiet:
				return nil
			}
			return twoColumns(stdout(cmd), r.rows())
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&to, "model", "m", "", "write the merged model to `FILE`, which appears whole "+
		"or not at all")
	names(fs, useModel, "model")
	parts.flags(cmd)
	fs.BoolVar(&asJSON, "json", false, "print one JSON document instead of text")
	fs.BoolVarP(&quiet, "quiet", "q", false, "no summary")
	return cmd
}

// rows are the lines of the summary.
func (r *Merged) rows() [][2]string {
	rows := [][2]string{
		{"learner", r.Learner + " " + describeConfig(r.Learner, r.Config) + ", " + r.Precision},
		{"merged", plural(len(r.Merged), "model")},
		{"examples", fmt.Sprintf("%d presented, %d features", r.Presented, r.Features)},
		{"updates", fmt.Sprint(r.Updates)},
	}
	if r.Posterior == nil {
		rows = append(rows, [2]string{"progressive", r.describeProgress()})
	} else if met := describePosterior(r.Posterior); met != "" {
		rows = append(rows, [2]string{"posterior", met})
	}
	return append(rows, [2]string{"model", r.Model + " sha256 " + r.SHA256})
}

// mergeable returns the names of the learners with a posterior that can be merged.
func mergeable() (names []string) {
	for _, name := range learner.Names() {
		if e, err := learner.Lookup(name); err == nil {
			if l, err := e.New64(e.Config(), learner.Env{}); err == nil &&
				learner.PosteriorOf(l) != nil {
				names = append(names, name)
			}
		}
	}
	return names
}

func mergeModels(to string, names []string) (*Merged, error) {
	models := make([]*model.Model, len(names))
	for i, name := range names {
		m, err := loadModel(name)
		if err != nil {
			return nil, err
		}
		_, c, err := m.Settings()
		if err != nil {
			return nil, modelError(name, err)
		}
		if c.Traits().Part != nil {
			return nil, &fail{codeModel, fmt.Errorf("%s: a part of an ensemble", name),
				"Name the parts' traces with --trace, and the examples with --data."}
		}
		models[i] = m
		if what, next := unlike(models[0], m); what != "" {
			return nil, &fail{codeModel, fmt.Errorf("%s and %s: %s", names[0], name, what), next}
		}
	}
	if models[0].Precision == "f64" {
		return mergeInto[float64](to, names, models)
	}
	return mergeInto[float32](to, names, models)
}

// unlike says why two models can't be merged, and what to do; "" if they can.
func unlike(a, b *model.Model) (what, next string) {
	const anew = "Train both alike: %s."
	p, q := &a.Prep, &b.Prep
	named := format.Lookup(p.Format).HasColumns()
	differ := func(name string, x, y any) (string, string) {
		return fmt.Sprintf("%s: %v and %v", name, x, y), fmt.Sprintf(anew, "with the same --"+name)
	}
	switch {
	case a.Learner != b.Learner:
		return differ("learner", a.Learner, b.Learner)
	case a.Precision != b.Precision:
		return differ("precision", a.Precision, b.Precision)
	case !bytes.Equal(a.Config, b.Config):
		return fmt.Sprintf("other settings of %s: %s and %s", a.Learner, a.Config, b.Config),
			fmt.Sprintf(anew, "with the same settings")
	case p.Labels != q.Labels:
		return fmt.Sprintf("labels %q, %q and %q, %q", p.Labels.Negative, p.Labels.Positive,
				q.Labels.Negative, q.Labels.Positive), fmt.Sprintf(anew,
				"name the positive label with --positive")
	case !slices.Equal(p.Classes, q.Classes):
		return fmt.Sprintf("classes %s and %s", strings.Join(p.Classes, ","),
				strings.Join(q.Classes, ",")), fmt.Sprintf(anew, "name them, in "+
				"one order, with --classes")
	case p.Bias != q.Bias || p.BiasValue != q.BiasValue:
		return differ("bias", p.Bias, q.Bias)
	case p.ScaledBy() != q.ScaledBy():
		return differ("scale", p.ScaledBy(), q.ScaledBy())
	case p.Scaling != nil && !slices.Equal(p.Scaling.Known, q.Scaling.Known):
		return "features scaled by what each has seen", fmt.Sprintf(anew, "on examples of one "+
			"scale: --scale goes by each model's own")
	case p.Normalize != q.Normalize:
		return differ("normalize", p.Normalize, q.Normalize)
	case p.Scale != q.Scale:
		return fmt.Sprintf("examples divided by %v and %v", p.Scale, q.Scale), fmt.Sprintf(anew,
			"--normalize max divides by the longest of its own examples; scale them before, or "+
				"use unit")
	case p.IndexBase != q.IndexBase:
		return differ("index-base", p.IndexBase, q.IndexBase)
	case !slices.Equal(p.Names, q.Names) || p.HashBits != q.HashBits ||
		!slices.Equal(p.Interactions, q.Interactions):
		return "other names of features", fmt.Sprintf(anew, "the second on from the first (train "+
			"-i), or with the same --hash-bits")
	case named != format.Lookup(q.Format).HasColumns(), named && p.Dim != q.Dim:
		return fmt.Sprintf("%d features of %s and %d of %s", p.Dim, p.Format, q.Dim, q.Format),
			fmt.Sprintf(anew, "on files of the same columns")
	case named:
		if what := otherColumns(p, q); what != "" {
			return what, fmt.Sprintf(anew, "on files of the same columns, or the second on from "+
				"the first (train -i), which matches them by name")
		}
	}
	return "", ""
}

// otherColumns says how the features of two csv models with as many differ; "" if they are the
// same, wherever the label stood among them.
func otherColumns(p, q *model.Prep) string {
	features := func(p *model.Prep) []string {
		if at := p.LabelCol - 1; at >= 0 && at < len(p.Columns) {
			return slices.Delete(slices.Clone(p.Columns), at, at+1)
		}
		return p.Columns
	}
	a, b := features(p), features(q)
	switch {
	case len(a) == 0 && len(b) == 0:
		if p.LabelCol != q.LabelCol {
			return fmt.Sprintf("columns without names, the label in column %d and %d", p.LabelCol,
				q.LabelCol)
		}
	case len(a) == 0 || len(b) == 0:
		return "columns with names and without"
	default:
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				return fmt.Sprintf("feature %d is the column %q and %q", i+1, a[i], b[i])
			}
		}
	}
	return ""
}

// mergeInto merges in the precision of T.
func mergeInto[T engine.Float](to string, names []string, models []*model.Model) (*Merged,
	error) {
	pool := engine.NewPool(1)
	defer pool.Close()
	first := models[0]
	_, config, err := first.Settings()
	if err != nil {
		return nil, modelError(names[0], err)
	}
	l, err := model.Restore[T](first, pool)
	if err != nil {
		return nil, modelError(names[0], err)
	}
	p := learner.PosteriorOf(l)
	if p == nil {
		return nil, &fail{codeModel, fmt.Errorf("%s: %s has no posterior to merge", names[0],
			first.Learner), "Learners that can be merged: " + strings.Join(mergeable(), ", ") + "."}
	}
	presented, mistakes, prep := first.Presented, first.Mistakes, first.Prep
	for i, m := range models[1:] {
		name := names[i+1]
		o, err := model.Restore[T](m, pool)
		if err != nil {
			return nil, modelError(name, err)
		}
		if err := p.MergePosterior(o); err != nil {
			return nil, &fail{codeModel, fmt.Errorf("%s and %s: %w", names[0], name, err),
				"Nothing was written. Train both alike, or one on all examples."}
		}
		presented = min(presented+m.Presented, model.MaxCount)
		mistakes = min(mistakes+m.Mistakes, model.MaxCount)
		prep.Dim = max(prep.Dim, m.Prep.Dim)
		if m.Prep.Rest != prep.Rest {
			prep.Rest = ""
		}
	}
	m, err := model.Capture(first.Learner, config, first.Seed, l)
	if err != nil {
		return nil, saveError(to, "nothing was saved", err)
	}
	m.Prep, m.Presented, m.Mistakes = prep, presented, mistakes
	sum, err := model.Save(to, m)
	if err != nil {
		return nil, saveError(to, "nothing was saved", err)
	}
	report := p.Report()
	return &Merged{Schema: schema, Learner: first.Learner, Config: config,
		Precision: first.Precision, Merged: names, Features: prep.Dim, Presented: presented,
		Updates: l.Updates(), Posterior: &report, Model: to, SHA256: sum}, nil
}

// describePosterior describes what a posterior met; it is empty where there is nothing to report.
func describePosterior(p *learner.PosteriorReport) string {
	var parts []string
	if p.Sweeps > 0 {
		parts = append(parts, plural(int(p.Sweeps), "sweep"))
	}
	for _, c := range []struct {
		n          int64
		what, fate string
	}{{p.Unconverged, "run", "of EP not converged"}, {p.Merged, "pair", "merged"}, {p.Passed,
		"example", "passed over"}, {p.Lost, "point", "dropped"}} {
		if c.n > 0 {
			parts = append(parts, plural(int(c.n), c.what)+" "+c.fate)
		}
	}
	if p.LabelNoise > 0 {
		parts = append(parts, fmt.Sprintf("label noise %.4g by estimate", p.LabelNoise))
	}
	return strings.Join(parts, ", ")
}
