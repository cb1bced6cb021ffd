package api

import (
	"net/http"
	"strings"
)

func (s *Server) listStreams(w http.ResponseWriter, _ *http.Request) error {
	s.answer(w, http.StatusOK, orNone(s.backend.Streams()))
	return nil
}

func (s *Server) listExports(w http.ResponseWriter, _ *http.Request) error {
	s.answer(w, http.StatusOK, orNone(s.backend.Exports()))
	return nil
}

func (s *Server) listOffers(w http.ResponseWriter, r *http.Request) error {
	s.answer(w, http.StatusOK, orNone(s.backend.Catalog(r.URL.Query().Get("org"))))
	return nil
}

// longestStream bounds a stream's name: an organisation, a query, a fragment and an edge.
const longestStream = 4 * 64

// streamName completes and checks the name of a stream.
func (s *Server) streamName(name string) (string, error) {
	if !strings.Contains(name, "/") {
		name = s.cfg.Org + "/" + name
	}
	if len(name) > longestStream {
		return "", invalid("the stream's name is too long", "")
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" {
			return "", invalid(quote(name)+" is no name of a stream", "expected org/stream or org/query/output")
		}
	}
	return name, nil
}
