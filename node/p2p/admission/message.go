package admission

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	version     = 1
	kindShow    = 1
	kindRefuse  = 2
	headerBytes = 6
	maxMessage  = 64 << 10
	maxReason   = 300
)

// RefusedError says that the peer would not have us, in its words.
type RefusedError struct {
	Peer   peer.ID
	Reason string
}

// Error names the peer and its reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("p2p: %s refused us: %s", e.Peer, e.Reason)
}

// ProtocolError says that what came is no certificate exchange.
type ProtocolError struct {
	Got      string
	Expected string
}

// Error says what came and what was expected.
func (e *ProtocolError) Error() string {
	return fmt.Sprintf("p2p: certificate exchange: got %s, expected %s", e.Got, e.Expected)
}

// writeMessage sends header and body in one write, so that it is one packet.
func writeMessage(w io.Writer, kind byte, body []byte) error {
	b := make([]byte, headerBytes, headerBytes+len(body))
	b[0], b[1] = version, kind
	binary.LittleEndian.PutUint32(b[2:], uint32(len(body)))
	if _, err := w.Write(append(b, body...)); err != nil {
		return fmt.Errorf("p2p: certificate exchange: %w", err)
	}
	return nil
}

// readMessage reads one message and checks version and length before it takes memory for the body.
func readMessage(r io.Reader) (kind byte, body []byte, err error) {
	var h [headerBytes]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, nil, fmt.Errorf("p2p: certificate exchange: %w", err)
	}
	if h[0] != version {
		return 0, nil, &ProtocolError{Got: fmt.Sprintf("version %d", h[0]), Expected: fmt.Sprintf("version %d", version)}
	}
	size := binary.LittleEndian.Uint32(h[2:])
	if size > maxMessage {
		return 0, nil, &ProtocolError{Got: fmt.Sprintf("%d bytes", size), Expected: fmt.Sprintf("at most %d", maxMessage)}
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, fmt.Errorf("p2p: certificate exchange: %w", err)
	}
	return h[1], body, nil
}

// printable cuts a foreign text and takes control characters out: it ends up in logs and on terminals.
func printable(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return text
}
