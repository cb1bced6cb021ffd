package api

import (
	"io"
	"net/http"
	"time"
)

// extend gives a client the usual time for the next part, in both directions. Connections that have no deadlines have
// none to extend.
func (s *Server) extend(w http.ResponseWriter) { s.extendBy(w, s.cfg.Patience) }

func (s *Server) extendBy(w http.ResponseWriter, d time.Duration) {
	c, until := http.NewResponseController(w), time.Now().Add(d)
	_ = c.SetReadDeadline(until)
	_ = c.SetWriteDeadline(until)
}

// patient reads a body, and gives its sender the usual time for every part of it: a large body may take long, a sender
// who sends nothing may not.
type patient struct {
	s    *Server
	w    http.ResponseWriter
	body io.Reader
}

// Read reads the next part.
func (p patient) Read(b []byte) (int, error) {
	p.s.extend(p.w)
	return p.body.Read(b)
}
