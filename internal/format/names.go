package format

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"unicode/utf8"

	"github.com/twmb/murmur3"

	"github.com/halfspace-ml/halfspace/engine"
)

// Bounds on names of features.
const (
	// MaxNames is how many names a dictionary holds, and MaxNameBytes how long they are together:
	// the model file has them all.
	MaxNames     = 1 << 20
	MaxNameBytes = 32 << 20
	// LongName is the length in bytes above which a name is bad.
	LongName = 1024
	// MaxHashBits is the most that features may be hashed into: their numbers are int32.
	MaxHashBits = 28
)

// Dictionary gives features that have names, and no numbers, their numbers, from 0 and without a
// bias: in the order in which names first come, or by a hash of the name. The zero value is an
// empty dictionary. One goroutine may use it at a time.
type Dictionary struct {
	bits   int
	list   []string
	number map[string]int32
	bytes  int // of list

	owner  map[int32]uint32 // of a hashed feature: another hash of the name that came first
	shared map[int32]bool   // features that more than one name has
}

// NewDictionary returns the dictionary of a list, whose places are the numbers; or with bits, 1 to
// MaxHashBits, names that are hashed into so many bits. The list, as a model file has it, is
// refused if a name comes twice, or is too long, or no text.
func NewDictionary(list []string, bits int) (*Dictionary, error) {
	n := &Dictionary{bits: bits}
	switch {
	case bits < 0 || bits > MaxHashBits:
		return nil, fmt.Errorf("names hashed into %d bits, expected 1 to %d: %w", bits,
			MaxHashBits, ErrOption)
	case bits > 0 && len(list) > 0:
		return nil, fmt.Errorf("a list of %d names beside a hash: %w", len(list), ErrOption)
	}
	for i, name := range list {
		if bad := badName([]byte(name)); bad != "" {
			return nil, fmt.Errorf("name %d of a feature: %s: %w", i, bad, ErrOption)
		}
		if k, err := n.Number(name, 0); err != nil {
			return nil, err
		} else if int(k) != i {
			return nil, fmt.Errorf("names %d and %d of features are both %q: %w", k, i, name,
				ErrOption)
		}
	}
	return n, nil
}

// badName says what is wrong with a name, "" if nothing.
func badName(name []byte) string {
	switch {
	case len(name) > LongName:
		return fmt.Sprintf("expected a name of at most %d bytes, found %q...", LongName,
			bytes.ToValidUTF8(name[:20], nil))
	case !utf8.Valid(name):
		return fmt.Sprintf("the name %q is not text in UTF-8", name)
	}
	return ""
}

// Number returns the feature of a name, which is a new one if the dictionary has not had it. hash
// is HashName's where names are hashed, and else of no meaning. What has no room is an ErrMemory.
func (n *Dictionary) Number(name string, hash uint32) (int32, error) {
	if n.bits > 0 {
		return n.hashed(name, hash), nil
	}
	if i, ok := n.number[name]; ok {
		return i, nil
	}
	if len(n.list) == MaxNames || n.bytes+len(name) > MaxNameBytes {
		return 0, fmt.Errorf("the name %q of a feature: there is room for %d names of %s "+
			"together; leave out what is different in each row, or hash the names by "+
			"Options.HashBits: %w", name, MaxNames, InKiB(MaxNameBytes), ErrMemory)
	}
	if n.number == nil {
		n.number = map[string]int32{}
	}
	i := int32(len(n.list))
	n.list, n.bytes = append(n.list, name), n.bytes+len(name)
	n.number[name] = i
	return i, nil
}

// hashed returns the feature that a name is hashed to, and notes whether another name has it.
func (n *Dictionary) hashed(name string, hash uint32) int32 {
	i := int32(hash & (1<<n.bits - 1))
	if n.owner == nil {
		n.owner, n.shared = map[int32]uint32{}, map[int32]bool{}
	}
	mark := murmur3.SeedStringSum32(0x9747b28c, name) // of another seed than the feature's
	switch first, met := n.owner[i]; {
	case met && first != mark:
		n.shared[i] = true
	case !met && len(n.owner) < MaxNames: // further ones are not counted
		n.owner[i] = mark
	}
	return i
}

// Find returns the feature of a name of the dictionary.
func (n *Dictionary) Find(name string) (int32, bool) {
	i, ok := n.number[name]
	return i, ok
}

// List returns the names of the features by their numbers; it is the caller's to read, and stays as
// it is when names are added. nil where names are hashed.
func (n *Dictionary) List() []string { return slices.Clip(n.list) }

// Bits returns into how many bits names are hashed; 0: there is a dictionary.
func (n *Dictionary) Bits() int { return n.bits }

// Shared returns how many features of hashed names have more than one name, as far as a million of
// features that were met are looked at. It costs some 20 bytes for each of these.
func (n *Dictionary) Shared() int { return len(n.shared) }

// HashName is the hash of a feature's name in a namespace as Vowpal Wabbit has it: murmur3 of the
// name, whose seed is that of the namespace; a name of digits alone is its number, added to the
// seed. The nameless namespace's seed is 0.
//
// Source: VW's hashstring and uniform_hash.
func HashName(namespace, name []byte) uint32 {
	seed := uint32(0)
	if len(namespace) > 0 {
		seed = hashString(namespace, 0)
	}
	return hashString(name, seed)
}

func hashString(s []byte, seed uint32) uint32 {
	number := uint32(0)
	for _, ch := range s {
		if ch-'0' > 9 {
			return murmur3.SeedSum32(seed, s)
		}
		number = number*10 + uint32(ch-'0')
	}
	return number + seed
}

// NameSet are names as a parser meets them, with numbers of its own. Those of the stream are known
// only when rows are taken in file order; so parsers beside each other need not wait, and what
// comes out is the same for any number of them. It keeps names, and what their numbers turned out
// to be, from chunk to chunk.
type NameSet struct {
	table []int32 // of a power of two of places: a name's number plus 1, 0 where there is none
	list  []setName
	text  []byte
	final []int32 // number in the stream of each name that is settled
	seen  []int32 // of each name: where its row has it, in Rows.Idx; for names that come twice
}

// setName is a name of a set.
type setName struct {
	at, end int32  // of its text
	mark    uint32 // by which it is found
	hash    uint32 // as HashName has it, where names are hashed
	where   Place  // of its first occurrence in the chunk that brought it
}

var nameSeed = maphash.MakeSeed()

// setRoom is how many bytes of names a set keeps from one chunk to the next: of more, it is
// emptied.
const setRoom = 1 << 20

// names returns the set of the chunk's names, ready for these.
func (c *Chunk[T]) names() *NameSet {
	if c.Out.Names == nil {
		c.Out.Names = &NameSet{}
	}
	c.Out.Names.begin()
	return c.Out.Names
}

// begin readies the set for a chunk.
func (s *NameSet) begin() {
	if len(s.final) < len(s.list) { // rows that were never taken
		s.cut(len(s.final))
	}
	if len(s.text)+32*len(s.list) > setRoom {
		s.list, s.text, s.final, s.seen = s.list[:0], s.text[:0], s.final[:0], s.seen[:0]
		clear(s.table)
	}
}

// find returns the number of a name, and if there is none the mark to add it by.
func (s *NameSet) find(name []byte) (i int32, mark uint32, ok bool) {
	h := maphash.Bytes(nameSeed, name)
	mark = uint32(h >> 32)
	if len(s.table) == 0 {
		return 0, mark, false
	}
	most := uint32(len(s.table) - 1)
	for at := mark & most; s.table[at] != 0; at = (at + 1) & most {
		i := s.table[at] - 1
		if e := &s.list[i]; e.mark == mark && string(s.text[e.at:e.end]) == string(name) {
			return i, mark, true
		}
	}
	return 0, mark, false
}

// add takes a name that is not in the set.
func (s *NameSet) add(name []byte, mark, hash uint32, where Place) int32 {
	if 2*len(s.list) >= len(s.table) {
		s.table = make([]int32, max(256, 4*len(s.list)))
		for i := range s.list {
			s.put(int32(i))
		}
	}
	i := int32(len(s.list))
	at := int32(len(s.text))
	s.text = append(s.text, name...)
	s.list = append(s.list, setName{at, at + int32(len(name)), mark, hash, where})
	s.seen = append(s.seen, -1)
	s.put(i)
	return i
}

// feature adds to the row that begins at Rows.Idx[row] the feature of a name. It returns false if
// the row has had that feature: its value is added to then. hash is only called of a new name, and
// may be nil. What is wrong with the name is in bad, "" if nothing.
func feature[T engine.Float](r *Rows[T], row int, name []byte, v T, where Place,
	hash func() uint32) (once bool, bad string) {
	s := r.Names
	i, mark, ok := s.find(name)
	if !ok {
		if bad = badName(name); bad != "" {
			return false, bad
		}
		h := uint32(0)
		if hash != nil {
			h = hash()
		}
		i = s.add(name, mark, h, where)
	} else if at := s.seen[i]; int(at) >= row && int(at) < len(r.Idx) && r.Idx[at] == i {
		r.Val[at] += v
		return false, ""
	}
	s.seen[i] = int32(len(r.Idx))
	r.Idx, r.Val = append(r.Idx, i), append(r.Val, v)
	return true, ""
}

// put enters a name of the list in the table.
func (s *NameSet) put(i int32) {
	most := uint32(len(s.table) - 1)
	at := s.list[i].mark & most
	for s.table[at] != 0 {
		at = (at + 1) & most
	}
	s.table[at] = i + 1
}

// cut forgets the names from n on: those that only a bad row has.
func (s *NameSet) cut(n int) {
	if n == len(s.list) {
		return
	}
	if n < len(s.list) {
		s.text = s.text[:s.list[n].at]
	}
	s.list, s.seen = s.list[:n], s.seen[:n]
	clear(s.table)
	for i := range s.list {
		s.put(int32(i))
	}
}

// Settle gives the names of the rows their numbers in the stream, and sorts the features of each
// row by them. It is called for one chunk after another, in file order. With fixed no name is new:
// those that dictionary lacks are numbered behind its own in each row anew. Where a name has no
// room the rows before it are settled, N says how many these are, and where tells its place.
func (r *Rows[T]) Settle(names *Dictionary, bias int, fixed bool) (where Place, err error) {
	s := r.Names
	for _, e := range s.list[len(s.final):] {
		if e.where.Row >= r.N { // rows behind an error
			break
		}
		name := string(s.text[e.at:e.end])
		number := int32(-1)
		if !fixed || names.bits > 0 {
			number, err = names.Number(name, e.hash)
		} else if i, ok := names.Find(name); ok {
			number = i
		}
		if err != nil {
			where, r.N = e.where, e.where.Row
			break
		}
		s.final = append(s.final, number)
	}
	known, to := int32(names.Len()+bias), 0
	lo := r.Ptr[0]
	for i := range r.N {
		hi := r.Ptr[i+1]
		idx, val, unknown := r.Idx[lo+bias:hi], r.Val[lo+bias:hi], int32(0)
		for k, j := range idx {
			if j = s.final[j]; j < 0 {
				j = known - int32(bias) + unknown
				unknown++
			}
			idx[k] = j + int32(bias)
		}
		// one less for each that is hashed to a feature which the row has already
		n := bias + sortPairs(idx, val)
		if to < lo {
			copy(r.Idx[to:], r.Idx[lo:lo+n])
			copy(r.Val[to:], r.Val[lo:lo+n])
		}
		to, lo = to+n, hi
		r.Ptr[i+1] = to
	}
	return where, err
}

// Len returns how many numbers there may be: that of the names, or 2^Bits.
func (n *Dictionary) Len() int {
	if n.bits > 0 {
		return 1 << n.bits
	}
	return len(n.list)
}

// sortPairs sorts the features of a row, adds up the values of those that come twice, in the order
// in which they stood, and returns how many are left. Rows are short and nearly sorted as a rule.
func sortPairs[T engine.Float](idx []int32, val []T) int {
	if len(idx) > 64 && !slices.IsSorted(idx) {
		type pair struct {
			j int32
			v T
		}
		pairs := make([]pair, len(idx))
		for i, j := range idx {
			pairs[i] = pair{j, val[i]}
		}
		slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.j, b.j) })
		for i, p := range pairs {
			idx[i], val[i] = p.j, p.v
		}
	}
	for i := 1; i < len(idx); i++ {
		j, v := idx[i], val[i]
		k := i
		for ; k > 0 && idx[k-1] > j; k-- {
			idx[k], val[k] = idx[k-1], val[k-1]
		}
		idx[k], val[k] = j, v
	}
	n := 0
	for i := range idx {
		if n > 0 && idx[n-1] == idx[i] {
			val[n-1] += val[i]
			continue
		}
		idx[n], val[n] = idx[i], val[i]
		n++
	}
	return n
}

// Pair are the first letters of two namespaces whose features are multiplied.
type Pair [2]byte

// Pairs reads pairs as in "ab".
func Pairs(texts []string) (pairs []Pair, err error) {
	for _, s := range texts {
		if len(s) != 2 || s[0] <= ' ' || s[1] <= ' ' || s[0] > '~' || s[1] > '~' {
			return nil, fmt.Errorf("interactions %q: expected two letters that namespaces begin "+
				"with, as in ab: %w", s, ErrOption)
		}
		pairs = append(pairs, Pair{s[0], s[1]})
	}
	return pairs, nil
}
