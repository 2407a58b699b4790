package golang

import "time"

// Limits of a build. An ordinary one takes a second and 100 MB; a few bytes of
// source can ask for gigabytes or never end.
const (
	buildMemory  = 2 << 30
	buildPids    = 512
	buildScratch = 512 << 20
	buildTime    = 60 * time.Second // of CPU
	buildWall    = 2 * buildTime    // which only a busy machine comes to
	buildOutput  = 256 << 10
	programMax   = 16 << 20 // of which an ordinary one takes 3 MB; some are held at a time
)

// Names in the build tree.
const (
	programName = "hidden.test"
	reportName  = "vet.report"
	toolName    = "tools/typed"
	goVersion   = "1.26"
)

// buildFlags are those of every build: the image's cache is filled for exactly
// these. Without -buildvcs=false, go asks git; without -vet=off it spends a third
// of the time on advice that nobody reads; without debug information, linking
// takes half the time.
var buildFlags = []string{"test", "-c", "-vet=off", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}
