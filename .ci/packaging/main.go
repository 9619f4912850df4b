// Command packaging makes those files of a release that need the program's own code or a library:
//
//	packaging pages DIR                    man pages and completions
//	packaging image VERSION LAYERS DIR     an OCI image of LAYERS/amd64.tar and LAYERS/arm64.tar
//
// The same source gives the same bytes: the time of all files is SOURCE_DATE_EPOCH. .ci/release
// calls it.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/cobra/doc"

	"github.com/halfspace-ml/halfspace/internal/command"
)

func main() {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	when := time.Unix(seconds, 0).UTC()
	switch args := os.Args[1:]; {
	case err != nil:
	case len(args) == 2 && args[0] == "pages":
		err = writePages(args[1], when)
	case len(args) == 4 && args[0] == "image":
		err = writeImage(args[1], args[2], args[3], when)
	default:
		err = fmt.Errorf("usage: packaging pages DIR | packaging image VERSION LAYERS DIR")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

// writePages writes a page of section 1 for each command, one of section 7 for each topic of the
// help, and the completions of four shells.
func writePages(dir string, when time.Time) error {
	root := command.Tree()
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &when, Source: "halfspace", Manual: "halfspace"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return err
	}
	for _, c := range root.Commands() {
		if !c.IsAdditionalHelpTopicCommand() {
			continue
		}
		name := "halfspace-" + c.Name()
		page := fmt.Sprintf("%% %q 7 %q\n# NAME\n%s - %s\n# DESCRIPTION\n\n```\n%s\n```\n",
			strings.ToUpper(name), when.Format("Jan 2006"), name, c.Short, c.Long)
		err := os.WriteFile(filepath.Join(dir, name+".7"), md2man.Render([]byte(page)), 0o644)
		if err != nil {
			return err
		}
	}
	for name, write := range map[string]func(io.Writer) error{
		"halfspace.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_halfspace":     root.GenZshCompletion,
		"halfspace.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"halfspace.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeImage writes an image in the OCI layout, which skopeo, podman and docker load once it is a
// tar archive. Its one layer is dir/ARCH.tar: a static program needs no other files.
func writeImage(version, dir, out string, when time.Time) error {
	images := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range []string{"amd64", "arm64"} {
		image, err := imageOf(version, arch, filepath.Join(dir, arch+".tar"), when)
		if err != nil {
			return err
		}
		images = mutate.AppendManifests(images, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	top, err := layout.Write(out, empty.Index)
	if err != nil {
		return err
	}
	tag := strings.ReplaceAll(version, "+", "-") // a tag can't have a plus
	return top.AppendIndex(images, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag}))
}

// imageOf returns the image of one architecture.
func imageOf(version, arch, layerFile string, when time.Time) (v1.Image, error) {
	layer, err := tarball.LayerFromFile(layerFile, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: when}, CreatedBy: "halfspace " + version}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: when}
	config.Config = v1.Config{
		User:       "65532:65532", // not root: the program needs no rights
		Entrypoint: []string{"/usr/bin/halfspace"},
		WorkingDir: "/data",
		Labels: map[string]string{
			"org.opencontainers.image.title":    "halfspace",
			"org.opencontainers.image.licenses": "MIT",
			"org.opencontainers.image.source":   "https://github.com/halfspace-ml/halfspace",
			"org.opencontainers.image.version":  version,
			"org.opencontainers.image.created":  when.Format(time.RFC3339),
			"org.opencontainers.image.revision": os.Getenv("REVISION"),
		}}
	return mutate.ConfigFile(image, config)
}
