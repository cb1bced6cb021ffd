package flat

// Slots of record and dictionary messages.
const (
	slotRecordBuffers     = 2
	slotRecordCompression = 3
	slotDictionaryData    = 1

	headerDictionary = 2
	headerRecord     = 3

	codecZstd = 1
)

// Span is a part of a message's body.
type Span struct {
	Offset, Length int64
}

// ZstdSpans returns the buffers of a checked message that are compressed with Zstandard.
func ZstdSpans(f *Buffer) []Span {
	root := f.Root()
	kind := f.Field(root, slotHeaderType)
	record := f.Table(root, slotHeader)
	switch {
	case kind == 0:
		return nil
	case f.U8(kind) == headerDictionary:
		record = f.Table(record, slotDictionaryData)
	case f.U8(kind) != headerRecord:
		return nil
	}
	compression := f.Table(record, slotRecordCompression)
	if compression == 0 {
		return nil
	}
	if codec := f.Field(compression, 0); codec == 0 || f.U8(codec) != codecZstd {
		return nil
	}
	first, n := f.Vector(record, slotRecordBuffers, 16)
	spans := make([]Span, n)
	for i := range spans {
		spans[i] = Span{Offset: f.I64(first + 16*i), Length: f.I64(first + 16*i + 8)}
	}
	return spans
}
