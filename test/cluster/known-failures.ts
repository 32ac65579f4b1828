/** Failures of published tests whose cause is known, with that cause; docs/services.md describes these limits. */
const known: readonly (readonly [name: RegExp, cause: string])[] = [
  [
    /should be rejected (for evicted pods|when no endpoints exist)/,
    'a service without endpoints is answered with "host unreachable", the test wants "connection refused"',
  ],
  [
    /externalTrafficPolicy=Local for type=NodePort|NodePort and HealthCheckNodePort correctly|TCP CLOSE_WAIT/,
    'a client asks the management address of a node, which kube-proxy translates in its kernel, and the reply of the pod leaves by VPP',
  ],
  [
    /session affinity timeout work/,
    'VPP counts the time from the end of its session, which lives 240 s after a TCP connection has ended',
  ],
  [/should run iperf2/, 'iperf of Debian writes other lines than the test reads'],
  [
    /should provider? Internet connection .*(IPv6|DNS)/,
    'the cluster has no host of the Internet by IPv6, and no names of the Internet',
  ],
  [
    /service name that starts with a digit/,
    'an alpha feature, which the API server has switched off',
  ],
];

export function knownCause(name: string): string | undefined {
  return known.find(([pattern]) => pattern.test(name))?.[1];
}
