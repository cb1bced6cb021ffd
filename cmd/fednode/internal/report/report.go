package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"fednode/cmd/fednode/internal/chart"
)

//go:embed report.html
var source string

// Report is a page.
type Report struct {
	Title string
	// Command made it, with Version of the program, at Made (RFC 3339).
	Command, Version, Made string
	// Text says what is shown and how to read it.
	Text     string
	Sections []Section
}

// Section is a part of a page. Key is its anchor; Setup says what it was made with.
type Section struct {
	Key, Title, Text, Setup string
	// Charts have one legend if their series have the same names, and one each otherwise. Their IDs are given by Write.
	Charts []*chart.Chart
	Tables []Table
}

// Table is figures in rows; columns that Left does not name hold numbers.
type Table struct {
	Title   string
	Columns []string
	// Left are the places of columns that hold words.
	Left []int
	Rows [][]string
	// Folded hides the table until it is asked for.
	Folded bool
}

// Write writes the page.
func Write(w io.Writer, r *Report) error {
	t, err := template.New("report").Parse(source)
	if err != nil {
		return err
	}
	return t.Execute(w, view(r))
}

type reportView struct {
	*Report
	Style    template.CSS
	Sections []sectionView
}

type sectionView struct {
	Section
	Legend template.HTML
	Charts []chartView
	Tables []tableView
}

type chartView struct {
	Title       string
	Wide        bool
	Legend, SVG template.HTML
}

type tableView struct {
	Table
	Rows [][]cellView
	Head []cellView
}

type cellView struct {
	Text   string
	Number bool
}

func view(r *Report) *reportView {
	v := &reportView{Report: r, Style: template.CSS(chart.Style())}
	for _, s := range r.Sections {
		v.Sections = append(v.Sections, viewOf(s))
	}
	return v
}

func viewOf(s Section) sectionView {
	v := sectionView{Section: s}
	shared := alike(s.Charts)
	if shared && len(s.Charts) > 0 && len(s.Charts[0].Series) > 1 {
		v.Legend = template.HTML(chart.Legend(s.Charts[0].Names()))
	}
	for i, c := range s.Charts {
		drawn := *c
		drawn.ID = fmt.Sprintf("%s-%d", s.Key, i)
		one := chartView{Title: c.Title, Wide: c.Wide, SVG: template.HTML(drawn.SVG())}
		if !shared && len(c.Series) > 1 {
			one.Legend = template.HTML(chart.Legend(c.Names()))
		}
		v.Charts = append(v.Charts, one)
	}
	for _, t := range s.Tables {
		v.Tables = append(v.Tables, tableOf(t))
	}
	return v
}

// alike reports whether all charts have series of the same names.
func alike(charts []*chart.Chart) bool {
	for _, c := range charts {
		if !slices.Equal(c.Names(), charts[0].Names()) {
			return false
		}
	}
	return true
}

func tableOf(t Table) tableView {
	v := tableView{Table: t}
	cells := func(texts []string) []cellView {
		row := make([]cellView, len(texts))
		for i, text := range texts {
			row[i] = cellView{Text: text, Number: !slices.Contains(t.Left, i)}
		}
		return row
	}
	v.Head = cells(t.Columns)
	for _, r := range t.Rows {
		v.Rows = append(v.Rows, cells(r))
	}
	return v
}
