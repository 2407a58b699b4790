// Command supervisor runs inside every box and starts the programs there. It is
// process 1 of a container, or a child process of grade where there is no engine.
//
// It reads requests on standard input and starts one program for each, with a
// clean environment and, where it has the right, as another user. It enforces the
// limits, kills every process that the program left behind, wipes the scratch
// directory and writes one outcome on standard output. It ends when its input
// does, so killing grade leaves nothing running. It knows nothing of exercises,
// tests or verdicts, and holds no secret that a program could steal.
//
// It uses the standard library only, because it is compiled from the sources
// that the grade binary carries.
package main
