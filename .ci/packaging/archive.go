package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"path"
	"slices"
	"strings"
	"time"
)

// A file is what goes into an archive, by its path with slashes. A name that ends with a slash is a
// folder.
type file struct {
	name string
	mode int64
	data []byte
}

// withFolders returns the files in the order of their names, with each folder that they lie in
// before them. Programs that install packages expect an entry for every folder.
func withFolders(files []file) []file {
	all := slices.Clone(files)
	seen := map[string]bool{"./": true}
	for _, f := range all {
		seen[f.name] = true
	}
	for _, f := range files {
		for dir := path.Dir(strings.TrimSuffix(f.name, "/")); dir != "."; dir = path.Dir(dir) {
			if name := dir + "/"; !seen[name] {
				seen[name] = true
				all = append(all, file{name, 0o755, nil})
			}
		}
	}
	slices.SortFunc(all, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return all
}

// tarOf returns the files as a tar archive of root's, all of one time: nothing in it depends on
// where and when it was made.
func tarOf(files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: when,
			Typeflag: tar.TypeReg, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipOf packs data, with a head that has neither name nor time.
func gzipOf(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func tarGzip(files []file, when time.Time) ([]byte, error) {
	b, err := tarOf(files, when)
	if err != nil {
		return nil, err
	}
	return gzipOf(b)
}

// zipOf returns the files as a zip archive, which is what Windows opens by itself.
func zipOf(files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Modified: when.UTC(), Method: zip.Deflate}
		if strings.HasSuffix(f.name, "/") {
			h.Method = zip.Store
		}
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
