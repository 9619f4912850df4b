package training

import (
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// Values of Options.OnDrift.
const (
	DriftReport = "report"
	DriftReset  = "reset"
	DriftForget = "forget"
)

// DriftPolicies returns the values of Options.OnDrift.
func DriftPolicies() []string {
	return []string{DriftReport, DriftReset, DriftForget}
}

// DefaultDriftKeep is what Options.DriftKeep of 0 stands for: docs/drift.md has the measurements.
const DefaultDriftKeep = 0.03

// validDrift looks at Drift and OnDrift.
func (o *Options) validDrift() error {
	names := eval.DriftDetectors()
	switch {
	case o.Drift != "" && !slices.Contains(names, o.Drift):
		return badOption("", "{drift} %q: want %s", o.Drift, strings.Join(names, ", "))
	case o.OnDrift != "" && o.Drift == "":
		return badOption("Name what finds it: {drift} adwin.", "{on_drift} without {drift}")
	case o.OnDrift != "" && !slices.Contains(DriftPolicies(), o.OnDrift):
		return badOption("", "{on_drift} %q: want %s", o.OnDrift,
			strings.Join(DriftPolicies(), ", "))
	case o.changesOnDrift() && o.UntilConverged:
		return badOption("Leave one of them out.",
			"{on_drift} %s and {until_converged} exclude each other", o.OnDrift)
	case !(o.DriftKeep >= 0 && o.DriftKeep <= 1):
		return badOption("", "{drift_keep} %v: not a share, 0 to 1", o.DriftKeep)
	case o.DriftKeep != 0 && o.OnDrift != DriftForget:
		return badOption("", "{drift_keep} is for {on_drift} %s", DriftForget)
	}
	return nil
}

// changesOnDrift reports whether the learner is another one where drift is found.
func (o *Options) changesOnDrift() bool { return o.OnDrift != "" && o.OnDrift != DriftReport }

// suitsDrift refuses what a learner of that name can't do where drift is found.
func (o *Options) suitsDrift(name string, t learner.Traits) error {
	if o.OnDrift == DriftForget && !t.Forgets {
		return badOption("Take {on_drift} reset, or a learner that can: "+
			those(func(t learner.Traits) bool { return t.Forgets })+".",
			"{on_drift} %s: what %s has learned is more than weights that can be scaled, or than "+
				"a covariance", DriftForget, name)
	}
	return nil
}

// watchDrift monitors the run's errors and applies Options.OnDrift. A learner that is reset is as a
// new one with the settings and the seed that it has.
func (r *run[T]) watchDrift(o *eval.Options) {
	j := r.j
	o.Drift = j.o.Drift
	o.OnDrift = func(d eval.Drift) (changed bool, err error) {
		j.observer.Drifted(d)
		switch j.o.OnDrift {
		case DriftForget:
			keep := j.o.DriftKeep
			if keep == 0 {
				keep = DefaultDriftKeep
			}
			return true, learner.ForgetterOf(r.l).Forget(keep)
		case DriftReset:
			fresh, err := learner.New[T](j.entry, j.config,
				learner.Env{Seed: j.seed, Pool: j.pool, Kept: r.room.kept})
			if err != nil {
				return false, err
			}
			return true, r.l.SetState(fresh.State())
		}
		return false, nil
	}
}
