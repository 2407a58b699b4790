// Command supervisor is what runs inside a sandbox: process 1 of every
// container, or a child process where there is no engine.
//
// It reads requests on standard input, starts one program for each, with a
// clean environment and as another user where it may, enforces the limits,
// kills everything the program left behind, wipes the scratch space and writes
// one outcome on standard output. It ends when its input does, so a grade that
// was killed leaves nothing running. It knows nothing of exercises, tests or
// verdicts, and holds no secret: what a program could steal from it is the
// program's own.
//
// It uses the standard library only, because it is compiled from the sources
// that the grade binary carries.
package main
