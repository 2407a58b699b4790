package people

import (
	"context"
	"time"
)

// spy notes what is kept.
type spy struct {
	Store
	said string
}

func (s *spy) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (uint64, error) {
	s.said += key + " " + string(value) + "\n"
	return s.Store.Create(ctx, key, value, ttl)
}

func (s *spy) Update(ctx context.Context, key string, value []byte, revision uint64, ttl time.Duration) (uint64, error) {
	s.said += key + " " + string(value) + "\n"
	return s.Store.Update(ctx, key, value, revision, ttl)
}
