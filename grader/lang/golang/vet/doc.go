// Package vet refuses submissions by their source: early, cheaply, and with a
// line to go to. It is the first layer of several and no promise rests on it
// alone. It parses and never type-checks, so that it is safe to run on the host;
// what needs types is in typed, which runs where a submission is built.
//
// [Source] applies every rule to the files of a submission. The packages that a
// submission may import, whole or in part, are one table in packages.go, with
// the reason for each.
//
// The rules, by the id that a [Problem] carries:
//
//	package           the package clause is not the exercise's
//	import            a package that is not open to the exercise, or a dot import
//	selector          a part of a package that is not open
//	directive         //go:, //line, /*line, //export and the like
//	build-constraint  //go:build, // +build, or a file name ending in a platform
//	file-name         not [a-z0-9_]+\.go, or a name with a meaning to Go
//	bodyless          a function without a body
//	builtin-print     a call of print or println
//	bidi              characters that change the direction of text
//	nesting           brackets too deep for any honest program
//	too-large         a file, or all together
//	too-many          files
//	syntax            what the parser says; no refusal but a compile error
//
// Those of typed:
//
//	unsafe            an expression with unsafe.Pointer in its type
//	type              an expression with a type of a package that is never open
//	foreign-variable  a write to another package's variable, or its address
//	types             types that only the compiler understands
//
// A snapshot adds symlink, hardlink, special-file and file-type.
package vet
