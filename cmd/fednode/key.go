package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/cobra"

	"fednode/node/trust"
)

func keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "List, rotate and revoke keys of the organisation",
		Example: `  fednode key list --dir fednode-north
  fednode key rotate deploy --dir /media/offline/north`,
	}
	c.AddCommand(keyListCommand(), keyRotateCommand(), keyRevokeCommand())
	return c
}

// keyLine is one key in JSON.
type keyLine struct {
	Role    string `json:"role"`
	ID      string `json:"id"`
	Key     string `json:"key"`
	Here    bool   `json:"here"`
	State   string `json:"state"`
	Issued  string `json:"issued,omitempty"`
	Expires string `json:"expires,omitempty"`
	Void    string `json:"void_before,omitempty"`
	File    string `json:"file"`
}

func keyListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the root, the signing keys and the node key, and which of them are here",
		Example: "  fednode key list --dir fednode-north",
		Args:    exactArgs(0),
	}
	dir := dirFlag(c, ".", ownDirHelp)
	c.RunE = func(c *cobra.Command, _ []string) error {
		keys, err := trustDir(*dir).ListKeys()
		if err != nil {
			return err
		}
		now := trust.TimeOf(time.Now())
		if jsonWanted(c) {
			lines := make([]keyLine, len(keys))
			for i, k := range keys {
				state, _ := keyState(k, now)
				lines[i] = keyLine{string(k.Role), k.ID, k.Key.String(), k.Here, state, stamp(k.Issued), stamp(k.Expires), stamp(k.Void), k.File}
			}
			return printJSON(c, lines)
		}
		t := table{head: []string{"ROLE", "ID", "STATE", "ISSUED", "EXPIRES", "SECRET"}}
		for _, k := range keys {
			state, tone := keyState(k, now)
			secret := cell{"elsewhere", toneDim}
			if k.Here {
				secret = cell{k.File, toneNone}
			}
			t.add(cell{string(k.Role), toneNone}, cell{k.ID, toneNone}, cell{state, tone}, cell{day(k.Issued), toneNone}, cell{day(k.Expires), toneNone}, secret)
		}
		t.print(c.OutOrStdout())
		return nil
	}
	return c
}

func stamp(t trust.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

// keyState says in a word whether a key is good.
func keyState(k trust.KeyInfo, now trust.Time) (string, tone) {
	const soon = 30 * 24 * time.Hour
	switch {
	case k.Void > now:
		return "revoked", toneBad
	case k.Expires != 0 && k.Expires <= now:
		return "expired", toneBad
	case k.Void > k.Issued:
		return "revoked in part", toneWarn
	case k.Expires != 0 && k.Expires <= now.Add(soon):
		return "expires soon", toneWarn
	}
	return "good", toneGood
}

func keyRotateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rotate nodes|deploy|contracts",
		Short: "Make a new signing key, where the root key is",
		Long: `Make a new signing key and state it with the root key, which must be in the directory. The old key is kept beside the
new one; what it signed stays valid until the key is revoked or expires. Partners need no second import.`,
		Example: "  fednode key rotate deploy --dir /media/offline/north",
		Args:    exactArgs(1),
	}
	dir := dirFlag(c, ".", ownDirHelp)
	c.ValidArgs = []string{string(trust.RoleNodes), string(trust.RoleDeploy), string(trust.RoleContracts)}
	c.RunE = func(c *cobra.Command, args []string) error {
		key, err := trustDir(*dir).RotateKey(trust.Role(args[0]), time.Now(), rand.Reader)
		if err != nil {
			return err
		}
		id := key.Secret.Public().ID()
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"role": args[0], "id": id, "key": key.Secret.Public().String()})
		}
		fmt.Fprintf(c.OutOrStdout(), "The %s key is %s now. Copy %s.key and org.pub to the nodes that use them.\n", args[0], id, args[0])
		return nil
	}
	return c
}

func keyRevokeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke KEY",
		Short: "Void what a key signed: for good, or before a time",
		Long: `Void what a key signed, or for a node key the certificates issued for it. KEY is an id of "fednode key list", a whole
key in hexadecimal, or a peer id. The root key must be in the directory; for a node's key the nodes key is enough. A
revocation cannot be taken back.`,
		Example: `  fednode key revoke 4be07d5b3dbb4a17 --reason "laptop stolen"
  fednode key revoke 12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp --before 2027-03-01T00:00:00Z --yes`,
		Args: exactArgs(1),
	}
	dir := dirFlag(c, ".", ownDirHelp)
	before := c.Flags().String("before", "", "void only what was signed before this time, such as 2027-03-01T00:00:00Z")
	reason := c.Flags().String("reason", "", "why, for partners and auditors; at most 200 bytes")
	yes := c.Flags().Bool("yes", false, "do not ask")
	c.RunE = func(c *cobra.Command, args []string) error {
		d := trustDir(*dir)
		key, err := findKey(d, args[0])
		if err != nil {
			return err
		}
		until, err := parseBefore(*before)
		if err != nil {
			return err
		}
		if err := confirmRevoke(c, key, *yes); err != nil {
			return err
		}
		if _, err := d.RevokeKey(key, until, *reason, time.Now()); err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"revoked": key.ID(), "key": key.String(), "before": stamp(until)})
		}
		fmt.Fprintf(c.OutOrStdout(), "Revoked %s. Copy org.pub to every node; partners learn it from them.\n", key.ID())
		return nil
	}
	return c
}

func parseBefore(text string) (trust.Time, error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.UnixMicro() <= 0 {
		return 0, wrong("--before %s: expected a time such as 2027-03-01T00:00:00Z", text)
	}
	return trust.TimeOf(t), nil
}

func confirmRevoke(c *cobra.Command, key trust.PublicKey, yes bool) error {
	if yes {
		return nil
	}
	ok, err := confirm(c, "Revoke "+key.ID()+"? This cannot be taken back.")
	switch {
	case errors.Is(err, errNotTerminal):
		return wrong("not revoked: %w; give --yes", err)
	case err != nil:
		return err
	case !ok:
		return errors.New("not revoked; nothing was changed")
	}
	return nil
}

// findKey reads a key in any of its written forms.
func findKey(d trust.Dir, text string) (trust.PublicKey, error) {
	keys, err := d.ListKeys()
	if err != nil {
		return trust.PublicKey{}, err
	}
	for _, k := range keys {
		if k.ID == text {
			return k.Key, nil
		}
	}
	var key trust.PublicKey
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == len(key) {
		copy(key[:], raw)
		return key, nil
	}
	if id, err := peer.Decode(text); err == nil {
		return trust.KeyOfPeer(id)
	}
	return key, wrong("%s: no such key; expected an id of fednode key list, 64 hexadecimal digits, or a peer id", text)
}
