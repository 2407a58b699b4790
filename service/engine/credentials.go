package engine

import (
	"path/filepath"
	"time"

	"github.com/nats-io/jwt/v2"

	"grade/grader/fault"
)

// WorkerPermissions returns what the credentials of a worker have to allow: it takes jobs,
// reads their files, tells progress and gives results, and nothing else. It can neither
// make jobs nor remove results, and reads no person's secrets. It is for clusters whose
// operator writes credentials; those of a server in this process come from
// [WorkerCredentials].
func WorkerPermissions(course, worker string) (publish, subscribe []string) {
	n := names{Config{Course: course}.filled().Course}
	jobs := n.jobs()
	publish = []string{
		"$JS.API.CONSUMER.INFO." + jobs + ".*", // find the queue
		"$JS.API.CONSUMER.MSG.NEXT." + jobs + ".*",
		"$JS.ACK." + jobs + ".>",
		"$JS.ACK.*.*." + jobs + ".>", // the form of newer servers
		n.all(kindResult), n.all(kindFailure), n.all(kindProgress),
		n.subject(kindWorker, token(worker)),
	}
	for _, bucket := range []string{n.submissions(), n.courses()} {
		publish = append(publish, "$JS.API.STREAM.INFO.OBJ_"+bucket, "$JS.API.STREAM.MSG.GET.OBJ_"+bucket)
	}
	return publish, []string{inbox(worker) + ".>"}
}

// WorkerCredentials returns the file of credentials with which a worker of that name
// connects to the server that keeps its files in a folder, see [Config]. They end after a
// time; 0: never.
func WorkerCredentials(dataDir, course, worker string, lasts time.Duration) ([]byte, error) {
	if worker == "" {
		return nil, &fault.Error{Message: "make credentials: a worker needs a name"}
	}
	k, err := openKeys(filepath.Join(dataDir, "keys"))
	if err != nil {
		return nil, err
	}
	publish, subscribe := WorkerPermissions(course, worker)
	p := jwt.Permissions{Pub: jwt.Permission{Allow: publish}, Sub: jwt.Permission{Allow: subscribe}}
	expires := time.Time{}
	if lasts > 0 {
		expires = time.Now().Add(lasts)
	}
	signed, pair, err := k.user(worker, p, expires)
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
