package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"grade/grader"
)

// News is something that has become of an attempt.
type News struct {
	Stage string        `json:"stage"`
	Words string        `json:"words"` // of the stage, for people
	Event *grader.Event `json:"event"` // nil: the stage itself is the news
}

// retry is how long a broken stream is left alone, and patience how often in a row: a
// service that is started anew is back within a minute.
var retry = 2 * time.Second

const patience = 60

// Follow hears of an attempt until it has come to its end, and returns it as it is then. A
// stream that breaks off is taken up again: the submission is kept, whatever happens to
// the connection.
func (c *Client) Follow(ctx context.Context, a Attempt, hear func(News)) (Attempt, error) {
	for failures := 0; a.On(); {
		answers := false
		err := c.listen(ctx, a.Events, func(n News) { answers = true; hear(n) })
		now, asked := c.Attempt(ctx, a.Address)
		switch {
		case ctx.Err() != nil:
			return a, fmt.Errorf("follow attempt %d: %w", a.Number, context.Cause(ctx))
		case asked == nil:
			a, answers = now, true
		default:
			err = asked
		}
		if !a.On() {
			break
		}
		if failures++; answers {
			failures = 0
		}
		if failures > patience {
			return a, fmt.Errorf("attempt %d is kept at %s, and the service does not answer any more: %w", a.Number, c.base.JoinPath(a.Address), err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return a, nil
}

// listen reads a stream of server-sent events to its end.
func (c *Client) listen(ctx context.Context, address string, hear func(News)) error {
	r, err := c.do(ctx, "GET", address, "", nil)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20) // a check's details are longer than a line usually is
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var n News
		if err := json.Unmarshal([]byte(data), &n); err != nil {
			return fmt.Errorf("read the service's news: %w", err)
		}
		hear(n)
	}
	return lines.Err()
}
