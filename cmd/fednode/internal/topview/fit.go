package topview

import "fmt"

// fit lays sections out, one below the other, in at most so many lines of so many columns.
func fit(sections []section, width, lines int, p *painter) []string {
	need, fixed := make([]int, len(sections)), 0
	total := 0
	for i := range sections {
		need[i] = len(sections[i].entries)
		fixed++ // its head
		total += need[i]
	}
	blanks := len(sections) - 1
	spaced := total+fixed+blanks <= lines || lines >= 16
	if spaced {
		fixed += blanks
	}
	got := share(need, lines-fixed)
	var out []string
	for i := range sections {
		if i > 0 && spaced {
			out = append(out, "")
		}
		out = append(out, sections[i].head)
		out = append(out, choose(sections[i].entries, got[i], width, p)...)
	}
	return out[:min(len(out), max(0, lines))]
}

// share deals so many lines out to those who need them: nobody gets more than needed, and nobody lacks any while another
// has more.
func share(need []int, lines int) []int {
	got := make([]int, len(need))
	for lines > 0 {
		dealt := false
		for i := range need {
			if got[i] < need[i] && lines > 0 {
				got[i]++
				lines--
				dealt = true
			}
		}
		if !dealt {
			break
		}
	}
	return got
}

// choose keeps n entries in their order. If that is not all, the last line counts the others.
func choose(list []entry, n, width int, p *painter) []string {
	var out []string
	if n >= len(list) {
		for _, e := range list {
			out = append(out, e.text)
		}
		return out
	}
	if n <= 0 {
		return nil
	}
	keep := kept(list, n-1)
	hidden := cell{tone: dim}
	trouble := 0
	for i, e := range list {
		if keep[i] {
			out = append(out, e.text)
		} else if e.trouble {
			trouble++
		}
	}
	hidden.text = fmt.Sprintf("  … %d more lines", len(list)-len(out))
	if trouble > 0 {
		hidden.text += fmt.Sprintf(", %d of them about trouble", trouble)
		hidden.tone = warn
	}
	return append(out, p.flow(width, hidden))
}

// kept says which n entries stay: those around the selected one, else those in trouble and the first of the others.
func kept(list []entry, n int) []bool {
	keep := make([]bool, len(list))
	for i, e := range list {
		if e.selected {
			from := min(max(0, i-n/2), max(0, len(list)-n))
			for j := from; j < from+n; j++ {
				keep[j] = true
			}
			return keep
		}
	}
	for _, trouble := range []bool{true, false} {
		for i, e := range list {
			if n > 0 && e.trouble == trouble {
				keep[i] = true
				n--
			}
		}
	}
	return keep
}
