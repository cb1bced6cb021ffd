package trust

import (
	"fmt"
	"time"
)

// NodeRequest asks for a certificate; the node key signs it, which proves that the asker holds it.
type NodeRequest struct {
	Org  string    `cbor:"1,keyasint"`
	Node string    `cbor:"2,keyasint"`
	Key  PublicKey `cbor:"3,keyasint"`
}

// RequestNode makes the file that the holder of the nodes key signs.
func RequestNode(key *SecretKey, node string, now time.Time) ([]byte, error) {
	if key.Role != RoleNode {
		return nil, roleError(key.String(), key.Role, RoleNode)
	}
	if err := CheckName("node name", node); err != nil {
		return nil, err
	}
	payload, err := encode(NodeRequest{Org: key.Org, Node: node, Key: key.Public()})
	if err != nil {
		return nil, err
	}
	s, err := sign(key, ContextRequest, payload, now)
	if err != nil {
		return nil, err
	}
	data, err := s.Marshal()
	if err != nil {
		return nil, err
	}
	comment := fmt.Sprintf("fednode: node %s asks %s for a certificate; sign it with fednode node sign", node, key.Org)
	return formatBlocks([]string{comment}, block{pemRequest, data}), nil
}

// ParseRequest reads a request and checks that its key signed it. place names the file in errors.
func ParseRequest(place string, text []byte) (NodeRequest, error) {
	var req NodeRequest
	blocks, err := parseBlocks(place, text, pemRequest)
	if err != nil {
		return req, err
	}
	s, err := ParseSigned(blocks[0].data, 0)
	if err == nil {
		err = s.checkSignature(ContextRequest)
	}
	if err != nil {
		return req, fmt.Errorf("%s: %w", place, err)
	}
	if err := decode(s.Payload, &req); err != nil {
		return req, &Error{Kind: ErrMalformed, Place: place, Cause: err}
	}
	if s.Key != req.Key {
		return req, &Error{Kind: ErrIdentity, Place: place, Got: "signed by " + s.Key.ID(), Expected: "by the key it names, " + req.Key.ID()}
	}
	if err := CheckName(place+": node", req.Node); err != nil {
		return req, err
	}
	return req, CheckName(place+": organisation", req.Org)
}

// SignRequest certifies a request of the same organisation.
func SignRequest(nodes *SigningKey, req NodeRequest, now time.Time) (*Signed, error) {
	if req.Org != nodes.Secret.Org {
		return nil, &Error{Kind: ErrIdentity, Place: "request of node " + req.Node, Got: "organisation " + req.Org,
			Expected: nodes.Secret.Org}
	}
	return CertifyNode(nodes, req.Node, req.Key, now)
}
