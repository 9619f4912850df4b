package ensemble

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// classRows are the weights of members whose lanes are classes: of a feature that has a row,
// [vecmath.ClassLanes] weights a tile and member. A row takes 8 bits a weight as long as none can
// be larger, which is so of most features of sparse data for ever, and then 16: half of the memory
// takes half as long to come from there.
type classRows struct {
	members int
	rows    int // in use; row 0 is none, whose weights are 0
	narrow  classTable[int8]
	wide    classTable[int16]
	row     []classRow
	peak    int // no weight in wide is larger

	over, looked      []int32 // rows whose weights may outgrow narrow in a run, and their places
	bits              []uint8 // of these: see vecmath.RowBits
	leaving, entering []int32 // places of rows that go from narrow to wide
}

// classRow is where a row is.
type classRow struct {
	place int32 // member 0's in narrow, or -1 less that in wide
	reach int32 // of a row in narrow: no weight was larger before the run
	adds  int32 // what the run adds to a weight, at most
}

// classTable is those of one width: of a tile, [chunk][member][place in the chunk][lane].
type classTable[W int8 | int16] struct {
	chunk int // places of a chunk
	of    [][]W
	large []int   // of a tile: the first weight that no large pages were asked for
	room  int     // places that there is room for, whole chunks
	used  int     // those of a member that were given out
	free  []int32 // those of them that are free, of member 0
}

const (
	// chunkBytes is how much of a member lies in one piece, the next member's behind it: what is in
	// use is one stretch of memory, which grows at its end alone, on large pages.
	chunkBytes = 4096
	// mostNarrow is what a weight of 8 bits may be.
	mostNarrow = math.MaxInt8
	// mostLeft is what it may be in a row that stays in narrow when its weights are looked at, so
	// that there is room for a while, and seldom what the run may add to it, which is the rest: a
	// row that comes more often would be looked at in each run, and is in the caches anyway.
	mostLeft, seldom = mostNarrow / 2, mostNarrow - mostNarrow/2
	// classRowBytes is what a row takes beside its weights.
	classRowBytes = 3*4 + 4*4 + 1
	// leastLarge is for how many weights of a large table large pages are asked at least.
	leastLarge = 4 << 20
	// mostChunk is how many places a chunk has at most.
	mostChunk = chunkBytes / vecmath.ClassLanes
)

// newClassRows returns none, of so many members.
func newClassRows(members int) classRows {
	return classRows{
		members: members,
		rows:    1,
		narrow:  classTable[int8]{chunk: chunkBytes / vecmath.ClassLanes, used: 1},
		wide:    classTable[int16]{chunk: chunkBytes / vecmath.ClassLanes / 2, used: 1},
		row:     make([]classRow, 1),
	}
}

// fits reports whether rows of so many features have places.
func (c *classRows) fits(features int) bool {
	return int64(features)+1+mostChunk <= math.MaxInt32/int64(c.members)
}

// addTile makes one more tile, all of whose weights are 0.
func (c *classRows) addTile() {
	c.narrow.addTile(c.members)
	c.wide.addTile(c.members)
}

// add gives the next row a place in narrow, which it returns. What its weights are is not said yet.
func (c *classRows) add() (at int32) {
	p := c.narrow.next(c.members)
	c.row = append(c.row, classRow{place: p})
	c.rows++
	return p
}

// step says that weights of row r change by x at most, either way. When a run's steps have been
// told, settle finds out where the row is to be.
func (c *classRows) step(r, x int32) {
	of := &c.row[r]
	of.adds += x
	if of.reach+of.adds > mostNarrow {
		of.reach = math.MinInt32 / 2 // so that step seldom comes here
		if of.place >= 0 {
			c.over = append(c.over, r)
		}
	}
}

// settle looks at the weights of rows that may outgrow narrow: they are far below the sum of all
// steps, of which a member takes few. Where there would be little room left, the row goes to wide
// once move is called, and so does one that a run adds much to. Weights of rows from fresh on are
// not made yet, and mostSum at most.
func (c *classRows) settle(fresh int) {
	n := len(c.over)
	if n == 0 {
		return
	}
	// rows that lie one after another come from memory faster
	slices.SortFunc(c.over, func(a, b int32) int {
		return cmp.Compare(c.row[a].place, c.row[b].place)
	})
	c.bits, c.looked = slices.Grow(c.bits[:0], n)[:n], slices.Grow(c.looked[:0], n)[:n]
	clear(c.bits)
	for k, r := range c.over {
		c.looked[k] = 0 // of no use, as row 0 is
		if int(r) >= fresh {
			c.bits[k] = mostSum
		} else if c.row[r].adds <= seldom {
			c.looked[k] = c.row[r].place
		}
	}
	for tile := range c.narrow.of {
		for m := range c.members { // one after another, as they lie in memory
			vecmath.RowBits(c.bits, c.narrow.member(tile, m), c.looked)
		}
	}
	for k, r := range c.over {
		of := &c.row[r]
		most := 1 + int32(c.bits[k])
		if of.adds <= seldom && most <= mostLeft {
			of.reach = most
			continue
		}
		p := c.wide.next(c.members)
		c.leaving, c.entering = append(c.leaving, of.place), append(c.entering, p)
		of.place = -1 - p
	}
	c.over = c.over[:0]
}

// placeOf returns where row r is in the run that was settled, and makes ready for the next one.
func (c *classRows) placeOf(r int32) int32 {
	of := &c.row[r]
	of.reach, of.adds = of.reach+of.adds, 0
	return of.place
}

// reserve makes room for all rows; features is how many there may be.
func (c *classRows) reserve(features int) {
	// Memory that is never written is only reserved, and to move rows takes long: once there are
	// some, there is room for all features.
	used := c.narrow.used
	c.narrow.reserve(c.members, max(used, min(features+1, 32*used)))
	c.wide.reserve(c.members, c.wide.used)
}

// move moves member m's rows of a tile that outgrew narrow.
func (c *classRows) move(tile, m int) {
	vecmath.WidenRowsUnchecked(trusted.Indices{}, c.wide.member(tile, m), c.entering,
		c.narrow.member(tile, m), c.leaving)
}

// moved says that all members' were moved.
func (c *classRows) moved() {
	c.narrow.free = append(c.narrow.free, c.leaving...)
	c.leaving, c.entering = c.leaving[:0], c.entering[:0]
}

// weight returns that of row r in a lane's member m.
func (c *classRows) weight(lane, m int, r int32) int {
	tile, l := lane/vecmath.ClassLanes, lane%vecmath.ClassLanes
	p := c.row[r].place
	if p >= 0 {
		return int(c.narrow.member(tile, m)[int(p)*vecmath.ClassLanes+l])
	}
	return int(c.wide.member(tile, m)[int(-1-p)*vecmath.ClassLanes+l])
}

// put makes a row of weights, [lane][member], none of which is larger than peak, and returns it;
// features is how many rows there may be.
func (c *classRows) put(weights []int16, peak, features int) (r int32) {
	r = int32(c.rows)
	at := c.add()
	if peak > mostNarrow {
		p := c.wide.next(c.members)
		c.narrow.free = append(c.narrow.free, at)
		c.row[r].place, c.row[r].reach = -1-p, math.MinInt32/2
		c.reserve(features)
		c.wide.put(p, weights, c.members)
		c.peak = max(c.peak, peak)
		return r
	}
	c.row[r].reach = int32(peak)
	c.reserve(features)
	c.narrow.put(at, weights, c.members)
	return r
}

// copyLane makes a lane of all rows what lane 0 is.
func (c *classRows) copyLane(lane int) {
	c.narrow.copyLane(lane, c.members)
	c.wide.copyLane(lane, c.members)
}

// rowColumns sets dst[i*members+m] to the weight of row rows[i] in a lane's member m, where rows[i]
// is not 0. No row is there twice. It goes through rows as they lie in memory.
func rowColumns[T ~float32 | ~float64](dst []T, c *classRows, lane int, rows []int32) {
	narrow, wide := make([]int32, c.narrow.used), make([]int32, c.wide.used)
	for i, r := range rows { // of a place: whose it is, and 1
		switch p := c.row[r].place; {
		case r == 0:
		case p >= 0:
			narrow[c.narrow.number(p, c.members)] = int32(i) + 1
		default:
			wide[c.wide.number(-1-p, c.members)] = int32(i) + 1
		}
	}
	tableColumns(dst, &c.narrow, lane, c.members, narrow)
	tableColumns(dst, &c.wide, lane, c.members, wide)
}

// bytes returns the memory in use.
func (c *classRows) bytes() int64 {
	return c.narrow.bytes(1) + c.wide.bytes(2) +
		int64(unsafe.Sizeof(classRow{}))*int64(cap(c.row)) + int64(cap(c.bits)) +
		4*int64(cap(c.over)+cap(c.looked)+cap(c.leaving)+cap(c.entering))
}

// at is where a place of that number is, of member 0.
func (t *classTable[W]) at(number, members int) int {
	return number/t.chunk*t.chunk*members + number%t.chunk
}

// number is that of a place.
func (t *classTable[W]) number(p int32, members int) int {
	return int(p)/(t.chunk*members)*t.chunk + int(p)%t.chunk
}

// member is the table from member m's first place on, which is how far behind that of member 0.
func (t *classTable[W]) member(tile, m int) []W { return t.of[tile][m*t.chunk*vecmath.ClassLanes:] }

// next gives out a place.
func (t *classTable[W]) next(members int) int32 {
	if n := len(t.free); n > 0 {
		p := t.free[n-1]
		t.free = t.free[:n-1]
		return p
	}
	t.used++
	return int32(t.at(t.used-1, members))
}

// size is how many weights the chunks of so many places have.
func (t *classTable[W]) size(places, members int) int {
	return (places + t.chunk - 1) / t.chunk * t.chunk * members * vecmath.ClassLanes
}

func (t *classTable[W]) addTile(members int) {
	w := engine.Uncleared[W](t.size(t.room, members))
	clear(w[:min(len(w), t.size(t.used, members))])
	t.of, t.large = append(t.of, w), append(t.large, 0)
}

// reserve makes room for all places in use: for so many, if there is none, or four times what there
// was, which costs nothing before it is written.
func (t *classTable[W]) reserve(members, places int) {
	if t.used > t.room {
		had := t.size(t.room, members)
		t.room = max((places+t.chunk-1)/t.chunk*t.chunk, 4*t.room)
		for i := range t.of {
			w := engine.Uncleared[W](t.size(t.room, members))
			t.large[i] = engine.LargePages(w, 0, len(t.of[i]))
			copy(w, t.of[i][:had])
			t.of[i] = w
		}
		if had == 0 {
			t.put(0, nil, members)
		}
	}
	for i, w := range t.of {
		used := max(t.size(t.used, members), min(len(w), leastLarge))
		t.large[i] = engine.LargePages(w, t.large[i], used)
	}
}

// put makes the row of a place of weights, [lane][member]; the lanes behind these are 0.
func (t *classTable[W]) put(p int32, weights []int16, members int) {
	from := int(p) * vecmath.ClassLanes
	for tile := range t.of {
		lo := tile * vecmath.ClassLanes
		for m := range members {
			row := t.member(tile, m)[from:][:vecmath.ClassLanes]
			clear(row)
			for l := range min(vecmath.ClassLanes, len(weights)/members-lo) {
				row[l] = W(weights[(lo+l)*members+m])
			}
		}
	}
}

func (t *classTable[W]) copyLane(lane, members int) {
	from := t.of[0][:t.size(t.used, members)]
	to := t.of[lane/vecmath.ClassLanes][lane%vecmath.ClassLanes:]
	for i := 0; i < len(from); i += vecmath.ClassLanes {
		to[i] = from[i]
	}
}

// tableColumns is rowColumns of one table; of is of a place which of dst it is, and 1.
func tableColumns[T ~float32 | ~float64, W int8 | int16](dst []T, t *classTable[W], lane,
	members int, of []int32) {
	tile, l := lane/vecmath.ClassLanes, lane%vecmath.ClassLanes
	for lo := 0; lo < len(of); lo += t.chunk {
		from := t.at(lo, members)*vecmath.ClassLanes + l
		for m := range members {
			w, at := t.member(tile, m), from
			for _, i := range of[lo:min(lo+t.chunk, len(of))] {
				if i > 0 {
					dst[int(i-1)*members+m] = T(w[at])
				}
				at += vecmath.ClassLanes
			}
		}
	}
}

func (t *classTable[W]) bytes(each int64) int64 {
	n := 4 * int64(cap(t.free))
	for _, w := range t.of {
		n += each * int64(len(w))
	}
	return n
}
