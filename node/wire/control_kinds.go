package wire

import "fmt"

// Kind is the kind of a control message; the values are those of the envelope and never change.
type Kind uint8

// The kinds of control messages.
const (
	KindHello       Kind = 16
	KindSubscribe   Kind = 17
	KindSubscribed  Kind = 18
	KindRefused     Kind = 19
	KindUnsubscribe Kind = 20
	KindAck         Kind = 21
	KindCredit      Kind = 22
	KindHeartbeat   Kind = 23
	KindAnnounce    Kind = 24
	KindPull        Kind = 25
	KindPush        Kind = 26
	KindHost        Kind = 27
	KindHostReply   Kind = 28
	KindGoodbye     Kind = 29
	KindError       Kind = 30
	KindAttach      Kind = 31
	KindPermission  Kind = 32
)

// String names the kind as logs do.
func (k Kind) String() string {
	if k < KindHello || k > KindPermission {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return [...]string{"hello", "subscribe", "subscribed", "refused", "unsubscribe", "ack", "credit", "heartbeat",
		"announce", "pull", "push", "host", "host-reply", "goodbye", "error", "attach", "permission"}[k-KindHello]
}

// newMessage returns an empty message of a kind to decode into, or nil.
func newMessage(k Kind) Message {
	switch k {
	case KindHello:
		return new(Hello)
	case KindSubscribe:
		return new(Subscribe)
	case KindSubscribed:
		return new(Subscribed)
	case KindRefused:
		return new(Refused)
	case KindUnsubscribe:
		return new(Unsubscribe)
	case KindAck:
		return new(Ack)
	case KindCredit:
		return new(Credit)
	case KindHeartbeat:
		return new(Heartbeat)
	case KindAnnounce:
		return new(Announce)
	case KindPull:
		return new(Pull)
	case KindPush:
		return new(Push)
	case KindHost:
		return new(Host)
	case KindHostReply:
		return new(HostReply)
	case KindGoodbye:
		return new(Goodbye)
	case KindError:
		return new(Error)
	case KindAttach:
		return new(Attach)
	case KindPermission:
		return new(Permission)
	}
	return nil
}
