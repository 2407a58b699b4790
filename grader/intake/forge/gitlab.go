package forge

import (
	"fmt"
	"time"
)

// gitlab reads the environment of a job of GitLab CI.
func gitlab(env func(string) string) (Run, error) {
	source := env("CI_PIPELINE_SOURCE")
	r := Run{Name: "GitLab CI, " + source, Dir: env("CI_PROJECT_DIR"), Head: commit(env("CI_COMMIT_SHA"))}
	if created := env("CI_PIPELINE_CREATED_AT"); created != "" {
		t, err := time.Parse(time.RFC3339, created)
		if err != nil {
			return Run{}, fmt.Errorf("read CI_PIPELINE_CREATED_AT: %w", err)
		}
		r.Submitted, r.Source = t, "the pipeline"
	}
	switch source {
	case "push":
		r.Base = commit(env("CI_COMMIT_BEFORE_SHA"))
		r.push(env("CI_COMMIT_BRANCH"), env("CI_DEFAULT_BRANCH"))
	case "merge_request_event":
		return r.gitlabRequest(env)
	default: // schedule, web, api, trigger and the like: their time is that of no submission
		r.Everything, r.Submitted, r.Source = true, time.Time{}, ""
		r.push(env("CI_COMMIT_BRANCH"), env("CI_DEFAULT_BRANCH"))
	}
	return r, nil
}

func (r Run) gitlabRequest(env func(string) string) (Run, error) {
	r.Request, r.Base = true, commit(env("CI_MERGE_REQUEST_DIFF_BASE_SHA"))
	if r.Base == "" {
		return Run{}, fmt.Errorf("%s has no CI_MERGE_REQUEST_DIFF_BASE_SHA", r.Name)
	}
	// CI_COMMIT_SHA is that of the merge where its result is tested.
	if head := commit(env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")); head != "" {
		r.Head = head
	}
	r.Fork = env("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH") != env("CI_MERGE_REQUEST_PROJECT_PATH")
	// The base is as old as the student likes; the target branch is as it is now.
	r.Target = tracking(env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"))
	r.Rules = known(r.Target, r.Base)
	return r, nil
}
