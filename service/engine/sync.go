package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"grade/grader/fault"
)

// checkSync refuses a cluster of which a server acknowledges before it has synced. Only the
// cluster's system account sees that; without it, the log has a warning.
func (e *Engine) checkSync(ctx context.Context) error {
	if e.config.SystemCreds == "" {
		e.log.Warn("it cannot be seen whether the cluster syncs before it acknowledges; what is acknowledged may be lost when the power fails",
			"do", "set sync_interval: always in the jetstream block of each server, and give credentials of the system account: --nats-system-creds FILE")
		return nil
	}
	nc, err := dial(ctx, e.log, e.config.NATS, e.config.SystemCreds, "grade serve, at its start")
	if err != nil {
		return err
	}
	defer nc.Close()
	inbox := nc.NewRespInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	if err := nc.PublishRequest("$SYS.REQ.SERVER.PING.JSZ", inbox, nil); err != nil {
		return err
	}
	m, err := sub.NextMsg(callTimeout)
	if err != nil {
		return errors.New("the cluster's system account does not answer: are the credentials of it?")
	}
	for err == nil { // servers answer one by one; silence says that all have
		if err := synced(m.Data); err != nil {
			return err
		}
		m, err = sub.NextMsg(time.Second)
	}
	return nil
}

// synced reads what a server says of its JetStream.
func synced(data []byte) error {
	var answer struct {
		Server server.ServerInfo `json:"server"`
		Data   server.JSInfo     `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("read what a server says of JetStream: %w", err)
	}
	if answer.Data.Disabled || answer.Data.Config.SyncAlways {
		return nil
	}
	return &fault.Error{
		Message: fmt.Sprintf("the server %s acknowledges before it has synced: what it has acknowledged is lost when the power fails", answer.Server.Name),
		Advice:  "set sync_interval: always in its jetstream block, and start it again",
	}
}
