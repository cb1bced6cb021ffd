package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Server serves the API.
type Server struct {
	// Fixed after New.
	cfg     Config
	backend Backend
	log     *zap.Logger
	http    *http.Server
	ln      net.Listener
	guard   guard
	metrics http.Handler
	tails   chan struct{} // holds one for each open tail
	pushes  chan struct{} // holds one for each body that is read
	closing chan struct{} // closed when the server stops; tails end by it

	once      sync.Once // of Close
	closeTail sync.Once // of closing
}

// Timeouts and bounds of every connection.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	// farewell is how long requests may take to finish when the server stops.
	farewell = 5 * time.Second
)

// New opens the listener, so that Addr is known and a port in use is found out at once. It serves nothing before Run;
// a server that never runs is freed by Close.
func New(cfg Config, backend Backend, log *zap.Logger) (*Server, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, backend: backend, log: log, guard: newGuard(&cfg),
		tails: make(chan struct{}, cfg.MaxTails), pushes: make(chan struct{}, cfg.MaxPushes), closing: make(chan struct{}),
	}
	ln, err := listen(&cfg)
	if err != nil {
		return nil, err
	}
	s.ln = &crowd{Listener: ln, most: cfg.MaxConnections}
	s.metrics = newMetrics(backend)
	s.http = &http.Server{
		Handler: s.handler(), TLSConfig: cfg.TLS, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ConnContext: withVisitor,
		ErrorLog:    zap.NewStdLog(log.WithOptions(zap.IncreaseLevel(zap.WarnLevel))),
	}
	return s, nil
}

// listen opens the address. A socket that a dead process left behind is replaced.
func listen(cfg *Config) (net.Listener, error) {
	path, unix := cfg.unixPath()
	if !unix {
		ln, err := net.Listen("tcp", cfg.Listen)
		if err != nil {
			return nil, fmt.Errorf("api: %w; choose another address with [listen] api, or stop what uses it", err)
		}
		return ln, nil
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("api: another process serves %s", path)
	}
	if st, err := os.Lstat(path); err == nil && st.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("api: socket left behind: %w", err)
		}
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("api: %w", err), ln.Close())
	}
	return ln, nil
}

// Addr is where the server listens, as a URL that a client can use; unix:PATH for a socket.
func (s *Server) Addr() string {
	if path, ok := s.cfg.unixPath(); ok {
		return unixPrefix + path
	}
	scheme := "http://"
	if s.cfg.TLS != nil {
		scheme = "https://"
	}
	return scheme + s.ln.Addr().String()
}

// Run serves until ctx ends. Tails are then ended, other requests get a moment to finish; it returns when all have.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	requests, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	s.http.BaseContext = func(net.Listener) context.Context { return requests }
	done := make(chan error, 1)
	go func() { done <- s.serve() }()
	s.log.Info("api listens", zap.String("address", s.Addr()))
	select {
	case err := <-done:
		return fmt.Errorf("api: %w", err)
	case <-ctx.Done():
	}
	s.endTails()
	err := s.shutdown(farewell)
	if err != nil {
		cutOff() // whoever has not finished is told to
		if err = s.shutdown(farewell); err != nil {
			err = s.http.Close()
		}
	}
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (s *Server) serve() error {
	if s.cfg.TLS != nil {
		return s.http.ServeTLS(s.ln, "", "")
	}
	return s.http.Serve(s.ln)
}

// shutdown takes no more requests and waits for those that are being answered.
func (s *Server) shutdown(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.http.Shutdown(ctx)
}

func (s *Server) endTails() { s.closeTail.Do(func() { close(s.closing) }) }

// Close frees a server that never ran. It may be called twice, and after Run.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		s.endTails()
		err = errors.Join(s.http.Close(), s.ln.Close())
		if errors.Is(err, net.ErrClosed) {
			err = nil
		}
	})
	return err
}
