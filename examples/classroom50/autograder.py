#!/usr/bin/env python3
"""Classroom 50 runs this script in a student's checkout. It needs result.json, and an
exit status other than 0 if there is no verdict. grade and Go have to be on the path."""
import os
import subprocess
import sys

EXERCISE = "autograd"

for stale in ("result.json", "release-body.md"):  # remove committed files, which are no results
    if os.path.lexists(stale):
        os.remove(stale)

committed = subprocess.run(["git", "show", "-s", "--format=%cI", "HEAD"], check=True, capture_output=True, text=True)
graded = subprocess.run(
    ["grade", "submit", "--exercise", EXERCISE, "--sandbox", "docker", "--report", "classroom50=result.json",
     "--report", "markdown=release-body.md", "--report", "github-annotations=-"],
    env={**os.environ, "COMMIT_TIME": committed.stdout.strip()}, check=False)
sys.exit(0 if graded.returncode in (0, 1) else graded.returncode)
