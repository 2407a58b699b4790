#!/usr/bin/env bash
# Gradescope runs this once, when it builds the autograder's image. Go is what grade
# compiles submissions with; everything else it needs it carries itself.
#
# The autograder's zip has, at its root: setup.sh, run_autograder, settings.sh, and
# grade, which is bin/grade after make build. A course of your own goes beside them.
set -euo pipefail

go=1.26.8

apt-get update
apt-get install -y --no-install-recommends ca-certificates curl
curl -fsSL "https://go.dev/dl/go$go.linux-amd64.tar.gz" | tar -C /usr/local -xz
chmod +x /autograder/source/grade
