package dataset

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// sonarDim is the number of attributes of a sonar return.
const sonarDim = 60

// Sonar reads the sonar returns of R. P. Gorman and T. J. Sejnowski from their original files,
// sonar.mines and sonar.rocks: the mines first, labelled +1, then the rocks, -1, each in the order
// of the file. With training it keeps those marked with a star, the training set of the
// "aspect-angle dependent" experiment: 49 and 55.
//
// A return is a name and a colon, with a star before it or not, and then 60 numbers in braces. The
// text before the first one is skipped.
func Sonar[T engine.Float](mines, rocks string, training bool) (*Data[T], error) {
	d := &Data[T]{Block: engine.Block[T]{Dim: sonarDim, Stride: sonarDim}}
	for _, file := range []struct {
		name  string
		label T
	}{{mines, 1}, {rocks, -1}} {
		f, err := os.Open(file.name)
		if err != nil {
			return nil, err
		}
		err = readSonar(f, file.name, file.label, training, &d.Block)
		f.Close()
		if err != nil {
			return nil, err
		}
		if file.label > 0 {
			d.Info.Positives = d.Block.Len()
		}
	}
	d.Info.Format, d.Info.Dim, d.Info.Rows, d.Info.Scale = "sonar", sonarDim, d.Block.Len(), 1
	d.Info.Labels = LabelMap{Negative: "rock", Positive: "mine"}
	return d, d.Block.Check()
}

// readSonar appends the returns of one file.
func readSonar[T engine.Float](r io.Reader, name string, label T, training bool,
	b *engine.Block[T]) error {
	bad := func(line int, what, text string) error {
		return &RowError{File: name, Line: line, Col: 1, Good: int64(b.Len()),
			What: what, Excerpt: format.Excerpt([]byte(text), 0), Err: ErrBadRow}
	}
	in := bufio.NewScanner(r)
	inside, keep, line, values, seen := false, false, 0, 0, 0
	for in.Scan() {
		line++
		text := strings.TrimSpace(in.Text())
		if !inside {
			title, found := strings.CutSuffix(text, ":")
			if found && !strings.ContainsAny(title, " \t") {
				keep = !training || strings.HasPrefix(title, "*")
			}
			rest, found := strings.CutPrefix(text, "{")
			if !found {
				continue
			}
			inside, values, text = true, 0, rest
		}
		text, inside = cutBrace(text)
		for _, field := range strings.Fields(text) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil || v-v != 0 {
				return bad(line, "expected a number", in.Text())
			}
			values++
			if keep {
				b.X = append(b.X, T(v))
			}
		}
		if inside {
			continue
		}
		if values != sonarDim {
			return bad(line, fmt.Sprintf("expected %d numbers up to here, found %d", sonarDim,
				values), in.Text())
		}
		seen++
		if keep {
			b.Y = append(b.Y, label)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if inside {
		return fmt.Errorf("%s: the last return has no closing brace: %w", name, ErrTruncated)
	}
	if seen == 0 {
		return fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	return nil
}

// cutBrace returns what stands before a closing brace, and whether there is none.
func cutBrace(text string) (before string, open bool) {
	before, _, closed := strings.Cut(text, "}")
	return before, !closed
}
