package format

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"math/bits"
	"net/netip"
	"unicode/utf8"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// words turns the texts of a binary column into codes. A text seen before costs one hash and one comparison: it is
// neither parsed nor checked again. A column whose values hardly ever repeat goes plain, where code i is row i, until
// the next try.
type words struct {
	parse  parse
	seed   maphash.Seed // texts come from outside: an unseeded table could be flooded with collisions
	secret [2]uint64

	dict  *tuple.DictBuilder
	table []word
	count int
	text  []byte
	rows  int // interned since the dictionary began

	plain int // blocks that are still to be plain
	off   []uint32
	data  []byte

	scratch []byte
}

// word is one text in the table. A short one is a and b; of a long one a is the hash and b where it lies in words.text.
type word struct {
	a, b uint64
	size uint32
	code uint32 // +1; 0 is an empty place
}

// shortWord is the length in bytes up to which a text fits the two words of its entry.
const shortWord = 16

// plainBlocks is how long a column of unique values stays plain before a dictionary is tried again: long enough that
// the tries do not show, short enough that a change of the data is noticed.
const plainBlocks = 256

func newWords(p parse) *words {
	w := &words{parse: p, seed: maphash.MakeSeed(), dict: tuple.NewDictBuilder()}
	w.secret = [2]uint64{maphash.String(w.seed, "a"), maphash.String(w.seed, "b")}
	w.reset()
	return w
}

func (w *words) reset() {
	if w.dict.Len() > 0 {
		w.dict.Reset()
	}
	if w.table == nil {
		w.table = make([]word, 256)
	}
	clear(w.table) // as large as it was: a column that filled it once will fill it again
	w.count, w.text, w.rows = 0, w.text[:0], 0
}

// code returns the code of a text that is to be row n of the block.
func (w *words) code(v []byte, n int) (uint32, connect.Reason) {
	if w.plain > 0 {
		return w.plainCode(v, n)
	}
	key, h := w.key(v)
	mask := uint64(len(w.table) - 1)
	i := h & mask
	for ; w.table[i].code != 0; i = (i + 1) & mask {
		e := &w.table[i]
		if e.a == key.a && e.size == key.size && (e.b == key.b || len(v) > shortWord) {
			if len(v) <= shortWord || string(w.text[e.b:e.b+uint64(e.size)]) == string(v) {
				w.rows++
				return e.code - 1, connect.OK
			}
		}
	}
	value, reason := w.decode(v)
	if reason != connect.OK {
		return 0, reason
	}
	w.rows++
	if key.size > shortWord {
		key.b = uint64(len(w.text))
		w.text = append(w.text, v...)
	}
	key.code = w.dict.Intern(value) + 1
	w.table[i] = key
	if w.count++; 2*w.count > len(w.table) {
		w.grow()
	}
	return key.code - 1, connect.OK
}

// key returns the entry that a text has or would have in the table, and its hash. The two words of a short text hold
// all of it, overlapping in the middle.
func (w *words) key(v []byte) (word, uint64) {
	n := len(v)
	k := word{size: uint32(n)}
	switch {
	case n > shortWord:
		k.a = maphash.Bytes(w.seed, v)
		return k, k.a
	case n >= 8:
		k.a, k.b = binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[n-8:])
	case n >= 4:
		k.a, k.b = uint64(binary.LittleEndian.Uint32(v)), uint64(binary.LittleEndian.Uint32(v[n-4:]))
	case n > 0:
		k.a, k.b = uint64(v[0]), uint64(v[n/2])|uint64(v[n-1])<<8
	}
	return k, w.mix(k)
}

// mix is the hash of a short text. The secrets keep outsiders from choosing texts that collide.
func (w *words) mix(k word) uint64 {
	hi, lo := bits.Mul64(k.a^w.secret[0], k.b^w.secret[1]^uint64(k.size)<<56)
	return hi ^ lo
}

func (w *words) grow() {
	old := w.table
	w.table = make([]word, 2*len(old))
	mask := uint64(len(w.table) - 1)
	for _, e := range old {
		if e.code == 0 {
			continue
		}
		h := e.a
		if e.size <= shortWord {
			h = w.mix(e)
		}
		i := h & mask
		for w.table[i].code != 0 {
			i = (i + 1) & mask
		}
		w.table[i] = e
	}
}

// value returns the code of a value that needs no reading.
func (w *words) value(v []byte, n int) uint32 {
	if w.plain > 0 {
		return w.appendPlain(v, n)
	}
	w.rows++
	return w.dict.Intern(v)
}

// null returns the code of a null row n.
func (w *words) null(n int) uint32 {
	if w.plain > 0 {
		w.appendPlain(nil, n)
	}
	return 0
}

// plainCode appends the value of row n to the block's own values.
func (w *words) plainCode(v []byte, n int) (uint32, connect.Reason) {
	value, reason := w.decode(v)
	if reason != connect.OK {
		return 0, reason
	}
	return w.appendPlain(value, n), connect.OK
}

func (w *words) appendPlain(v []byte, n int) uint32 {
	w.data = append(w.data, v...)
	w.off = append(w.off, uint32(len(w.data)))
	return uint32(n)
}

// undo drops the values of rows from n on.
func (w *words) undo(n int) {
	if w.plain > 0 && len(w.off) > n+1 {
		w.off = w.off[:n+1]
		w.data = w.data[:w.off[n]]
	}
}

// take returns the dictionary of a block of n rows and prepares the next block.
func (w *words) take(n int) *tuple.Dict {
	if w.plain > 0 {
		d := tuple.NewDict(w.off, w.data, false)
		size := len(w.data)
		w.off, w.data = nil, nil
		if w.plain--; w.plain > 0 {
			w.startPlain(n, size)
		}
		return d
	}
	d := w.dict.Dict()
	if w.dict.Full() || w.count >= tuple.DictMaxValues || len(w.text) >= tuple.DictMaxBytes {
		unique := w.rows < 2*w.count
		w.reset()
		if unique {
			w.plain = plainBlocks
			w.startPlain(n, 0)
		}
	}
	return d
}

func (w *words) startPlain(rows, size int) {
	w.off = append(make([]uint32, 0, rows+1), 0)
	w.data = make([]byte, 0, size)
}

// decode reads a text; the value is valid until the next call.
func (w *words) decode(v []byte) ([]byte, connect.Reason) {
	switch w.parse {
	case parseString:
		if !utf8.Valid(v) {
			return nil, connect.BadUTF8
		}
		return v, connect.OK
	case parseIP:
		return w.decodeIP(v)
	case parseCIDR:
		p, err := netip.ParsePrefix(string(v))
		if err != nil {
			return nil, connect.WrongType
		}
		b := tuple.CIDRBytes(p)
		w.scratch = append(w.scratch[:0], b[:]...)
		return w.scratch, connect.OK
	case parseHex:
		out, err := hex.AppendDecode(w.scratch[:0], v)
		w.scratch = out
		return reasonOf(out, err)
	case parseBase64:
		out, err := base64.StdEncoding.AppendDecode(w.scratch[:0], v)
		w.scratch = out
		return reasonOf(out, err)
	}
	return v, connect.OK
}

func (w *words) decodeIP(v []byte) ([]byte, connect.Reason) {
	a, ok := parseIPv4(v)
	if !ok {
		var err error
		if a, err = netip.ParseAddr(string(v)); err != nil {
			return nil, connect.WrongType
		}
	}
	b := tuple.IPBytes(a)
	w.scratch = append(w.scratch[:0], b[:]...)
	return w.scratch, connect.OK
}

func reasonOf(v []byte, err error) ([]byte, connect.Reason) {
	if err != nil {
		return nil, connect.WrongType
	}
	return v, connect.OK
}

// parseIPv4 reads the usual form of an address; anything else is left to the general parser.
func parseIPv4(v []byte) (netip.Addr, bool) {
	var b [4]byte
	part, digits, value := 0, 0, uint(0)
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9' && (digits == 0 || value > 0) && digits < 3:
			value = value*10 + uint(c-'0')
			digits++
		case c == '.' && digits > 0 && value <= 255 && part < 3:
			b[part] = byte(value)
			part, digits, value = part+1, 0, 0
		default:
			return netip.Addr{}, false
		}
	}
	if part != 3 || digits == 0 || value > 255 {
		return netip.Addr{}, false
	}
	b[3] = byte(value)
	return netip.AddrFrom4(b), true
}
