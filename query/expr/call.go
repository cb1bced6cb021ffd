package expr

import "strings"

// Call is the text of an aggregate such as quantile(rtt, 0.95), taken apart but not typed. Name is in lower case.
type Call struct {
	Name   string
	Offset int
	Args   []Arg
}

// Arg is the raw text of one argument and the byte of the whole text where it begins.
type Arg struct {
	Src    string
	Offset int
}

// ParseCall takes the text of one call apart. The arguments are well-formed expressions; what they mean is for the
// caller, who compiles them. count(*) is read as count().
func ParseCall(src string) (*Call, *Error) {
	toks, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, toks: toks}
	name := p.next()
	if name.kind != tokName || isReserved(name.text) || !p.accept("(") {
		return nil, &Error{Offset: name.pos, Msg: "expected a call, got " + name.describe(), Hint: "write one such as count() or sum(bytes)"}
	}
	c := &Call{Name: strings.ToLower(name.text), Offset: name.pos}
	if p.peek().is("*") && p.peekAt(1).is(")") && c.Name == "count" {
		p.next()
	}
	if !p.accept(")") {
		c.Args = p.rawArgs()
	}
	if p.err == nil && p.peek().kind != tokEnd {
		p.fail(p.peek().pos, "compute with the result in a map operator", "expected the end of the call, got %s", p.peek().describe())
	}
	if p.err != nil {
		return nil, p.err
	}
	return c, nil
}

func (p *parser) rawArgs() []Arg {
	var out []Arg
	for p.err == nil {
		first := p.peek()
		p.expr(0)
		last := p.toks[max(0, p.at-1)]
		if p.err != nil {
			return nil
		}
		out = append(out, Arg{Src: p.src[first.pos:last.end], Offset: first.pos})
		if p.accept(")") {
			return out
		}
		p.expect(",", "or `)`")
	}
	return out
}
