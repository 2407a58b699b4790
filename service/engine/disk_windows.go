package engine

import "golang.org/x/sys/windows"

// room is how many bytes a disk has left for what is in a folder.
func room(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var left uint64
	err = windows.GetDiskFreeSpaceEx(name, &left, nil, nil)
	return left, err
}
