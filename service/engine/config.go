package engine

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"time"
)

// Config says where an engine keeps a course.
type Config struct {
	Course  string // name; empty: "course". A cluster keeps several apart by it
	DataDir string // of the server in this process; unused with NATS
	// Listen is the address on which the server in this process takes workers of other
	// machines, such as "0.0.0.0:4222"; empty: it takes none.
	Listen string
	TLS    *tls.Config // of that address; nil: what travels can be read on the network
	NATS   string      // URL of a cluster; empty: a server in this process
	Creds  string      // file with credentials for the cluster; empty: none
	// SystemCreds is a file with credentials of the cluster's system account, which alone
	// can see how its servers write to their disks; empty: not seen.
	SystemCreds string
	Replicas    int    // of everything that lasts; 0: 3 on a cluster that can, else 1
	Grader      string // which grader jobs are for, see [service.Job]
	// Visit leaves the queue and what keeps it as they are: for who reads or writes what is
	// kept beside the engines of a service, which may be of another version.
	Visit bool

	AckWait time.Duration // how long a silent worker keeps a job; 0: [DefaultAckWait]
	Beat    time.Duration // how often a worker is heard; 0: [DefaultBeat]

	noSync bool // as the server's own default is: for the test that shows what this loses

	Log *slog.Logger     // nil: none
	Now func() time.Time // nil: [time.Now]
}

// The defaults of a configuration.
const (
	DefaultAckWait = 20 * time.Second
	DefaultBeat    = 2 * time.Second
)

// beatsMissed is after how many beats a silent worker is taken to be gone.
const beatsMissed = 4

func (c Config) filled() Config {
	c.Course = cmp.Or(c.Course, "course")
	c.AckWait = cmp.Or(c.AckWait, DefaultAckWait)
	c.Beat = cmp.Or(c.Beat, DefaultBeat)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
