#!/usr/bin/env python3
"""Classroom 50 runs this in a student's checkout. It wants result.json, and a status
that is not 0 where there is no verdict. grade has to be on the path, and Go."""
import os
import subprocess
import sys

EXERCISE = "autograd"

for stale in ("result.json", "release-body.md"):  # what a student has committed is no result
    if os.path.lexists(stale):
        os.remove(stale)

committed = subprocess.run(["git", "show", "-s", "--format=%cI", "HEAD"], check=True, capture_output=True, text=True)
graded = subprocess.run(
    ["grade", "submit", "--exercise", EXERCISE, "--sandbox", "docker", "--report", "classroom50=result.json",
     "--report", "markdown=release-body.md", "--report", "github-annotations=-"],
    env={**os.environ, "COMMIT_TIME": committed.stdout.strip()}, check=False)
sys.exit(0 if graded.returncode in (0, 1) else graded.returncode)
