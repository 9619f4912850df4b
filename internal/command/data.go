package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/internal/public"
	"github.com/halfspace-ml/halfspace/internal/spelling"
)

// dataReport is what the commands below data print with --json.
type dataReport struct {
	Schema string     `json:"schema"`
	Dir    string     `json:"dir"` // "" where there is none
	Files  []dataFile `json:"files"`
}

type dataFile struct {
	public.File
	// State is "good", "missing" or "bad" (another file); of get "fetched" too, or "failed". "" is
	// not known: there is no folder.
	State string `json:"state"`
	Error string `json:"error,omitempty"`
}

// dataFlags are those of the commands below data.
type dataFlags struct {
	dir    string
	json   bool
	quiet  bool
	all    bool
	tries  int
	report dataReport
}

func newDataCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data list|get|verify",
		Short: "List, download and verify public data sets",
		Long: `List the public data sets that documents and experiments here read, fetch them from
where they are
published, and verify those that are there.

The folder is that of --dir, or HALFSPACE_DATA, in which all commands look for files. The sets
belong
to those who published them: data list shows the licences, as far as they are known.`,
		Example: `  halfspace data list
  halfspace data get a9a a9a.t --dir data
  HALFSPACE_DATA=data halfspace data verify`,
		Args: func(cmd *cobra.Command, args []string) error {
			next := "They are: list, get, verify."
			if len(args) == 0 {
				return Usage(next, "data: what to do?")
			}
			if near := spelling.Nearest(args[0], []string{"list", "get", "verify"}); near != "" {
				next = "Did you mean " + near + "? " + next
			}
			return Usage(next, "data: no command %q", args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDataListCmd(), newDataGetCmd(), newDataVerifyCmd())
	return cmd
}

// dataCmd makes a command below data, of which do does one file.
func dataCmd(d *dataFlags, use, short, long string, do func(cmd *cobra.Command,
	list []public.File) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if d.dir == "" {
				d.dir = os.Getenv("HALFSPACE_DATA")
			}
			d.report = dataReport{Schema: schema, Dir: d.dir, Files: []dataFile{}}
			list, err := public.Find(args...)
			if err != nil {
				return unknownSet(args, err)
			}
			return do(cmd, list)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&d.dir, "dir", "", "the folder `DIR` of the files; that of HALFSPACE_DATA if not "+
		"given")
	Names(fs, UseFolder, "dir")
	fs.BoolVar(&d.json, "json", false, "print one JSON document instead of text")
	return cmd
}

// unknownSet is the error of a name that no set and no file has.
func unknownSet(args []string, err error) error {
	var known []string
	for _, f := range public.Files() {
		known = append(known, f.Set, f.Name)
	}
	next := "All of them: halfspace data list."
	for _, name := range args {
		if _, e := public.Find(name); e == nil {
			continue
		}
		if near := spelling.Nearest(name, known); near != "" {
			next = "Did you mean " + near + "? " + next
		}
		break
	}
	return Usage(next, "%w", err)
}

func newDataListCmd() *cobra.Command {
	d := &dataFlags{}
	return dataCmd(d, "list [SET|FILE...]", "List the sets: files, sizes, licences, what is there",
		`List the public data sets and their files: content in bytes, rows, and whether the file
is in
the folder as it was published (good, missing, bad). With --json also addresses and checksums.`,
		func(cmd *cobra.Command, list []public.File) error {
			for _, f := range list {
				d.report.Files = append(d.report.Files, dataFile{File: f, State: d.state(f)})
			}
			if d.json {
				return PrintJSON(stdout(cmd), d.report)
			}
			return d.print(stdout(cmd))
		})
}

// print prints the table, a set after another.
func (d *dataFlags) print(w io.Writer) error {
	set := ""
	var b strings.Builder
	for _, f := range d.report.Files {
		if f.Set != set {
			fmt.Fprintf(&b, "%s: %s; licence: %s\n", f.Set, f.What, f.Licence)
			set = f.Set
		}
		rows := ""
		if f.Rows > 0 {
			rows = Plural(f.Rows, "row")
		}
		line := fmt.Sprintf("  %-30s %8d bytes  %-12s  %s", f.Name, f.Bytes, rows, f.State)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// state says whether a file is there.
func (d *dataFlags) state(f public.File) string {
	if d.dir == "" {
		return ""
	}
	switch err := public.Check(d.dir, f); {
	case err == nil:
		return "good"
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	}
	return "bad"
}

// folder wants one to be given.
func (d *dataFlags) folder() error {
	if d.dir == "" {
		return Usage("Name it with --dir DIR, or set HALFSPACE_DATA.", "no folder for the files")
	}
	return nil
}

func newDataVerifyCmd() *cobra.Command {
	d := &dataFlags{}
	cmd := dataCmd(d, "verify [SET|FILE...]", "Verify that files are those that were published",
		`Verify that files of the folder are those that were published: length and checksum of their
content, however they are packed. Of names all files must be there; without names those that are
there are looked at. Exit code 3 where a file is another, or missing.`,
		func(cmd *cobra.Command, list []public.File) error {
			if err := d.folder(); err != nil {
				return err
			}
			named, wrong := len(cmd.Flags().Args()) > 0, 0
			for _, f := range list {
				r := dataFile{File: f, State: d.state(f)}
				if r.State == "missing" && !named {
					continue
				}
				if r.State != "good" {
					wrong++
					if err := public.Check(d.dir, f); err != nil {
						r.Error = err.Error()
					}
				}
				d.report.Files = append(d.report.Files, r)
				if !d.json && !d.quiet {
					fmt.Fprintf(stdout(cmd), "%-8s %s\n", r.State, f.Name)
				}
			}
			if d.json {
				if err := PrintJSON(stdout(cmd), d.report); err != nil {
					return err
				}
			}
			switch {
			case len(d.report.Files) == 0:
				return &fail{CodeData, fmt.Errorf("%s: none of the files is there", d.dir),
					"Fetch them: halfspace data get."}
			case wrong > 0:
				return &fail{CodeData, fmt.Errorf("%s: %s not as published", d.dir,
					Plural(wrong, "file")), "Fetch them anew: halfspace data get."}
			}
			return nil
		})
	cmd.Flags().BoolVarP(&d.quiet, "quiet", "q", false, "print nothing")
	return cmd
}

func newDataGetCmd() *cobra.Command {
	d := &dataFlags{}
	cmd := dataCmd(d, "get SET|FILE...", "Fetch sets from where they are published",
		`Fetch files from where they are published, into the folder, which is made if need be. A
file
appears whole and verified, or not at all; those that are there as published are left. What was cut
goes on where it stopped, in this run after a pause, or in the next. Proxies are taken from
HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Exit code 1 where a file could not be fetched, 3 where another
was published under its name.`,
		func(cmd *cobra.Command, list []public.File) error {
			if len(cmd.Flags().Args()) == 0 && !d.all {
				return Usage("Name sets or files, or take --all: halfspace data list.",
					"nothing to fetch")
			}
			if len(cmd.Flags().Args()) > 0 && d.all {
				return Usage("Leave one of them out.", "--all, and names")
			}
			if d.tries < 1 {
				return Usage("1 asks once.", "--tries %d: want 1 or more", d.tries)
			}
			if err := d.folder(); err != nil {
				return err
			}
			return d.get(cmd, list)
		})
	fs := cmd.Flags()
	fs.BoolVar(&d.all, "all", false, "fetch all files")
	fs.IntVar(&d.tries, "tries", 5, "how often an address is asked before the next one, with "+
		"pauses from a second to a minute")
	fs.BoolVarP(&d.quiet, "quiet", "q", false, "say nothing but errors")
	return cmd
}

// get fetches the files, and returns the first error.
func (d *dataFlags) get(cmd *cobra.Command, list []public.File) error {
	w := cmd.ErrOrStderr()
	say := func(format string, args ...any) {
		if !d.quiet {
			fmt.Fprintf(w, format+"\n", args...)
		}
	}
	var first error
	for _, f := range list {
		said := time.Now()
		o := public.Options{Tries: d.tries,
			Retry: func(f public.File, err error, pause time.Duration) {
				say("%s: %v; again in %v", f.Name, err, pause.Round(100*time.Millisecond))
			},
			Progress: func(f public.File, have, all int64) {
				if time.Since(said) < 5*time.Second {
					return
				}
				said = time.Now()
				of := ""
				if all > 0 {
					of = " of " + inMiB(all)
				}
				say("%s: %s%s", f.Name, inMiB(have), of)
			}}
		fetched, err := public.Get(cmd.Context(), d.dir, f, o)
		r := dataFile{File: f, State: "good"}
		switch {
		case errors.Is(err, context.Canceled), cmd.Context().Err() != nil:
			return &fail{CodeStopped, ErrStopped, ""}
		case err != nil:
			r.State, r.Error = "failed", err.Error()
			e := getError(err)
			if first != nil { // the last one is said at the end
				fmt.Fprintf(w, "halfspace: %s\n", errorText(first))
			}
			first = e
		case fetched:
			r.State = "fetched"
			say("%s: fetched, sha256 verified", f.Name)
		default:
			say("%s: there already", f.Name)
		}
		d.report.Files = append(d.report.Files, r)
	}
	if d.json {
		if err := PrintJSON(stdout(cmd), d.report); err != nil {
			return err
		}
	}
	return first
}

// getError gives an error of fetching its exit code.
func getError(err error) error {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	switch {
	case errors.Is(err, public.ErrContent):
		return &fail{CodeData, &explained{text, err},
			"Nothing was kept. Somebody publishes another file under that name."}
	case errors.Is(err, public.ErrDownload):
		return &fail{CodeFailed, &explained{text, err},
			"The next data get goes on from what came."}
	}
	return &fail{CodeFailed, err, "Choose a folder that can be written."}
}
