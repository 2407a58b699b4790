package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service/site"
)

// The commands that the guide for a service shows are commands, with flags that there are,
// and the addresses and names that it tells are the site's. What they do is tested beside.
func TestServingGuide(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "serving.md"))
	require.NoError(t, err)
	guide := string(data)
	commands := regexp.MustCompile(`(?m)^\$ grade ([^#\n>]*)`).FindAllStringSubmatch(guide, -1)
	require.Greater(t, len(commands), 10)
	for _, c := range commands {
		root := newRoot(newApp(nil, os.Stdout, os.Stderr))
		cmd, args, err := root.Find(strings.Fields(c[1]))
		require.NoError(t, err, c[1])
		require.NoError(t, cmd.ParseFlags(args), c[1])
		if cmd.Args != nil {
			assert.NoError(t, cmd.Args(cmd, cmd.Flags().Args()), c[1])
		}
	}
	for _, name := range site.Reserved {
		assert.Contains(t, guide, "`"+name+"`")
	}
	metrics := metricsOf(t)
	for _, metric := range regexp.MustCompile("`(grade_[a-z_]+)`").FindAllStringSubmatch(guide, -1) {
		assert.Contains(t, metrics, "\n# HELP "+metric[1]+" ", metric[1])
	}
}

// metricsOf returns what a service tells Prometheus.
func metricsOf(t *testing.T) string {
	t.Helper()
	s := serveSample(t, "--workers", "0")
	c := s.enter(s.link)
	s.get(c, "/")
	return "\n" + s.get(c, "/metrics")
}
