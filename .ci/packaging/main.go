// Command packaging makes the files of a release: programs for every system in archives with their
// man pages and completions, Debian packages, an image for containers, what they were made of
// (SPDX), and their sums. The same source and the same version of Go give the same bytes, whatever
// folder and machine they are made in. See .ci/release, which calls it.
package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/internal/command"
)

const (
	modulePath  = "github.com/halfspace-ml/halfspace"
	source      = "https://" + modulePath
	description = "Learn linear and kernel classifiers with a large margin, one example at a time"
	thirdParty  = "THIRD_PARTY_LICENSES"
)

// A target is a system and an architecture, by Go's names.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program is the name of the program's file.
func (t target) program() string {
	if t.os == "windows" {
		return "halfspace.exe"
	}
	return "halfspace"
}

// archive is the name of a target's archive, without what says how it is packed.
func (t target) archive(version string) string {
	return "halfspace_" + strings.TrimPrefix(version, "v") + "_" + t.os + "_" + t.arch
}

// A product is what the packages for all targets share.
type product struct {
	version, revision string
	when              time.Time // of the revision: no file says another
	licence, readme   []byte
	changelog         []byte
	notices           []byte // the licences of modules
	man, completions  []file
}

func main() {
	out := flag.String("out", "dist", "folder that the files are written to, made if need be")
	src := flag.String("source", ".", "folder of the source")
	list := flag.String("targets", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,"+
		"windows/amd64,windows/arm64", "systems and architectures")
	version := flag.String("version", "", "the version, if the source is no git repository's; the "+
		"time is SOURCE_DATE_EPOCH's then")
	flag.Parse()
	if err := run(*src, *out, *list, *version); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(src, out, list, version string) error {
	var targets []target
	for name := range strings.SplitSeq(list, ",") {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return fmt.Errorf("%q is no target; linux/amd64 is one", name)
		}
		targets = append(targets, target{system, arch})
	}
	programs := map[target][]byte{}
	infos := map[target]*debug.BuildInfo{}
	for _, t := range targets {
		program, info, err := build(src, t, version == "")
		if err != nil {
			return err
		}
		programs[t], infos[t] = program, info
	}
	p, err := productOf(src, version, infos[targets[0]])
	if err != nil {
		return err
	}
	modules, err := modulesOf(src, targets, infos)
	if err != nil {
		return err
	}
	p.notices = noticesOf(modules)
	files, err := packAll(p, modules, targets, programs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(out, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// build makes the program of a target, and returns it with what Go says of it. Of Apple's systems
// it keeps the build's sum in the program, of which Go makes the number that these want in each.
func build(src string, t target, fromGit bool) ([]byte, *debug.BuildInfo, error) {
	dir, err := os.MkdirTemp("", "halfspace-packaging-*")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	ldflags := "-s -w"
	if t.os != "darwin" {
		ldflags += " -buildid="
	}
	name := filepath.Join(dir, "program")
	cmd := exec.Command("go", "build", "-trimpath", fmt.Sprintf("-buildvcs=%t", fromGit),
		"-ldflags", ldflags, "-o", name, "./cmd/halfspace")
	cmd.Dir = src
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, nil, fmt.Errorf("go build for %s: %w", t, err)
	}
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	program, err := os.ReadFile(name)
	return program, info, err
}

// productOf reads what all packages share. Without a version it and the time are those that Go found
// in the repository, so that halfspace version says the same.
func productOf(src, version string, info *debug.BuildInfo) (product, error) {
	p := product{version: version}
	if version != "" {
		seconds, err := strconv.ParseInt(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), "0"), 10, 64)
		if err != nil {
			return p, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		p.when = time.Unix(seconds, 0).UTC()
	} else {
		p.version = info.Main.Version
		for _, s := range info.Settings {
			var err error
			switch s.Key {
			case "vcs.revision":
				p.revision = s.Value
			case "vcs.time":
				p.when, err = time.Parse(time.RFC3339, s.Value)
			case "vcs.modified":
				if s.Value == "true" {
					err = errors.New("the source has changes that are not committed")
				}
			}
			if err != nil {
				return p, err
			}
		}
		if p.revision == "" {
			return p, errors.New("the source is no git repository: name the -version")
		}
	}
	for name, to := range map[string]*[]byte{"LICENSE": &p.licence, "README.md": &p.readme,
		"CHANGELOG.md": &p.changelog} {
		data, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return p, err
		}
		*to = data
	}
	p.man = manPages(strings.TrimPrefix(p.version, "v"), p.when.Format("2006-01-02"))
	var err error
	p.completions, err = completions()
	return p, err
}

// completions makes those of the shells that there are.
func completions() ([]file, error) {
	root := command.Tree()
	var files []file
	for _, shell := range []struct {
		name string
		make func(io.Writer) error
	}{
		{"halfspace.bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"_halfspace", root.GenZshCompletion},
		{"halfspace.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"halfspace.ps1", root.GenPowerShellCompletionWithDesc},
	} {
		var b bytes.Buffer
		if err := shell.make(&b); err != nil {
			return nil, err
		}
		files = append(files, file{shell.name, 0o644, b.Bytes()})
	}
	return files, nil
}

// modulesOf lists the modules that the programs contain, and the Go distribution, with their
// licences.
func modulesOf(src string, targets []target, infos map[target]*debug.BuildInfo) ([]module, error) {
	byPath := map[string]*module{}
	for _, t := range targets {
		info := infos[t]
		deps := append([]*debug.Module{{Path: "std", Version: info.GoVersion}}, info.Deps...)
		for _, d := range deps {
			m := byPath[d.Path]
			if m == nil {
				m = &module{path: d.Path, version: d.Version, sum: d.Sum}
				byPath[d.Path] = m
			}
			m.targets = append(m.targets, t)
		}
	}
	var modules []module
	for _, m := range byPath {
		var err error
		if m.dir, err = sourceOf(src, m.path); err != nil {
			return nil, err
		}
		if err := m.readLicences(); err != nil {
			return nil, err
		}
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b module) int { return cmp.Compare(a.path, b.path) })
	return modules, nil
}

// sourceOf returns the folder of a module's source.
func sourceOf(src, path string) (string, error) {
	cmd := exec.Command("go", "list", "-m", "-json", path)
	if path == "std" {
		cmd = exec.Command("go", "env", "-json", "GOROOT")
	}
	cmd.Dir = src
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", cmd, err)
	}
	var said struct{ Dir, GOROOT string }
	if err := json.Unmarshal(answer, &said); err != nil {
		return "", fmt.Errorf("%s: %w", cmd, err)
	}
	return cmp.Or(said.Dir, said.GOROOT), nil
}

// packAll makes all files of a release, the last of which has the sums of the others.
func packAll(p product, modules []module, targets []target, programs map[target][]byte) ([]file,
	error) {
	var files []file
	add := func(name string, data []byte, err error) error {
		files = append(files, file{name, 0o644, data})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	linux := map[string][]byte{}
	for _, t := range targets {
		name := t.archive(p.version)
		pack, suffix := tarGzip, ".tar.gz"
		if t.os == "windows" {
			pack, suffix = zipOf, ".zip"
		}
		data, err := pack(withFolders(archiveFiles(p, t, programs[t])), p.when)
		if err := add(name+suffix, data, err); err != nil {
			return nil, err
		}
		if t.os != "linux" {
			continue
		}
		linux[t.arch] = programs[t]
		installed, err := debFiles(p, programs[t])
		if err != nil {
			return nil, err
		}
		deb, err := debOf(installed, p.version, t.arch, p.when)
		name = "halfspace_" + debVersion(p.version) + "_" + t.arch + ".deb"
		if err := add(name, deb, err); err != nil {
			return nil, err
		}
	}
	version := strings.TrimPrefix(p.version, "v")
	image, err := ociOf(p, linux)
	if err := add("halfspace_"+version+"_oci.tar", image, err); err != nil {
		return nil, err
	}
	sbom, err := sbomOf(p, modules, programs)
	if err := add("halfspace_"+version+".spdx.json", sbom, err); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var sums bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&sums, "%s  %s\n", strings.TrimPrefix(digest(f.data), "sha256:"), f.name)
	}
	return append(files, file{"SHA256SUMS", 0o644, sums.Bytes()}), nil
}

// archiveFiles are what a target's archive has, all in one folder.
func archiveFiles(p product, t target, program []byte) []file {
	files := []file{{t.program(), 0o755, program}, {"LICENSE", 0o644, p.licence},
		{"README.md", 0o644, p.readme}, {"CHANGELOG.md", 0o644, p.changelog},
		{thirdParty, 0o644, p.notices}}
	for _, f := range p.completions {
		f.name = "completions/" + f.name
		files = append(files, f)
	}
	for _, f := range p.man {
		f.name = "man/" + f.name
		files = append(files, f)
	}
	for i := range files {
		files[i].name = t.archive(p.version) + "/" + files[i].name
	}
	return files
}
