package p2p

import (
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"fednode/node/wire"
)

// write sends what is queued, credits and heartbeats until the session ends; then it says goodbye.
func (s *session) write() {
	beats := time.NewTicker(s.link.host.cfg.Heartbeat)
	defer beats.Stop()
	buf := s.nextBeat(nil)
	for {
		if len(buf) > 0 {
			if err := s.flush(buf); err != nil {
				s.end(readCause(err))
			}
		}
		select {
		case <-s.over:
			s.farewell()
			return
		case b := <-s.queue:
			buf = s.gather(append(buf[:0], b...))
		case <-s.owing:
			buf = s.appendCredits(buf[:0])
		case <-beats.C:
			buf = s.nextBeat(buf[:0])
		}
	}
}

// gatherBytes is from when on no more is added to one write.
const gatherBytes = 64 << 10

// gather adds what else is queued, so that many small messages make one packet.
func (s *session) gather(buf []byte) []byte {
	for len(buf) < gatherBytes {
		select {
		case b := <-s.queue:
			buf = append(buf, b...)
		default:
			return buf
		}
	}
	return buf
}

func (s *session) flush(buf []byte) error {
	if err := s.stream.SetWriteDeadline(time.Now().Add(s.link.host.cfg.Abandon)); err != nil {
		return err
	}
	_, err := s.stream.Write(buf)
	return err
}

// farewell ends the stream in the way that fits the cause, and tells a peer that can hear it why.
func (s *session) farewell() {
	switch s.cause.Kind {
	case CauseStopped:
		s.part(&wire.Goodbye{Reason: wire.PartingShutdown})
	case CauseUntrusted:
		s.part(&wire.Goodbye{Reason: wire.PartingUntrusted, Detail: printable(s.cause.String(), maxReason)})
	case CauseProtocol:
		if e := breach(s.cause.Err); e != nil {
			s.part(e)
			return
		}
		resetWith(s.stream, CodeProtocol)
	case CauseReplaced:
		resetWith(s.stream, CodeReplaced)
	default:
		resetWith(s.stream, CodeShutdown)
	}
}

// part sends a last message; what awaits its arrival is linger.
func (s *session) part(last wire.Message) {
	b, err := s.out.encode(last)
	if err == nil {
		err = sendLast(s.stream, append(s.gather(nil), b...))
	}
	if err != nil {
		// If the peer cannot be told, the end of the stream tells it.
		resetWith(s.stream, CodeShutdown)
	}
}

// sendLast writes b and closes our direction, and bounds how long linger may take: long enough for a peer whose machine is
// busy, short enough that one which is gone does not hold up our end.
func sendLast(stream network.Stream, b []byte) error {
	const moment = 2 * time.Second
	if err := stream.SetDeadline(time.Now().Add(moment)); err != nil {
		return err
	}
	if _, err := stream.Write(b); err != nil {
		return err
	}
	return stream.CloseWrite()
}
