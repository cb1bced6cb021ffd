package node

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"fednode/node/trust"
)

// lookEvery is how often the directory of partners is looked at: trusting somebody needs no restart.
const lookEvery = 2 * time.Second

// watchPartners takes up changes of the partners' files until ctx ends.
func (n *Node) watchPartners(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := n.partnersStamp()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if now := n.partnersStamp(); now != last {
			last = now
			n.reloadPartners()
		}
	}
}

// stamp tells versions of a directory's files apart.
type stamp struct {
	files  int
	newest int64
	bytes  int64
}

// partnersStamp changes with every change of a partner's file.
func (n *Node) partnersStamp() stamp {
	var s stamp
	entries, err := os.ReadDir(filepath.Join(n.trust.Path, trust.DirPartners))
	if err != nil {
		return s // no partner yet
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			s.files++
			s.bytes += info.Size()
			s.newest = max(s.newest, info.ModTime().UnixNano())
		}
	}
	return s
}

// reloadPartners makes the registry what the files say, ends sessions that are no longer allowed, and dials new addresses.
// A file that cannot be read changes nothing.
func (n *Node) reloadPartners() {
	partners, err := n.trust.Partners()
	if err != nil {
		n.log.Warn("partners' files cannot be read; those known stay", zap.Error(err))
		return
	}
	named := map[string]bool{n.cfg.Node.Org: true}
	for _, o := range partners {
		named[o.Name] = true
		if err := n.registry.Trust(o); err != nil {
			n.log.Warn("partner not taken up", zap.String("org", o.Name), zap.Error(err))
			continue
		}
		for _, a := range o.Addresses {
			if err := n.dial(a); err != nil {
				n.log.Warn("address of a partner cannot be used", zap.String("org", o.Name), zap.String("address", a), zap.Error(err))
			}
		}
	}
	for _, o := range n.registry.Orgs() {
		if named[o.Name] {
			continue
		}
		if err := n.registry.Untrust(o.Name); err != nil {
			n.log.Warn("partner not removed", zap.String("org", o.Name), zap.Error(err))
		}
	}
	n.log.Info("partners taken up", zap.Int("partners", len(partners)))
	n.host.Recheck()
	n.queries.recheck()
}
