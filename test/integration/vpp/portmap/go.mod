module contiv-vswitch/portmap

go 1.24

tool github.com/containernetworking/plugins/plugins/meta/portmap

require (
	github.com/containernetworking/cni v1.1.2 // indirect
	github.com/containernetworking/plugins v1.5.1 // indirect
	github.com/coreos/go-iptables v0.7.0 // indirect
	github.com/mattn/go-shellwords v1.0.12 // indirect
	github.com/vishvananda/netlink v1.2.1-beta.2 // indirect
	github.com/vishvananda/netns v0.0.4 // indirect
	golang.org/x/sys v0.21.0 // indirect
)
