package papers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/internal/atomicfile"
)

// ErrCache says that a file of a Cache is damaged.
var ErrCache = errors.New("bench: damaged outcome")

// Cache keeps outcomes in a folder, each under a key of all that decides it. Several programs may
// use one folder.
type Cache struct{ Dir string }

// kept is the form of a file: the outcome's text with its checksum.
type kept struct {
	SHA256  string          `json:"sha256"`
	Outcome json.RawMessage `json:"outcome"`
}

// Load returns the outcome of a key: fs.ErrNotExist if there is none, ErrCache if its file is
// damaged.
func (c Cache) Load(key string) (Outcome, error) {
	text, err := os.ReadFile(c.file(key))
	if err != nil {
		return Outcome{}, err
	}
	var k kept
	var o Outcome
	if err := json.Unmarshal(text, &k); err != nil {
		return Outcome{}, fmt.Errorf("%w: %s: %w", ErrCache, c.file(key), err)
	}
	if sum := sha256.Sum256(k.Outcome); hex.EncodeToString(sum[:]) != k.SHA256 {
		return Outcome{}, fmt.Errorf("%w: %s: its checksum differs", ErrCache, c.file(key))
	}
	if err := json.Unmarshal(k.Outcome, &o); err != nil {
		return Outcome{}, fmt.Errorf("%w: %s: %w", ErrCache, c.file(key), err)
	}
	o.Cached = true
	return o, nil
}

// Save keeps an outcome; the file appears whole or not at all.
func (c Cache) Save(key string, o Outcome) error {
	var k kept
	var err error
	if k.Outcome, err = json.Marshal(o); err != nil {
		return err
	}
	sum := sha256.Sum256(k.Outcome)
	k.SHA256 = hex.EncodeToString(sum[:])
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // the outcome's bytes as they are: the checksum is theirs
	if err := enc.Encode(k); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	f, err := atomicfile.Create(c.file(key), 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(text.Bytes()); err != nil {
		return err
	}
	return f.Commit()
}

func (c Cache) file(key string) string { return filepath.Join(c.Dir, key+".json") }

// Key names all that decides an outcome and its times: the program, the machine with its threads,
// the options, and the data, by content.
func Key(e Experiment, o RunOptions) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range append([]string{program}, e.files(o.DataDir)...) {
		sum, err := fileSum(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, filepath.Base(name), sum)
	}
	fmt.Fprintf(h, "%s %d %d %v %q %s %d\n", e.Name, o.Runs, o.Seed, o.Slow, o.Rows,
		measure.Machine(), o.Pool.Workers())
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sums are the checksums of files, by name, size and time: several experiments read the same files.
var sums sync.Map

// fileSum returns the checksum of a file's content.
func fileSum(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	state := fmt.Sprintln(name, info.Size(), info.ModTime().UnixNano())
	if sum, ok := sums.Load(state); ok {
		return sum.(string), nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	sums.Store(state, sum)
	return sum, nil
}
