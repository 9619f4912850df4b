package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	df "google.golang.org/api/dataflow/v1b3"
	"google.golang.org/protobuf/proto"

	"github.com/halfspace-ml/halfspace/internal/shard"
)

// dataflow is a service of jobs, as far as its client asks for any.
type dataflow struct {
	t         *testing.T
	job       df.Job        // the last that was submitted
	work      func() string // does it, and says its state
	messages  []string      // of the job
	running   chan bool     // somebody has asked for a job that runs
	cancelled atomic.Bool
}

// ServeHTTP is the service.
func (d *dataflow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const jobs = "/v1b3/projects/p1/locations/r1/jobs"
	answer := func(v any) { json.NewEncoder(w).Encode(v) }
	switch r.Method + " " + r.URL.Path {
	case "POST " + jobs:
		text, err := io.ReadAll(r.Body)
		d.job = df.Job{}
		if err == nil {
			err = json.Unmarshal(text, &d.job)
		}
		if err != nil {
			d.t.Error(err)
		}
		d.job.Id = "id1"
		answer(d.job)
	case "GET " + jobs + "/id1":
		d.job.CurrentState = d.work()
		answer(d.job)
	case "GET " + jobs + "/id1/metrics":
		answer(df.JobMetrics{})
	case "GET " + jobs + "/id1/messages":
		var list df.ListJobMessagesResponse
		for _, text := range d.messages {
			list.JobMessages = append(list.JobMessages, &df.JobMessage{MessageText: text})
		}
		answer(list)
	case "GET " + jobs:
		answer(df.ListJobsResponse{Jobs: []*df.Job{{Id: "id0"}, &d.job}})
	case "PUT " + jobs + "/id1":
		var to df.Job
		if err := json.NewDecoder(r.Body).Decode(&to); err != nil ||
			to.RequestedState != "JOB_STATE_CANCELLED" {
			d.t.Errorf("%+v %v", to, err)
		}
		d.cancelled.Store(true)
		answer(d.job)
	default:
		d.t.Errorf("%s %s", r.Method, r.URL)
	}
}

// account is a file of a service account whose tokens come from that URL.
func account(t *testing.T, url string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@b",
		"token_uri": url, "private_key": string(pem.EncodeToMemory(&pem.Block{
			Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))})
	name := filepath.Join(t.TempDir(), "account.json")
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestDataflow: the job that is submitted says what Dataflow needs to know, the model is taken when
// its workers have done it, and errors of these come back, by a server that answers as the
// service's documents say.
func TestDataflow(t *testing.T) {
	c := newCloud(t)
	d := &dataflow{t: t, running: make(chan bool, 1)}
	c.jobs = d
	url := os.Getenv("STORAGE_EMULATOR_HOST")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", account(t, url+"/token"))
	dir := t.TempDir()
	file := rows(t, dir, 500, 2, false)
	c.objects["data/rows.svm"] = content(t, file)
	model, program := filepath.Join(dir, "model"), filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	learn := []string{"train", "-q", "--by", "rows", "--shards", "2", "--workers", "2", "-a", "pa",
		"--mix", "uniform", "--rounds", "2", "-m", model}
	halfspace(t, 0, append(learn, "--state", filepath.Join(dir, "state"), file)...)
	want := content(t, model)
	if err := os.Remove(model); err != nil {
		t.Fatal(err)
	}
	job := func(state string) []string {
		return append(learn[:len(learn):len(learn)], "--state", "gs://data/"+state,
			"gs://data/rows.svm")
	}
	on := []string{"--runner", "dataflow", "--project", "p1", "--region", "r1",
		"--job_name", "job1",
		"--staging_location", "gs://staged/at", "--dataflow_endpoint", url + "/",
		"--worker_binary", program, "--max_num_workers", "7"}

	d.work = func() string { // as its workers do
		halfspace(t, 0, append(job("done"), "--runner", "direct")...)
		os.Remove(model)
		return "JOB_STATE_DONE"
	}
	halfspace(t, 0, append(job("done"), on...)...)
	if !bytes.Equal(content(t, model), want) {
		t.Error("another model")
	}
	if err := os.Remove(model); err != nil {
		t.Fatal(err)
	}
	d.checkJob(c)

	failure, _ := json.Marshal(shard.Failure{Code: 3, Text: "part 1/2: row 7", Next: "Mend it."})
	d.messages = []string{"Workflow failed.", "DoFn: part 1/2 (Mend it.) [halfspace-failure:" +
		base64.RawURLEncoding.EncodeToString(failure) + ":] at"}
	d.work = func() string { return "JOB_STATE_FAILED" }
	if _, said := halfspace(t, 3, append(job("failed"), on...)...); !strings.Contains(said,
		"halfspace: part 1/2: row 7\n  Mend it.") {
		t.Errorf("it says\n%s", said)
	}
	d.messages = nil
	if _, said := halfspace(t, 1, append(job("failed"), on...)...); !strings.Contains(said,
		"beam: Job id1 failed") || !strings.Contains(said, "stays in gs://data/failed") {
		t.Errorf("it says\n%s", said)
	}
	d.work = func() string {
		d.running <- true
		return "JOB_STATE_RUNNING"
	}
	cmd := process(append(job("stopped"), on...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if <-d.running; runtime.GOOS != "windows" {
		cmd.Process.Signal(os.Interrupt)
	} else {
		cmd.Process.Kill()
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); runtime.GOOS != "windows" && (code != 130 ||
		!d.cancelled.Load()) {
		t.Errorf("exit code %d, cancelled: %v", code, d.cancelled.Load())
	}

	for want, args := range map[string][]string{
		"svm is on this machine": append(learn[:len(learn):len(learn)], append(on, "--state",
			"gs://data/x", file)...),
		"no region":                 append(job("x"), append(on, "--region", "")...),
		"no place for this program": append(job("x"), append(on, "--staging_location", "")...),
		"--environment_type PROCESS": append(job("x"), append(on, "--environment_type",
			"PROCESS")...),
		"--dry_run": append(job("x"), append(on, "--dry_run")...),
	} {
		if _, said := halfspace(t, 2, args...); !strings.Contains(said, want) {
			t.Errorf("it says\n%s\nwant %q", said, want)
		}
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("a model was written")
	}
}

// checkJob looks at the job that was submitted, and at what it names.
func (d *dataflow) checkJob(c *cloud) {
	t, e := d.t, d.job.Environment
	if d.job.Type != "JOB_TYPE_BATCH" || d.job.Name != "job1" || d.job.ProjectId != "p1" ||
		e == nil || len(e.WorkerPools) != 1 || len(e.WorkerPools[0].Packages) != 1 {
		t.Fatalf("%+v", d.job)
	}
	pool := e.WorkerPools[0]
	object := func(url string) []byte {
		b, ok := c.objects[strings.TrimPrefix(url, "gs://")]
		if !ok || !strings.HasPrefix(url, "gs://staged/at/") {
			t.Fatalf("%s is not there, but %v", url, c.names())
		}
		return b
	}
	program := pool.Packages[0]
	if sum := fmt.Sprintf("%x", sha256.Sum256(object(program.Location))); program.Name !=
		"worker" || program.Sha256 != sum || pool.AutoscalingSettings.MaxNumWorkers != 7 ||
		!strings.HasPrefix(pool.WorkerHarnessContainerImage, "gcr.io/cloud-dataflow/") {
		t.Errorf("%+v %+v", program, pool)
	}
	var options struct {
		Options struct{ PipelineURL, PipelineProtoHash, Region string }
	}
	if err := json.Unmarshal(e.SdkPipelineOptions, &options); err != nil {
		t.Fatal(err)
	}
	text := object(options.Options.PipelineURL)
	var p pipepb.Pipeline
	if err := proto.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%x", sha256.Sum256(text)) != options.Options.PipelineProtoHash ||
		options.Options.Region != "r1" {
		t.Errorf("%+v", options)
	}
	count := map[string]int{} // of two rounds: learned twice, joined twice, the second one dealt
	for _, x := range p.Components.Transforms {
		for _, name := range []string{"dealFn", "learnFn", "joinFn"} {
			if strings.Contains(x.UniqueName, name) && x.Spec.Urn == "beam:transform:pardo:v1" {
				count[name]++
			}
		}
	}
	if count["dealFn"] != 1 || count["learnFn"] != 2 || count["joinFn"] != 2 {
		t.Errorf("%v", count)
	}
}
