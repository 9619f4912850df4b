package public

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/internal/atomicfile"
)

// Options say how files are fetched. The zero value is good.
type Options struct {
	// Client makes the requests; nil is one that takes proxies from the environment (HTTPS_PROXY,
	// HTTP_PROXY, NO_PROXY) and refuses a redirect from https to http.
	Client *http.Client
	// Tries is how often an address is asked before the next one is; 0 stands for 5.
	Tries int
	// Wait is the pause before the second try, which doubles from one to the next up to a minute;
	// 0 stands for a second. What a server asks for by Retry-After counts instead.
	Wait time.Duration
	// Stall is how long nothing may come; 0 stands for 30 seconds.
	Stall time.Duration
	// Progress is told the bytes that are there of a download, and how many there will be, -1 where
	// that is not known; nil is nothing.
	Progress func(f File, have, all int64)
	// Retry is told what failed before it is tried again, and after which pause; nil is nothing.
	Retry func(f File, err error, pause time.Duration)
}

// ends of the names of a download's parts, beside the file: what came so far, and of what.
const (
	partEnd = ".download"
	fromEnd = ".download-from"
)

// slack is how much longer than its content a packed file may be.
const slack = 1 << 20

// Get brings a file into a folder, which is made if need be, and reports whether it was fetched: it
// isn't where it is there as the table says. A download that was cut, in this process or another,
// goes on where it stopped if the server still has the same file (its ETag or date). The file
// appears whole and checked, or not at all.
//
// Errors wrap ErrDownload where no address gave the file, with what each said; ErrContent among
// them where one gave another. Else they are those of os, or ctx's.
func Get(ctx context.Context, dir string, f File, o Options) (fetched bool, err error) {
	if Check(dir, f) == nil {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return false, err
	}
	if o.Client == nil {
		o.Client = &http.Client{CheckRedirect: checkRedirect}
	}
	o.Tries, o.Wait = cmp.Or(o.Tries, 5), cmp.Or(o.Wait, time.Second)
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
	d := download{f: f, o: o, part: filepath.Join(dir, f.Name+partEnd),
		from: filepath.Join(dir, f.Name+fromEnd)}
	var all []error
	for _, address := range f.Addresses {
		err := d.fetch(ctx, address)
		if err == nil {
			if err = d.place(filepath.Join(dir, f.Name)); err == nil {
				return true, nil
			}
			if !errors.Is(err, ErrContent) {
				return false, err
			}
			d.drop()
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if local := (*os.PathError)(nil); errors.As(err, &local) {
			return false, err // no other address has more room on the disk
		}
		all = append(all, fmt.Errorf("%s: %w", address, err))
	}
	if len(all) == 0 {
		return false, fmt.Errorf("%s is published nowhere any more: %w", f.Name, ErrDownload)
	}
	return false, fmt.Errorf("%s: %w: %w", f.Name, errors.Join(all...), ErrDownload)
}

// checkRedirect keeps a file that is asked for by https from coming by http.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 10:
		return errors.New("more than 10 redirects")
	case via[0].URL.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("a redirect from https to %s", next.URL.Scheme)
	}
	return nil
}

// download is a file on its way.
type download struct {
	f          File
	o          Options
	part, from string
}

// drop removes what came.
func (d *download) drop() {
	os.Remove(d.part)
	os.Remove(d.from)
}

// failure is an error of one try. final: another at this address mends nothing; pause is what the
// server asked for, else 0.
type failure struct {
	err   error
	final bool
	pause time.Duration
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// fetch brings what an address has into the part, trying again where that may help.
func (d *download) fetch(ctx context.Context, address string) error {
	pause := d.o.Wait
	for try := 1; ; try++ {
		before := d.have()
		err := d.try(ctx, address)
		if err == nil || ctx.Err() != nil {
			return err
		}
		fail := (*failure)(nil)
		errors.As(err, &fail)
		if d.have() > before {
			try, pause = 1, d.o.Wait // it goes on
		}
		if fail != nil && fail.final || fail == nil || try >= d.o.Tries {
			return err
		}
		wait := pause/2 + rand.N(pause/2+1) // not all who were cut at once
		if fail.pause > 0 {
			wait = fail.pause
		}
		if d.o.Retry != nil {
			d.o.Retry(d.f, err, wait)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		pause = min(2*pause, time.Minute)
	}
}

// have is how many bytes of the part are there.
func (d *download) have() int64 {
	if info, err := os.Stat(d.part); err == nil {
		return info.Size()
	}
	return 0
}

// state returns where the part goes on, and by which validator; 0 where it can't.
func (d *download) state(address string) (have int64, validator string) {
	text, err := os.ReadFile(d.from)
	if err != nil {
		return 0, ""
	}
	from, validator, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n")
	if have = d.have(); from != address || validator == "" || have == 0 {
		return 0, ""
	}
	return have, validator
}

// try asks an address once.
func (d *download) try(ctx context.Context, address string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.o.Stall, func() {
		cancel(fmt.Errorf("nothing came for %v", d.o.Stall))
	})
	defer watch.Stop()
	have, validator := d.state(address)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return &failure{err: err, final: true}
	}
	req.Header.Set("User-Agent", "halfspace")
	req.Header.Set("Accept-Encoding", "identity") // bytes as they lie there, so that they go on
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", validator)
	}
	res, err := d.o.Client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		if u := (*url.Error)(nil); errors.As(err, &u) { // its text has the address once more
			err = u.Err
		}
		return &failure{err: err}
	}
	defer res.Body.Close()
	switch code := res.StatusCode; {
	case code == http.StatusPartialContent && have > 0 && continues(res, have):
	case code == http.StatusOK:
		have = 0
	case code == http.StatusRequestedRangeNotSatisfiable, code == http.StatusPartialContent:
		d.drop()
		return &failure{err: fmt.Errorf("%s, to bytes from %d", res.Status, have)}
	default:
		return refused(res)
	}
	return d.take(ctx, res, address, have, func() { watch.Reset(d.o.Stall) })
}

// continues reports whether an answer begins where the part ends.
func continues(res *http.Response, have int64) bool {
	return strings.HasPrefix(res.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have))
}

// refused is the error of an answer without a file.
func refused(res *http.Response) error {
	f := &failure{err: errors.New(res.Status)}
	switch code := res.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
			f.pause = min(time.Duration(s)*time.Second, time.Minute)
		}
	default:
		f.final = true
	}
	return f
}

// take writes the body to the part from byte have on.
func (d *download) take(ctx context.Context, res *http.Response, address string, have int64,
	moves func()) error {
	flags := os.O_WRONLY | os.O_CREATE
	if have == 0 {
		validator := res.Header.Get("ETag")
		if validator == "" || strings.HasPrefix(validator, "W/") { // good for no range
			validator = res.Header.Get("Last-Modified")
		}
		if err := os.WriteFile(d.from, []byte(address+"\n"+validator+"\n"), 0o666); err != nil {
			return err
		}
		flags |= os.O_TRUNC
	}
	out, err := os.OpenFile(d.part, flags, 0o666)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := out.Seek(have, io.SeekStart); err != nil {
		return err
	}
	all := int64(-1)
	if res.ContentLength >= 0 {
		all = have + res.ContentLength
	}
	buf, most := make([]byte, 1<<16), 2*d.f.Bytes+slack
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			moves()
			if have += int64(n); have > most {
				d.drop()
				return &failure{err: fmt.Errorf("more than %d bytes: %w", most, ErrContent),
					final: true}
			}
			if _, err := out.Write(buf[:n]); err != nil {
				return err
			}
			if d.o.Progress != nil {
				d.o.Progress(d.f, have, all)
			}
		}
		if err == io.EOF && all >= 0 && have != all {
			err = io.ErrUnexpectedEOF
		}
		switch {
		case err == io.EOF:
			return out.Close()
		case err != nil:
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return &failure{err: fmt.Errorf("after %d bytes: %w", have, err)}
		}
	}
}

// place checks the part and puts it in its place, packed as the name says.
func (d *download) place(path string) error {
	in, err := os.Open(d.part)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := atomicfile.Create(path, 0o666)
	if err != nil {
		return err
	}
	defer out.Discard()
	w := bufio.NewWriterSize(out, 1<<16)
	r := bufio.NewReader(in)
	head, _ := r.Peek(2)
	switch gz := strings.HasSuffix(path, ".gz"); {
	case gz && string(head) != "\x1f\x8b":
		z := gzip.NewWriter(w)
		if err = d.f.check(r, z); err == nil {
			err = z.Close()
		}
	case gz, strings.HasSuffix(path, ".bz2"): // as it came
		err = d.f.check(io.TeeReader(r, w), io.Discard)
		if err == nil {
			_, err = io.Copy(w, r) // what the unpacking left
		}
	default:
		err = d.f.check(r, w)
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = out.Commit()
	}
	if err == nil {
		in.Close()
		d.drop()
	}
	return err
}
