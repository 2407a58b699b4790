// Package grade embeds the files that the grade binary carries: the built-in course,
// and the sources that travel into the sandbox. It has no behaviour.
package grade

import "embed"

// Course holds the exercises and their references, in the layout that every
// course repository has: exercises/<name>/ and reference/<name>/.
//
//go:embed go.mod exercises/*.yaml exercises/*/*.yaml exercises/*/README.md exercises/*/*.svg exercises/*/starter exercises/*/hidden reference/*
var Course embed.FS

// Sources holds the packages that are compiled for the sandbox: the observe kit, the
// supervisor and the program that compiles. They use the standard library only.
//
//go:embed observe/*.go observe/wire/*.go sandbox/*.go sandbox/protocol/*.go sandbox/supervisor/*.go grader/fault/*.go grader/verdict/*.go grader/submission/*.go grader/lang/golang/compile/*.go grader/lang/golang/vet/*.go grader/lang/golang/vet/typed/*.go
var Sources embed.FS

// Deciding holds the sources that decide what a grading comes to, so that a result can be
// kept by their digest: those that travel, those that wall a program in, and those that judge.
//
//go:embed observe/*.go observe/wire/*.go sandbox/*.go sandbox/docker/*.go sandbox/docker/*.json sandbox/process/*.go sandbox/protocol/*.go sandbox/supervisor/*.go sandbox/toolchain/*.go exercises/course/kit.go grader/*.go grader/boxes/*.go grader/fault/*.go grader/judge/*.go grader/lang/*.go grader/lang/golang/*.go grader/lang/golang/compile/*.go grader/lang/golang/vet/*.go grader/lang/golang/vet/typed/*.go grader/measure/*.go grader/measure/quantile/*.go grader/submission/*.go grader/verdict/*.go
var Deciding embed.FS
