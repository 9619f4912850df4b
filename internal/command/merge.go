package command

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// mergeFlags say what becomes of models that saw different examples.
type mergeFlags struct {
	to, prior string
	mix       choice
}

func newMergeCmd() *cobra.Command {
	var (
		m      mergeFlags
		parts  joiner
		output printFlags
	)
	cmd := &cobra.Command{
		Use:   "merge [flags] -m FILE MODEL MODEL...",
		Short: "Merge posteriors, averaged weights, or parts of an ensemble",
		Long:  helpText("merge", "{LEARNERS}", strings.Join(shard.Mergeable(), ", ")),
		Example: `  halfspace train -a vvm -m first.model first.svm
  halfspace train -a vvm -m second.model second.svm
  halfspace merge -m both.model first.model second.model
  halfspace train -a vvm -i both.model -m third.model third.svm
  halfspace train -a vvm -i both.model -m fourth.model fourth.svm
  halfspace merge -m all.model --prior both.model third.model fourth.model`,
		Annotations: args(UseRead),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(parts.traces) == 0 && fewModels(args) {
				return Usage("See: halfspace merge --help.", "%s: want two or more",
					Plural(len(args), "model"))
			}
			if m.to == "" {
				return Usage("Name the file with -m FILE.", "no place for the merged model")
			}
			var r *shard.Report
			var err error
			if len(parts.traces) > 0 {
				r, err = parts.join(cmd, m.to, args)
			} else {
				r, err = m.merge(cmd, args)
			}
			if err != nil {
				return err
			}
			return output.print(cmd, r, mergedRows(r).write)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&m.to, "model", "m", "", "write the merged model to `FILE`, which appears whole "+
		"or not at all")
	fs.StringVar(&m.prior, "prior", "", "the model in `FILE`, that all of them went on from "+
		"(train -i), counts once")
	choose(fs, &m.mix, "mix", "average weights, not posteriors: uniform, or by the mistakes "+
		"of each"+who(func(t learner.Traits) bool { return t.Mixes }), "none", shard.MixUniform,
		shard.MixMistakes)
	Names(fs, UseModel, "model")
	Names(fs, UseRead, "prior")
	parts.flags(cmd)
	output.flags(fs)
	return cmd
}

// fewModels reports whether there is nothing to merge: no model, or one that is no row shard.
func fewModels(names []string) bool {
	if len(names) != 1 {
		return len(names) == 0
	}
	m, err := model.Load(names[0])
	return err == nil && m.Rows == nil
}

// mergedRows are the lines of the summary.
func mergedRows(r *shard.Report) (rows summaryRows) {
	rows.add("learner", "%s %s, %s", r.Learner, describeConfig(r.Learner, r.Config), r.Precision)
	if r.Shards > 0 {
		rows.add("merged", "%s", Plural(r.Shards, "row shard"))
	} else {
		rows.add("merged", "%s", Plural(len(r.Merged), "model"))
	}
	rows.add("examples", "%d presented, %d features", r.Presented, r.Features)
	rows.add("updates", "%d", r.Updates)
	if r.Posterior != nil {
		if met := describePosterior(r.Posterior); met != "" {
			rows.add("posterior", "%s", met)
		}
	} else if r.Examples > 0 { // parts: of the whole
		rows.add("progressive", "%.3f %% error in the first epoch (%d of %d)", 100*r.Progressive,
			r.Errors, r.Examples)
	}
	rows.add("model", "%s sha256 %s", r.Model, r.SHA256)
	return rows
}

// merge merges what the flags name.
func (m *mergeFlags) merge(cmd *cobra.Command, names []string) (*shard.Report, error) {
	mix := m.mix.value
	if mix == "none" {
		mix = ""
	}
	done, err := shard.Merge(cmd.Context(), shard.Merging{Models: names, Prior: m.prior,
		Mix: mix, Model: m.to, Machine: machine.This(0)})
	if err != nil {
		return nil, mergeError(cmd, m.to, err)
	}
	return done.Report(done.Files, m.to), nil
}

// trainFlags are what train, which made the models, calls fields.
func trainFlags(field string) string {
	if field == "from" {
		return "train -i"
	}
	return "--" + strings.ReplaceAll(field, "_", "-")
}

// mergeError gives an error of shard.Merge its exit code and next step.
func mergeError(cmd *cobra.Command, to string, err error) error {
	if cmd.Context().Err() != nil {
		return &fail{CodeStopped, ErrStopped, "Nothing was saved."}
	}
	e, path := (*training.Error)(nil), (*fs.PathError)(nil)
	switch {
	case errors.As(err, &e) && e.Kind == training.ErrSave:
		return saveError(to, "nothing was saved", e.Err)
	case errors.As(err, &e):
		name := trainFlags
		text := strings.TrimSuffix(e.Text(name), ": "+shard.ErrForeign.Error())
		next := e.Next(name)
		if errors.Is(err, learner.ErrPrior) && next == "" {
			next = "Learners that can be merged: " + strings.Join(shard.Mergeable(), ", ") + "."
		}
		return &fail{CodeModel, &explained{text, e}, next}
	case errors.As(err, &path):
		return loadError(path.Path, err)
	}
	return modelError("", err)
}

// describePosterior describes what a posterior met; it is empty where there is nothing to report.
func describePosterior(p *learner.PosteriorReport) string {
	var parts []string
	if p.Sweeps > 0 {
		parts = append(parts, Plural(int(p.Sweeps), "sweep"))
	}
	for _, c := range []struct {
		n          int64
		what, fate string
	}{{p.Unconverged, "run", "of EP not converged"}, {p.Merged, "pair", "merged"}, {p.Passed,
		"example", "passed over"}, {p.Lost, "point", "dropped"}} {
		if c.n > 0 {
			parts = append(parts, Plural(int(c.n), c.what)+" "+c.fate)
		}
	}
	if p.LabelNoise > 0 {
		parts = append(parts, fmt.Sprintf("label noise %.4g by estimate", p.LabelNoise))
	}
	return strings.Join(parts, ", ")
}
