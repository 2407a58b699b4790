package intake

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFolderIn(t *testing.T) {
	assert.Equal(t, "ring", FolderIn("/srv/repo", "/srv/repo/ring"))
	assert.Empty(t, FolderIn("/srv/repo", "/srv/repo"))
	assert.Empty(t, FolderIn("/srv/repo", "/srv/other/ring"))
	assert.Empty(t, FolderIn("", ".."))
}
