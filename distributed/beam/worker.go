package beam

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	// The runners, and what runs a worker.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"
)

// Worker is a worker, if a runner of Beam has started the process as one, and then returns when its
// work is over. A container's boot program gives --worker and all that it needs. A runner in the
// environment PROCESS gives its own name and where to ask for the rest.
func Worker(args []string) bool {
	given := map[string]string{}
	for _, a := range args {
		name, value, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		given[name] = strings.Trim(value, "'") // Prism quotes names
	}
	switch {
	case given["worker"] == "true":
		flag.CommandLine.Parse(args)
	case given["provision_endpoint"] != "" && given["id"] != "":
		if err := provision(given["id"], given["provision_endpoint"]); err != nil {
			fmt.Fprintf(os.Stderr, "halfspace-beam: worker %s: %v\n", given["id"], err)
			os.Exit(1)
		}
	default:
		return false
	}
	sdk.Init() // which is where a worker works
	return true
}

// provision sets the flags of a worker to what the runner says.
func provision(id, endpoint string) error {
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(context.Background(), id), endpoint)
	if err != nil {
		return fmt.Errorf("no answer from the runner at %s: %w", endpoint, err)
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return err
	}
	if u := info.GetStatusEndpoint().GetUrl(); u != "" {
		os.Setenv("STATUS_ENDPOINT", u)
	}
	os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " "))
	for name, value := range map[string]string{"worker": "true", "id": id, "options": options,
		"logging_endpoint": info.GetLoggingEndpoint().GetUrl(),
		"control_endpoint": info.GetControlEndpoint().GetUrl()} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}
