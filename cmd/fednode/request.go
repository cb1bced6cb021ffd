package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// text sends a body that is not JSON, or a request with an Accept header, and returns an answer of success.
func (c *client) text(ctx context.Context, method, path, contentType, accept string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.at.URL.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if c.at.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.at.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.explain(err)
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, c.refusal(resp)
	}
	return resp, nil
}

// lines calls each for every line of an endless answer of JSON lines. The line is valid only during the call.
func (c *client) lines(ctx context.Context, path string, each func(line []byte) error) error {
	resp, err := c.text(ctx, http.MethodGet, path, "", "application/x-ndjson", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	scan := bufio.NewScanner(resp.Body)
	scan.Buffer(make([]byte, 0, 64<<10), maxLineBytes)
	for scan.Scan() {
		if line := bytes.TrimSpace(scan.Bytes()); len(line) > 0 {
			if err := each(line); err != nil {
				return err
			}
		}
	}
	return c.explain(scan.Err())
}

// readAnswer reads a whole answer of bounded length.
func readAnswer(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, maxAnswerBytes)) }
