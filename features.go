package halfspace

import (
	"fmt"
	"maps"
)

// AddFeatures names features behind those that the model has, for a model whose features have
// names and to which such may be added: those of Row.Set, and the columns of Rows from the first
// one's number on. Snapshots don't know them. Names that the model has already are passed over; a
// model whose features have numbers, or are the columns of a file, is ErrFeature.
//
// Cost: once for each Snapshot, a copy of the table of names.
func (m *Model) AddFeatures(names ...string) error {
	m.hypothesis.check()
	p := &m.file.Prep
	if !m.grows() {
		return fmt.Errorf("halfspace: the model's features can't be added to: %w", ErrFeature)
	}
	for _, name := range names {
		if _, there := m.names[name]; there {
			continue
		}
		if name == "" {
			return fmt.Errorf("halfspace: feature \"\": want a name: %w", ErrFeature)
		}
		if m.shared {
			m.names, m.shared = maps.Clone(m.names), false
		}
		if m.names == nil {
			m.names = map[string]int{}
		}
		number := p.Numbers() + len(p.Names)
		m.names[name] = number
		p.Names = append(p.Names, name) // snapshots have the others
		p.Dim = max(p.Dim, number+1)
	}
	return nil
}

// grows reports whether new names may become features.
func (m *Model) grows() bool {
	p := &m.file.Prep
	return p.HashBits == 0 && (p.Words() || len(p.Names) > 0) && !m.file.PredictOnly
}

// Knows reports whether the model has the label. text: it is one where it comes from, see
// Rows.Texts. err is that of LearnOne, nil of a label that would become a class.
func (h *hypothesis) Knows(label string, text bool) (known bool, err error) {
	if h.check(); h.many {
		class, err := h.classOf(label, text)
		return err == nil && class < len(h.prep.Classes), err
	}
	_, err = h.sign(label, text)
	return err == nil, err
}

// Predicted returns the label that some Outputs predict, as Label does, and the score of that.
func (h *hypothesis) Predicted(outputs []float64) (label string, score float64) {
	h.check()
	return h.says(outputs)
}
