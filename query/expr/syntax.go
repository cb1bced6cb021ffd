package expr

// form is the kind of a syntax node.
type form uint8

const (
	formName    form = iota // text
	formString              // text
	formNumber              // text, with a leading minus if negative
	formTyped               // a typed literal: text is the value, name the type
	formNull                // text as written: null, or nil where no column has that name
	formBool                // text "true" or "false"
	formUnary               // name "-" or "not"; kids[0]
	formBinary              // name; kids[0], kids[1]
	formIs                  // name "null", "true", "false"; not; kids[0]
	formIn                  // not; kids[0] in kids[1:]
	formBetween             // not; kids[0] between kids[1] and kids[2]
	formLike                // not; kids[0] like kids[1] [escape kids[2]]
	formMatches             // not; kids[0] matches kids[1]
	formCase                // kids: when, then, …; base: the operand or nil; other: else or nil
	formCast                // kids[0]; name the type
	formCall                // name; kids
)

// syntax is one node of the tree as written, with its place [pos, end). at is where errors about the node itself
// point: the operator of a binary node, the name of a call.
type syntax struct {
	form  form
	not   bool
	name  string
	text  string
	pos   int
	end   int
	at    int
	kids  []*syntax
	base  *syntax
	other *syntax
}
