package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio"
	"fednode/query/tuple/arrowio/internal/flat"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Values and slots of the Arrow message format.
const (
	versionV5 = 4

	headerSchema     = 1
	headerDictionary = 2
	headerRecord     = 3

	slotVersion    = 0
	slotHeaderType = 1
	slotHeader     = 2
	slotBodyLength = 3

	slotLength      = 0
	slotNodes       = 1
	slotBuffers     = 2
	slotCompression = 3

	slotDictID    = 0
	slotDictData  = 1
	slotDictDelta = 2
)

// template is the metadata of a record or dictionary message, complete but for its numbers, with their places. Metadata
// of one schema always has the same form, so a message is a copy with some words patched.
type template struct {
	bytes      []byte // with the eight bytes of prefix, padded
	bodyLength int
	length     int
	nodes      int
	buffers    int
	id         int // dictionaries only
	delta      int
}

// newRecordTemplate returns the template of record messages with so many field nodes and buffers.
func newRecordTemplate(nodes, bufs int, codec Codec) *template {
	b := flatbuffers.NewBuilder(1024)
	return finishTemplate(b, headerRecord, buildRecord(b, nodes, bufs, codec))
}

func newDictTemplate(bufs int, codec Codec) *template {
	b := flatbuffers.NewBuilder(512)
	rec := buildRecord(b, 1, bufs, codec)
	b.StartObject(3)
	b.PrependInt64Slot(slotDictID, 1, 0) // defaults are left out of a table, so no number is one
	b.PrependUOffsetTSlot(slotDictData, rec, 0)
	b.PrependBoolSlot(slotDictDelta, true, false)
	return finishTemplate(b, headerDictionary, b.EndObject())
}

func buildRecord(b *flatbuffers.Builder, nodes, bufs int, codec Codec) flatbuffers.UOffsetT {
	pairs := func(n int) flatbuffers.UOffsetT {
		b.StartVector(16, n, 8)
		for range n {
			b.Prep(8, 16)
			b.PrependInt64(0)
			b.PrependInt64(0)
		}
		return b.EndVector(n)
	}
	nodeVector, bufferVector := pairs(nodes), pairs(bufs)
	var compression flatbuffers.UOffsetT
	if codec != None {
		b.StartObject(2)
		b.PrependInt8Slot(0, int8(codec-1), 0)
		compression = b.EndObject()
	}
	b.StartObject(5)
	b.PrependInt64Slot(slotLength, 1, 0)
	b.PrependUOffsetTSlot(slotNodes, nodeVector, 0)
	b.PrependUOffsetTSlot(slotBuffers, bufferVector, 0)
	b.PrependUOffsetTSlot(slotCompression, compression, 0)
	return b.EndObject()
}

func finishTemplate(b *flatbuffers.Builder, header byte, table flatbuffers.UOffsetT) *template {
	b.StartObject(5)
	b.PrependInt16Slot(slotVersion, versionV5, 0)
	b.PrependByteSlot(slotHeaderType, header, 0)
	b.PrependUOffsetTSlot(slotHeader, table, 0)
	b.PrependInt64Slot(slotBodyLength, 1, 0)
	b.Finish(b.EndObject())
	return locate(b.FinishedBytes(), header)
}

// locate finds the places of the numbers in finished metadata.
func locate(meta []byte, header byte) *template {
	const prefix = 8
	t := &template{bytes: make([]byte, prefix, prefix+len(meta)+8)}
	t.bytes = append(t.bytes, meta...)
	for len(t.bytes)%8 != 0 {
		t.bytes = append(t.bytes, 0)
	}
	binary.LittleEndian.PutUint32(t.bytes, continuation)
	binary.LittleEndian.PutUint32(t.bytes[4:], uint32(len(t.bytes)-prefix))

	f := &flat.Buffer{B: meta}
	msg := f.Root()
	rec := f.Table(msg, slotHeader)
	if header == headerDictionary {
		t.id = prefix + f.Field(rec, slotDictID)
		t.delta = prefix + f.Field(rec, slotDictDelta)
		rec = f.Table(rec, slotDictData)
	}
	nodes, _ := f.Vector(rec, slotNodes, 16)
	bufs, _ := f.Vector(rec, slotBuffers, 16)
	t.bodyLength = prefix + f.Field(msg, slotBodyLength)
	t.length = prefix + f.Field(rec, slotLength)
	t.nodes, t.buffers = prefix+nodes, prefix+bufs
	return t
}

// schemaMessage returns the schema message of a layout, by the general encoder: it is needed once a stream.
func schemaMessage(s *tuple.Schema, plain []bool) ([]byte, error) {
	var buf bytes.Buffer
	layout := arrowio.Layout{Stime: true, Index: arrow.PrimitiveTypes.Uint16, Plain: plain}
	w := ipc.NewWriter(&buf, ipc.WithSchema(arrowio.ArrowSchema(s, layout)))
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("stream: encode schema: %w", err)
	}
	const endOfStream = 8
	return buf.Bytes()[:buf.Len()-endOfStream], nil
}
