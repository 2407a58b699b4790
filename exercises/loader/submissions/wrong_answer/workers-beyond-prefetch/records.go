package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
)

type Records struct {
	f    *os.File
	size int
	n    int
}

func OpenRecords(path string, recordSize int) (*Records, error) {
	if recordSize <= 0 {
		return nil, ErrConfig
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if info.Size()%int64(recordSize) != 0 {
		f.Close()
		return nil, fmt.Errorf("%w: %s", ErrSize, path)
	}
	return &Records{f: f, size: recordSize, n: int(info.Size()) / recordSize}, nil
}

func (r *Records) Len() int { return r.n }

func (r *Records) Get(ctx context.Context, i int) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if i < 0 || i >= r.n {
		return nil, ErrIndex
	}
	b := make([]byte, r.size)
	if _, err := r.f.ReadAt(b, int64(i*r.size)); err != nil {
		return nil, err
	}
	return b, nil
}

func (r *Records) Close() error {
	err := r.f.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
