// Package beam has a pipeline of Apache Beam do work that is cut into parts (package work): on
// this machine, on Prism, Flink, Dataflow, or whatever else runs Beam's pipelines. Command
// halfspace-beam is the command halfspace with it.
//
//	parts -> reshuffled -> learned, each in the folder of state -> together -> joined there
//	  ▲                                                                             |
//	  +------------------ of the next round, where there are several ---------------+
//
// Only pieces of work go through Beam, of some hundred bytes each, which say where files are. Files
// and state may be in buckets, which Beam's file systems reach.
package beam

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/distributed/beam/work"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/training"
)

func init() { // Beam finds what a pipeline is made of by name
	sdk.RegisterCoder(reflect.TypeFor[work.Load](), work.Load.Encode, work.DecodeLoad)
	sdk.RegisterCoder(reflect.TypeFor[work.Done](), work.Done.Encode, work.DecodeDone)
	register.DoFn2x1[work.Done, func(work.Load), error](&dealFn{})
	register.DoFn3x1[context.Context, work.Load, func(string, work.Done), error](&learnFn{})
	register.DoFn4x1[context.Context, string, func(*work.Done) bool, func(work.Done), error](
		&joinFn{})
	register.Emitter2[string, work.Done]()
	register.Emitter1[work.Done]()
	register.Emitter1[work.Load]()
	register.Iter1[work.Done]()
}

// dealFn deals out a round, once the one before is joined.
type dealFn struct {
	Loads [][]byte // work.Loads
}

// ProcessElement emits the parts.
func (f *dealFn) ProcessElement(_ work.Done, emit func(work.Load)) error {
	for _, text := range f.Loads {
		l, err := work.DecodeLoad(text)
		if err != nil {
			return err
		}
		emit(l)
	}
	return nil
}

// learnFn learns parts.
type learnFn struct{}

// ProcessElement emits what came of each part, under the key of the whole.
func (*learnFn) ProcessElement(ctx context.Context, l work.Load,
	emit func(string, work.Done)) error {
	for _, p := range l.Pieces {
		d, err := buckets.Learn(ctx, p)
		if err != nil {
			return sent(err)
		}
		emit("", d)
	}
	return nil
}

// joinFn joins all parts.
type joinFn struct {
	Whole []byte // a work.Piece
}

// ProcessElement emits what came of the whole.
func (f *joinFn) ProcessElement(ctx context.Context, _ string, next func(*work.Done) bool,
	emit func(work.Done)) error {
	whole, err := work.DecodePiece(f.Whole)
	if err != nil {
		return err
	}
	var parts []work.Done
	for d := (work.Done{}); next(&d); d = (work.Done{}) {
		parts = append(parts, d)
	}
	d, err := buckets.Join(ctx, whole, parts)
	if err != nil {
		return sent(err)
	}
	emit(d)
	return nil
}

// Errors of workers come back as texts within texts. So that the command can say what it says of
// its own, its words and exit code stand behind each, in letters that no runner changes.
const sentMark = "halfspace-failure:"

var sentText = regexp.MustCompile(sentMark + `([A-Za-z0-9_-]+):`)

// sent puts a shard.Failure into the text of an error.
func sent(err error) error {
	f := work.Explain("", err)
	text, e := json.Marshal(f)
	if e != nil {
		return err
	}
	return fmt.Errorf("%s (%s) [%s%s:]", f.Text, f.Next, sentMark,
		base64.RawURLEncoding.EncodeToString(text))
}

// received is what sent has put into the text; nil: nothing. Of several the first counts.
func received(text string) *shard.Failure {
	m := sentText.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(m[1])
	f := &shard.Failure{}
	if err != nil || json.Unmarshal(data, f) != nil || f.Code == 0 {
		return nil
	}
	return f
}

// Runner has a pipeline do work. It is for one run of a process.
type Runner struct {
	patience time.Duration
}

// Train learns o in parts: command.Elsewhere.Train.
func (r *Runner) Train(ctx context.Context, p shard.Cut, o training.Options) (*shard.Report,
	error) {
	to, files := o.Model, o.Files
	if o.From != "" {
		files = append(slices.Clone(files), o.From)
	}
	name, err := runner(ctx, p.State, files)
	if err != nil {
		return nil, err
	}
	j, err := buckets.Cut(ctx, p, o)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	d, err := r.do(ctx, name, j)
	if err != nil {
		return nil, err
	}
	return j.Write(d, to)
}

// do has the runner of that name do the job.
func (r *Runner) do(ctx context.Context, name string, j *work.Job) (work.Done, error) {
	if !sdk.Initialized() {
		sdk.Init()
		slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr,
			&slog.HandlerOptions{Level: slog.LevelError + 1}))) // errors come back
	}
	if *jobopts.WorkerBinary == "" && !strings.EqualFold(*jobopts.EnvironmentType, "docker") {
		*jobopts.WorkerBinary = os.DevNull // it is where the environment says, and needn't be sent
	}
	if *jobopts.JobName == "" { // by which it is found, to be cancelled
		*jobopts.JobName = "halfspace-" + strings.ToLower(rand.Text())
	}
	p, s := sdk.NewPipelineWithRoot()
	var joined sdk.PCollection // of the round before
	for i, round := range j.Rounds() {
		loads := round.Loads()
		var dealt sdk.PCollection
		if i == 0 {
			dealt = sdk.CreateList(s, loads)
		} else {
			deal := &dealFn{}
			for _, l := range loads {
				deal.Loads = append(deal.Loads, l.Encode())
			}
			dealt = sdk.ParDo(s, deal, joined)
		}
		learned := sdk.GroupByKey(s, sdk.ParDo(s, &learnFn{}, sdk.Reshuffle(s, dealt)))
		joined = sdk.ParDo(s, &joinFn{Whole: round.Whole.Encode()}, learned)
	}
	alive, end := r.watch(ctx, j)
	var err error
	if onDataflow(name) {
		err = runDataflow(alive, name, p)
	} else {
		_, err = sdk.Run(alive, name, p)
	}
	cause := context.Cause(alive)
	end()
	if err != nil && cause != nil {
		cancelJob(name)
		err = cause
	}
	if err != nil {
		text := err.Error()
		if onDataflow(name) && cause == nil {
			text += " " + dataflowMessages(ctx, err)
		}
		return work.Done{}, failed(text, j.Whole.State)
	}
	return buckets.Taken(ctx, j) // what the last step has emitted is in the folder, too
}

// watch returns a context that ends when nobody has been at the job for as long as r is patient.
// Prism waits for ever for a worker that was killed between two bundles, or before its first.
func (r *Runner) watch(ctx context.Context, j *work.Job) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if r.patience <= 0 {
		return ctx, func() { cancel(nil) }
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(max(r.patience/20, 10*time.Millisecond))
		defer t.Stop()
		last, since := buckets.Pulse(ctx, j), time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if now := buckets.Pulse(ctx, j); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) > r.patience {
				cancel(fmt.Errorf("no worker has shown itself for %v (--patience)", r.patience))
				return
			}
		}
	}()
	return ctx, func() { cancel(nil); <-ended }
}

// cancelJob has the runner end the job, if it can be reached.
func cancelJob(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if onDataflow(name) {
		if err := cancelDataflow(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "halfspace: the job %s may go on: %v\n", *jobopts.JobName, err)
		}
		return
	}
	if *jobopts.Endpoint == "" {
		return
	}
	cc, err := grpcx.Dial(ctx, *jobopts.Endpoint, 5*time.Second)
	if err != nil {
		return
	}
	defer cc.Close()
	c := jobpb.NewJobServiceClient(cc)
	jobs, err := c.GetJobs(ctx, &jobpb.GetJobsRequest{})
	if err != nil {
		return
	}
	for _, info := range jobs.GetJobInfo() {
		if info.GetJobName() == *jobopts.JobName {
			c.Cancel(ctx, &jobpb.CancelJobRequest{JobId: info.GetJobId()})
		}
	}
}

// failed is the error of a job, of which a runner says this.
func failed(text, state string) error {
	if f := received(text); f != nil {
		return f
	}
	text = strings.ReplaceAll(text, "caused by:", "")
	return &shard.Failure{Code: 1, Text: "beam: " + strings.Join(strings.Fields(text), " "),
		Next: "What is learned by now stays in " + state + ": the same command goes on there."}
}

// runner is the one that was asked for, else Prism in this process, if it can be reached and see
// state and files.
func runner(ctx context.Context, state string, files []string) (string, error) {
	name := *runners.Runner
	switch name {
	case "":
		name = "prism"
	case "direct", "prism", "PrismRunner", "flink", "FlinkRunner", "universal", "portable",
		"PortableRunner":
	case "dataflow", "DataflowRunner":
		return name, checkDataflow(ctx, state, files)
	default:
		return "", &shard.Failure{Code: 2, Text: "--runner " + name + ": no such runner",
			Next: "direct works in this process, and prism, too, without --endpoint; flink and " +
				"universal are whatever takes jobs at --endpoint; dataflow is Google's service."}
	}
	if at := *jobopts.Endpoint; at != "" && name != "direct" {
		// The SDK tries for two minutes.
		c, err := net.DialTimeout("tcp", at, 10*time.Second)
		if err != nil {
			return "", &shard.Failure{Code: 1, Text: "--endpoint " + at + ": " + err.Error(),
				Next: "Start the runner's job service there, or name another. What was learned " +
					"before stays: the same command goes on there."}
		}
		c.Close()
	}
	return name, nil
}

// shown are the flags of Beam that help shows.
var shown = []string{"runner", "endpoint", "environment_type", "environment_config", "job_name",
	"parallelism", "experiments", "project", "region", "staging_location", "machine_type",
	"max_num_workers", "worker_binary"}

// Flags adds those of Beam to the command's.
func (r *Runner) Flags(fs *pflag.FlagSet) {
	fs.DurationVar(&r.patience, "patience", 10*time.Minute, "with --by: give up when no worker "+
		"has shown itself for so long; 0s is never")
	flag.VisitAll(func(f *flag.Flag) {
		if strings.HasPrefix(f.Name, "test.") || fs.Lookup(f.Name) != nil {
			return
		}
		fs.AddGoFlag(f)
		// Beam sends flags to workers that it saw being set.
		g := fs.Lookup(f.Name)
		g.Value = setter{g.Value, f.Name}
		g.Hidden = true
		for _, name := range shown {
			if name == f.Name {
				g.Hidden = false
			}
		}
	})
}

// setter sets a flag of Beam's where Beam looks.
type setter struct {
	pflag.Value
	name string
}

// Set is pflag.Value.Set.
func (s setter) Set(text string) error { return flag.Set(s.name, text) }
