package dcaa

import "fmt"

// PermissionKind tells the two messages of the permission protocol apart.
type PermissionKind uint8

// The messages of the permission protocol.
const (
	PermissionRequest PermissionKind = iota + 1 // the asker wants to redo
	PermissionYes                               // an answer to one request of the asker; there is no "no", only silence
)

// PermissionMessage goes from one replica of a fragment to another. Messages may be lost, repeated, reordered and come
// late; nobody relies on any one of them.
type PermissionMessage struct {
	Kind PermissionKind
	// Asker is the replica, "org/node", that asks: in a request the sender, in a yes the receiver.
	Asker string
	// AskerIncarnation and Number name the request among all that the asker ever makes: the incarnation rises with
	// every start of the asker, the number counts from 1 in each.
	AskerIncarnation, Number uint64
	// Missed is how many buckets the asker missed. 0 in a yes.
	Missed uint64
}

// String renders the message for logs and traces.
func (m PermissionMessage) String() string {
	switch m.Kind {
	case PermissionRequest:
		return fmt.Sprintf("request %s#%d.%d missed=%d", m.Asker, m.AskerIncarnation, m.Number, m.Missed)
	case PermissionYes:
		return fmt.Sprintf("yes to %s#%d.%d", m.Asker, m.AskerIncarnation, m.Number)
	}
	return fmt.Sprintf("permission message of unknown kind %d", m.Kind)
}

// Addressed is a permission message and the replica, "org/node", that it is for.
type Addressed struct {
	To      string
	Message PermissionMessage
}
