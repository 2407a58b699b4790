package docker

import (
	"math/rand/v2"
	"sync/atomic"
)

// users gives out the users that programs run as, one for each box. The kernel counts some of
// what it holds for a user over the whole machine (watches of epoll, pages in pipes, signals
// that wait): what a program uses up of it is its own, and not that of all other boxes.
type users struct{ taken *atomic.Uint32 }

// The users that neither distributions nor systemd give to anybody (60578 to 61183, by
// systemd's UIDS-GIDS.md), and that a user namespace of 65,536 users has.
const (
	firstUser = 60578
	numUsers  = 61183 - firstUser + 1
)

// newUsers begins anywhere, because other processes on this machine have boxes as well.
func newUsers() users {
	u := users{new(atomic.Uint32)}
	u.taken.Store(rand.Uint32N(numUsers))
	return u
}

func (u users) next() int { return firstUser + int(u.taken.Add(1)%numUsers) }
