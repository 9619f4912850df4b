package kafka

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/training"
)

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
	f.Add("me", "se/cr?t@", "localhost:9092/rows/0@7?end=now")
	f.Add("", "", "a,b:1/t/x@?tls=2")
	f.Add("", "", "localhost/x?end=now&end=never")
	f.Add("a:b", "c", "[::1]:1,[::2]/x/1@9?timeout=1s&patience=0s&create=true&ca=c&cert=d&key=e")
	f.Fuzz(func(t *testing.T, user, password, rest string) {
		password = "secret" + password // longer than what chance puts into texts
		if strings.Contains(user+rest, "secret") {
			return
		}
		name := Scheme + "://" + escaped(user) + ":" + escaped(password) + "@" + rest
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

// TestParseCut: of a password that isn't written as it must be no part is shown.
func TestParseCut(t *testing.T) {
	for _, name := range []string{"me:secret/1@localhost/x", "me:secret?1@localhost/x",
		"me:7/secret@localhost/x"} {
		_, err := parse(Scheme + "://" + name)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
