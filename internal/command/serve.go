package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/serve"
)

// server is one run of serve.
type server struct {
	o    serve.Options
	http serve.HTTP

	models, logs        []string
	listen              string
	publish, checkpoint string
	tokenFile           string
	cert, key           string
	sync, form          choice
	waitBytes, maxBody  byteSize
	maxMemory           byteSize
	quiet, stdio        bool
	profiles            profiles

	token atomic.Pointer[string]
	pair  atomic.Pointer[tls.Certificate]
	cmd   *cobra.Command
}

func newServeCmd() *cobra.Command {
	s := &server{}
	cmd := &cobra.Command{
		Use:   "serve [flags] --model NAME=FILE",
		Short: "Serve models over HTTP: predict and learn",
		Long:  helpText("serve"),
		Example: `  halfspace serve --model spam=spam.model
  halfspace serve --model spam=spam.model --log spam.log --checkpoint-every 60s
  halfspace train --replay spam.log -m again.model`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&s.models, "model", nil, "a model and the name by which it is asked for, "+
		"`NAME=FILE`; the name may be left out; may be given again")
	fs.StringVar(&s.listen, "listen", "127.0.0.1:8080", "serve on `ADDRESS`: HOST:PORT, of port 0 "+
		"any free one, or unix:PATH")
	fs.BoolVar(&s.stdio, "stdio", false, "answer lines of stdin on stdout instead, for a program "+
		"whose child process this is")
	fs.BoolVar(&s.o.ReadOnly, "read-only", false, "only predict: learn and save nothing")
	fs.StringArrayVar(&s.logs, "log", nil, "write what is learned to a log before it is learned, "+
		"`[NAME=]FILE`; one that is there is gone on with")
	choose(fs, &s.sync, "log-sync", "when a log is on the disk, whatever happens to the machine: "+
		"before the answer, a second later at most, or when the system wants", serve.SyncInterval,
		serve.SyncAlways, serve.SyncNone)
	fs.StringVar(&s.checkpoint, "checkpoint-every", "", "write the model's file each `N` "+
		"examples, or each 60s; always at the end")
	fs.StringVar(&s.publish, "publish-every", "1000", "predict with what was learned each `N` "+
		"examples, or each 100ms; without a time, after 100ms at the latest")
	fs.IntVar(&s.o.Queue, "queue", 1024, "requests that may wait to be learned, `N`; more are "+
		"refused")
	fs.IntVar(&s.o.WaitRows, "wait-max", 100_000, "rows that may wait for their labels by their "+
		"ids, `N`: the oldest are dropped; 0 keeps none")
	s.waitBytes = 64 << 20
	fs.Var(&s.waitBytes, "wait-bytes", "memory of the rows that wait")
	s.maxBody = 8 << 20
	fs.Var(&s.maxBody, "max-body", "largest body of a request")
	fs.IntVar(&s.o.MaxRows, "max-rows", 10_000, "rows that a request may have, `N`")
	fs.IntVar(&s.o.MaxFeatures, "max-features", 1<<18, "features that a row may have, and a model "+
		"come to have, `N`")
	fs.IntVar(&s.o.MaxClasses, "max-classes", 1000, "classes that a model may come to have, `N`")
	s.maxMemory = 256 << 20
	fs.Var(&s.maxMemory, "max-model", "memory that a model may come to take by the features and "+
		"classes that it learns")
	fs.IntVar(&s.http.MaxConnections, "max-connections", 1000, "connections at once, `N`; for one "+
		"more the one that has waited longest is closed")
	fs.IntVar(&s.http.MaxRequests, "max-requests", 256, "requests that are answered at once, `N`")
	fs.Float64Var(&s.http.Rate, "rate", 0, "requests a second, `N`; 0 is any number")
	fs.DurationVar(&s.http.BodyTime, "body-time", 30*time.Second, "`TIME` in which a request must "+
		"have come")
	fs.DurationVar(&s.http.StopTime, "stop-time", 10*time.Second, "`TIME` that requests and "+
		"learning have at the end")
	fs.StringVar(&s.tokenFile, "token-file", "", "requests must have the token in `FILE` as "+
		"Authorization: Bearer TOKEN (or that in HALFSPACE_TOKEN)")
	fs.StringVar(&s.cert, "tls-cert", "", "encrypt, with the certificates in `FILE` (PEM)")
	fs.StringVar(&s.key, "tls-key", "", "and the private key in `FILE` (PEM)")
	Names(fs, UseRead, "token-file", "tls-cert", "tls-key")
	Names(fs, UseServed, "model", "log")
	choose(fs, &s.form, "log-format", "how the server says on stderr what it does", "text", "json")
	fs.BoolVarP(&s.quiet, "quiet", "q", false, "say only what goes wrong")
	s.profiles.flags(fs)
	return cmd
}

func (s *server) run(cmd *cobra.Command) error {
	s.cmd = cmd
	if err := s.options(); err != nil {
		return err
	}
	return s.profiles.during(s.serve)
}

// serve does what the flags say until it is stopped.
func (s *server) serve() error {
	if s.stdio {
		return s.overLines()
	}
	// before anything is read, so that a port that is taken is known at once
	l, err := serve.Listen(s.listen, s.http)
	if errors.Is(err, serve.ErrOption) {
		return Usage("Name a loopback address, as 127.0.0.1:8080 or unix:PATH; or give "+
			"--token-file, --tls-cert and --tls-key.", "%s %s: %w", Given(s.cmd.Flags(), "listen"),
			s.listen, plainCause(err))
	}
	if err != nil {
		return &fail{CodeFailed, fmt.Errorf("%s %s: %w", Given(s.cmd.Flags(), "listen"), s.listen,
			err), "Choose another address; port 0 takes any free one."}
	}
	server, err := serve.New(s.o)
	if err != nil {
		l.Close()
		return serveError(err)
	}
	scheme := "http"
	if s.http.TLS != nil {
		scheme = "https"
	}
	where := scheme + "://" + l.Addr().String()
	if l.Addr().Network() == "unix" {
		where = "unix:" + l.Addr().String()
	}
	s.o.Logger.Info("serving", "at", where, "models", len(s.o.Models))
	s.http.Pages = newStatusPages(server.Stats, server.Unauthorized).paths()
	s.reloads(server)
	if err := s.end(server, server.Serve(s.cmd.Context(), l, s.http)); err != nil {
		return err
	}
	return s.stopped()
}

// end closes the server, whose serving ended with an error or with nil.
func (s *server) end(server *serve.Server, failed error) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.http.StopTime)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		return &fail{CodeFailed, err, "What was learned since the last checkpoint is in the log, " +
			"if there is one."}
	}
	if failed != nil {
		return &fail{CodeFailed, failed, ""}
	}
	return nil
}

// plainCause is an error of package serve without what it says of itself.
func plainCause(err error) error {
	text := strings.TrimSuffix(err.Error(), ": "+serve.ErrOption.Error())
	return errors.New(strings.TrimPrefix(text, "serve: "))
}

// serveError gives an error of a model or its log its exit code.
func serveError(err error) error {
	switch {
	case errors.Is(err, serve.ErrOption):
		return Usage("See: halfspace serve --help.", "%w", plainCause(err))
	case errors.Is(err, serve.ErrInUse):
		return &fail{CodeFailed, err, "Stop that one first; or only predict, with --read-only."}
	case errors.Is(err, serve.ErrLog):
		return &fail{CodeData, err, "Nothing was served, and the log is as it was. A new log is " +
			"begun where none is: move this one away."}
	case errors.Is(err, serve.ErrModel):
		return &fail{CodeModel, err, "Take the model of the log, or move the log away to begin a " +
			"new one."}
	}
	return &fail{CodeFailed, err, ""}
}

// options fills in what flags don't fill in themselves.
func (s *server) options() error {
	fs := s.cmd.Flags()
	if len(s.models) == 0 {
		return Usage("Name it with --model NAME=FILE; train -m FILE writes one.", "no model")
	}
	for _, text := range s.models {
		name, file := namedFile(text)
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		}
		s.o.Models = append(s.o.Models, serve.Model{Name: name, Path: file})
	}
	if err := s.setLogs(fs); err != nil {
		return err
	}
	if n, d, err := every(s.publish); err != nil {
		return Usage("It is a number of examples, or a time, as 100ms.", "%s %s: %w",
			Given(fs, "publish-every"), s.publish, err)
	} else if d > 0 {
		s.o.PublishEvery, s.o.PublishAfter = 1<<30, d
	} else {
		s.o.PublishEvery = int(min(n, 1<<30))
	}
	if s.checkpoint != "" {
		n, d, err := every(s.checkpoint)
		if err != nil {
			return Usage("It is a number of examples, or a time, as 60s.", "%s %s: %w",
				Given(fs, "checkpoint-every"), s.checkpoint, err)
		}
		s.o.CheckpointExamples, s.o.CheckpointAfter = n, d
	}
	for _, f := range []string{"queue", "max-rows", "max-features", "max-classes", "max-requests",
		"max-connections"} {
		if n, err := fs.GetInt(f); err != nil || n < 1 {
			return Usage("It is a bound, 1 or more.", "%s %d", Given(fs, f), n)
		}
	}
	if s.o.WaitRows == 0 {
		s.o.WaitRows = -1
	}
	s.o.WaitBytes, s.http.MaxBody = int64(s.waitBytes), int64(s.maxBody)
	s.o.MaxMemory = int64(s.maxMemory)
	s.o.Sync = s.sync.value
	level := slog.LevelInfo
	if s.quiet {
		level = slog.LevelWarn
	}
	to := &slog.HandlerOptions{Level: level}
	if s.form.value == "json" {
		s.o.Logger = slog.New(slog.NewJSONHandler(s.cmd.ErrOrStderr(), to))
	} else {
		s.o.Logger = slog.New(slog.NewTextHandler(s.cmd.ErrOrStderr(), to))
	}
	if err := s.secrets(fs); err != nil {
		return err
	}
	s.http.TokenNow = func() string { return *s.token.Load() }
	if s.pair.Load() != nil {
		s.http.TLS = &tls.Config{MinVersion: tls.VersionTLS12,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				return s.pair.Load(), nil
			}}
	}
	return nil
}

// namedFile takes NAME=FILE apart; the name may be left out.
func namedFile(text string) (name, file string) {
	if name, file, ok := strings.Cut(text, "="); ok {
		return name, file
	}
	return "", text
}

// setLogs gives the models their logs.
func (s *server) setLogs(fs *pflag.FlagSet) error {
	for _, text := range s.logs {
		name, file := namedFile(text)
		if name == "" && len(s.o.Models) == 1 {
			name = s.o.Models[0].Name
		}
		found := false
		for i := range s.o.Models {
			if m := &s.o.Models[i]; m.Name == name && m.Log == "" && file != "" {
				m.Log, found = file, true
			}
		}
		if !found {
			return Usage("Each model may have one, as NAME=FILE.", "%s %s: not the log of a model",
				Given(fs, "log"), text)
		}
	}
	return nil
}

// secrets reads the token, the certificate and its key. On an error they are as they were.
func (s *server) secrets(fs *pflag.FlagSet) error {
	token := os.Getenv("HALFSPACE_TOKEN")
	if s.tokenFile != "" {
		text, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return Usage("Name a file with a token in it.", "%s %s: %w", Given(fs, "token-file"),
				s.tokenFile, PathCause(err))
		}
		if token = string(bytes.TrimSpace(text)); token == "" {
			return Usage("Put a token into it, as openssl rand -hex 32 makes one.",
				"%s %s: it is empty", Given(fs, "token-file"), s.tokenFile)
		}
	}
	if (s.cert == "") != (s.key == "") {
		return Usage("TLS needs both.", "--tls-cert without --tls-key, or --tls-key without it")
	}
	if s.cert != "" {
		pair, err := tls.LoadX509KeyPair(s.cert, s.key)
		if err != nil {
			return Usage("They are files in PEM form.", "%s %s, --tls-key %s: %w",
				Given(fs, "tls-cert"), s.cert, s.key, err)
		}
		s.pair.Store(&pair)
	}
	s.token.Store(&token)
	s.http.Token = token
	return nil
}

// reloads has a hang-up (SIGHUP) reload models, token and certificate. What can't be read stays as
// it was.
func (s *server) reloads(server *serve.Server) {
	onReload(func() {
		if err := errors.Join(s.secrets(s.cmd.Flags()), server.Reload()); err != nil {
			s.o.Logger.Error("not all was reloaded", "error", err.Error())
			return
		}
		s.o.Logger.Info("reloaded")
	})
}

// stopped is the end of a server that a signal has stopped: SIGTERM, by which services are stopped,
// is none that says anything went wrong.
func (s *server) stopped() error {
	if terminated(s.cmd.Context()) {
		return nil
	}
	return &fail{CodeStopped, ErrStopped, ""}
}

// every reads a number of examples, or a time.
func every(text string) (n int64, d time.Duration, err error) {
	if n, err = strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return n, 0, nil
	}
	if d, err = time.ParseDuration(text); err == nil && d > 0 {
		return 0, d, nil
	}
	return 0, 0, errors.New("not a number of examples, nor a time")
}

// replayReport is what train --replay prints with --json.
type replayReport struct {
	Schema      string `json:"schema"`
	Name        string `json:"name"` // under which the model was served
	Requests    int64  `json:"requests"`
	Examples    int64  `json:"examples"`
	Mistakes    int64  `json:"mistakes"`
	Torn        int64  `json:"torn_bytes"`
	ModelSHA256 string `json:"model_sha256"`
}

// replayed is train --replay.
func (t *trainer) replayed(args []string) error {
	fs := t.cmd.Flags()
	var other string
	fs.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "replay", "until", "from", "model", "json", "quiet", "config", "progress":
		default:
			other = f.Name
		}
	})
	switch {
	case other != "":
		return Usage("The log has all that was learned, and the model its settings.",
			"%s: nothing to say beside --replay", Given(fs, other))
	case len(args) > 0:
		return Usage("The log has all that was learned.", "%s: no examples beside --replay",
			args[0])
	case t.o.Model == "":
		return Usage("Name it with -m FILE.", "--replay without a model to write")
	}
	var start []byte
	if t.o.From != "" {
		var err error
		if start, err = os.ReadFile(t.o.From); err != nil {
			return &fail{CodeModel, fmt.Errorf("%s: %w", t.o.From, PathCause(err)), ""}
		}
	}
	m, r, err := serve.Replay(t.cmd.Context(), t.replay, start, t.until)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return &fail{CodeStopped, ErrStopped, ""}
		}
		return serveError(err)
	}
	var out bytes.Buffer
	if err := m.Encode(&out); err != nil {
		return modelError(t.o.Model, err)
	}
	if err := m.Save(t.o.Model); err != nil {
		return &fail{CodeFailed, err, ""}
	}
	if t.output.json {
		sum := sha256.Sum256(out.Bytes())
		return PrintJSON(stdout(t.cmd), replayReport{schema, r.Model, r.Requests, r.Learned,
			r.Mistakes, r.Torn, hex.EncodeToString(sum[:])})
	}
	if !t.output.quiet {
		fmt.Fprintf(t.cmd.ErrOrStderr(), "halfspace: %s learned from %s of %s; saved to %s\n",
			Plural(int(r.Learned), "example"), Plural(int(r.Requests), "request"), t.replay,
			t.o.Model)
		if r.Torn > 0 {
			fmt.Fprintf(t.cmd.ErrOrStderr(), "halfspace: the last %s of the log are no whole "+
				"request, and were never answered\n", Plural(int(r.Torn), "byte"))
		}
	}
	return nil
}
