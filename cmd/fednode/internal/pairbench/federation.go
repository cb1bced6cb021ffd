package pairbench

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fednode/node/trust"
)

// The organisations: data enter at one, the query is the other's.
const (
	giver = "south"
	taker = "north"
)

// The giver's stream and its export, and the taker's query over it.
const (
	giverStream = `
[streams.conns]
connector = "` + kindName + `"
time = "ts"
columns = ` + columns + `

[exports.conns]
stream = "conns"
to = ["` + taker + `"]
columns = { ts = "keep", src = "keep", dst = "keep", dport = "keep", bytes = "keep" }
`
	queryFile = "records.toml"
	queryText = `
[query]
name = "records"
max_delay = "inf"

[streams.conns]
connector = "node"
stream = "` + giver + `/conns"
time = "ts"
columns = ` + columns + `

[outputs.out]
input = "conns"
connector = "` + kindName + `"
`
)

// nodeFile is a node's configuration in its directory.
const nodeFile = "node.toml"

// federate makes both organisations below dir, each with a node and a partner.
func federate(dir string) error {
	dirs := map[string]trust.Dir{}
	for _, org := range []string{giver, taker} {
		d := trust.Dir{Path: filepath.Join(dir, org)}
		if _, err := d.Init(trust.Setup{Org: org, Node: org + "-1", Now: time.Now(), Random: rand.Reader}); err != nil {
			return err
		}
		if err := writeNode(d.Path, org); err != nil {
			return err
		}
		dirs[org] = d
	}
	for org, partner := range map[string]string{giver: taker, taker: giver} {
		o, err := dirs[partner].LoadOrg()
		if err == nil {
			err = dirs[org].TrustPartner(o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeNode(dir, org string) error {
	text := fmt.Sprintf("[node]\norg = %q\nname = %q\n\n[listen]\np2p = \"127.0.0.1:0\"\napi = \"127.0.0.1:0\"\n", org, org+"-1")
	if org == giver {
		text += giverStream
	}
	return os.WriteFile(filepath.Join(dir, nodeFile), []byte(text), 0o644)
}
