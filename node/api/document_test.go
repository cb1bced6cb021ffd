package api

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The document is made from the table of routes, the types that they answer with, and the comments of these; so it is
// never behind. What it promises is held against real answers by every request of the other tests.
func TestDocument(t *testing.T) {
	got, err := json.MarshalIndent(newDocument(t).build(), "", "  ")
	require.NoError(t, err)
	got = append(got, '\n')
	if *rewrite {
		require.NoError(t, os.WriteFile("openapi.json", got, 0o644))
		return
	}
	require.Equal(t, string(got), string(document), "go test ./node/api -run TestDocument -rewrite writes openapi.json anew")
}

type object = map[string]any

// documenter makes the OpenAPI document.
type documenter struct {
	comments map[string]string // of types "T" and fields "T.F"
	schemas  object
}

func newDocument(t *testing.T) *documenter {
	d := &documenter{comments: make(map[string]string), schemas: make(object)}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(f, d.note)
	}
	return d
}

// note remembers the comments of a type declaration.
func (d *documenter) note(n ast.Node) bool {
	decl, ok := n.(*ast.GenDecl)
	if !ok || decl.Tok != token.TYPE {
		return true
	}
	for _, s := range decl.Specs {
		s := s.(*ast.TypeSpec)
		d.comments[s.Name.Name] = oneLine(decl.Doc)
		fields, ok := s.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			text := strings.TrimSpace(oneLine(f.Doc) + " " + oneLine(f.Comment))
			for _, name := range f.Names {
				d.comments[s.Name.Name+"."+name.Name] = text
			}
		}
	}
	return false
}

func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

func (d *documenter) build() object {
	paths := make(object)
	for _, r := range routes() {
		at := documented(r)
		if paths[at] == nil {
			paths[at] = make(object)
		}
		paths[at].(object)[strings.ToLower(r.method)] = d.operation(r)
	}
	problem := object{"application/json": object{"schema": d.schema(reflect.TypeFor[ErrorBody]())}}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "fednode", "version": "1", "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "The HTTP API of a fednode daemon. Times are RFC 3339; durations are seconds; fields may be added at any time."},
		"servers":  []object{{"url": "http://127.0.0.1:7480", "description": "the default address of a daemon"}},
		"security": []object{{"token": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas":         d.schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "the content of the file api.token"}},
			"responses":       object{"Error": object{"description": "What went wrong, and what to do.", "content": problem}},
		},
	}
}

// documented is the path of a route in the document.
func documented(r route) string {
	if r.path != "" {
		return r.path
	}
	return r.pattern
}

func (d *documenter) operation(r route) object {
	answers := object{"default": object{"$ref": "#/components/responses/Error"}}
	for _, code := range append([]int{401}, r.errors...) {
		if code != 401 || r.access != forAll {
			answers[strconv.Itoa(code)] = object{"$ref": "#/components/responses/Error"}
		}
	}
	for _, a := range r.answers {
		d.answer(answers, a)
	}
	op := object{"operationId": r.id, "summary": r.summary, "responses": answers}
	if r.access == forAll {
		op["security"] = []object{}
	}
	var params []object
	for _, p := range r.params {
		schema := object{"type": p.kind}
		params = append(params, object{"name": p.name, "in": p.in, "description": p.doc, "required": p.in == "path", "schema": schema})
	}
	if params != nil {
		op["parameters"] = params
	}
	if r.bodies != nil {
		op["requestBody"] = d.body(r)
	}
	return op
}

// answer adds one answer; several of one status are its content types.
func (d *documenter) answer(answers object, a answer) {
	code := strconv.Itoa(a.status)
	if answers[code] == nil {
		answers[code] = object{"description": a.doc}
	}
	out := answers[code].(object)
	content, _ := out["content"].(object)
	if content == nil {
		content = make(object)
	}
	switch {
	case a.value != nil:
		content["application/json"] = object{"schema": d.schema(reflect.TypeOf(a.value))}
	case a.contentType != "":
		content[a.contentType] = object{"schema": object{"type": "string", "description": a.doc}}
	default:
		return
	}
	out["content"] = content
}

func (d *documenter) body(r route) object {
	content := make(object)
	for _, kind := range r.bodies {
		content[kind] = object{}
		if kind == "application/json" {
			content[kind] = object{"schema": d.schema(reflect.TypeFor[NewPeer]())}
		}
	}
	return object{"required": true, "content": content}
}

// schema returns the JSON schema of a type; structs are put aside by name.
func (d *documenter) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[StreamTime]():
		return object{"type": []string{"string", "null"}}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Pointer:
		s := d.schema(t.Elem())
		s["type"] = []string{s["type"].(string), "null"}
		return s
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return object{"type": "object"}
		}
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	}
	d.structure(t)
	return object{"$ref": "#/components/schemas/" + t.Name()}
}

func (d *documenter) structure(t reflect.Type) {
	if d.schemas[t.Name()] != nil {
		return
	}
	properties, required := make(object), []string{}
	d.schemas[t.Name()] = object{"type": "object", "description": d.comments[t.Name()], "properties": properties, "required": &required}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name := f.Tag.Get("json")
		s := d.schema(f.Type)
		owner := t
		if len(f.Index) > 1 {
			owner = t.FieldByIndex(f.Index[:len(f.Index)-1]).Type
		}
		if text := d.comments[owner.Name()+"."+f.Name]; text != "" {
			s["description"] = text
		}
		properties[name], required = s, append(required, name)
	}
}

// Every type that crosses the interface names its fields for JSON, says what it is, and every path parameter of a
// documented path is documented.
func TestDocumentIsComplete(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
		Components struct {
			Schemas map[string]struct {
				Description string
				Properties  map[string]any
			}
		}
	}
	require.NoError(t, json.Unmarshal(document, &doc))
	for name, s := range doc.Components.Schemas {
		require.NotEmpty(t, s.Description, name)
		for field := range s.Properties {
			require.Regexp(t, `^[a-z][a-z0-9_]*$`, field, name)
		}
	}
	operations := 0
	for path, methods := range doc.Paths {
		for method, op := range methods {
			operations++
			var have []string
			for _, p := range op.Parameters {
				if p.In == "path" {
					have = append(have, "{"+p.Name+"}")
				}
			}
			require.ElementsMatch(t, regexp.MustCompile(`\{\w+\}`).FindAllString(path, -1), have, "%s %s", method, path)
		}
	}
	require.Equal(t, len(routes()), operations)
}
