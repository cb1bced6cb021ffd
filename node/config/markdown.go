package config

import (
	"fmt"
	"strings"
)

// Markdown describes every field in one table a section; docs/configuration.md holds it.
func Markdown() string {
	var b strings.Builder
	section := ""
	for _, f := range Fields() {
		if f.Section() != section {
			section = f.Section()
			fmt.Fprintf(&b, "\n### [%s]\n\n| key | type | default | range | meaning |\n| --- | --- | --- | --- | --- |\n", section)
		}
		def := "none"
		switch {
		case f.Required:
			def = "required"
		case f.Default != "":
			def = "`" + f.Default + "`"
		}
		allowed := f.Range
		if allowed == "" {
			allowed = "any"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Key(), f.Type, def, allowed, f.Doc)
	}
	return b.String()
}
