package stream

import (
	"fednode/query/tuple"
)

// dictionary takes the first values of a dictionary or more of them. Values are interned, so that codes keep their
// meaning and no two are equal, whatever the sender claims.
func (d *Decoder) dictionary(m message) error {
	f := m.meta
	id, delta := int64(0), false
	if p := f.Field(m.header, slotDictID); p != 0 {
		id = f.I64(p)
	}
	if p := f.Field(m.header, slotDictDelta); p != 0 {
		delta = f.U8(p) != 0
	}
	table := f.Table(m.header, slotDictData)
	if f.Bad() || table == 0 {
		return fault(Malformed, "dictionary metadata that points outside itself")
	}
	if id < 0 || id >= int64(len(d.order)) {
		return fault(BadDictionary, "dictionary %d of a schema with %d", id, len(d.order))
	}
	k := d.order[id]
	if delta != d.begun[k] {
		return fault(BadDictionary, "dictionary %d: a delta before its beginning, or a second beginning", id)
	}
	d.begun[k] = true
	r, err := d.openRecord(f, table, m.body)
	if err != nil {
		return err
	}
	if err := r.values(d.dicts[k], d.schema.Field(k).Type); err != nil {
		return at(d.schema.Field(k).Name, err)
	}
	return r.close()
}

// values interns the values of a dictionary batch.
func (r *record) values(dict *tuple.DictBuilder, t tuple.Type) error {
	c := tuple.Column{Type: t}
	if err := r.column(&c, nil, r.rows); err != nil {
		return err
	}
	if c.Valid != nil {
		return fault(BadDictionary, "a null in a dictionary")
	}
	for i := range r.rows {
		v := c.Bin(i)
		if dict.Len() >= tuple.DictMaxValues || dict.Size()+len(v) > tuple.DictMaxBytes {
			return fault(OverLimit, "a dictionary beyond %d values or %d bytes", tuple.DictMaxValues, tuple.DictMaxBytes)
		}
		want := uint32(dict.Len())
		if dict.Intern(v) != want {
			return fault(BadDictionary, "a dictionary that holds %.40q twice", v)
		}
	}
	return nil
}
