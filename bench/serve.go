package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/internal/serve"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// What bench serve does, on each side.
const (
	servePredictions = 100_000
	serveClients     = 8
	serveBatch       = 10 // examples of a request to learn
	serveMedia       = "text/x-svmlight"
)

// serveLoad is a server in a process of its own, and what it is asked.
type serveLoad struct {
	program    string
	dir, model string // model is as it was at first
	rows       [][]byte
	client     *http.Client
	taught     map[string]int // requests to learn so far, by model
	// answers are all predictions, by the row they are of
	answers []answered
}

type answered struct {
	row  int
	body []byte
}

// benchServe measures how long predictions take by HTTP over a Unix socket, one row a request,
// where serveClients ask without a pause: in turn while a further client teaches the model, an
// example for each prediction, while none does, and while it teaches another model of the same
// server. What learning takes of the CPU is in the times with a writer, and waiting for it would
// be, too; beside the other model's writer, who takes as much of the CPU, there is only the
// waiting. Then the examples are learned once more, one request after another, and every answer
// must be the one of the snapshot whose number it has.
func benchServe(ctx context.Context, o measure.Options) ([]measure.Result, error) {
	program, err := command.FindProgram("halfspace")
	if err != nil {
		return nil, fmt.Errorf("bench: serve: %w", err)
	}
	return loadServer(ctx, program, servePredictions, o)
}

// loadServer is benchServe with so many predictions on each side.
func loadServer(ctx context.Context, program string, predictions int, o measure.Options) (
	[]measure.Result, error) {
	dir, err := os.MkdirTemp("", "halfspace-serve")
	if err != nil {
		return nil, fmt.Errorf("bench: serve: %w", err)
	}
	defer os.RemoveAll(dir)
	l := &serveLoad{program: program, dir: dir, model: filepath.Join(dir, "model"),
		taught: map[string]int{}}
	rounds := o.Rounds
	if rounds == 0 {
		rounds = 11
	}
	each := predictions / rounds / serveBatch * serveBatch
	if err := l.prepare(ctx, each*rounds); err != nil {
		return nil, fmt.Errorf("bench: serve: %w", err)
	}
	stop, err := l.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("bench: serve: %w", err)
	}
	stopped := sync.OnceFunc(stop)
	defer stopped()
	var p50, p99, p99Other, longest, learned []measure.Round
	for range rounds {
		quiet, _, err := l.round(ctx, each, "")
		if err != nil {
			return nil, fmt.Errorf("bench: serve: %w", err)
		}
		busy, learn, err := l.round(ctx, each, "a")
		if err != nil {
			return nil, fmt.Errorf("bench: serve: %w", err)
		}
		other, _, err := l.round(ctx, each, "b")
		if err != nil {
			return nil, fmt.Errorf("bench: serve: %w", err)
		}
		p99Other = append(p99Other, quantileRound(busy, other, 0.99))
		p50 = append(p50, quantileRound(busy, quiet, 0.5))
		p99 = append(p99, quantileRound(busy, quiet, 0.99))
		longest = append(longest, quantileRound(busy, quiet, 1))
		learned = append(learned, measure.Round{Ours: learn.at(0.5)})
	}
	stopped() // so that what follows has the machine for itself
	snapshots, err := l.check(ctx)
	if err != nil {
		return nil, fmt.Errorf("bench: serve: %w", err)
	}
	impl := vecmath.Active().String()
	const peer = "no-writer"
	results := []measure.Result{
		measure.OfRounds("serve/predict/p50", "ns/op", peer, impl, p50),
		measure.OfRounds("serve/predict/p99", "ns/op", peer, impl, p99),
		measure.OfRounds("serve/predict/p99", "ns/op", "writer-of-another-model", impl, p99Other),
		measure.OfRounds("serve/predict/max", "ns/op", peer, impl, longest),
		measure.OfRounds(fmt.Sprintf("serve/learn/%d/p50", serveBatch), "ns/op", "", impl, learned),
	}
	results[1].Note = fmt.Sprintf("%d answers and %d requests to learn without an error; each "+
		"answer is that of its snapshot, one of %d", len(l.answers), l.taught["a"]+l.taught["b"],
		snapshots)
	return results, nil
}

// times are those of some requests of a round, and what the round took.
type times struct {
	each      []time.Duration // ascending
	wall, cpu time.Duration   // cpu is this process's
}

func (t times) at(q float64) measure.Timing {
	n := len(t.each)
	return measure.Timing{Ops: n, Value: float64(t.each[min(int(q*float64(n)), n-1)]),
		CPU: float64(t.cpu) / float64(n), Wall: float64(t.wall) / float64(n)}
}

func quantileRound(ours, peer times, q float64) measure.Round {
	u := peer.at(q)
	return measure.Round{Ours: ours.at(q), Peer: &u}
}

// prepare makes the rows and a model that has learned some others.
func (l *serveLoad) prepare(ctx context.Context, rows int) error {
	data, first := filepath.Join(l.dir, "rows"), filepath.Join(l.dir, "first")
	for _, args := range [][]string{
		{"gen", "margin", "-d", "20", "-n", strconv.Itoa(rows), "-o", data},
		{"gen", "margin", "-d", "20", "-n", "1000", "--split", "test", "-o", first},
		{"train", "-q", "-m", l.model, first}, // of the learner that is the default
	} {
		if said, err := exec.CommandContext(ctx, l.program, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args, err, said)
		}
	}
	text, err := os.ReadFile(data)
	if err != nil {
		return err
	}
	l.rows = bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return nil
}

// start starts the server, and returns what ends it, without its model being saved.
func (l *serveLoad) start(ctx context.Context) (stop func(), err error) {
	socket := filepath.Join(l.dir, "socket")
	args := []string{"serve", "-q", "--listen", "unix:" + socket}
	begin, err := os.ReadFile(l.model)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(l.dir, name)
		if err := os.WriteFile(path, begin, 0o666); err != nil {
			return nil, err
		}
		args = append(args, "--model", name+"="+path)
	}
	cmd := exec.CommandContext(ctx, l.program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: serveClients + 1,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}}}
	stop = func() {
		l.client.CloseIdleConnections()
		cmd.Process.Kill()
		<-ended
	}
	for {
		if _, err := l.ask(ctx, http.MethodGet, "/readyz", nil); err == nil {
			return stop, nil
		}
		select {
		case err := <-ended:
			return nil, fmt.Errorf("the server ended: %w: %s", err, said.Bytes())
		case <-ctx.Done():
			<-ended
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// ask sends a request and returns the answer's body; one that was refused is an error.
func (l *serveLoad) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path,
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", serveMedia)
	a, err := l.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %s", path, a.StatusCode, text)
	}
	return text, err
}

// round has n rows predicted by the model a, and as many learned meanwhile by the model that is
// named; "" is none.
func (l *serveLoad) round(ctx context.Context, n int, teach string) (predicted, learned times,
	err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	parts := make([][]time.Duration, serveClients)
	answers := make([][]answered, serveClients)
	ready := make(chan struct{}, n/serveBatch+1) // a token for each request that may be learned
	begin, cpu := time.Now(), measure.ProcessTime()
	var clients, writer sync.WaitGroup
	for c := range serveClients {
		clients.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= n || ctx.Err() != nil {
					return
				}
				if teach != "" && k%serveBatch == 0 {
					ready <- struct{}{}
				}
				row := (len(l.answers) + k) % len(l.rows)
				sent := time.Now()
				body, err := l.ask(ctx, http.MethodPost, "/v1/models/a/predict", l.rows[row])
				if err != nil {
					cancel(err)
					return
				}
				parts[c] = append(parts[c], time.Since(sent))
				answers[c] = append(answers[c], answered{row, body})
			}
		})
	}
	if teach != "" {
		writer.Go(func() {
			for range n / serveBatch {
				select {
				case <-ready:
				case <-ctx.Done():
					return
				}
				sent := time.Now()
				_, err := l.ask(ctx, http.MethodPost, "/v1/models/"+teach+"/learn",
					l.lesson(l.taught[teach]))
				if err != nil {
					cancel(err)
					return
				}
				l.taught[teach]++
				learned.each = append(learned.each, time.Since(sent))
			}
		})
	}
	clients.Wait()
	predicted.wall, predicted.cpu = time.Since(begin), measure.ProcessTime()-cpu
	writer.Wait()
	learned.wall, learned.cpu = predicted.wall, predicted.cpu
	if err := context.Cause(ctx); err != nil {
		return predicted, learned, err
	}
	predicted.each = slices.Concat(parts...)
	slices.Sort(predicted.each)
	slices.Sort(learned.each)
	l.answers = append(l.answers, slices.Concat(answers...)...)
	return predicted, learned, nil
}

// lesson is the body of the k-th request to learn.
func (l *serveLoad) lesson(k int) []byte {
	at := k * serveBatch % len(l.rows)
	return bytes.Join(l.rows[at:at+serveBatch], []byte("\n"))
}

// check learns the same again in this process, publishes after every request, and compares each
// answer with the one that the snapshot of its number gives. It returns how many snapshots
// answered.
func (l *serveLoad) check(ctx context.Context) (snapshots int, err error) {
	of := map[string][]answered{} // by the number of the snapshot
	for _, a := range l.answers {
		_, number, ok := bytes.Cut(a.body, []byte(`"snapshot":`))
		number, _, _ = bytes.Cut(number, []byte("}"))
		if !ok {
			return 0, fmt.Errorf("an answer without the number of its snapshot: %s", a.body)
		}
		of[string(number)] = append(of[string(number)], a)
	}
	s, err := serve.New(serve.Options{Models: []serve.Model{{Name: "a", Path: l.model}},
		PublishEvery: 1})
	if err != nil {
		return 0, err
	}
	defer s.Close(context.WithoutCancel(ctx))
	left := len(l.answers)
	for k := 0; ; k++ {
		number := strconv.FormatUint(s.Stats()[0].Snapshot, 10)
		if list := of[number]; len(list) > 0 {
			snapshots++
		}
		for _, a := range of[number] {
			want := s.Do(&serve.Request{Op: serve.Predict, Model: "a", Media: serveMedia,
				Body: slices.Clone(l.rows[a.row])}, nil)
			if !bytes.Equal(want.Body, a.body) {
				return snapshots, fmt.Errorf("row %d: the answer is %s, the snapshot's %s", a.row,
					a.body, want.Body)
			}
			left--
		}
		if k == l.taught["a"] || ctx.Err() != nil {
			break
		}
		a := s.Do(&serve.Request{Op: serve.Learn, Model: "a", Media: serveMedia,
			Body: l.lesson(k)}, nil)
		if a.Status != http.StatusOK {
			return snapshots, fmt.Errorf("learning again: %s", a.Body)
		}
	}
	if left > 0 && ctx.Err() == nil {
		return snapshots, fmt.Errorf("%d answers of snapshots that never were", left)
	}
	return snapshots, ctx.Err()
}
