package flat

import (
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"
)

// sample is a table with a number, a text and a vector of two words.
func sample() []byte {
	b := flatbuffers.NewBuilder(64)
	text := b.CreateString("hello")
	b.StartVector(4, 2, 4)
	b.PrependUint32(8)
	b.PrependUint32(7)
	vector := b.EndVector(2)
	b.StartObject(4)
	b.PrependInt64Slot(0, -5, 0)
	b.PrependUOffsetTSlot(1, text, 0)
	b.PrependUOffsetTSlot(2, vector, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

func TestReads(t *testing.T) {
	f := &Buffer{B: sample()}
	root := f.Root()
	require.Equal(t, int64(-5), f.I64(f.Field(root, 0)))
	require.Equal(t, "hello", string(f.Text(root, 1)))
	first, n := f.Vector(root, 2, 4)
	require.Equal(t, 2, n)
	require.Equal(t, []uint32{7, 8}, []uint32{f.U32(first), f.U32(first + 4)})
	require.Zero(t, f.Field(root, 3), "absent")
	require.Empty(t, f.Text(root, 3))
	require.False(t, f.Bad())
}

// Outside the buffer, backwards or too long: remembered, and zero from then on.
func TestBadAccess(t *testing.T) {
	for name, access := range map[string]func(f *Buffer){
		"beyond the end":    func(f *Buffer) { f.U32(len(f.B) - 3) },
		"negative":          func(f *Buffer) { f.U8(-1) },
		"reference to none": func(f *Buffer) { f.B = make([]byte, 16); f.Ref(0) },
		"reference beyond":  func(f *Buffer) { f.B = []byte{200, 0, 0, 0}; f.Ref(0) },
		"vtable beyond":     func(f *Buffer) { f.B = []byte{0, 0, 0, 0x80, 0, 0, 0, 0}; f.Field(0, 1) },
		"vector too long":   func(f *Buffer) { f.Vector(f.Root(), 1, 1<<20) },
	} {
		f := &Buffer{B: sample()}
		access(f)
		require.True(t, f.Bad(), name)
		require.Zero(t, f.U8(0), name)
	}
}

func FuzzBuffer(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &Buffer{B: data}
		size, err := CheckMessage(b)
		if err == nil && size < 0 {
			t.Fatalf("a body of %d bytes", size)
		}
	})
}
