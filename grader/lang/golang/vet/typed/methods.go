package typed

import (
	"go/ast"
	"go/types"
	"os"
	"reflect"
	"slices"
)

// guarded are the types of which an exercise opens some methods and not others, by the
// package that declares them. They are this program's own: it is compiled by the Go
// that compiles submissions.
var guarded = map[string][]reflect.Type{
	"os": {reflect.TypeFor[*os.File]()},
}

// throughIO are methods that the interfaces of package io name, which is open to every
// exercise: a rule on interfaces cannot close them. They read, or write to a file that
// is open for reading.
var throughIO = []string{"Read", "ReadAt", "ReadFrom", "Seek", "Write", "WriteAt", "WriteString", "WriteTo"}

// method refuses a method that an interface of the submission names and a guarded type
// has, if that is refused to a selector: a value of the type would give it to a type
// assertion, as in any(f).(interface{ Fd() uintptr }). Names and numbers of parameters
// are compared, not their types, because those can be type parameters.
func (r *rules) method(id *ast.Ident, obj types.Object) {
	f, ok := obj.(*types.Func)
	if !ok || f.Signature().Recv() == nil || !types.IsInterface(f.Signature().Recv().Type()) || slices.Contains(throughIO, f.Name()) {
		return
	}
	sig := f.Signature()
	for pkg, list := range guarded {
		if !r.policy.Opens(pkg) {
			continue
		}
		for _, t := range list {
			m, ok := t.MethodByName(f.Name())
			if !ok || m.Type.NumIn()-1 != sig.Params().Len() || m.Type.NumOut() != sig.Results().Len() {
				continue
			}
			if why := r.policy.Selector(pkg, t.Elem().Name()+"."+f.Name()); why != "" {
				r.refuse(id.Pos(), "selector", "an interface with this method reaches "+pkg+"."+t.Elem().Name()+"."+f.Name()+": "+why)
			}
		}
	}
}
