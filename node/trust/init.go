package trust

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Setup says what to make, when, and with which randomness (crypto/rand.Reader but in tests).
type Setup struct {
	Org    string
	Node   string // only for InitNode and Init
	Now    time.Time
	Random io.Reader
}

// newFile is a file to be made.
type newFile struct {
	name string
	text []byte
	mode os.FileMode
}

// Init makes the first node of an organisation: all of InitOrg and InitNode in one directory, all or nothing, never
// overwriting. It returns the identity to start with.
func (d Dir) Init(s Setup) (*Identity, error) {
	orgFiles, _, nodes, err := makeOrg(s)
	if err != nil {
		return nil, err
	}
	nodeFiles, key, err := makeNode(s)
	if err != nil {
		return nil, err
	}
	cert, err := CertifyNode(nodes, s.Node, key.Public(), s.Now)
	if err != nil {
		return nil, err
	}
	text, err := FormatCertificate(cert)
	if err != nil {
		return nil, err
	}
	files := append(slices.Concat(orgFiles, nodeFiles), newFile{FileCertificate, text, 0o644})
	if err := d.create(files, DirData, DirLog, DirPartners); err != nil {
		return nil, err
	}
	return d.LoadIdentity()
}

// InitOrg makes an organisation's keys without a node: the root, a key for each signing role, the organisation file.
func (d Dir) InitOrg(s Setup) (*Org, error) {
	files, org, _, err := makeOrg(s)
	if err != nil {
		return nil, err
	}
	return org, d.create(files)
}

// InitNode makes a further node of an organisation: its key and token, and returns the request to be signed where the
// nodes key is. Join completes it.
func (d Dir) InitNode(s Setup) (request []byte, err error) {
	files, key, err := makeNode(s)
	if err != nil {
		return nil, err
	}
	request, err = RequestNode(key, s.Node, s.Now)
	if err != nil {
		return nil, err
	}
	return request, d.create(files, DirData, DirLog, DirPartners)
}

// Join installs the signed certificate and the organisation file in the directory that InitNode made.
func (d Dir) Join(certificate, org []byte) (*Identity, error) {
	_, m, err := ParseCertificate("certificate", certificate)
	if err != nil {
		return nil, err
	}
	o, err := ParseOrg("organisation file", org)
	if err != nil {
		return nil, err
	}
	key, err := d.LoadNodeKey()
	if err != nil {
		return nil, err
	}
	if m.Key != key.Public() || m.Org != key.Org || o.Name != key.Org {
		return nil, &Error{Kind: ErrIdentity, Place: "certificate", Got: fmt.Sprintf("%s, key %s, organisation file of %s", m, m.Key.ID(), o.Name),
			Expected: key.String(), Remedy: "sign the request that this node made"}
	}
	files := []newFile{{FileCertificate, certificate, 0o644}, {FileOrg, org, 0o644}}
	if err := d.create(files); err != nil {
		return nil, err
	}
	return d.LoadIdentity()
}

func makeOrg(s Setup) ([]newFile, *Org, *SigningKey, error) {
	if err := CheckName("organisation name", s.Org); err != nil {
		return nil, nil, nil, err
	}
	root, err := GenerateKey(RoleRoot, s.Org, s.Random)
	if err != nil {
		return nil, nil, nil, err
	}
	text, err := root.format()
	if err != nil {
		return nil, nil, nil, err
	}
	files := []newFile{{FileOrgKey, text, 0o600}}
	org := &Org{Name: s.Org, Root: root.Public()}
	var nodes *SigningKey
	for _, role := range SigningRoles() {
		key, err := newSigningKey(root, role, s.Now, s.Random)
		if err != nil {
			return nil, nil, nil, err
		}
		if text, err = key.format(); err != nil {
			return nil, nil, nil, err
		}
		if role == RoleNodes {
			nodes = key
		}
		files = append(files, newFile{signingFile(role), text, 0o600})
		org.Statements = append(org.Statements, key.Statement)
	}
	text, err = FormatOrg(org)
	return append(files, newFile{FileOrg, text, 0o644}), org, nodes, err
}

func newSigningKey(root *SecretKey, role Role, now time.Time, random io.Reader) (*SigningKey, error) {
	key, err := GenerateKey(role, root.Org, random)
	if err != nil {
		return nil, err
	}
	st := KeyStatement{Org: root.Org, Role: role, Key: key.Public(), Expires: TimeOf(now.Add(SigningKeyValidity))}
	statement, err := stateKey(root, st, now)
	if err != nil {
		return nil, err
	}
	return &SigningKey{Secret: key, Statement: statement}, nil
}

func makeNode(s Setup) ([]newFile, *SecretKey, error) {
	if err := errors.Join(CheckName("organisation name", s.Org), CheckName("node name", s.Node)); err != nil {
		return nil, nil, err
	}
	key, err := GenerateKey(RoleNode, s.Org, s.Random)
	if err != nil {
		return nil, nil, err
	}
	text, err := key.format()
	if err != nil {
		return nil, nil, err
	}
	token := make([]byte, 32)
	if _, err := io.ReadFull(s.Random, token); err != nil {
		return nil, nil, fmt.Errorf("trust: make API token: %w", err)
	}
	tokenText := []byte(base64.RawURLEncoding.EncodeToString(token) + "\n")
	return []newFile{{FileNodeKey, text, 0o600}, {FileToken, tokenText, 0o600}}, key, nil
}

// create makes the files and directories. If one cannot be made, those made before are taken away again.
func (d Dir) create(files []newFile, dirs ...string) error {
	// Looked at first, so that the usual mistake touches nothing at all; createFile still refuses by itself.
	for _, f := range files {
		if _, err := os.Lstat(d.file(f.name)); err == nil {
			return existsError(d.file(f.name))
		}
	}
	for _, name := range append([]string{"."}, dirs...) {
		if err := os.MkdirAll(filepath.Join(d.Path, name), 0o700); err != nil {
			return fmt.Errorf("trust: %w", err)
		}
	}
	for i, f := range files {
		if err := createFile(d.file(f.name), f.text, f.mode); err != nil {
			for _, made := range files[:i] {
				err = errors.Join(err, os.Remove(d.file(made.name)))
			}
			return err
		}
	}
	return syncDir(d.Path)
}
