// A client of the CNI service with the gRPC version and the dial options of the original contiv-cni.
//
//	grpc-go-client <socket> [-parallel]
//
// Reads one call per line, `<method> <request as hex>`, and writes one line of JSON per call.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// The messages are encoded by the test.
type bytesCodec struct{}

func (bytesCodec) Marshal(v interface{}) ([]byte, error) { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, v interface{}) error {
	*v.(*[]byte) = data
	return nil
}
func (bytesCodec) Name() string { return "proto" }

type answer struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Reply   string `json:"reply"`
	// Trailer of the gRPC status, as hex.
	Failure string `json:"failure"`
}

func call(conn *grpc.ClientConn, line string) answer {
	fields := strings.SplitN(line, " ", 2)
	request, err := hex.DecodeString(fields[1])
	if err != nil {
		log.Fatal(err)
	}
	var reply []byte
	var trailer metadata.MD
	err = conn.Invoke(context.Background(), fields[0], &request, &reply, grpc.Trailer(&trailer))
	failure := ""
	if values := trailer.Get("cni-reply-bin"); len(values) > 0 {
		failure = hex.EncodeToString([]byte(values[0]))
	}
	s := status.Convert(err)
	return answer{int(s.Code()), s.Message(), hex.EncodeToString(reply), failure}
}

func main() {
	encoding.RegisterCodec(bytesCodec{})
	conn, err := grpc.Dial(os.Args[1], grpc.WithInsecure(),
		grpc.WithDialer(func(addr string, timeout time.Duration) (net.Conn, error) {
			return net.DialTimeout("unix", addr, timeout)
		}))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()

	var lines []string
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 16<<20)
	for input.Scan() {
		lines = append(lines, input.Text())
	}
	answers := make([]chan answer, len(lines))
	for i, line := range lines {
		answers[i] = make(chan answer, 1)
		if len(os.Args) > 2 {
			go func(result chan answer, line string) { result <- call(conn, line) }(answers[i], line)
		} else {
			answers[i] <- call(conn, line)
		}
	}
	for _, result := range answers {
		text, _ := json.Marshal(<-result)
		fmt.Println(string(text))
	}
}
