package main

import (
	"strings"

	"github.com/spf13/cobra"

	"fednode/query/spec"
)

// group marks commands that only hold others.
const group = "group"

// refuseUnknown makes every command that only holds others refuse names that it does not know: alone, cobra shows the
// help and succeeds, and a script with a misspelt command would go on.
func refuseUnknown(root *cobra.Command) {
	// A group runs only to refuse; its help does not show it as a command.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", `{{if and .Runnable (ne (index .Annotations "`+group+`") "yes")}}`, 1))
	refuseIn(root)
}

func refuseIn(c *cobra.Command) {
	for _, sub := range c.Commands() {
		refuseIn(sub)
	}
	if c.Runnable() || !c.HasSubCommands() {
		return
	}
	c.Annotations = map[string]string{group: "yes"}
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		return wrong("%s has no command `%s`; %s", c.CommandPath(), clean(args[0]), spec.DidYouMean(args[0], names))
	}
}
