package public

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/realdata"
)

// TestFiles: the table is whole, and the files that are here are what it says.
func TestFiles(t *testing.T) {
	t.Parallel()
	list := Files()
	if len(list) < 30 {
		t.Fatalf("%d files", len(list))
	}
	names := map[string]bool{}
	for i, f := range list {
		sum, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sum) != sha256.Size || f.Bytes <= 0 || f.Licence == "" ||
			f.What == "" || len(f.Addresses) == 0 || names[f.Name] ||
			filepath.Base(f.Name) != f.Name || i > 0 && list[i-1].Set > f.Set {
			t.Errorf("%+v", f)
		}
		names[f.Name] = true
		for _, a := range f.Addresses {
			if u, err := url.Parse(a); err != nil || u.Host == "" {
				t.Errorf("%s: address %q: %v", f.Name, a, err)
			}
		}
	}
	dir := filepath.Dir(realdata.File(t, "a9a.gz"))
	for _, f := range list {
		if testing.Short() && f.Bytes > 1<<20 {
			continue
		}
		if err := Check(dir, f); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
}

// TestFind: sets and files are found by name, each once.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  int
	}{{nil, len(Files())}, {[]string{"sonar"}, 4}, {[]string{"a9a", "a9a.gz", "a9a.t"}, 2},
		{[]string{"mnist", "sonar.mines"}, 5}} {
		if list, err := Find(c.names...); err != nil || len(list) != c.want {
			t.Errorf("%v: %d files, %v, want %d", c.names, len(list), err, c.want)
		}
	}
	if _, err := Find("a9a", "none"); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v, want ErrUnknown", err)
	}
}

// text is the content that the server has, as archives with line ends of Windows have it.
var (
	text  = strings.Repeat("+1 1:0.5 7:1\r\n", 20000)
	plain = strings.ReplaceAll(text, "\r", "")
)

// server answers as handle does, counting requests, and is a file with its address.
func server(t *testing.T, name string, handle func(w http.ResponseWriter, r *http.Request, n int)) (
	f File, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle(w, r, int(asked.Add(1)))
	}))
	t.Cleanup(s.Close)
	sum := sha256.Sum256([]byte(plain))
	return File{Set: "test", Name: name, Bytes: int64(len(plain)), SHA256: hex.EncodeToString(sum[:]),
		Addresses: []string{s.URL + "/file"}}, asked
}

// whole serves the text as files are served: with ranges.
func whole(w http.ResponseWriter, r *http.Request, body string) {
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body))))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
}

// cut sends so many bytes of the text and closes the connection.
func cut(w http.ResponseWriter, body string, n int) {
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body))))
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.Write([]byte(body[:n]))
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

var quick = Options{Wait: time.Millisecond, Tries: 3}

// get fetches into a new folder, which must hold the file and nothing else then.
func get(t *testing.T, f File, o Options) {
	t.Helper()
	dir := t.TempDir()
	if fetched, err := Get(context.Background(), dir, f, o); err != nil || !fetched {
		t.Fatalf("fetched %v, %v", fetched, err)
	}
	holds(t, dir, f.Name)
	if err := Check(dir, f); err != nil {
		t.Fatal(err)
	}
	if fetched, err := Get(context.Background(), dir, f, o); err != nil || fetched {
		t.Fatalf("again: fetched %v, %v", fetched, err)
	}
}

// holds wants these files in a folder and no others.
func holds(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Fatalf("the folder has %v, want %v", got, names)
	}
}

// TestGet: files come plain and packed, by redirects, after cuts and from servers that are busy.
func TestGet(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(text))
	z.Close()
	for name, c := range map[string]struct {
		file   string
		handle func(w http.ResponseWriter, r *http.Request, n int)
		asked  int32
	}{
		"plain": {"a.data", func(w http.ResponseWriter, r *http.Request, _ int) {
			whole(w, r, text)
		}, 1},
		"packed here": {"a.gz", func(w http.ResponseWriter, r *http.Request, _ int) {
			whole(w, r, text)
		}, 1},
		"packed there": {"a.gz", func(w http.ResponseWriter, r *http.Request, _ int) {
			whole(w, r, packed.String())
		}, 1},
		"redirect": {"a.data", func(w http.ResponseWriter, r *http.Request, n int) {
			if r.URL.Path == "/file" {
				http.Redirect(w, r, "/moved", http.StatusFound)
				return
			}
			whole(w, r, text)
		}, 2},
		"cut": {"a.data", func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				cut(w, text, 100000)
			}
			if want := "bytes=100000-"; r.Header.Get("Range") != want {
				t.Errorf("range %q, want %q", r.Header.Get("Range"), want)
			}
			whole(w, r, text)
		}, 2},
		"cut, and another file since": {"a.data", func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				cut(w, strings.ToUpper(text)+"x", 100000)
			}
			whole(w, r, text)
		}, 2},
		"cut, and no ranges": {"a.data", func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				cut(w, text, 100000)
			}
			w.Write([]byte(text))
		}, 2},
		"busy": {"a.data", func(w http.ResponseWriter, r *http.Request, n int) {
			if n < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			whole(w, r, text)
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, asked := server(t, c.file, c.handle)
			get(t, f, quick)
			if asked.Load() != c.asked {
				t.Errorf("%d requests, want %d", asked.Load(), c.asked)
			}
		})
	}
}

// TestGetFails: what is not the file never appears, and errors say why.
func TestGetFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handle  func(w http.ResponseWriter, r *http.Request, n int)
		want    string
		content bool
		asked   int32
		left    []string
	}{
		"another file": {func(w http.ResponseWriter, r *http.Request, _ int) {
			whole(w, r, strings.Replace(text, "7:1", "8:1", 1))
		}, "sha256", true, 1, nil},
		"too short": {func(w http.ResponseWriter, r *http.Request, _ int) {
			whole(w, r, text[:1000])
		}, "bytes unpacked", true, 1, nil},
		"too long": {func(w http.ResponseWriter, r *http.Request, _ int) {
			whole(w, r, strings.Repeat(text, 20))
		}, "more than", true, 1, nil},
		"a page": {func(w http.ResponseWriter, r *http.Request, _ int) {
			http.NotFound(w, r)
		}, "404", false, 1, nil},
		"busy": {func(w http.ResponseWriter, r *http.Request, _ int) {
			w.WriteHeader(http.StatusTooManyRequests)
		}, "429", false, 3, nil},
		"silent": {func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "nothing came for", false, 3, []string{"a.data.download", "a.data.download-from"}},
		"in circles": {func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Redirect(w, r, "/file", http.StatusFound)
		}, "redirects", false, 30, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, asked := server(t, "a.data", c.handle)
			dir, o := t.TempDir(), quick
			if name == "silent" { // elsewhere a busy machine may pause
				o.Stall = 50 * time.Millisecond
			}
			_, err := Get(context.Background(), dir, f, o)
			if !errors.Is(err, ErrDownload) || errors.Is(err, ErrContent) != c.content ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want ErrDownload with %q", err, c.want)
			}
			if asked.Load() != c.asked {
				t.Errorf("%d requests, want %d", asked.Load(), c.asked)
			}
			holds(t, dir, c.left...)
		})
	}
}

// TestGetOn: a download that was given up goes on in the next call, and the second address gives
// what the first has not.
func TestGetOn(t *testing.T) {
	t.Parallel()
	f, asked := server(t, "a.data", func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			cut(w, text, 100000)
		}
		if r.Header.Get("Range") == "" || r.Header.Get("If-Range") == "" {
			t.Errorf("a request without a range: %v", r.Header)
		}
		whole(w, r, text)
	})
	dir, o := t.TempDir(), quick
	ctx, stop := context.WithCancelCause(context.Background())
	o.Retry = func(File, error, time.Duration) { stop(errors.New("enough")) }
	if _, err := Get(ctx, dir, f, o); err == nil || err.Error() != "enough" {
		t.Fatalf("%v, want the cause", err)
	}
	holds(t, dir, "a.data.download", "a.data.download-from")
	var seen []int64
	o = quick
	o.Progress = func(_ File, have, all int64) { seen = append(seen, have, all) }
	if _, err := Get(context.Background(), dir, f, o); err != nil {
		t.Fatal(err)
	}
	if n := len(seen); n < 2 || seen[n-1] != int64(len(text)) || seen[n-2] != int64(len(text)) ||
		seen[0] <= 100000 {
		t.Errorf("progress %v of %d", seen, len(text))
	}
	if asked.Load() != 2 {
		t.Errorf("%d requests, want 2", asked.Load())
	}
	holds(t, dir, "a.data")
	g, _ := server(t, "a.data", func(w http.ResponseWriter, r *http.Request, n int) {
		whole(w, r, text)
	})
	bad, _ := server(t, "a.data", func(w http.ResponseWriter, r *http.Request, n int) {
		whole(w, r, "not it")
	})
	g.Addresses = append(bad.Addresses, g.Addresses...)
	get(t, g, quick)
}

// TestNoDowngrade: what is asked for by https does not come by http.
func TestNoDowngrade(t *testing.T) {
	t.Parallel()
	from := &http.Request{URL: &url.URL{Scheme: "https"}}
	if checkRedirect(&http.Request{URL: &url.URL{Scheme: "http"}}, []*http.Request{from}) == nil {
		t.Error("https may become http")
	}
	if err := checkRedirect(from, []*http.Request{from}); err != nil {
		t.Error(err)
	}
}
