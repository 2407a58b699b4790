package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// githubEvent has the fields of a payload that are used.
type githubEvent struct {
	Ref        string           `json:"ref"`
	Before     string           `json:"before"`
	After      string           `json:"after"`
	Deleted    bool             `json:"deleted"`
	Repository githubRepository `json:"repository"`
	Request    struct {
		Updated githubTime `json:"updated_at"`
		Base    githubEnd  `json:"base"`
		Head    githubEnd  `json:"head"`
	} `json:"pull_request"`
}

type githubEnd struct {
	SHA        string            `json:"sha"`
	Ref        string            `json:"ref"`
	Repository *githubRepository `json:"repo"` // null: the fork is gone
}

type githubRepository struct {
	Name    string     `json:"full_name"`
	Default string     `json:"default_branch"`
	Pushed  githubTime `json:"pushed_at"`
}

// githubTime is a time in a payload: seconds in that of a push, and text in all others.
type githubTime struct{ time.Time }

func (t *githubTime) UnmarshalJSON(data []byte) error {
	if seconds, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		t.Time = time.Unix(seconds, 0).UTC()
		return nil
	}
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	return json.Unmarshal(data, &t.Time)
}

// github reads the environment and the event of a job of GitHub Actions.
func github(env func(string) string, read func(string) ([]byte, error)) (Run, error) {
	name := env("GITHUB_EVENT_NAME")
	r := Run{
		Name: "GitHub Actions, " + name, Dir: env("GITHUB_WORKSPACE"),
		Annotates: true, Summary: env("GITHUB_STEP_SUMMARY"), Outputs: env("GITHUB_OUTPUT"),
	}
	if env("GITHUB_EVENT_PATH") == "" {
		return Run{}, errors.New("GITHUB_ACTIONS is true, and GITHUB_EVENT_PATH is not set, which names the file with the event: a job of GitHub Actions has both")
	}
	data, err := read(env("GITHUB_EVENT_PATH"))
	if err != nil {
		return Run{}, fmt.Errorf("read the event of GitHub Actions (GITHUB_EVENT_PATH): %w", err)
	}
	var e githubEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return Run{}, fmt.Errorf("read the event of GitHub Actions: %s: %w", env("GITHUB_EVENT_PATH"), err)
	}
	switch name {
	case "push":
		return r.githubPush(e), nil
	case "pull_request", "pull_request_target":
		return r.githubRequest(e)
	case "workflow_dispatch":
		return r.githubAll(env, e.Repository.Default), nil
	case "schedule": // of the default branch, always
		return r.githubAll(env, branchOf(env("GITHUB_REF"))), nil
	}
	r.Unclear = true // and the commit's author is not known
	r.Head, r.Rules = commit(env("GITHUB_SHA")), known(tracking(e.Repository.Default))
	return r, nil
}

func (r Run) githubPush(e githubEvent) Run {
	r.Head, r.Base, r.Nothing = commit(e.After), commit(e.Before), e.Deleted
	r.push(branchOf(e.Ref), e.Repository.Default)
	r.Submitted, r.Source = e.Repository.Pushed.Time, "the push"
	return r
}

// githubAll returns a run about the whole of a branch.
func (r Run) githubAll(env func(string) string, standard string) Run {
	r.Everything, r.Head = true, commit(env("GITHUB_SHA"))
	r.push(branchOf(env("GITHUB_REF")), standard)
	return r
}

// branchOf returns the branch of a ref, or "".
func branchOf(ref string) string {
	branch, _ := strings.CutPrefix(ref, "refs/heads/")
	if branch == ref {
		return ""
	}
	return branch
}

func (r Run) githubRequest(e githubEvent) (Run, error) {
	base, head := e.Request.Base, e.Request.Head
	if base.SHA == "" || head.SHA == "" {
		return Run{}, fmt.Errorf("the event of %s has no pull_request with base and head", r.Name)
	}
	r.Request, r.Base, r.Head, r.Target = true, base.SHA, head.SHA, tracking(base.Ref)
	r.Fork = head.Repository == nil || base.Repository == nil || head.Repository.Name != base.Repository.Name
	r.Rules = known(r.Target, r.Base)
	r.Submitted, r.Source = e.Request.Updated.Time, "the pull request"
	return r, nil
}

// push sets what a push is compared with, and the source of its rules. The rules on a
// branch other than the default one are its author's own.
func (r *Run) push(branch, standard string) {
	r.Rules = known(tracking(standard))
	if branch != "" && branch == standard {
		r.Rules, r.Trusted = append(r.Rules, r.Head), true
		return
	}
	r.Fallback = tracking(standard)
}
