package command

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/halfspace-ml/halfspace/internal/serve"
)

// servedStats are of two models, the second of which nothing is known of.
func servedStats() []serve.Stats {
	return []serve.Stats{
		{Name: "spam", Learner: "pa", Settings: json.RawMessage(`{"C":1}`), Precision: "f32",
			Features: 12345, Labels: []string{"<no>", "yes"}, Learns: true, Snapshot: 3000,
			Age: 0.5, Examples: 3100, Saved: 100, Predicted: 1000, Learned: 3000, Mistakes: 300,
			Error:   0.1,
			Curve:   []serve.Point{{Examples: 100, Error: 0.25}, {Examples: 3000, Error: 0.1}},
			LastBad: []serve.Refusal{{Code: "old"}, {Code: "malformed", Message: "<script>"}},
			BadRows: 2, Queue: 3, QueueMost: 1024, Fault: "no room", SaveError: "no disk",
			Predict: serve.Latency{Count: 3, Sum: 0.25, P50: 1.5e-5, P99: 0.2,
				Buckets: []serve.Bucket{{Seconds: 1e-5, Count: 1}, {Seconds: 1, Count: 3}}}},
		{Name: "other", Learns: false},
	}
}

// TestMetrics: Prometheus' own parser reads the metrics, and its linter finds nothing to say.
func TestMetrics(t *testing.T) {
	text := appendMetrics(nil, servedStats(), 7)
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range families {
		if !strings.HasPrefix(name, "halfspace_") {
			t.Errorf("%s isn't one of ours", name)
		}
		if n := len(f.Metric); n != 2 && name != "halfspace_build_info" &&
			name != "halfspace_unauthorized_requests_total" {
			t.Errorf("%s has %d values of two models", name, n)
		}
	}
	for name, want := range map[string]float64{"learned_examples_total": 3000,
		"mistakes_total": 300, "predicted_examples_total": 1000, "bad_requests_total": 2,
		"unauthorized_requests_total": 7} {
		if got := families["halfspace_"+name].Metric[0].Counter.GetValue(); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]float64{"snapshot_age_seconds": 0.5, "queue_requests": 3,
		"queue_limit_requests": 1024, "fault": 1, "save_failed": 1} {
		if got := families["halfspace_"+name].Metric[0].Gauge.GetValue(); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	h := families["halfspace_predict_seconds"].Metric[0].Histogram
	if h.GetSampleCount() != 3 || h.GetSampleSum() != 0.25 || len(h.Bucket) != 3 ||
		h.Bucket[1].GetUpperBound() != 1 || h.Bucket[1].GetCumulativeCount() != 3 {
		t.Errorf("the histogram is %v", h)
	}
}

// TestServePage: the page has what is known, escaped, and asks for nothing from elsewhere.
func TestServePage(t *testing.T) {
	stats := servedStats()
	p := newStatusPages(func() []serve.Stats { return stats },
		func() int64 { return 0 })
	p.began = p.began.Add(-10 * time.Second)
	a := p.page(nil)
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for _, want := range []string{"&lt;no&gt;, yes", "12,345 features", ">3,000<", "no room",
		"10\u00a0%", `points="33.3,0.0 1000.0,60.0"`, "&lt;script&gt;",
		"it only predicts", "15\u00a0µs"} {
		if !strings.Contains(string(a.Body), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if newest := bytes.Index(a.Body, []byte("malformed")); newest > bytes.Index(a.Body,
		[]byte("<td>old")) {
		t.Error("the oldest refusal comes first")
	}
	elsewhere := regexp.MustCompile(`(?i)<script|src=|url\(|@import|https?:`)
	if found := elsewhere.Find(a.Body); found != nil {
		t.Errorf("the page has %q", found)
	}
	stats[0].Predicted += 500
	for name, from := range p.from {
		from.at = from.at.Add(-2 * time.Second)
		p.from[name] = from
	}
	if predict, _ := p.rates(&stats[0], time.Now()); predict < 200 || predict > 251 {
		t.Errorf("500 rows in 2 s are %v a second", predict)
	}
	if predict, _ := p.rates(&stats[0], time.Now()); predict < 200 {
		t.Error("a second look at once has no rate of its own")
	}
}
