package papers

import (
	"io"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/report"
)

// reportStyle is the style of the report besides that of all pages: rows are shown by verdict.
func reportStyle() report.HTML {
	var p report.Page
	for _, v := range Verdicts {
		p.Put("body:has(#only-%s:checked) tbody tr[data-verdict]:not([data-verdict=%s])", v, v)
		if v != Measured {
			p.Put(", body:has(#only-%s:checked) details", v)
		}
		p.Put(", body:has(#only-%s:checked) .table:not(:has([data-verdict=%s])),\n", v, v)
	}
	p.Put(`.none { display: none; }
legend { padding: 0; margin-bottom: .4rem; color: var(--soft); }
label.tile { position: relative; cursor: pointer; }
label.tile b { padding-right: 1.3rem; }
.tile input { position: absolute; top: .7rem; right: .6rem; margin: 0; accent-color: var(--mark); }
.tile:has(:checked) { border-color: var(--mark); box-shadow: inset 0 0 0 1px var(--mark); }
.tile:focus-within { outline: 2px solid var(--mark); outline-offset: 2px; }
table { width: 100%%; }
.exact, .supported { color: var(--good); }
.inside, .undecided { color: var(--mark); }
.outside, .contradicted { color: var(--bad); }
.not-comparable, .by-construction, .measured { color: var(--soft); }
.verdict { font-weight: 600; white-space: nowrap; }
.row { min-width: 12rem; }
.name { white-space: nowrap; }
.note { color: var(--soft); font-size: 13px; min-width: 9rem; }
ol.note { margin: -.4rem 0 1rem; padding-left: 1.4rem; max-width: 60rem; }
figure.panels { grid-column: 1 / -1; max-width: 62rem; }
@media print {
	@page { margin: 1.4cm; }
	body { font-size: 10pt; max-width: none; padding: 0; }
	table { font-size: 8.5pt; }
	.note { font-size: 8pt; }
	.tile input { display: none; }
	.figures { grid-template-columns: 1fr 1fr; gap: .4cm; }
}
`)
	return report.HTML(p.String())
}

const reportIntro = `<h1>Five papers run again</h1>
<p>Published values next to ours. A <b>printed number</b> is <span class="exact">exact</span> (an
integer, equal, or all printed digits), <span class="inside">inside</span> (the 95 % interval of the
difference contains 0; the note gives a tolerance), <span class="outside">outside</span> (the note
says what is known), or <span class="not-comparable">not comparable</span> (the data differ from the
paper's). What a paper says without a number is a <b>claim</b>: a difference, paired over the runs,
that is above 0 if the claim holds. By its 95 % interval it is <span
class="supported">supported</span> (above 0), <span class="undecided">undecided</span> (it contains
0) or <span class="contradicted">contradicted</span> (below 0). What follows from how the run is set
up is <span class="by-construction">by construction</span>. Everything else, mostly points of
curves, is <b>measured</b> and folded under its figure. ± is half of a 95 % confidence interval of
the mean over the runs (Student's t). Times are CPU seconds of learning, all runs together. Next to
them are, if known, those of the learner's naive form in the same run and of one run of the paper's
program, each with its ratio to ours (×).</p>
`

// htmlReport is the page of a report under construction.
type htmlReport struct {
	report.Page
	Report
	leftOut int
}

// WriteHTML writes the report as one page that needs no other file.
func (r Report) WriteHTML(w io.Writer) error {
	p := &htmlReport{Report: r}
	p.Begin("halfspace: five papers run again", reportStyle(), "")
	p.summary()
	for _, paper := range Papers {
		of := r.of(paper)
		if len(of) == 0 {
			continue
		}
		p.Put("<h2>%s</h2>\n<p>%s. <span class=\"soft\">Its times: %s.</span></p>\n", paper.Name,
			paper.Citation, paper.Hardware)
		for _, o := range of {
			if err := p.outcome(o); err != nil {
				return err
			}
		}
	}
	p.End()
	_, err := io.WriteString(w, p.String())
	return err
}

// of returns the outcomes of a paper's experiments.
func (r Report) of(paper Paper) (list []Outcome) {
	for _, o := range r.Outcomes {
		if PaperOf(o.Name).Name == paper.Name {
			list = append(list, o)
		}
	}
	return list
}

// summary writes what is said of all experiments together.
func (p *htmlReport) summary() {
	counts, rows, skipped, total := map[Verdict]int{}, 0, 0, 0.0
	for _, o := range p.Outcomes {
		for v, n := range o.Verdicts() {
			counts[v] += n
			rows += n
		}
		total += o.Seconds
		if o.Skipped != "" {
			skipped++
		} else {
			p.leftOut += o.LeftOut
		}
	}
	p.WriteString(reportIntro)
	p.Put("<p class=\"soft\">")
	if p.Command != "" {
		p.Put("<code>%s</code>", p.Command)
	}
	if p.Date != "" {
		p.Put(" %s ·", p.Date)
	}
	p.Put(" %s", p.Machine)
	if p.Version != "" {
		p.Put(" · %s", p.Version)
	}
	p.Put(" · seeds from %d · %s s of work</p>\n<fieldset class=\"tiles\">"+
		"<legend>Show only</legend>"+
		"<label class=\"tile\"><input type=\"radio\" name=\"only\" checked><b>%d</b>rows</label>\n",
		p.Seed, SecondsText(total), rows)
	for _, v := range Verdicts {
		if n := counts[v]; n > 0 {
			p.Put("<label class=\"tile\"><input type=\"radio\" name=\"only\" id=\"only-%s\">"+
				"<b class=\"%s\">%d</b>%s</label>\n", v, v, n, v)
		}
	}
	if p.leftOut > 0 {
		p.Put("<span class=\"tile\"><b>%d</b>left out for --slow</span>\n", p.leftOut)
	}
	if skipped > 0 {
		p.Put("<span class=\"tile\"><b>%d</b>experiments not run</span>\n", skipped)
	}
	p.Put("</fieldset>\n")
	p.verdicts()
}

// verdicts writes the table of verdicts by experiment.
func (p *htmlReport) verdicts() {
	head := []string{"experiment"}
	for _, v := range Verdicts {
		head = append(head, ">"+string(v))
	}
	if p.leftOut > 0 {
		head = append(head, ">left out")
	}
	p.Table("Verdicts by experiment", "How many rows of each experiment have which verdict",
		append(head, ">s")...)
	for _, paper := range Papers {
		for _, o := range p.of(paper) {
			p.Put("<tr><th scope=\"row\" class=\"name\"><a href=\"#%s\">%s</a>", anchor(o.Name),
				o.Name)
			if o.Skipped != "" {
				p.Put(" <span class=\"outside\">not run: %s</span>", o.Skipped)
			}
			p.Put("</th>\n")
			n := o.Verdicts()
			for _, v := range Verdicts {
				p.Put("<td class=\"n %s\">%s</td>", v, countText(n[v]))
			}
			left, seconds := "", ""
			if o.Skipped == "" {
				left, seconds = countText(o.LeftOut), SecondsText(o.Seconds)
			}
			if p.leftOut > 0 {
				p.Cell(left)
			}
			p.Cell(seconds)
			p.Put("</tr>\n")
		}
	}
	p.EndTable()
}

// outcome writes an experiment's part.
func (p *htmlReport) outcome(o Outcome) error {
	p.Put("\n<h3 id=\"%s\">%s</h3>\n", anchor(o.Name), o.Name)
	if o.Skipped != "" {
		p.Put("<p class=\"outside\">Not run: %s.</p><p>Run it: <code>%s</code></p>\n", o.Skipped,
			o.Command)
		return nil
	}
	p.Put("<p>%s. Run it again: <code>%s</code>", capital(o.Summary), o.Command)
	if o.Date != "" {
		p.Put(" <span class=\"soft\">Run on %s.</span>", o.Date)
	}
	p.Put("</p>\n")
	for _, kind := range []Kind{Number, Claim} {
		if rows := OfKind(o.Rows, kind); len(rows) > 0 {
			p.Put("<div class=\"table\">")
			p.rows(kind, rows)
			p.Put("</div>\n")
		}
	}
	if len(o.Figures) > 0 {
		p.Put("<div class=\"figures\">\n")
		for _, f := range o.Figures {
			class := ""
			if f.Panels != nil {
				class = "panels"
			}
			if err := p.Figure(f, f.Finding(), class); err != nil {
				return err
			}
		}
		p.Put("</div>\n")
	}
	if rows := OfKind(o.Rows, Measurement); len(rows) > 0 {
		p.Put("<details class=\"table\"><summary>%d measured, without a printed number</summary>\n",
			len(rows))
		p.rows(Measurement, rows)
		p.Put("</details>\n")
	}
	if o.Slow != "" {
		p.Put("<p class=\"soft\">Only with <code>--slow</code>: %s", o.Slow)
		if o.LeftOut > 0 {
			p.Put(" (%d rows)", o.LeftOut)
		}
		p.Put(".</p>\n")
	}
	return nil
}

// rows writes the table of an experiment's rows of one kind, and their notes.
func (p *htmlReport) rows(kind Kind, rows []Row) {
	name := rows[0].Experiment
	caption := name + ": " + map[Kind]string{
		Number:      "numbers that the paper prints",
		Claim:       "what the paper claims; a difference above 0 supports it",
		Measurement: "measured",
	}[kind]
	head := []string{"row", "quantity"}
	switch kind {
	case Number:
		head = []string{"verdict", "row", "quantity", ">paper", ">ours"}
	case Claim:
		head = []string{"verdict", "claim", "quantity", ">difference"}
	default:
		head = append(head, ">ours")
	}
	took, naive, timed := HasSeconds(rows), HasNaive(rows), HasPaperSeconds(rows)
	if took {
		head = append(head, ">s")
	}
	if naive {
		head = append(head, ">naive s", ">×")
	}
	if timed {
		head = append(head, ">paper's s", ">×")
	}
	p.Table(caption, caption, append(head, "note")...)
	notes, at := Footnotes(rows), anchor(name)+"-"+string(kind)
	for i, r := range rows {
		p.Put("<tr data-verdict=\"%s\">", r.Verdict)
		if kind != Measurement {
			p.Put("<td class=\"verdict %s\">%s</td>", r.Verdict, r.Verdict)
		}
		p.Put("<th scope=\"row\" class=\"row\">%s</th><td>%s</td>", r.Row, r.QuantityText())
		if kind == Number {
			p.Cell(r.PaperText())
		}
		p.Cell(r.OursText())
		if took {
			p.Cell(SecondsText(r.Seconds))
		}
		for _, other := range []struct {
			shown   bool
			seconds *float64
			ratio   float64
		}{{naive, r.NaiveSeconds, r.XNaive()}, {timed, r.PaperSeconds, r.XPaper()}} {
			if other.shown {
				seconds := ""
				if other.seconds != nil {
					seconds = SecondsText(*other.seconds)
				}
				p.Cell(seconds)
				p.Cell(RatioText(other.ratio))
			}
		}
		p.Put("<td class=\"note\">")
		for k, m := range notes.Marks[i] {
			if k > 0 {
				p.Put(", ")
			}
			p.Put("<a href=\"#%s-%d\">%d</a>", at, m+1, m+1)
		}
		if own := notes.Own[i]; own != "" {
			if len(notes.Marks[i]) > 0 {
				p.Put("; ")
			}
			p.Put("%s", own)
		}
		p.Put("</td></tr>\n")
	}
	p.EndTable()
	if len(notes.Below) > 0 {
		p.Put("<ol class=\"note\">\n")
		for k, text := range notes.Below {
			p.Put("<li id=\"%s-%d\">%s</li>\n", at, k+1, text)
		}
		p.Put("</ol>\n")
	}
}

// anchor is what links to an experiment name.
func anchor(name string) string { return strings.ReplaceAll(name, "/", "-") }

// countText is a count without zeros.
func countText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
