package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version of grade and of the Go that built it",
		GroupID:           groupAbout,
		Example:           `  grade version`,
		Args:              atMost(0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return a.print("%s", versionLine()) },
	}
}

// versionLine is what grade version prints, and grade --version.
func versionLine() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("grade %s %s %s/%s\n", buildVersion(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildVersion names the build: the module's version, or the commit where there is none.
func buildVersion(info *debug.BuildInfo) string {
	if info == nil {
		return "(unknown)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	v := "(devel)"
	if rev := settings["vcs.revision"]; rev != "" {
		v = rev[:min(12, len(rev))]
		if settings["vcs.modified"] == "true" {
			v += "+changes"
		}
	}
	return v
}

// buildVersionHere names the build of this program.
func buildVersionHere() string {
	info, _ := debug.ReadBuildInfo()
	return buildVersion(info)
}
