package format

import (
	"github.com/halfspace-ml/halfspace/engine"
)

// ObjectKeys are the keys of rows that are objects, as [NDJSON] has them, where they come for a
// model whose features are known, such as in a request: then no row need be like the first. What is
// said of features of files holds for them, too.
type ObjectKeys struct {
	// Label are the keys of which one has the label.
	Label []string
	// ID is the key of the rows' ids, which Rows.RowID has, and Weight that of their weights; "":
	// there is none.
	ID, Weight string
	// Features is the key of an object or array that has the features, whose names stand for
	// themselves and not behind this key; other keys are features all the same. "": none.
	Features string

	// Words: features have names, else numbers from Base, 0 or 1. An array of Features has those of
	// Base and so on, or of Columns.
	Words   bool
	Base    int
	Columns []string
}

// Layout returns the layout of such rows, for chunks of [NDJSON].
func (k *ObjectKeys) Layout() *Layout {
	lay := &ndjsonLayout{keys: k, id: k.ID, numbers: !k.Words, kind: jsonSparse, like: "training"}
	if len(k.Label) > 0 {
		lay.label = k.Label[0]
	}
	lay.indexed = indexed{shift: -int64(k.Base), least: uint64(k.Base), most: maxIndex,
		zeroHint: "index 0, but indices counted from 1 in training"}
	return &Layout{Words: k.Words, IndexBase: k.Base, Own: lay}
}

// has reports whether a key of a row is of what stands beside features.
func (k *ObjectKeys) has(key []byte) bool {
	return k != nil && len(key) > 0 && (string(key) == k.Weight || string(key) == k.Features)
}

// isLabel reports whether the key name[key:] at that depth is the label's. Of files the label may
// stand in an object within the row, and is called as features there are.
func (lay *ndjsonLayout) isLabel(name []byte, key, depth int) bool {
	if lay.keys == nil {
		return string(name) == lay.label && (depth == 1 || !lay.numbers)
	}
	for _, label := range lay.keys.Label {
		if depth == 1 && string(name[key:]) == label {
			return true
		}
	}
	return false
}

// ownKeys is what a row has for ObjectKeys.
type ownKeys[T engine.Float] struct {
	weight                 T
	hasWeight, hasFeatures bool
}

// besides reads the value at p of a key, at byte at, that ObjectKeys has.
func (j *ndjsonRow[T]) besides(at, p int, key string) int {
	j.name = j.name[:0]
	if key == j.lay.keys.Weight {
		return j.readWeight(at, p)
	}
	if j.own.hasFeatures {
		return j.fail(at, "the key %q comes twice in the row", key)
	}
	j.own.hasFeatures = true
	switch {
	case j.b[p] == '{':
		return j.object(p, 2)
	case j.b[p] != '[':
		return j.fail(p, "expected an object or an array of features, found %s", j.token(p))
	case j.lay.numbers:
		return j.dense(p)
	}
	return j.columns(p)
}

// readWeight reads the row's weight.
func (j *ndjsonRow[T]) readWeight(at, p int) int {
	o := &j.own
	if o.hasWeight {
		return j.fail(at, "the key %q comes twice in the row", j.lay.keys.Weight)
	}
	o.hasWeight = true
	v, end, st := parseNumber[float64](j.b, p)
	if st != numOK || !j.plainNumber(p, end) {
		return j.fail(p, "expected a weight, a finite number of 0 or more, found %s", j.token(p))
	}
	w, bad := WeightOf[T](v)
	if bad != "" {
		return j.fail(p, "%s", bad)
	}
	o.weight = w
	return end
}

// columns reads the array at p, of a number for each column.
func (j *ndjsonRow[T]) columns(p int) int {
	names := j.lay.keys.Columns
	begin := p
	i := 0
	for p = j.blank(p + 1); j.b[p] != ']'; i++ {
		if i > 0 {
			if j.b[p] != ',' {
				return j.fail(p, "expected a comma or ], found %s", j.token(p))
			}
			p = j.blank(p + 1)
		}
		if i >= len(names) {
			return j.fail(p, "expected %d features, as there are columns, found more", len(names))
		}
		v, end, nothing := j.plain(p)
		if nothing {
			return j.fail(p, "expected a number, found %s", j.token(p))
		}
		if end < 0 {
			return -1
		}
		j.name = append(j.name[:0], names[i]...)
		if once, bad := j.add(p, v, nil); bad != "" {
			return j.fail(p, "%s", bad)
		} else if !once {
			return j.fail(p, "the feature %q comes twice in the row", j.name)
		}
		p = j.blank(end)
	}
	if j.name = j.name[:0]; i < len(names) {
		return j.fail(begin, "expected %d features, as there are columns, found %d", len(names), i)
	}
	return p + 1
}

// Len returns how many names the set has: those of the rows that were read into it last.
func (s *NameSet) Len() int { return len(s.list) }

// Name returns the name of number i, which must not be changed and is good until the next chunk.
func (s *NameSet) Name(i int) []byte {
	e := &s.list[i]
	return s.text[e.at:e.end]
}

// Cap returns how many names the set has room for, which it keeps.
func (s *NameSet) Cap() int { return len(s.table) }

// SortFeatures sorts the features of a row as rows of files are, adds up the values of those that
// come twice, in the order in which they stood, and returns how many are left.
func SortFeatures[T engine.Float](idx []int32, val []T) int {
	if ascending(idx) {
		return len(idx)
	}
	return sortPairs(idx, val)
}
