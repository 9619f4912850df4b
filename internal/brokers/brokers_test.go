package brokers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/training"
)

var kind = Kind{Scheme: "test", Of: "a test", Form: "The form is test://HOST/PATH.", More: "more"}

func parse(name string) (*Address, error) {
	return Parse(&kind, name, func(_, value string) error {
		if value == "bad" {
			return errors.New("want good")
		}
		return nil
	})
}

// escaped is text as a user or password in a name.
func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02x", text[i])
	}
	return b.String()
}

// FuzzParse: a name is taken apart, user and password as they were given, or refused by an error of
// its own form that has no part of the password. What was taken apart is named by a name that is
// taken apart to the same.
func FuzzParse(f *testing.F) {
	f.Add("me", "se/cr?t@", "localhost:4222/ROWS/rows.>@7?end=now")
	f.Add("", "", "a,b:1/S/@x?tls=2")
	f.Add("", "", "localhost/x?end=now&end=never")
	f.Add("a:b", "c", "[::1]:1,[::2]/x?timeout=1s&patience=0s&create=true&ca=c&cert=d&key=e&more=x")
	f.Fuzz(func(t *testing.T, user, password, rest string) {
		password = "secret" + password // longer than what chance puts into texts
		if strings.Contains(user+rest, "secret") {
			return
		}
		name := "test://" + escaped(user) + ":" + escaped(password) + "@" + rest
		a, err := parse(name)
		if err != nil {
			if !errors.Is(err, training.ErrOption) || strings.Contains(err.Error(), "secret") {
				t.Fatalf("%q: %v", rest, err)
			}
			return
		}
		// what stands before the last @ of the hosts is the user's
		if hosts, _, _ := strings.Cut(rest, "/"); !strings.Contains(hosts, "@") &&
			(a.user != user || a.password != password) {
			t.Fatalf("%q: user %q and password %q", name, a.user, a.password)
		}
		again, err := parse(a.String())
		if err != nil || again.String() != a.String() {
			t.Fatalf("%q is named %q, which is %v: %v", name, a, again, err)
		}
	})
}

// TestErrors: what is wrong with a name is said, and of a password no part is shown, even if it
// isn't written as it must be.
func TestErrors(t *testing.T) {
	for _, c := range [][2]string{
		{"other://localhost/x", "is no stream of a test"},
		{"test://me:secret%zz@localhost/x", "%25 is %"},
		{"test://me:secret@,b/x", "no host"},
		{"test://me:secret/1@localhost/x", "in user and password / is %2F"},
		{"test://me:secret?1@localhost/x", "in user and password / is %2F"},
		{"test://me:7/secret@localhost/x", "in user and password / is %2F"},
		{"test://localhost/x?end=then", "test://localhost/x: end=then: want never, now or pause"},
		{"test://localhost/x?timeout=0s", "want a time, as 5s"},
		{"test://localhost/x?patience=-1s", "want a time, as 5m"},
		{"test://localhost/x?tls=maybe", "want true or false"},
		{"test://localhost/x?more=bad", "more=bad: want good"},
		{"test://localhost/x?mor=1", "mor=1: no such option; there are end, timeout, patience, " +
			"tls, ca, cert, key, more, create"},
		{"test://localhost/x?end=now&end=never", "end=never: given twice"},
	} {
		_, err := parse(c[0])
		if err == nil || !strings.Contains(err.Error(), c[1]) ||
			strings.Contains(err.Error(), "secret") || !errors.Is(err, training.ErrOption) {
			t.Errorf("%s: %v, want %q", c[0], err, c[1])
		}
	}
}
