package main

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// cloud is a server of objects in memory, as far as the clients of both kinds ask for any.
type cloud struct {
	mu      sync.Mutex
	objects map[string][]byte // by BUCKET/NAME
	puts    map[string]int
	served  map[string]int64         // bytes of ranges, by name
	busy    int                      // so many requests are refused
	stored  func(name string)        // called for each, if not nil
	at      time.Time                // when all objects were written
	unknown func(what string, r any) // told of what it can't do
	jobs    http.Handler             // of Dataflow
}

// newCloud starts one, to which this process and those that it starts go.
func newCloud(t *testing.T) *cloud {
	c := &cloud{objects: map[string][]byte{}, puts: map[string]int{}, served: map[string]int64{},
		at: time.Now().UTC().Truncate(time.Second)}
	c.unknown = func(what string, r any) { t.Errorf("%s: %v", what, r) }
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	for name, value := range map[string]string{"STORAGE_EMULATOR_HOST": s.URL,
		"AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
		"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "TMPDIR": t.TempDir(),
		"AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none"} {
		t.Setenv(name, value)
	}
	return c
}

// ServeHTTP is the server.
func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	refused := c.busy > 0
	c.busy--
	c.mu.Unlock()
	if refused {
		io.Copy(io.Discard, r.Body)
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	p := r.URL.Path
	switch {
	case strings.HasPrefix(p, "/v1b3/") && c.jobs != nil:
		c.jobs.ServeHTTP(w, r)
	case p == "/token":
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"access_token": "t", "token_type": "Bearer", "expires_in": 3600}`)
	case strings.HasPrefix(p, "/storage/v1/b/") && !strings.Contains(p, "/o"):
		json.NewEncoder(w).Encode(map[string]any{"kind": "storage#bucket", "name": path.Base(p)})
	case strings.HasPrefix(p, "/upload/storage/v1/b/"):
		c.upload(w, r)
	case strings.HasPrefix(p, "/storage/v1/b/"):
		bucket, name, _ := strings.Cut(strings.TrimPrefix(p, "/storage/v1/b/"), "/o")
		if name = strings.TrimPrefix(name, "/"); name == "" {
			c.list(w, bucket, r.FormValue("prefix"), true)
			return
		}
		if r.Method == http.MethodDelete {
			c.remove(w, bucket+"/"+name)
			return
		}
		c.mu.Lock()
		b, ok := c.objects[bucket+"/"+name]
		c.mu.Unlock()
		if !ok {
			http.Error(w, `{"error":{"code":404}}`, http.StatusNotFound)
			return
		}
		json.NewEncoder(w).Encode(c.resource(bucket, name, b))
	case r.Method == http.MethodGet && r.FormValue("list-type") == "2":
		c.list(w, strings.Trim(p, "/"), r.FormValue("prefix"), false)
	case r.Method == http.MethodPut:
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has given up
		}
		if strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
			c.unknown("chunked", r.Header)
		}
		c.put(p[1:], b)
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(b)))
	case r.Method == http.MethodDelete:
		c.remove(w, p[1:])
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		c.mu.Lock()
		b, ok := c.objects[p[1:]]
		c.mu.Unlock()
		if !ok {
			http.Error(w, "<Error><Code>NoSuchKey</Code></Error>", http.StatusNotFound)
			return
		}
		w.Header().Set("X-Goog-Generation", "1")
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(b)))
		if r.Header.Get("Range") == "" {
			w.Header().Set("Last-Modified", c.at.Format(http.TimeFormat))
			w.Header().Set("Content-Length", strconv.Itoa(len(b)))
			if r.Method == http.MethodGet {
				w.Write(b)
			}
			return
		}
		if g := r.FormValue("generation"); g != "1" && r.Header.Get("If-Match") == "" {
			c.unknown("generation", r.URL)
		}
		n := &counted{ResponseWriter: w}
		http.ServeContent(n, r, "", c.at, bytes.NewReader(b))
		c.mu.Lock()
		c.served[p[1:]] += n.n
		c.mu.Unlock()
	default:
		c.unknown("request", r.Method+" "+r.URL.String())
	}
}

// counted counts the bytes of a body.
type counted struct {
	http.ResponseWriter
	n int64
}

// Write is io.Writer.Write.
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *cloud) resource(bucket, name string, b []byte) map[string]any {
	crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return map[string]any{"kind": "storage#object", "bucket": bucket, "name": name,
		"size": strconv.Itoa(len(b)), "updated": c.at.Format(time.RFC3339), "generation": "1",
		"crc32c": base64.StdEncoding.EncodeToString([]byte{byte(crc >> 24), byte(crc >> 16),
			byte(crc >> 8), byte(crc)})}
}

func (c *cloud) upload(w http.ResponseWriter, r *http.Request) {
	bucket := strings.Split(r.URL.Path, "/")[5]
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.FormValue("uploadType") != "multipart" {
		c.unknown("upload", r.URL)
		return
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	var texts [][]byte
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(part)
		}
		if err != nil {
			return // the client has given up
		}
		texts = append(texts, text)
	}
	var about struct{ Name string }
	if len(texts) != 2 || json.Unmarshal(texts[0], &about) != nil {
		c.unknown("upload", texts)
		return
	}
	if about.Name == "" {
		about.Name = r.FormValue("name")
	}
	c.put(bucket+"/"+about.Name, texts[1])
	json.NewEncoder(w).Encode(c.resource(bucket, about.Name, texts[1]))
}

// servedOf is how many bytes of an object came by ranges, of which it forgets.
func (c *cloud) servedOf(name string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.served[name]
	delete(c.served, name)
	return n
}

func (c *cloud) put(name string, b []byte) {
	c.mu.Lock()
	c.objects[name] = b
	c.puts[name]++
	stored := c.stored
	c.mu.Unlock()
	if stored != nil {
		stored(name)
	}
}

func (c *cloud) remove(w http.ResponseWriter, name string) {
	c.mu.Lock()
	delete(c.objects, name)
	c.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (c *cloud) list(w http.ResponseWriter, bucket, prefix string, inJSON bool) {
	type content struct{ Key string }
	var found []content
	var items []map[string]any
	for _, name := range c.names() {
		if rest, ok := strings.CutPrefix(name, bucket+"/"); ok && strings.HasPrefix(rest, prefix) {
			found = append(found, content{rest})
			items = append(items, c.resource(bucket, rest, nil))
		}
	}
	if inJSON {
		json.NewEncoder(w).Encode(map[string]any{"kind": "storage#objects", "items": items})
		return
	}
	xml.NewEncoder(w).Encode(struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []content
	}{Contents: found})
}

func (c *cloud) names() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// doneParts are the keys of parts that are done.
func (c *cloud) doneParts() (keys []string) {
	for _, name := range c.names() {
		if key := path.Base(path.Dir(name)); path.Base(name) == "done.json" &&
			strings.HasPrefix(key, "part-") {
			keys = append(keys, key)
		}
	}
	return keys
}

// putsOf counts how often objects of a part that are called so were written.
func (c *cloud) putsOf(key, file string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, k := range c.puts {
		if strings.Contains(name, "/"+key+"/") && path.Base(name) == file {
			n += k
		}
	}
	return n
}

// TestBuckets: with examples and state in buckets the model is that of one process, though a server
// is busy for a while and the command is killed; a part that is done is not done again.
func TestBuckets(t *testing.T) {
	for _, scheme := range []string{"gs", "s3"} {
		t.Run(scheme, func(t *testing.T) {
			c := newCloud(t)
			dir := t.TempDir()
			file := rows(t, dir, 1500, 2, false)
			c.objects["data/in/rows.svm"] = content(t, file)
			url, state := scheme+"://data/in/rows.svm", scheme+"://state/a/run"
			one := filepath.Join(dir, "one")
			learn := strings.Fields("--members 256 --tau 0.1 --epochs 2 --shuffle")
			halfspace(t, 0, append([]string{"train", "-q", "-m", one, file}, learn...)...)
			want := content(t, one)
			job := func(state, file string) []string {
				return append([]string{"train", "-q", "--by", "members", "--workers", "3", "--state",
					state, "-m", filepath.Join(dir, "model"), file}, learn...)
			}
			same := func() {
				t.Helper()
				if got := content(t, filepath.Join(dir, "model")); !bytes.Equal(got, want) {
					t.Error("another model")
				}
			}

			// It is killed when a part is done.
			done, killed := make(chan bool, 1), make(chan bool)
			c.stored = func(name string) {
				if path.Base(name) == "done.json" {
					select {
					case done <- true:
					default:
					}
					<-killed
				}
			}
			c.busy = 1
			cmd := process(job(state, url)...)
			var said bytes.Buffer
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-done:
			case <-time.After(2 * time.Minute):
				t.Errorf("no part was done: %v", c.names())
			}
			cmd.Process.Kill()
			cmd.Wait()
			close(killed)
			if t.Failed() {
				t.Fatal(said.String())
			}
			before := c.doneParts()
			if len(before) == 0 || len(before) > 3 {
				t.Fatalf("done: %v", before)
			}
			c.busy = 1
			halfspace(t, 0, job(state, url)...)
			same()
			halfspace(t, 0, job(state, url)...) // takes all
			same()
			if now := c.doneParts(); len(now) != 3 {
				t.Errorf("done: %v", now)
			}
			for _, key := range c.doneParts() {
				most := 1
				if !slices.Contains(before, key) {
					most = 2 // it may have been about to be
				}
				if n, m := c.putsOf(key, "done.json"), c.putsOf(key, "model"); n != 1 || m > most {
					t.Errorf("%s was done %d times, and its model written %d times", key, n, m)
				}
			}

			// A folder and a bucket go together, too.
			if scheme == "gs" {
				halfspace(t, 0, job(filepath.Join(dir, "state"), url)...)
				same()
				s := newServer(t)
				halfspace(t, 0, append(job(scheme+"://state/b", file), s.flags("PROCESS")...)...)
				same()
			}

			if runtime.GOOS == "linux" { // a disk is full, see init
				t.Setenv("TMPDIR", t.TempDir())
				t.Setenv("HALFSPACE_TEST_FILE_SIZE", "600")
				_, said := halfspace(t, 1, job(scheme+"://state/full", url)...)
				t.Setenv("HALFSPACE_TEST_FILE_SIZE", "")
				for _, text := range []string{"/3: " + url + ": ", "file too large", "TMPDIR",
					"the same command goes on there"} {
					if !strings.Contains(said, text) {
						t.Errorf("it says\n%s\nwant %q", said, text)
					}
				}
				halfspace(t, 0, job(scheme+"://state/full", url)...)
				same()
			}

			for _, w := range []struct {
				code       int
				text, next string
				args       []string
			}{
				{3, url + "x: no such object", "Check the name", job(state, url+"x")},
				{2, "ftp://data/x: no file or folder", "gs:// and s3://", job("ftp://data/x", url)},
				{2, `a '*' in it`, "Name the state without", job(state+"*", url)},
				{3, "no such file", "Check the name", []string{"train", url}},
			} {
				_, said := halfspace(t, w.code, w.args...)
				what, next, _ := strings.Cut(said[strings.LastIndex(said, "halfspace: "):], "\n")
				if !strings.Contains(what, w.text) || !strings.Contains(next, w.next) {
					t.Errorf("%v: it says\n%s", w.args, said)
				}
			}
		})
	}
}

// TestBucketRows: shards of the rows of an object are learned of parts of it, which come once, to
// the model that those of a file give.
func TestBucketRows(t *testing.T) {
	for _, tc := range []struct{ scheme, learn string }{
		{"gs", "-a adf"}, {"s3", "-a pa --mix mistakes --rounds 2"},
	} {
		t.Run(tc.scheme, func(t *testing.T) {
			c := newCloud(t)
			dir := t.TempDir()
			file, to := rows(t, dir, 1500, 2, false), filepath.Join(dir, "model")
			text := content(t, file)
			c.objects["data/in/rows.svm"] = text
			learn := append(strings.Fields("train -q --by rows --shards 3 --workers 2 "+tc.learn),
				"-m", to, "--state")
			halfspace(t, 0, append(learn, filepath.Join(dir, "state"), file)...)
			want := content(t, to)
			halfspace(t, 0, append(learn, tc.scheme+"://state/a/run",
				tc.scheme+"://data/in/rows.svm")...)
			if !bytes.Equal(content(t, to), want) {
				t.Error("another model")
			}
			// the text, and 256 bytes at each cut
			if n, size := c.servedOf("data/in/rows.svm"), int64(len(text)); n < size ||
				n > size+6*3*256 {
				t.Errorf("%d bytes of ranges came, of %d", n, size)
			}
		})
	}
}
