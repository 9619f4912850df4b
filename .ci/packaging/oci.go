package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// The types below are those of the OCI image specification, 1.1, as far as they are used here:
// https://github.com/opencontainers/image-spec.

const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations"`
}

type imageConfig struct {
	platform
	Created time.Time `json:"created"`
	Config  struct {
		User       string
		Entrypoint []string
		WorkingDir string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []history `json:"history"`
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

// blobs are the parts of an image by their digests.
type blobs map[string][]byte

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// add keeps a part, and returns what stands for it elsewhere.
func (b blobs) add(mediaType string, data []byte) descriptor {
	d := digest(data)
	b[d] = data
	return descriptor{MediaType: mediaType, Digest: d, Size: len(data)}
}

func (b blobs) addJSON(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	return b.add(mediaType, data), err
}

// ociOf returns an image of the Linux programs, by architecture, as a tar archive in the layout that
// skopeo, podman and docker load. It has the program, its licences, and a folder for data, /data,
// where it begins; nothing else, for a static program needs nothing else.
func ociOf(p product, programs map[string][]byte) ([]byte, error) {
	all := blobs{}
	var images []descriptor
	for _, arch := range slices.Sorted(maps.Keys(programs)) {
		d, err := all.image(p, arch, programs[arch])
		if err != nil {
			return nil, err
		}
		images = append(images, d)
	}
	both, err := all.addJSON(mediaIndex, index{2, mediaIndex, images})
	if err != nil {
		return nil, err
	}
	both.Annotations = map[string]string{"org.opencontainers.image.ref.name": imageTag(p.version)}
	top, err := json.Marshal(index{2, mediaIndex, []descriptor{both}})
	if err != nil {
		return nil, err
	}
	files := []file{{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{"index.json", 0o644, top}}
	for _, d := range slices.Sorted(maps.Keys(all)) {
		name := "blobs/" + strings.Replace(d, ":", "/", 1)
		files = append(files, file{name, 0o644, all[d]})
	}
	return tarOf(withFolders(files), p.when)
}

// imageTag returns a version as a tag, which can't have a plus.
func imageTag(version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(version, "v"), "+", "-")
}

// image adds the image of one architecture: a layer, its config and the manifest of both.
func (b blobs) image(p product, arch string, program []byte) (descriptor, error) {
	const doc = "usr/share/doc/halfspace/"
	layer, err := tarOf(withFolders([]file{{"usr/bin/halfspace", 0o755, program},
		{doc + "LICENSE", 0o644, p.licence}, {doc + thirdParty, 0o644, p.notices},
		{"tmp/", 0o1777, nil}, {"data/", 0o1777, nil}}), p.when)
	if err != nil {
		return descriptor{}, err
	}
	packed, err := gzipOf(layer)
	if err != nil {
		return descriptor{}, err
	}
	labels := map[string]string{
		"org.opencontainers.image.title":       "halfspace",
		"org.opencontainers.image.description": description,
		"org.opencontainers.image.licenses":    "MIT",
		"org.opencontainers.image.source":      source,
		"org.opencontainers.image.version":     strings.TrimPrefix(p.version, "v"),
		"org.opencontainers.image.created":     p.when.Format(time.RFC3339),
	}
	if p.revision != "" {
		labels["org.opencontainers.image.revision"] = p.revision
	}
	c := imageConfig{platform: platform{arch, "linux"}, Created: p.when,
		History: []history{{p.when, "halfspace " + p.version}}}
	c.Config.User = "65532:65532" // no user of the machine's: the program needs no rights
	c.Config.Entrypoint = []string{"/usr/bin/halfspace"}
	c.Config.WorkingDir = "/data"
	c.Config.Labels = labels
	c.RootFS.Type = "layers"
	c.RootFS.DiffIDs = []string{digest(layer)}
	config, err := b.addJSON(mediaConfig, c)
	if err != nil {
		return descriptor{}, err
	}
	d, err := b.addJSON(mediaManifest, manifest{2, mediaManifest, config,
		[]descriptor{b.add(mediaLayer, packed)}, labels})
	d.Platform = &c.platform
	return d, err
}
