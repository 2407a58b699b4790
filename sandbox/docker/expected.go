package docker

import (
	"os"
	"os/exec"
)

// Expected reports whether this machine is one with Docker: the
// environment or a context names an engine, its socket is there, or a client is installed.
func Expected() bool {
	if os.Getenv("DOCKER_HOST") != "" || contextHost() != "" {
		return true
	}
	if _, err := os.Stat("/var/run/docker.sock"); err == nil {
		return true
	}
	_, err := exec.LookPath("docker")
	return err == nil
}
