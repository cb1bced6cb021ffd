package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"fednode/node"
	"fednode/node/api"
	"fednode/node/bind"
	"fednode/node/config"
	"fednode/node/connect"
	"fednode/node/connect/connectors"
	"fednode/node/export"
	"fednode/node/p2p"
)

func runCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon",
		Long: `Run the daemon: its streams, its part of deployed queries, and the HTTP API, until SIGINT or SIGTERM. Keys, certificate
and partners are read from the directory of the configuration file.`,
		Example: `  fednode run --config fednode-north/node.toml
  fednode run --config fednode-north/node.toml --check`,
		Args: exactArgs(0),
	}
	file := c.Flags().String("config", configName, "the node's file")
	check := c.Flags().Bool("check", false, "open everything that a start would, report every problem, and start nothing")
	c.RunE = func(c *cobra.Command, _ []string) error {
		d, err := newDaemon(*file, connectors.Kinds())
		if err != nil {
			return err
		}
		if *check {
			fmt.Fprintf(c.OutOrStdout(), "%s: the node can start\n", *file)
			return d.close()
		}
		return d.run(c.Context())
	}
	return c
}

// daemon is a node with its API.
type daemon struct {
	cfg  *config.Config
	log  *zap.Logger
	node *node.Node
	api  *api.Server
}

// newDaemon opens everything that a running node needs. Its streams and queries have connectors of these kinds.
func newDaemon(file string, kinds []connect.Kind) (*daemon, error) {
	cfg, settings, err := readRunnable(file, kinds)
	if err != nil {
		return nil, err
	}
	log, err := newLogger(cfg.Log)
	if err != nil {
		return nil, err
	}
	if cfg.Limits.Memory > 0 {
		debug.SetMemoryLimit(cfg.Limits.Memory)
	}
	p2p.RouteLibraryLogs(log)
	dir := trustDir(cfg.Dir)
	token, err := dir.LoadToken()
	if err != nil {
		return nil, err
	}
	options := node.Options{Config: cfg, Trust: dir, Log: log, Version: readVersion(debug.ReadBuildInfo()).Version, Connectors: kinds}
	hauntOptions(&options)
	n, err := node.New(options)
	if err != nil {
		return nil, err
	}
	d := &daemon{cfg: cfg, log: log, node: n}
	apiCfg := api.Config{Token: token, Org: cfg.Node.Org, Listen: lastAPI(cfg), MaxConnections: apiPlaces()}
	if cfg.Listen.TLSCert != "" {
		cert, err := tls.LoadX509KeyPair(cfg.Listen.TLSCert, cfg.Listen.TLSKey)
		if err != nil {
			return nil, errors.Join(wrong("api: %w", err), n.Close())
		}
		apiCfg.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	d.api, err = api.New(apiCfg, n.Backend(settings, d.apiAddrs), log)
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return d, nil
}

// apiPlaces is how many connections the API may have open: a quarter of the descriptors, and no more than its default, so
// that whoever connects leaves enough for logs and peers.
func apiPlaces() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0 // the default
	}
	return int(min(max(l.Cur/4, 1), api.DefaultMaxConnections))
}

// readRunnable reads a node's file with the secrets of its exports.
func readRunnable(file string, kinds []connect.Kind) (*config.Config, []config.Setting, error) {
	src, err := readLimited(file, maxQueryBytes)
	if err != nil {
		return nil, nil, err
	}
	keys := exportKeys{dir: filepath.Join(filepath.Dir(file), "keys")}
	cfg, problems := config.Read(file, src, config.Options{Env: os.LookupEnv, Connectors: bind.New(kinds), Keys: keys.load})
	for _, w := range problems.Warnings {
		fmt.Fprintf(os.Stderr, "warning: %s\n", w.Error())
	}
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	return cfg, cfg.Effective(src, os.LookupEnv), nil
}

func newLogger(l config.Log) (*zap.Logger, error) {
	z := zap.NewProductionConfig()
	z.Encoding, z.EncoderConfig.EncodeTime, z.DisableStacktrace = "json", zapcore.ISO8601TimeEncoder, true
	z.Sampling = nil
	if !l.JSON {
		z.Encoding, z.EncoderConfig = "console", zap.NewDevelopmentEncoderConfig()
	}
	z.DisableCaller = true
	level, err := zapcore.ParseLevel(l.Level)
	if err != nil {
		return nil, wrong("log.level: %w", err)
	}
	z.Level = zap.NewAtomicLevelAt(level)
	return z.Build()
}

// apiAddrs says where the API can be reached.
func (d *daemon) apiAddrs() []string {
	if d.api == nil {
		return []string{}
	}
	return []string{d.api.Addr()}
}

func (d *daemon) close() error { return errors.Join(d.api.Close(), d.node.Close()) }

// run runs the node and its API until ctx ends.
func (d *daemon) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.node.Run(ctx) })
	g.Go(func() error { return d.api.Run(ctx) })
	g.Go(func() error { return d.announce(ctx) })
	err := g.Wait()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	if gone := os.Remove(d.runFile("addresses.json")); !errors.Is(gone, os.ErrNotExist) { // it may not have come so far
		err = errors.Join(err, gone)
	}
	return err
}

// announce writes where the node can be reached, once it can: whoever started it waits for this file.
func (d *daemon) announce(ctx context.Context) error {
	p2p, err := d.node.Addresses(ctx)
	if err != nil {
		return nil // it stops
	}
	text, err := json.MarshalIndent(struct {
		PID int      `json:"pid"`
		API string   `json:"api"`
		P2P []string `json:"p2p"`
	}{os.Getpid(), d.api.Addr(), p2p}, "", "  ")
	if err != nil {
		return err
	}
	if _, port, err := net.SplitHostPort(strings.TrimPrefix(strings.TrimPrefix(d.api.Addr(), "http://"), "https://")); err == nil {
		if err := node.WriteAtomically(d.runFile("api-port"), port+"\n"); err != nil {
			return err
		}
	}
	d.log.Info("node reachable", zap.String("api", d.api.Addr()), zap.Strings("p2p", p2p))
	return node.WriteAtomically(d.runFile("addresses.json"), string(text)+"\n")
}

func (d *daemon) runFile(name string) string {
	return filepath.Join(d.cfg.Node.DataDir, "run", name)
}

// lastAPI returns the API's address; a port 0 takes that of the last run if it is free, so that clients find it again.
func lastAPI(cfg *config.Config) string {
	host, port, err := net.SplitHostPort(cfg.Listen.API)
	if err != nil || port != "0" {
		return cfg.Listen.API
	}
	b, err := os.ReadFile(filepath.Join(cfg.Node.DataDir, "run", "api-port"))
	last, numErr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || numErr != nil {
		return cfg.Listen.API
	}
	address := net.JoinHostPort(host, strconv.Itoa(last))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return cfg.Listen.API
	}
	if err := l.Close(); err != nil {
		return cfg.Listen.API
	}
	return address
}

// exportKeys are the secrets of hashes and pseudonyms, one file each: own.key, made when first needed, and ID.key for
// contract:ID, which its parties share.
type exportKeys struct{ dir string }

func (k exportKeys) load(name string) (*export.Key, error) {
	key, err := keyName(name)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(k.dir, strings.TrimPrefix(name, "contract:")+".key")
	if filepath.Dir(path) != filepath.Clean(k.dir) {
		return nil, fmt.Errorf("`%s` is no name of a key", name)
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && name == config.OwnKey {
		b, err = k.make(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s; put the key that the parties share there: 64 hexadecimal digits, mode 0600", path)
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %#o); chmod 600 it", path, info.Mode().Perm())
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(b)))
	if err != nil || len(secret) != len(key.Secret) {
		return nil, fmt.Errorf("%s does not hold 64 hexadecimal digits", path)
	}
	copy(key.Secret[:], secret)
	return key, nil
}

func (k exportKeys) make(path string) ([]byte, error) {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, err
	}
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, err
	}
	text := []byte(hex.EncodeToString(secret[:]) + "\n")
	return text, os.WriteFile(path, text, 0o600)
}
