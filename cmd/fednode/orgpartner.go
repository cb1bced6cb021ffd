package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fednode/node/trust"
)

func orgTrustCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "trust FILE",
		Short: "Import a partner's file, after comparing its fingerprint",
		Long: `Import a partner's file. The fingerprint is shown as twelve words: compare them with the partner over another channel,
such as the telephone. In a script give what the partner told you as --fingerprint. A newer file of a partner replaces
the older one; another root key under a known name is refused.`,
		Example: `  fednode org trust south.pub
  fednode org trust south.pub --fingerprint "acid acorn actor agent alarm album alder alloy amber angle ankle apple"`,
		Args: exactArgs(1),
	}
	dir := dirFlag(c, ".", ownDirHelp)
	fingerprint := c.Flags().String("fingerprint", "", "the partner's fingerprint, in words or hexadecimal; nothing is asked")
	c.RunE = func(c *cobra.Command, args []string) error {
		text, err := readLimited(args[0], 4<<20)
		if err != nil {
			return err
		}
		org, err := trust.ParseOrg(args[0], text)
		if err != nil {
			return err
		}
		d := trustDir(*dir)
		if _, err := d.LoadOrg(); err != nil {
			return err // before anybody compares twelve words for nothing
		}
		if err := confirmFingerprint(c, org, args[0], *fingerprint, c.Flags().Changed("fingerprint")); err != nil {
			return err
		}
		if err := d.TrustPartner(org); err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, describeOrg(org, false))
		}
		fmt.Fprintf(c.OutOrStdout(), "%s is a partner now. It gets no stream before an export names it.\n", org.Name)
		return nil
	}
	return c
}

// confirmFingerprint compares with what was given, or asks.
func confirmFingerprint(c *cobra.Command, org *trust.Org, file, given string, isGiven bool) error {
	f := org.Fingerprint()
	if isGiven {
		if !f.Matches(given) {
			return wrong("%s: the fingerprint of %s is another one; nothing was changed\n  in the file  %s\n  expected     %s\nget the file again over a way that nobody else can change", file, org.Name, f.Words(), clean(given))
		}
		return nil
	}
	words, w := fingerprintLines(f), c.ErrOrStderr()
	p := paletteOf(w)
	fmt.Fprintf(w, "%s says that it is organisation %s, with the fingerprint\n\n    %s\n    %s\n\n", file, p.paint(toneBold, org.Name), p.paint(toneBold, words[0]), p.paint(toneBold, words[1]))
	yes, err := confirm(c, "Did "+org.Name+" read out the same words?")
	switch {
	case errors.Is(err, errNotTerminal):
		return wrong("not trusted: %w; give --fingerprint with the words that %s told you", err, org.Name)
	case err != nil:
		return err
	case !yes:
		return errors.New("not trusted; nothing was changed")
	}
	return nil
}

func orgListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the own organisation and the partners that are trusted",
		Example: "  fednode org list --dir fednode-north",
		Args:    exactArgs(0),
	}
	dir := dirFlag(c, ".", ownDirHelp)
	c.RunE = func(c *cobra.Command, _ []string) error {
		d := trustDir(*dir)
		own, err := d.LoadOrg()
		if err != nil {
			return err
		}
		partners, err := d.Partners()
		if err != nil {
			return err
		}
		list := []orgInfo{describeOrg(own, true)}
		for _, o := range partners {
			list = append(list, describeOrg(o, false))
		}
		if jsonWanted(c) {
			return printJSON(c, list)
		}
		t := table{head: []string{"ORGANISATION", "IS", "FINGERPRINT BEGINS", "ADDRESSES"}}
		for _, o := range list {
			is := cell{"partner", toneNone}
			if o.Own {
				is = cell{"own", toneGood}
			}
			begins := strings.Join(strings.Fields(o.Words)[:3], " ") + " …"
			places := shortAddresses(o.Addresses)
			t.add(cell{o.Org, toneNone}, is, cell{begins, toneDim}, cell{places[0], toneNone})
			for _, more := range places[1:] {
				t.add(cell{}, cell{}, cell{}, cell{more, toneNone})
			}
		}
		t.print(c.OutOrStdout())
		return nil
	}
	return c
}

// shortAddresses prints addresses without peer ids, which fill a line; --json has them. There is at least one text.
func shortAddresses(list []string) []string {
	if len(list) == 0 {
		return []string{"-"}
	}
	out := make([]string, len(list))
	for i, a := range list {
		a, _, _ = strings.Cut(a, "/p2p/")
		out[i] = clean(a)
	}
	return out
}

// orgInfo is one organisation in JSON.
type orgInfo struct {
	Org         string   `json:"org"`
	Own         bool     `json:"own"`
	Root        string   `json:"root"`
	Words       string   `json:"fingerprint_words"`
	Fingerprint string   `json:"fingerprint"`
	Addresses   []string `json:"addresses"`
	Revocations int      `json:"revocations"`
}

func describeOrg(o *trust.Org, own bool) orgInfo {
	f := o.Fingerprint()
	return orgInfo{Org: o.Name, Own: own, Root: o.Root.ID(), Words: f.Words(), Fingerprint: f.String(),
		Addresses: notNil(o.Addresses), Revocations: len(o.Revocations)}
}

// notNil makes an empty list print as [] in JSON.
func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func orgUntrustCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "untrust ORG",
		Short:   "Forget a partner: its nodes are refused from now on",
		Example: "  fednode org untrust south",
		Args:    exactArgs(1),
	}
	dir := dirFlag(c, ".", ownDirHelp)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := trustDir(*dir).UntrustPartner(args[0]); err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"untrusted": args[0]})
		}
		fmt.Fprintf(c.OutOrStdout(), "%s is no partner any more.\n", args[0])
		return nil
	}
	return c
}
