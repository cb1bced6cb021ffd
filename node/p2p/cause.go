package p2p

import "fmt"

// CauseKind says why a peer is down.
type CauseKind uint8

// The causes. After CauseSilent and CauseDeaf the session still exists, and the peer may come up again in it.
const (
	CauseSilent     CauseKind = iota + 1 // nothing was heard for the limit
	CauseDeaf                            // it is heard, but does not hear us
	CauseEnded                           // the connection ended
	CauseLeft                            // it said goodbye
	CauseProtocol                        // it broke the protocol
	CauseVersion                         // no common protocol version
	CauseReplaced                        // a newer session took the place of this one
	CauseUntrusted                       // its certificate is no longer accepted
	CauseStopped                         // this node stops
	CauseOverloaded                      // this node did not act on its messages
	CauseGivenUp                         // silent for so long, or answering elsewhere, that the connection is made anew
)

// String names the kind.
func (k CauseKind) String() string {
	names := [...]string{"unknown", "silent", "does not hear us", "connection ended", "left", "broke the protocol",
		"no common version", "replaced", "not admitted", "stopped", "this node is overloaded", "given up after silence"}
	if int(k) >= len(names) {
		return names[0]
	}
	return names[k]
}

// Cause is why a peer is down; Err may be nil.
type Cause struct {
	Kind CauseKind
	Err  error
}

// String is the kind and the error.
func (c Cause) String() string {
	if c.Err == nil {
		return c.Kind.String()
	}
	return fmt.Sprintf("%s: %v", c.Kind, c.Err)
}

// lasting says whether the session is over.
func (c Cause) lasting() bool { return c.Kind != CauseSilent && c.Kind != CauseDeaf }
