/** The suites of `run` by name. */
import { runCyclonus } from './cyclonus.ts';
import { type E2eSelection, runE2e } from './e2e.ts';
import { measureSuite } from './measures.ts';
import { networkPolicyApiSuite } from './network-policy-api.ts';
import { restartSuite } from './restarts.ts';
import { rollingUpdateSuite } from './rolling-update.ts';
import { type ClusterSettings, defaultSettings } from './settings.ts';
import type { Suite } from './suite.ts';
import { upgradeSuite } from './upgrade.ts';

/** Tests that need a cloud, an address family, or a program that the cluster has not. */
const unavailable = {
  '\\[Feature:(SCTP[^\\]]*)\\]': 'SCTP: the kernel of the machine has no such sockets',
  '\\[Feature:IPv6DualStack\\]': 'dual stack, which is a suite of its own',
  '\\[Feature:(Ingress|NEG|.*GCE.*|LoadBalancer|KubeProxyDaemonSet\\w*|PerformanceDNS|NoSNAT|BGP)\\]':
    'clouds, load balancers and large clusters',
  '\\[Feature:(Networking-IPv6|Networking-DNS)\\]': 'the Internet by IPv6, and its names',
  '\\[Feature:OffByDefault\\]': 'alpha features, which the API server has switched off',
  '\\[Feature:Networking-Performance\\]':
    'measurement by iperf, whose release in Debian writes other lines than the test reads',
  '\\[Disruptive\\]': 'tests that end kubelet or kube-proxy by SSH (the suite `restarts` does it)',
  '\\[Slow\\]': 'tests of more than five minutes',
};

/** Tests at a time where most of them wait for timeouts and probes: three keep two cores less than half busy. */
const MOSTLY_WAITING = 6;

function e2e(
  title: string,
  selection: Omit<E2eSelection, 'nodes'>,
  notRun: readonly string[] = [],
): Suite {
  return {
    title,
    notRun,
    run: async ({ nodes }) => ({
      cases: await runE2e(title.replaceAll(/\W+/g, '-'), { ...selection, nodes }),
    }),
  };
}

const otherThanSuites = ['\\[Conformance\\]', 'Netpol', 'NetworkPolicyLegacy'];

export const suites: Readonly<Record<string, Suite>> = {
  smoke: e2e('One test of each kind', {
    focus: [
      'Networking Granular Checks: Pods should function for intra-pod communication: http',
      'Services should serve a basic endpoint from pods',
      'DNS should provide DNS for services',
    ].join('|'),
    skip: 'Slow',
    processes: 3,
  }),
  conformance: e2e('Conformance of networks', {
    focus: '\\[sig-network\\].*\\[Conformance\\]',
    processes: 3,
  }),
  netpol: e2e('Network policies', { focus: 'Netpol', skip: 'SCTP', processes: 3 }, [
    unavailable['\\[Feature:(SCTP[^\\]]*)\\]'],
  ]),
  network: e2e(
    'Other tests of networks',
    {
      focus: '\\[sig-network\\]',
      skip: [...otherThanSuites, ...Object.keys(unavailable)].join('|'),
      processes: MOSTLY_WAITING,
    },
    Object.values(unavailable),
  ),
  'dual-stack': {
    ...e2e('Dual stack', { focus: '\\[Feature:IPv6DualStack\\]', skip: 'SCTP', processes: 3 }),
    needs: { what: 'a cluster with both families', isMet: ({ families }) => families.length === 2 },
  },
  node: e2e('Pods, host ports and probes', {
    focus:
      '\\[sig-node\\] (Probing container|Pods|PodTemplates|Container Lifecycle Hook|Pods Extended)|\\[sig-scheduling\\].*hostPort',
    skip: '\\[Serial\\]|\\[Disruptive\\]|\\[Slow\\]|\\[Feature:',
    processes: MOSTLY_WAITING,
  }),
  cyclonus: {
    title: 'Generated network policies (cyclonus)',
    notRun: [unavailable['\\[Feature:(SCTP[^\\]]*)\\]']],
    run: async () => ({ cases: await runCyclonus() }),
  },
  'network-policy-api': networkPolicyApiSuite,
  // Kubelet delays a container that has ended often: the upgrade is first.
  upgrade: upgradeSuite,
  restarts: restartSuite,
  'rolling-update': rollingUpdateSuite,
  measures: measureSuite,
};

/** Those for which a cluster has what they test. */
export const suitesFor = (settings: ClusterSettings = defaultSettings): string[] =>
  Object.keys(suites).filter((name) => suites[name]!.needs?.isMet(settings) ?? true);
