package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Errors of this package, wrapped with what was found.
var (
	// ErrOption: a field of Options has no such value.
	ErrOption = errors.New("bad option")
	// ErrModel: a model can't be served, or isn't that of its log.
	ErrModel = errors.New("the model can't be used")
	// ErrLog: a log is damaged, or can't be written.
	ErrLog = errors.New("the log can't be used")
	// ErrInUse: another server has the model or the log, to write to it.
	ErrInUse = errors.New("it is in use")
	// ErrClosed: the server was closed.
	ErrClosed = errors.New("the server is closed")
)

// Error is why a request was refused. Nothing of such a request is learned.
type Error struct {
	Status  int    // as HTTP has it
	Code    string // a word for programs, such as malformed or queue_full
	Message string // what is wrong, and where
	Row     int    // of the body, from 1; 0: of none
	Next    string // what to do about it; may be ""
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// appendTo appends the JSON document of the error.
func (e *Error) appendTo(dst []byte) []byte {
	type shown struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Row     int    `json:"row,omitempty"`
		Next    string `json:"next,omitempty"`
	}
	text, err := json.Marshal(map[string]shown{"error": {e.Code, e.Message, e.Row, e.Next}})
	if err != nil { // never of texts
		text = []byte(`{"error":{"code":"internal"}}`)
	}
	return append(append(dst, text...), '\n')
}

// refuse makes an Error.
func refuse(status int, code string, row int, next, format string, args ...any) *Error {
	return &Error{status, code, fmt.Sprintf(format, args...), row, next}
}

func malformed(row int, format string, args ...any) *Error {
	return refuse(http.StatusBadRequest, "malformed", row, "Send rows as the help on serving says.",
		format, args...)
}

func unfit(row int, next, format string, args ...any) *Error {
	return refuse(http.StatusUnprocessableEntity, "unfit", row, next, format, args...)
}

func tooMany(code, next, format string, args ...any) *Error {
	return refuse(http.StatusTooManyRequests, code, 0, next, format, args...)
}

func unavailable(format string, args ...any) *Error {
	return refuse(http.StatusServiceUnavailable, "unavailable", 0, "Try again later.", format,
		args...)
}
