package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"fednode/node/connect/format"
	"fednode/node/connect/push"
	"fednode/node/export"
	"fednode/node/flow"
	"fednode/query/spec"
)

// httpError is an error with everything that its answer needs.
type httpError struct {
	status     int
	Code       string
	Message    string
	Hint       string
	Problems   []Problem
	retryAfter time.Duration // 0 says nothing
}

// Error returns the message.
func (e *httpError) Error() string { return e.Message }

// invalid is a request that is wrong.
func invalid(message, hint string) *httpError {
	return &httpError{status: http.StatusBadRequest, Code: "invalid", Message: message, Hint: hint}
}

// busy is a request that may succeed in a moment.
func busy(message string) *httpError {
	return &httpError{status: http.StatusTooManyRequests, Code: "busy", Message: message, Hint: "try again after the time in Retry-After", retryAfter: time.Second}
}

// retryUnavailable is when to ask again what is not there at the moment.
const retryUnavailable = 5 * time.Second

// httpErrorOf finds the answer to an error.
func httpErrorOf(err error) *httpError {
	var known *httpError
	if errors.As(err, &known) {
		return known
	}
	out := &httpError{Message: err.Error()}
	out.status, out.Code = classOf(err)
	var file *spec.Error
	if errors.As(err, &file) {
		out.Message, out.Problems = problemCount(file), ProblemsOf(file.Problems)
	}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		out.Hint = hinted.Hint()
	}
	switch out.status {
	case http.StatusTooManyRequests:
		out.retryAfter = time.Second
	case http.StatusServiceUnavailable:
		out.retryAfter = retryUnavailable
	}
	return out
}

// classOf sorts an error by what the caller can do about it.
func classOf(err error) (status int, code string) {
	var body *http.MaxBytesError
	switch {
	case errors.Is(err, ErrNotFound):
		return http.StatusNotFound, "not_found"
	case errors.Is(err, ErrExists):
		return http.StatusConflict, "exists"
	case errors.Is(err, ErrRefused), errors.As(err, new(*flow.RefusedError)), errors.As(err, new(*export.DeniedError)):
		return http.StatusForbidden, "refused"
	case errors.Is(err, push.ErrTooLarge), errors.As(err, &body):
		return http.StatusRequestEntityTooLarge, "too_large"
	case errors.Is(err, push.ErrContentType):
		return http.StatusUnsupportedMediaType, "unsupported_type"
	case errors.Is(err, ErrInvalid), errors.As(err, new(*spec.Error)), errors.As(err, new(*format.InputError)):
		return http.StatusBadRequest, "invalid"
	case errors.Is(err, push.ErrBusy):
		return http.StatusTooManyRequests, "busy"
	case errors.Is(err, ErrUnavailable), errors.Is(err, push.ErrClosed), errors.Is(err, flow.ErrClosed):
		return http.StatusServiceUnavailable, "unavailable"
	}
	return http.StatusInternalServerError, "internal"
}

func problemCount(e *spec.Error) string {
	n := len(e.Problems) + e.Dropped
	if n == 1 {
		return "the file has an error"
	}
	return "the file has " + strconv.Itoa(n) + " errors"
}

// answerError answers with an error; what is our fault is logged.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) {
	e := httpErrorOf(err)
	if e.status >= http.StatusInternalServerError && e.Code == "internal" {
		s.log.Error("request failed", zap.String("method", r.Method), zap.String("path", r.URL.Path), zap.Error(err))
	}
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.retryAfter.Seconds())))
	}
	if e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="fednode"`)
	}
	problems := e.Problems
	if problems == nil {
		problems = []Problem{}
	}
	s.answer(w, e.status, ErrorBody{Error: ErrorInfo{Code: e.Code, Message: e.Message, Hint: e.Hint, Problems: problems}})
}

// answer answers with JSON.
func (s *Server) answer(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil { // a type of ours that cannot be shown
		s.log.Error("answer not encoded", zap.Error(err))
		status, b = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be encoded","hint":"","problems":[]}}`)
	}
	s.send(w, status, "application/json", append(b, '\n'))
}

func (s *Server) send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.log.Debug("client gone before its answer", zap.Error(err))
	}
}

// quote cuts what a caller sent to a length that fits a message.
func quote(s string) string {
	const longest = 100
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	return strconv.Quote(s)
}
