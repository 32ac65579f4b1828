/** The Kubernetes objects of `netctl test`, all in a namespace of their own. */
import { CLOSED_PORT, OPEN_PORT, type Probe } from './probe.ts';

/** Namespaces with this label are removed by a later test, if the one that made them was killed. */
export const testLabel = { name: 'app.kubernetes.io/managed-by', value: 'netctl-test' } as const;

/** Longer than any test; kubelet ends the pods then. */
export const LONGEST_SECONDS = 600;

const SERVICE_PORT = 80;

/** The part of a pod in the test, and the label that policies and services select. */
export type Role = 'server' | 'isolated' | 'friend' | 'stranger' | 'caged';

export interface TestPod {
  readonly name: string;
  readonly role: Role;
  readonly node: string;
}

export function testPod(role: Role, node: string, at: number): TestPod {
  return { name: `${role}-${at + 1}`, role, node };
}

export function namespaceObject(name: string): object {
  return { metadata: { name, labels: { [testLabel.name]: testLabel.value } } };
}

export function serverObject({ name, role, node }: TestPod, image: string): object {
  const args = ['serve', name, String(OPEN_PORT), String(CLOSED_PORT)];
  // By it kubelet tries to reach the pod, too.
  const readinessProbe = {
    tcpSocket: { port: OPEN_PORT },
    periodSeconds: 1,
    failureThreshold: 120,
  };
  return podObject({ name, role, node }, image, args, { readinessProbe });
}

export function clientObject(pod: TestPod, image: string, probes: readonly Probe[]): object {
  const results = '/dev/termination-log';
  return podObject(pod, image, ['connect', results, JSON.stringify(probes)], {
    terminationMessagePath: results,
  });
}

function podObject(
  { name, role, node }: TestPod,
  image: string,
  args: readonly string[],
  more: object,
): object {
  const container = {
    name: 'main',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['contiv-netctl', '__probe'],
    args,
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    ...more,
  };
  return {
    metadata: { name, labels: { role } },
    spec: {
      // Not by the scheduler: each node is tried, also one that is full.
      nodeName: node,
      tolerations: [{ operator: 'Exists' }],
      restartPolicy: 'Never',
      activeDeadlineSeconds: LONGEST_SECONDS,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [container],
    },
  };
}

/** Of the pods of a role, for TCP and UDP. */
export function serviceObject(role: Role): object {
  const port = (protocol: 'TCP' | 'UDP') => ({
    name: protocol.toLowerCase(),
    protocol,
    port: SERVICE_PORT,
    targetPort: OPEN_PORT,
  });
  return {
    metadata: { name: role },
    spec: { selector: { role }, ports: [port('TCP'), port('UDP')] },
  };
}

export const policyObjects: readonly object[] = [
  {
    metadata: { name: 'isolated' },
    spec: {
      podSelector: { matchLabels: { role: 'isolated' } },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [
            {
              podSelector: {
                matchExpressions: [{ key: 'role', operator: 'In', values: ['friend', 'caged'] }],
              },
            },
          ],
          ports: [{ protocol: 'TCP', port: OPEN_PORT }],
        },
      ],
    },
  },
  {
    metadata: { name: 'caged' },
    spec: {
      podSelector: { matchLabels: { role: 'caged' } },
      policyTypes: ['Egress'],
      egress: [
        {
          to: [{ podSelector: { matchLabels: { role: 'server' } } }],
          ports: [{ protocol: 'TCP', port: OPEN_PORT }],
        },
      ],
    },
  },
];

export { SERVICE_PORT };
