package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const orgSuffix = ".pub"

func (d Dir) partnerFile(name string) string {
	return filepath.Join(d.file(DirPartners), name+orgSuffix)
}

// ExportOrg returns the organisation file with these addresses (multiaddresses that end in /p2p/ID), for a partner.
func (d Dir) ExportOrg(addresses []string) ([]byte, error) {
	org, err := d.LoadOrg()
	if err != nil {
		return nil, err
	}
	org.Addresses = addresses
	if err := org.check(); err != nil {
		return nil, err
	}
	return FormatOrg(org)
}

// TrustPartner keeps a partner's organisation file, after a person has confirmed its fingerprint. A newer file of a
// known partner replaces the older one; another root under a known name is refused.
func (d Dir) TrustPartner(o *Org) error {
	if err := o.check(); err != nil {
		return err
	}
	own, err := d.LoadOrg()
	if err != nil {
		return err
	}
	if o.Name == own.Name {
		return &Error{Kind: ErrIdentity, Place: "organisation " + o.Name, Got: "the own organisation's name", Expected: "a partner"}
	}
	old, err := d.loadPartner(o.Name)
	switch {
	case errors.Is(err, ErrMissing):
	case err != nil:
		return err
	case old.Root != o.Root:
		return &Error{Kind: ErrIdentity, Place: d.partnerFile(o.Name), Got: "root " + o.Root.ID(), Expected: "root " + old.Root.ID(),
			Remedy: "if it is right, run fednode org untrust " + o.Name + " first"}
	}
	if err := os.MkdirAll(d.file(DirPartners), 0o700); err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	text, err := FormatOrg(o)
	if err != nil {
		return err
	}
	return replaceFile(d.partnerFile(o.Name), text, 0o644)
}

func (d Dir) loadPartner(name string) (*Org, error) {
	path := d.partnerFile(name)
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	o, err := ParseOrg(path, text)
	if err != nil {
		return nil, err
	}
	if o.Name != name {
		return nil, &Error{Kind: ErrIdentity, Place: path, Got: "the file of organisation " + o.Name, Expected: name,
			Remedy: "name it " + o.Name + orgSuffix + ", or import it with fednode org trust"}
	}
	return o, nil
}

// UntrustPartner deletes a partner's file.
func (d Dir) UntrustPartner(name string) error {
	if err := CheckName("organisation name", name); err != nil {
		return err
	}
	err := os.Remove(d.partnerFile(name))
	if errors.Is(err, os.ErrNotExist) {
		return &Error{Kind: ErrUntrusted, Place: "organisation " + name, Remedy: "fednode org list shows the partners"}
	}
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	return syncDir(d.file(DirPartners))
}

// Partners reads every trusted organisation file, by name. A damaged one is an error: silently losing a partner would
// show only as refused connections.
func (d Dir) Partners() ([]*Org, error) {
	entries, err := os.ReadDir(d.file(DirPartners))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	var orgs []*Org
	for _, e := range entries { // ReadDir sorts by name
		name, ok := strings.CutSuffix(e.Name(), orgSuffix)
		if !ok || e.IsDir() {
			continue
		}
		o, err := d.loadPartner(name)
		if err != nil {
			return nil, err
		}
		orgs = append(orgs, o)
	}
	return orgs, nil
}

// LoadRegistry makes the registry of the own organisation and all partners.
func (d Dir) LoadRegistry(skew time.Duration) (*Registry, error) {
	own, err := d.LoadOrg()
	if err != nil {
		return nil, err
	}
	reg, err := NewRegistry(own, skew)
	if err != nil {
		return nil, err
	}
	partners, err := d.Partners()
	if err != nil {
		return nil, err
	}
	for _, o := range partners {
		if err := reg.Trust(o); err != nil {
			return nil, err
		}
	}
	return reg, nil
}
