package storage

// Limits of one value and one transaction.
const (
	// ChunkBytes is the largest value.
	ChunkBytes = 256 << 10
	// TxBytes is what one transaction may write: keys and values together.
	TxBytes = 1 << 20
	// KeyBytes is the longest key.
	KeyBytes = 1024
)

// Reader reads in one consistent state of a store.
type Reader interface {
	// Get returns a copy of the value, or ErrNotFound.
	Get(key Key) ([]byte, error)
	// Each calls fn for every key with a prefix, in the order of their bytes, until it returns an error, which Each then
	// returns. The value is valid until fn returns.
	Each(prefix Key, fn func(key Key, value []byte) error) error
	// EachKey does the same without reading values.
	EachKey(prefix Key, fn func(key Key) error) error
}

// Writer writes in one transaction, and reads what it has written.
type Writer interface {
	Reader
	// Set stores a value of at most ChunkBytes; else the error is ErrTooLarge, also when the transaction passes TxBytes.
	// The store copies the value.
	Set(key Key, value []byte) error
	// Delete removes a key; one that is not there is no error.
	Delete(key Key) error
}

// DB is a transactional store. All methods may be called concurrently.
type DB interface {
	// View runs fn on the present state.
	View(fn func(Reader) error) error
	// Update runs fn, and on nil makes all its writes durable at once: after a crash all are there or none. After an error
	// none is there. If another transaction meanwhile changed a key that fn has got (Get, or a key that Each met), the
	// error is ErrConflict; keys that Each would have met by now do not count. fn does not call the store itself.
	Update(fn func(Writer) error) error
}
