package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// createFile writes a new file durably; one that is there stays as it is and ErrExists is returned.
func createFile(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, os.ErrExist) {
		return existsError(path)
	}
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		// Half a key file is worth nothing and would block the next try.
		return errors.Join(fmt.Errorf("trust: write %s: %w", path, err), os.Remove(path))
	}
	return nil
}

func existsError(path string) error {
	return &Error{Kind: ErrExists, Place: path, Remedy: "nothing was overwritten; choose another directory, or move the file away"}
}

// replaceFile writes beside the file and renames, so that a crash leaves the old or the new one.
func replaceFile(path string, text []byte, mode os.FileMode) error {
	next := path + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("trust: %w", err)
	}
	if err := createFile(next, text, mode); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return errors.Join(fmt.Errorf("trust: %w", err), os.Remove(next))
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
