package model

// Versions of the format. Programs of a version read files of the earlier ones, too.
const (
	first  = "1"
	second = "2"
)

// version returns the version that a file of the model is written as: the first one whose programs
// can read all that is in it. So the file of a model in which nothing is new keeps its bytes, and
// older programs say of one that they can't read that it is newer, not that it is damaged.
//
// Keys of the document that came later have a line each. What a learner adds to its settings or
// its state needs none: older programs refuse settings that they don't know as newer. A file of
// version 1 may have classes: the program that first wrote them did not count on.
func (m *Model) version() string {
	p := &m.Prep
	switch {
	case len(p.Classes) > 0, p.Scaling != nil, p.WeightCol != "", p.Kinds != "", p.Missing != "",
		len(p.Names) > 0, p.HashBits > 0, len(p.Interactions) > 0, m.Position != nil,
		p.LabelKey != "", p.IDKey != "", m.Calibration != nil, m.Threshold != nil,
		m.Rows != nil, m.Note != "":
		return second
	}
	return first
}
