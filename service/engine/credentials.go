package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"

	"grade/grader/fault"
)

// WorkerPermissions returns what the credentials of a worker have to allow: it takes jobs,
// reads their files, tells progress and gives results, and nothing else. It can neither
// make jobs nor remove results, and reads no person's secrets. It is for clusters whose
// operator writes credentials; those of a server in this process come from
// [WorkerCredentials].
//
// Workers need an account of their own, which imports subjects of the course's as services:
// examples/serving/cluster shows it. It has no JetStream, by which a worker knows it. Workers
// trust each other, as services in one account of a cluster do. Permissions alone do not do: the server looks at where a
// message goes, and not at where the answer to it is to go. A worker in the account of the
// course would have the answer to its question go to $JS.API.STREAM.DELETE.
func WorkerPermissions(course, worker string) (publish, subscribe []string) {
	publish = []string{api + ".INFO"} // which says whose account it is, see [Jobs]
	for _, s := range workerServices(Config{Course: course}.filled().Course, token(worker)) {
		publish = append(publish, s.local())
	}
	return publish, []string{inbox(worker) + ".>"}
}

// workerService is a subject of the course's account on which workers ask or tell something.
type workerService struct {
	subject string
	answers jwt.ResponseType // to one question; empty: one
}

// workerServices are what a worker may ask and tell; "*" is any worker.
func workerServices(course, worker string) []workerService {
	n := names{course}
	jobs := n.jobs()
	list := []workerService{
		{subject: api + ".CONSUMER.INFO." + jobs + ".*"}, // find the queue
		{api + ".CONSUMER.MSG.NEXT." + jobs + ".*", jwt.ResponseTypeStream},
		{subject: "$JS.ACK." + jobs + ".>"},
		{subject: "$JS.ACK.*.*." + jobs + ".>"}, // the form of newer servers
		{subject: n.all(kindResult)}, {subject: n.all(kindFailure)}, {subject: n.all(kindProgress)},
		{subject: n.subject(kindWorker, worker)},
	}
	for _, bucket := range []string{n.submissions(), n.courses()} {
		list = append(list, workerService{subject: api + ".STREAM.INFO.OBJ_" + bucket}, workerService{subject: api + ".STREAM.MSG.GET.OBJ_" + bucket})
	}
	return list
}

// api begins the subjects on which the server is asked about streams, and importedAPI those by
// which an account without streams asks about another's: the server answers what begins with
// api by itself, in every account.
const api, importedAPI = "$JS.API", "course.API"

// local is the subject in the account of the workers.
func (s workerService) local() string {
	if rest, ok := strings.CutPrefix(s.subject, api); ok {
		return importedAPI + rest
	}
	return s.subject
}

// WorkerCredentials returns the file of credentials with which a worker of that name
// connects to the server that keeps its files in a folder, see [Config]. They end after a
// time; 0: never.
func WorkerCredentials(dataDir, course, worker string, lasts time.Duration) ([]byte, error) {
	if worker == "" {
		return nil, &fault.Error{Message: "make credentials: a worker needs a name"}
	}
	workers, err := readKey(filepath.Join(dataDir, "keys", workersKey))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("make credentials: %w", err)
	}
	if err != nil {
		return nil, &fault.Error{Message: "make credentials: there is no key that signs them", Advice: "start the service of this version in this folder first: it makes one", Err: err}
	}
	publish, subscribe := WorkerPermissions(course, worker)
	p := jwt.Permissions{Pub: jwt.Permission{Allow: publish}, Sub: jwt.Permission{Allow: subscribe}}
	expires := time.Time{}
	if lasts > 0 {
		expires = time.Now().Add(lasts)
	}
	signed, pair, err := user(workers, worker, p, expires)
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	return jwt.FormatUserConfig(signed, seed)
}

// WorkerOf returns the name of the worker that a file of credentials is for.
func WorkerOf(creds []byte) (string, error) {
	signed, err := jwt.ParseDecoratedJWT(creds)
	if err != nil {
		return "", err
	}
	u, err := jwt.DecodeUserClaims(signed)
	if err != nil {
		return "", err
	}
	return u.Name, nil
}
