package wire

import (
	"fmt"
	"unicode/utf8"
)

// Limits of control messages.
const (
	maxID         = 128  // peer ids
	maxName       = 512  // streams, queries, fragments, organisations
	maxDetail     = 4096 // texts for people
	maxStreams    = 2048 // in a heartbeat
	maxPeers      = 1024 // in a heartbeat
	maxRevisions  = 2048
	maxVersions   = 32
	maxFragments  = 1024
	maxDescriptor = MaxControl - 64<<10
	maxClock      = 1 << 56 // microseconds, some 2,300 years
)

// text checks a string that must be there.
func text(what, s string, limit int) error {
	if s == "" {
		return fmt.Errorf("no %s", what)
	}
	return detail(what, s, limit)
}

// detail checks a string that may be empty.
func detail(what, s string, limit int) error {
	if len(s) > limit {
		return fmt.Errorf("a %s of %d bytes, at most %d are allowed", what, len(s), limit)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("a %s that is not UTF-8", what)
	}
	return nil
}

func count(what string, n, limit int) error {
	if n > limit {
		return fmt.Errorf("%d %s, at most %d are allowed", n, what, limit)
	}
	return nil
}

// all returns the first error.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func each(what string, names []string, limit int) error {
	for _, s := range names {
		if err := text(what, s, limit); err != nil {
			return err
		}
	}
	return nil
}

func known(ok bool, what fmt.Stringer) error {
	if !ok {
		return fmt.Errorf("unknown %v", what)
	}
	return nil
}

func (m *Hello) check() error {
	if len(m.Versions) == 0 {
		return fmt.Errorf("no versions")
	}
	return all(count("versions", len(m.Versions), maxVersions), text("peer id", m.Node, maxID),
		text("organisation", m.Org, maxName), detail("software name", m.Software, maxName))
}

func (m *Subscribe) check() error {
	return all(text("stream", m.Stream, maxName), text("subscriber", m.Subscriber, maxName))
}

func (m *Subscribed) check() error {
	if m.NextID == 0 {
		return fmt.Errorf("ids from 0 on; they begin at 1")
	}
	return nil
}

func (m *Refused) check() error {
	return all(known(m.Reason.Valid(), m.Reason), detail("detail", m.Detail, maxDetail))
}

func (m *Unsubscribe) check() error { return nil }

func (m *Ack) check() error {
	return all(text("stream", m.Stream, maxName), text("subscriber", m.Subscriber, maxName), known(m.Level.Valid(), m.Level))
}

func (m *Credit) check() error {
	if m.Bytes == 0 || m.Bytes > 1<<40 {
		return fmt.Errorf("a credit of %d bytes", m.Bytes)
	}
	return nil
}

func (m *Heartbeat) check() error {
	if err := all(count("streams", len(m.Streams), maxStreams), count("peers", len(m.HeardBy), maxPeers),
		each("peer id", m.HeardBy, maxID)); err != nil {
		return err
	}
	for _, t := range [...]int64{m.Sent, m.Echo, m.Held, m.Calm} {
		if t < 0 || t > maxClock {
			return fmt.Errorf("a time of %d microseconds", t)
		}
	}
	for i := range m.Streams {
		s := &m.Streams[i]
		if err := all(text("stream", s.Name, maxName), known(s.State.Valid(), s.State)); err != nil {
			return err
		}
		if s.Holding < 0 || s.Above < 0 {
			return fmt.Errorf("stream %q: holding for %d microseconds, one above for %d", s.Name, s.Holding, s.Above)
		}
	}
	return nil
}

func (r *Revision) check() error {
	return all(text("query", r.Query, maxName), text("writer", r.Writer, maxID))
}

func (m *Announce) check() error {
	if err := count("revisions", len(m.Revisions), maxRevisions); err != nil {
		return err
	}
	for i := range m.Revisions {
		if err := m.Revisions[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Pull) check() error {
	return all(count("queries", len(m.Queries), maxRevisions), each("query", m.Queries, maxName))
}

func descriptor(b []byte) error {
	if len(b) == 0 {
		return fmt.Errorf("no descriptor")
	}
	return count("bytes of descriptor", len(b), maxDescriptor)
}

func (m *Push) check() error { return all(m.Revision.check(), descriptor(m.Descriptor)) }

func (m *Host) check() error {
	if len(m.Fragments) == 0 {
		return fmt.Errorf("no fragments")
	}
	return all(descriptor(m.Descriptor), count("fragments", len(m.Fragments), maxFragments),
		each("fragment", m.Fragments, maxName))
}

func (m *HostReply) check() error {
	if m.Accepted != (m.Reason == 0) {
		return fmt.Errorf("accepted %v with the reason %v", m.Accepted, m.Reason)
	}
	return all(known(m.Accepted || m.Reason.Valid(), m.Reason), detail("detail", m.Detail, maxDetail))
}

func (m *Goodbye) check() error {
	return all(known(m.Reason.Valid(), m.Reason), detail("detail", m.Detail, maxDetail))
}

func (m *Error) check() error {
	return all(known(m.Code.Valid(), m.Code), detail("text", m.Text, maxDetail))
}

func (m *Attach) check() error { return nil }

func (m *Permission) check() error {
	if m.Number == 0 {
		return fmt.Errorf("a request of number 0; they count from 1")
	}
	return all(text("fragment", m.Fragment, maxName), text("asker", m.Asker, maxName))
}
