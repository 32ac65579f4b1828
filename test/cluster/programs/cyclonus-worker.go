// Stands for the worker of cyclonus in its pods: sends all probes at once and from its own process. The published
// one starts agnhost for each of them.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattfenwick/cyclonus/pkg/worker"
	v1 "k8s.io/api/core/v1"
)

const (
	attempts = 2
	limit    = time.Second
)

func main() {
	jobs := flag.String("jobs", "", "what to probe, as JSON")
	flag.Parse()
	var batch worker.Batch
	if err := json.Unmarshal([]byte(*jobs), &batch); err != nil {
		log.Fatal(err)
	}
	results := make([]*worker.Result, len(batch.Requests))
	var wait sync.WaitGroup
	for i, request := range batch.Requests {
		wait.Go(func() { results[i] = probe(request) })
	}
	wait.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}

func probe(request *worker.Request) *worker.Result {
	result := &worker.Result{Request: request}
	for range attempts {
		err := connect(request)
		if err == nil {
			result.Error = ""
			return result
		}
		result.Error = err.Error()
	}
	return result
}

// A TCP server accepts the connection, a UDP server answers with its name.
func connect(request *worker.Request) error {
	connection, err := net.DialTimeout(strings.ToLower(string(request.Protocol)), request.Address(), limit)
	if err != nil {
		return err
	}
	defer connection.Close()
	if request.Protocol != v1.ProtocolUDP {
		return nil
	}
	if err := connection.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if _, err := connection.Write([]byte("hostname\n")); err != nil {
		return err
	}
	_, err = connection.Read(make([]byte, 1024))
	return err
}
