package training

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Message is one of those that a broker keeps: a row, or several, in whole lines.
type Message struct {
	// At is its number in the stream, such as an offset or a sequence; later ones have larger ones,
	// not always the next.
	At int64
	// Text is of one of the formats of package dataset. Where its last line has no end it gets one,
	// so that no row goes on in the next message. It must not be changed any more.
	Text []byte
	// Data is what an answer needs of it, for [Messages.Of]; may be nil.
	Data any
}

// Messages makes a [Source] of the messages of a broker: a text of their lines, and places in it
// that are numbers of messages. Its memory is that of the messages that Next gave last and were not
// read yet, and some 24 bytes for each of those that are on their way through the parsers. Read is
// for one goroutine, the other methods are for another.
type Messages struct {
	next  func() ([]Message, error)
	from  Place
	batch []Message // given by next, and not begun
	text  []byte    // what is left of the one that is read
	ends  bool      // an end of line is to follow it
	late  error     // of next, behind the batch

	mu     sync.Mutex
	before taken // where the first of marks begins
	marks  []taken
	data   []any // of those, where there is any
	given  taken // where the text ends that was begun
	cut    int   // lines of the first message that are not read
}

// taken is a message in the text.
type taken struct {
	at    int64
	end   int64 // bytes of the text up to its end, and
	lines int64 // lines
}

// Place is where a run stands in a stream of messages: behind Skip bytes of message At of the
// stream Name, which is all that decides what is read, such as a topic and its partition.
type Place struct {
	Name     string
	At, Skip int64
}

// String reads NAME@AT, or NAME@AT+SKIP.
func (p Place) String() string {
	if p.Skip == 0 {
		return p.Name + "@" + strconv.FormatInt(p.At, 10)
	}
	return p.Name + "@" + strconv.FormatInt(p.At, 10) + "+" + strconv.FormatInt(p.Skip, 10)
}

// ParsePlace is the inverse of Place.String, for what Env.Open of a resumed run is given. An error
// is of kind ErrModel, or, where it is another stream than that of the name, ErrChanged.
func ParsePlace(name, at string) (Place, error) {
	i := strings.LastIndexByte(at, '@')
	if i < 0 {
		return Place{}, newError(ErrModel, "", "the place %q is none of messages", at)
	}
	number, skip, skips := strings.Cut(at[i+1:], "+")
	p, err := Place{Name: at[:i]}, error(nil)
	if p.At, err = strconv.ParseInt(number, 10, 64); err == nil && skips {
		p.Skip, err = strconv.ParseInt(skip, 10, 64)
	}
	if err != nil || p.At < 0 || p.Skip < 0 {
		return Place{}, newError(ErrModel, "", "the place %q is none of messages", at)
	}
	if p.Name != name {
		return Place{}, newError(ErrChanged, "Name the stream of the run. To learn another on top "+
			"of the model: {from}.", "the run of the model stood at %s, which is not in %s", at,
			name)
	}
	return p, nil
}

// NewMessages makes Messages that begin at the place from. next returns some messages in order, at
// least one, and waits until there are any; the slice is the caller's until next is called again.
// Its error ends the reading, io.EOF as the end of the stream.
func NewMessages(from Place, next func() ([]Message, error)) *Messages {
	return &Messages{next: next, from: from}
}

// Source returns the Source that reads the messages. end is its Close: it makes next return.
func (m *Messages) Source(end func() error) Source {
	return Source{Reader: m, Place: m.Place, Located: m.Located, Close: end}
}

// Read is io.Reader's.
func (m *Messages) Read(p []byte) (n int, err error) {
	for n < len(p) {
		switch {
		case len(m.text) > 0:
			k := copy(p[n:], m.text)
			n, m.text = n+k, m.text[k:]
		case m.ends:
			p[n] = '\n'
			n, m.ends = n+1, false
		case len(m.batch) > 0:
			m.begin(m.batch[0])
			m.batch = m.batch[1:]
		case m.late != nil:
			if n > 0 {
				return n, nil
			}
			return 0, m.late
		case n > 0: // next may wait
			return n, nil
		default:
			m.batch, m.late = m.next()
		}
	}
	return n, nil
}

// begin takes up a message.
func (m *Messages) begin(x Message) {
	// A byte order mark is no part of a line, wherever a program has put it.
	text := bytes.TrimPrefix(x.Text, []byte("\ufeff"))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.given.end == 0 && x.At == m.from.At && m.from.Skip > 0 {
		if m.from.Skip > int64(len(text)) { // the end of line may be one that it got
			m.from.Skip = int64(len(text))
		}
		m.cut = bytes.Count(text[:m.from.Skip], []byte{'\n'})
		text = text[m.from.Skip:]
	}
	if len(text) == 0 {
		return
	}
	m.text, m.ends = text, text[len(text)-1] != '\n'
	m.given.at = x.At
	m.given.end += int64(len(text))
	m.given.lines += int64(bytes.Count(text, []byte{'\n'}))
	if m.ends {
		m.given.end, m.given.lines = m.given.end+1, m.given.lines+1
	}
	if x.Data != nil && m.data == nil {
		m.data = make([]any, len(m.marks))
	}
	m.marks = append(m.marks, m.given)
	if m.data != nil {
		m.data = append(m.data, x.Data)
	}
}

// Place is Source.Place: where the text behind its first n bytes lies.
func (m *Messages) Place(n int64) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(func(k taken) bool { return k.end >= n })
	p := m.from
	switch {
	case n == 0 || len(m.marks) == 0:
	case n == m.marks[0].end:
		p.At, p.Skip = m.marks[0].at+1, 0
	default:
		begins := m.before.end
		if begins > 0 || m.marks[0].at != m.from.At {
			p.Skip = 0
		}
		p.At, p.Skip = m.marks[0].at, p.Skip+n-begins
	}
	return p.String()
}

// Located is Source.Located: the message of line n, from 1, and the line in it.
func (m *Messages) Located(n int) (name string, line int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(func(k taken) bool { return k.lines >= int64(n) })
	if i == len(m.marks) || int64(n) <= m.before.lines {
		return "", 0
	}
	begins := m.before
	if i > 0 {
		begins = m.marks[i-1]
	}
	line = n - int(begins.lines)
	if begins.end == 0 {
		line += m.cut
	}
	return Place{Name: m.from.Name, At: m.marks[i].at}.String(), line
}

// Of returns the number and the data of the message that has line n, from 1, and which line it ends
// with. n must not be less than in the call before: the messages of earlier lines are forgotten. So
// Place must not be called beside it.
func (m *Messages) Of(n int) (at int64, data any, last int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(func(k taken) bool { return k.lines >= int64(n) })
	if len(m.marks) == 0 {
		return 0, nil, n
	}
	if m.data != nil {
		data = m.data[0]
	}
	return m.marks[0].at, data, int(m.marks[0].lines)
}

// find returns the first of marks that is there, len(marks) if none is.
func (m *Messages) find(there func(taken) bool) int {
	i, _ := slices.BinarySearchFunc(m.marks, true, func(k taken, _ bool) int {
		if there(k) {
			return 0
		}
		return -1
	})
	return i
}

// drop forgets the marks before the first that is there, but never the last of all.
func (m *Messages) drop(there func(taken) bool) {
	i := min(m.find(there), len(m.marks)-1)
	if i <= 0 {
		return
	}
	m.before = m.marks[i-1]
	if m.marks = m.marks[i:]; m.data != nil {
		clear(m.data[:i])
		m.data = m.data[i:]
	}
}
