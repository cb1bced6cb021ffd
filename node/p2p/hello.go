package p2p

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/libp2p/go-libp2p/core/network"
	"go.uber.org/zap"

	"fednode/node/wire"
)

// maxSoftware is the longest software name that is kept of a peer.
const maxSoftware = 64

// spokenVersions are the protocol versions of this build.
func spokenVersions() []uint8 { return []uint8{wire.Version} }

// greet exchanges hellos on a new control stream and makes the session.
func (l *link) greet(ctx context.Context, stream network.Stream) (*session, error) {
	stop := context.AfterFunc(ctx, func() { resetWith(stream, CodeShutdown) })
	defer stop()
	if err := stream.SetDeadline(time.Now().Add(l.host.cfg.HelloTimeout)); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	out, err := newEncoder()
	if err != nil {
		return nil, err
	}
	b, err := out.encode(l.host.hello())
	if err != nil {
		return nil, err
	}
	if _, err := stream.Write(b); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	in, err := wire.NewControlReader(bufio.NewReader(stream))
	if err != nil {
		return nil, err
	}
	p, err := l.readHello(in, out)
	if err != nil {
		l.explain(stream, out, err)
		return nil, err
	}
	if err := stream.SetDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	return newSession(l, stream, in, out, p), nil
}

func (h *Host) hello() *wire.Hello {
	return &wire.Hello{Versions: spokenVersions(), Incarnation: h.identity.Incarnation, Node: h.self.String(),
		Org: h.registry.Own(), Software: h.cfg.Software}
}

// explain tells the peer why its hello makes no session. If it cannot be told, the reset tells it that there is none.
func (l *link) explain(stream network.Stream, out *encoder, why error) {
	var version *VersionError
	var m wire.Message
	switch {
	case errors.As(why, &version):
		m = &wire.Goodbye{Reason: wire.PartingNoVersion, Detail: printable(why.Error(), maxReason)}
	case breach(why) != nil:
		m = breach(why)
	default:
		return
	}
	b, err := out.encode(m)
	if err == nil {
		err = sendLast(stream, b)
	}
	if err == nil {
		linger(stream)
	}
}

// readHello reads the peer's hello and decides whether it makes a session. From the hello on both directions are in the version
// that both speak, also if there is to be no session for another reason: the peer reads on in that one.
func (l *link) readHello(in *wire.ControlReader, out *encoder) (Peer, error) {
	m, err := in.Read()
	if err != nil {
		return Peer{}, fmt.Errorf("hello: %w", err)
	}
	theirs, ok := m.(*wire.Hello)
	if !ok {
		return Peer{}, &PeerError{Place: "first message", Got: m.Kind().String(), Expected: "hello"}
	}
	version, common := wire.Negotiate(spokenVersions(), theirs.Versions)
	if common {
		in.SetVersion(version)
		out.w.SetVersion(version)
	}
	member, ok := l.host.door.Member(l.id)
	if !ok {
		return Peer{}, &PeerError{Place: "hello", Got: "a peer that is not admitted", Expected: "an admitted one"}
	}
	if theirs.Node != l.id.String() || theirs.Org != member.Org {
		return Peer{}, &PeerError{Place: "hello", Got: fmt.Sprintf("node %.60q of %.60q", theirs.Node, theirs.Org),
			Expected: fmt.Sprintf("node %q of %q, as certified", l.id, member.Org)}
	}
	software := printable(theirs.Software, maxSoftware)
	if !common {
		return Peer{}, &VersionError{Ours: spokenVersions(), Theirs: theirs.Versions, Software: software}
	}
	l.log.Debug("hello", zap.Stringer("member", member), zap.Uint8("version", version), zap.String("software", software))
	return Peer{ID: l.id, Member: member, Version: version, Incarnation: theirs.Incarnation, Software: software}, nil
}

// printable cuts a foreign text and takes control characters out of it.
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
