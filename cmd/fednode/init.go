package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fednode/configs"
	"fednode/node/trust"
)

const configName = "node.toml"

func initCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "init",
		Short: "Make an organisation and its first node on this machine",
		Long: `Make an organisation and its first node on this machine: the organisation's keys, the node's identity and certificate,
and a commented node.toml. Nothing is ever overwritten.

The organisation's root key (org.key) belongs offline as soon as the node runs: the node never needs it. An organisation
whose root is to be made on another machine begins with "fednode org init", its nodes with "fednode node request".`,
		Example: `  fednode init --org north
  fednode init --org north --node edge-1 --dir /var/lib/fednode`,
		Args: exactArgs(0),
	}
	org := c.Flags().String("org", "", "name of the organisation (required)")
	node := c.Flags().String("node", "node-1", "name of the node")
	dir := dirFlag(c, "", "where to make it (default fednode-ORG)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *org == "" {
			return wrong("fednode init needs --org NAME")
		}
		made, err := initNode(defaultDir(*dir, *org), *org, *node)
		if err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, made)
		}
		made.print(c.OutOrStdout())
		return nil
	}
	return c
}

// madeNode is what init has made.
type madeNode struct {
	Dir         string   `json:"dir"`
	Org         string   `json:"org"`
	Node        string   `json:"node"`
	Peer        string   `json:"peer"`
	Words       string   `json:"fingerprint_words"`
	Fingerprint string   `json:"fingerprint"`
	Expires     string   `json:"certificate_expires"`
	Files       []string `json:"files"`
	Offline     []string `json:"move_offline"`
	words       [2]string
}

// initNode makes everything, or nothing: node.toml is made first and taken away again if the keys cannot be made.
func initNode(dir, org, node string) (*madeNode, error) {
	if err := errors.Join(trust.CheckName("--org", org), trust.CheckName("--node", node)); err != nil {
		return nil, err
	}
	undo, err := createConfig(dir, org, node)
	if err != nil {
		return nil, err
	}
	id, err := trustDir(dir).Init(keySetup(org, node))
	if err != nil {
		return nil, errors.Join(err, undo())
	}
	f := id.Org.Fingerprint()
	return &madeNode{
		Dir: dir, Org: org, Node: node, Peer: id.Member.Peer.String(), Words: f.Words(), Fingerprint: f.String(),
		Expires: id.Member.Expires.String(), words: fingerprintLines(f), Offline: []string{trust.FileOrgKey},
		Files: []string{trust.FileOrgKey, "nodes.key", "deploy.key", "contracts.key", trust.FileNodeKey, trust.FileToken,
			trust.FileCertificate, trust.FileOrg, configName, trust.DirData + "/", trust.DirLog + "/", trust.DirPartners + "/"},
	}, nil
}

// createConfig writes node.toml into the directory, and returns how to take it away again.
func createConfig(dir, org, node string) (undo func() error, err error) {
	text, err := configs.NodeFile(org, node)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, wrong("%w", err)
	}
	path := filepath.Join(dir, configName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, wrong("%s exists already; nothing was overwritten: choose another --dir, or move the file away", path)
	}
	if err != nil {
		return nil, wrong("%w", err)
	}
	undo = func() error { return os.Remove(path) }
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, undo())
	}
	return undo, nil
}

func (m *madeNode) print(w io.Writer) {
	p := paletteOf(w)
	fmt.Fprintf(w, "Made organisation %s and its node %s in %s\n\n", p.paint(toneBold, m.Org), p.paint(toneBold, m.Node), m.Dir)
	files := table{}
	for _, f := range [][2]string{
		{"org.key", "root of the organisation: move it offline"},
		{"nodes.key deploy.key contracts.key", "sign certificates, queries, contracts"},
		{"node.key node.cert", "identity of this node; the certificate renews itself"},
		{"api.token", "for clients of the HTTP API"},
		{"org.pub", "what partners import"},
		{configName, "the configuration, with every setting explained"},
		{"data/ log/ trust/", "state, log, partners"},
	} {
		files.add(cell{"  " + f[0], toneNone}, cell{f[1], toneDim})
	}
	files.print(w)
	fmt.Fprintf(w, "\nPeer         %s\n", m.Peer)
	fmt.Fprintf(w, "Fingerprint  %s\n             %s\n", p.paint(toneBold, m.words[0]), p.paint(toneBold, m.words[1]))
	fmt.Fprintf(w, "\nNext\n")
	next := table{}
	next.add(cell{"  fednode run --config " + shellPath(m.Dir, configName), toneNone}, cell{"start the node", toneDim})
	next.add(cell{"  fednode org export --dir " + shellPath(m.Dir) + " --output " + m.Org + ".pub", toneNone}, cell{"for a partner, who compares the words", toneDim})
	next.add(cell{"  mv " + shellPath(m.Dir, trust.FileOrgKey) + " /media/offline/", toneNone}, cell{"needed only to rotate and revoke keys", toneDim})
	next.print(w)
}
