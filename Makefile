# Targets for developers. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

FUZZTIME ?= 10s
ROUNDS   ?= 10
SEEDS    ?= 100
NOISE    ?= 20
STUDENTS ?= 64
CROWD    ?= 10000
RUSH     ?= 300
UPLOADS  ?= 200
STORM    ?= 1000
# Gradings at a time of a service.
SLOTS    ?= 2
# One more than there are CPUs, because gradings wait for each other to measure.
GRADINGS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# More tests than that, because clusters wait for their leaders.
TESTS    ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 3)

# Where git fails (no git, no repository, a checkout of another user) the build has
# no version instead of failing.
BUILDVCS := $(shell git status >/dev/null 2>&1 && echo auto || echo false)

# Tests are built as make build builds, so that nothing is compiled twice.
GOTEST := CGO_ENABLED=0 go test -trimpath

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/grade, one static program
	@CGO_ENABLED=0 go build -trimpath -buildvcs=$(BUILDVCS) -o bin/ ./cmd/grade

.PHONY: demo
demo: build ## grade a right and a wrong solution of autograd and show both reports
	@.ci/demo

.PHONY: test
test: ## run all tests
	@# make lint vets all packages, with more analyzers than a test's build.
	@$(GOTEST) -vet=off -timeout 85m -shuffle=on -parallel $(TESTS) ./...

.PHONY: prove
prove: ## grade every shipped submission, and write what that proved beside the exercises
	@$(GOTEST) ./cmd/grade -run '^TestShippedSubmissions$$' -count=1 -timeout 150m -parallel $(GRADINGS) -args -prove

.PHONY: race
race: ## run all tests but the longest under the race detector
	@command -v "$$(go env CC)" >/dev/null || { echo 'make race needs a C compiler: install gcc' >&2; exit 1; }
	@# The tests at the root run programs that are built without the detector.
	@CGO_ENABLED=1 go test -race -short -timeout 20m -shuffle=on $$(go list ./... | grep -vx grade)

.PHONY: e2e
e2e: ## run the real command: scripts, faults, the README; never from the cache
	@# What is asked for by -run does not wait for its turn.
	@$(GOTEST) -run . -short -count=1 -timeout 20m . ./cmd/grade

.PHONY: faults
faults: ## 200 submissions of all exercises while every part of a service is killed or cut off; UPLOADS=400 for more
	@$(GOTEST) ./cmd/grade -run '^TestServiceUnderFaults$$' -count=1 -timeout 120m -v -args -uploads $(UPLOADS)

.PHONY: storm
storm: ## 1,000 gradings while others keep the engine busy: none may end without a verdict; STORM=100 for fewer
	@$(GOTEST) ./cmd/grade -run '^TestGradingsInAStorm$$' -count=1 -timeout 120m -v -args -gradings $(STORM)

.PHONY: course
course: ## grade the sample course as GitHub's and GitLab's runners would
	@$(GOTEST) -count=1 -timeout 10m -v -run TestSample . | grep -v "^=== "

.PHONY: browser
browser: ## open the pages of reports and of a service in Chromium; pictures go to dist/pages
	@PICTURES=$(CURDIR)/dist/pages $(GOTEST) -count=1 -timeout 60m ./grader/report/browser
	@PICTURES=$(CURDIR)/dist/pages $(GOTEST) -count=1 -timeout 30m -run '^TestServeInBrowser$$' ./cmd/grade

.PHONY: lint
lint: ## check formatting, and what compilers do not see
	@.ci/lint

.PHONY: docs
docs: ## generate the reference of exercise.yaml from its schemas
	@out=$$(go test ./exercises/schema -run TestReferenceIsFresh -update) || { echo "$$out" >&2; exit 1; }

.PHONY: fmt
fmt: ## format all Go files but those with a wrong form on purpose
	@.ci/gofiles -exec gofmt -l -w {} +

.PHONY: bench
bench: build ## compare a grading and a small batch with bare go test, the usual container and the go-judge at GO_JUDGE
	@go run ./bench -n $(ROUNDS) -go-judge "$(GO_JUDGE)"
	@go run ./bench/batch -n 4

.PHONY: bench-full
bench-full: build ## compare whole gradings of all references with those of correctness alone
	@go run ./bench -full -n $(ROUNDS)

.PHONY: bench-batch
bench-batch: build ## compare grade batch of STUDENTS (64) submissions with docker run in a loop
	@go run ./bench/batch -n $(STUDENTS)

.PHONY: bench-crowd
bench-crowd: build ## look at the memory of grade batch over CROWD (10000) submissions, most of them refused or alike
	@go run ./bench/crowd -n $(CROWD)

.PHONY: bench-deadline
bench-deadline: build ## compare verdicts through grade serve with grade submit, and look at it while RUSH (300) students hand in within a minute
	@go run ./bench/deadline -verdicts $(ROUNDS)
	@go run ./bench/deadline -n $(RUSH) -workers $(SLOTS) -results "$(RESULTS)"

.PHONY: bench-references
bench-references: ## compare each reference with naive and strong alternatives
	@go run ./bench/references

.PHONY: bench-mutants
bench-mutants: build ## compare grade exercise mutate with grade submit in a loop
	@go run ./bench/mutants

.PHONY: bench-rush
bench-rush: ## model how long a course waits before a deadline, with the grading times of the results in RESULTS
	@test -n "$(RESULTS)" || { echo 'make bench-rush RESULTS=DIR: a folder of results, of grade batch or grade serve export' >&2; exit 1; }
	@go run ./bench/rush -results $(RESULTS) -slots $(SLOTS)

.PHONY: bench-rush-check
bench-rush-check: ## compare that model with the run that RESULTS are of, by the grading times of another run in TIMES
	@test -n "$(RESULTS)" || { echo 'make bench-rush-check RESULTS=DIR [TIMES=DIR]: folders of results of make bench-deadline' >&2; exit 1; }
	@go run ./bench/rush -results $(RESULTS) -check -times "$(TIMES)" -slots $(SLOTS)

.PHONY: seeds
seeds: ## test every accepted submission on SEEDS (100) seeds
	@$(GOTEST) ./cmd/grade -run TestAcceptedOverSeeds -v -seeds $(SEEDS) -count=1 -timeout 120m | grep --line-buffered -v "^=== "

.PHONY: noise
noise: ## record what a loaded machine does to the figures of each reference, NOISE (20) gradings of each, for the tests of measuring
	@$(GOTEST) ./cmd/grade -run TestRecordNoise -noise $(NOISE) -count=1 -timeout 120m

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@.ci/fuzz $(FUZZTIME)

.PHONY: clean
clean: ## remove the files that these targets make
	@rm -rf bin dist
