package serve

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options say what is served, and within which bounds. The zero value of a bound is its default.
type Options struct {
	// Models are those that are served, at least one.
	Models []Model

	// ReadOnly serves predictions alone: nothing is learned or saved.
	ReadOnly bool

	// Queue is how many requests may wait to be learned; more are refused. Default 1024.
	Queue int
	// PublishEvery and PublishAfter say when what was learned is what predicts: after so many
	// examples, or so long after the time before, whichever comes first. Defaults 1000 examples and
	// 100 ms. Cost: a copy of what scores are made of.
	PublishEvery int
	PublishAfter time.Duration
	// CheckpointExamples and CheckpointAfter say when the model's file is written: after so many
	// examples, or so long after the time before. 0 of both: when the server is closed, and by
	// Save. Learning waits for it.
	CheckpointExamples int64
	CheckpointAfter    time.Duration
	// Sync says when a log is on the disk, so that a power cut leaves it: SyncAlways before a
	// request is answered, SyncInterval (the default) a second later at most, SyncNone when the
	// system writes it. A process that is killed loses nothing of what was answered.
	Sync string

	// WaitRows and WaitBytes bound the rows that wait for their labels: the oldest are dropped.
	// Defaults 100,000 and 64 MiB. WaitRows below 0 keeps none.
	WaitRows  int
	WaitBytes int64

	// MaxRows is how many rows a request may have, default 10,000; MaxFeatures how many features a
	// row, and by what is learned the model may come to have, default 262,144 (2^18); a model that
	// has more keeps them. MaxClasses is how many classes it may come to have, default 1000.
	MaxRows, MaxFeatures, MaxClasses int
	// MaxMemory is what a model may come to take by the features and classes that it learns, in
	// bytes, copies that are made for a moment included; one that takes more keeps it. Default
	// 256 MiB.
	MaxMemory int64

	// Logger is told what the server does. nil: nothing is.
	Logger *slog.Logger
}

// Model is one that is served.
type Model struct {
	// Name is how requests call it: letters, digits, points, dashes and underscores.
	Name string
	// Path is the model file, which is read first, and written by checkpoints.
	Path string
	// Log is the file in which is written what was learned; "" is none. It is made where it is not
	// there; one that is there must be of this model, which then goes on from its file, the
	// beginning or a checkpoint, and the rest of the log.
	Log string
}

// Values of Options.Sync.
const (
	SyncAlways   = "always"
	SyncInterval = "interval"
	SyncNone     = "none"
)

// syncAfter is how long SyncInterval waits.
const syncAfter = time.Second

// filled returns the options with their defaults.
func (o Options) filled() (Options, error) {
	if err := o.checkModels(); err != nil {
		return o, err
	}
	for _, f := range []struct {
		name string
		n    *int
		def  int
	}{
		{"Queue", &o.Queue, 1024}, {"PublishEvery", &o.PublishEvery, 1000},
		{"MaxRows", &o.MaxRows, 10_000}, {"MaxFeatures", &o.MaxFeatures, 1 << 18},
		{"MaxClasses", &o.MaxClasses, 1000},
	} {
		if *f.n < 0 || *f.n > 1<<30 {
			return o, badOption("%s is %d, want 1 or more", f.name, *f.n)
		}
		if *f.n == 0 {
			*f.n = f.def
		}
	}
	switch {
	case o.PublishAfter < 0 || o.CheckpointAfter < 0 || o.CheckpointExamples < 0 ||
		o.WaitBytes < 0 || o.MaxMemory < 0:
		return o, badOption("a time or number below 0")
	case o.Sync != "" && o.Sync != SyncAlways && o.Sync != SyncInterval && o.Sync != SyncNone:
		return o, badOption("Sync is %q, want always, interval or none", o.Sync)
	}
	o.Sync = cmp.Or(o.Sync, SyncInterval)
	o.PublishAfter = cmp.Or(o.PublishAfter, 100*time.Millisecond)
	o.WaitRows = cmp.Or(o.WaitRows, 100_000)
	o.WaitBytes = cmp.Or(o.WaitBytes, 64<<20)
	o.MaxMemory = cmp.Or(o.MaxMemory, 256<<20)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

func badOption(format string, args ...any) error {
	return fmt.Errorf("serve: "+format+": %w", append(args, ErrOption)...)
}

// nameLetters are what names of models consist of.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// checkModels looks at the models' names and files.
func (o *Options) checkModels() error {
	if len(o.Models) == 0 {
		return badOption("Models: none is given")
	}
	names := map[string]bool{}
	var files []string // of their own
	for _, m := range o.Models {
		bad := strings.Trim(m.Name, nameLetters) != "" || strings.Trim(m.Name, ".") == "" ||
			len(m.Name) > 100
		switch {
		case bad:
			return badOption("Models: the name is %q, want letters, digits, points, dashes and "+
				"underscores", m.Name)
		case names[m.Name]:
			return badOption("Models: the name %q comes twice", m.Name)
		case m.Path == "":
			return badOption("Models: %s: want a file", m.Name)
		case m.Log != "" && o.ReadOnly:
			return badOption("Models: %s: a log of what is learned, with ReadOnly", m.Name)
		}
		names[m.Name] = true
		for _, file := range []string{m.Path, m.Log} {
			if file == "" || o.ReadOnly {
				continue
			}
			same := func(f string) bool { return oneFile(f, file) }
			if i := slices.IndexFunc(files, same); i >= 0 {
				return badOption("Models: %s: want files of its own: %s is %s", m.Name, file,
					files[i])
			}
			files = append(files, file)
		}
	}
	return nil
}

// oneFile reports whether two names are those of one file, by whatever links.
func oneFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return os.SameFile(x, y)
	}
	x, err = os.Stat(filepath.Dir(a))
	y, err2 = os.Stat(filepath.Dir(b))
	return err == nil && err2 == nil && os.SameFile(x, y) && filepath.Base(a) == filepath.Base(b)
}
