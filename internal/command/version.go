package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionReport is what version prints with --json.
type versionReport struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"` // of the revision
	Modified bool   `json:"modified"`       // built from a changed tree
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Level    string `json:"level,omitempty"` // GOAMD64, GOARM64, ...
}

func newVersionCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and build information",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return printVersion(cmd, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// printVersion writes a line, or a document.
func printVersion(cmd *cobra.Command, asJSON bool) error {
	v := buildVersion()
	if asJSON {
		return PrintJSON(stdout(cmd), v)
	}
	line := "halfspace " + v.Version
	if v.Revision != "" {
		line += " " + v.Revision
		if v.Modified {
			line += "+changes"
		}
	}
	level := ""
	if v.Level != "" {
		level = " " + v.Level
	}
	_, err := fmt.Fprintf(stdout(cmd), "%s %s %s/%s%s\n", line, v.Go, v.OS, v.Arch, level)
	return err
}

func buildVersion() versionReport {
	v := versionReport{Schema: schema, Version: "(unknown)", Go: runtime.Version(),
		OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		case "GOAMD64", "GOARM64", "GO386", "GOARM", "GORISCV64":
			v.Level = s.Value
		}
	}
	return v
}

// noArgs is the Args of verbs that take flags only.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage("See: "+cmd.CommandPath()+" --help.", "%s takes no arguments, got %q",
			cmd.Name(), args[0])
	}
	return nil
}
