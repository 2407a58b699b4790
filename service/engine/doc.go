// Package engine keeps what is handed in, queues it for workers and tells how it goes, on
// NATS JetStream: a server inside this process, or a cluster. It grades nothing and knows
// neither people nor pages.
//
// What lasts of a course is one stream, a log that only grows:
//
//	attempt.<course>.<exercise>.<student>           what was handed in, numbered
//	result.<course>.<exercise>.<student>.<number>   records
//	failure.<course>.<exercise>.<student>.<number>  why an attempt has no verdict, and that it is tried again
//	pending.<course>.<exercise>.<student>           what a batch or an import left without a verdict
//
// An engine reads it from the beginning and folds it into memory, so that lookups cannot
// fail and several engines agree. Each message of the first two kinds is published with the
// sequence that the last one of its subject is expected to have: of two writers one is
// refused, so that a number is given once and a worker that was thought dead cannot
// overwrite a result. The rejected alternative, a stream for each kind, has no order
// between a hand-in and the result that ends its wait.
//
// Jobs are a work queue that holds one message for each student, exercise and grader. They
// are derived from the log: an engine that starts queues what has neither result nor job.
// The subject names the grader's version, so that a worker of another version is never
// given them. Files are objects by their hash, those of a course as well.
//
//	e, err := engine.Open(ctx, engine.Config{DataDir: dir, Grader: grader})
//	err = e.SetCourse(ctx, fsys)
//	attempt, err := e.HandIn(ctx, upload)     // numbered, on the disk, in the queue
//	for p := range e.Follow(ctx, student, exercise) { ... }
//	attempts := e.Attempts(student, exercise) // from memory
//	store := e.Store()                        // the results.Store of a gradebook
//
// A worker has the other side, [Jobs]: [Engine.Jobs] in the same process, [Connect] from
// another machine.
package engine
