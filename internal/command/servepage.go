package command

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfspace-ml/halfspace/serve"
)

//go:embed servepage.html
var servePageHTML string

var servePage = template.Must(template.New("serve").Funcs(template.FuncMap{
	"age": func(seconds float64) string { return spaced(roundTime(seconds)) },
	"clock": func(t time.Time) string {
		return t.UTC().Format("2006-01-02 15:04:05")
	},
	"count":   grouped,
	"newest":  func(l []serve.Refusal) []serve.Refusal { slices.Reverse(l); return l },
	"percent": func(share float64) string { return fmt.Sprintf("%.3g\u00a0%%", 100*share) },
	"rate": func(perSecond float64) string {
		if perSecond >= 100 {
			return grouped(int64(math.Round(perSecond)))
		}
		return strconv.FormatFloat(perSecond, 'g', 2, 64)
	},
	"size": binarySize,
	"took": func(seconds float64) string {
		if seconds <= 0 {
			return "none yet"
		}
		return spaced(roundTime(seconds))
	},
}).Parse(servePageHTML))

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

// shownModel is a model as the page has it.
type shownModel struct {
	serve.Stats
	PredictRate, LearnRate float64
	Unsaved                uint64
	Line                   *shownLine // nil: nothing was learned
}

// shownLine is a curve as an SVG of 1000 by 100 draws it.
type shownLine struct {
	Points, Says string
	Top          float64
	Examples     int64
}

func (p *statusPages) page(dst []byte) serve.Answer {
	now := time.Now()
	data := struct {
		Version, Uptime string
		Models          []shownModel
	}{"halfspace " + buildVersion().Version, spaced(now.Sub(p.began).Round(time.Second)), nil}
	for _, s := range p.stats() {
		m := shownModel{Stats: s, Line: lineOf(s.Curve)}
		m.PredictRate, m.LearnRate = p.rates(&s, now)
		m.Unsaved = s.Examples - min(s.Saved, s.Examples)
		data.Models = append(data.Models, m)
	}
	b := bytes.NewBuffer(dst)
	if err := servePage.Execute(b, data); err != nil {
		return serve.Answer{Status: http.StatusInternalServerError, Media: "text/plain",
			Body: append(dst, err.Error()...)}
	}
	return serve.Answer{Status: http.StatusOK, Media: "text/html; charset=utf-8", Body: b.Bytes()}
}

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

// lineOf makes a line of a curve; nil of none.
func lineOf(curve []serve.Point) *shownLine {
	if len(curve) == 0 {
		return nil
	}
	last := curve[len(curve)-1]
	line := &shownLine{Examples: last.Examples}
	for _, c := range curve {
		line.Top = max(line.Top, c.Error)
	}
	line.Top = math.Ceil(max(line.Top, 0.001)*1000) / 1000
	var b strings.Builder
	for _, c := range curve {
		fmt.Fprintf(&b, "%.1f,%.1f ", 1000*float64(c.Examples)/float64(last.Examples),
			100-100*c.Error/line.Top)
	}
	if len(curve) == 1 { // so that there is something to see
		fmt.Fprintf(&b, "0,%.1f", 100-100*last.Error/line.Top)
	}
	line.Points = strings.TrimSpace(b.String())
	line.Says = fmt.Sprintf("Error so far: %.3g %% after %d examples, %.3g %% after %d",
		100*curve[0].Error, curve[0].Examples, 100*last.Error, last.Examples)
	return line
}
