// Package link carries streams between nodes: a [Link] serves the streams of this node to peers that may have them, and
// opens those of peers as if they were here.
//
// A subscriber asks with Subscribe on the control stream and is answered with Subscribed or Refused. The producer then
// opens a data stream for the subscription and sends frames behind the position asked for, under credit. Acknowledgements
// go back on the control stream. When a data stream or session ends, both sides forget the subscription; the subscriber's
// consumer asks anew from where it stands.
//
// What leaves for another organisation passes through its export first (package node/export), and a partner that does not
// acknowledge never holds back truncation beyond its quota.
package link
