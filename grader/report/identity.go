package report

import "strconv"

// IdentityIn reads an identity, without the folder, from the environment of a CI. Env looks
// up a variable. It reads nothing that a submission could have written.
func IdentityIn(env func(string) string) Identity {
	id := Identity{
		Classroom: env("CLASSROOM"), Assignment: env("ASSIGNMENT"), Group: env("MODE") == "group",
		Submission: env("SUBMISSION_TAG"), Commit: env("COMMIT_URL"), Release: env("RELEASE_URL"), Review: env("REVIEW_URL"),
		Committed: env("COMMIT_TIME"), Actor: env("GITHUB_ACTOR"),
	}
	if id.Classroom != "" { // some systems have the name of the account in USERNAME
		id.Student = env("USERNAME")
	}
	id.ActorID, _ = strconv.ParseInt(env("GITHUB_ACTOR_ID"), 10, 64)
	return id
}
