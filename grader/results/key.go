package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"grade/exercises/course"
	"grade/grader/submission"
)

// Content is the SHA-256 of what was handed in: the files that were taken, and the problems
// of those that were refused.
func Content(s *submission.Snapshot) string {
	if len(s.Problems) == 0 {
		return s.Hash
	}
	return digest(s.Hash, s.Problems)
}

// Key is a SHA-256 over all that decides a result but its seed: the content that was handed
// in, the exercise's files, what was read out of them, and the grader, which is a text with
// the digest of its sources ([SourceDigest]), the images and the runtime.
//
// What was read out of the exercise is in it beside the files, because exercise.yaml leaves
// limits and points to defaults. The alternative, hashing the sources of the package that
// reads it, would grade a course anew for each new word of an error.
func Key(content string, e *course.Exercise, grader string) string {
	checks := slices.Clone(e.Checks)
	for i := range checks {
		checks[i].Line, checks[i].Anchor = 0, "" // where a check is written down decides nothing
	}
	return digest(content, e.Hash, e.Package, e.Imports, e.Provided, e.Feedback, e.Limits, checks, grader)
}

// digest is a SHA-256 over JSON, in which strings cannot run into each other.
func digest(parts ...any) string {
	data, err := json.Marshal(parts)
	if err != nil {
		panic(err) // there are strings, numbers, and structs of these
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
