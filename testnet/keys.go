package testnet

import (
	"crypto/rand"
	"fmt"
	"time"

	"fednode/node/trust"
)

// makeKeys makes the organisations, enrols their nodes, and lets every organisation trust all others.
func makeKeys(nodes []place) error {
	first := make(map[string]trust.Dir)
	for _, n := range nodes {
		d := trust.Dir{Path: n.dir}
		setup := trust.Setup{Org: n.org, Node: n.name, Now: time.Now(), Random: rand.Reader}
		if n.rank > 0 {
			if err := enrol(first[n.org], d, setup); err != nil {
				return err
			}
			continue
		}
		if _, err := d.Init(setup); err != nil {
			return err
		}
		first[n.org] = d
	}
	for _, n := range nodes {
		for org, partner := range first {
			if org == n.org {
				continue
			}
			o, err := partner.LoadOrg()
			if err == nil {
				err = trust.Dir{Path: n.dir}.TrustPartner(o)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// enrol makes a further node of an organisation: it asks, the first node's keys sign.
func enrol(first, node trust.Dir, s trust.Setup) error {
	request, err := node.InitNode(s)
	if err != nil {
		return err
	}
	r, err := trust.ParseRequest("request of "+s.Node, request)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	nodes, err := first.LoadSigningKey(trust.RoleNodes)
	if err != nil {
		return err
	}
	cert, err := trust.SignRequest(nodes, r, s.Now)
	if err != nil {
		return err
	}
	text, err := trust.FormatCertificate(cert)
	if err != nil {
		return err
	}
	org, err := first.ExportOrg(nil)
	if err != nil {
		return err
	}
	_, err = node.Join(text, org)
	return err
}
