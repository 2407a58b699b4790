#!/usr/bin/env bash
# Gradescope runs this script once, when it builds the autograder's image. grade needs
# Go to compile submissions, and carries everything else.
#
# The autograder's zip has at its root: setup.sh, run_autograder, settings.sh, and grade
# (bin/grade after make build). Put a course of your own beside them.
set -euo pipefail

go=1.26.8

apt-get update
apt-get install -y --no-install-recommends ca-certificates curl
curl -fsSL "https://go.dev/dl/go$go.linux-amd64.tar.gz" | tar -C /usr/local -xz
chmod +x /autograder/source/grade
