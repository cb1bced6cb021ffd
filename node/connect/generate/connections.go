package generate

import (
	"fmt"

	"fednode/query/tuple"
)

// The fields of connections, in the order of kinds.
const (
	connTS = iota
	connSrc
	connDst
	connSport
	connDport
	connProto
	connBytes
	connPackets
)

// connections makes the connections of one organisation. Ordinary sources are chosen evenly, each to at most 4 ports;
// with the default rate and number of sources that is 12 a minute each, 36 for what three organisations share. Planted ones send at a steady rate, whatever the rate of the others:
//
//	active      300 connections a minute to one port
//	scanning     30 a minute, each to another port of 1,000
//	both        300 a minute, to those ports
//	split        45 a minute from every organisation, to those ports: suspect only when three look together
type connections struct {
	org     int64
	ordinal int64 // ordinary sources
	shared  int64 // of these, how many all organisations have
	plants  []plant
}

// plant is a planted source: one row in every `every` from `first` on is its.
type plant struct {
	addr         int64
	every, first int64
	scans        bool
}

func newConnections(c *Config) *connections {
	m := &connections{org: c.Org, ordinal: c.Sources, shared: c.Sources * c.Shared / 100}
	perMinute := 60 * c.Rate
	own := func(n int64) int64 { return address(10+c.Org, 255<<8|n) }
	for n, p := range []struct {
		addr, rows int64
		scans      bool
	}{
		{own(1), 300, false}, {own(2), 300, false}, // active
		{own(3), 30, true}, {own(4), 30, true}, // scanning
		{own(5), 300, true},              // both
		{address(9, 255<<8|1), 45, true}, // split
	} {
		every := max(10, perMinute/p.rows)
		m.plants = append(m.plants, plant{p.addr, every, (int64(n)*17 + 3) % every, p.scans})
	}
	return m
}

// address returns the key of the IPv4 address 10.net.n/256.n%256; net 9 is common to all organisations.
func address(net, n int64) int64 { return 10<<24 | net<<16 | n&0xFFFF }

func (m *connections) row(i int64, h uint64, _ tuple.Time, v *values) {
	planted := false
	for k := range m.plants {
		if p := &m.plants[k]; i%p.every == p.first && !planted {
			planted = true
			v.ints[connSrc], v.ints[connDport] = p.addr, 443
			if p.scans {
				v.ints[connDport] = 1 + int64(tuple.Mix64(h^0x70)%1000)
			}
		}
	}
	if !planted {
		n := int64(h % uint64(m.ordinal))
		net := 10 + m.org
		if n < m.shared {
			net = 9
		}
		v.ints[connSrc] = address(net, n)
		v.ints[connDport] = [...]int64{443, 53, 80, 1024 + n%7}[h>>40&3]
	}
	h = tuple.Mix64(h ^ 0x63)
	v.ints[connDst] = 203<<24 | 113<<8 | int64(h%251)
	v.ints[connSport] = 32768 + int64(h>>8%28232)
	v.ints[connProto] = [...]int64{protoTCP, protoTCP, protoTCP, protoUDP}[h>>24&3]
	v.ints[connPackets] = 1 + int64(h>>32%40)
	v.ints[connBytes] = v.ints[connPackets] * (60 + int64(h>>40%1400))
}

// The keys of protocols.
const (
	protoTCP = iota
	protoUDP
)

// textOf returns what turns a maker's key into the value of a field.
func textOf(f field) func(key int64) []byte {
	if f.typ.Kind == tuple.IP {
		return func(key int64) []byte {
			return []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, byte(key >> 24), byte(key >> 16), byte(key >> 8), byte(key)}
		}
	}
	switch f.name {
	case "proto":
		return func(key int64) []byte { return []byte([...]string{"tcp", "udp"}[key]) }
	case "channel":
		return func(key int64) []byte { return fmt.Appendf(nil, "channel-%d", key) }
	}
	return func(key int64) []byte { return fmt.Appendf(nil, "station-%03d", key) }
}
