package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// ErrNoPlace: a format that is written has no place for something that the examples have.
var ErrNoPlace = format.ErrNoPlace

// Conversion says what [Convert] writes.
type Conversion struct {
	// To is the name of the format: one of format.Written.
	To string
	// Out is where the file goes, and Labels, of npy, where the array of labels does.
	Out, Labels io.Writer
}

// Converted is what [Convert] did.
type Converted struct {
	Info
	Lost []string // what of the examples is not in the file, in words
}

// Convert reads files, as [Open] does, and writes their examples as a file of another format: text
// or NumPy's arrays. All labels are written as they are, whatever their number. Options that change
// values or names (Bias, Scaling, Normalize, Missing, HashBits, Interactions) and those that choose
// labels are refused (ErrOption). What the format has no place for is an ErrNoPlace, or stands in
// Lost. A file written with an error is not usable.
//
// Cost: one pass; csv, npy and npz take all examples in memory.
func Convert(ctx context.Context, files []string, o Options, c Conversion) (*Converted, error) {
	for _, f := range []*string{&o.Bias, &o.Scaling, &o.Normalize} {
		if *f == "auto" || *f == "" {
			*f = "none"
		}
		if *f != "none" {
			return nil, fmt.Errorf("examples are written as they are, without %q: %w", *f,
				ErrOption)
		}
	}
	if o.HashBits > 0 || len(o.Interactions) > 0 || o.Missing != "" || o.Positive != "" ||
		o.Labels != nil {
		return nil, fmt.Errorf("features and labels are written as they are: %w", ErrOption)
	}
	o.AnyClasses, o.Classes = true, []string{}
	s, err := openFiles[float64](ctx, files, o, format.WrittenWhole(c.To))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	l, in := s.layout, s.info
	w, err := format.NewWriter(c.Out, c.Labels, c.To, format.About{Kind: in.Kind,
		IndexBase: in.IndexBase, LabelCol: in.LabelCol, Header: in.Header, Kinds: in.Kinds,
		Lead: l.Lead, Words: l.Words, TextLabel: s.lab.isText})
	if err != nil {
		return nil, err
	}
	out := &Converted{}
	if s.whole {
		d, err := s.load()
		if err != nil {
			return nil, err
		}
		out.Info = d.Info
		d.Block.Dim = max(d.Block.Dim, l.Dim)
		if err := w.Write(&d.Block, d.Info.Classes, d.Info.Names); err != nil {
			return nil, err
		}
	} else if out.Info, err = writeAll(s, w); err != nil {
		return nil, err
	}
	err = w.Close()
	out.Lost = w.Lost()
	return out, err
}

// writeAll writes all blocks of a stream.
func writeAll(s *Stream[float64], w *format.Writer) (Info, error) {
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return s.Info(), nil
		}
		if err != nil {
			return s.Info(), err
		}
		in := s.Info()
		if err := w.Write(b, in.Classes, in.Names); err != nil {
			return in, err
		}
	}
}
