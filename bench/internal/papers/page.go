package papers

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrPage says that a text has not the marks of a page, or not those of an experiment.
var ErrPage = errors.New("bench: not a page of experiments")

// Marks of a page: what stands between two of them is made here, the rest is written by hand.
const (
	pageBegin, pageEnd = "<!-- repro ", "<!-- end -->"
	slowPart           = " slow"  // behind an experiment's name: the rows that take long
	pageCounts         = "counts" // the part with how many rows have which verdict
)

// UpdatePage returns a Markdown document with the rows of the report's outcomes put into it, each
// experiment's between its marks, and with how many rows have which verdict put between those of
// `counts`. All else stays as it is, what was not run included:
//
//	<!-- repro obpm/table1 -->
//	<!-- end -->
//
// Rows that only RunOptions.Slow includes stand in a part of their own, `obpm/table1 slow`. With
// slow only those are put in, of experiments that have some.
func UpdatePage(text string, r Report, slow bool) (string, error) {
	parts, err := pageParts(text)
	if err != nil {
		return "", err
	}
	lines := map[string]string{} // of the counts, by the part's name
	if i := slices.IndexFunc(parts, func(p pagePart) bool { return p.name == pageCounts }); i >= 0 {
		for _, line := range strings.Split(parts[i].text, "\n") {
			if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok {
				lines[name] = line
			}
		}
	}
	for _, o := range r.Outcomes {
		if o.Skipped != "" {
			continue
		}
		name, rows := o.Name, o.Rows
		if slow && experiments[o.Name].Slow != "" {
			name += slowPart
			rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !r.Slow })
		}
		i := slices.IndexFunc(parts, func(p pagePart) bool { return p.name == name })
		if i < 0 {
			return "", fmt.Errorf("%w: no line %s%s -->", ErrPage, pageBegin, name)
		}
		o.Rows = rows
		parts[i].text, lines[name] = pageRows(o, r), pageLine(name, o.Verdicts())
	}
	for i := range parts {
		if parts[i].name == pageCounts {
			parts[i].text = pageTable(parts, lines)
		}
	}
	var b strings.Builder
	for _, p := range parts {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		fmt.Fprintf(&b, "%s%s -->\n%s%s\n", pageBegin, p.name, p.text, pageEnd)
	}
	return b.String(), nil
}

// pagePart is text by hand, or what stands between marks.
type pagePart struct{ name, text string } // "" is by hand

// pageParts takes a page apart, which loses nothing.
func pageParts(text string) (parts []pagePart, err error) {
	var now pagePart
	for _, line := range strings.SplitAfter(text, "\n") {
		name, begins := strings.CutPrefix(strings.TrimSuffix(line, " -->\n"), pageBegin)
		switch ends := line == pageEnd+"\n"; {
		case begins && now.name != "", ends && now.name == "":
			return nil, fmt.Errorf("%w: %q does not fit what stands before it", ErrPage, line)
		case begins && slices.ContainsFunc(parts, func(p pagePart) bool { return p.name == name }):
			return nil, fmt.Errorf("%w: %q stands there twice", ErrPage, line)
		case begins:
			parts, now = append(parts, now), pagePart{name: name}
		case ends:
			parts, now = append(parts, now), pagePart{}
		default:
			now.text += line
		}
	}
	if now.name != "" {
		return nil, fmt.Errorf("%w: nothing ends %s%s -->", ErrPage, pageBegin, now.name)
	}
	return append(parts, now), nil
}

// pageLine is a line of the counts.
func pageLine(name string, n map[Verdict]int) string {
	line := "| `" + name + "` |"
	for _, v := range Verdicts {
		if n[v] > 0 {
			line += " " + strconv.Itoa(n[v])
		}
		line += " |"
	}
	return line
}

// pageTable is the part of the counts: the lines of the parts that there are, in their order, and
// their sum.
func pageTable(parts []pagePart, lines map[string]string) string {
	var b strings.Builder
	head, rule := "| experiment |", "|---|"
	for _, v := range Verdicts {
		head, rule = head+" "+string(v)+" |", rule+"---|"
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", head, rule)
	sum := map[Verdict]int{}
	for _, p := range parts {
		line := lines[p.name]
		if line == "" {
			continue
		}
		fmt.Fprintln(&b, line)
		for i, cell := range strings.Split(line, "|")[2:] {
			if n, err := strconv.Atoi(strings.TrimSpace(cell)); err == nil && i < len(Verdicts) {
				sum[Verdicts[i]] += n
			}
		}
	}
	fmt.Fprintf(&b, "%s\n\n", strings.ReplaceAll(pageLine("all", sum), "`", ""))
	return b.String()
}

// pageRows is the part of an experiment.
func pageRows(o Outcome, r Report) string {
	var b strings.Builder
	runs := "nothing is drawn"
	if least, most := runsOf(o.Rows); most > 1 {
		runs = fmt.Sprintf("%d runs a row", most)
		if least < most {
			runs = fmt.Sprintf("%d to %d runs a row", least, most)
		}
		runs += fmt.Sprintf(" from seed %d", r.Seed)
	}
	fmt.Fprintf(&b, "\n%s\n\n", wrapped(fmt.Sprintf("%s. `%s` took %s s on %s, on %s; %s.",
		capital(o.Summary), o.Command, strings.TrimSpace(SecondsText(o.Seconds)), o.Date, r.Machine,
		runs), ""))
	for _, kind := range Kinds {
		of := OfKind(o.Rows, kind)
		if len(of) == 0 {
			continue
		}
		if kind == Measurement {
			fmt.Fprintf(&b, "<details><summary>%d values without a printed number</summary>\n\n",
				len(of))
		}
		pageKind(&b, kind, of)
		if kind == Measurement {
			fmt.Fprint(&b, "</details>\n\n")
		}
	}
	return b.String()
}

// pageKind writes the rows of one kind, and below them the notes.
func pageKind(b *strings.Builder, kind Kind, rows []Row) {
	head := map[Kind][]string{Number: {"number", "paper", "ours", "verdict"},
		Claim: {"claim", "difference", "verdict"}, Measurement: {"row", "ours"}}[kind]
	timed, notes := HasPaperSeconds(rows), Footnotes(rows)
	if timed {
		head = append(head, "CPU s a run", "paper's s", "times as long")
	}
	head = append(head, "notes")
	pageCells(b, head)
	fmt.Fprintf(b, "|%s\n", strings.Repeat("---|", len(head)))
	for i, r := range rows {
		cells := []string{r.name()}
		if kind == Number {
			cells = append(cells, r.PaperText())
		}
		if cells = append(cells, r.OursText()); kind != Measurement {
			cells = append(cells, string(r.Verdict))
		}
		if timed {
			took, paper := SecondsText(r.Seconds/float64(max(1, r.Runs))), ""
			if r.PaperSeconds != nil {
				paper = fmt.Sprintf("%g", *r.PaperSeconds)
			}
			cells = append(cells, took, paper, RatioText(r.XPaper()))
		}
		note := notes.Own[i]
		for k, m := range notes.Marks[i] {
			mark := strconv.Itoa(m + 1)
			switch {
			case k > 0:
				mark = ", " + mark
			case note != "":
				mark = "; " + mark
			}
			note += mark
		}
		pageCells(b, append(cells, note))
	}
	fmt.Fprintln(b)
	for k, n := range notes.Below {
		fmt.Fprintln(b, wrapped(escaped(n), fmt.Sprintf("%d. ", k+1)))
	}
	if notes.Below != nil {
		fmt.Fprintln(b)
	}
}

// pageCells writes a line of a table.
func pageCells(b *strings.Builder, cells []string) {
	for _, c := range cells {
		fmt.Fprintf(b, "| %s ", escaped(c))
	}
	fmt.Fprintln(b, "|")
}

// escaped returns text with what Markdown would take for its own taken for itself.
func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`).Replace(text)
}

// name is the row with its quantity.
func (r Row) name() string { return r.Row + ", " + r.QuantityText() }

// runsOf returns the fewest and the most runs of a row.
func runsOf(rows []Row) (least, most int) {
	for i, r := range rows {
		if most = max(most, r.Runs); i == 0 {
			least = r.Runs
		}
		least = min(least, r.Runs)
	}
	return least, most
}

// capital returns text with a capital first letter.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// wrapped returns text in lines of 100 columns, the first behind a mark, the others below it.
func wrapped(text, mark string) string {
	line, indent := mark, strings.Repeat(" ", len(mark))
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		if i > 0 {
			if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 100 {
				b.WriteString(line + "\n")
				line = indent + word
				continue
			}
			line += " "
		}
		line += word
	}
	return b.String() + line
}
