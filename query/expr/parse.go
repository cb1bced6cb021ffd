package expr

import (
	"fmt"
	"strings"

	"fednode/query/spec"
)

// Limits of an expression's shape: how deep it nests, and how many parts it has besides literals. Each part takes scratch
// memory of a batch's length.
const (
	MaxDepth = 64
	MaxNodes = 1024
)

// Binding powers, low to high.
const (
	bindOr = iota + 1
	bindAnd
	bindNot
	bindCompare
	bindConcat
	bindAdd
	bindMul
	bindUnary
	bindCast
)

// reserved words are keywords wherever they stand; as column names they need double quotes.
const reserved = " and or not is null in between like matches case when then else end true false cast as escape "

func isReserved(name string) bool {
	return strings.Contains(reserved, " "+strings.ToLower(name)+" ")
}

// parser turns tokens into a tree by operator precedence. The first error ends it: what follows a broken place is noise.
type parser struct {
	src   string
	toks  []token
	at    int
	depth int
	nodes int
	err   *Error
}

// parse reads a whole expression.
func parse(src string) (*syntax, *Error) {
	toks, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, toks: toks}
	if p.peek().kind == tokEnd {
		return nil, &Error{Msg: "the expression is empty", Hint: "write a column, a comparison such as dport < 1024, or a call"}
	}
	n := p.expr(0)
	if p.err == nil && p.peek().kind != tokEnd {
		p.unexpected("an operator or the end of the expression")
	}
	if p.err != nil {
		return nil, p.err
	}
	return n, nil
}

func (p *parser) peek() token { return p.toks[p.at] }

func (p *parser) peekAt(ahead int) token { return p.toks[min(p.at+ahead, len(p.toks)-1)] }

func (p *parser) next() token {
	t := p.toks[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is s.
func (p *parser) accept(s string) bool {
	if !p.peek().is(s) {
		return false
	}
	p.at++
	return true
}

// expect takes the token s or fails.
func (p *parser) expect(s, where string) {
	if !p.accept(s) {
		p.unexpected("`" + strings.ToUpper(s) + "` " + where)
	}
}

func (p *parser) fail(offset int, hint, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{Offset: offset, Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
}

func (p *parser) unexpected(want string) {
	t := p.peek()
	hint := ""
	if strings.HasPrefix(want, "an operator") && t.kind == tokName && p.at > 0 && p.toks[p.at-1].kind == tokName {
		hint = spec.DidYouMean(t.text, []string{"and", "or", "is", "in", "between", "like", "matches"})
	}
	p.fail(t.pos, hint, "expected %s, got %s", want, t.describe())
}

// node returns a new node that ends where the last token taken ends.
func (p *parser) node(f form, pos int, kids ...*syntax) *syntax {
	if f != formString && f != formNumber && f != formTyped {
		p.nodes++
	}
	if p.nodes > MaxNodes {
		p.fail(pos, "cut it into several steps", "the expression has more than %d parts", MaxNodes)
	}
	end := pos
	if p.at > 0 {
		end = p.toks[p.at-1].end
	}
	return &syntax{form: f, pos: pos, at: pos, end: end, kids: kids}
}

// expr reads an expression whose operators bind tighter than limit.
func (p *parser) expr(limit int) *syntax {
	if p.depth++; p.depth > MaxDepth {
		p.fail(p.peek().pos, "cut it into several steps", "the expression nests deeper than %d", MaxDepth)
	}
	defer func() { p.depth-- }()
	if p.err != nil {
		return p.node(formNull, p.peek().pos)
	}
	left := p.prefix()
	for p.err == nil {
		bind := p.binding()
		if bind == 0 || bind <= limit {
			break
		}
		left = p.infix(left, bind)
		if bind == bindCompare && p.err == nil && p.binding() == bindCompare {
			p.fail(p.peek().pos, "write `a < b and b < c`, or use parentheses", "comparisons do not chain")
		}
	}
	return left
}

// binding returns how tight the operator at the next token binds, 0 if it is none.
func (p *parser) binding() int {
	t := p.peek()
	switch t.kind {
	case tokOp:
		switch t.text {
		case "=", "==", "!=", "<>", "<", "<=", ">", ">=":
			return bindCompare
		case "||":
			return bindConcat
		case "+", "-":
			return bindAdd
		case "*", "/", "%":
			return bindMul
		case "::":
			return bindCast
		}
	case tokName:
		switch strings.ToLower(t.text) {
		case "or":
			return bindOr
		case "and":
			return bindAnd
		case "is", "in", "between", "like", "matches":
			return bindCompare
		case "not":
			if n := p.peekAt(1); n.is("in") || n.is("between") || n.is("like") || n.is("matches") {
				return bindCompare
			}
		}
	}
	return 0
}

func (p *parser) infix(left *syntax, bind int) *syntax {
	op := p.next()
	if op.kind == tokName && bind == bindCompare {
		return p.test(left, op)
	}
	if bind == bindCast {
		n := p.node(formCast, left.pos, left)
		n.name = p.typeName()
		return p.closed(n, op)
	}
	right := p.expr(bind)
	n := p.node(formBinary, left.pos, left, right)
	n.name = strings.ToLower(op.text)
	switch n.name {
	case "==":
		n.name = "="
	case "<>":
		n.name = "!="
	}
	return p.closed(n, op)
}

// closed sets where the node ends and where errors about it point.
func (p *parser) closed(n *syntax, op token) *syntax {
	n.at = op.pos
	n.end = p.toks[max(0, p.at-1)].end
	return n
}

// test reads what follows IS, IN, BETWEEN, LIKE and MATCHES.
func (p *parser) test(left *syntax, op token) *syntax {
	first, not := op, false
	if op.is("not") {
		not, op = true, p.next()
	}
	n := p.node(formIs, left.pos, left)
	n.not = not
	switch {
	case op.is("is"):
		n.not = p.accept("not")
		p.isWhat(n)
	case op.is("in"):
		n.form = formIn
		p.expect("(", "after IN")
		n.kids = append(n.kids, p.list("a value")...)
	case op.is("between"):
		n.form = formBetween
		n.kids = append(n.kids, p.expr(bindCompare))
		p.expect("and", "between the two ends of BETWEEN")
		n.kids = append(n.kids, p.expr(bindCompare))
	case op.is("like"):
		n.form = formLike
		n.kids = append(n.kids, p.expr(bindCompare))
		if p.accept("escape") {
			n.kids = append(n.kids, p.expr(bindCompare))
		}
	default:
		n.form = formMatches
		n.kids = append(n.kids, p.expr(bindCompare))
	}
	return p.closed(n, first)
}

func (p *parser) isWhat(n *syntax) {
	for _, w := range [...]string{"null", "true", "false"} {
		if p.accept(w) {
			n.name = w
			return
		}
	}
	p.unexpected("NULL, TRUE or FALSE after IS")
}

// list reads expressions up to a closing parenthesis; the opening one is taken.
func (p *parser) list(what string) []*syntax {
	var out []*syntax
	if p.peek().is(")") {
		p.unexpected(what)
		return nil
	}
	for p.err == nil {
		out = append(out, p.expr(0))
		if p.accept(")") {
			return out
		}
		p.expect(",", "or `)`")
	}
	return out
}
