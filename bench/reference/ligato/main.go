// The scheduler of the original agent, ligato's kvscheduler, on a southbound that costs nothing: the
// reference for our scheduler. The values are those of bench/lib/scheduler-cost.ts.
//
// ligato independent 10000    values without dependencies
// ligato chain 5000           each value depends on the one before, which also comes before it in key order
// ligato derived 1000 20      values that derive 20 values each
//
// Prints one line of JSON: elapsed time and processor time of one transaction in milliseconds, and the
// memory of the process and its heap after it, after a garbage collection, in bytes.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gogo/protobuf/proto"
	"github.com/ligato/cn-infra/logging"
	_ "github.com/ligato/cn-infra/logging/logrus"
	l3 "github.com/ligato/vpp-agent/api/models/vpp/l3"
	"github.com/ligato/vpp-agent/plugins/kvscheduler"
	kvs "github.com/ligato/vpp-agent/plugins/kvscheduler/api"
)

type result struct {
	Ms    float64 `json:"ms"`
	CpuMs float64 `json:"cpuMs"`
	// after a garbage collection
	RestRssBytes uint64 `json:"restRssBytes"`
	// after one that returns free memory to the system
	RssBytes  uint64 `json:"rssBytes"`
	HeapBytes uint64 `json:"heapBytes"`
}

const (
	routePrefix  = "config/route/"
	memberPrefix = "config/member/"
)

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: ligato independent|chain|derived <count> [<derived>]"))
	}
	count, members := number(os.Args[2]), 0
	logging.DefaultLogger.SetLevel(logging.ErrorLevel)
	scheduler := kvscheduler.NewPlugin(kvscheduler.UseDeps(func(deps *kvscheduler.Deps) {
		deps.HTTPHandlers = nil
		deps.Cfg = withoutSummary{}
		deps.Log = logging.ForPlugin("kvscheduler")
		deps.Log.SetLevel(logging.ErrorLevel)
	}))
	check(scheduler.Init())
	defer scheduler.Close()

	var values map[string]proto.Message
	switch os.Args[1] {
	case "independent":
		values = independent(count)
	case "chain":
		values = chain(count)
	case "derived":
		members = number(os.Args[3])
		values = independent(count)
	default:
		fail(fmt.Errorf("unknown work %q", os.Args[1]))
	}
	check(scheduler.RegisterKVDescriptor(descriptors(members)...))

	runtime.GC()
	start, startCpu := time.Now(), cpuMs()
	txn := scheduler.StartNBTransaction()
	for key, value := range values {
		txn.SetValue(key, value)
	}
	_, err := txn.Commit(context.Background())
	check(err)
	out := result{
		Ms:    float64(time.Since(start).Microseconds()) / 1000,
		CpuMs: cpuMs() - startCpu,
	}
	for key := range values {
		if state := scheduler.GetValueStatus(key).GetValue().GetState(); state != kvs.ValueState_CONFIGURED {
			fail(fmt.Errorf("%s is %s", key, state))
		}
	}
	runtime.GC()
	out.RestRssBytes = rss()
	debug.FreeOSMemory()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	out.RssBytes, out.HeapBytes = rss(), heap.HeapAlloc
	check(json.NewEncoder(os.Stdout).Encode(out))
}

// descriptors of routes, whose outgoing interface is the key that they depend on, and of derived values.
func descriptors(members int) []*kvs.KVDescriptor {
	create := func(string, proto.Message) (kvs.Metadata, error) { return nil, nil }
	remove := func(string, proto.Message, kvs.Metadata) error { return nil }
	route := &kvs.KVDescriptor{
		Name:        "route",
		KeySelector: hasPrefix(routePrefix),
		NBKeyPrefix: routePrefix,
		Create:      create,
		Delete:      remove,
		Dependencies: func(_ string, value proto.Message) []kvs.Dependency {
			before := value.(*l3.Route).OutgoingInterface
			if before == "" {
				return nil
			}
			return []kvs.Dependency{{Label: "before", Key: before}}
		},
	}
	if members > 0 {
		route.DerivedValues = func(key string, value proto.Message) (derived []kvs.KeyValuePair) {
			for i := 0; i < members; i++ {
				derived = append(derived, kvs.KeyValuePair{
					Key:   fmt.Sprintf("%s%d/%s", memberPrefix, i, key[len(routePrefix):]),
					Value: &l3.Route{Weight: 1},
				})
			}
			return derived
		}
	}
	return []*kvs.KVDescriptor{route, {
		Name:        "member",
		KeySelector: hasPrefix(memberPrefix),
		Create:      create,
		Delete:      remove,
	}}
}

func independent(count int) map[string]proto.Message {
	values := make(map[string]proto.Message, count)
	for i := 0; i < count; i++ {
		values[routePrefix+destination(i)] = &l3.Route{DstNetwork: destination(i), Weight: 1}
	}
	return values
}

func chain(count int) map[string]proto.Message {
	values := make(map[string]proto.Message, count)
	key := func(place int) string { return fmt.Sprintf("%s%05d", routePrefix, place) }
	for place := 0; place < count; place++ {
		value := &l3.Route{DstNetwork: destination(place), Weight: 1}
		if place > 0 {
			value.OutgoingInterface = key(place - 1)
		}
		values[key(place)] = value
	}
	return values
}

func destination(i int) string {
	return fmt.Sprintf("10.%d.%d.%d/32", i>>16, i>>8&255, i&255)
}

func hasPrefix(prefix string) func(key string) bool {
	return func(key string) bool { return strings.HasPrefix(key, prefix) }
}

// withoutSummary is the default configuration, but transactions are not printed to stdout.
type withoutSummary struct{}

func (withoutSummary) LoadValue(config interface{}) (bool, error) {
	return true, json.Unmarshal([]byte(`{"print-txn-summary": false}`), config)
}

func (withoutSummary) GetConfigName() string { return "" }

// cpuMs is the processor time of all threads.
func cpuMs() float64 {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e6
}

// rss is the resident memory of the process.
func rss() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	check(err)
	return uint64(number(strings.Fields(string(text))[1])) * uint64(os.Getpagesize())
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "ligato:", err)
	os.Exit(1)
}
