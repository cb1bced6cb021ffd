package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fednode/node/trust"
	"fednode/query/spec"
)

// defaultEndpoint is the API of a daemon on this machine that nobody configured otherwise.
const defaultEndpoint = "http://127.0.0.1:7480"

// endpoint is where a daemon's API is and how to get in.
type endpoint struct {
	// URL has scheme and host; the host of a Unix socket is only a name.
	URL *url.URL
	// Socket is the path of a Unix socket, "" for TCP.
	Socket string
	Token  string
	// TLS trusts the daemon's own certificate; nil trusts the system's authorities.
	TLS *tls.Config
	// From says what chose the daemon, for messages.
	From string
}

// clientFlags adds the flags that choose a daemon.
func clientFlags(c *cobra.Command) {
	c.Flags().String("node", "", "URL of the daemon's API, http(s)://HOST:PORT or unix:PATH")
	c.Flags().String("dir", "", "directory of a daemon on this machine; its node.toml and api.token say the rest")
}

// resolveEndpoint finds the daemon: the flags, else FEDNODE_NODE, else the context in use, else the default.
func resolveEndpoint(c *cobra.Command) (*endpoint, error) {
	node, _ := c.Flags().GetString("node")
	dir, _ := c.Flags().GetString("dir")
	switch {
	case node != "" && dir != "":
		return nil, wrong("give --node or --dir, not both")
	case node != "":
		return urlEndpoint(node, "", "--node")
	case dir != "":
		return dirEndpoint(dir, "--dir")
	case os.Getenv("FEDNODE_NODE") != "":
		return urlEndpoint(os.Getenv("FEDNODE_NODE"), "", "FEDNODE_NODE")
	}
	f, err := loadContexts()
	if err != nil {
		return nil, err
	}
	if f.Current == "" {
		return urlEndpoint(defaultEndpoint, "", "the default")
	}
	if err := f.known(f.Current); err != nil {
		return nil, err
	}
	info, from := f.Contexts[f.Current], "context "+f.Current
	if info.Dir != "" {
		return dirEndpoint(info.Dir, from)
	}
	return urlEndpoint(info.Node, info.TokenFile, from)
}

// parseEndpoint reads http://HOST:PORT, https://HOST:PORT or unix:PATH.
func parseEndpoint(text string) (*endpoint, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok && path != "" {
		return &endpoint{URL: &url.URL{Scheme: "http", Host: "fednode"}, Socket: path}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" {
		return nil, wrong("%s: expected a URL such as %s or unix:/run/fednode/api.sock", text, defaultEndpoint)
	}
	u.Path = ""
	return &endpoint{URL: u}, nil
}

func urlEndpoint(text, tokenFile, from string) (*endpoint, error) {
	e, err := parseEndpoint(text)
	if err != nil {
		return nil, err
	}
	e.From = from
	if tokenFile == "" {
		tokenFile = os.Getenv("FEDNODE_TOKEN_FILE")
	}
	if tokenFile == "" {
		return e, nil
	}
	if e.Token, err = trust.LoadTokenFile(tokenFile); err != nil {
		return nil, err
	}
	return e, e.guardToken()
}

// guardToken refuses to send a token where everybody on the way can read it.
func (e *endpoint) guardToken() error {
	if e.URL.Scheme == "https" || e.Socket != "" || e.URL.Hostname() == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(e.URL.Hostname()); err == nil && ip.IsLoopback() {
		return nil
	}
	return wrong("%s (from %s): a token would cross the network unencrypted; use https://", e.URL, e.From)
}

// dirEndpoint reads what it needs of a daemon's directory. The rest of node.toml may be wrong: a command should still
// reach the daemon that runs with an older one.
func dirEndpoint(dir, from string) (*endpoint, error) {
	path := filepath.Join(dir, configName)
	src, err := readLimited(path, maxQueryBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, noNodeIn(dir, from)
	}
	if err != nil {
		return nil, err
	}
	var p spec.Problems
	root := spec.ParseTOML(path, src, os.LookupEnv, &p)
	if root == nil {
		return nil, p.Err()
	}
	api, cert := tomlText(root, "listen", "api"), tomlText(root, "api", "tls_cert")
	if running := runningAPI(dir, tomlText(root, "node", "data_dir")); running != "" {
		api = running
	}
	e, err := apiEndpoint(dir, api, cert)
	if err != nil {
		return nil, err
	}
	return withToken(e, dir, from)
}

// noNodeIn says that a directory is not a node's, and what would be: those of a testnet lie in its own.
func noNodeIn(dir, from string) error {
	inside, err := filepath.Glob(filepath.Join(dir, "*", configName))
	if err == nil && len(inside) > 0 {
		return wrong("%s %s: there is no %s in it, but in directories below it; choose one, such as %s", from, dir, configName, filepath.Dir(inside[0]))
	}
	if _, err := os.Stat(dir); err != nil {
		return wrong("%s %s: there is no such directory; name that of a node, or make one with fednode init --org NAME --dir %s", from, dir, shellPath(dir))
	}
	return wrong("%s %s: there is no %s in it; name the directory of a node, or make one with fednode init --org NAME --dir %s", from, dir, configName, shellPath(dir))
}

// runningAPI returns the address that a running daemon has written down, in the form of listen.api: the only way to know
// it where the file asks for any free port. "" if none runs, or if it has a socket, which is where the file says.
func runningAPI(dir, dataDir string) string {
	if dataDir == "" {
		dataDir = "data"
	}
	if !filepath.IsAbs(dataDir) {
		dataDir = filepath.Join(dir, dataDir)
	}
	b, err := readLimited(filepath.Join(dataDir, "run", "addresses.json"), maxQueryBytes)
	if err != nil {
		return ""
	}
	var at struct {
		API string `json:"api"`
	}
	if json.Unmarshal(b, &at) != nil {
		return ""
	}
	_, address, _ := strings.Cut(at.API, "://")
	return address
}

// withToken finds the token of a daemon in dir.
func withToken(e *endpoint, dir, from string) (*endpoint, error) {
	var err error
	e.From = from
	if file := os.Getenv("FEDNODE_TOKEN_FILE"); file != "" {
		e.Token, err = trust.LoadTokenFile(file)
	} else if e.Token, err = trustDir(dir).LoadToken(); errors.Is(err, trust.ErrMissing) {
		err = nil // the daemon says so if it wants one
	}
	return e, err
}

// tomlText returns a text of a section, "" if it is not there.
func tomlText(root *spec.Table, section, key string) string {
	s := root.Lookup(section)
	if s == nil || s.Value.Kind != spec.TableKind {
		return ""
	}
	e := s.Value.Table.Lookup(key)
	if e == nil || e.Value.Kind != spec.String {
		return ""
	}
	return e.Value.Str
}

// apiEndpoint turns listen.api and tls_cert of a file in dir into where to connect from this machine.
func apiEndpoint(dir, api, cert string) (*endpoint, error) {
	if path, ok := strings.CutPrefix(api, "unix:"); ok {
		return parseEndpoint("unix:" + within(dir, path))
	}
	if api == "" {
		return parseEndpoint(defaultEndpoint)
	}
	host, port, err := net.SplitHostPort(api)
	if err != nil {
		return nil, wrong("%s: listen.api = %q is no address", filepath.Join(dir, configName), api)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	if cert == "" {
		return parseEndpoint("http://" + net.JoinHostPort(host, port))
	}
	e, err := parseEndpoint("https://" + net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	e.TLS, err = pinCertificate(within(dir, cert))
	return e, err
}

// pinCertificate trusts exactly the daemon's certificate file, under the name in it.
func pinCertificate(path string) (*tls.Config, error) {
	text, err := readLimited(path, maxQueryBytes)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, wrong("%s: no certificate in it; expected PEM", path)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
