package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"fednode/query/tuple"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
)

// samples holds one message of each kind, with every field set.
func samples() []Message {
	held := tuple.Time(1_700_000_000_000_000)
	rev := Revision{Query: "a/scan", Term: 2, Epoch: 7, Writer: "12D3KooWa", Hash: Hash{1, 2, 3}}
	return []Message{
		&Hello{Versions: []uint8{1, 2}, Incarnation: 9, Node: "12D3KooWa", Org: "a", Software: "fednode 0.1"},
		&Subscribe{Subscription: 3, Stream: "a/scan/conns", Generation: 1, Time: held, ID: 12345, Tentative: &held,
			Subscriber: "b/n1/scan/join", Counted: true, DurableTime: held, DurableID: 12000},
		&Subscribed{Subscription: 3, Generation: 1, NextID: 12346, Fingerprint: 0xFEDCBA9876543210},
		&Refused{Subscription: 3, Reason: PositionGone, Detail: "ids before 20000 are gone"},
		&Unsubscribe{Subscription: 3},
		&Ack{Stream: "a/scan/conns", Generation: 1, ID: 12345, Level: Stored, Subscriber: "b/n1/scan/join", Time: held},
		&Credit{Subscription: 3, Bytes: 1 << 20},
		&Heartbeat{Streams: []StreamStatus{{Name: "a/scan/conns", State: Stable, Boundary: held, Holding: 40, Above: 60, Generation: 1, LastID: 5},
			{Name: "a/scan/sums", State: Stable, Boundary: held, Generation: 1, LastID: 5, Sum: 0xfeed}},
			HeardBy: []string{"12D3KooWb", "12D3KooWc"}, Sent: 9_000_000, Echo: 7_000_000, Held: 60_000, Calm: 1200},
		&Announce{Revisions: []Revision{rev}},
		&Pull{Queries: []string{"a/scan"}},
		&Push{Revision: rev, Descriptor: []byte("signed")},
		&Host{Request: 8, Descriptor: []byte("signed"), Fragments: []string{"f1", "f2"}},
		&HostReply{Request: 8, Reason: MayNotHost, Detail: "no [[federation.host]] for organisation b"},
		&Goodbye{Reason: PartingShutdown, Detail: "restart"},
		&Error{Code: BadIDs, Text: "ids from 3 on, 2 was next"},
		&Attach{Subscription: 3},
		&Permission{Fragment: "a/scan/join", Asker: "a/n1", AskerIncarnation: 1 << 60, Number: 3, Missed: 151},
	}
}

func controlBytes(t testing.TB, messages ...Message) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewControlWriter(&buf)
	require.NoError(t, err)
	for _, m := range messages {
		w.SetVersion(Version)
		if m.Kind() == KindHello {
			w.SetVersion(helloVersion)
		}
		require.NoError(t, w.Write(m))
	}
	return buf.Bytes()
}

// readControl reads as a session does: a hello first, if there is one, and then the version of this build.
func readControl(t testing.TB, data []byte) ([]Message, error) {
	t.Helper()
	r, err := NewControlReader(bytes.NewReader(data))
	require.NoError(t, err)
	var out []Message
	for {
		if len(out) > 0 || len(data) < headerSize || Kind(data[5]) != KindHello {
			r.SetVersion(Version)
		}
		m, err := r.Read()
		if err != nil {
			return out, err
		}
		out = append(out, m)
	}
}

func TestControlRoundTrip(t *testing.T) {
	want := samples()
	require.Len(t, want, int(KindPermission-KindHello)+1, "a sample of each kind")
	got, err := readControl(t, controlBytes(t, want...))
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, want, got)
	for _, m := range want {
		require.NotContains(t, m.Kind().String(), "kind(")
	}
}

// A data stream goes on right behind its Attach.
func TestAttachThenFrames(t *testing.T) {
	b := words(5, func(int) string { return "x" })
	data := append(controlBytes(t, &Attach{Subscription: 7}), send(t, b.Schema, WriterOptions{}, insertion(1, b))...)
	src := bytes.NewReader(data)
	cr, err := NewControlReader(src)
	require.NoError(t, err)
	cr.SetVersion(Version)
	m, err := cr.Read()
	require.NoError(t, err)
	require.Equal(t, &Attach{Subscription: 7}, m)
	r, err := NewReader(src, ReaderOptions{})
	require.NoError(t, err)
	f, err := r.ReadFrame()
	require.NoError(t, err)
	require.Equal(t, 5, f.Batch.Rows())
}

// The same message is always the same bytes: they can be signed and compared.
func TestControlIsDeterministic(t *testing.T) {
	require.Equal(t, controlBytes(t, samples()...), controlBytes(t, samples()...))
}

func TestHostileControl(t *testing.T) {
	raw := func(k Kind, v any) []byte {
		body, err := cbor.Marshal(v)
		require.NoError(t, err)
		version := Version
		if k == KindHello {
			version = helloVersion
		}
		return edit(frame(uint8(k), body), func(b []byte) { b[4] = version })
	}
	long := strings.Repeat("x", 5000)
	cases := map[string]struct {
		data []byte
		want Code
	}{
		"data kind":            {frame(uint8(tuple.Insertion), nil), BadKind},
		"empty":                {frame(uint8(KindAck), nil), Malformed},
		"garbage":              {frame(uint8(KindAck), []byte{0xFF, 0x00, 0x13}), Malformed},
		"oversized":            {frame(uint8(KindPush), make([]byte, MaxControl+1)), BadLength},
		"an array":             {raw(KindAck, []int{1, 2}), Malformed},
		"unknown field":        {raw(KindAttach, map[int]int{1: 1, 99: 2}), Malformed},
		"field twice":          {frame(uint8(KindAttach), []byte{0xA2, 1, 1, 1, 2}), Malformed},
		"endless array":        {frame(uint8(KindPull), []byte{0xA1, 1, 0x9F}), Malformed},
		"a billion elements":   {frame(uint8(KindPull), []byte{0xA1, 1, 0x9A, 0x3B, 0x9A, 0xCA, 0}), Malformed},
		"a tag":                {frame(uint8(KindAttach), []byte{0xA1, 1, 0xC2, 0x41, 1}), Malformed},
		"deep":                 {frame(uint8(KindPull), append([]byte{0xA1, 1}, bytes.Repeat([]byte{0x81}, 1000)...)), Malformed},
		"negative id":          {raw(KindAttach, map[int]int{1: -1}), Malformed},
		"trailing bytes":       {append(raw(KindAttach, map[int]int{1: 1})[:0:0], frame(uint8(KindAttach), []byte{0xA1, 1, 1, 0})...), Malformed},
		"no stream":            {raw(KindSubscribe, map[int]any{1: 1}), Malformed},
		"long stream":          {raw(KindSubscribe, map[int]any{1: 1, 2: long}), Malformed},
		"invalid UTF-8":        {frame(uint8(KindPull), []byte{0xA1, 1, 0x81, 0x62, 0xC3, 0x28}), Malformed},
		"unknown level":        {raw(KindAck, map[int]any{1: "s", 2: 1, 3: 1, 4: 9}), Malformed},
		"unknown refusal":      {raw(KindRefused, map[int]any{1: 1, 2: 99}), Malformed},
		"unknown state":        {raw(KindHeartbeat, map[int]any{1: []any{map[int]any{1: "s", 2: 77}}}), Malformed},
		"held by nobody":       {raw(KindHeartbeat, map[int]any{1: []any{map[int]any{1: "s", 2: 2, 4: -1}}}), Malformed},
		"held above by nobody": {raw(KindHeartbeat, map[int]any{1: []any{map[int]any{1: "s", 2: 2, 9: -1}}}), Malformed},
		"no versions":          {raw(KindHello, map[int]any{3: "n", 4: "o"}), Malformed},
		"credit of nothing":    {raw(KindCredit, map[int]any{1: 1, 2: 0}), Malformed},
		"accepted and refused": {raw(KindHostReply, map[int]any{1: 1, 2: true, 3: 1}), Malformed},
		"short hash":           {raw(KindAnnounce, map[int]any{1: []any{map[int]any{1: "q", 4: "w", 5: []byte{1, 2}}}}), Malformed},
		"newer version":        {edit(controlBytes(t, &Attach{}), func(b []byte) { b[4] = Version + 1 }), BadVersion},
		"truncated":            {controlBytes(t, samples()[0])[:20], Truncated},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readControl(t, c.data)
			require.Empty(t, got)
			requireCode(t, err, c.want)
		})
	}
}

// What the receiver would refuse is not sent.
func TestControlWriterRefuses(t *testing.T) {
	w, err := NewControlWriter(io.Discard)
	require.NoError(t, err)
	for _, m := range []Message{&Hello{}, &Subscribe{Stream: strings.Repeat("x", 600)}, &Ack{Stream: "s", Level: 7},
		&Push{Descriptor: make([]byte, MaxControl)}, &Refused{Reason: 99}, &Goodbye{}, &Error{Code: 99}} {
		require.Error(t, w.Write(m), "%v", m.Kind())
	}
}

func TestNegotiate(t *testing.T) {
	v, ok := Negotiate([]uint8{3, 2, 1}, []uint8{1, 2})
	require.True(t, ok)
	require.Equal(t, uint8(2), v)
	_, ok = Negotiate([]uint8{3}, []uint8{1, 2})
	require.False(t, ok)
}

// Every code of the closed sets has a name of its own.
func TestCodeNames(t *testing.T) {
	seen := map[string]bool{}
	for c := BadLength; c <= OverQuota; c++ {
		seen[c.String()] = true
	}
	for r := NoStream; r <= Stopping; r++ {
		seen[r.String()] = true
	}
	for s := Starting; s <= Ended; s++ {
		seen[s.String()] = true
	}
	for p := PartingShutdown; p <= PartingBrokenRules; p++ {
		seen[p.String()] = true
	}
	for l := Received; l <= Delivered; l++ {
		seen[l.String()] = true
	}
	require.Len(t, seen, 14+11+6+5+3)
	require.Equal(t, "code(200)", Code(200).String())
	require.Equal(t, "refusal(0)", Refusal(0).String())
}

// TestHelloOfNewerPeer shows that fields a newer version adds to the hello are passed over, so that versions can be
// negotiated; in every other message they are an error.
func TestHelloOfNewerPeer(t *testing.T) {
	read := func(kind Kind, body map[int]any) error {
		c, err := newCodec()
		require.NoError(t, err)
		payload, err := c.enc.Marshal(body)
		require.NoError(t, err)
		frame := append(make([]byte, headerSize), payload...)
		seal(frame, helloVersion, uint8(kind))
		r, err := NewControlReader(bytes.NewReader(frame))
		require.NoError(t, err)
		_, err = r.Read()
		return err
	}
	require.NoError(t, read(KindHello, map[int]any{1: []byte{1, 2}, 2: 7, 3: "12D3KooW", 4: "south", 5: "fednode 9", 99: "news"}))
	require.Error(t, read(KindUnsubscribe, map[int]any{1: 3, 99: "news"}))
}
