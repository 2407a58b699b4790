package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"grade/grader/fault"
	"grade/service/engine"
	"grade/service/people"
	"grade/service/site"
)

// control is a socket in the folder of a service, by which commands on this machine speak to
// it while it runs. Who may open the folder may do all of it.
type control struct {
	listener net.Listener
	server   *http.Server
}

// longestSocket is how long the path of a socket can be; some systems take less.
const longestSocket = 100

// openControl opens the socket. One of a killed process is in the way, and removed: the
// lock of the folder says that no other process serves it.
func openControl(data string, door *people.Door, e *engine.Engine, address string, imported func()) (*control, error) {
	name := controlName(data)
	if len(name) > longestSocket {
		return nil, usage("give a folder with a shorter path", "--data %s: the path is too long for a socket", data)
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	l, err := net.Listen("unix", name)
	if err == nil {
		err = os.Chmod(name, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /invite", inviteHandler(door, address))
	mux.HandleFunc("POST /export", exchangeHandler(e.Export))
	mux.HandleFunc("POST /import", exchangeHandler(func(ctx context.Context, dir string) (engine.Exchanged, error) {
		defer imported() // it may have brought work of people whom the roster spells otherwise
		return e.Import(ctx, dir)
	}))
	return &control{l, &http.Server{Handler: mux, ReadTimeout: 10 * time.Second}}, nil
}

func (c *control) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.server.Close() })
	defer stop()
	if err := c.server.Serve(c.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the control socket: %w", err)
	}
	return nil
}

func (c *control) close() error {
	if err := c.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the control socket: %w", err)
	}
	return nil
}

// invitation is what grade serve invite asks for, and link what it gets.
type (
	invitation struct {
		Logins []string    `json:"logins"`
		Role   people.Role `json:"role"`
		Known  bool        `json:"known"` // refuse who is in no roster
	}
	link struct {
		Login string `json:"login"`
		Link  string `json:"link"`
	}
	refusal struct {
		Message string `json:"message"`
		Advice  string `json:"advice"`
	}
)

func inviteHandler(door *people.Door, address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var i invitation
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&i); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		links, err := i.links(r.Context(), door, address)
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			said := refusal{Message: err.Error()}
			if f := (*fault.Error)(nil); errors.As(err, &f) {
				said.Advice = f.Advice
			}
			_ = json.NewEncoder(w).Encode(said) // the command is gone
			return
		}
		_ = json.NewEncoder(w).Encode(links) // the command is gone
	}
}

// links makes the links of an invitation: all, or none if one login cannot have any.
func (i invitation) links(ctx context.Context, door *people.Door, address string) (list []link, err error) {
	for _, login := range i.Logins {
		p, err := door.Person(ctx, login)
		switch {
		case i.Known && errors.Is(err, people.ErrStranger):
			return nil, usage("put them into the roster, or say what they are: --role student", "%q is not in the roster", login)
		case !i.Known && err == nil && p.Role != i.Role:
			return nil, usage("change the roster, where it says so, or leave out --role", "%s is %s here already", login, p.Role)
		case errors.Is(err, people.ErrStranger):
			if err := site.Invitable(ctx, door, []string{login}, i.Role); err != nil {
				return nil, usage("", "invite %s: %v", login, err)
			}
		}
	}
	for _, login := range i.Logins {
		secret, err := site.Invite(ctx, door, login, i.Role)
		if err != nil {
			return nil, usage("", "invite %s: %v", login, err)
		}
		list = append(list, link{login, site.LinkOf(address, secret)})
	}
	return list, nil
}

// ask sends an invitation to a running service. The error wraps [os.ErrNotExist] if none runs.
func (i invitation) ask(ctx context.Context, data string) (list []link, err error) {
	body, err := json.Marshal(i)
	if err != nil {
		return nil, err
	}
	err = askService(ctx, data, "invite", body, &list)
	return list, err
}
