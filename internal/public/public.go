// Package public knows the public data sets that documents, tests and experiments here read: where
// they are published, their sizes, checksums and licences; and brings them, checked, into a folder.
//
// [Files] is the table. [Get] downloads a file, goes on where a download was cut, and puts the file
// in its place only when its content is what the table says. [Check] compares a file that is there.
//
// Checksums are of the content, unpacked and with line ends of Unix, so that it does not matter how
// an archive packs it. What is published plain is packed where the name says .gz: readers here take
// both.
package public

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Errors of this package, wrapped with what was found.
var (
	ErrUnknown  = errors.New("no such data set")        // a name that the table does not have
	ErrContent  = errors.New("not the published file")  // of another length or checksum
	ErrDownload = errors.New("it could not be fetched") // from any address
)

// File is a file of a data set.
type File struct {
	Set       string   `json:"set"`
	Name      string   `json:"name"`  // in the folder
	Bytes     int64    `json:"bytes"` // of the content, unpacked
	SHA256    string   `json:"sha256"`
	Rows      int      `json:"rows"` // 0 of documentation
	Licence   string   `json:"licence"`
	What      string   `json:"what"`      // in a few words
	Addresses []string `json:"addresses"` // of which each is as good; the first is tried first
}

//go:embed files.tsv
var table string

// Files returns the table, by set and name. What is returned is the caller's.
func Files() []File {
	var list []File
	for n, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if n == 0 { // names of columns
			continue
		}
		c := strings.Split(line, "\t")
		f := File{Set: c[0], Name: c[1], SHA256: c[3], Licence: c[5], What: c[6],
			Addresses: strings.Fields(c[7])}
		f.Bytes, _ = strconv.ParseInt(c[2], 10, 64) // the tests read all of it
		f.Rows, _ = strconv.Atoi(c[4])
		list = append(list, f)
	}
	return list
}

// Find returns the files of a set, or the file, of each name; of no names, all. A name without .gz
// or .bz2 stands for the file with it. The error wraps ErrUnknown.
func Find(names ...string) ([]File, error) {
	all := Files()
	if len(names) == 0 {
		return all, nil
	}
	var list []File
	taken := map[string]bool{}
	for _, name := range names {
		found := false
		for _, f := range all {
			if name != f.Set && name != f.Name && name != plainName(f.Name) {
				continue
			}
			found = true
			if !taken[f.Name] {
				taken[f.Name] = true
				list = append(list, f)
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
		}
	}
	return list, nil
}

// plainName is a name without what it is packed by.
func plainName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".bz2")
}

// Check compares the file of a folder with the table. Errors are those of os, and ErrContent.
func Check(dir string, f File) error {
	path := filepath.Join(dir, f.Name)
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := f.check(in, io.Discard); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// check reads a file, packed or not, compares its content with the table, and writes the content
// with line ends of Unix to w. No more is unpacked than the table says, and a line end each.
func (f *File) check(r io.Reader, w io.Writer) error {
	in, err := unpacked(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return fmt.Errorf("%v: %w", err, ErrContent)
	}
	sum := sha256.New()
	to := &unixLines{w: io.MultiWriter(sum, w), text: !strings.Contains(f.Name, "ubyte")}
	read, err := io.Copy(to, io.LimitReader(in, 2*f.Bytes+1))
	if err == nil {
		err = to.flush()
	}
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case to.err != nil:
		return to.err
	case err != nil:
		return fmt.Errorf("after %d bytes: %v: %w", read, err, ErrContent)
	case to.n != f.Bytes:
		return fmt.Errorf("%d bytes unpacked, want %d: %w", to.n, f.Bytes, ErrContent)
	case got != f.SHA256:
		return fmt.Errorf("sha256 %s, want %s: %w", got, f.SHA256, ErrContent)
	}
	return nil
}

// unpacked is what r holds, packed by gzip, by bzip2 or not.
func unpacked(r *bufio.Reader) (io.Reader, error) {
	head, _ := r.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return gzip.NewReader(r)
	case string(head) == "BZh":
		return bzip2.NewReader(r), nil
	}
	return r, nil
}

// unixLines passes text on without the \r before a \n.
type unixLines struct {
	w    io.Writer
	text bool // else everything as it is
	held bool // a \r that nothing came after yet
	n    int64
	err  error // of w
	buf  []byte
}

func (u *unixLines) Write(p []byte) (int, error) {
	u.buf = u.buf[:0]
	for _, c := range p {
		if u.held && c != '\n' {
			u.buf = append(u.buf, '\r')
		}
		if u.held = u.text && c == '\r'; !u.held {
			u.buf = append(u.buf, c)
		}
	}
	return len(p), u.put()
}

// put passes the buffer on.
func (u *unixLines) put() error {
	n, err := u.w.Write(u.buf)
	u.n += int64(n)
	if err != nil && u.err == nil {
		u.err = err
	}
	return err
}

func (u *unixLines) flush() error {
	if u.buf = u.buf[:0]; u.held {
		u.buf = append(u.buf, '\r')
	}
	return u.put()
}
