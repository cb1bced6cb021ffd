package expr

import "strings"

// String returns the canonical text of a tree: one spelling of every operator, keywords in upper case, no parenthesis
// that precedence makes needless. Parsed again it gives the same tree.
func (n *syntax) String() string {
	var b strings.Builder
	n.print(&b, 0)
	return b.String()
}

// binds returns how tight the node's outermost operator binds.
func (n *syntax) binds() int {
	switch n.form {
	case formUnary:
		if n.name == "not" {
			return bindNot
		}
		return bindUnary
	case formBinary:
		switch n.name {
		case "or":
			return bindOr
		case "and":
			return bindAnd
		case "||":
			return bindConcat
		case "+", "-":
			return bindAdd
		case "*", "/", "%":
			return bindMul
		}
		return bindCompare
	case formIs, formIn, formBetween, formLike, formMatches:
		return bindCompare
	}
	return bindCast
}

// print writes n where operators must bind at least as tight as limit.
func (n *syntax) print(b *strings.Builder, limit int) {
	own := n.binds()
	if own < limit {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.form {
	case formName:
		b.WriteString(quoteName(n.text))
	case formString:
		b.WriteString(quoteString(n.text))
	case formNumber:
		b.WriteString(n.text)
	case formTyped:
		b.WriteString(n.name + " " + quoteString(n.text))
	case formNull, formBool:
		b.WriteString(strings.ToUpper(n.text))
	case formUnary:
		n.printUnary(b, own)
	case formBinary:
		n.printBinary(b, own)
	case formCase:
		n.printCase(b)
	case formCast:
		b.WriteString("CAST(")
		n.kids[0].print(b, 0)
		b.WriteString(" AS " + n.name + ")")
	case formCall:
		b.WriteString(n.name)
		printList(b, n.kids)
	default:
		n.printTest(b)
	}
}

func (n *syntax) printUnary(b *strings.Builder, own int) {
	if n.name == "not" {
		b.WriteString("NOT ")
		n.kids[0].print(b, own)
		return
	}
	b.WriteByte('-')
	// A number after a minus would become a negative literal, and two minus signs read badly.
	if k := n.kids[0]; k.form == formNumber || k.form == formUnary {
		b.WriteByte('(')
		k.print(b, 0)
		b.WriteByte(')')
		return
	}
	n.kids[0].print(b, own)
}

func (n *syntax) printBinary(b *strings.Builder, own int) {
	left := own
	if own == bindCompare {
		left = own + 1 // not chainable
	}
	n.kids[0].print(b, left)
	b.WriteString(" " + strings.ToUpper(n.name) + " ")
	n.kids[1].print(b, own+1)
}

func (n *syntax) printTest(b *strings.Builder) {
	n.kids[0].print(b, bindCompare+1)
	not := ""
	if n.not {
		not = "NOT "
	}
	switch n.form {
	case formIs:
		b.WriteString(" IS " + not + strings.ToUpper(n.name))
	case formIn:
		b.WriteString(" " + not + "IN ")
		printList(b, n.kids[1:])
	case formBetween:
		b.WriteString(" " + not + "BETWEEN ")
		n.kids[1].print(b, bindCompare+1)
		b.WriteString(" AND ")
		n.kids[2].print(b, bindCompare+1)
	case formLike:
		b.WriteString(" " + not + "LIKE ")
		n.kids[1].print(b, bindCompare+1)
		if len(n.kids) == 3 {
			b.WriteString(" ESCAPE ")
			n.kids[2].print(b, bindCompare+1)
		}
	case formMatches:
		b.WriteString(" " + not + "MATCHES ")
		n.kids[1].print(b, bindCompare+1)
	}
}

func (n *syntax) printCase(b *strings.Builder) {
	b.WriteString("CASE")
	if n.base != nil {
		b.WriteByte(' ')
		n.base.print(b, 0)
	}
	for i := 0; i < len(n.kids); i += 2 {
		b.WriteString(" WHEN ")
		n.kids[i].print(b, 0)
		b.WriteString(" THEN ")
		n.kids[i+1].print(b, 0)
	}
	if n.other != nil {
		b.WriteString(" ELSE ")
		n.other.print(b, 0)
	}
	b.WriteString(" END")
}

func printList(b *strings.Builder, list []*syntax) {
	b.WriteByte('(')
	for i, k := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		k.print(b, 0)
	}
	b.WriteByte(')')
}

func quoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quoteName writes a name, each dotted part in double quotes if it would not be read as a name.
func quoteName(name string) string {
	parts := strings.Split(name, ".")
	plain := true
	for _, p := range parts {
		plain = plain && isPlainName(p)
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func isPlainName(s string) bool {
	if s == "" || !isNameStart(s[0]) || isReserved(s) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !isNameStart(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}
