package command

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	rpprof "runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// profiles are the profiling flags of a command.
type profiles struct {
	cpu, mem, block, mutex, trace, addr string
}

// profileFlags are their names.
var profileFlags = []string{"cpuprofile", "memprofile", "blockprofile", "mutexprofile",
	"exectrace", "pprof-addr"}

// runTags are the tags of a run's profiles.
const runTags = "what learns and predicts has the tags learner, stage and part"

// flags adds them. tags says what samples have as tags.
func (p *profiles) flags(fs *pflag.FlagSet, tags string) {
	fs.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to `FILE`; "+tags+
		" (go tool pprof -tags FILE)")
	fs.StringVar(&p.mem, "memprofile", "", "write a profile of allocations to `FILE` at the end")
	fs.StringVar(&p.block, "blockprofile", "", "write a profile of waiting to `FILE` at the end")
	fs.StringVar(&p.mutex, "mutexprofile", "", "write a profile of lock contention to `FILE` at "+
		"the end")
	fs.StringVar(&p.trace, "exectrace", "", "write an execution trace to `FILE`")
	names(fs, useWritten, profileFlags[:len(profileFlags)-1]...)
	fs.StringVar(&p.addr, "pprof-addr", "", "serve live profiles on `ADDRESS` (loopback only, "+
		"over 300 seconds at most), e.g. 127.0.0.1:6060")
}

// during has work done under the profiles that were asked for. An error of work counts before one
// of a profile's file.
func (p *profiles) during(stderr io.Writer, work func() error) error {
	stop, err := p.start(stderr)
	if err != nil {
		return err
	}
	err = work()
	if e := stop(); err == nil {
		err = e
	}
	return err
}

// start begins what was asked for; stop ends it and writes the files.
func (p *profiles) start(stderr io.Writer) (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var first error
		for _, f := range stops {
			if err := f(); err != nil && first == nil {
				first = err
			}
		}
		return first
	}
	create := func(flag, name string) (*os.File, error) {
		f, err := os.Create(name)
		if err != nil {
			return nil, &fail{codeFailed, fmt.Errorf("--%s %s: %w", flag, name, pathCause(err)),
				"Name a file that can be written."}
		}
		return f, nil
	}
	// Files are made now, so that a wrong name fails before the work.
	atEnd := func(flag, name, profile string) error {
		if name == "" {
			return nil
		}
		f, err := create(flag, name)
		if err != nil {
			return err
		}
		stops = append(stops, func() error {
			runtime.GC() // so that the heap profile is of now
			if err := rpprof.Lookup(profile).WriteTo(f, 0); err != nil {
				return err
			}
			return f.Close()
		})
		return nil
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	if p.cpu != "" {
		f, err := create("cpuprofile", p.cpu)
		if err != nil {
			return stop, err
		}
		w := &watched{Writer: f}
		if err := rpprof.StartCPUProfile(w); err != nil {
			return stop, err
		}
		stops = append(stops, func() error {
			rpprof.StopCPUProfile()
			return errors.Join(w.err, f.Close())
		})
	}
	if p.trace != "" {
		f, err := create("exectrace", p.trace)
		if err != nil {
			return stop, err
		}
		w := &watched{Writer: f}
		if err := trace.Start(w); err != nil {
			return stop, err
		}
		stops = append(stops, func() error { trace.Stop(); return errors.Join(w.err, f.Close()) })
	}
	if p.block != "" {
		runtime.SetBlockProfileRate(1000)
	}
	if p.mutex != "" {
		runtime.SetMutexProfileFraction(1)
	}
	for _, e := range [][3]string{{"blockprofile", p.block, "block"}, {"mutexprofile", p.mutex,
		"mutex"}, {"memprofile", p.mem, "allocs"}} {
		if err := atEnd(e[0], e[1], e[2]); err != nil {
			return stop, err
		}
	}
	if p.addr == "" {
		return stop, nil
	}
	l, err := listenLoopback(p.addr)
	if err != nil {
		return stop, err
	}
	server := &http.Server{Handler: profilePages(), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l)
	stops = append(stops, server.Close)
	fmt.Fprintf(stderr, "halfspace: profiles at http://%s/debug/pprof/\n", l.Addr())
	return stop, nil
}

// mostProfileSeconds is the longest time over which a page takes a profile.
const mostProfileSeconds = 300

// profilePages are Go's pages of live profiles, for this machine alone. A browser that was led here
// from elsewhere, by a name that somebody lets point to 127.0.0.1, says that name as the host: it
// is refused, and so is a profile without an end.
func profilePages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "profiles are served for loopback addresses only, as 127.0.0.1 or "+
				"localhost", http.StatusForbidden)
			return
		}
		if text := r.FormValue("seconds"); text != "" {
			if s, err := strconv.ParseFloat(text, 64); err != nil ||
				!(s > 0 && s <= mostProfileSeconds) {
				http.Error(w, fmt.Sprintf("seconds=%q: want more than 0, at most %d", text,
					mostProfileSeconds), http.StatusBadRequest)
				return
			}
		}
		mux.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a host, with or without a port, is this machine under a name or
// address that no other machine can have.
func isLoopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return ip != nil && ip.IsLoopback()
}

// listenLoopback listens on an address of this machine only; an address without a host is one.
func listenLoopback(addr string) (net.Listener, error) {
	const next = "Profiles tell much about a process, so only loopback addresses are served: " +
		"127.0.0.1:6060 or [::1]:6060."
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usage(next, "--pprof-addr %s: %w", addr, err)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if !isLoopback(host) {
		return nil, usage(next, "--pprof-addr %s: not a loopback address", addr)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, &fail{codeFailed, fmt.Errorf("--pprof-addr %s: %w", addr, err),
			"Choose another port; 0 takes any free one."}
	}
	return l, nil
}
