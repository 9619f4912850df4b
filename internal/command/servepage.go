package command

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfspace-ml/halfspace/internal/report"
	"github.com/halfspace-ml/halfspace/internal/serve"
)

// grouped is a whole number with commas between thousands.
func grouped(v any) string {
	digits := fmt.Sprint(v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// spaced is a time with its units set off: "1 m 40 s".
func spaced(d time.Duration) string {
	return strings.TrimSuffix(unitOf.ReplaceAllString(d.String(), "\u00a0$1 "), " ")
}

var unitOf = regexp.MustCompile("([a-zµ]+)")

// roundTime rounds a time to three digits or so.
func roundTime(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	unit := time.Duration(1)
	for unit < time.Second && d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit)
}

func binarySize(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	x, unit := float64(n)/(1<<10), 0
	for x >= 1000 && unit < 3 {
		x, unit = x/(1<<10), unit+1
	}
	return fmt.Sprintf("%.3g\u00a0%s", x, []string{"KiB", "MiB", "GiB", "TiB"}[unit])
}

// statusPages are what serve shows to people and to Prometheus.
type statusPages struct {
	stats        func() []serve.Stats
	unauthorized func() int64
	began        time.Time

	mu   sync.Mutex
	from map[string]rateFrom // by model
}

// rateFrom is where a rate is counted from: an earlier look at the page.
type rateFrom struct {
	at                 time.Time
	predicted, learned int64
	// the rates of that look
	predictRate, learnRate float64
}

func newStatusPages(stats func() []serve.Stats, unauthorized func() int64) *statusPages {
	return &statusPages{stats: stats, unauthorized: unauthorized, began: time.Now(),
		from: map[string]rateFrom{}}
}

// paths are the pages by their paths.
func (p *statusPages) paths() map[string]serve.Page {
	return map[string]serve.Page{
		"/": p.page,
		"/metrics": func(dst []byte) serve.Answer {
			return serve.Answer{Status: http.StatusOK, Media: metricsMedia,
				Body: appendMetrics(dst, p.stats(), p.unauthorized())}
		},
	}
}

// servePageStyle is the style of the page besides that of all pages.
const servePageStyle = `.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }
.tile { color: var(--soft); font-size: 13px; }
.tile b { color: var(--text); font-weight: 600; }
figure div { display: flex; justify-content: space-between; color: var(--soft); font-size: 13px; }
figure svg { display: block; width: 100%; height: 150px; overflow: visible; }
figure polyline { fill: none; stroke: var(--mark); stroke-width: 2; vector-effect: non-scaling-stroke; }
figure line { stroke: var(--line); vector-effect: non-scaling-stroke; }
.fixed { white-space: nowrap; }
td:last-child { overflow-wrap: anywhere; min-width: 14rem; }
@media (max-width: 600px) { .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
`

func (p *statusPages) page(dst []byte) serve.Answer {
	now, stats := time.Now(), p.stats()
	var names []string
	for i := range stats {
		names = append(names, stats[i].Name)
	}
	var page report.Page
	page.Begin("halfspace: "+strings.Join(names, ", "), servePageStyle,
		"<meta http-equiv=\"refresh\" content=\"5\">\n")
	page.Put("<h1>halfspace</h1>\n<p class=\"soft\">halfspace %s, up for %s. Every figure is "+
		"since then unless it says otherwise; the page is renewed every 5 seconds. "+
		"<a href=\"/metrics\">Metrics</a>, <a href=\"/v1/models\">JSON</a>.</p>\n",
		buildVersion().Version, spaced(now.Sub(p.began).Round(time.Second)))
	for i := range stats {
		p.model(&page, &stats[i], now)
	}
	page.End()
	return serve.Answer{Status: http.StatusOK, Media: "text/html; charset=utf-8",
		Body: append(dst, page.String()...)}
}

// model writes the part of one model.
func (p *statusPages) model(page *report.Page, s *serve.Stats, now time.Time) {
	only := ""
	if !s.Learns {
		only = "; it only predicts"
	}
	page.Put("<h2>%s</h2>\n<p class=\"soft\">%s, %s, %s features, labels %s%s</p>\n"+
		"<details class=\"soft\"><summary>Settings</summary><code>%s</code></details>\n", s.Name,
		s.Learner, s.Precision, grouped(s.Features), strings.Join(s.Labels, ", "), only,
		string(s.Settings))
	if s.Fault != "" {
		page.Put("<p class=\"bad\" role=\"alert\">Nothing is learned any more: %s</p>\n", s.Fault)
	}
	if s.SaveError != "" {
		page.Put("<p class=\"bad\" role=\"alert\">The model could not be saved: %s</p>\n",
			s.SaveError)
	}
	tile := func(value, format string, args ...any) {
		page.Put("<div class=\"tile\"><b>%s</b>%s</div>\n", value, fmt.Sprintf(format, args...))
	}
	predictRate, learnRate := p.rates(s, now)
	page.Put("<div class=\"tiles\">\n")
	tile(rateText(predictRate), "rows predicted a second; %s in all", grouped(s.Predicted))
	tile(took(s.Predict.P50), "median of a prediction; 99 %%: %s", took(s.Predict.P99))
	if s.Learns {
		tile(rateText(learnRate), "examples learned a second; %s in all", grouped(s.Learned))
		tile(took(s.Learn.P50), "median of a request to learn; 99 %%: %s", took(s.Learn.P99))
		share := "none yet"
		if s.Learned > 0 {
			share = percentText(s.Error)
		}
		tile(share, "error on what was not learned yet")
		tile(fmt.Sprintf("%d of %s", s.Queue, grouped(s.QueueMost)),
			"requests that wait to be learned; %s refused", grouped(s.Busy))
		tile(grouped(s.Snapshot), "examples behind what predicts, %s old", spaced(roundTime(s.Age)))
		tile(grouped(s.Examples-min(s.Saved, s.Examples)), "of %s examples not in the file yet",
			grouped(s.Examples))
		if s.Waiting != 0 || s.WaitDropped != 0 || s.WaitUnknown != 0 {
			tile(grouped(s.Waiting), "rows wait for labels; %s dropped, %s labels too late",
				grouped(s.WaitDropped), grouped(s.WaitUnknown))
		}
	}
	tile(grouped(s.BadRows), "requests refused for what was in them")
	log := ""
	if s.Bytes != 0 {
		log = "; log " + binarySize(s.Bytes)
	}
	tile(binarySize(s.Read), "read; %s written%s", binarySize(s.Written), log)
	page.Put("</div>\n")
	curve(page, s.Curve)
	if len(s.LastBad) == 0 {
		return
	}
	const title = "Last requests that were refused"
	page.Put("<h3>%s</h3>\n", title)
	page.Table(title, "", "at (UTC)", "code", "what was wrong")
	for _, bad := range slices.Backward(s.LastBad) {
		page.Put("<tr><td class=\"fixed\">%s</td><td>%s</td><td>%s</td></tr>\n",
			bad.Time.UTC().Format("2006-01-02 15:04:05"), bad.Code, bad.Message)
	}
	page.EndTable()
}

// rateText is a number of units a second.
func rateText(perSecond float64) string {
	if perSecond >= 100 {
		return grouped(int64(math.Round(perSecond)))
	}
	return strconv.FormatFloat(perSecond, 'g', 2, 64)
}

// took is how long a request took.
func took(seconds float64) string {
	if seconds <= 0 {
		return "none yet"
	}
	return spaced(roundTime(seconds))
}

func percentText(share float64) string { return fmt.Sprintf("%.3g\u00a0%%", 100*share) }

// rates are those since the last look at the page that is a second ago or longer.
func (p *statusPages) rates(s *serve.Stats, now time.Time) (predict, learn float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from, ok := p.from[s.Name]
	if !ok {
		from.at = p.began
	}
	seconds := now.Sub(from.at).Seconds()
	if ok && seconds < 1 {
		return from.predictRate, from.learnRate
	}
	seconds = max(seconds, 1e-3)
	to := rateFrom{now, s.Predicted, s.Learned,
		float64(s.Predicted-from.predicted) / seconds, float64(s.Learned-from.learned) / seconds}
	p.from[s.Name] = to
	return to.predictRate, to.learnRate
}

// curve draws the error over time, in an SVG of 1000 by 100 that is as wide as the page.
func curve(page *report.Page, curve []serve.Point) {
	if len(curve) == 0 {
		return
	}
	last, top := curve[len(curve)-1], 0.001
	for _, c := range curve {
		top = max(top, c.Error)
	}
	top = math.Ceil(top*1000) / 1000
	var points strings.Builder
	for _, c := range curve {
		fmt.Fprintf(&points, "%.1f,%.1f ", 1000*float64(c.Examples)/float64(last.Examples),
			100-100*c.Error/top)
	}
	if len(curve) == 1 { // so that there is something to see
		fmt.Fprintf(&points, "0,%.1f", 100-100*last.Error/top)
	}
	says := fmt.Sprintf("Error so far: %.3g %% after %d examples, %.3g %% after %d",
		100*curve[0].Error, curve[0].Examples, 100*last.Error, last.Examples)
	page.Put("<figure>\n<div><span class=\"fixed\">%s</span><span>error so far, each example "+
		"predicted before it was learned</span></div>\n<svg viewBox=\"0 0 1000 100\" "+
		"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s\">"+
		"<line x1=\"0\" y1=\"0\" x2=\"1000\" y2=\"0\"/>"+
		"<line x1=\"0\" y1=\"50\" x2=\"1000\" y2=\"50\"/>"+
		"<line x1=\"0\" y1=\"100\" x2=\"1000\" y2=\"100\"/><polyline points=\"%s\"/></svg>\n"+
		"<div><span>0 %%</span><span>%s examples</span></div>\n</figure>\n", percentText(top), says,
		strings.TrimSpace(points.String()), grouped(last.Examples))
}
