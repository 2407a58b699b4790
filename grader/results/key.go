package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"grade/exercises/course"
	"grade/grader/submission"
)

// Content returns the SHA-256 of a submission: of the files that were taken, and of the
// problems of those that were refused.
func Content(s *submission.Snapshot) string {
	if len(s.Problems) == 0 {
		return s.Hash
	}
	return digest(s.Hash, s.Problems)
}

// Key returns a SHA-256 over all that decides a result except its seed: the content of the
// submission, the exercise's files and their parsed form, and the grader, which is a text
// with the digest of its sources ([SourceDigest]), the images and the runtime.
//
// The parsed form is included because exercise.yaml leaves limits and points to defaults.
// The alternative, hashing the sources of the package that parses it, would grade a course
// anew for each new word of an error.
func Key(content string, e *course.Exercise, grader string) string {
	checks := slices.Clone(e.Checks)
	for i := range checks {
		checks[i].Line, checks[i].Anchor = 0, "" // the place of a check decides nothing
	}
	return digest(content, e.Hash, e.Package, e.Imports, e.Provided, e.Feedback, e.Limits, checks, grader)
}

// digest returns a SHA-256 over JSON, in which strings cannot run into each other.
func digest(parts ...any) string {
	data, err := json.Marshal(parts)
	if err != nil {
		panic(err) // the parts are strings, numbers, and structs of these
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
