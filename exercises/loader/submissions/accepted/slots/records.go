package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// What Records report.
var (
	ErrIndex = errors.New("loader: no such record")
	ErrSize  = errors.New("loader: not a whole number of records")
)

// Records is a file of records of equal size, as a dataset. It reads each record
// when it is asked for and keeps none.
type Records struct {
	file *os.File
	size int
	n    int
}

var _ Dataset[[]byte] = (*Records)(nil)

// OpenRecords opens a file of records of recordSize bytes each.
func OpenRecords(path string, recordSize int) (*Records, error) {
	if recordSize < 1 {
		return nil, fmt.Errorf("%w: records of %d bytes", ErrConfig, recordSize)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size()%int64(recordSize) != 0 {
		err = fmt.Errorf("%w: %d bytes in records of %d", ErrSize, info.Size(), recordSize)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Records{file: f, size: recordSize, n: int(info.Size() / int64(recordSize))}, nil
}

// Len returns how many records the file held when it was opened.
func (r *Records) Len() int { return r.n }

// Get reads record i. ReadAt has no offset to share, so that any number of calls
// may run at the same time.
func (r *Records) Get(ctx context.Context, i int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if i < 0 || i >= r.n {
		return nil, fmt.Errorf("%w: %d of %d", ErrIndex, i, r.n)
	}
	record := make([]byte, r.size)
	if n, err := r.file.ReadAt(record, int64(i)*int64(r.size)); n < len(record) {
		return nil, fmt.Errorf("loader: record %d: %w", i, err)
	}
	return record, nil
}

// Close closes the file. Closing it again does nothing.
func (r *Records) Close() error {
	if err := r.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
