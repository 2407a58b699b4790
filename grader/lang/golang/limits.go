package golang

import (
	"fmt"
	"time"
)

// The limits of a build. An ordinary one takes a second and 100 MB; a few bytes of
// source can make the compiler take gigabytes or run for ever.
const (
	buildMemory  = 2 << 30
	buildPids    = 512
	buildScratch = 512 << 20
	buildTime    = 60 * time.Second // of CPU, of all processes together
	buildWall    = 5 * buildTime    // reached on a busy machine only
	buildOutput  = 256 << 10
	programMax   = 16 << 20 // an ordinary program has 3 MB; several are in memory at a time
)

// Names in the build tree.
const (
	programName = "hidden.test"
	reportName  = "vet.report"
	recipeName  = "recipe.json"
	raceName    = "race.json" // the recipe of the build for the race detector
	toolName    = "tools/compile"
	goVersion   = "1.26"
)

// buildFlags are the flags of every build; the image's cache holds packages built with
// exactly these. Without -buildvcs=false, go runs git; without -vet=off it spends a
// third of the time on advice that no report shows; -s and -w halve the time of
// linking.
var buildFlags = []string{"test", "-c", "-vet=off", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}

// BuildLimits says what a build may take, in a sentence.
func BuildLimits() string {
	return fmt.Sprintf("A build may take %d MiB of memory, %v of CPU time, of all its processes together, and %v in all; the program that it makes may have %d MiB.",
		buildMemory>>20, buildTime, buildWall, programMax>>20)
}
