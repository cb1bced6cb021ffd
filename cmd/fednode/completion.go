package main

import "github.com/spf13/cobra"

func completionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the completion script of a shell",
		Example: `  source <(fednode completion bash)
  fednode completion zsh > "${fpath[1]}/_fednode"
  fednode completion fish > ~/.config/fish/completions/fednode.fish`,
		Args:      exactArgs(1),
		ValidArgs: []string{"bash", "zsh", "fish"},
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		root, w := c.Root(), c.OutOrStdout()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(w, true)
		case "zsh":
			return root.GenZshCompletion(w)
		case "fish":
			return root.GenFishCompletion(w, true)
		}
		return wrong("completion %s: expected bash, zsh or fish", args[0])
	}
	return c
}
