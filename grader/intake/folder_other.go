//go:build !unix

package intake

const onlyFolders = 0 // opening a folder waits for no one there
