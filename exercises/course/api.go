package course

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"
)

// declared is an exported function, method, type, constant or variable.
type declared struct {
	name      string // Name or Type.Method
	signature string // of a function, without names; else the kind of declaration
	file      string
	line      int
}

func (d declared) String() string {
	if rest, ok := strings.CutPrefix(d.signature, "func"); ok {
		return "func " + d.name + rest
	}
	return d.signature + " " + d.name
}

// apiOf lists the exported declarations of a package's sources. It skips a file that
// does not parse, which Load reports.
func apiOf(dir string, files []File) (list []declared) {
	for _, f := range files {
		if !isSource(f.Name) {
			continue
		}
		found, err := declarations(path.Join(dir, f.Name), f.Data, 0)
		if err == nil {
			list = append(list, found...)
		}
	}
	return list
}

var fence = []byte("```")

// goBlocks returns the declarations in each Go block of a README. It skips a block that
// does not parse as declarations, such as an example.
func goBlocks(readme []byte) (blocks [][]declared) {
	var block []byte
	start, in := 0, false
	for i, l := range bytes.SplitAfter(readme, []byte("\n")) {
		text := bytes.TrimSpace(l)
		switch {
		case !in && bytes.HasPrefix(text, fence) && string(bytes.TrimPrefix(text, fence)) == "go":
			in, start, block = true, i+1, nil
		case in && bytes.Equal(text, fence):
			in = false
			if !regexp.MustCompile(`(?m)^package `).Match(block) {
				block, start = append([]byte("package p\n"), block...), start-1
			}
			if list, err := declarations(readmeFile, block, start); err == nil {
				blocks = append(blocks, list)
			}
		case in:
			block = append(block, l...)
		}
	}
	return blocks
}

var errNoDeclarations = errors.New("no declarations")

// declarations lists the exported declarations of a file that begins after line offset.
func declarations(name string, data []byte, offset int) (list []declared, err error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, data, parser.SkipObjectResolution)
	if err != nil {
		return nil, errors.Join(errNoDeclarations, err)
	}
	add := func(id *ast.Ident, owner, signature string) {
		if id.IsExported() {
			list = append(list, declared{owner + id.Name, signature, name, fset.Position(id.Pos()).Line + offset})
		}
	}
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if owner, ok := receiver(d); ok {
				add(d.Name, owner, signature(d.Type))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Name, "", "type")
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add(id, "", d.Tok.String())
					}
				}
			}
		}
	}
	return list, nil
}

// receiver returns the type of a method with a dot, and "" for a function.
func receiver(d *ast.FuncDecl) (owner string, exported bool) {
	if d.Recv == nil || len(d.Recv.List) != 1 {
		return "", true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + ".", x.IsExported()
		default:
			return "", false
		}
	}
}

// signature spells a function's type without the names of its parameters.
func signature(t *ast.FuncType) string {
	s := "func"
	if t.TypeParams != nil {
		s += "[" + strings.Join(typesOf(t.TypeParams), ", ") + "]"
	}
	s += "(" + strings.Join(typesOf(t.Params), ", ") + ")"
	switch results := typesOf(t.Results); len(results) {
	case 0:
	case 1:
		s += " " + results[0]
	default:
		s += " (" + strings.Join(results, ", ") + ")"
	}
	return s
}

func typesOf(list *ast.FieldList) (texts []string) {
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			texts = append(texts, types.ExprString(f.Type))
		}
	}
	return texts
}
