package config

import (
	"fednode/node/connect"
	"fednode/node/connect/postgres"
	"fednode/query"
	"fednode/query/spec"
)

// databases reads [connect.postgres.NAME]. A query names a database by NAME and by nothing else: so it can only reach what
// stands here, and its text holds no address and no password.
func (c *Config) databases(r *spec.Reader) {
	c.Databases = make(map[string]connect.Database)
	if t := r.Table("postgres", false); t != nil {
		for _, e := range t.Entries {
			t.Lookup(e.Key)
			if e.Value.Kind != spec.TableKind {
				r.P.Add(e.Value.Pos, t.KeyPath(e.Key), "write [connect.postgres.NAME]", "expected a table, got %s", e.Value.Kind)
				continue
			}
			if !query.ValidName(e.Key) {
				r.P.Add(e.Pos, t.KeyPath(e.Key), query.NameRule, "`%s` is not a name", e.Key)
			}
			c.Databases[e.Key] = c.database(spec.Read(e.Value.Table, r.P))
		}
	}
	r.Done()
}

func (c *Config) database(r *spec.Reader) connect.Database {
	d := connect.Database{PasswordFile: c.path(r.String("password_file", "")), PasswordEnv: r.String("password_env", "")}
	var ok bool
	if d.Connection, ok = r.NeedString("connection"); ok {
		if msg, hint := postgres.CheckConnection(d.Connection); msg != "" {
			r.Errorf("connection", hint, "%s", msg)
		}
	}
	if d.PasswordFile != "" && d.PasswordEnv != "" {
		r.Errorf("password_env", "keep one of the two", "the password is in password_file already")
	}
	r.Done()
	return d
}
