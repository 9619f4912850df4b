package serve

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// DefaultMaxLine is the longest line of Lines, in bytes, where none is said.
const DefaultMaxLine = 8 << 20

// lineRequest is a line that asks.
type lineRequest struct {
	ID    json.RawMessage `json:"id"`
	Op    string          `json:"op"`
	Model string          `json:"model"`
	Rows  json.RawMessage `json:"rows"`
	Text  string          `json:"text"`
	Type  string          `json:"type"`
}

// Lines answers requests that come as lines of in, JSON objects, by a line each on out, in their
// order, so that any program can have a server as its child process:
//
//	{"id": 1, "op": "predict", "model": "a", "rows": [{"x": 1.5}]}
//
// op is an operation of a [Request]. rows is a row or an array of rows, as JSON has them; instead
// of it, text may have rows of the type that type names, text/x-svmlight if it names none. id is
// any value, which the answer has again; model need not be said where one model is served. The
// answer is
//
//	{"id": 1, "status": 200, "answer": ...}
//
// with what HTTP answers; of rows in text an array. What is refused has a status of 400 and above,
// and error in answer's place. A line of more than maxLine bytes (0: DefaultMaxLine) is refused,
// and not kept in memory.
//
// Lines returns when in ends, or ctx, or with the error of reading or writing. A read of in that
// has begun when ctx ends goes on until it has something. Requests are answered one after another:
// what was answered as learned was learned before the next line is looked at.
func (s *Server) Lines(ctx context.Context, in io.Reader, out io.Writer, maxLine int) error {
	l := &lines{s: s, r: bufio.NewReaderSize(in, 1<<16),
		most: cmp.Or(max(maxLine, 0), DefaultMaxLine)}
	w := bufio.NewWriterSize(out, 1<<16)
	got, next := make(chan incoming), make(chan struct{})
	go func() { // reads a line when the one before it is not looked at any more
		for {
			line := l.read()
			select {
			case got <- line:
			case <-ctx.Done():
				return
			}
			if line.err != nil {
				return
			}
			select {
			case <-next:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		var line incoming
		select {
		case line = <-got:
		case <-ctx.Done():
			return w.Flush()
		}
		if len(line.text) > 0 || line.tooLong {
			if _, err := w.Write(l.answer(line)); err != nil {
				return err
			}
		}
		if line.last || line.err != nil { // no answer waits for what comes later
			if err := w.Flush(); err != nil {
				return err
			}
		}
		switch {
		case line.err == io.EOF:
			return nil
		case line.err != nil:
			return line.err
		}
		select {
		case next <- struct{}{}:
		case <-ctx.Done():
			return w.Flush()
		}
	}
}

// lines are the requests of one stream.
type lines struct {
	s    *Server
	r    *bufio.Reader
	most int

	line, body, out []byte
}

// incoming is a line without its end.
type incoming struct {
	text    []byte // good until the next one is read
	tooLong bool
	last    bool // no whole line is there behind it
	err     error
}

// read reads a line. One that is too long is read to its end and forgotten.
func (l *lines) read() (line incoming) {
	l.line = l.line[:0]
	if cap(l.line) > 1<<20 {
		l.line = nil
	}
	for {
		part, err := l.r.ReadSlice('\n')
		if !line.tooLong {
			if l.line = append(l.line, part...); len(bytes.TrimRight(l.line, "\r\n")) > l.most {
				line.tooLong, l.line = true, l.line[:0]
			}
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		line.text, line.err = bytes.TrimSpace(l.line), err
		rest, _ := l.r.Peek(l.r.Buffered())
		line.last = bytes.IndexByte(rest, '\n') < 0
		return line
	}
}

// answer answers a line.
func (l *lines) answer(line incoming) []byte {
	var ask lineRequest
	if line.tooLong {
		bad := refuse(http.StatusRequestEntityTooLarge, "too_large", 0,
			"Send the rows in several requests.", "the line has more than %d bytes", l.most)
		return l.frame(nil, refused(bad, l.body[:0]), false)
	}
	d := json.NewDecoder(bytes.NewReader(line.text))
	d.DisallowUnknownFields()
	if err := d.Decode(&ask); err != nil {
		return l.frame(ask.ID, refused(badLine("%v", lineError(err)), l.body[:0]), false)
	}
	if _, err := d.Token(); err != io.EOF {
		return l.frame(ask.ID, refused(badLine("expected nothing behind the object"),
			l.body[:0]), false)
	}
	r := Request{Op: ask.Op, Model: ask.Model, Media: mediaJSON, Body: ask.Rows}
	if r.Model == "" && len(l.s.names) == 1 {
		r.Model = l.s.names[0]
	}
	if ask.Text != "" {
		if ask.Rows != nil {
			return l.frame(ask.ID, refused(badLine("both rows and text are given"),
				l.body[:0]), false)
		}
		r.Media, r.Body = cmp.Or(ask.Type, mediaSVM), []byte(ask.Text)
	}
	a := l.s.Do(&r, l.body[:0])
	return l.frame(ask.ID, a, a.Media == mediaNDJSON)
}

// lineError leaves out of an error of decoding which types of Go's were meant.
func lineError(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return errors.New("expected another value than " + wrong.Value + " for " +
			cmp.Or(wrong.Field, "the request"))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the object doesn't end")
	}
	return err
}

func badLine(format string, args ...any) *Error {
	return refuse(http.StatusBadRequest, "malformed", 0,
		`Send a line such as {"id":1,"op":"predict","model":"NAME","rows":[...]}.`, format, args...)
}

// frame puts an answer into a line; of lines it makes an array.
func (l *lines) frame(id json.RawMessage, a Answer, array bool) []byte {
	if l.body = a.Body; cap(l.body) > 1<<20 {
		l.body = nil
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	out := append(append(l.out[:0], `{"id":`...), id...)
	out = append(out, `,"status":`...)
	out = append(out, byte('0'+a.Status/100), byte('0'+a.Status/10%10), byte('0'+a.Status%10), ',')
	body := bytes.TrimRight(a.Body, "\n")
	switch {
	case a.Status >= 400 && len(body) > 0: // an object with the one key error
		out = append(out, body[1:]...)
	case array:
		out = append(append(out, `"answer":[`...), bytes.ReplaceAll(body, []byte("\n"),
			[]byte(","))...)
		out = append(out, "]}"...)
	default:
		out = append(append(append(out, `"answer":`...), body...), '}')
	}
	if out = append(out, '\n'); cap(out) <= 1<<20 {
		l.out = out
	}
	return out
}
