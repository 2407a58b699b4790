package docker

import (
	"os"
	"os/exec"
)

// Expected reports whether this machine is one with Docker: the
// environment names an engine, its socket is there, or a client is installed.
func Expected() bool {
	if os.Getenv("DOCKER_HOST") != "" {
		return true
	}
	if _, err := os.Stat("/var/run/docker.sock"); err == nil {
		return true
	}
	_, err := exec.LookPath("docker")
	return err == nil
}
