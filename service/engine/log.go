package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"grade/grader/results"
	"grade/grader/verdict"
)

// attemptSchema names the format of an attempt in the log.
const attemptSchema = "grade/attempt/v1"

// attemptEntry is an attempt as the log has it. One with a number that is there already
// mends its time, or asks for it to be graded again.
type attemptEntry struct {
	Schema    string            `json:"schema"`
	Student   string            `json:"student"`
	Exercise  string            `json:"exercise"`
	Number    int               `json:"attempt"`
	Content   string            `json:"content"`
	Submitted time.Time         `json:"submitted,omitzero"`
	Source    string            `json:"submitted_source,omitempty"`
	Dir       string            `json:"dir"`
	Ignored   []string          `json:"ignored,omitempty"`
	Problems  []verdict.Problem `json:"problems,omitempty"`
	Beside    bool              `json:"beside,omitempty"`  // it replaces none of those before it
	Kept      bool              `json:"kept,omitempty"`    // in an export: no later one replaces it
	Keeps     []int             `json:"keeps,omitempty"`   // earlier ones that it does not replace: a worker has had them
	Failure   *failureEntry     `json:"failure,omitempty"` // in an export: it has no verdict, and others came after it
}

func (a attemptEntry) cell() cellID { return cellID{a.Student, a.Exercise} }

func (a attemptEntry) handIn() handIn { return handIn{a.Dir, a.Content, a.Ignored, a.Problems} }

func (a attemptEntry) attempt() results.Attempt {
	return results.Attempt{
		Entry:  results.Entry{Student: a.Student, Exercise: a.Exercise, Content: a.Content, Submitted: a.Submitted, Source: a.Source},
		Number: a.Number,
	}
}

// failureSchema names the format of a failure in the log.
const failureSchema = "grade/failure/v1"

// failureEntry says why an attempt has no verdict.
type failureEntry struct {
	Schema string    `json:"schema"`
	Why    string    `json:"why"`
	Told   string    `json:"told,omitempty"`
	Worker string    `json:"worker"`
	At     time.Time `json:"at"`
	Again  bool      `json:"again,omitempty"` // it is in the queue again
}

// follow reads the log for as long as the context lasts, and folds it into the state.
func (e *Engine) follow(ctx context.Context) {
	const pause = 250 * time.Millisecond
	for ctx.Err() == nil {
		if err := e.read(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("the log is read again", "because", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// read reads the log from where the state is, until something is in the way.
func (e *Engine) read(ctx context.Context) error {
	from := e.seq() + 1
	var messages jetstream.MessagesContext
	if err := timed(ctx, func(ctx context.Context) error {
		c, err := e.js.OrderedConsumer(ctx, e.names.log(), jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from})
		if err == nil {
			messages, err = c.Messages()
		}
		return err
	}); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- e.receive(messages) }()
	defer func() { go messages.Stop() }() // which waits as long as the client does
	return e.attend(ctx, ended)
}

// receive takes all messages that come.
func (e *Engine) receive(messages jetstream.MessagesContext) error {
	for {
		m, err := messages.Next()
		if err == nil {
			err = e.take(m)
		}
		if err != nil {
			return err
		}
	}
}

// quiet is after how long without a message the engine asks whether there is one.
const quiet = time.Second

// attend returns when a reader has ended, or when nothing comes of it although the log has
// more. The client reads on by itself after most faults; after the server that led the log
// was killed, it was seen to wait for ever, and with a limit on each wait as well. Such a
// reader is left behind: what it takes later is in the state already.
func (e *Engine) attend(ctx context.Context, ended <-chan error) error {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for seq := e.seq(); ; seq = e.seq() {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if e.seq() != seq {
			continue
		}
		if err := e.behind(ctx, seq); err != nil && e.seq() == seq {
			return err
		}
	}
}

// seq is the last message of the log that the state has.
func (e *Engine) seq() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.seq
}

// behind returns an error if the log has more than a message, or cannot be asked.
func (e *Engine) behind(ctx context.Context, seq uint64) error {
	return timed(ctx, func(ctx context.Context) error {
		s, err := e.js.Stream(ctx, e.names.log())
		if err == nil && s.CachedInfo().State.LastSeq > seq && s.CachedInfo().State.Msgs > 0 {
			err = fmt.Errorf("message %d does not come", seq+1)
		}
		return err
	})
}

// take folds one message of the log into the state. What cannot be understood is passed
// over, with an error in the log of this program: the rest of the course goes on.
func (e *Engine) take(m jetstream.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if meta.Sequence.Stream <= e.state.seq {
		return nil
	}
	e.state.seq = meta.Sequence.Stream
	if err := e.state.fold(m.Subject(), m.Data(), meta.Sequence.Stream, meta.Timestamp); err != nil {
		e.log.Error("a message of the log is passed over", "subject", m.Subject(), "sequence", meta.Sequence.Stream, "because", err)
	}
	close(e.changed)
	e.changed = make(chan struct{})
	return nil
}

// await returns when the state has what the log has up to a sequence.
func (e *Engine) await(ctx context.Context, seq uint64) error {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	for {
		e.mu.Lock()
		there, changed := e.state.seq >= seq, e.changed
		e.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the log to come back: %w", context.Cause(ctx))
		case <-changed:
		}
	}
}

// caughtUp returns when the state has all that the log has now.
func (e *Engine) caughtUp(ctx context.Context) error {
	var info *jetstream.StreamInfo
	err := again(ctx, func(ctx context.Context) error {
		s, err := e.js.Stream(ctx, e.names.log())
		if err == nil {
			info = s.CachedInfo()
		}
		return err
	})
	if err != nil || info.State.Msgs == 0 {
		return err
	}
	for { // a long log takes longer than one wait
		before := e.seq()
		err := e.await(ctx, info.State.LastSeq)
		if err == nil || e.seq() == before || ctx.Err() != nil {
			return err
		}
	}
}

// keep adds a message to the log, and returns when the state has it.
func (e *Engine) keep(ctx context.Context, subject string, v any, expected *uint64) (uint64, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	seq, err := publish(ctx, e.js, subject, data, expected)
	if err != nil {
		return 0, err
	}
	return seq, e.await(ctx, seq)
}
