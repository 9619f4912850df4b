package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// maintainer stands in Debian packages, which must name one.
const maintainer = "The halfspace authors <halfspace-ml@users.noreply.github.com>"

// debVersion returns a version in Debian's form, in which a hyphen would begin the number of a
// packaging and what comes before a release has a tilde: v1.2.0-rc.1 is 1.2.0~rc.1.
func debVersion(version string) string {
	v := strings.TrimPrefix(version, "v")
	v = strings.Replace(v, "-", "~", 1)
	return strings.ReplaceAll(v, "-", ".")
}

var debControl = template.Must(template.New("control").Parse(`Package: halfspace
Version: {{.Version}}
Architecture: {{.Arch}}
Maintainer: {{.Maintainer}}
Installed-Size: {{.KiB}}
Section: science
Priority: optional
Homepage: https://github.com/halfspace-ml/halfspace
Description: online learning of linear and kernel classifiers with a large margin
 halfspace learns linear and kernel classifiers one example at a time, from
 files or streams of any length: svmlight, CSV, NDJSON, Vowpal Wabbit, npy and
 others. It shows an honest error rate while it learns, and gives the same
 model, to the bit, on every machine.
`))

// debOf returns a Debian package with the files, whose paths begin below the root. It is an ar
// archive of three parts, the second of which describes the package.
func debOf(files []file, version, arch string, when time.Time) ([]byte, error) {
	var sums bytes.Buffer
	size := 0
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name) // dpkg --verify goes by these
		size += (len(f.data) + 1023) / 1024
	}
	var control bytes.Buffer
	err := debControl.Execute(&control, map[string]any{"Version": debVersion(version),
		"Arch": arch, "Maintainer": maintainer, "KiB": size})
	if err != nil {
		return nil, err
	}
	controlTar, err := tarGzip([]file{{"./", 0o755, nil}, {"./control", 0o644, control.Bytes()},
		{"./md5sums", 0o644, sums.Bytes()}}, when)
	if err != nil {
		return nil, err
	}
	rooted := []file{{"./", 0o755, nil}}
	for _, f := range withFolders(files) {
		f.name = "./" + f.name
		rooted = append(rooted, f)
	}
	dataTar, err := tarGzip(rooted, when)
	if err != nil {
		return nil, err
	}
	return arOf([]file{{"debian-binary", 0o644, []byte("2.0\n")},
		{"control.tar.gz", 0o644, controlTar}, {"data.tar.gz", 0o644, dataTar}}, when), nil
}

// arOf returns the files as an ar archive in the common form, each at an even offset.
func arOf(files []file, when time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, when.Unix(), 0, 0,
			0o100000|f.mode, len(f.data))
		b.Write(f.data)
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// debFiles are what a Debian package of the program installs, at the places of Debian's policy, which
// wants pages and lists of changes packed.
func debFiles(p product, program []byte) ([]file, error) {
	const doc = "usr/share/doc/halfspace/"
	files := []file{{"usr/bin/halfspace", 0o755, program},
		{doc + "copyright", 0o644, debCopyright(p)}}
	for _, c := range p.completions {
		if place, ok := debCompletions[c.name]; ok {
			files = append(files, file{place, 0o644, c.data})
		}
	}
	// Debian's own list of changes is one of the package; what users notice is in the other.
	changes := fmt.Appendf(nil, "halfspace (%s) unstable; urgency=medium\n\n"+
		"  * See NEWS.gz beside this file.\n\n -- %s  %s\n",
		debVersion(p.version), maintainer, p.when.UTC().Format(time.RFC1123Z))
	pack := []file{{doc + "changelog", 0o644, changes}, {doc + "NEWS", 0o644, p.changelog},
		{doc + thirdParty, 0o644, p.notices}}
	for _, page := range p.man {
		section := page.name[len(page.name)-1:]
		pack = append(pack, file{"usr/share/man/man" + section + "/" + page.name, 0o644, page.data})
	}
	for _, f := range pack {
		z, err := gzipOf(f.data)
		if err != nil {
			return nil, err
		}
		files = append(files, file{f.name + ".gz", f.mode, z})
	}
	return files, nil
}

// debCompletions are the places of the completions of Debian's shells.
var debCompletions = map[string]string{
	"halfspace.bash": "usr/share/bash-completion/completions/halfspace",
	"_halfspace":     "usr/share/zsh/vendor-completions/_halfspace",
	"halfspace.fish": "usr/share/fish/vendor_completions.d/halfspace.fish",
}

// debCopyright is the licence in the form that Debian's tools read: blank lines are points.
func debCopyright(p product) []byte {
	var b bytes.Buffer
	b.WriteString("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n" +
		"Upstream-Name: halfspace\nSource: https://github.com/halfspace-ml/halfspace\n" +
		"Comment: The Go modules that the program contains have licences of their own, which\n" +
		" " + thirdParty + ".gz beside this file has.\n" +
		"\nFiles: *\nCopyright: 2026 The halfspace authors\nLicense: Expat\n")
	for line := range strings.Lines(string(p.licence)) {
		if line = strings.TrimSpace(line); line == "" {
			line = "."
		}
		b.WriteString(" " + line + "\n")
	}
	return b.Bytes()
}
