package command

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestPlacesDeclared: a flag that names a file or a folder says what becomes of it, so that no
// output can destroy an input.
func TestPlacesDeclared(t *testing.T) {
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		check := func(f *pflag.Flag) {
			kind, _ := pflag.UnquoteUsage(f)
			file := strings.Contains(kind, "FILE") || kind == "DIR"
			for _, p := range fileParams {
				file = file || f.Name == p
			}
			if file != (len(f.Annotations[placeKey]) > 0) {
				t.Errorf("%s --%s: names a file: %v, declared: %v",
					cmd.CommandPath(), f.Name, file, f.Annotations[placeKey])
			}
		}
		cmd.LocalFlags().VisitAll(check)
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(newRootCmd(io.Discard))
}
