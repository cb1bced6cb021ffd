package connectors

import (
	"fednode/node/connect"
	"fednode/node/connect/file"
	"fednode/node/connect/generate"
	"fednode/node/connect/postgres"
	"fednode/node/connect/push"
)

// Kinds returns all kinds.
func Kinds() []connect.Kind {
	return []connect.Kind{file.Kind(), generate.Kind(), postgres.Kind(), push.Kind()}
}

// Lookup returns a kind by the name that query files use.
func Lookup(name string) (connect.Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return connect.Kind{}, false
}

// Sources returns the names of the kinds that can be a source.
func Sources() []string {
	return names(func(k connect.Kind) bool { return k.Source != nil })
}

// Sinks returns the names of the kinds that can be a sink.
func Sinks() []string {
	return names(func(k connect.Kind) bool { return k.Sink != nil })
}

func names(has func(connect.Kind) bool) (out []string) {
	for _, k := range Kinds() {
		if has(k) {
			out = append(out, k.Name)
		}
	}
	return out
}
