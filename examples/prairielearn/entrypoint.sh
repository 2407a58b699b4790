#!/usr/bin/env bash
# The entrypoint of an image for PrairieLearn's external grading: an image with Go and
# grade in it, and in info.json
#
#   "externalGradingOptions": {"image": "you/grade", "entrypoint": "/grade/serverFilesCourse/entrypoint.sh",
#     "serverFilesCourse": ["entrypoint.sh"], "timeout": 600, "environment": {"EXERCISE": "autograd"}}
#
# There is no Docker engine in the container, so reports say "unofficial" and a program
# that wants to can read what is in it. Give DOCKER_HOST, and enableNetworking, for one.
set -uo pipefail

root=${GRADE_ROOT:-/grade}
results=$root/results/results.json
mkdir -p "${results%/*}"
sandbox=process
[ -z "${DOCKER_HOST:-}" ] || sandbox=docker
grade submit --exercise "$EXERCISE" --sandbox "$sandbox" --timeout 9m --report "prairielearn=$results" "$root/student" ||
	echo "grade ended with status $?"
if [ ! -s "$results" ]; then
	printf '{"gradable": false, "message": "No grade: the grader was stopped. No attempt was used up."}\n' >"$results"
fi
