/** Values for the Helm chart, each for one kind of cluster. */

export interface ValueSet {
  readonly title: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export const valueSets: readonly ValueSet[] = [
  { title: 'default values', values: {} },
  {
    title: 'TLS with given certificates',
    values: { etcd: { address: '10.0.0.1', tls: { enabled: true, secretName: 'etcd-secrets' } } },
  },
  {
    title: 'an etcd outside of the cluster',
    values: { etcd: { enabled: false, endpoints: ['10.0.0.1:2379', '10.0.0.2:2379'] } },
  },
  {
    title: 'an etcd outside of the cluster with TLS',
    values: {
      etcd: {
        enabled: false,
        endpoints: ['etcd.example:2379'],
        tls: { enabled: true, secretName: 'etcd-secrets' },
      },
    },
  },
  { title: 'proxies before etcd', values: { etcd: { proxies: 20 } } },
  {
    title: 'proxies with TLS before an etcd outside of the cluster',
    values: {
      etcd: {
        enabled: false,
        endpoints: ['etcd1.example:2379', 'etcd2.example:2379'],
        tls: { enabled: true, secretName: 'etcd-secrets' },
        proxies: 2,
        proxyEndpoints: ['10.0.0.11:12382', '10.0.0.12:12382'],
        proxyNodeSelector: { 'example.org/etcd-proxy': '' },
      },
    },
  },
  {
    title: 'etcd on a persistent volume',
    values: { etcd: { persistentVolume: { enabled: true, storageClassName: 'local' } } },
  },
  {
    title: 'the folders of k3s',
    values: {
      cni: {
        binFolder: '/var/lib/rancher/k3s/data/cni',
        configFolder: '/var/lib/rancher/k3s/agent/etc/cni/net.d',
      },
    },
  },
  {
    title: 'the Prometheus operator',
    values: { monitoring: { enabled: true, labels: { release: 'prometheus' } } },
  },
  {
    title: 'STN',
    values: {
      stn: { enabled: true },
      agent: { config: { contiv: { stealInterface: 'eth1', stnVersion: 2 } } },
    },
  },
  {
    title: 'IPv6',
    values: {
      agent: {
        config: {
          contiv: {
            ipamConfig: {
              podSubnetCIDR: 'fd00:1::/48',
              podSubnetOneNodePrefixLen: 64,
              vppHostSubnetCIDR: 'fd00:2::/48',
              vppHostSubnetOneNodePrefixLen: 64,
              nodeInterconnectCIDR: 'fd00:3::/64',
              vxlanCIDR: 'fd00:4::/64',
              serviceCIDR: 'fd00:5::/112',
            },
          },
        },
      },
    },
  },
  {
    title: 'arm64 with huge pages of 32 MiB and images of a registry',
    values: {
      image: {
        agent: { repository: 'registry.example/contiv-vswitch', tag: '0.1.0-arm64' },
        vpp: { repository: 'registry.example/contiv-vswitch-vpp', tag: '0.1.0-arm64' },
        pullPolicy: 'Always',
        pullSecrets: ['registry'],
      },
      vpp: { resources: { limits: { 'hugepages-2Mi': null, 'hugepages-32Mi': '512Mi' } } },
    },
  },
  {
    title: 'VPP without privileges, with a device plugin',
    values: {
      vpp: {
        privileged: false,
        deviceResources: { 'example.org/vhost-net': 1, 'example.org/tun': 1 },
      },
    },
  },
  {
    title: 'HTTPS, passwords and external configuration',
    values: {
      agent: {
        tlsSecretName: 'agent-tls',
        moreCapabilities: ['SYS_RESOURCE'],
        config: {
          http: { 'client-basic-auth': ['user:password'], 'open-mutating-routes': true },
          grpc2: { endpoint: '127.0.0.1:9111' },
          kafka: { addrs: ['kafka.example:9092'], 'events-topic': 'events' },
          logs: { 'default-level': 'debug', loggers: [{ name: 'kvscheduler', level: 'warning' }] },
          'status-check': { 'publish-interval': '30s' },
        },
      },
      ksr: {
        config: { http: { 'client-basic-auth': ['user:password'] }, ksr: { readers: 'own' } },
      },
    },
  },
  {
    title: 'one node with NodeConfig, external IPAM and a given startup configuration of VPP',
    values: {
      ksr: { replicas: 1 },
      vpp: { startupConfig: 'unix { nodaemon }\nsocksvr { socket-name /run/vpp/api.sock }\n' },
      agent: {
        config: {
          contiv: {
            crdNodeConfigurationDisabled: false,
            ipamConfig: { useExternalIPAM: true },
            nodeConfig: [
              {
                nodeName: 'node1',
                mainVPPInterface: { interfaceName: 'GigabitEthernet0/8/0', ip: '10.0.0.1/24' },
              },
            ],
          },
        },
      },
    },
  },
];
