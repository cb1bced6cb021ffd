package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fednode/node/trust"
)

func orgCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "org",
		Short: "Make an organisation, and trust others",
		Example: `  fednode org export --dir fednode-north --output north.pub
  fednode org trust south.pub --dir fednode-north`,
	}
	c.AddCommand(orgInitCommand(), orgExportCommand(), orgTrustCommand(), orgListCommand(), orgUntrustCommand())
	return c
}

func orgInitCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "init",
		Short: "Make an organisation's keys without a node, on a machine kept offline",
		Example: `  fednode org init --org north --dir /media/offline/north
  fednode node sign request.txt --dir /media/offline/north --output node-1.cert`,
		Args: exactArgs(0),
	}
	name := c.Flags().String("org", "", "name of the organisation (required)")
	dir := dirFlag(c, "", "where to make it (default fednode-ORG)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *name == "" {
			return wrong("fednode org init needs --org NAME")
		}
		path := defaultDir(*dir, *name)
		org, err := trustDir(path).InitOrg(keySetup(*name, ""))
		if err != nil {
			return err
		}
		f := org.Fingerprint()
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"dir": path, "org": org.Name, "fingerprint_words": f.Words(), "fingerprint": f.String()})
		}
		w, words := c.OutOrStdout(), fingerprintLines(f)
		p := paletteOf(w)
		fmt.Fprintf(w, "Made the keys of organisation %s in %s\n\n", p.paint(toneBold, org.Name), path)
		fmt.Fprintf(w, "Fingerprint  %s\n             %s\n\n", p.paint(toneBold, words[0]), p.paint(toneBold, words[1]))
		fmt.Fprintf(w, "Next, on each node  fednode node request --org %s --node NAME\n", org.Name)
		return nil
	}
	return c
}

func orgExportCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the file that a partner imports",
		Long: `Write the file that a partner imports with "fednode org trust": name, root key, signing keys, revocations, and where to
connect. It holds no secret. The partner compares the fingerprint over another channel, such as the telephone.`,
		Example: `  fednode org export --address north.example.org:7481 --output north.pub
  fednode org export --address /ip4/192.0.2.7/udp/7481/quic-v1`,
		Args: exactArgs(0),
	}
	dir := dirFlag(c, ".", ownDirHelp)
	addresses := c.Flags().StringArray("address", nil, "where partners connect: HOST:PORT or a multiaddress, may be given again (default listen.announce of node.toml)")
	output := c.Flags().String("output", "-", "file to write; - is standard output")
	c.RunE = func(c *cobra.Command, _ []string) error {
		d, typed := trustDir(*dir), *addresses
		if len(typed) == 0 {
			var err error
			if typed, err = announced(*dir); err != nil {
				return err
			}
		}
		list, err := exportAddresses(d, typed)
		if err != nil {
			return err
		}
		text, err := d.ExportOrg(list)
		if err != nil {
			return err
		}
		org, err := trust.ParseOrg("organisation file", text)
		if err != nil {
			return err
		}
		f := org.Fingerprint()
		if jsonWanted(c) {
			return printJSON(c, map[string]any{"org": org.Name, "file": string(text), "addresses": notNil(list), "fingerprint_words": f.Words(), "fingerprint": f.String()})
		}
		if err := writeNew(c, *output, text); err != nil {
			return err
		}
		words, w := fingerprintLines(f), c.ErrOrStderr()
		fmt.Fprintf(w, "Fingerprint of %s, to be compared with the partner:\n  %s\n  %s\n", org.Name, words[0], words[1])
		if len(list) == 0 {
			fmt.Fprintln(w, "It names no address: partners cannot connect to us, we connect to them. --address adds one.")
		}
		return nil
	}
	return c
}
