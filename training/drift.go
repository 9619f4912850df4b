package training

import (
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// Values of Options.OnDrift.
const (
	DriftReport = "report"
	DriftReset  = "reset"
)

// validDrift looks at Drift and OnDrift.
func (o *Options) validDrift() error {
	names := eval.DriftDetectors()
	switch {
	case o.Drift != "" && !slices.Contains(names, o.Drift):
		return badOption("", "{drift} %q: want %s", o.Drift, strings.Join(names, ", "))
	case o.OnDrift != "" && o.Drift == "":
		return badOption("Name what finds it: {drift} adwin.", "{on_drift} without {drift}")
	case o.OnDrift != "" && o.OnDrift != DriftReport && o.OnDrift != DriftReset:
		return badOption("", "{on_drift} %q: want %s or %s", o.OnDrift, DriftReport, DriftReset)
	case o.OnDrift == DriftReset && o.UntilConverged:
		return badOption("Leave one of them out.",
			"{on_drift} %s and {until_converged} exclude each other", DriftReset)
	}
	return nil
}

// watchDrift has the run's errors watched, and does at a drift what the options say. A learner that
// begins anew is as a new one with the settings and the seed that it has.
func (r *run[T]) watchDrift(o *eval.Options) (err error) {
	j := r.j
	if j.o.Drift == "" {
		return nil
	}
	if o.Drift, err = eval.NewDriftDetector(j.o.Drift); err != nil {
		return err
	}
	o.OnDrift = func(d eval.Drift) error {
		j.observer.Drifted(d)
		if j.o.OnDrift != DriftReset {
			return nil
		}
		fresh, err := learner.New[T](j.entry, j.config,
			learner.Env{Seed: j.seed, Pool: j.pool, Kept: r.room.kept})
		if err != nil {
			return err
		}
		o.Drift.Reset() // what the learner of before got wrong says nothing of this one
		return r.l.SetState(fresh.State())
	}
	return nil
}
