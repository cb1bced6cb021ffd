package connect

// Database is a database that the owner of a node lets its queries write to, under a name that queries use.
type Database struct {
	// Connection is a URL or words key=value, as the database's own programs take them, without a password.
	Connection string
	// PasswordFile is a file whose first line is the password; PasswordEnv names a variable of the environment that holds
	// it. Both are looked at for each connection. At most one is set.
	PasswordFile string
	PasswordEnv  string
}
