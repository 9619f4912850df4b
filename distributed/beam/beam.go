// Package beam has a pipeline of Apache Beam do work that is cut into parts (package work): on
// this machine, on Prism, Flink, Dataflow, or whatever else runs Beam's pipelines. Command
// halfspace-beam is the command halfspace with it.
//
//	parts ─▶ reshuffled ─▶ learned, each in the folder of state ─▶ together ─▶ joined there
//
// Only pieces of work go through Beam, of some hundred bytes each, which say where files are.
package beam

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/distributed/beam/work"
	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/training"
)

func init() { // Beam finds what a pipeline is made of by name
	sdk.RegisterCoder(reflect.TypeFor[work.Piece](), work.Piece.Encode, work.DecodePiece)
	sdk.RegisterCoder(reflect.TypeFor[work.Done](), work.Done.Encode, work.DecodeDone)
	register.DoFn3x1[context.Context, work.Piece, func(string, work.Done), error](&learnFn{})
	register.DoFn4x1[context.Context, string, func(*work.Done) bool, func(work.Done), error](
		&joinFn{})
	register.Emitter2[string, work.Done]()
	register.Emitter1[work.Done]()
	register.Iter1[work.Done]()
}

// learnFn learns a part.
type learnFn struct{}

// ProcessElement emits what came of the part, under the key of the whole.
func (*learnFn) ProcessElement(ctx context.Context, p work.Piece,
	emit func(string, work.Done)) error {
	d, err := work.Learn(ctx, p)
	if err != nil {
		return sent(err)
	}
	emit("", d)
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
	d, err := work.Join(ctx, whole, parts)
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

// sent puts a command.Failure into the text of an error.
func sent(err error) error {
	f := command.Explain("", err)
	text, e := json.Marshal(f)
	if e != nil {
		return err
	}
	return fmt.Errorf("%s (%s) [%s%s:]", f.Text, f.Next, sentMark,
		base64.RawURLEncoding.EncodeToString(text))
}

// received is what sent has put into the text; nil: nothing. Of several the first counts.
func received(text string) *command.Failure {
	m := sentText.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(m[1])
	f := &command.Failure{}
	if err != nil || json.Unmarshal(data, f) != nil || f.Code == 0 {
		return nil
	}
	return f
}

// Train learns o in n parts, cut that way, in the folder state: command.Elsewhere.Train.
func Train(ctx context.Context, way string, n int, state string, o training.Options) (
	*command.Merged, error) {
	to := o.Model
	j, err := work.Cut(way, state, n, o)
	if err != nil {
		return nil, err
	}
	if !sdk.Initialized() {
		sdk.Init()
		slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr,
			&slog.HandlerOptions{Level: slog.LevelError})))
	}
	if *jobopts.WorkerBinary == "" && !strings.EqualFold(*jobopts.EnvironmentType, "docker") {
		*jobopts.WorkerBinary = os.DevNull // it is where the environment says, and needn't be sent
	}
	p, s := sdk.NewPipelineWithRoot()
	parts := sdk.Reshuffle(s, sdk.CreateList(s, j.Parts))
	learned := sdk.GroupByKey(s, sdk.ParDo(s, &learnFn{}, parts))
	sdk.ParDo(s, &joinFn{Whole: j.Whole.Encode()}, learned)
	if _, err := sdk.Run(ctx, runner(), p); err != nil {
		return nil, failed(err, state)
	}
	// What the last step has emitted is in the folder, too.
	d, err := j.Whole.Taken()
	if err != nil {
		return nil, err
	}
	return j.Write(d, to)
}

// failed is the error of a job.
func failed(err error, state string) error {
	if f := received(err.Error()); f != nil {
		return f
	}
	return &command.Failure{Code: 1, Text: "beam: " + strings.TrimSpace(err.Error()),
		Next: "What is learned by now stays in " + state + ": the same command goes on there."}
}

// runner is the one that was asked for, else Prism in this process.
func runner() string {
	if *runners.Runner == "" {
		return "prism"
	}
	return *runners.Runner
}

// shown are the flags of Beam that help shows.
var shown = []string{"runner", "endpoint", "environment_type", "environment_config", "job_name",
	"parallelism", "experiments"}

// Flags adds those of Beam to the command's.
func Flags(fs *pflag.FlagSet) {
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
