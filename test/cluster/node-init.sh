#!/bin/bash
# Process 1 of a node, in namespaces of its own: mounts what a machine has, keeps containerd, kubelet and, with
# the word in SERVICES, kube-proxy running, and takes over what containers leave behind.
#   NODE      n1
#   DISK      folder that survives when the node is switched off
#   RUN       folder for files with process ids, and logs
#   PROGRAMS  folder of the programs of Kubernetes
#   ADDRESSES of the host, of each family, with commas
set -e
hostname "$NODE"
mount --make-rshared /
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/netns /run/lock
[ -L /var/run ] || mount --bind /run /var/run
mount -t tmpfs tmp /tmp
for folder in /var/lib/containerd /var/lib/kubelet /etc/cni /opt/cni /var/bolt /var/etcd /var/log/pods \
  /var/log/containers /etc/kubernetes /etc/containerd; do
  mkdir -p "$folder" "$DISK$folder"
  mount --bind "$DISK$folder" "$folder"
done
mkdir -p /opt/cni/bin /etc/cni/net.d /var/run/contiv
printf 'nameserver %s\n' "$GATEWAY" >/run/resolv.conf
mount --bind /run/resolv.conf /etc/resolv.conf
cp "$RUN/containerd.toml" /etc/containerd/config.toml

# /sys is new, of this network namespace, and has no control groups: they are those of the machine, below one group
# for the node.
if [ "$CGROUPS" = 2 ]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  mkdir -p "/sys/fs/cgroup/cv-$NODE"
else
  mount -t tmpfs cgroup /sys/fs/cgroup
  for controller in cpu cpuacct cpuset memory devices freezer blkio pids hugetlb perf_event net_cls net_prio; do
    grep -q "^$controller[[:space:]]" /proc/cgroups || continue
    mkdir "/sys/fs/cgroup/$controller"
    mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller" || rmdir "/sys/fs/cgroup/$controller"
  done
  mkdir /sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
  mkdir /sys/fs/cgroup/unified
  mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified
  for hierarchy in /sys/fs/cgroup/*/; do mkdir -p "${hierarchy}cv-$NODE"; done
  # An empty set of CPUs admits no process.
  for file in cpuset.cpus cpuset.mems; do
    cat "/sys/fs/cgroup/cpuset/$file" >"/sys/fs/cgroup/cpuset/cv-$NODE/$file"
  done
  # Services at sockets are those of the processes of this node.
  echo $$ >"/sys/fs/cgroup/unified/cv-$NODE/cgroup.procs"
  mount --bind "/sys/fs/cgroup/unified/cv-$NODE" /sys/fs/cgroup/unified
fi
mount -t bpf bpf /sys/fs/bpf
mkdir -p /dev/hugepages
mount -t hugetlbfs none /dev/hugepages
cp "$CNI_PLUGINS"/{loopback,portmap,bridge,host-local} /opt/cni/bin/
sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
set +e

# keep NAME COMMAND...: starts it again when it ends, as systemd does.
keep() {
  local name=$1
  shift
  while :; do
    "$@" >>"$RUN/$name.log" 2>&1 &
    echo $! >"$RUN/$name.pid"
    wait $!
    echo "### $name ended with $?" >>"$RUN/$name.log"
    sleep 1
  done
}
keep containerd containerd --config /etc/containerd/config.toml --log-level info &
for _ in $(seq 150); do [ -S /run/containerd/containerd.sock ] && break; sleep 0.2; done
keep kubelet "$PROGRAMS/kubelet" --config="$RUN/kubelet.yaml" --kubeconfig="$RUN/kubelet.conf" \
  --hostname-override="$NODE" --node-ip="$ADDRESSES" --node-labels="topology.kubernetes.io/zone=zone-$NODE" --v=2 &
case " $SERVICES " in *' kube-proxy '*)
  keep kube-proxy "$PROGRAMS/kube-proxy" --config="$RUN/kube-proxy.yaml" --hostname-override="$NODE" --v=1 &
esac
echo ready >"$RUN/booted"
while :; do wait; sleep 1; done
