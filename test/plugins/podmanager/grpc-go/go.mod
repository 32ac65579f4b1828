module grpc-go-client

go 1.13

require (
	golang.org/x/net v0.0.0-20200226121028-0de0cce0169b // indirect
	google.golang.org/grpc v1.27.1
)
