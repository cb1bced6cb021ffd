package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fednode/node/trust"
)

func nodeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "node",
		Short: "Enrol further nodes of an organisation",
		Long: `Enrol further nodes of an organisation, in three steps: the new node makes a request, the holder of the nodes key signs
it, and the new node takes the certificate. The node's key never leaves its machine.`,
		Example: `  fednode node request --org north --node edge-2 --output edge-2.request
  fednode node sign edge-2.request --dir fednode-north --output edge-2.cert
  fednode node join edge-2.cert --org-file north.pub --dir fednode-north`,
	}
	c.AddCommand(nodeRequestCommand(), nodeSignCommand(), nodeJoinCommand())
	return c
}

func nodeRequestCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "request",
		Short:   "Make a new node's key and node.toml, and write a request for a certificate",
		Example: "  fednode node request --org north --node edge-2 --output edge-2.request",
		Args:    exactArgs(0),
	}
	org := c.Flags().String("org", "", "name of the organisation (required)")
	node := c.Flags().String("node", "", "name of the node, unique in the organisation (required)")
	dir := dirFlag(c, "", "where to make it (default fednode-ORG)")
	output := c.Flags().String("output", "-", "file to write; - is standard output")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *org == "" || *node == "" {
			return wrong("fednode node request needs --org NAME and --node NAME")
		}
		if _, err := os.Lstat(*output); err == nil && *output != "-" {
			return wrong("%s is there already; nothing was made: choose another --output", *output)
		}
		path := defaultDir(*dir, *org)
		request, err := requestNode(path, *org, *node)
		if err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"dir": path, "org": *org, "node": *node, "request": string(request)})
		}
		if err := writeNew(c, *output, request); err != nil {
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "Made node %s in %s. Have the request signed where the nodes key is (fednode node sign), then run\n  fednode node join CERTIFICATE --org-file ORG.pub --dir %s\n", *node, path, shellPath(path))
		return nil
	}
	return c
}

// requestNode makes the directory of a node that is not certified yet, or nothing.
func requestNode(dir, org, node string) ([]byte, error) {
	if err := errors.Join(trust.CheckName("--org", org), trust.CheckName("--node", node)); err != nil {
		return nil, err
	}
	undo, err := createConfig(dir, org, node)
	if err != nil {
		return nil, err
	}
	request, err := trustDir(dir).InitNode(keySetup(org, node))
	if err != nil {
		return nil, errors.Join(err, undo())
	}
	return request, nil
}

func nodeSignCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sign REQUEST",
		Short: "Certify a node, where the nodes key is",
		Long: `Certify a node, where the nodes key is. A certificate is valid for 30 days; a node that holds the nodes key renews its
own, another asks again with a new request.`,
		Example: "  fednode node sign edge-2.request --dir fednode-north --output edge-2.cert",
		Args:    exactArgs(1),
	}
	dir := dirFlag(c, ".", ownDirHelp)
	output := c.Flags().String("output", "-", "file to write; - is standard output")
	c.RunE = func(c *cobra.Command, args []string) error {
		text, err := readLimited(args[0], maxQueryBytes)
		if err != nil {
			return err
		}
		req, err := trust.ParseRequest(args[0], text)
		if err != nil {
			return err
		}
		nodes, err := trustDir(*dir).LoadSigningKey(trust.RoleNodes)
		if err != nil {
			return err
		}
		cert, err := trust.SignRequest(nodes, req, time.Now())
		if err != nil {
			return err
		}
		certText, err := trust.FormatCertificate(cert)
		if err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"org": req.Org, "node": req.Node, "key": req.Key.String(), "certificate": string(certText)})
		}
		if err := writeNew(c, *output, certText); err != nil {
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "Certified node %s of %s, key %s. The node needs this certificate and %s.\n", req.Node, req.Org, req.Key.ID(), filepath.Join(*dir, trust.FileOrg))
		return nil
	}
	return c
}

func nodeJoinCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "join CERTIFICATE",
		Short:   "Take the certificate that was signed for this node",
		Example: "  fednode node join edge-2.cert --org-file north.pub --dir fednode-north",
		Args:    exactArgs(1),
	}
	dir := dirFlag(c, ".", "directory that fednode node request made")
	orgFile := c.Flags().String("org-file", "", "the organisation's file, org.pub (required)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *orgFile == "" {
			return wrong("fednode node join needs --org-file FILE: the org.pub of the directory where the certificate was signed")
		}
		cert, err := readLimited(args[0], maxQueryBytes)
		if err != nil {
			return err
		}
		org, err := readLimited(*orgFile, 4<<20)
		if err != nil {
			return err
		}
		id, err := trustDir(*dir).Join(cert, org)
		if err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"org": id.Member.Org, "node": id.Member.Node, "peer": id.Member.Peer.String(), "certificate_expires": id.Member.Expires.String()})
		}
		fmt.Fprintf(c.OutOrStdout(), "Node %s of %s is certified until %s.\nNext  fednode run --config %s\n", id.Member.Node, id.Member.Org,
			day(id.Member.Expires), shellPath(*dir, configName))
		return nil
	}
	return c
}
