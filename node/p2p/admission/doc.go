// Package admission lets connections in: a peer that shows no valid certificate of our organisation or of a trusted
// partner is refused while the connection is being made, before any libp2p protocol can run on it.
//
// A connection gater alone sees only peer ids, and the peer ids of a partner's next node are not known in advance. So
// both sides exchange node certificates as the last step of making a connection: over TCP inside the security
// handshake (a [SecureTransport] around Noise), over QUIC on the first stream, before the connection is handed to
// libp2p (a transport around QUIC). The side that dials shows its certificate first: a stranger who only connects
// learns nothing about us. The [Door] verifies, remembers which peer belongs to whom while it is connected, and is the
// connection gater that has the last word.
//
// # On the wire
//
// One message each way, at most 64 KiB: u8 version (1), u8 kind, u32 length little-endian, then the bytes. Kind 1 is
// the certificate envelope (trust.Signed), kind 2 a refusal with its reason as text. A version that is not known is
// refused in the form of version 1.
//
// A [Door] may be used by any number of goroutines. It starts none but one per QUIC listener and per connection being
// admitted there, which end with the listener.
package admission
