#!/usr/bin/env bash
# The entrypoint of an image for PrairieLearn's external grading. The image has Go and
# grade, and info.json has
#
#   "externalGradingOptions": {"image": "you/grade", "entrypoint": "/grade/serverFilesCourse/entrypoint.sh",
#     "serverFilesCourse": ["entrypoint.sh"], "timeout": 600, "environment": {"EXERCISE": "autograd"}}
#
# The container has no Docker engine, so reports say "unofficial" and a hostile program
# can read all files in it. To use an engine, set DOCKER_HOST and enableNetworking.
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
