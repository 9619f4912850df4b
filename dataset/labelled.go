package dataset

// Labelled tells whether example i of the block that Next returned last has a label: false only for rows that Options.LabelsOptional let
// pass with none, or with one that Options.Labels doesn't know.
func (s *Stream[T]) Labelled(i int) bool {
	return s.lab.sign[s.cur.code[s.pos-s.view.Len()+i]] != unlabelled
}
