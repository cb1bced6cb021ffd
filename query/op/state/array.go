package state

import "unsafe"

// PageSize is the number of entries of a page, the unit that is copied after a fork.
const (
	PageSize = 1 << pageBits
	pageBits = 9
	pageMask = PageSize - 1
)

// Array is a dense array that grows and forks. The zero value is an empty array. Entries hold no pointers that both
// sides of a fork would write through.
type Array[T any] struct {
	n    int
	flat []T // all entries while no page is shared; a length below PageSize, or a multiple of it

	// Set instead of flat after a fork.
	pages  []*[PageSize]T
	own    []bool // own[p]: page p is not shared
	shared int    // pages that are
}

// Len returns the number of entries.
func (a *Array[T]) Len() int { return a.n }

// Get returns entry i, which is below Len.
func (a *Array[T]) Get(i uint32) T {
	if a.pages == nil {
		return a.flat[i]
	}
	return a.pages[i>>pageBits][i&pageMask]
}

// At returns entry i for writing, until the next call of Grow, Append, Own or Fork. i is below Len.
func (a *Array[T]) At(i uint32) *T {
	if a.pages == nil {
		return &a.flat[i]
	}
	return a.atPaged(i)
}

func (a *Array[T]) atPaged(i uint32) *T {
	a.ownPage(i >> pageBits)
	return &a.pages[i>>pageBits][i&pageMask]
}

func (a *Array[T]) ownPage(p uint32) {
	if a.own[p] {
		return
	}
	page := *a.pages[p]
	a.pages[p], a.own[p] = &page, true
	a.shared--
}

// Own makes the entries of slots writable through Flat or Pages, until the array next grows or forks. Without slots it
// only sees to it that an array that has been forked becomes flat again.
func (a *Array[T]) Own(slots []uint32) {
	if a.pages == nil {
		return
	}
	if a.shared > 0 {
		for _, s := range slots {
			if !a.own[s>>pageBits] {
				a.ownPage(s >> pageBits)
			}
		}
	}
	a.settle()
}

// settle ends the paged form once half of the pages have been copied: another copy of all is in proportion, and the other
// half may never change, for instance entries of keys that come no more.
func (a *Array[T]) settle() {
	if 2*a.shared <= len(a.pages) {
		a.Flatten()
	}
}

// Flatten ends the paged form whatever is shared: for a small array that goes with a larger one which has become flat.
func (a *Array[T]) Flatten() {
	if a.pages == nil {
		return
	}
	flat := make([]T, len(a.pages)*PageSize)
	for i, p := range a.pages {
		copy(flat[i*PageSize:], p[:])
	}
	a.flat, a.pages, a.own, a.shared = flat, nil, nil, 0
}

// Flat returns all entries, or nil while the array is paged.
func (a *Array[T]) Flat() []T { return a.flat }

// Pages returns the pages while the array is paged: entry i is Pages()[i>>9][i&511]. Only entries given to Own may be
// written.
func (a *Array[T]) Pages() []*[PageSize]T { return a.pages }

// Grow extends the array to n entries, the new ones zero; it never shrinks. Like Own it may end the paged form.
func (a *Array[T]) Grow(n int) {
	if a.pages != nil {
		a.settle()
	}
	if n <= a.n {
		return
	}
	a.n = n
	if a.pages != nil {
		for len(a.pages)*PageSize < n {
			a.pages, a.own = append(a.pages, new([PageSize]T)), append(a.own, true)
		}
		return
	}
	if n <= len(a.flat) {
		return
	}
	size := max(8, 2*len(a.flat))
	for size < n {
		size *= 2
	}
	if size > PageSize {
		// Doubling ends up far above what is needed when the caller knows the size.
		size = max((n+pageMask)&^pageMask, min(size, (n+n/2+pageMask)&^pageMask))
	}
	flat := make([]T, size)
	copy(flat, a.flat)
	a.flat = flat
}

// Append adds one entry at the end and returns its place.
func (a *Array[T]) Append(v T) uint32 {
	i := uint32(a.n)
	a.Grow(a.n + 1)
	*a.At(i) = v
	return i
}

// Clear empties the array. Memory that no fork shares is kept for the next use, unless most of it was not needed this time.
func (a *Array[T]) Clear() {
	if a.pages != nil || len(a.flat) > 8*max(a.n, PageSize) {
		*a = Array[T]{}
		return
	}
	clear(a.flat[:a.n])
	a.n = 0
}

// Fork returns an array with the same content; afterwards the two are independent. An array that fills no page is copied
// at once: a page of its own would take more.
func (a *Array[T]) Fork() Array[T] {
	if a.n == 0 {
		return Array[T]{}
	}
	if a.pages == nil && len(a.flat) < PageSize {
		return Array[T]{n: a.n, flat: append(make([]T, 0, len(a.flat)), a.flat...)}
	}
	if a.pages == nil {
		a.paginate()
	}
	clear(a.own)
	a.shared = len(a.pages)
	f := Array[T]{n: a.n, pages: make([]*[PageSize]T, len(a.pages)), own: make([]bool, len(a.pages)), shared: a.shared}
	copy(f.pages, a.pages)
	return f
}

func (a *Array[T]) paginate() {
	count := (a.n + pageMask) >> pageBits
	a.pages = make([]*[PageSize]T, count)
	for i := range a.pages {
		a.pages[i] = (*[PageSize]T)(a.flat[i*PageSize:])
	}
	a.flat, a.own = nil, make([]bool, count)
}

// Bytes returns the memory the array holds, shared pages included.
func (a *Array[T]) Bytes() int64 {
	var zero T
	return int64(max(len(a.flat), len(a.pages)*PageSize)) * int64(unsafe.Sizeof(zero))
}
