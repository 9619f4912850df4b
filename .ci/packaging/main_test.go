package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sourceFiles are a program as small as can be with a module of another's in it: the real one takes
// a minute to compile, and .ci/release --check makes that one twice.
var sourceFiles = map[string]string{
	"go.mod": "module " + modulePath + "\n\ngo 1.26.0\n\nrequire github.com/spf13/pflag v1.0.9\n",
	"cmd/halfspace/main.go": "package main\n\nimport \"github.com/spf13/pflag\"\n\n" +
		"func main() { println(\"it runs\"); pflag.Parse() }\n",
	"README.md": "# halfspace\n", "CHANGELOG.md": "# Changes\n",
	"LICENSE": "MIT License\n\nCopyright (c) 2026 The halfspace authors\n",
}

var made = time.Unix(1_800_000_000, 0).UTC()

// writeSource writes the small program's source below a folder of a name, and returns it.
func writeSource(t *testing.T, folder string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), folder)
	for name, text := range sourceFiles {
		writeFile(t, filepath.Join(dir, name), []byte(text))
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "go.sum"), sums)
	return dir
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRelease makes a release twice, in folders of other names, and compares the bytes; what is
// installed from it runs.
func TestRelease(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1800000000")
	out := [2]string{t.TempDir(), t.TempDir()}
	for i, folder := range []string{"a", "another/folder with blanks"} {
		if err := run(writeSource(t, folder), out[i], "linux/amd64", "v1.2.0-rc.1"); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(out[0])
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	sums, err := os.ReadFile(filepath.Join(out[0], "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
		a, err := os.ReadFile(filepath.Join(out[0], e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(out[1], e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the bytes depend on the folder", e.Name())
		}
		line := strings.TrimPrefix(digest(a), "sha256:") + "  " + e.Name() + "\n"
		if e.Name() != "SHA256SUMS" && !strings.Contains(string(sums), line) {
			t.Errorf("SHA256SUMS has no line %q", line)
		}
	}
	want := []string{"SHA256SUMS", "halfspace_1.2.0-rc.1.spdx.json",
		"halfspace_1.2.0-rc.1_linux_amd64.tar.gz", "halfspace_1.2.0-rc.1_oci.tar",
		"halfspace_1.2.0~rc.1_amd64.deb"}
	if !slices.Equal(names, want) {
		t.Errorf("a release has %q, want %q", names, want)
	}
	checkInstalled(t, filepath.Join(out[0], want[4]))
}

// checkInstalled has dpkg-deb look at a package and unpack it below a folder, as an installation
// does, and runs the program there.
func checkInstalled(t *testing.T, deb string) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("no dpkg-deb here")
	}
	said := output(t, "dpkg-deb", "-f", deb, "Package", "Version", "Architecture")
	if want := "Package: halfspace\nVersion: 1.2.0~rc.1\nArchitecture: amd64\n"; said != want {
		t.Errorf("the package says %q, want %q", said, want)
	}
	contents := output(t, "dpkg-deb", "-c", deb)
	for _, name := range []string{" ./usr/share/man/man1/halfspace-train.1.gz\n",
		" ./usr/share/man/man7/halfspace-formats.7.gz\n", " ./usr/share/doc/halfspace/copyright\n",
		" ./usr/share/bash-completion/completions/halfspace\n",
		" ./usr/share/zsh/vendor-completions/_halfspace\n",
		" ./usr/share/fish/vendor_completions.d/halfspace.fish\n"} {
		if !strings.Contains(contents, name) {
			t.Errorf("the package lacks%s", name)
		}
	}
	root := t.TempDir()
	output(t, "dpkg-deb", "-x", deb, root)
	if said := output(t, filepath.Join(root, "usr/bin/halfspace")); said != "it runs\n" {
		t.Errorf("the installed program says %q", said)
	}
	control := filepath.Join(root, "control")
	output(t, "dpkg-deb", "-e", deb, control)
	cmd := exec.Command("md5sum", "--check", "--quiet", filepath.Join(control, "md5sums"))
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("md5sums: %v: %s", err, said)
	}
}

// output runs a program and returns what it says, on stderr too.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	said, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, args, err, said)
	}
	return string(said)
}

// TestUncommitted: a version that names a commit stands for that commit's source alone.
func TestUncommitted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("no git here")
	}
	dir := writeSource(t, "source")
	if err := run(dir, t.TempDir(), "linux/amd64", ""); err == nil ||
		!strings.Contains(err.Error(), "no git repository") {
		t.Errorf("a source without a repository gives %v", err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	output(t, "git", "-C", dir, "init", "-q")
	output(t, "git", "-C", dir, "add", ".")
	output(t, "git", "-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
	output(t, "git", "-C", dir, "tag", "v0.3.1")
	out := t.TempDir()
	if err := run(dir, out, "linux/amd64", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(out, "halfspace_0.3.1_amd64.deb")); err != nil {
		t.Error(err)
	}
	writeFile(t, filepath.Join(dir, "README.md"), []byte("changed\n"))
	if err := run(dir, t.TempDir(), "linux/amd64", ""); err == nil ||
		!strings.Contains(err.Error(), "not committed") {
		t.Errorf("a changed source gives %v", err)
	}
}

// TestArchives: entries in order, each folder before what is in it, one time, root's; a head of gzip
// without time and system.
func TestArchives(t *testing.T) {
	files := withFolders([]file{{"b/c/d", 0o755, []byte("program")}, {"a", 0o644, []byte("text")}})
	packed, err := tarGzip(files, made)
	if err != nil {
		t.Fatal(err)
	}
	if head := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}; !bytes.HasPrefix(packed, head) {
		t.Errorf("gzip's head is % x", packed[:len(head)])
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "root" || !h.ModTime.Equal(made) {
			t.Errorf("%s: %+v", h.Name, h)
		}
		if h.Name == "b/c/d" && h.Mode != 0o755 {
			t.Errorf("%s has mode %o", h.Name, h.Mode)
		}
	}
	want := []string{"a", "b/", "b/c/", "b/c/d"}
	if !slices.Equal(names, want) {
		t.Errorf("tar has %q, want %q", names, want)
	}
	packed, err = zipOf(files, made)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range r.File {
		if f.Name != want[i] || !f.Modified.Equal(made) {
			t.Errorf("zip has %s of %v, want %s", f.Name, f.Modified, want[i])
		}
	}
}

func TestDebVersion(t *testing.T) {
	for _, c := range []struct{ version, want string }{
		{"v1.2.0", "1.2.0"}, {"v1.2.0-rc.1", "1.2.0~rc.1"},
		{"v0.0.0-20261123085600-208d345abcde", "0.0.0~20261123085600.208d345abcde"},
	} {
		if got := debVersion(c.version); got != c.want {
			t.Errorf("%s is %s, want %s", c.version, got, c.want)
		}
	}
	if _, err := exec.LookPath("dpkg"); err == nil {
		output(t, "dpkg", "--compare-versions", debVersion("v1.2.0-rc.1"), "lt", debVersion("v1.2.0"))
	}
}

// TestImage: every digest and size in the image is that of the bytes, and what the config says of
// the layer is true of the unpacked one.
func TestImage(t *testing.T) {
	p := product{version: "v1.2.0+x", revision: "abc", when: made, licence: []byte("MIT"),
		notices: []byte("theirs")}
	image, err := ociOf(p, map[string][]byte{"amd64": []byte("one"), "arm64": []byte("other")})
	if err != nil {
		t.Fatal(err)
	}
	parts := untar(t, image)
	if got := string(parts["oci-layout"]); got != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout is %s", got)
	}
	used := 0
	part := func(d descriptor) []byte {
		data := parts["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if digest(data) != d.Digest || len(data) != d.Size {
			t.Errorf("%+v stands for %d bytes of %s", d, len(data), digest(data))
		}
		used++
		return data
	}
	top := decode[index](t, parts["index.json"])
	if tag := top.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; tag != "1.2.0-x" {
		t.Errorf("the tag is %s", tag)
	}
	var platforms []string
	for _, m := range decode[index](t, part(top.Manifests[0])).Manifests {
		platforms = append(platforms, m.Platform.OS+"/"+m.Platform.Architecture)
		image := decode[manifest](t, part(m))
		config := decode[imageConfig](t, part(image.Config))
		z, err := gzip.NewReader(bytes.NewReader(part(image.Layers[0])))
		if err != nil {
			t.Fatal(err)
		}
		layer, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if config.RootFS.DiffIDs[0] != digest(layer) || config.platform != *m.Platform {
			t.Errorf("the config says %+v", config)
		}
		if user := config.Config.User; user != "65532:65532" {
			t.Errorf("the user is %q", user)
		}
		if len(untar(t, layer)[strings.TrimPrefix(config.Config.Entrypoint[0], "/")]) == 0 {
			t.Errorf("the layer lacks %q", config.Config.Entrypoint)
		}
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(platforms, want) {
		t.Errorf("the image is for %q, want %q", platforms, want)
	}
	if blobs := len(parts) - 2; used != blobs {
		t.Errorf("of %d parts %d are used", blobs, used)
	}
}

// untar returns the files of a tar archive.
func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if files[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func decode[T any](t *testing.T, data []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %.200s", err, data)
	}
	return v
}

// TestSBOM: names are unique, what is related is there, and a module that not all programs have says
// which do.
func TestSBOM(t *testing.T) {
	linux, windows := target{"linux", "amd64"}, target{"windows", "arm64"}
	modules := []module{
		{path: "a.b/c_d", version: "v1.0.0", sum: "h1:x=", targets: []target{linux, windows},
			licence: "MIT"},
		{path: "a.b/c-e", version: "v1.0.0", targets: []target{windows}},
	}
	b, err := sbomOf(product{version: "v1.2.0", when: made}, modules,
		map[target][]byte{linux: []byte("one"), windows: []byte("other")})
	if err != nil {
		t.Fatal(err)
	}
	doc := decode[spdxDocument](t, b)
	ids := map[string]bool{"SPDXRef-DOCUMENT": true}
	for _, p := range doc.Packages {
		if ids[p.SPDXID] {
			t.Errorf("%s is there twice", p.SPDXID)
		}
		ids[p.SPDXID] = true
	}
	for _, f := range doc.Files {
		ids[f.SPDXID] = true
	}
	for _, r := range doc.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("what is related isn't there: %+v", r)
		}
	}
	if m := doc.Packages[2]; m.LicenseDeclared != noAssertion ||
		m.Comment != "Only in the programs for windows/arm64." {
		t.Errorf("%+v", m)
	}
	if f := doc.Files[1].FileName; f != "./halfspace_1.2.0_windows_arm64/halfspace.exe" {
		t.Errorf("a program is called %s", f)
	}
}

// TestLicences: of each module that the command contains, on any system, the licence is known.
func TestLicences(t *testing.T) {
	seen := map[string]bool{"std": true}
	for _, system := range []string{"linux", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}"+
			"{{end}}{{end}}", "./cmd/halfspace")
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		paths, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for path := range strings.FieldsSeq(string(paths)) {
			seen[path] = true
		}
	}
	for path := range seen {
		dir, err := sourceOf("../..", path)
		if err != nil {
			t.Fatal(err)
		}
		m := module{path: path, dir: dir}
		if err := m.readLicences(); err != nil {
			t.Error(err)
		} else if m.licence == "" {
			t.Errorf("%s: which licence do the files in %s state?", path, dir)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d modules were looked at", len(seen))
	}
}
