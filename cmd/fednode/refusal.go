package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"fednode/node/api"
	"fednode/query/spec"
)

// apiError is a refusal of the daemon, as its error bodies say it.
type apiError struct {
	Status int
	api.ErrorInfo
}

// Error prints every problem of a file on its own line, and any other refusal with what to do about it.
func (e *apiError) Error() string {
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, spec.Problem{Pos: spec.Pos{File: p.File, Line: p.Line, Column: p.Column}, Path: p.Path, Msg: p.Message, Hint: p.Hint}.Error())
	}
	if len(lines) > 0 {
		return printable(strings.Join(lines, "\n"))
	}
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// refusal reads {"error":{"code","message","hint"}}, or makes the best of another body.
func (c *client) refusal(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes)) // what there is of it says more than why there is no more
	var body api.ErrorBody
	if err := json.Unmarshal(text, &body); err != nil || body.Error.Message == "" {
		body.Error = api.ErrorInfo{Message: fmt.Sprintf("%s answered %s", c.at.name(), resp.Status), Hint: clean(firstLine(text))}
	}
	e := &apiError{Status: resp.StatusCode, ErrorInfo: body.Error}
	e.Message, e.Hint = printable(e.Message), printable(e.Hint)
	if e.Status == http.StatusUnauthorized { // the daemon speaks of headers, which nobody types here
		e.Hint = "give the token's file in FEDNODE_TOKEN_FILE, or the daemon's directory with --dir"
	}
	return &codeError{code: statusExit(e.Status), err: e}
}

// statusExit says whose fault a status is: the caller's, a permission's, time's or the daemon's.
func statusExit(status int) int {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return exitRefused
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return exitGaveUp
	case http.StatusTooManyRequests:
		return exitFailed
	}
	if status/100 == 4 {
		return exitWrong
	}
	return exitFailed
}

// printable cleans a message of several lines.
func printable(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if len(line) > 200 {
		line = line[:200]
	}
	return string(line)
}
