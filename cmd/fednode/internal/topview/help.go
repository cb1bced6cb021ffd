package topview

// help explains the keys and the columns.
func (f *Frame) help(p *painter) []string {
	var out []string
	for _, l := range []struct{ word, text string }{
		{"KEYS", ""},
		{"↑ ↓  k j", "select a query or fragment; scroll the details"},
		{"enter", "the details of what is selected: inputs, operators, outputs"},
		{"esc", "back to the overview"},
		{"p", "pause, and go on"},
		{"q  ctrl+c", "quit"},
		{"", ""},
		{"COLUMNS", ""},
		{"ROWS/S", "rows a second between the last two answers"},
		{"LATE/S", "rows a second that came after their time was complete"},
		{"SET ASIDE", "rows in all that could not be read, or lie in the future"},
		{"COMPLETE", "stream time before which everything is there"},
		{"LAG", "how far that is behind the newest row of the source,"},
		{"", "or behind the furthest input of the fragment, in stream time"},
		{"LOG", "what the source keeps for those who have not read it yet"},
		{"MEMORY", "state of the operators"},
		{"BUFFER", "fill of the fullest output buffer of the fragment"},
		{"HELD BACK BY", "the input that the fragment waits for"},
		{"FLAPS", "how often a peer was thought down wrongly"},
	} {
		tone := strong
		if l.text == "" {
			out = append(out, p.flow(f.Width, cell{l.word, tone}))
			continue
		}
		out = append(out, p.flow(f.Width, cell{"  " + pad(l.word, 13, false), tone}, cell{l.text, plain}))
	}
	return out
}
