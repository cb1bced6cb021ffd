package api

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Health is the answer of the health checks.
type Health struct {
	Status string `json:"status"` // ok, ready or starting
}

func (s *Server) getAlive(w http.ResponseWriter, _ *http.Request) error {
	s.answer(w, http.StatusOK, Health{Status: "ok"})
	return nil
}

func (s *Server) getReady(w http.ResponseWriter, _ *http.Request) error {
	if s.backend.Ready() {
		s.answer(w, http.StatusOK, Health{Status: "ready"})
		return nil
	}
	s.answer(w, http.StatusServiceUnavailable, Health{Status: "starting"})
	return nil
}

func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request) error {
	s.metrics.ServeHTTP(w, r)
	return nil
}

func (s *Server) getDocument(w http.ResponseWriter, _ *http.Request) error {
	s.send(w, http.StatusOK, "application/json", document)
	return nil
}

func (s *Server) getStatus(w http.ResponseWriter, _ *http.Request) error {
	s.answer(w, http.StatusOK, s.backend.Status())
	return nil
}

func (s *Server) getConfig(w http.ResponseWriter, _ *http.Request) error {
	s.answer(w, http.StatusOK, orNone(s.backend.Config()))
	return nil
}

func (s *Server) listPeers(w http.ResponseWriter, _ *http.Request) error {
	s.answer(w, http.StatusOK, orNone(s.backend.Peers()))
	return nil
}

// NewPeer is the body of a request to add a peer.
type NewPeer struct {
	// Address is a multiaddress that ends in /p2p/PEER.
	Address string `json:"address"`
}

// maxPeerBody bounds the body of a request to add a peer.
const maxPeerBody = 4 << 10

func (s *Server) addPeer(w http.ResponseWriter, r *http.Request) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPeerBody))
	d.DisallowUnknownFields()
	var p NewPeer
	if err := d.Decode(&p); err != nil {
		if e := httpErrorOf(err); e.Code == "too_large" {
			return e
		}
		return invalid("the body is not as expected: "+err.Error(), `send {"address":"/ip4/…/tcp/…/p2p/…"}`)
	}
	if strings.TrimSpace(p.Address) == "" {
		return invalid("the address is empty", `send {"address":"/ip4/…/tcp/…/p2p/…"}`)
	}
	if err := s.backend.AddPeer(r.Context(), p.Address); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// orNone makes a list without entries an empty one, which JSON does not show as null.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
