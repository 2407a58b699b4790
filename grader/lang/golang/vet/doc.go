// Package vet refuses submissions by their source: early, cheaply, and with the line
// to mend. It is one layer of several and no promise rests on it alone. It parses and
// never type-checks, so that it is safe to run on the host; the rules that need types
// are in package typed, which runs in the sandbox of a build.
//
// [Source] applies every rule to the files of a submission. One table in packages.go
// lists the packages that a submission may import, whole or in part, with the reason
// for each.
//
// The rules, by the name that a [verdict.Problem] carries:
//
//	package           the package clause is not the exercise's
//	import            a package that the exercise does not allow, or a dot import
//	selector          a name of a package that the exercise does not allow
//	directive         //go:, //line, /*line, //export and the like
//	build-constraint  //go:build, // +build, or a file name ending in a platform
//	file-name         not [a-z0-9_]+\.go, or a name with a meaning to Go
//	bodyless          a function without a body
//	builtin-print     a call of print or println
//	bidi              a character that changes the direction of text
//	nesting           brackets deeper than in any honest program
//	too-large         a file, or all files together
//	too-many          too many files
//	syntax            an error of the parser; a compile error instead of a refusal
//
// The rules of typed:
//
//	unsafe            an expression with unsafe.Pointer in its type
//	type              an expression with a type of a package that is never open
//	foreign-variable  a write to another package's variable, or its address
//	types             types that the compiler accepts and go/types does not
//
// Package submission adds symlink, hardlink, special-file, file-type and the rules on
// archives.
package vet
