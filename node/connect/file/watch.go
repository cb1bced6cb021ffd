package file

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"fednode/node/connect"
)

// watch waits for a change of a path. The file system tells at once where it can; a look now and then finds what it
// does not tell (network file systems, a directory that was replaced).
type watch struct {
	clock   connect.Clock
	watcher *fsnotify.Watcher // nil: only looking
	path    string
}

// poll is how often the path is looked at, also where the file system tells of changes: that a stream is quiet is known up
// to the last look.
const poll = 50 * time.Millisecond

func newWatch(path string, clock connect.Clock) *watch {
	w := &watch{clock: clock, path: filepath.Base(path)}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return w
	}
	// The directory, not the file: a rotation puts another file under the name.
	if err := watcher.Add(filepath.Dir(path)); err != nil {
		watcher.Close()
		return w
	}
	w.watcher = watcher
	return w
}

// wait returns when the path may have changed, or with ctx's error.
func (w *watch) wait(ctx context.Context) error {
	var events chan fsnotify.Event
	var errs chan error
	if w.watcher != nil {
		events, errs = w.watcher.Events, w.watcher.Errors
	}
	after := w.clock.After(poll)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-after:
			return nil
		case <-errs:
			return nil // events were lost
		case e := <-events:
			if filepath.Base(e.Name) == w.path {
				w.drain()
				return nil
			}
		}
	}
}

// drain drops the events of the same burst of writes: one look serves them all.
func (w *watch) drain() {
	for {
		select {
		case <-w.watcher.Events:
		default:
			return
		}
	}
}

func (w *watch) close() error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Close()
}
