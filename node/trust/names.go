package trust

// Role is what a key may be used for.
type Role string

// The roles. RoleRoot and RoleNode are never named in a KeyStatement.
const (
	RoleRoot      Role = "root"
	RoleNodes     Role = "nodes"     // signs node certificates
	RoleDeploy    Role = "deploy"    // signs query descriptors
	RoleContracts Role = "contracts" // signs contracts
	RoleNode      Role = "node"      // the identity of one daemon
)

// SigningRoles are the roles that the root gives to signing keys.
func SigningRoles() []Role { return []Role{RoleNodes, RoleDeploy, RoleContracts} }

func (r Role) signing() bool { return r == RoleNodes || r == RoleDeploy || r == RoleContracts }

// maxName is the longest name of an organisation or node.
const maxName = 63

// CheckName refuses anything but [A-Za-z_][A-Za-z0-9_-]{0,62}. what says which name it is, for the message.
func CheckName(what, name string) error {
	ok := len(name) > 0 && len(name) <= maxName
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		letter := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
		ok = letter || i > 0 && (c >= '0' && c <= '9' || c == '-')
	}
	if ok {
		return nil
	}
	return &Error{Kind: ErrName, Place: what, Got: quote(name),
		Expected: "a letter or _, then letters, digits, _ or -, at most 63 in all"}
}
