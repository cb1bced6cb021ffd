package faultstore

import "fednode/storage/disk"

// Files returns a function that opens real files whose writes, syncs and allocations fail by the plan.
func Files(p *Plan) disk.OpenFunc {
	return func(path string, flag int) (disk.File, error) {
		f, err := disk.Open(path, flag)
		if err != nil {
			return nil, err
		}
		return &file{File: f, plan: p}, nil
	}
}

type file struct {
	disk.File
	plan *Plan
}

// WriteAt implements disk.File.
func (f *file) WriteAt(b []byte, off int64) (int, error) {
	through, fault := f.plan.write(int64(len(b)))
	n, err := f.File.WriteAt(b[:through], off)
	if err == nil {
		err = fault
	}
	return n, err
}

// Sync implements disk.File. It counts as a write of no bytes.
func (f *file) Sync() error {
	if _, err := f.plan.write(0); err != nil {
		return err
	}
	return f.File.Sync()
}

// Allocate implements disk.File. It counts as a write of no bytes.
func (f *file) Allocate(size int64) error {
	if _, err := f.plan.write(0); err != nil {
		return err
	}
	return f.File.Allocate(size)
}
