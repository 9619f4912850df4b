package measure

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// sonarDim is the number of attributes of a sonar return.
const sonarDim = 60

// Sonar loads from dir the sonar returns of R. P. Gorman and T. J. Sejnowski, from their original
// files: of each the training set of the "aspect-angle dependent" experiment, whose names have a
// star: 49 mines, labelled +1, then 55 rocks, -1, in the order of the files. They are in the
// augmented space: each has one more feature, which is 1.
func Sonar(dir string) (*engine.Block[float64], error) {
	b := &engine.Block[float64]{Dim: sonarDim, Stride: sonarDim}
	for _, file := range []struct {
		name  string
		label float64
	}{{"sonar.mines", 1}, {"sonar.rocks", -1}} {
		f, err := os.Open(filepath.Join(dir, file.name))
		if err != nil {
			return nil, err
		}
		err = readSonar(f, file.label, b)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s:%w", f.Name(), err)
		}
	}
	return Augmented(b, 1), b.Check()
}

// readSonar appends the starred returns of one file. A return is a name and a colon, and then 60
// numbers in braces. The text before the first one is skipped.
func readSonar(r io.Reader, label float64, b *engine.Block[float64]) error {
	in := bufio.NewScanner(r)
	inside, keep, line, values, seen := false, false, 0, 0, 0
	for in.Scan() {
		line++
		text := strings.TrimSpace(in.Text())
		if !inside {
			title, found := strings.CutSuffix(text, ":")
			if found && !strings.ContainsAny(title, " \t") {
				keep = strings.HasPrefix(title, "*")
			}
			if text, inside = strings.CutPrefix(text, "{"); !inside {
				continue
			}
			values = 0
		}
		text, _, closed := strings.Cut(text, "}")
		for _, field := range strings.Fields(text) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil || v-v != 0 {
				return fmt.Errorf("%d: expected a number, found %q: %w", line, field,
					dataset.ErrBadRow)
			}
			if values++; keep {
				b.X = append(b.X, v)
			}
		}
		if !closed {
			continue
		}
		if values != sonarDim {
			return fmt.Errorf("%d: expected %d numbers up to here, found %d: %w", line, sonarDim,
				values, dataset.ErrBadRow)
		}
		inside = false
		if seen++; keep {
			b.Y = append(b.Y, label)
		}
	}
	switch err := in.Err(); {
	case err != nil:
		return fmt.Errorf("%d: %w", line, err)
	case inside:
		return fmt.Errorf("%d: the last return has no closing brace: %w", line,
			dataset.ErrTruncated)
	case seen == 0:
		return fmt.Errorf("%d: %w", line, dataset.ErrEmpty)
	}
	return nil
}
