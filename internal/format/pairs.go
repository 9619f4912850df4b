package format

import "fmt"

// pairing is how a format opens files of examples and of their labels.
type pairing struct {
	// read returns the examples of an open file, which stays open, or its labels.
	read func(name string, in File, o *Options) (*examples, *array, error)
	// beside is the file of labels that stands beside one of examples, "" where there is none.
	beside  func(examples string) string
	alone   string                                   // what is wrong with labels alone
	missing func(x *examples, all []*examples) error // and with examples alone
}

// examples are a file of examples, standing at the first one.
type examples struct {
	file   File
	at     int64    // byte where the file says how many there are
	layout *Layout  // Own is *arrayRows
	data   File     // what they are read from; nil: file
	runs   Runs     // of sparse ones; else nil
	names  []string // of the arrays in a zip
}

// layout is the layout of a file of such rows.
func (a *array) layout(kind, unit string) *Layout {
	return &Layout{Kind: kind, IndexBase: 1, BaseFound: byColumns, Dim: a.cols,
		Size: a.cols * a.size, Rows: a.rows, Start: a.start, Unit: unit,
		Own: &arrayRows{rows: a.rows, dim: a.cols, kind: a.kind, image: unit == "image"}}
}

// openPairs opens the files. Examples and labels may come in either order; the i-th examples that
// have no labels in their file go with the i-th labels. Without labels, those beside the examples
// are taken.
func openPairs(files []string, o *Options, open func(string) (File, error),
	p pairing) (parts []Part, err error) {
	var xs []*examples
	var ys []*array
	defer func() {
		for _, x := range xs {
			if err != nil {
				x.file.Close()
			}
		}
	}()
	read := func(name string) error {
		in, err := open(name)
		if err != nil {
			return err
		}
		x, y, err := p.read(name, in, o)
		if err != nil || x == nil {
			in.Close()
		}
		switch {
		case err != nil:
			return err
		case x != nil:
			xs = append(xs, x)
		default:
			ys = append(ys, y)
		}
		return nil
	}
	for _, name := range files {
		if err = read(name); err != nil {
			return nil, err
		}
	}
	n, named := len(xs), len(ys) > 0
	if n == 0 {
		return nil, badFile(files[0], "%s", p.alone)
	}
	for _, x := range xs[:n] {
		name := p.beside(x.file.Name())
		if x.own().labels != nil || named || name == "" {
			continue
		}
		if err = read(name); err != nil {
			return nil, err
		}
		if len(xs) > n {
			return nil, badFile(name, "expected labels, an array of one dimension: save y.ravel()")
		}
	}
	labels := len(ys)
	for _, x := range xs {
		own := x.own()
		if own.labels == nil && len(ys) > 0 {
			own.labels, ys = ys[0], ys[1:]
		}
		if own.labels == nil && !o.Optional {
			return nil, p.missing(x, xs)
		}
		if err = x.match(xs[0], o); err != nil {
			return nil, err
		}
		parts = append(parts, Part{File: x.file, Data: x.data, Layout: x.layout, Runs: x.runs})
	}
	if len(ys) > 0 {
		return nil, badFile(ys[0].name, "%d files of examples, but %d of labels", len(xs), labels)
	}
	return parts, nil
}

// own is what the format keeps of the examples.
func (x *examples) own() *arrayRows { return x.layout.Own.(*arrayRows) }

// match looks whether labels and weights are as many as the examples, and all examples as wide as
// the first ones and those of training.
func (x *examples) match(first *examples, o *Options) error {
	l, own := x.layout, x.own()
	bad := func(what string, args ...any) error {
		return &RowError{File: x.file.Name(), Offset: x.at, What: fmt.Sprintf(what, args...),
			Err: ErrFormat}
	}
	unit := l.Unit
	if unit == "" {
		unit = "example"
	}
	switch y, w, one := own.labels, own.weights, first.layout; {
	case y != nil && y.rows != own.rows:
		return bad("%d %ss, but %s has %d labels", own.rows, unit, y.name, y.rows)
	case w != nil && w.rows != own.rows:
		return bad("%d %ss, but %s has %d weights", own.rows, unit, w.name, w.rows)
	case l.Run != one.Run:
		return bad("sparse (%t), but %s is not (%t)", l.Run, first.file.Name(), one.Run)
	case l.Dim != one.Dim:
		return bad("%d values an %s, but %s has %d", l.Dim, unit, first.file.Name(), one.Dim)
	case o.TrainedDim > 0 && l.Dim != o.TrainedDim:
		return &RowError{File: x.file.Name(), Col: 1, Err: ErrForeign,
			What: fmt.Sprintf("expected images of %d pixels as in training, found %d",
				o.TrainedDim, l.Dim)}
	}
	return nil
}

// badFile is what is wrong with a file as a whole.
func badFile(file, what string, args ...any) error {
	return &RowError{File: file, What: fmt.Sprintf(what, args...), Err: ErrFormat}
}
