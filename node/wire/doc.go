// Package wire is what neighbouring nodes say to each other, as bytes: the frames of a subscription on its data stream
// ([Writer], [Reader]) and the messages of the control stream ([ControlWriter], [ControlReader]).
//
// Both travel in the same envelope: a header of twelve bytes with length, version, kind and checksum, then a payload.
// Data payloads are a compact head and Arrow IPC, control payloads are deterministic CBOR. docs/formats/frame.md has the
// bytes and all limits.
//
// One data stream carries one subscription, and the whole of it is one Arrow IPC stream: a dictionary grows from frame
// to frame and starts empty at each subscription. A data stream begins with an [Attach] message that names its
// subscription. Big batches are cut, so that no frame keeps the line for long.
//
// Everything that comes in is checked before it is believed: form, checksum, limits, and the rules of a stream that can
// be seen on one connection (ids without a jump, boundaries that never fall, no row behind one). What breaks a rule is a
// [*ProtocolError] with a code and a reason; the connection is then ended, and nothing else notices. A [Budget] lets the
// node charge a partner's quota before a payload is decoded.
//
// Readers and writers do not own their stream, start nothing and belong to one goroutine each. Frames read are owned.
package wire
