package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/pflag"
)

// profiles is the flag --profile of a command.
type profiles struct{ dir string }

// flags adds it. It is hidden: it serves those who change the program.
func (p *profiles) flags(fs *pflag.FlagSet) {
	fs.StringVar(&p.dir, "profile", "", "write cpu.pprof, heap.pprof, block.pprof, mutex.pprof "+
		"and trace.out into the folder `DIR`")
	Names(fs, UseFolder, "profile")
	fs.MarkHidden("profile")
}

// during does work while profiles are taken, if they were requested.
func (p *profiles) during(work func() error) error {
	stop, err := p.start()
	if err != nil {
		return err
	}
	return errors.Join(work(), stop())
}

// start begins to take profiles, if they were requested; stop ends that and completes the files.
// All files are made first, so that a wrong folder fails before the work.
func (p *profiles) start() (stop func() error, err error) {
	if p.dir == "" {
		return func() error { return nil }, nil
	}
	failed := func(err error) error {
		return &fail{CodeFailed, fmt.Errorf("--profile %s: %w", p.dir, PathCause(err)),
			"Name a folder that can be written."}
	}
	if err := os.MkdirAll(p.dir, 0o777); err != nil {
		return nil, failed(err)
	}
	files := map[string]*watched{}
	var closed []func() error
	for _, name := range []string{"cpu.pprof", "trace.out", "heap.pprof", "block.pprof",
		"mutex.pprof"} {
		f, err := os.Create(filepath.Join(p.dir, name))
		if err != nil {
			return nil, failed(err)
		}
		files[name] = &watched{Writer: f}
		closed = append(closed, f.Close)
	}
	if err := pprof.StartCPUProfile(files["cpu.pprof"]); err != nil {
		return nil, failed(err)
	}
	if err := trace.Start(files["trace.out"]); err != nil {
		pprof.StopCPUProfile()
		return nil, failed(err)
	}
	runtime.SetBlockProfileRate(1000) // ns: 1000 waits a second of waiting
	runtime.SetMutexProfileFraction(1)
	return func() (err error) {
		pprof.StopCPUProfile()
		trace.Stop()
		runtime.GC() // so that the heap profile shows the end
		for _, name := range []string{"heap", "block", "mutex"} {
			err = errors.Join(err, pprof.Lookup(name).WriteTo(files[name+".pprof"], 0))
		}
		for _, f := range files {
			err = errors.Join(err, f.err)
		}
		for _, close := range closed {
			err = errors.Join(err, close())
		}
		if err != nil {
			err = failed(err)
		}
		return err
	}, nil
}
