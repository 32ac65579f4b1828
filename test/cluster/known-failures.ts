/** Failures of published tests whose cause is known, with that cause; docs/services.md describes these limits. */
const known: readonly (readonly [name: RegExp, cause: string])[] = [
  [
    /TCP CLOSE_WAIT/,
    'it looks for the connection in the kernel of the node, and the packets pass VPP instead',
  ],
  [
    /Topology Hints should distribute endpoints evenly/,
    'the controller of endpoints counts no control plane node, which leaves one zone fewer than the test expects',
  ],
  [
    /session affinity timeout work for NodePort/,
    'a pod asks the node port of another node: VPP there counts the time from the end of its session, which lives 240 s after a TCP connection has ended',
  ],
  [
    /KubeProxyNFAcct|check kube-proxy urls/,
    'it asks kube-proxy itself, which this cluster does not have',
  ],
];

export function knownCause(name: string): string | undefined {
  return known.find(([pattern]) => pattern.test(name))?.[1];
}
