package file

import "fednode/query/tuple"

// sinkState is what a Commit made durable: the file up to length holds the rows up to pos.
type sinkState struct {
	length  int64
	imprint imprint // of the end of what was committed: another file under the name does not have it
	pos     tuple.Position
}

// sinkStateVersion is the first number of a state; one that is not known here is refused.
const sinkStateVersion = 1

func (s *sinkState) encode() []byte {
	var e tuple.Encoder
	e.Uint(sinkStateVersion)
	e.Int(s.length)
	e.Uint(uint64(s.imprint.size))
	e.Uint(uint64(s.imprint.sum))
	e.Uint(s.pos.Generation)
	e.Time(s.pos.Time)
	e.Uint(s.pos.ID)
	return e.B
}

func decodeState(b []byte) (*sinkState, error) {
	d := tuple.NewDecoder(b)
	if v := d.Uint(); v != sinkStateVersion {
		d.Fail("a sink's state of version %d, this build reads %d", v, sinkStateVersion)
	}
	s := &sinkState{length: d.Int()}
	s.imprint = imprint{size: int(d.Uint() % (imprintSize + 1)), sum: uint32(d.Uint())}
	s.pos = tuple.Position{Generation: d.Uint(), Time: d.Time(), ID: d.Uint()}
	if s.length < int64(s.imprint.size) {
		d.Fail("length %d", s.length)
	}
	return s, d.Close()
}
