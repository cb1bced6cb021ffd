package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Names of the files in a node's directory.
const (
	FileOrgKey      = "org.key"   // the root; offline after the start
	FileNodeKey     = "node.key"  // the identity of this daemon
	FileToken       = "api.token" // for clients of the HTTP API
	FileCertificate = "node.cert"
	FileOrg         = "org.pub" // the organisation file that partners import
	DirPartners     = "trust"   // one organisation file a partner
	DirData         = "data"
	DirLog          = "log"
)

// Dir is a node's directory. Credentials, if not empty, is the directory of systemd credentials: a secret file found
// there is used instead of the one in Path, whatever its mode, since the service manager guards it.
type Dir struct {
	Path        string
	Credentials string
}

// Identity is what a daemon starts with.
type Identity struct {
	Key         *SecretKey
	Certificate *Signed
	Member      Member // what the certificate says
	Org         *Org
	Deploy      *SigningKey // nil: this node deploys no queries
	Nodes       *SigningKey // nil: certificates are renewed elsewhere
}

func (d Dir) file(name string) string { return filepath.Join(d.Path, name) }

// signingFile is "nodes.key", "deploy.key" or "contracts.key".
func signingFile(role Role) string { return string(role) + ".key" }

func (d Dir) secret(name string) (place string, text []byte, err error) {
	if d.Credentials != "" {
		place = filepath.Join(d.Credentials, name)
		text, err = readSecretFile(place, true)
		if !errors.Is(err, ErrMissing) {
			return place, text, err
		}
	}
	place = d.file(name)
	text, err = readSecretFile(place, false)
	return place, text, err
}

// LoadRoot reads the root key, which is here only while it is needed.
func (d Dir) LoadRoot() (*SecretKey, error) {
	key, err := d.loadKey(FileOrgKey, RoleRoot)
	if errors.Is(err, ErrMissing) {
		return nil, &Error{Kind: ErrMissing, Place: d.file(FileOrgKey), Expected: "the organisation's root key",
			Remedy: "run this where the root key is kept, or bring it here for the moment", Cause: os.ErrNotExist}
	}
	return key, err
}

// LoadNodeKey reads the node key.
func (d Dir) LoadNodeKey() (*SecretKey, error) { return d.loadKey(FileNodeKey, RoleNode) }

func (d Dir) loadKey(name string, role Role) (*SecretKey, error) {
	place, text, err := d.secret(name)
	if err != nil {
		return nil, err
	}
	key, _, err := parseKey(place, text, role)
	return key, err
}

// LoadSigningKey reads the key of a signing role; errors.Is(err, ErrMissing) if it is not here.
func (d Dir) LoadSigningKey(role Role) (*SigningKey, error) {
	if !role.signing() {
		return nil, roleError(d.Path, role, "nodes, deploy or contracts")
	}
	place, text, err := d.secret(signingFile(role))
	if err != nil {
		return nil, err
	}
	key, statement, err := parseKey(place, text, role)
	if err != nil {
		return nil, err
	}
	return &SigningKey{Secret: key, Statement: statement}, nil
}

// optional turns a missing key into nil.
func (d Dir) optional(role Role) (*SigningKey, error) {
	k, err := d.LoadSigningKey(role)
	if errors.Is(err, ErrMissing) {
		return nil, nil
	}
	return k, err
}

// LoadToken reads the API token.
func (d Dir) LoadToken() (string, error) {
	place, text, err := d.secret(FileToken)
	if err != nil {
		return "", err
	}
	return parseToken(place, text)
}

// LoadTokenFile reads an API token that is kept anywhere, for a client; others must not be able to read the file.
func LoadTokenFile(path string) (string, error) {
	text, err := readSecretFile(path, false)
	if err != nil {
		return "", err
	}
	return parseToken(path, text)
}

func parseToken(place string, text []byte) (string, error) {
	token := string(text)
	for len(token) > 0 && token[len(token)-1] == '\n' {
		token = token[:len(token)-1]
	}
	if len(token) < 16 || len(token) > 256 {
		return "", &Error{Kind: ErrMalformed, Place: place, Expected: "a token of 16 to 256 characters",
			Remedy: "delete the file and make a new one with fednode init"}
	}
	return token, nil
}

// LoadOrg reads the own organisation file.
func (d Dir) LoadOrg() (*Org, error) {
	path := d.file(FileOrg)
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return ParseOrg(path, text)
}

// LoadIdentity reads what the daemon needs and checks that the parts belong together. It does not ask whether the
// certificate is still in force: verify it with the registry, so that an expired one can be renewed first.
func (d Dir) LoadIdentity() (*Identity, error) {
	key, err := d.LoadNodeKey()
	if err != nil {
		return nil, err
	}
	path := d.file(FileCertificate)
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	cert, member, err := ParseCertificate(path, text)
	if err != nil {
		return nil, err
	}
	if member.Key != key.Public() {
		return nil, &Error{Kind: ErrIdentity, Place: path, Got: "the certificate of key " + member.Key.ID(),
			Expected: "that of " + key.String(), Remedy: "request and sign a certificate for this key (fednode node request, sign, join)"}
	}
	org, err := d.LoadOrg()
	if err != nil {
		return nil, err
	}
	if org.Name != member.Org {
		return nil, &Error{Kind: ErrIdentity, Place: d.file(FileOrg), Got: "organisation " + org.Name, Expected: member.Org}
	}
	id := &Identity{Key: key, Certificate: cert, Member: member, Org: org}
	if id.Deploy, err = d.optional(RoleDeploy); err != nil {
		return nil, err
	}
	id.Nodes, err = d.optional(RoleNodes)
	return id, err
}

// Renew signs a new certificate if the nodes key is here, writes it and puts it into id. It returns false if there is
// no nodes key.
func (d Dir) Renew(id *Identity, now time.Time) (bool, error) {
	if id.Nodes == nil {
		return false, nil
	}
	cert, err := CertifyNode(id.Nodes, id.Member.Node, id.Key.Public(), now)
	if err != nil {
		return false, err
	}
	return true, d.InstallCertificate(id, cert)
}

// InstallCertificate replaces the certificate file by cert, which must be for id's key and organisation.
func (d Dir) InstallCertificate(id *Identity, cert *Signed) error {
	m, err := peekCertificate(cert)
	if err != nil {
		return err
	}
	if m.Key != id.Key.Public() || m.Org != id.Key.Org {
		return &Error{Kind: ErrIdentity, Place: "new certificate", Got: fmt.Sprintf("%s, key %s", m, m.Key.ID()), Expected: id.Key.String()}
	}
	text, err := FormatCertificate(cert)
	if err != nil {
		return err
	}
	if err := replaceFile(d.file(FileCertificate), text, 0o644); err != nil {
		return err
	}
	id.Certificate, id.Member = cert, m
	return nil
}
