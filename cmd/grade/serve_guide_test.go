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
		isCommand(t, strings.Fields(c[1]))
	}
	for _, name := range site.Reserved {
		assert.Contains(t, guide, "`"+name+"`")
	}
	metrics := metricsOf(t)
	for _, metric := range regexp.MustCompile("`(grade_[a-z_]+)`").FindAllStringSubmatch(guide, -1) {
		assert.Contains(t, metrics, "\n# HELP "+metric[1]+" ", metric[1])
	}
}

// isCommand holds that there is a command with such flags and arguments. It is not run.
func isCommand(t *testing.T, words []string) {
	t.Helper()
	cmd, args, err := newRoot(newApp(nil, os.Stdout, os.Stderr)).Find(words)
	require.NoError(t, err, words)
	require.NoError(t, cmd.ParseFlags(args), words)
	if cmd.Args != nil {
		assert.NoError(t, cmd.Args(cmd, cmd.Flags().Args()), words)
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
