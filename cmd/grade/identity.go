package main

import (
	"cmp"
	"path/filepath"
	"strconv"

	"grade/grader/report"
)

// identityOf says whose submission is in dir, by the environment that a CI sets.
// Nothing in dir is asked.
func identityOf(dir string, env func(string) string) report.Identity {
	id := report.Identity{
		Classroom: env("CLASSROOM"), Assignment: env("ASSIGNMENT"), Group: env("MODE") == "group",
		Submission: env("SUBMISSION_TAG"), Commit: env("COMMIT_URL"), Release: env("RELEASE_URL"), Review: env("REVIEW_URL"),
		Committed: env("COMMIT_TIME"), Actor: env("GITHUB_ACTOR"), Folder: folderIn(env("GITHUB_WORKSPACE"), dir),
	}
	if id.Classroom != "" { // some systems call whoever is logged in USERNAME
		id.Student = env("USERNAME")
	}
	id.ActorID, _ = strconv.ParseInt(env("GITHUB_ACTOR_ID"), 10, 64)
	return id
}

// folderIn is dir as seen from the folder root, or from the current one if root is
// empty; empty where dir is not below it.
func folderIn(root, dir string) string {
	rel, ok := below(cmp.Or(root, "."), dir)
	if !ok || rel == "." {
		return ""
	}
	return rel
}

// below is dir, slash-separated, as seen from the folder root, if it lies there.
func below(root, dir string) (rel string, ok bool) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", false
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", false
	}
	rel, err = filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
