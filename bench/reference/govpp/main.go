// The binary API through GoVPP, the client of the original agent: the reference for our client.
//
// govpp <API socket> ping <count>                  control_ping, 100 in flight
// govpp <API socket> add|del <count> <sw_if_index> ip_route_add_del, 100 in flight
// govpp <API socket> dump <routes>                 ip_route_v2_dump of table 0, with at least so many routes
//
// Prints one line of JSON: elapsed time and processor time of the work in milliseconds, and the number of
// requests, or of routes in the dump.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"go.fd.io/govpp/adapter/socketclient"
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib_types"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/core"
)

const window = 100

type result struct {
	Ms    float64 `json:"ms"`
	CpuMs float64 `json:"cpuMs"`
	Count int     `json:"count"`
}

func main() {
	if len(os.Args) < 4 {
		fail(fmt.Errorf("usage: govpp <API socket> ping|add|del|dump <count> [<sw_if_index>]"))
	}
	socket, work := os.Args[1], os.Args[2]
	count := number(os.Args[3])
	conn, err := core.Connect(socketclient.NewVppClient(socket))
	check(err)
	defer conn.Disconnect()

	start, startCpu := time.Now(), cpuMs()
	switch work {
	case "ping":
		check(pipeline(conn, count, func(int) api.Message { return &memclnt.ControlPing{} }))
	case "add", "del":
		link := interface_types.InterfaceIndex(number(os.Args[4]))
		check(pipeline(conn, count, func(i int) api.Message { return route(i, work == "add", link) }))
	case "dump":
		found, err := dump(conn)
		check(err)
		if found < count {
			fail(fmt.Errorf("the dump has %d routes, expected %d", found, count))
		}
		count = found
	default:
		fail(fmt.Errorf("unknown work %q", work))
	}
	check(json.NewEncoder(os.Stdout).Encode(result{
		Ms:    float64(time.Since(start).Microseconds()) / 1000,
		CpuMs: cpuMs() - startCpu,
		Count: count,
	}))
}

// pipeline sends the requests over one stream with `window` of them in flight.
func pipeline(conn *core.Connection, count int, request func(i int) api.Message) error {
	stream, err := conn.NewStream(context.Background(), core.WithReplySize(window))
	if err != nil {
		return err
	}
	defer stream.Close()
	inFlight := make(chan struct{}, window)
	inFlight <- struct{}{}
	// The stream cannot decode a reply before its first request has been sent.
	if err := stream.SendMsg(request(0)); err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		for i := 1; i < count; i++ {
			inFlight <- struct{}{}
			if err := stream.SendMsg(request(i)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := 0; i < count; i++ {
		message, err := stream.RecvMsg()
		if err != nil {
			return err
		}
		if reply, ok := message.(*ip.IPRouteAddDelReply); ok && reply.Retval != 0 {
			return api.RetvalToVPPApiError(reply.Retval)
		}
		<-inFlight
	}
	return <-sent
}

// route is the i-th of the routes 10.0.0.0/32, 10.0.0.1/32, … through a link.
func route(i int, isAdd bool, link interface_types.InterfaceIndex) *ip.IPRouteAddDel {
	address := ip_types.IP4Address{10, byte(i >> 16), byte(i >> 8), byte(i)}
	return &ip.IPRouteAddDel{
		IsAdd: isAdd,
		Route: ip.IPRoute{
			Prefix: ip_types.Prefix{
				Address: ip_types.Address{Af: ip_types.ADDRESS_IP4, Un: ip_types.AddressUnionIP4(address)},
				Len:     32,
			},
			NPaths: 1,
			Paths: []fib_types.FibPath{{
				SwIfIndex: uint32(link),
				Weight:    1,
				Proto:     fib_types.FIB_API_PATH_NH_PROTO_IP4,
				Nh: fib_types.FibPathNh{
					Address: ip_types.AddressUnionIP4(ip_types.IP4Address{192, 0, 2, 2}),
				},
			}},
		},
	}
}

func dump(conn *core.Connection) (int, error) {
	client, err := ip.NewServiceClient(conn).IPRouteV2Dump(context.Background(), &ip.IPRouteV2Dump{})
	if err != nil {
		return 0, err
	}
	for count := 0; ; count++ {
		if _, err := client.Recv(); err == io.EOF {
			return count, nil
		} else if err != nil {
			return 0, err
		}
	}
}

// cpuMs is the processor time of all threads.
func cpuMs() float64 {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e6
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
	fmt.Fprintln(os.Stderr, "govpp:", err)
	os.Exit(1)
}
