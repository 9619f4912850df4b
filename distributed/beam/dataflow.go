package beam

import (
	"context"
	"flag"
	"os"
	"regexp"
	"runtime"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow/dataflowlib"
	df "google.golang.org/api/dataflow/v1b3"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"

	"github.com/halfspace-ml/halfspace/internal/shard"
)

// onDataflow reports whether the runner of that name is Google's service.
func onDataflow(name string) bool { return name == "dataflow" || name == "DataflowRunner" }

// checkDataflow refuses, before anything is sent, what no job there can be made of: its machines
// see nothing of this one.
func checkDataflow(ctx context.Context, state string, files []string) error {
	refuse := func(text, next string) error {
		return &shard.Failure{Code: 2, Text: "--runner dataflow: " + text, Next: next}
	}
	for _, name := range append([]string{state}, files...) {
		if !strings.Contains(name, "://") {
			return refuse(name+" is on this machine", "Its machines see buckets alone: name "+
				"examples and --state by gs:// or s3://.")
		}
	}
	switch kind := *jobopts.EnvironmentType; {
	case kind != "" && !strings.EqualFold(kind, "docker"):
		return refuse("--environment_type "+kind, "Leave it out: workers are in containers there.")
	case gcpopts.GetProjectFromFlagOrEnvironment(ctx) == "":
		return refuse("no project", "Name it with --project.")
	case gcpopts.GetRegion(ctx) == "":
		return refuse("no region", "Name it with --region, as europe-west1.")
	case flagText("staging_location") == "":
		return refuse("no place for this program", "Name one with --staging_location gs://...; "+
			"its machines get the program there.")
	}
	for _, name := range []string{"dry_run", "async", "execute_async", "template_location"} {
		if text := flagText(name); text != "" && text != "false" {
			return refuse("--"+name, "Leave it out: the model is taken when the job is done.")
		}
	}
	if *jobopts.WorkerBinary != "" {
		return nil
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return refuse("its machines can't run this program", "Name one built for them (GOOS=linux "+
			"GOARCH=amd64) with --worker_binary.")
	}
	name, err := os.Executable()
	*jobopts.WorkerBinary = name
	return err
}

// flagText is the value of a flag of Beam's.
func flagText(name string) string {
	f := flag.Lookup(name)
	if f == nil {
		return ""
	}
	return f.Value.String()
}

// runDataflow is sdk.Run on Dataflow, which would wait for its job whatever becomes of ctx.
func runDataflow(ctx context.Context, name string, p *sdk.Pipeline) error {
	done := make(chan error, 1)
	go func() {
		_, err := sdk.Run(ctx, name, p)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var failedJob = regexp.MustCompile(`Job (\S+) failed`)

// dataflowMessages are what the service tells of a job that has failed, which its error doesn't.
func dataflowMessages(ctx context.Context, failed error) (text string) {
	id := failedJob.FindStringSubmatch(failed.Error())
	if id == nil {
		return ""
	}
	client, err := dataflowlib.NewClient(ctx, flagText("dataflow_endpoint"))
	if err != nil {
		return ""
	}
	client.Projects.Locations.Jobs.Messages.List(gcpopts.GetProjectFromFlagOrEnvironment(ctx),
		gcpopts.GetRegion(ctx), id[1]).MinimumImportance("JOB_MESSAGE_ERROR").Pages(ctx,
		func(r *df.ListJobMessagesResponse) error {
			for _, m := range r.JobMessages {
				text += m.MessageText + "\n"
			}
			return nil
		})
	return text
}

// cancelDataflow has the service end the job, if it can be reached.
func cancelDataflow(ctx context.Context) error {
	client, err := dataflowlib.NewClient(ctx, flagText("dataflow_endpoint"))
	if err != nil {
		return err
	}
	project, region := gcpopts.GetProjectFromFlagOrEnvironment(ctx), gcpopts.GetRegion(ctx)
	job, err := dataflowlib.GetRunningJobByName(client, project, region, *jobopts.JobName)
	if err != nil {
		return err
	}
	_, err = client.Projects.Locations.Jobs.Update(project, region, job.Id,
		&df.Job{RequestedState: "JOB_STATE_CANCELLED"}).Context(ctx).Do()
	return err
}
