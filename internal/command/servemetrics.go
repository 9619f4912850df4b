package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/serve"
)

// metricsMedia is the type of what /metrics answers: Prometheus' text form,
// https://prometheus.io/docs/instrumenting/exposition_formats. It is written here, and read by
// Prometheus' own packages in the tests: as a part of the program these would take a quarter of the
// time that any run takes to start, for numbers that package serve counts already.
const metricsMedia = "text/plain; version=0.0.4; charset=utf-8"

// modelMetric is a number of each model. A name that ends with _total only rises.
type modelMetric struct {
	name, help string
	value      func(*serve.Stats) float64
}

// whole is a whole number as a metric's.
func whole(value func(*serve.Stats) int64) func(*serve.Stats) float64 {
	return func(s *serve.Stats) float64 { return float64(value(s)) }
}

// modelMetrics are all that is shown of a model, but for how long requests took.
var modelMetrics = []modelMetric{
	{"predicted_examples_total", "Rows that were scored.",
		whole(func(s *serve.Stats) int64 { return s.Predicted })},
	{"learned_examples_total", "Examples that were learned.",
		whole(func(s *serve.Stats) int64 { return s.Learned })},
	{"mistakes_total", "Learned examples whose prediction, made before, was wrong.",
		whole(func(s *serve.Stats) int64 { return s.Mistakes })},
	{"bad_requests_total", "Requests refused for what was in them, bad rows first of all.",
		whole(func(s *serve.Stats) int64 { return s.BadRows })},
	{"busy_requests_total", "Requests refused since the queue was full.",
		whole(func(s *serve.Stats) int64 { return s.Busy })},
	{"unknown_features_total", "Values of features that the model had not.",
		whole(func(s *serve.Stats) int64 { return s.Unknown })},
	{"read_bytes_total", "Bytes of requests.",
		whole(func(s *serve.Stats) int64 { return s.Read })},
	{"written_bytes_total", "Bytes of answers.",
		whole(func(s *serve.Stats) int64 { return s.Written })},
	{"waiting_dropped_rows_total", "Rows that waited for their labels and had no room any more.",
		whole(func(s *serve.Stats) int64 { return s.WaitDropped })},
	{"waiting_unknown_labels_total", "Labels whose row did not wait.",
		whole(func(s *serve.Stats) int64 { return s.WaitUnknown })},
	{"waiting_rows", "Rows that wait for their labels.",
		func(s *serve.Stats) float64 { return float64(s.Waiting) }},
	{"waiting_bytes", "Memory of the rows that wait for their labels.",
		whole(func(s *serve.Stats) int64 { return s.WaitingBytes })},
	{"queue_requests", "Requests that wait to be learned.",
		func(s *serve.Stats) float64 { return float64(s.Queue) }},
	{"queue_limit_requests", "Requests that may wait to be learned.",
		func(s *serve.Stats) float64 { return float64(s.QueueMost) }},
	{"snapshot_examples", "Examples behind the snapshot that predicts: its number.",
		func(s *serve.Stats) float64 { return float64(s.Snapshot) }},
	{"snapshot_age_seconds", "Time since that snapshot was published.",
		func(s *serve.Stats) float64 { return s.Age }},
	{"saved_examples", "Examples behind the model's file.",
		func(s *serve.Stats) float64 { return float64(s.Saved) }},
	{"log_bytes", "Length of the log of what was learned.",
		whole(func(s *serve.Stats) int64 { return s.Bytes })},
	{"features", "Features of the model.",
		func(s *serve.Stats) float64 { return float64(s.Features) }},
	{"fault", "1 if an error has ended learning, else 0.",
		func(s *serve.Stats) float64 { return oneIf(s.Fault) }},
	{"save_failed", "1 if the model could not be saved the last time, else 0.",
		func(s *serve.Stats) float64 { return oneIf(s.SaveError) }},
}

// oneIf is 1 where there is an error.
func oneIf(err string) float64 {
	if err != "" {
		return 1
	}
	return 0
}

// modelTimes are how long requests took.
var modelTimes = []struct {
	name, help string
	value      func(*serve.Stats) *serve.Latency
}{
	{"predict_seconds", "Time that requests to predict took.",
		func(s *serve.Stats) *serve.Latency { return &s.Predict }},
	{"learn_seconds", "Time from the arrival of requests to learn until they were learned.",
		func(s *serve.Stats) *serve.Latency { return &s.Learn }},
}

// appendMetrics appends the metrics of the program and its models.
func appendMetrics(dst []byte, stats []serve.Stats, unauthorized int64) []byte {
	begin := func(name, help, kind string) {
		dst = fmt.Appendf(dst, "# HELP halfspace_%s %s\n# TYPE halfspace_%s %s\n", name, help, name,
			kind)
	}
	v := buildVersion()
	begin("build_info", "1; the labels say which program this is.", "gauge")
	dst = fmt.Appendf(dst, "halfspace_build_info{version=%s,revision=%s,go=%s} 1\n",
		metricLabel(v.Version), metricLabel(v.Revision), metricLabel(v.Go))
	begin("unauthorized_requests_total", "Requests without the token.", "counter")
	dst = fmt.Appendf(dst, "halfspace_unauthorized_requests_total %d\n", unauthorized)
	for _, m := range modelMetrics {
		kind := "gauge"
		if strings.HasSuffix(m.name, "_total") {
			kind = "counter"
		}
		begin(m.name, m.help, kind)
		for i := range stats {
			s := &stats[i]
			dst = fmt.Appendf(dst, "halfspace_%s{model=%s} %s\n", m.name, metricLabel(s.Name),
				metricValue(m.value(s)))
		}
	}
	for _, t := range modelTimes {
		begin(t.name, t.help, "histogram")
		for i := range stats {
			s := &stats[i]
			l, name := t.value(s), metricLabel(s.Name)
			for _, b := range l.Buckets {
				dst = fmt.Appendf(dst, "halfspace_%s_bucket{model=%s,le=\"%s\"} %d\n", t.name, name,
					metricValue(b.Seconds), b.Count)
			}
			dst = fmt.Appendf(dst, "halfspace_%s_bucket{model=%s,le=\"+Inf\"} %d\n", t.name, name,
				l.Count)
			dst = fmt.Appendf(dst, "halfspace_%s_sum{model=%s} %s\n", t.name, name,
				metricValue(l.Sum))
			dst = fmt.Appendf(dst, "halfspace_%s_count{model=%s} %d\n", t.name, name, l.Count)
		}
	}
	return dst
}

// metricValue is a number as the text form has it.
func metricValue(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// metricEscapes are the signs that end a label, or its line.
var metricEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func metricLabel(text string) string { return `"` + metricEscapes.Replace(text) + `"` }
