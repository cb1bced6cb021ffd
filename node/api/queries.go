package api

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// maxFile bounds a query file.
	maxFile = 1 << 20
	// maxFileName bounds the name of one, which messages repeat.
	maxFileName = 256
)

func (s *Server) listQueries(w http.ResponseWriter, _ *http.Request) error {
	s.answer(w, http.StatusOK, orNone(s.backend.Queries()))
	return nil
}

func (s *Server) getQuery(w http.ResponseWriter, r *http.Request) error {
	q, err := s.backend.Query(r.PathValue("name"))
	if err != nil {
		return err
	}
	s.answer(w, http.StatusOK, q)
	return nil
}

// deployWithin is how long every host of a query may take together to agree.
const deployWithin = time.Minute

func (s *Server) deployQuery(w http.ResponseWriter, r *http.Request) error {
	replace, err := boolParam(r, "replace")
	if err != nil {
		return err
	}
	file := r.URL.Query().Get("file")
	if file == "" {
		file = "query.toml"
	}
	if len(file) > maxFileName {
		return invalid(fmt.Sprintf("the file's name has %d bytes", len(file)), fmt.Sprintf("at most %d", maxFileName))
	}
	s.extendBy(w, deployWithin)
	src, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFile))
	if err != nil {
		return bodyError(err)
	}
	if len(src) == 0 {
		return invalid("the body is empty", "send the query file")
	}
	d, err := s.backend.Deploy(r.Context(), file, src, replace)
	if err != nil {
		return err
	}
	d.Warnings, d.Assignments = orNone(d.Warnings), orNone(d.Assignments)
	status := http.StatusOK
	if d.Changed {
		status = http.StatusCreated
		w.Header().Set("Location", prefix+"/queries/"+url.PathEscape(d.Query))
	}
	s.answer(w, status, d)
	return nil
}

func (s *Server) stopQuery(w http.ResponseWriter, r *http.Request) error {
	if err := s.backend.StopQuery(r.Context(), r.PathValue("name")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) acceptReplica(w http.ResponseWriter, r *http.Request) error {
	producer := r.URL.Query().Get("producer")
	if producer == "" {
		return invalid("producer is missing", "name the replica, org/node, as the query's status does")
	}
	if err := s.backend.AcceptReplica(r.Context(), r.PathValue("name"), producer); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// boolParam reads a parameter that is true or false.
func boolParam(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, invalid(fmt.Sprintf("%s is %s", name, quote(text)), "expected true or false")
	}
	return on, nil
}

// bodyError is what to say of a body that could not be read: too large, or cut off by the one who sent it.
func bodyError(err error) error {
	if e := httpErrorOf(err); e.Code != "internal" {
		return e
	}
	return invalid("the body did not arrive: "+err.Error(), "send it again")
}
