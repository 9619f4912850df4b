package command

import (
	"os"

	"github.com/halfspace-ml/halfspace/internal/serve"
)

// overLines serves the program whose child process this is, until it closes stdin.
func (s *server) overLines() error {
	if fs := s.cmd.Flags(); fs.Changed("listen") {
		return Usage("One process serves one of them.", "%s and --stdio are both given",
			Given(fs, "listen"))
	}
	server, err := serve.New(s.o)
	if err != nil {
		return serveError(err)
	}
	s.o.Logger.Info("serving", "at", "stdin", "models", len(s.o.Models))
	s.reloads(server)
	failed := server.Lines(s.cmd.Context(), os.Stdin, stdout(s.cmd), int(s.maxBody))
	if err := s.end(server, failed); err != nil {
		return err
	}
	if s.cmd.Context().Err() != nil {
		return s.stopped()
	}
	return nil
}
