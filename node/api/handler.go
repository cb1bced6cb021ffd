package api

import (
	"net/http"
	"runtime/debug"

	"go.uber.org/zap"
)

// handler returns what answers every request: guards around the table of routes.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes() {
		mux.Handle(r.method+" "+r.pattern, &endpoint{s: s, route: r})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &writer{ResponseWriter: w}
		defer s.recovered(out, r)
		s.guard.harden(out.Header())
		if err := s.route(mux, out, r); err != nil {
			s.failed(out, r, err)
		}
	})
}

// route finds who answers a request, and has it answered.
func (s *Server) route(mux *http.ServeMux, w *writer, r *http.Request) error {
	if err := s.guard.host(r); err != nil {
		return err
	}
	h, _ := mux.Handler(r)
	e, ok := h.(*endpoint)
	if !ok {
		if err := s.guard.caller(r, withToken); err != nil {
			return err // a stranger does not learn what there is
		}
		return noRoute(h, w, r)
	}
	if err := s.guard.caller(r, e.route.access); err != nil {
		return err
	}
	if v := visitorOf(r); v != nil && e.route.access == withToken {
		defer v.serve()()
	}
	s.extend(w)
	mux.ServeHTTP(w, r) // which sets the values of the path
	return nil
}

// endpoint is a route of a server.
type endpoint struct {
	s     *Server
	route route
}

// ServeHTTP answers, and answers with the error if there is one.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := e.route.serve(e.s, w, r); err != nil {
		e.s.failed(w.(*writer), r, err)
	}
}

// noRoute turns what the mux says of a path or method that is not served into an error of ours.
func noRoute(h http.Handler, w http.ResponseWriter, r *http.Request) error {
	said := &refusal{header: make(http.Header)}
	h.ServeHTTP(said, r)
	switch allow := said.header.Get("Allow"); {
	case allow != "":
		w.Header().Set("Allow", allow)
		return &httpError{status: http.StatusMethodNotAllowed, Code: "method", Message: quote(r.Method) + " is not served here", Hint: "served are " + allow}
	case said.header.Get("Location") != "": // the path in its clean form
		return &httpError{status: http.StatusNotFound, Code: "not_found", Message: quote(r.URL.Path) + " is not in its plain form", Hint: "ask for " + said.header.Get("Location")}
	}
	return &httpError{status: http.StatusNotFound, Code: "not_found", Message: quote(r.URL.Path) + " is not served", Hint: "see " + prefix + "/openapi.json for what is"}
}

// refusal takes the headers of an answer, and nothing else of it.
type refusal struct{ header http.Header }

func (r *refusal) Header() http.Header         { return r.header }
func (r *refusal) Write(b []byte) (int, error) { return len(b), nil }
func (r *refusal) WriteHeader(int)             {}

// writer remembers whether an answer has begun: an error cannot be told any more then.
type writer struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader begins the answer.
func (w *writer) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the answer if that has not been done.
func (w *writer) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// failed answers with an error, or, when the answer has begun, cuts it off so that nobody takes it for whole.
func (s *Server) failed(w *writer, r *http.Request, err error) {
	if !w.begun {
		s.extend(w)
		s.answerError(w, r, err)
		return
	}
	s.log.Debug("answer cut off", zap.String("path", r.URL.Path), zap.Error(err))
	panic(http.ErrAbortHandler)
}

// recovered keeps a bug in one handler from being more than one failed request.
func (s *Server) recovered(w *writer, r *http.Request) {
	p := recover()
	switch {
	case p == nil:
		return
	case p == http.ErrAbortHandler:
		panic(p) // net/http ends the connection without a word
	}
	s.log.Error("handler panicked", zap.String("method", r.Method), zap.String("path", r.URL.Path), zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	s.answerError(w, r, &httpError{status: http.StatusInternalServerError, Code: "internal", Message: "the request failed through a fault of the node", Hint: "the node's log has the details"})
}
