package admission

import (
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

var _ connmgr.ConnectionGater = (*Door)(nil)

// InterceptPeerDial lets us dial anybody: who answers must show a certificate before the connection exists.
func (d *Door) InterceptPeerDial(peer.ID) bool { return true }

// InterceptAddrDial lets us dial any address.
func (d *Door) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept lets anybody knock; how often from one address is for the resource manager.
func (d *Door) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured passes: over TCP the exchange is over by now, over QUIC it comes next.
func (d *Door) InterceptSecured(network.Direction, peer.ID, network.ConnMultiaddrs) bool { return true }

// InterceptUpgraded has the last word, whatever transport a connection came by: only admitted peers get one.
func (d *Door) InterceptUpgraded(c network.Conn) (bool, control.DisconnectReason) {
	_, ok := d.Member(c.RemotePeer())
	return ok, 0
}
