package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
)

type Records struct {
	file *os.File
	n    int
	size int64
}

func OpenRecords(path string, recordSize int) (r *Records, err error) {
	if recordSize <= 0 {
		return nil, fmt.Errorf("%w: record size %d", ErrConfig, recordSize)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open records: %w", err)
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	size := int64(recordSize)
	if info.Size()%size != 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrSize)
	}
	return &Records{file, int(info.Size() / size), size}, nil
}

func (r *Records) Len() int { return r.n }

func (r *Records) Get(ctx context.Context, i int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if uint(i) >= uint(r.n) {
		return nil, fmt.Errorf("record %d: %w", i, ErrIndex)
	}
	b := make([]byte, r.size)
	_, err := r.file.ReadAt(b, int64(i)*r.size)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", i, err)
	}
	return b, nil
}

func (r *Records) Close() error {
	if err := r.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
