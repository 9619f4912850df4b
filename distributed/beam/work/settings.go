package work

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/training"
)

// Files of a part that tries settings.
const (
	logOfPart = "log"
	triedFile = "tried.json"
)

// settings deals settings that are compared out: each part reads the examples once, and learns its
// own side by side. A part that was stopped begins anew.
func settings() Way {
	return Way{Name: "settings", Learn: trySettings, Join: compareSettings}
}

// tuning is what parts that try settings, and what compares these, are sent.
type tuning struct {
	Settings []run          `json:"settings"`
	By       string         `json:"by"`
	Score    string         `json:"score,omitempty"`
	Alpha    float64        `json:"alpha"`
	Folds    training.Folds `json:"folds"`
	Only     []int          `json:"only,omitempty"` // of a part
}

// tuned is training.Tuned in JSON.
type tuned struct {
	Best     int              `json:"best"`
	Order    []int            `json:"order"`
	Tried    []training.Tried `json:"tried"`
	Examples int64            `json:"examples"`
	Found    training.Found   `json:"found"`
}

// CutTune deals out settings, of which training.Tune is asked, over n parts at most, in the folder
// state. Neighbours go to different parts, as they often take as long. Errors are those of package
// training.
func CutTune(state string, n int, list []training.Options, t training.TuneOptions) (*Job, error) {
	if len(list) == 0 {
		return nil, errNoSettings
	}
	files, err := named(list[0].Files)
	if err != nil {
		return nil, err
	}
	return cutTuneFiles(state, n, list, t, files)
}

var errNoSettings = errors.New("no settings")

// cutTuneFiles is CutTune of these files.
func cutTuneFiles(state string, n int, list []training.Options, t training.TuneOptions,
	files []Object) (*Job, error) {
	do := tuning{By: t.By, Score: t.Score, Alpha: t.Alpha, Folds: t.Folds}
	for _, o := range list {
		o.Threads, o.MemBudget, o.CheckpointEvery, o.Model = 0, 0, "", ""
		o.Files = namesOf(files)
		if _, err := training.New(o, training.Env{}); err != nil {
			return nil, err
		}
		r, err := newRun(o)
		if err != nil {
			return nil, err
		}
		do.Settings = append(do.Settings, r)
	}
	var parts []any
	n = min(n, len(list))
	for k := range n {
		part := do
		for i := k; i < len(list); i += n {
			part.Only = append(part.Only, i)
		}
		parts = append(parts, part)
	}
	with := Plain{Threads: list[0].Threads}
	return newJob(command.Parts{Way: settings().Name, State: state, Workers: n}, with, files,
		parts, do)
}

// options are those of the settings, and how they are compared.
func (d *tuning) options(with Plain) ([]training.Options, training.TuneOptions, error) {
	t := training.TuneOptions{By: d.By, Score: d.Score, Alpha: d.Alpha, Folds: d.Folds}
	var list []training.Options
	for _, r := range d.Settings {
		o, err := r.options()
		if err != nil {
			return nil, t, err
		}
		o.Threads = with.Threads
		list = append(list, o)
	}
	return list, t, nil
}

// trySettings tries some of the settings.
func trySettings(ctx context.Context, do json.RawMessage, with Plain, dir string) error {
	var d tuning
	if err := json.Unmarshal(do, &d); err != nil {
		return err
	}
	list, t, err := d.options(with)
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, logOfPart))
	if err != nil {
		return err
	}
	p, err := training.RunTunePart(ctx, list, t, d.Only, log,
		training.Env{Machine: command.Machine(0)})
	if e := log.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, triedFile), text, 0o666)
}

// compareSettings has the race of them.
func compareSettings(ctx context.Context, do json.RawMessage, with Plain, dirs []string,
	dir string) (any, error) {
	var d tuning
	if err := json.Unmarshal(do, &d); err != nil {
		return nil, err
	}
	list, t, err := d.options(with)
	if err != nil {
		return nil, err
	}
	parts := make([]training.TunePart, len(dirs))
	for i, part := range dirs {
		name := filepath.Join(part, triedFile)
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &parts[i]); err != nil {
			return nil, damaged(name, err)
		}
		log, err := os.Open(filepath.Join(part, logOfPart))
		if err != nil {
			return nil, err
		}
		defer log.Close()
		parts[i].Log = log
	}
	res, err := training.JoinTune(ctx, list, t, parts, training.Env{})
	if err != nil {
		return nil, err
	}
	return tuned{res.Best, res.Order, res.Tried, res.Examples, training.Found{Dim: res.Info.Dim,
		Classes: res.Info.Classes, BadRows: res.Info.BadRows}}, nil
}

// Tuned is what came of settings that CutTune has dealt out, once that is done. Where the first of
// them names a Model the best is trained for it.
func (j *Job) Tuned(ctx context.Context, d Done, list []training.Options) (*training.Tuned, error) {
	var r tuned
	if err := j.report(d, &r); err != nil {
		return nil, err
	}
	res := &training.Tuned{Best: r.Best, Order: r.Order, Tried: r.Tried, Examples: r.Examples}
	res.Info.Dim, res.Info.Classes, res.Info.BadRows = r.Found.Dim, r.Found.Classes, r.Found.BadRows
	if list[0].Model == "" {
		return res, nil
	}
	o := list[r.Best]
	o.Model, o.Threads = list[0].Model, list[0].Threads
	best, err := training.Run(ctx, o, training.Env{Machine: command.Machine(0)})
	if best != nil {
		res.Saved = best.Saved
	}
	return res, err
}
