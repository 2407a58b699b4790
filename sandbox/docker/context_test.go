package docker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/docker/docker/api/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestContextHost(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	// The folders are what sha256sum says of the names.
	for name, host := range map[string]string{
		"12b961af5feb3e9d39f93b2cefb9a1a944f18d02cca0cac2f04f5a982240605f": "unix:///run/user/1000/docker.sock", // rootless
		"b71199ebd070b36beab7317920c2c2f1d777df8d05e5527d8458fda57cb17a7a": "tcp://1.2.3.4:2376",                // remote
	} {
		file("contexts/meta/"+name+"/meta.json", `{"Name": "x", "Metadata": {}, "Endpoints": {"docker": {"Host": "`+host+`", "SkipTLSVerify": false}}}`)
	}
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("DOCKER_CONTEXT", "")
	t.Setenv("DOCKER_CONFIG", dir)
	assert.Empty(t, contextHost(), "no configuration")
	file("config.json", `{"currentContext": "rootless"}`)
	assert.Equal(t, "unix:///run/user/1000/docker.sock", contextHost())
	assert.True(t, Expected())
	file("config.json", `{"currentContext": "remote"}`)
	assert.Empty(t, contextHost(), "one on another machine is asked with keys")
	file("config.json", `{"currentContext": "rootless"}`)
	t.Setenv("DOCKER_CONTEXT", "default")
	assert.Empty(t, contextHost(), "the variable is before the file")
	t.Setenv("DOCKER_CONTEXT", "")
	t.Setenv("DOCKER_HOST", "tcp://1.2.3.4:2375")
	assert.Empty(t, contextHost(), "the environment names one")
}

func TestPodman(t *testing.T) {
	named := func(name string) types.Version {
		return types.Version{Components: []types.ComponentVersion{{Name: name}}}
	}
	assert.True(t, podman(named("Podman Engine")))
	assert.False(t, podman(named("Engine")))
	assert.False(t, podman(types.Version{}))
}
