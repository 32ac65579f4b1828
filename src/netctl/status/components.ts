/** Components of an agent: docs/status.md has the same table. */

export interface ComponentHelp {
  /** The state that its error fails. */
  readonly fails: 'liveness' | 'state' | 'readiness' | 'nothing';
  /** For an error without a remedy of its own. */
  readonly remedy: string;
}

const CONTENT_REMEDY =
  'Let kubelet restart the agent, which recovers the entries from VPP, Linux and etcd; check the disk (df, dmesg).';

export const components: Readonly<Record<string, ComponentHelp>> = {
  controller: {
    fails: 'liveness',
    remedy:
      'Save GET /controller/event-history before kubelet restarts the agent; look for CV_LOOP_FATAL in its log.',
  },
  'local-store-content': { fails: 'liveness', remedy: CONTENT_REMEDY },
  'mirror-content': { fails: 'liveness', remedy: CONTENT_REMEDY },
  'external-store-content': { fails: 'liveness', remedy: CONTENT_REMEDY },
  vpp: {
    fails: 'state',
    remedy:
      'Check that VPP runs (kubectl -n kube-system get pods, vppctl show version) and that its socket is binapi-socket-path of govpp.conf. The agent connects again by itself.',
  },
  kvscheduler: {
    fails: 'state',
    remedy:
      'If VPP answers (vppctl show version), save GET /scheduler/txn-history and restart the agent: a transaction does not end.',
  },
  configuration: {
    fails: 'state',
    remedy:
      'Correct what the text names; netctl events --failed shows the events that failed. The next healing resync applies it.',
  },
  'local-store': {
    fails: 'state',
    remedy:
      'Free space or repair the disk of db-path in bolt.conf (df, dmesg). The agent tries to write every 5 s.',
  },
  label: {
    fails: 'state',
    remedy: 'Give one of the two agents another label (MICROSERVICE_LABEL), and restart it.',
  },
  etcd: {
    fails: 'readiness',
    remedy:
      'Repair etcd or its certificates; endpoints in etcd.conf names it. Pods keep their network meanwhile.',
  },
  mirror: {
    fails: 'readiness',
    remedy:
      'Free space or repair the disk of db-path in mirror.conf, and restart the agent if the mirror could not be opened.',
  },
  'external-store': {
    fails: 'readiness',
    remedy: 'Free space or repair the disk of the external configuration.',
  },
  'external-config': {
    fails: 'readiness',
    remedy: 'Let the gRPC client send a Resync with all of its values.',
  },
  'cni-configuration': {
    fails: 'readiness',
    remedy:
      'Check that the files of CNI_CONFIG_SOURCE and CNI_CONFIG_TARGET are in volumes of the agent and can be written.',
  },
  'node-config': {
    fails: 'readiness',
    remedy:
      'Create the NodeConfig with the name of the node; if it exists, check that contiv-ksr runs.',
  },
  kafka: { fails: 'nothing', remedy: 'Check the brokers that kafka.conf names.' },
  'socket-services': {
    fails: 'nothing',
    remedy:
      'Mount the bpf file system and cgroup v2 of the host into the agent; netctl check on the node looks for both.',
  },
  flows: {
    fails: 'nothing',
    remedy:
      'Mount the bpf file system and cgroup v2 of the host into the agent; netctl check on the node looks for both. Flows of memifs need flowprobe_plugin.so in VPP.',
  },
  bandwidth: {
    fails: 'nothing',
    remedy: 'Correct the annotation of the pod, or load policer_plugin.so in VPP.',
  },
  services: {
    fails: 'nothing',
    remedy: 'netctl services --problems lists each with the reason; correct the named objects.',
  },
  policies: {
    fails: 'nothing',
    remedy: 'netctl policies lists them; netctl policies POD says what is left out, and why.',
  },
  'unsupported-features': {
    fails: 'nothing',
    remedy: 'Remove the named setting or object: it has no effect.',
  },
  mtu: {
    fails: 'nothing',
    remedy:
      'Pods have the MTU that the text names. Increase the MTU of the NIC, on all nodes, or correct mtuSize in contiv.conf; 0 derives it.',
  },
  'source-nat': {
    fails: 'nothing',
    remedy:
      'Use VPP v26.06 or later, and mainVRFID: 0. Otherwise set natExternalTrafficIPv6: never, and lead the networks outside to the pod subnet.',
  },
  encryption: {
    fails: 'nothing',
    remedy:
      'Without a session: open the UDP ports of wireguardPort, and the next one, between the nodes; netctl encryption names both ends. Without keys: the folder of the local store needs space, and must be writable. With CV_NET_NO_ENCRYPTION: install vpp-crypto-engines, or load wireguard_plugin.so, and restart VPP.',
  },
  addresses: {
    fails: 'nothing',
    remedy:
      'netctl ipam shows the subnets. Delete finished pods, whose addresses stay reserved; lower maxPods of kubelet, or lengthen the subnet of a node (podSubnetOneNodePrefixLen).',
  },
  reflector: {
    fails: 'nothing',
    remedy:
      'Check that contiv-ksr runs and leads (kubectl -n kube-system get pods -l k8s-app=contiv-ksr, and its log): without it no change of Kubernetes reaches the nodes.',
  },
  nodes: {
    fails: 'nothing',
    remedy:
      'Correct the Node object, or the configuration of the agent that announces the address.',
  },
};

/** For a component of a newer agent. */
export const unknownComponent: ComponentHelp = {
  fails: 'nothing',
  remedy: 'docs/troubleshooting.md of the release of the agent says more.',
};

/** For a component that has no state yet. */
export const STARTING_REMEDY =
  'Wait up to startupResyncDeadline (30 s). If it stays, netctl events shows what the agent does.';
