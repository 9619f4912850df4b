package report

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
)

// HTML is text that needs no escaping any more.
type HTML string

// pageStyle is the style that all pages share.
//
//go:embed page.css
var pageStyle string

// Page is an HTML page under construction. Its zero value is empty.
type Page struct{ strings.Builder }

// Begin writes the head of the page. More is what else belongs into it.
func (p *Page) Begin(title string, style, more HTML) {
	p.Put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"+
		"%s<title>%s</title>\n<style>\n%s%s</style>\n</head>\n<body>\n", more, title,
		HTML(pageStyle), style)
}

// End writes the end of the page.
func (p *Page) End() { p.WriteString("</body>\n</html>\n") }

// Put writes as fmt.Fprintf does. Arguments that are neither numbers nor HTML are escaped.
func (p *Page) Put(format string, args ...any) {
	for i, a := range args {
		switch a.(type) {
		case HTML, int, int64, uint64, float64:
		default:
			args[i] = html.EscapeString(fmt.Sprint(a))
		}
	}
	fmt.Fprintf(p, format, args...)
}

// Table begins a table that scrolls if it is too wide. Screen readers read the label. A column
// whose name begins with > has numbers.
func (p *Page) Table(label, caption string, head ...string) {
	p.Put("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>\n", label)
	if caption != "" {
		p.Put("<caption><span>%s</span></caption>\n", caption)
	}
	if len(head) > 0 {
		p.Put("<thead><tr>")
		for _, h := range head {
			class, name := HTML(""), strings.TrimPrefix(h, ">")
			if name != h {
				class = ` class="n"`
			}
			p.Put("<th scope=\"col\"%s>%s</th>", class, name)
		}
		p.Put("</tr></thead>\n")
	}
	p.Put("<tbody>\n")
}

// Cell writes a cell of a number.
func (p *Page) Cell(text string) { p.Put("<td class=\"n\">%s</td>", text) }

// EndTable ends it.
func (p *Page) EndTable() { p.Put("</tbody></table></div>\n") }

// Figure draws a figure.
func (p *Page) Figure(f Figure, alt, class string) error {
	svg, err := f.SVG(alt)
	if err == nil {
		p.Put("<figure class=\"%s\">%s</figure>\n", class, svg)
	}
	return err
}
