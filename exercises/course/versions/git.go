package versions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"

	"grade/grader/fault"
)

// git runs git in the folder of a course. Its errors quote git.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, &fault.Error{Message: "git: " + strings.TrimSpace(string(exit.Stderr)), Advice: "give a revision of the course's repository, such as origin/main"}
	}
	return out, err
}

// CheckOut writes an exercise of the course in dir, as it was at a revision, below to.
func CheckOut(ctx context.Context, dir, revision, name, to string) error {
	tree, err := git(ctx, dir, "rev-parse", "--verify", "--end-of-options", revision+":./")
	if err != nil {
		return err
	}
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	// In the folder itself git would look for that folder in the tree once more.
	repository := strings.TrimSuffix(string(top), "\n")
	files, err := git(ctx, repository, "ls-tree", "-r", "-z", strings.TrimSpace(string(tree)), "--", "go.mod", "exercises/"+name, "reference/"+name)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		about, file, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(about); len(f) == 3 && strings.HasPrefix(f[0], "100") { // no link, no repository
			if err := takeOut(ctx, repository, f[2], root, file); err != nil {
				return fmt.Errorf("read %s of %s out of git: %w", file, revision, err)
			}
		}
	}
	return nil
}

// takeOut writes an object of a repository to a file. It does not use git archive, which
// leaves out or changes files by the course's attributes.
func takeOut(ctx context.Context, repository, object string, root *os.Root, file string) error {
	data, err := git(ctx, repository, "cat-file", "blob", object)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(file), 0o777); err != nil {
		return err
	}
	return root.WriteFile(file, data, 0o666)
}
