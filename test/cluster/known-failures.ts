/** Failures of published tests whose cause is known, with that cause; docs/services.md describes these limits. */
const known: readonly (readonly [name: RegExp, cause: string])[] = [
  [
    /externalTrafficPolicy=Local for type=NodePort|NodePort and HealthCheckNodePort correctly|TCP CLOSE_WAIT/,
    'a client asks the management address of a node, which kube-proxy translates in its kernel, and the reply of the pod leaves by VPP',
  ],
  [
    /Topology Hints should distribute endpoints evenly/,
    'the controller of endpoints counts no control plane node, which leaves one zone of two nodes',
  ],
];

export function knownCause(name: string): string | undefined {
  return known.find(([pattern]) => pattern.test(name))?.[1];
}
