package expr

import (
	"strings"

	"fednode/query/tuple"
)

// prefix reads an operand with what stands before it.
func (p *parser) prefix() *syntax {
	t := p.next()
	switch t.kind {
	case tokString:
		n := p.node(formString, t.pos)
		n.text = t.text
		return n
	case tokNumber:
		n := p.node(formNumber, t.pos)
		n.text = t.text
		return n
	case tokQuoted:
		return p.dotted(t)
	case tokName:
		return p.word(t)
	case tokOp:
		switch t.text {
		case "(":
			n := p.expr(0)
			p.expect(")", "to close the parenthesis")
			return n
		case "-":
			return p.minus(t)
		case "+":
			return p.expr(bindUnary - 1)
		case "*":
			p.fail(t.pos, "count() counts rows", "`*` is not a value")
			return p.node(formNull, t.pos)
		}
	}
	if t.kind != tokEnd {
		p.at--
	}
	p.unexpected("a value")
	return p.node(formNull, t.pos)
}

// minus reads a negated operand. A minus before a number belongs to it, so that the least int64 can be written.
func (p *parser) minus(t token) *syntax {
	if n := p.peek(); n.kind == tokNumber && n.pos == t.end && !p.peekAt(1).is("::") {
		p.next()
		s := p.node(formNumber, t.pos)
		s.text = "-" + n.text
		return s
	}
	n := p.node(formUnary, t.pos, p.expr(bindUnary-1))
	n.name = "-"
	return p.closed(n, t)
}

// word reads what a bare word begins.
func (p *parser) word(t token) *syntax {
	switch strings.ToLower(t.text) {
	case "null":
		n := p.node(formNull, t.pos)
		n.text = "null"
		return n
	case "true", "false":
		n := p.node(formBool, t.pos)
		n.text = strings.ToLower(t.text)
		return n
	case "not":
		n := p.node(formUnary, t.pos, p.expr(bindNot-1))
		n.name = "not"
		return p.closed(n, t)
	case "case":
		return p.caseOf(t)
	case "cast":
		return p.cast(t)
	}
	if strings.EqualFold(t.text, "matches") && p.peek().is("(") {
		return p.call(t)
	}
	if isReserved(t.text) {
		p.fail(t.pos, "a column of this name is written \""+t.text+"\"", "`%s` is a keyword, not a value", t.text)
		return p.node(formNull, t.pos)
	}
	if n := p.peek(); n.kind == tokString {
		if typ := literalType(t.text); typ != "" {
			p.next()
			s := p.node(formTyped, t.pos)
			s.name, s.text = typ, n.text
			return s
		}
	}
	if p.peek().is("(") {
		return p.call(t)
	}
	return p.dotted(t)
}

// literalType returns the type that a word before a string gives it, "" if none.
func literalType(word string) string {
	switch w := strings.ToLower(word); w {
	case "timestamp", "duration", "ip", "cidr", "decimal", "bytes":
		return w
	case "interval":
		return "duration"
	}
	return ""
}

// dotted reads the rest of a column name: parts joined by dots are one name.
func (p *parser) dotted(t token) *syntax {
	name := t.text
	for p.peek().is(".") {
		part := p.peekAt(1)
		if part.kind != tokName && part.kind != tokQuoted {
			p.next()
			p.unexpected("a name after the dot")
			break
		}
		p.next()
		p.next()
		name += "." + part.text
	}
	n := p.node(formName, t.pos)
	n.text = name
	return n
}

func (p *parser) call(t token) *syntax {
	p.next()
	n := p.node(formCall, t.pos)
	n.name = strings.ToLower(t.text)
	if !p.accept(")") {
		n.kids = p.list("an argument")
	}
	return p.closed(n, t)
}

// caseOf reads CASE WHEN … and CASE x WHEN …; the word is taken.
func (p *parser) caseOf(t token) *syntax {
	n := p.node(formCase, t.pos)
	if !p.peek().is("when") {
		n.base = p.expr(0)
	}
	if !p.peek().is("when") {
		p.unexpected("WHEN")
	}
	for p.err == nil && p.accept("when") {
		when := p.expr(0)
		p.expect("then", "after the condition")
		n.kids = append(n.kids, when, p.expr(0))
	}
	if p.accept("else") {
		n.other = p.expr(0)
	}
	p.expect("end", "to close CASE")
	return p.closed(n, t)
}

func (p *parser) cast(t token) *syntax {
	p.expect("(", "after CAST")
	n := p.node(formCast, t.pos, p.expr(0))
	p.expect("as", "and a type in CAST(x AS type)")
	n.name = p.typeName()
	p.expect(")", "to close CAST")
	return p.closed(n, t)
}

// typeName reads a type such as decimal(18,2) or list(string) and returns its text.
func (p *parser) typeName() string {
	t := p.next()
	if t.kind != tokName {
		p.fail(t.pos, "", "expected a type, got %s", t.describe())
		return ""
	}
	text, depth := strings.ToLower(t.text), 0
	for p.peek().is("(") || depth > 0 {
		n := p.next()
		switch {
		case n.is("("):
			depth++
		case n.is(")"):
			depth--
		case n.kind == tokEnd:
			p.fail(n.pos, "", "the type does not end")
			return ""
		}
		text += strings.ToLower(n.text)
	}
	typ, err := tuple.ParseType(typeAlias(text))
	if err != nil {
		p.fail(t.pos, "", "%v", err)
		return ""
	}
	return typ.String()
}

// typeAlias accepts the names of SQL for our types.
func typeAlias(name string) string {
	switch name {
	case "int", "integer", "bigint":
		return "int64"
	case "float", "double", "real":
		return "float64"
	case "text", "varchar":
		return "string"
	case "boolean":
		return "bool"
	case "interval":
		return "duration"
	case "timestamptz":
		return "timestamp"
	case "inet":
		return "ip"
	}
	return name
}
