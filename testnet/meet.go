package testnet

import (
	"context"
	"fmt"

	"fednode/testnet/relay"
)

// connect tells every daemon where the others are, and waits until all sessions stand.
func (n *Net) connect(ctx context.Context) error {
	for _, a := range n.daemons {
		if err := n.introduce(ctx, a); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for _, d := range n.daemons {
		if err := n.waitPeers(ctx, d); err != nil {
			return fmt.Errorf("node %s has not met all others: %w\n%s", d.id, err, d.lastWords())
		}
	}
	return nil
}

// introduce tells a daemon where the others are that run, and them where it is.
func (n *Net) introduce(ctx context.Context, d *daemon) error {
	_, c, at := d.now()
	for _, other := range n.daemons {
		if other == d || !other.running() {
			continue
		}
		_, otherClient, otherAt := other.now()
		if otherClient == nil || len(at.P2P) == 0 || len(otherAt.P2P) == 0 {
			continue
		}
		if err := c.addPeer(ctx, otherAt.P2P[0]); err != nil {
			return fmt.Errorf("introducing %s to %s: %w", other.id, d.id, err)
		}
		if err := otherClient.addPeer(ctx, at.P2P[0]); err != nil {
			return fmt.Errorf("introducing %s to %s: %w", d.id, other.id, err)
		}
	}
	return nil
}

// waitPeers waits until a daemon has sessions with all others that run and that it can reach.
func (n *Net) waitPeers(ctx context.Context, d *daemon) error {
	_, c, _ := d.now()
	return until(ctx, func() (bool, error) {
		s, err := c.status(ctx)
		if err != nil {
			return false, err
		}
		up, want := 0, 0
		for _, p := range s.Partners {
			up += p.Up
		}
		ways := waysOf(n.inForce(), len(n.daemons))
		for _, other := range n.daemons {
			cut := ways[relay.Way{From: d.index, To: other.index}].Cut || ways[relay.Way{From: other.index, To: d.index}].Cut
			if other != d && !cut && other.state() == StateRunning {
				want++
			}
		}
		return up >= want, nil
	})
}
